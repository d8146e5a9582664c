//! Real processes as agents.

use std::time::Duration;

use jackin_cli::run::{AgentCommand, AgentSettings, Backend, Cli, Plain};
use jackin_core::run::{RunStatus, StopReason};
use rustix::process::{Pid, test_kill_process};

use crate::scene::{FILES, Scene, files, info, text};
use crate::support::eventually;

fn sh(script: &str) -> Plain {
    let words = ["sh", "-c", script].map(str::to_owned).to_vec();
    Plain::new("wrap", words, Duration::from_millis(300))
}

#[tokio::test]
async fn its_exit_code_is_the_run_s() {
    let scene = Scene::new();
    for code in [0, 1, 42, 255] {
        let run = scene.run(sh(&format!("exit {code}")), "x").await;
        assert_eq!((info(&run.layout).exit_code, i32::from(run.exit_code())), (code, code));
    }
}

#[tokio::test]
async fn a_signal_is_told() {
    let scene = Scene::new();
    let run = scene.run(sh("echo before; kill -SEGV $$"), "x").await;
    let record = info(&run.layout);
    assert_eq!((record.exit_code, run.exit_code()), (139, 139));
    assert_eq!(record.error_summary, "the agent was ended by signal 11");
    assert_eq!(text(run.layout.output()), "before\n");
}

#[tokio::test]
async fn a_program_that_is_not_there() {
    let scene = Scene::new();
    let run = scene.run(Plain::new("wrap", vec!["no-such-agent".into()], Duration::ZERO), "x").await;
    let record = info(&run.layout);
    assert_eq!((record.status, record.exit_code), (RunStatus::Failed, 127));
    assert!(record.error_summary.contains("there is no program `no-such-agent`: install it"));
    assert_eq!(scene.kinds(), ["RUN_START", "RUN_CRASH"]);
    assert_eq!(files(&run.layout), FILES);

    let run = scene.run(Plain::new("wrap", vec!["/etc/passwd".into()], Duration::ZERO), "x").await;
    assert_eq!(info(&run.layout).exit_code, 126);

    let mut request = scene.request(sh("true"), "x");
    request.cwd = scene.dir().join("gone");
    let (run, _) = scene.run_seen(request).await;
    assert!(info(&run.layout).error_summary.contains("--cwd"), "{}", info(&run.layout).error_summary);
}

#[tokio::test]
async fn its_own_output_file_is_kept() {
    let scene = Scene::new();
    let run = scene.run(sh("echo noise; echo '# Done' > \"$JRUN_RUN_FOLDER/output.md\""), "x").await;
    assert_eq!(text(run.layout.output()), "# Done\n");
    assert_eq!(text(run.layout.stdout()), "noise\n");

    let run = scene.run(sh("echo noise"), "x").await;
    assert_eq!(text(run.layout.output()), "noise\n");

    // An empty one is its own, too; a link to somewhere else is none.
    let run = scene.run(sh("echo noise; : > \"$JRUN_RUN_FOLDER/output.md\""), "x").await;
    assert_eq!(text(run.layout.output()), "");
    let outside = scene.dir().join("outside");
    let script = format!("echo noise; ln -s {} \"$JRUN_RUN_FOLDER/output.md\"", outside.display());
    let run = scene.run(sh(&script), "x").await;
    assert_eq!(text(run.layout.output()), "noise\n");
    assert!(!outside.exists());
}

#[tokio::test]
async fn it_reads_the_prompt_and_works_where_it_is_told_to() {
    let scene = Scene::new();
    let run = scene.run(sh("pwd; cat"), "the prompt").await;
    let expected = format!("{}\n{}", scene.dir().display(), text(run.layout.prompt()));
    assert_eq!(text(run.layout.stdout()), expected);
    let run = scene.run(sh("cat").without_prompt(), "the prompt").await;
    assert_eq!(text(run.layout.stdout()), "");
}

#[tokio::test]
async fn a_prompt_larger_than_an_argument_may_be() {
    let scene = Scene::new();
    let prompt = "many words ".repeat(100_000);
    let run = scene.run(sh("wc -c"), &prompt).await;
    let size = std::fs::metadata(run.layout.prompt()).unwrap().len();
    assert_eq!(text(run.layout.stdout()).trim(), size.to_string());
}

#[tokio::test]
async fn bytes_that_are_no_text_are_kept_as_they_are() {
    let scene = Scene::new();
    let run = scene.run(sh(r"printf '\377\000\033[2J\200\n'; printf 'bad \376\n' >&2; exit 1"), "x").await;
    assert_eq!(std::fs::read(run.layout.stdout()).unwrap(), b"\xff\0\x1b[2J\x80\n");
    assert_eq!(std::fs::read(run.layout.output()).unwrap(), b"\xff\0\x1b[2J\x80\n");
    assert_eq!(info(&run.layout).error_summary, "the agent ended with exit code 1: bad \u{fffd}");
}

/// Memory that this process has taken so far, in kilobytes.
fn peak_memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or("0");
    line.trim().trim_end_matches(" kB").trim().parse().unwrap()
}

#[tokio::test]
async fn much_output_takes_no_memory() {
    let scene = Scene::new();
    let before = peak_memory();
    // Without a line end, with a decoder that waits for one.
    let words = ["sh", "-c", "head -c 300000000 /dev/zero; head -c 1000000 /dev/zero >&2"].map(str::to_owned);
    let command = AgentCommand {
        words: words.to_vec(),
        runtime: Some(jackin_status::Runtime::ClaudeStream),
        ..AgentCommand::default()
    };
    let settings = AgentSettings::new(Backend::Command(command.clone()));
    let run = scene.run(Cli::new("zeros", &settings, &command, Duration::ZERO), "x").await;
    assert_eq!(info(&run.layout).status, RunStatus::Completed);
    for file in [run.layout.stdout(), run.layout.output()] {
        assert_eq!(std::fs::metadata(file).unwrap().len(), 300_000_000);
    }
    assert_eq!(std::fs::metadata(run.layout.stderr()).unwrap().len(), 1_000_000);
    let grown = peak_memory() - before;
    assert!(grown < 100_000, "{grown} kB more for 300 MB of output");
}

fn lives(pid: &str) -> bool {
    let pid = Pid::from_raw(pid.trim().parse().unwrap()).unwrap();
    // Where nobody takes in orphans, a dead one stays as a zombie.
    let state = std::fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero())).unwrap_or_default();
    test_kill_process(pid).is_ok() && !state.contains(") Z ")
}

#[tokio::test]
async fn stopping_ends_the_whole_group() {
    let scene = Scene::new();
    // It and its child do not care about being asked.
    let script = "trap '' TERM; (trap '' TERM; echo $$ > child; while :; do sleep 0.1; done) & \
                  echo $! > grandchild; echo up > ready; while :; do sleep 0.1; done";
    let request = scene.request(sh(script), "x");
    let (stop, ready) = (request.stop.clone(), scene.dir().join("ready"));
    let asker = tokio::task::spawn_blocking(move || {
        eventually("the agent is up", || ready.exists());
        stop.request(StopReason::Signal(15));
    });
    let (run, _) = scene.run_seen(request).await;
    asker.await.unwrap();
    assert_eq!(info(&run.layout).error_summary, "stopped: terminated (SIGTERM)");
    let grandchild = text(scene.dir().join("grandchild"));
    eventually("its child is gone", || !lives(&grandchild));
}

#[tokio::test]
async fn an_agent_that_is_asked_to_end_may_say_something_first() {
    let scene = Scene::new();
    let script = "trap 'echo bye; exit 9' TERM; echo up > ready; while :; do sleep 0.05; done";
    let request = scene.request(sh(script), "x");
    let (stop, ready) = (request.stop.clone(), scene.dir().join("ready"));
    let asker = tokio::task::spawn_blocking(move || {
        eventually("the agent is up", || ready.exists());
        stop.request(StopReason::Asked);
    });
    let (run, _) = scene.run_seen(request).await;
    asker.await.unwrap();
    assert_eq!(text(run.layout.stdout()), "bye\n");
    assert_eq!(info(&run.layout).exit_code, 143, "it was stopped, whatever it says");
}

#[tokio::test]
async fn what_it_leaves_in_the_background_ends_with_the_run() {
    let scene = Scene::new();
    let run = scene.run(sh("(while :; do sleep 0.1; done) & echo $! > left; echo done"), "x").await;
    assert_eq!(info(&run.layout).status, RunStatus::Completed);
    assert_eq!(text(run.layout.stdout()), "done\n");
    let left = text(scene.dir().join("left"));
    eventually("what it left is gone", || !lives(&left));
}
