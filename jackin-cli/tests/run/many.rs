//! Many at once.

use std::collections::{BTreeMap, BTreeSet};

use jackin_core::run::RunInfo;

use crate::scene::{FILES, Scene, files, text};
use crate::support::Terminal;

#[test]
fn two_hundred_runs_at_sixteen_a_time() {
    let mut scene = Scene::new();
    // Each says what it was told.
    scene.program("claude", "if [ \"$*\" = --version ]; then exit; fi\ntail -n 1\necho done >&2\n");
    let prompts: Vec<String> = (0..200).map(|n| format!("prompt number {n}")).collect();
    std::fs::write(scene.dir().join("prompts"), prompts.join("\n")).unwrap();
    let args = ["run", "--agent", "claude", "--project", "api", "--task", "fix", "--parallel", "16"];
    let output = scene.jackin(&args).args(["--prompt-file", "prompts"]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    assert!(said.ends_with("[jackin] 200 of 200 runs done, 0 failed\n"), "{said}");

    let store = jackin_cli::run::Store::new(scene.dir().join("runs")).unwrap();
    let (runs, bad) = store.runs().unwrap();
    assert!(bad.is_empty(), "{bad:?}");
    let ids: BTreeSet<_> = runs.iter().map(|run| run.layout.run().clone()).collect();
    assert_eq!((runs.len(), ids.len()), (200, 200), "ids are unique");
    let mut told = BTreeSet::new();
    for run in &runs {
        assert_eq!(run.standing(), "completed");
        assert_eq!(files(&run.layout), FILES, "no file is missing, and none is left over");
        told.insert(text(run.layout.output()));
    }
    assert_eq!(told, BTreeSet::from_iter(prompts), "each prompt was done once");

    let bus = runs[0].layout.task().bus();
    let messages = jackin_cli::run::bus::read(&bus).unwrap();
    assert_eq!(messages.len(), 400);
    assert!(messages.windows(2).all(|pair| pair[0].msg_id < pair[1].msg_id), "in the order of their ids");
    let mut of_run: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for message in &messages {
        of_run.entry(&message.run_id).or_default().push(&message.kind);
        let whole = match message.kind.as_str() {
            "RUN_START" => message.body.starts_with("run started\n") && message.body.lines().count() == 3,
            _ => message.body.starts_with("run completed\n") && message.body.lines().count() == 4,
        };
        assert!(whole, "{message:?}");
    }
    assert!(of_run.values().all(|kinds| kinds[..] == ["RUN_START", "RUN_STOP"]), "ordered in each run");
    // Exactly the lines of whole messages, and nothing between them.
    let lines = text(bus).lines().filter(|line| *line == "---").count();
    assert_eq!(lines, 800);
}

#[test]
fn a_thousand_starts_at_once_have_a_thousand_ids() {
    let scene = Scene::new();
    let store = scene.store();
    let task = store.task("api".parse().unwrap(), "fix".parse().unwrap());
    let ids: Vec<String> = std::thread::scope(|scope| {
        let starters: Vec<_> = (0..100)
            .map(|_| {
                scope.spawn(|| {
                    let begin = |layout: &_, start| RunInfo::begun(layout, "parrot", start);
                    let created = (0..10).map(|_| store.create(&task, begin).unwrap().0);
                    created.map(|directory| directory.layout().run().to_string()).collect::<Vec<_>>()
                })
            })
            .collect();
        starters.into_iter().flat_map(|starter| starter.join().unwrap()).collect()
    });
    let unique: BTreeSet<&String> = ids.iter().collect();
    assert_eq!((ids.len(), unique.len()), (1_000, 1_000));
    let on_disk = store.runs().unwrap().0;
    assert_eq!(on_disk.len(), 1_000);
    let form = |id: &str| {
        let parts: Vec<&str> = id.split('-').collect();
        parts.len() == 4
            && parts[0].len() == 8
            && parts[1].len() == 10
            && parts[2] == std::process::id().to_string()
    };
    assert!(ids.iter().all(|id| form(id)));
}

#[test]
fn some_of_many_fail() {
    let mut scene = Scene::new();
    scene.program("claude", "if [ \"$*\" = --version ]; then exit; fi\nexit \"$(tail -n 1)\"\n");
    std::fs::write(scene.dir().join("prompts"), "0\n\n5\n3\n0\n").unwrap();
    let args = ["run", "--agent", "claude", "--task", "fix", "--parallel", "2", "--prompt-file", "prompts"];
    let output = scene.jackin(&args).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(5), "that of the first prompt that failed");
    assert!(said.contains("4 of 4 runs done, 2 failed"), "{said}");

    let output = scene.jackin(&args).arg("--json").output().unwrap();
    let lines = String::from_utf8(output.stdout).unwrap();
    let events: Vec<serde_json::Value> =
        lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let ended: Vec<i64> = events
        .iter()
        .filter(|event| event["event"] == "ended")
        .map(|event| event["info"]["exit_code"].as_i64().unwrap())
        .collect();
    assert_eq!(ended.iter().sum::<i64>(), 8);
    assert_eq!(ended.len(), 4);
}

#[test]
fn a_terminal_shows_a_bar_and_its_interrupt_stops_them_all() {
    let mut scene = Scene::new();
    scene.program(
        "claude",
        "if [ \"$*\" = --version ]; then exit; fi\nread -r _\ncase $(tail -n 1) in wait*) echo $$ >> pids; exec sleep 1000;; esac\n",
    );
    std::fs::write(scene.dir().join("prompts"), "go\nwait 1\nwait 2\nwait 3\n").unwrap();
    let script = format!(
        "cd {dir} && PATH={dir}/bin:$PATH JACKIN_HOME={dir} exec {jackin} run --agent claude --task fix --parallel 2 --prompt-file prompts",
        dir = scene.dir().display(),
        jackin = crate::support::JACKIN,
    );
    let mut terminal = Terminal::start("sh", &["-c", &script], 10, 70);
    terminal.wait_for("1/4 · 2 running");
    assert!(terminal.text().contains("[████"), "{}", terminal.text());
    let pids = scene.dir().join("pids");
    crate::support::eventually("both are up", || {
        std::fs::read_to_string(&pids).is_ok_and(|pids| pids.lines().count() == 2)
    });
    terminal.type_in("\x03");
    assert_eq!(terminal.exit_code(), 130);
    let store = jackin_cli::run::Store::new(scene.dir().join("runs")).unwrap();
    let (runs, _) = store.runs().unwrap();
    // The first two begin at the same time, and either may have the first id.
    let mut standing: Vec<_> = runs.iter().map(jackin_cli::run::FoundRun::standing).collect();
    standing.sort_unstable();
    assert_eq!(standing, ["completed", "failed", "failed"], "the fourth was not begun");
    for run in runs.iter().filter(|run| run.standing() == "failed") {
        assert_eq!(run.info.exit_code, 130);
        assert_eq!(run.info.error_summary, "stopped: interrupted (SIGINT)");
    }
}
