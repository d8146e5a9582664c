//! `jackin run` and `jackin runs` from outside.

use std::io::{Read, Write};
use std::process::{Child, Output, Stdio};

use jackin_core::run::RunStatus;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::scene::{Scene, text};
use crate::support::{Terminal, eventually};

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn wrap<'a>(script: &'a str, options: &[&'a str]) -> Vec<&'a str> {
    [&["run", "--project", "api", "--task", "fix"], options, &["--wrap", "--", "sh", "-c", script]].concat()
}

fn store(scene: &Scene) -> jackin_cli::run::Store {
    jackin_cli::run::Store::new(scene.dir().join("runs")).unwrap()
}

#[test]
fn its_output_is_printed_and_its_code_returned() {
    let scene = Scene::new();
    let output = scene.jackin(&wrap("echo one; echo two >&2; exit 3", &[])).output().unwrap();
    assert_eq!((output.status.code(), stdout(&output).as_str()), (Some(3), "one\n"));
    let said = stderr(&output);
    assert!(said.contains("[jackin] run 2") && said.contains("failed in "), "{said}");
    assert!(said.contains("the agent ended with exit code 3: two"), "{said}");
}

#[test]
fn what_it_prints_is_shown_as_it_comes() {
    let scene = Scene::new();
    let script = "printf one; while [ ! -e go ]; do sleep 0.02; done; echo ' two'; echo three >&2";
    let mut child = scene
        .jackin(&wrap(script, &["--live"]))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut out = child.stdout.take().unwrap();
    let mut first = [0; 3];
    out.read_exact(&mut first).unwrap();
    assert_eq!(&first, b"one", "before it ends");
    std::fs::write(scene.dir().join("go"), "").unwrap();
    let mut rest = String::new();
    out.read_to_string(&mut rest).unwrap();
    assert_eq!(rest, " two\n", "and once only");
    let output = child.wait_with_output().unwrap();
    assert!(stderr(&output).contains("\nthree\n"));
}

#[test]
fn a_structured_agent_is_shown_by_what_it_says() {
    let mut scene = Scene::new();
    let said = r#"{"type":"assistant","message":{"id":"m1","content":[{"type":"text","text":"Hello you."}]},"parent_tool_use_id":null}"#;
    scene.program("claude", &format!("if [ \"$*\" = --version ]; then exit; fi\necho '{said}'\n"));
    let args = ["run", "--agent", "claude", "--task", "fix", "--prompt", "x"];
    let output = scene.jackin(&args).arg("--live").output().unwrap();
    assert_eq!(stdout(&output), "Hello you.\n", "{}", stderr(&output));
    let output = scene.jackin(&args).arg("--live=raw").output().unwrap();
    assert_eq!(stdout(&output), format!("{said}\n"));
    let output = scene.jackin(&["runs", "tail", "last"]).output().unwrap();
    assert_eq!(stdout(&output), "Hello you.\n");
    let output = scene.jackin(&["runs", "tail", "last", "--raw"]).output().unwrap();
    assert_eq!(stdout(&output), format!("{said}\n"));
}

#[test]
fn a_command_that_prints_json_is_shown_as_it_is() {
    let scene = Scene::new();
    let output = scene.jackin(&wrap("echo '{\"a\": 1}'", &["--live"])).output().unwrap();
    assert_eq!(stdout(&output), "{\"a\": 1}\n");
}

#[test]
fn programs_are_told_in_json() {
    let mut scene = Scene::new();
    let said = r#"{"type":"assistant","message":{"id":"m1","content":[{"type":"text","text":"<jackin:link>https://example.com/</jackin:link>"}]},"parent_tool_use_id":null}
{"type":"result","subtype":"success","is_error":false,"result":"x","total_cost_usd":0.5,"usage":{"input_tokens":1,"output_tokens":2}}"#;
    scene.program("claude", &format!("if [ \"$*\" = --version ]; then exit; fi\ncat <<'E'\n{said}\nE\n"));
    let args = ["run", "--agent", "claude", "--project", "api", "--task", "fix", "--prompt", "x", "--json"];
    let output = scene.jackin(&args).output().unwrap();
    let events: Vec<Value> =
        stdout(&output).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let kinds: Vec<&str> = events.iter().map(|event| event["event"].as_str().unwrap()).collect();
    assert_eq!((kinds[0], *kinds.last().unwrap()), ("created", "ended"));
    for kind in ["step", "status", "tag", "usage"] {
        assert!(kinds.contains(&kind), "{kinds:?}");
    }
    let last = events.last().unwrap();
    assert_eq!(last["info"]["status"], "completed");
    assert_eq!(last["info"]["tags"]["link"][0], "https://example.com/");
    assert_eq!(last["info"]["cost_usd"], 0.5);
    let id = last["run_id"].as_str().unwrap();
    assert!(events.iter().all(|event| event["run_id"] == id));

    let output = scene.jackin(&["runs", "show", id, "--json"]).output().unwrap();
    let shown: Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!((&shown["run_id"], &shown["standing"]), (&id.into(), &"completed".into()));
    let output = scene.jackin(&["runs", "list", "--json", "--project", "api"]).output().unwrap();
    assert_eq!(serde_json::from_str::<Value>(&stdout(&output)).unwrap()["run_id"], id);
    assert_eq!(stdout(&scene.jackin(&["runs", "list", "--project", "other"]).output().unwrap()), "");
}

#[test]
fn a_prompt_comes_from_where_it_is_said() {
    let scene = Scene::new();
    std::fs::write(scene.dir().join("prompt.txt"), "from a file").unwrap();
    let from_stdin = |options: &[&str]| {
        let mut child = scene.jackin(&wrap("tail -n 1", options));
        let mut child =
            child.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(b"from outside").unwrap();
        stdout(&child.wait_with_output().unwrap())
    };
    assert_eq!(from_stdin(&["-"]), "from outside");
    assert_eq!(from_stdin(&["--prompt-file", "-"]), "from outside");
    assert_eq!(from_stdin(&["--prompt", "from the line"]), "from the line");
    assert_eq!(from_stdin(&["--prompt-file", "prompt.txt"]), "from a file");
    assert_eq!(from_stdin(&[]), "", "a command that is given no prompt has nothing to read");
}

#[test]
fn mistakes_are_told_with_what_to_do() {
    let scene = Scene::new();
    for (args, told) in [
        (&["run", "--prompt", "x"][..], "say which agent with --agent"),
        (&["run", "--agent", "clod", "--prompt", "x"], "write one of claude, codex, gemini, perplexity, xai"),
        (&["run", "--agent", "claude"], "say what to do with --prompt TEXT"),
        (&["run", "--agent", "claude", "--prompt", " "], "the prompt is empty"),
        (&["run", "--agent", "claude", "--prompt-file", "gone"], "cannot read gone"),
        (&["run", "--agent", "claude", "do it"], "write the prompt with --prompt"),
        (&["run", "--agent", "claude", "--prompt", "x", "--task", "../x"], "letters, digits"),
        (
            &["run", "--agent", "claude", "--prompt", "x", "--timeout", "soon"],
            "is no time: write \"90s\", \"30m\" or \"1h30m\"",
        ),
        (&["run", "--agent", "claude", "--prompt", "x", "--parent", "me"], "YYYYMMDD"),
        (&["run", "--agent", "claude", "--prompt", "x", "--", "true"], "--wrap"),
        (&["run", "--wrap"], "<CMD>"),
        (&["runs", "show", "2026"], "there is no run \"2026\""),
        (&["runs", "stop", "last"], "there is no run"),
    ] {
        let output = scene.jackin(args).output().unwrap();
        assert!(!output.status.success(), "{args:?}");
        assert!(stderr(&output).contains(told), "{args:?}: {}", stderr(&output));
    }
    assert!(store(&scene).runs().unwrap().0.is_empty(), "no run was begun");
}

#[test]
fn without_a_home_the_directory_of_records_is_enough() {
    let scene = Scene::new();
    let homeless = |args: &[&str]| {
        let mut jackin = scene.jackin(args);
        jackin.env_remove("JACKIN_HOME").env_remove("HOME").output().unwrap()
    };
    let output = homeless(&wrap("echo here", &["--root", "records"]));
    assert_eq!((output.status.code(), stdout(&output).as_str()), (Some(0), "here\n"), "{}", stderr(&output));
    let output = homeless(&["runs", "list", "--root", "records"]);
    assert!(stdout(&output).contains("completed"), "{}{}", stdout(&output), stderr(&output));

    for args in [&wrap("echo here", &[])[..], &["runs", "list"]] {
        let output = homeless(args);
        assert_eq!(output.status.code(), Some(1));
        let told = "neither JACKIN_HOME nor HOME is set: name the directory of records with --root";
        assert!(stderr(&output).contains(told), "{}", stderr(&output));
    }

    // A configuration that is there counts, and so do its mistakes.
    let configured = |text: &str, args: &[&str]| {
        std::fs::write(scene.dir().join("config.toml"), text).unwrap();
        let mut jackin = scene.jackin(args);
        let jackin = jackin.env_remove("JACKIN_HOME").env_remove("HOME");
        jackin.env("JACKIN_CONFIG_DIR", scene.dir()).output().unwrap()
    };
    let root = format!("[runs]\nroot = \"{}\"\n", scene.dir().join("records").display());
    assert!(stdout(&configured(&root, &["runs", "list"])).contains("completed"));
    let output = configured("[runs]\nroot = \"~/records\"\n", &["runs", "list"]);
    assert!(stderr(&output).contains("--root"), "{}", stderr(&output));
    let output = configured("[runs]\nroot = 7\n", &["runs", "list", "--root", "records"]);
    assert!(stderr(&output).contains("config.toml:2: runs.root: "), "{}", stderr(&output));
    assert!(stdout(&output).contains("completed"), "what there is is listed all the same");
    let output = configured("[runs]\nroot = 7\n", &wrap("echo here", &["--root", "records"]));
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
}

#[test]
fn an_agent_that_is_not_installed_is_a_recorded_failure() {
    let scene = Scene::new().with_variable("PATH", "/nonexistent");
    let output = scene.jackin(&["run", "--agent", "claude", "--prompt", "Fix the login"]).output().unwrap();
    assert_eq!(output.status.code(), Some(127), "{}", stderr(&output));
    assert!(stderr(&output).contains("there is no program `claude`: install it"));
    let run = store(&scene).find("last").unwrap();
    assert_eq!(run.info.status, RunStatus::Failed);
    assert!(
        run.info.task_id.as_str().starts_with("task-2")
            && run.info.task_id.as_str().ends_with("-fix-the-login")
    );
    let directory = scene.dir().file_name().unwrap().to_string_lossy().into_owned();
    assert_eq!(run.info.project_id, jackin_core::run::ProjectId::from_directory(&directory));
}

#[test]
fn a_run_inside_a_run_is_its_child() {
    let scene = Scene::new();
    let inner = format!("{} run --project api --task fix --wrap -- true", crate::support::JACKIN);
    let output = scene.jackin(&wrap(&inner, &[])).output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    let runs = store(&scene).runs().unwrap().0;
    assert_eq!(runs.len(), 2);
    let child = runs.iter().find(|run| run.info.parent_run_id.is_some()).unwrap();
    let parent = runs.iter().find(|run| run.info.parent_run_id.is_none()).unwrap();
    assert_eq!(child.info.parent_run_id.as_ref(), Some(&parent.info.run_id));
}

#[test]
fn its_time_is_limited() {
    let scene = Scene::new();
    let output = scene.jackin(&wrap("echo up; sleep 1000", &["--timeout", "1s"])).output().unwrap();
    assert_eq!((output.status.code(), stdout(&output).as_str()), (Some(124), "up\n"));
    assert_eq!(store(&scene).find("last").unwrap().info.error_summary, "stopped: its time of 1s was over");
}

/// A run that goes on until it is stopped; it is up when this returns.
fn going_on(scene: &Scene) -> Child {
    let script = "trap 'exit 0' TERM; echo up; echo up > ready; while :; do sleep 0.05; done";
    let child =
        scene.jackin(&wrap(script, &[])).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let ready = scene.dir().join("ready");
    eventually("the agent is up", || ready.exists());
    std::fs::remove_file(ready).unwrap();
    child
}

#[test]
fn signals_stop_the_run_and_are_recorded() {
    for (signal, code, told) in [
        (Signal::INT, 130, "stopped: interrupted (SIGINT)"),
        (Signal::TERM, 143, "stopped: terminated (SIGTERM)"),
        (Signal::HUP, 129, "stopped: its terminal was closed (SIGHUP)"),
    ] {
        let scene = Scene::new();
        let child = going_on(&scene);
        kill_process(Pid::from_raw(child.id().cast_signed()).unwrap(), signal).unwrap();
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(code), "{}", stderr(&output));
        let run = store(&scene).find("last").unwrap();
        assert_eq!((run.standing(), run.info.exit_code), ("failed", code));
        assert_eq!(run.info.error_summary, told);
        assert_eq!(scene_kinds(&scene), ["RUN_START", "RUN_CRASH"]);
    }
}

fn scene_kinds(scene: &Scene) -> Vec<String> {
    let bus = scene.dir().join("runs/api/fix/TASK-MESSAGE-BUS.md");
    jackin_cli::run::bus::read(&bus).unwrap().into_iter().map(|message| message.kind).collect()
}

#[test]
fn a_second_interrupt_leaves_no_time() {
    let scene = Scene::new();
    let script = "trap '' TERM INT; echo up > ready; while :; do sleep 0.05; done";
    let mut child = scene.jackin(&wrap(script, &[])).stderr(Stdio::piped()).spawn().unwrap();
    let ready = scene.dir().join("ready");
    eventually("the agent is up", || ready.exists());
    let runner = Pid::from_raw(child.id().cast_signed()).unwrap();
    // As often as it takes: two signals that come at once are one.
    eventually("it ends", || {
        let _ = kill_process(runner, Signal::INT);
        child.try_wait().unwrap().is_some()
    });
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert_eq!(store(&scene).find("last").unwrap().info.exit_code, 130);
}

#[test]
fn runs_are_listed_shown_followed_and_stopped() {
    let scene = Scene::new();
    let child = going_on(&scene);
    let id = store(&scene).find("last").unwrap().info.run_id.to_string();

    let list = stdout(&scene.jackin(&["runs", "list"]).output().unwrap());
    assert!(list.starts_with(&id) && list.contains("running") && list.contains("api/fix"), "{list}");
    let show = stdout(&scene.jackin(&["runs", "show", &id[..12]]).output().unwrap());
    assert!(show.contains("status     running") && show.contains("RUN_START"), "{show}");
    assert_eq!(stdout(&scene.jackin(&["runs", "gc"]).output().unwrap()), "nothing to put in order\n");

    let mut tail = scene.jackin(&["runs", "tail", &id]).stdout(Stdio::piped()).spawn().unwrap();
    let mut first = [0; 3];
    tail.stdout.as_mut().unwrap().read_exact(&mut first).unwrap();
    assert_eq!(&first, b"up\n");

    let stop = scene.jackin(&["runs", "stop", &id]).output().unwrap();
    assert!(stdout(&stop).contains("failed: stopped: stopped by `jackin runs stop`"), "{}", stdout(&stop));
    assert!(tail.wait().unwrap().success(), "it ends with the run");
    assert_eq!(child.wait_with_output().unwrap().status.code(), Some(143));
    let again = scene.jackin(&["runs", "stop", &id]).output().unwrap();
    assert!(
        again.status.success() && stdout(&again).contains("failed"),
        "stopping what is over is no mistake"
    );
    let show = stdout(&scene.jackin(&["runs", "show", "last"]).output().unwrap());
    assert!(show.contains("RUN_CRASH") && show.contains("exit code  143"), "{show}");
    let list = stdout(&scene.jackin(&["runs", "list", "--status", "running"]).output().unwrap());
    assert_eq!(list, "");
}

#[test]
fn stopping_a_run_whose_runner_died_ends_it() {
    let scene = Scene::new();
    let mut child = going_on(&scene);
    child.kill().unwrap();
    child.wait().unwrap();
    let list = stdout(&scene.jackin(&["runs", "list"]).output().unwrap());
    assert!(list.contains("abandoned") && list.contains("jackin runs gc"), "{list}");
    let stop = scene.jackin(&["runs", "stop", "last"]).output().unwrap();
    assert!(stdout(&stop).contains("the runner (process"), "{}{}", stdout(&stop), stderr(&stop));
    assert_eq!(store(&scene).find("last").unwrap().standing(), "failed");
}

#[test]
fn whoever_stops_reading_stops_nothing() {
    let scene = Scene::new();
    let script = "head -c 1000000 /dev/zero; echo end >&2";
    let mut child = scene
        .jackin(&wrap(script, &["--live"]))
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    assert!(child.wait().unwrap().success());
    let run = store(&scene).find("last").unwrap();
    assert_eq!(std::fs::metadata(run.layout.stdout()).unwrap().len(), 1_000_000);
}

#[test]
fn a_reader_that_is_stuck_does_not_hold_up_an_end() {
    let scene = Scene::new();
    let script = "echo up > ready; head -c 10000000 /dev/zero";
    let child = scene
        .jackin(&wrap(script, &["--live"]))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let ready = scene.dir().join("ready");
    eventually("the agent is up", || ready.exists());
    let run = store(&scene).find("last").unwrap();
    let file = run.layout.stdout();
    // The pipe is full, and the agent waits.
    let mut last = 0;
    eventually("nothing more comes", || {
        let len = std::fs::metadata(&file).unwrap().len();
        std::thread::sleep(std::time::Duration::from_millis(50));
        std::mem::replace(&mut last, len) == len && len > 0
    });
    assert!(last < 10_000_000);
    kill_process(Pid::from_raw(child.id().cast_signed()).unwrap(), Signal::TERM).unwrap();
    eventually("the run is over", || store(&scene).find("last").unwrap().info.status != RunStatus::Running);
    assert_eq!(child.wait_with_output().unwrap().status.code(), Some(143));
}

#[test]
fn an_end_is_not_held_up_by_who_reads_the_events() {
    let scene = Scene::new();
    let script = "echo up > ready; while :; do sleep 0.05; done";
    // A pipe that is full from the beginning, and nobody who reads.
    let (reader, mut writer) = std::io::pipe().unwrap();
    rustix::io::ioctl_fionbio(&writer, true).unwrap();
    while writer.write(&[0; 4096]).is_ok() {}
    rustix::io::ioctl_fionbio(&writer, false).unwrap();
    let mut jackin = scene.jackin(&wrap(script, &["--json"]));
    let mut child = jackin.stdout(writer).spawn().unwrap();
    // Whoever looks on holds up the beginning, which is its right.
    eventually("a run was made", || store(&scene).find("last").is_ok());
    kill_process(Pid::from_raw(child.id().cast_signed()).unwrap(), Signal::TERM).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(143));
    assert_eq!(store(&scene).find("last").unwrap().standing(), "failed");
    drop(reader);
}

#[test]
fn a_terminal_is_not_driven_by_what_an_agent_prints() {
    let scene = Scene::new();
    let script = format!(
        "cd {dir} && JACKIN_HOME={dir} exec {jackin} run --task fix --live --wrap -- printf 'a\\033[2Jb\\033]0;x\\007c\\n'",
        dir = scene.dir().display(),
        jackin = crate::support::JACKIN,
    );
    let mut terminal = Terminal::start("sh", &["-c", &script], 10, 100);
    terminal.wait_for("completed in");
    assert_eq!(terminal.exit_code(), 0);
    assert!(terminal.text().contains("a [2Jb ]0;x c"), "{}", terminal.text());
    let run = store(&scene).find("last").unwrap();
    assert_eq!(text(run.layout.stdout()), "a\u{1b}[2Jb\u{1b}]0;x\u{7}c\n", "the record has it all");
}

#[test]
fn a_run_is_found_by_its_task_as_the_list_shows_it() {
    let scene = Scene::new();
    let run = |project: &str, task: &str, says: &str| {
        let script = format!("echo {says}");
        let args = ["run", "--project", project, "--task", task, "--wrap", "--", "sh", "-c", &script];
        assert!(scene.jackin(&args).output().unwrap().status.success());
    };
    run("api", "fix", "first");
    run("api", "fix", "second");
    run("web", "hello", "third");
    let tail = |run: &str| scene.jackin(&["runs", "tail", run]).output().unwrap();
    assert_eq!(stdout(&tail("fix")), "second\n", "the newest");
    assert_eq!(stdout(&tail("api/fix")), "second\n");
    assert_eq!(stdout(&tail("web/hello")), "third\n");
    let shown = scene.jackin(&["runs", "show", "hello", "--json"]).output().unwrap();
    assert_eq!(serde_json::from_str::<Value>(&stdout(&shown)).unwrap()["task_id"], "hello");
    run("web", "fix", "fourth");
    let told = stderr(&tail("fix"));
    assert!(told.contains("\"fix\" may be api/fix or web/fix: write one of them"), "{told}");
    assert_eq!(stdout(&tail("web/fix")), "fourth\n");
    for unknown in ["api/hello", "nothing", "fi", "/fix", "api/"] {
        let output = tail(unknown);
        assert!(!output.status.success() && stderr(&output).contains("there is no run"), "{unknown}");
    }
    // What may be the beginning of an id is asked for more exactly.
    run("web", "2", "fifth");
    let told = stderr(&tail("2"));
    assert!(told.contains("\"2\" is a task and the beginning of run 2"), "{told}");
    assert_eq!(stdout(&tail("web/2")), "fifth\n");
}

#[test]
fn gc_of_instances_tells_of_runs_that_were_left() {
    let scene = Scene::new().with_variable("DOCKER_HOST", "unix:///nonexistent/docker.sock");
    let gc = |args: &[&str]| scene.jackin(&[&["gc"], args].concat()).output().unwrap();
    assert_eq!(stdout(&gc(&[])), "nothing is left over\n");
    let mut child = going_on(&scene);
    assert_eq!(stdout(&gc(&[])), "nothing is left over\n", "it goes on");
    child.kill().unwrap();
    child.wait().unwrap();
    let id = store(&scene).find("last").unwrap().layout.run().to_string();
    let told = stdout(&gc(&[]));
    assert_eq!(told, format!("runs: {id} was left by its runner; `jackin runs gc` puts it in order\n"));
    let told: Value = serde_json::from_str(&stdout(&gc(&["--json"]))).unwrap();
    assert_eq!(told["abandoned_runs"], serde_json::json!([id]));
    assert!(scene.jackin(&["runs", "gc"]).output().unwrap().status.success());
    assert_eq!(stdout(&gc(&[])), "nothing is left over\n");
}
