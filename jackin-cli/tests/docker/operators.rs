//! Operators who are not root.

use std::fs;
use std::os::unix::fs::MetadataExt;

use jackin_cli::backend::Backend;
use jackin_cli::client::Client;
use jackin_core::protocol::control::{Request, Status};

use crate::bench::{Bench, container, exec, things};
use crate::docker::docker;

const WAITS: &str = "read -r line";

/// Runs a test of this program as another user, who may use the engine or not.
fn as_operator(uid: u32, may_use: bool, test: &str) {
    if crate::docker::bare_image().is_none() {
        return;
    }
    let own = std::env::current_exe().unwrap();
    let socket = fs::metadata("/var/run/docker.sock").ok().filter(|_| may_use);
    let group = socket.map_or(uid, |socket| socket.gid()).to_string();
    let home = tempfile::tempdir().unwrap();
    std::os::unix::fs::chown(home.path(), Some(uid), Some(uid)).ok();
    // The program may be below a directory that only root can enter.
    let copy = home.path().join("tests");
    fs::copy(own, &copy).unwrap();
    let run = |args: &[&str]| {
        std::process::Command::new("setpriv")
            .args(["--reuid", &uid.to_string(), "--regid", &uid.to_string()])
            .args(["--groups", &group])
            .args(args)
            .env("HOME", home.path())
            .env("TMPDIR", home.path())
            .env("JACKIN_STATIC_CAPSULE", capsule_of_all(home.path()))
            .current_dir(home.path())
            .output()
    };
    let can = run(&["docker", "version"]).is_ok_and(|done| done.status.success());
    if can != may_use {
        eprintln!("skipped: who may use the engine cannot be changed here");
        return;
    }
    let output = run(&[copy.to_str().unwrap(), "--exact", test, "--ignored", "--nocapture"]).unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let complained = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.contains("1 passed"), "{said}{complained}");
}

/// The capsule, where everybody can read it.
fn capsule_of_all(dir: &std::path::Path) -> std::path::PathBuf {
    let copy = dir.join("capsule");
    fs::copy(&crate::docker::bare_image().unwrap().1, &copy).unwrap();
    copy
}

#[test]
fn an_operator_who_is_not_root_reaches_the_socket() {
    as_operator(4321, true, "operators::as_another_user");
}

#[test]
fn an_operator_with_the_agents_number_takes_the_bridge() {
    as_operator(1000, true, "operators::as_the_agents_user");
}

#[test]
fn an_operator_who_may_not_use_the_engine_is_told_how_to() {
    as_operator(4322, false, "operators::as_a_stranger");
}

#[tokio::test]
#[ignore = "has to run as another user; run by an_operator_who_may_not_use_the_engine_is_told_how_to"]
async fn as_a_stranger() {
    let dir = tempfile::tempdir().unwrap();
    let paths = jackin_cli::config::Paths::new(dir.path(), dir.path());
    let backend = jackin_cli::backend::DockerBackend::connect("docker", None, paths).unwrap();
    let error = backend.list().await.unwrap_err().to_string();
    assert!(error.contains("join the group docker"), "{error}");
}

#[tokio::test]
#[ignore = "has to run as another user; run by an_operator_who_is_not_root_reaches_the_socket"]
async fn as_another_user() {
    let bench = Bench::new().unwrap();
    fs::create_dir_all(bench.paths.rules()).unwrap();
    fs::write(bench.paths.rules().join("own.toml"), "").unwrap();
    for read_only in [false, true] {
        let mut plan = bench.plan(WAITS);
        plan.read_only = read_only;
        bench.create(&plan).await;
        let socket = bench.backend.socket(&plan.instance).await;
        assert_eq!(socket.as_ref(), Some(&bench.paths.socket(&plan.instance)));
        assert_eq!(bench.status(&plan.instance).await.instance, plan.instance);
        let by_bridge = bench.backend.bridge(&plan.instance).await.unwrap();
        let status: Status = Client::over(by_bridge).await.unwrap().call(Request::Status {}).await.unwrap();
        assert_eq!(status.instance, plan.instance);
        let dir = fs::metadata(bench.paths.run_dir(&plan.instance)).unwrap();
        assert_eq!((dir.mode() & 0o7777, dir.uid(), dir.gid()), (0o1770, 4321, 0));
        let name = container(&plan);
        let can = |user: &str, script: &str| {
            docker(["exec", "--user", user, &name, "sh", "-c", script]).status.success()
        };
        assert!(!can("1000:1000", "ls /jackin/run"), "the agent looks into the operator's directory");
        // With root's group, which some images give to their users.
        assert!(!can("1000:0", "cat /jackin/run/agent.toml"), "the agent reads what is the capsule's");
        assert!(!can("1000:0", "mv /jackin/run/jackin.sock /jackin/run/x"), "the agent moves the socket");
        assert!(!can("1000:0", "touch /jackin/run/rules/x"), "the agent adds to the operator's rules");
        assert!(can("0:0", "cat /jackin/run/rules/own.toml"), "the capsule reads the operator's rules");
        assert!(!can("1000:0", "/jackin/runtime/jackin-capsule ctl status"), "the agent is let in");
        bench.backend.remove(&plan.instance).await.unwrap();
        assert!(!bench.paths.run_dir(&plan.instance).exists());
    }
}

#[tokio::test]
#[ignore = "has to run as another user; run by an_operator_with_the_agents_number_takes_the_bridge"]
async fn as_the_agents_user() {
    let bench = Bench::new().unwrap();
    for read_only in [false, true] {
        let mut plan = bench.plan(WAITS);
        plan.read_only = read_only;
        bench.create(&plan).await;
        assert_eq!(bench.backend.socket(&plan.instance).await, None);
        assert_eq!(bench.status(&plan.instance).await.instance, plan.instance);
        let name = container(&plan);
        assert_eq!(
            exec(&name, &["stat", "-c", "%a %u", "/jackin/run", "/jackin/run/agent.toml"]),
            "700 0\n600 0\n"
        );
        bench.backend.remove(&plan.instance).await.unwrap();
        assert_eq!(things(&plan.instance), Vec::<String>::new());
    }
}
