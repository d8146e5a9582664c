//! What is recorded in a container outlives it.

use std::path::{Path, PathBuf};

use crate::bench::exec;
use crate::command_line::{Operator, left};
use crate::support::eventually;

fn recordings(operator: &Operator, name: &str) -> Vec<PathBuf> {
    let dir = operator.dir.path().join("home/recordings").join(name);
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

#[test]
fn a_recording_is_brought_home_when_it_ends_and_when_its_container_goes() {
    let Some(operator) = Operator::new() else { return };
    let name = Operator::name("cast");
    operator.load(&name, "while read -r line; do echo \"heard $line\"; done");
    let start = operator.run(&["record", &name, "start"]);
    assert!(String::from_utf8_lossy(&start.stderr).contains("home/recordings"), "{start:?}");
    operator.ok(&["send", "--force", &name, "one"]);
    eventually("it is heard", || operator.ok(&["read", &name]).contains("heard one"));
    let path = operator.ok(&["record", &name, "stop"]);
    assert_eq!(recordings(&operator, &name), [PathBuf::from(&path)]);
    assert!(operator.ok(&["play", "--text", &path]).contains("heard one"));

    // One that goes on is complete when its container goes, and the first one is not there twice.
    operator.ok(&["record", &name, "start"]);
    operator.ok(&["send", "--force", &name, "two"]);
    eventually("it is heard", || operator.ok(&["read", &name]).contains("heard two"));
    let told = operator.run(&["eject", &name]);
    assert!(told.status.success(), "{told:?}");
    assert_eq!(left(&name), Vec::<String>::new());
    let kept = recordings(&operator, &name);
    assert_eq!(kept.len(), 2, "{kept:?}");
    let second = kept.iter().find(|kept| **kept != Path::new(&path)).unwrap().to_str().unwrap();
    assert!(String::from_utf8_lossy(&told.stderr).contains(second), "{told:?}");
    assert!(operator.ok(&["play", "--text", second]).contains("heard two"));
}

#[test]
fn a_container_that_is_made_again_keeps_its_recordings_and_names_no_file_of_this_machine() {
    let Some(operator) = Operator::new() else { return };
    let name = Operator::name("recast");
    operator.load(&name, "read -r code; exit \"$code\"");
    let container = format!("jackin-{name}");
    let script = "cd /jackin/state && echo good > good.cast && ln -s /etc/passwd link.cast && echo x > .hidden.cast \
                  && mkdir dir.cast && echo x > dir.cast/deep.cast && echo x > 'a b.cast' && echo x > other.txt";
    exec(&container, &["sh", "-c", script]);
    let mine = operator.dir.path().join("home/recordings").join(&name).join("good.cast");
    std::fs::create_dir_all(mine.parent().unwrap()).unwrap();
    std::fs::write(&mine, "mine").unwrap();
    operator.ok(&["send", "--force", &name, "3"]);
    eventually("it crashed", || operator.instance(&name)["status"]["exit_code"] == 3);
    operator.ok(&["restart", &name, "--detach"]);
    let names: Vec<_> = recordings(&operator, &name)
        .iter()
        .map(|path| path.file_name().unwrap().to_str().unwrap().to_owned())
        .collect();
    assert_eq!(names, ["good-2.cast", "good.cast"]);
    assert_eq!(std::fs::read_to_string(&mine).unwrap(), "mine");
    assert_eq!(std::fs::read_to_string(mine.with_file_name("good-2.cast")).unwrap(), "good\n");
    operator.ok(&["eject", &name, "--purge", "--yes"]);
    assert_eq!(recordings(&operator, &name), Vec::<PathBuf>::new());
}

#[test]
fn a_recording_that_cannot_be_kept_keeps_no_container() {
    let Some(operator) = Operator::new() else { return };
    let name = Operator::name("uncast");
    operator.load(&name, "read -r line");
    std::fs::write(operator.dir.path().join("home/recordings"), "in the way").unwrap();
    operator.ok(&["record", &name, "start"]);
    let stop = operator.run(&["record", &name, "stop"]);
    assert!(
        !stop.status.success() && String::from_utf8_lossy(&stop.stderr).contains("`jackin eject`"),
        "{stop:?}"
    );
    let told = operator.run(&["eject", &name]);
    assert!(told.status.success(), "{told:?}");
    assert!(String::from_utf8_lossy(&told.stderr).contains("could be kept"), "{told:?}");
    assert_eq!(left(&name), Vec::<String>::new());
}
