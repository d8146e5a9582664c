//! A disk that fills up.

use std::process::{Command, Output};

use crate::scene::Scene;
use crate::support::JACKIN;

/// Runs a script in a mount namespace of its own with a small file system at `$DISK`; none where that is not allowed.
fn on_small_disk(scene: &Scene, size: &str, script: &str) -> Option<Output> {
    let disk = scene.dir().join("disk");
    std::fs::create_dir_all(&disk).unwrap();
    let script = format!("mount -t tmpfs -o size={size} none \"$DISK\" || exit 99\n{script}");
    let mut shell = Command::new("unshare");
    shell.args(["-rm", "sh", "-c", &script]).env("DISK", &disk).env("JACKIN", JACKIN);
    let output = shell.current_dir(scene.dir()).output().ok()?;
    let allowed =
        output.status.code() != Some(99) && !String::from_utf8_lossy(&output.stderr).contains("unshare");
    if !allowed {
        eprintln!("skipped: this machine does not let us make a small disk");
    }
    allowed.then_some(output)
}

#[test]
fn a_full_disk_fails_the_run_and_keeps_what_was_written() {
    let scene = Scene::new();
    let script = r#"
        "$JACKIN" run --root "$DISK/root" --project api --task fix --wrap -- sh -c 'head -c 10000000 /dev/zero; sleep 1000'
        echo "code $?" >&2
        cp -r "$DISK/root" copy
    "#;
    let Some(output) = on_small_disk(&scene, "512k", script) else { return };
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("code 1"), "{said}");
    assert!(said.contains("cannot write agent-stdout.txt: No space left on device"), "{said}");
    assert!(said.contains("free some space"), "{said}");

    let store = jackin_cli::run::Store::new(scene.dir().join("copy")).unwrap();
    let run = store.find("last").unwrap();
    assert_eq!(run.standing(), "failed", "the last word had its place");
    assert!(run.info.error_summary.contains("No space left on device"), "{}", run.info.error_summary);
    let kept = std::fs::metadata(run.layout.stdout()).unwrap().len();
    assert!(kept > 300_000, "{kept} bytes are kept");
    assert!(run.layout.prompt().exists());
    let messages = jackin_cli::run::bus::read(&run.layout.task().bus()).unwrap();
    let kinds: Vec<_> = messages.iter().map(|message| message.kind.as_str()).collect();
    assert!(kinds == ["RUN_START", "RUN_CRASH"] || kinds == ["RUN_START"], "nothing torn: {kinds:?}");
}

#[test]
fn a_disk_that_is_full_from_the_beginning_is_a_clear_error() {
    let scene = Scene::new();
    let script = r#"
        head -c 1000000 /dev/zero > "$DISK/full" 2>/dev/null
        "$JACKIN" run --root "$DISK/root" --task fix --wrap -- true
        echo "code $?" >&2
        find "$DISK" >&2
    "#;
    let Some(output) = on_small_disk(&scene, "64k", script) else { return };
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("code 1") && said.contains("No space left on device"), "{said}");
    assert!(!said.contains(".new-") && !said.contains("run-info"), "nothing half-made is left: {said}");
}

#[test]
fn a_limit_for_files_is_like_a_full_disk() {
    let scene = Scene::new();
    let root = scene.root();
    let script = format!(
        "trap '' XFSZ; ulimit -f 200; exec \"{JACKIN}\" run --root '{}' --project api --task fix --wrap -- \
         sh -c 'ulimit -f unlimited; head -c 10000000 /dev/zero; sleep 1000'",
        root.display()
    );
    let output = Command::new("sh").args(["-c", &script]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("cannot write agent-stdout.txt: File too large"), "{said}");
    let run = scene.store().find("last").unwrap();
    assert_eq!(run.standing(), "failed");
    assert_eq!(std::fs::metadata(run.layout.stdout()).unwrap().len(), 200 * 512);
    assert_eq!(scene.kinds(), ["RUN_START", "RUN_CRASH"]);
}
