//! The program that measures jackin beside others, run with as little as possible: every figure is there, the pages are
//! written, and nothing is left running.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

const BESIDE: &str = env!("CARGO_BIN_EXE_beside");

/// The capsule of the same build; `cargo test --workspace` has made it already.
fn capsule() -> PathBuf {
    let file = Path::new(BESIDE).with_file_name("jackin-capsule");
    if !file.exists() {
        let built = Command::new(env!("CARGO"))
            .args(["build", "--quiet", "-p", "jackin-cli", "--bin", "jackin-capsule"])
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .status()
            .unwrap();
        assert!(built.success() && file.exists(), "{} was not built", file.display());
    }
    file
}

fn beside(args: &[&str], path: Option<&Path>) -> Output {
    let mut command = Command::new(BESIDE);
    command.arg("--smoke").arg("--capsule").arg(capsule()).args(args).stdin(Stdio::null());
    if let Some(path) = path {
        command.env("PATH", path);
    }
    command.output().unwrap()
}

fn printed(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// The cells of the table's row that begins so.
fn row<'a>(page: &'a str, name: &str) -> Vec<&'a str> {
    let line = page.lines().find(|line| line.starts_with(&format!("| {name}")));
    let line = line.unwrap_or_else(|| panic!("no row {name:?} in\n{page}"));
    line.trim_matches('|').split('|').map(str::trim).collect()
}

fn is_installed(program: &str) -> bool {
    Command::new(program).arg("-V").output().is_ok()
}

#[test]
fn the_pages_get_every_figure() {
    let repository = tempfile::tempdir().unwrap();
    std::fs::create_dir(repository.path().join("docs")).unwrap();
    let real = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    for page in ["README.md", "docs/performance.md"] {
        std::fs::copy(real.join(page), repository.path().join(page)).unwrap();
    }
    let output = beside(&["--write", "--repository", repository.path().to_str().unwrap()], None);
    assert_eq!(printed(&output), "", "the pages have it");

    let page = std::fs::read_to_string(repository.path().join("docs/performance.md")).unwrap();
    let with_tmux = is_installed("tmux");
    for name in [
        "key to screen, p50",
        "key to screen, p99",
        "the same beside a flooding pane, p50",
        "the same beside a flooding pane, p99",
        "reattach",
        "cold start",
        "memory per pane",
        "log lines",
        "truecolor words",
        "unicode",
        "redrawn rows",
        "redrawn screens",
    ] {
        let cells = row(&page, name);
        let jackin: f64 = cells[1].parse().unwrap_or_else(|_| panic!("{cells:?}"));
        assert!(jackin > 0.0 || name.starts_with("memory"), "{cells:?}");
        if with_tmux {
            let tmux: f64 = cells[2].parse().unwrap_or_else(|_| panic!("{cells:?}"));
            assert!(tmux > 0.0 || name.starts_with("memory"), "{cells:?}");
        }
    }
    for name in
        ["processor with ten idle panes", "context switches", "processor time for 100 MB of log lines"]
    {
        assert!(row(&page, name)[1].parse::<f64>().unwrap() >= 0.0);
    }
    if with_tmux {
        let ratio = *row(&page, "cold start").last().unwrap();
        assert!(ratio.contains('('), "two rounds have a spread: {ratio}");
    } else {
        assert!(page.contains("Left out, because not installed: tmux"), "{page}");
    }
    let readme = std::fs::read_to_string(repository.path().join("README.md")).unwrap();
    assert!(row(&readme, "cold start")[1].parse::<f64>().unwrap() > 0.0);
    let text = |page: &str| page.lines().filter(|line| !line.starts_with('|')).count();
    assert!(text(&readme) > 50, "the rest of the page is as it was");
}

#[test]
fn what_is_not_installed_is_named_and_left_out() {
    let nothing = tempfile::tempdir().unwrap();
    let tables = printed(&beside(&["--only", "start"], Some(nothing.path())));
    assert!(tables.contains("Left out, because not installed: tmux, zellij."), "{tables}");
    assert_eq!(row(&tables, "cold start").len(), 2, "a name and jackin's figure:\n{tables}");
}

#[test]
fn nothing_is_left() {
    let place = tempfile::tempdir().unwrap();
    let mut command = Command::new(BESIDE);
    command.args(["--smoke", "--only", "idle,start,attach", "--capsule"]).arg(capsule());
    printed(&command.env("TMPDIR", place.path()).stdin(Stdio::null()).output().unwrap());
    assert_eq!(std::fs::read_dir(place.path()).unwrap().count(), 0);
    // Servers and panes were told to end, and need not have done so yet.
    let deadline = Instant::now() + Duration::from_secs(60);
    loop {
        let left = processes_at(place.path());
        if left.is_empty() {
            break;
        }
        assert!(Instant::now() < deadline, "still there:\n{}", left.join("\n"));
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// The command lines of the processes that have this directory in them, or are in it.
fn processes_at(directory: &Path) -> Vec<String> {
    let directory = directory.to_str().unwrap();
    let processes = std::fs::read_dir("/proc").unwrap().filter_map(|entry| {
        let process = entry.ok()?.path();
        let line = String::from_utf8_lossy(&std::fs::read(process.join("cmdline")).ok()?).replace('\0', " ");
        let at = std::fs::read_link(process.join("cwd")).unwrap_or_default();
        (line.contains(directory) || at.starts_with(directory)).then_some(line)
    });
    processes.collect()
}
