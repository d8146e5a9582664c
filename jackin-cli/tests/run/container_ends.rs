//! How runs in containers end: by themselves, by force, or before they could begin. Nothing is ever left.

use std::process::{Child, Stdio};

use jackin_core::run::RunStatus;
use rustix::process::{Pid, Signal, kill_process};

use crate::container::{Dock, stderr, stdout};
use crate::docker::docker;
use crate::scene::{FILES, files, text};
use crate::support::{Terminal, eventually};

/// A run that goes on until it is stopped; it is up when this returns.
fn going_on(dock: &Dock, script: &str) -> Child {
    let child = dock.command(script, &[]).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let ready = dock.workspace().join("ready");
    eventually("the agent is up", || ready.exists());
    std::fs::remove_file(ready).unwrap();
    child
}

/// It ends in order when asked to, and so does what it started.
const POLITE: &str = "trap 'wait; echo outer; exit 0' TERM; \
                      sh -c 'trap \"echo inner; exit\" TERM; echo up > ready; while :; do sleep 0.05; done' & \
                      while :; do sleep 0.05; done";

/// It does not care.
const STUBBORN: &str = "trap '' TERM INT; echo up > ready; while :; do sleep 0.05; done";

#[test]
fn a_timeout_ends_the_whole_container() {
    let Some(dock) = Dock::new() else { return };
    for script in [POLITE, STUBBORN] {
        let output = dock.run(script, &["--timeout", "3s"]);
        assert_eq!(output.status.code(), Some(124), "{}", stderr(&output));
        let run = dock.last();
        assert_eq!(run.info.error_summary, "stopped: its time of 3s was over");
        let said = if script == POLITE { "inner\nouter\n" } else { "" };
        assert_eq!(text(run.layout.stdout()), said, "everything in it was asked to end");
        assert_eq!(files(&run.layout), FILES);
        assert_eq!(dock.left(), Vec::<String>::new());
    }
}

#[test]
fn signals_stop_it_and_are_recorded() {
    let Some(dock) = Dock::new() else { return };
    for (signal, code, told) in
        [(Signal::INT, 130, "stopped: interrupted (SIGINT)"), (Signal::HUP, 129, "its terminal was closed")]
    {
        let child = going_on(&dock, POLITE);
        kill_process(Pid::from_raw(child.id().cast_signed()).unwrap(), signal).unwrap();
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(code), "{}", stderr(&output));
        let run = dock.last();
        assert_eq!((run.standing(), run.info.exit_code), ("failed", code));
        assert!(run.info.error_summary.contains(told), "{}", run.info.error_summary);
        assert_eq!(text(run.layout.stdout()), "inner\nouter\n");
        assert_eq!(dock.left(), Vec::<String>::new());
    }
}

#[test]
fn a_second_interrupt_leaves_no_time_and_no_container() {
    let Some(dock) = Dock::new() else { return };
    let mut child = going_on(&dock, STUBBORN);
    let runner = Pid::from_raw(child.id().cast_signed()).unwrap();
    // As often as it takes: two signals that come at once are one.
    eventually("it ends", || {
        let _ = kill_process(runner, Signal::INT);
        child.try_wait().unwrap().is_some()
    });
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let run = dock.last();
    assert!(run.info.warnings.is_empty(), "{:?}", run.info.warnings);
    assert_eq!(dock.left(), Vec::<String>::new());
}

#[test]
fn ctrl_c_in_a_terminal_stops_it_at_any_moment() {
    let Some(dock) = Dock::new() else { return };
    let workspace = dock.workspace();
    let script = format!(
        "cd {work} && JACKIN_HOME={home} JACKIN_CONFIG_DIR={home} exec {jackin} run --project api --task fix --image {image} --wrap -- sleep 1000",
        work = workspace.display(),
        home = dock.scene.dir().display(),
        jackin = crate::support::JACKIN,
        image = dock.image,
    );
    for at in ["making its network", "making its container", "starting the agent"] {
        let mut terminal = Terminal::start("sh", &["-c", &script], 12, 150);
        terminal.wait_for(at);
        terminal.type_in("\x03");
        assert_eq!(terminal.exit_code(), 130, "{at}: {}", terminal.text());
        let run = dock.last();
        assert_eq!(run.info.error_summary, "stopped: interrupted (SIGINT)", "{at}");
        assert!(run.info.warnings.is_empty(), "{at}: {:?}", run.info.warnings);
        assert_eq!(dock.left(), Vec::<String>::new(), "{at}");
    }
}

#[test]
fn it_is_stopped_by_its_id_and_gc_leaves_it_alone_until_then() {
    let Some(dock) = Dock::new() else { return };
    let child = going_on(&dock, POLITE);
    let id = dock.last().info.run_id.to_string();
    assert_eq!(stdout(&dock.jackin(&["runs", "gc"]).output().unwrap()), "nothing to put in order\n");
    assert_eq!(dock.left().len(), 2, "its container and its network");
    let stop = dock.jackin(&["runs", "stop", &id]).output().unwrap();
    assert!(stdout(&stop).contains("stopped by `jackin runs stop`"), "{}{}", stdout(&stop), stderr(&stop));
    assert_eq!(child.wait_with_output().unwrap().status.code(), Some(143));
    assert_eq!(dock.left(), Vec::<String>::new());
}

#[test]
fn stopping_a_run_whose_runner_died_removes_its_container() {
    let Some(dock) = Dock::new() else { return };
    let mut child = going_on(&dock, STUBBORN);
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(dock.left().len(), 2, "nobody took it away yet");
    let stop = dock.jackin(&["runs", "stop", "last"]).output().unwrap();
    let told = "died while the agent ran; the container that it had left was removed";
    assert!(stdout(&stop).contains(told), "{}{}", stdout(&stop), stderr(&stop));
    assert_eq!((dock.last().standing(), dock.left()), ("failed", Vec::new()));
}

#[test]
fn memory_that_ran_out_is_told_as_such() {
    let Some(dock) = Dock::new() else { return };
    dock.configure("[roles.small]\nimage = \"IMAGE\"\nlimits = { memory = \"16m\" }\nnetwork = \"none\"\n");
    let eater = "tail /dev/zero";
    for (script, code, told) in [
        (eater.to_owned(), 137, "the agent was killed because memory ran out (its limit is 16m"),
        (format!("{eater}; exit 5"), 5, "the agent ended with exit code 5 after memory had run out"),
    ] {
        let args =
            ["run", "--project", "api", "--task", "fix", "--role", "small", "--wrap", "--", "sh", "-c"];
        let output = dock.jackin(&[&args[..], &[&script]].concat()).output().unwrap();
        assert_eq!(output.status.code(), Some(code), "{}", stderr(&output));
        let summary = dock.last().info.error_summary;
        assert!(summary.starts_with(told), "{summary}");
    }
    assert_eq!(dock.left(), Vec::<String>::new());
}

#[test]
fn what_is_not_there_is_a_recorded_failure_that_says_so() {
    let Some(dock) = Dock::new() else { return };
    let run = |image: &str, command: &[&str]| {
        let args = ["run", "--project", "api", "--task", "fix", "--image", image, "--wrap", "--"];
        let output = dock.jackin(&[&args[..], command].concat()).output().unwrap();
        (output.status.code(), dock.last().info)
    };
    let (code, info) = run("localhost:1/no/such:image", &["true"]);
    assert_eq!((code, info.status), (Some(127), RunStatus::Failed));
    let told = "there is no image localhost:1/no/such:image: cannot pull";
    assert!(
        info.error_summary.starts_with(told) && info.error_summary.contains("Check the name"),
        "{info:?}"
    );

    for program in ["no-such-program", "/no/such/program", "./none"] {
        let (code, info) = run(dock.image, &[program]);
        assert_eq!(code, Some(127), "{info:?}");
        let told = format!("there is no program `{program}` in the image {}: install it there", dock.image);
        assert!(info.error_summary.starts_with(&told), "{info:?}");
    }
    let (code, info) = run(dock.image, &["sh", "-c", "exit 127"]);
    assert_eq!((code, info.error_summary.as_str()), (Some(127), "the agent ended with exit code 127"));
    let (code, info) = run(dock.image, &["/etc/passwd"]);
    assert_eq!(code, Some(126), "{info:?}");
    assert!(info.error_summary.contains("Permission denied"), "{info:?}");
    assert_eq!(dock.left(), Vec::<String>::new());
}

#[test]
fn an_engine_that_cannot_be_used_is_told_with_what_to_do() {
    let Some(dock) = Dock::new() else { return };
    let with_host = |host: &str| dock.command("true", &[]).env("DOCKER_HOST", host).output().unwrap();
    let output = with_host("ssh://me@far");
    assert_eq!(output.status.code(), Some(1));
    let said = stderr(&output);
    assert!(
        said.contains("(ssh://me@far) is not on this machine") && said.contains("run it there"),
        "{said}"
    );
    assert!(dock.store().runs().unwrap().0.is_empty(), "no run was begun");

    let gone = dock.scene.dir().join("gone.sock");
    let output = with_host(&format!("unix://{}", gone.display()));
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    let info = dock.last().info;
    assert!(info.error_summary.contains("cannot reach the Docker engine at unix://"), "{info:?}");
    assert!(info.warnings.is_empty(), "there was nothing to take away: {info:?}");

    dock.configure("[agents.claude]\n");
    for (args, told) in [
        (&["run", "--image", "x", "--agent", "xai", "--prompt", "x"][..], "needs no container"),
        (&["run", "--mount", "/a:/b", "--wrap", "--", "true"], "--mount needs a container"),
        (&["run", "--role", "none", "--wrap", "--", "true"], "there is no role \"none\""),
        (&["run", "--host", "big", "--wrap", "--", "true"], "a container needs an image"),
        (&["run", "--image", "x", "--host", "big", "--wrap", "--", "true"], "there is no host \"big\""),
    ] {
        let output = dock.jackin(args).output().unwrap();
        assert!(stderr(&output).contains(told), "{args:?}: {}", stderr(&output));
    }
}

#[test]
fn a_container_that_somebody_removes_ends_the_run() {
    let Some(dock) = Dock::new() else { return };
    let child = going_on(&dock, STUBBORN);
    let name = dock.last().info.container.unwrap().name;
    assert!(docker(["rm", "-f", &name]).status.success());
    let output = child.wait_with_output().unwrap();
    assert!(!output.status.success());
    let info = dock.last().info;
    // The engine tells of the end before the removal, or after it.
    let told = ["somebody removed its container", "the agent ended with exit code 137"];
    assert!(told.iter().any(|told| info.error_summary.contains(told)), "{info:?}");
    assert_eq!(dock.left(), Vec::<String>::new());
}

#[test]
fn an_engine_that_went_away_is_asked_again() {
    let Some(dock) = Dock::new() else { return };
    let socket = dock.scene.dir().join("d.sock");
    let real = std::path::Path::new("/var/run/docker.sock");
    if !real.exists() {
        eprintln!("skipped: the engine is not at its usual socket");
        return;
    }
    std::os::unix::fs::symlink(real, &socket).unwrap();
    dock.configure(&format!("[hosts.second]\ndocker = \"unix://{}\"\n", socket.display()));
    let mut run = dock.command(STUBBORN, &["--host", "second"]);
    let mut child = run.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let ready = dock.workspace().join("ready");
    eventually("the agent is up", || ready.exists());
    child.kill().unwrap();
    child.wait().unwrap();
    std::fs::remove_file(&socket).unwrap();
    // The usual engine would find it as well: it is the same one.
    let gc = || dock.jackin(&["runs", "gc"]).env("DOCKER_HOST", "unix:///no/such.sock").output().unwrap();
    let output = gc();
    let said = stdout(&output);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.starts_with("failed ") && said.contains("was not removed"), "{said}");
    assert!(said.contains("problem second: "), "{said}");
    assert_eq!(
        dock.last().standing(),
        "failed",
        "a run is not kept open for an engine that may never come back"
    );
    assert_eq!(gc().status.code(), Some(1), "and yet it is not forgotten");
    assert_eq!(dock.left().len(), 2);
    std::os::unix::fs::symlink(real, &socket).unwrap();
    let said = stdout(&gc());
    assert!(said.starts_with("removed "), "{said}");
    assert_eq!(dock.left(), Vec::<String>::new());
    assert_eq!(stdout(&gc()), "nothing to put in order\n");
}
