//! Runs the example backend, and looks at the record that it leaves.

use std::path::PathBuf;
use std::process::{Command, Output};

use jackin_cli::run::{FoundRun, Store};

/// Cargo builds the examples of a package with its tests.
fn example(name: &str) -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let path = test.parent().and_then(|deps| deps.parent()).unwrap().join("examples").join(name);
    assert!(path.exists(), "{} is missing: cargo build -p jackin-examples --examples", path.display());
    path
}

fn review(prompt: &str) -> (Output, FoundRun, tempfile::TempDir) {
    let root = tempfile::tempdir().unwrap();
    let output = Command::new(example("run_backend")).arg(prompt).arg(root.path()).output().unwrap();
    let run = Store::new(root.path()).unwrap().find("last").unwrap();
    (output, run, root)
}

#[test]
fn a_backend_of_its_own_leaves_a_complete_record() {
    let (output, run, _root) = review("TODO and FIXME");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(
        said.starts_with("completed (reviewer 1.0) in ") && said.ends_with("Looked at 3 words.\n"),
        "{said}"
    );
    assert_eq!((run.standing(), run.info.agent.as_str()), ("completed", "reviewer"));
    assert_eq!(std::fs::read_to_string(run.layout.output()).unwrap(), "Looked at 3 words.\n");
    let printed = std::fs::read_to_string(run.layout.stdout()).unwrap();
    assert_eq!(printed, "looked at TODO\nlooked at and\nlooked at FIXME\n");
}

#[test]
fn its_failure_is_recorded_like_any_other() {
    let (output, run, _root) = review(" ");
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(run.info.error_summary, "there is nothing to look at: write a prompt");
    let messages = jackin_cli::run::bus::read(&run.layout.task().bus()).unwrap();
    assert_eq!(messages.last().unwrap().kind, "RUN_CRASH");
}
