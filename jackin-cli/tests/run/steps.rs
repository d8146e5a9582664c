//! The seven steps, with agents that do what a script says.

use std::time::Duration;

use jackin_core::run::{AgentError, KNOWN_TOKENS, RunStatus, ScriptedAgent, Step, StopReason, TOKENS};
use jackin_core::{RuntimeEvent, Usage};

use crate::scene::{FILES, Scene, files, info, text};
use crate::support::eventually;

#[tokio::test]
async fn a_run_leaves_a_complete_record() {
    let scene = Scene::new();
    let agent = ScriptedAgent::new("parrot").with_version("parrot 1.2").prints("Hello.\n").complains("hm\n");
    let (run, steps) = scene.run_seen(scene.request(agent, "Say hello")).await;

    assert_eq!(
        steps,
        [
            Step::Created,
            Step::Prompted,
            Step::Equipped,
            Step::Begun,
            Step::Executed,
            Step::Summarised,
            Step::Recorded,
            Step::Closed
        ]
    );
    assert_eq!(files(&run.layout), FILES);
    let record = info(&run.layout);
    assert_eq!(record, run.info);
    assert_eq!((record.status, record.exit_code), (RunStatus::Completed, 0));
    assert_eq!((record.agent.as_str(), record.agent_version.as_str()), ("parrot", "parrot 1.2"));
    assert!(record.end_time.unwrap() >= record.start_time);
    assert_eq!(record.cwd, scene.dir().to_str().unwrap());
    assert_eq!(record.error_summary, "");
    assert!(run.layout.run().as_str().contains(&format!("-{}-", std::process::id())));

    let prompt = text(run.layout.prompt());
    assert!(prompt.ends_with("\nSay hello"), "{prompt}");
    for told in [
        run.layout.folder().to_str().unwrap(),
        run.layout.task().folder().to_str().unwrap(),
        run.layout.task().bus().to_str().unwrap(),
        run.layout.output().to_str().unwrap(),
        run.layout.run().as_str(),
    ] {
        assert!(prompt.contains(told), "the preamble names {told}");
    }
    assert_eq!(text(run.layout.stdout()), "Hello.\n");
    assert_eq!(text(run.layout.stderr()), "hm\n");
    assert_eq!(text(run.layout.output()), "Hello.\n", "without an output.md, it is what was printed");
    assert_eq!(text(run.layout.task().description()), "Say hello\n");

    let messages = scene.messages();
    assert_eq!(scene.kinds(), ["RUN_START", "RUN_STOP"]);
    for message in &messages {
        assert_eq!(message.run_id, run.layout.run().as_str());
        assert_eq!((message.project_id.as_str(), message.task_id.as_str()), ("api", "fix"));
    }
    assert!(messages[0].msg_id < messages[1].msg_id);
}

#[tokio::test]
async fn the_agent_has_the_contract_s_environment_and_its_own_token_alone() {
    let mut scene = Scene::new().with_variable("JRUN_CONDUCTOR_URL", "http://conductor");
    for (_, variable) in KNOWN_TOKENS {
        scene = scene.with_variable(variable, "secret");
    }
    for (agent, own) in TOKENS {
        let mut script = ScriptedAgent::new(agent);
        for (_, variable) in KNOWN_TOKENS {
            script = script.prints_variable(variable);
        }
        for name in [
            "ID",
            "PARENT_ID",
            "PROJECT_ID",
            "TASK_ID",
            "RUNS_DIR",
            "MESSAGE_BUS",
            "TASK_FOLDER",
            "RUN_FOLDER",
        ] {
            script = script.prints_variable(format!("JRUN_{name}"));
        }
        let run = scene.run(script.prints_variable("JRUN_CONDUCTOR_URL"), "x").await;
        let printed = text(run.layout.stdout());
        assert!(printed.contains(&format!("{own}=secret\n")), "{printed}");
        for (owner, variable) in KNOWN_TOKENS.into_iter().filter(|(owner, _)| *owner != agent) {
            assert!(
                printed.contains(&format!("{variable} is not set\n")),
                "{agent} sees the {variable} of {owner:?}"
            );
        }
        assert!(printed.contains(&format!("JRUN_ID={}\n", run.layout.run())));
        assert!(printed.contains("JRUN_PARENT_ID=\n"), "present and empty for a root run");
        assert!(printed.contains(&format!("JRUN_RUN_FOLDER={}\n", run.layout.folder().display())));
        assert!(printed.contains(&format!("JRUN_MESSAGE_BUS={}\n", run.layout.task().bus().display())));
        assert!(printed.contains("JRUN_CONDUCTOR_URL=http://conductor\n"));
        let record = text(run.layout.info()) + &text(run.layout.prompt());
        assert!(!record.contains("secret"), "keys are in no file of ours");
    }
}

#[tokio::test]
async fn a_child_run_knows_its_parent() {
    let scene = Scene::new();
    let parent = scene.run(ScriptedAgent::new("parrot"), "first").await;
    let mut request = scene.request(ScriptedAgent::new("parrot").prints_variable("JRUN_PARENT_ID"), "second");
    request.parent = Some(parent.info.run_id.clone());
    let (child, _) = scene.run_seen(request).await;
    assert_eq!(info(&child.layout).parent_run_id, Some(parent.info.run_id.clone()));
    assert_eq!(text(child.layout.stdout()), format!("JRUN_PARENT_ID={}\n", parent.info.run_id));
    assert!(text(child.layout.prompt()).contains(parent.info.run_id.as_str()));
    assert_eq!(text(child.layout.task().description()), "first\n", "the task stays what it was");
}

#[tokio::test]
async fn a_failure_is_recorded_with_its_reason() {
    let scene = Scene::new();
    let run = scene.run(ScriptedAgent::new("parrot").complains("a\nno crackers left\n").ends(7), "x").await;
    let record = info(&run.layout);
    assert_eq!((record.status, record.exit_code, run.exit_code()), (RunStatus::Failed, 7, 7));
    assert_eq!(record.error_summary, "the agent ended with exit code 7: no crackers left");
    assert_eq!(scene.kinds(), ["RUN_START", "RUN_CRASH"]);
    assert_eq!(scene.messages()[1].meta["exit_code"], "7");

    let error = AgentError::NoToken { agent: "parrot".into(), variable: "CRACKER".into() };
    let run = scene.run(ScriptedAgent::new("parrot").fails(error), "x").await;
    assert_eq!(info(&run.layout).error_summary, "CRACKER is not set: put the key of parrot into it");
    assert_eq!(run.exit_code(), 1);
    assert_eq!(files(&run.layout), FILES);
}

#[tokio::test]
async fn a_defect_in_a_backend_costs_its_run_alone() {
    let scene = Scene::new();
    let run = scene.run(ScriptedAgent::new("parrot").prints("so far\n").panics(), "x").await;
    let record = info(&run.layout);
    assert_eq!(record.status, RunStatus::Failed);
    assert!(record.error_summary.contains("has a defect: the script says so"), "{}", record.error_summary);
    assert_eq!(text(run.layout.output()), "so far\n");
}

#[tokio::test]
async fn time_runs_out() {
    let scene = Scene::new();
    for agent in [ScriptedAgent::new("parrot").goes_on(), ScriptedAgent::new("parrot").never_ends()] {
        let mut request = scene.request(agent.clone(), "x");
        request.timeout = Some(Duration::from_millis(50));
        let (run, _) = scene.run_seen(request).await;
        let record = info(&run.layout);
        assert_eq!((record.status, record.exit_code), (RunStatus::Failed, 124));
        assert_eq!(record.error_summary, "stopped: its time of 50ms was over");
    }
}

#[tokio::test]
async fn a_run_stops_when_it_is_asked_to() {
    let scene = Scene::new();
    let request = scene.request(ScriptedAgent::new("parrot").prints("so far\n").goes_on(), "x");
    request.stop.request(StopReason::Signal(2));
    let (run, _) = scene.run_seen(request).await;
    let record = info(&run.layout);
    assert_eq!((record.exit_code, record.error_summary.as_str()), (130, "stopped: interrupted (SIGINT)"));

    let request = scene.request(ScriptedAgent::new("parrot").never_ends(), "x");
    request.stop.insist(StopReason::Signal(15));
    let (run, _) = scene.run_seen(request).await;
    assert_eq!(info(&run.layout).exit_code, 143);

    // By the file that `jackin runs stop` makes.
    let request = scene.request(ScriptedAgent::new("parrot").goes_on(), "x");
    let root = scene.root();
    let asker = tokio::task::spawn_blocking(move || {
        let store = jackin_cli::run::Store::new(root).unwrap();
        let running =
            || store.runs().unwrap().0.into_iter().find(|run| run.info.status == RunStatus::Running);
        eventually("a run begins", || running().is_some());
        std::fs::write(running().unwrap().layout.stop_request(), "").unwrap();
    });
    let (run, _) = scene.run_seen(request).await;
    asker.await.unwrap();
    assert_eq!(info(&run.layout).error_summary, "stopped: stopped by `jackin runs stop`");
    assert_eq!(files(&run.layout), FILES, "the request is gone");
}

#[tokio::test]
async fn what_the_agent_tells_is_in_the_record() {
    let scene = Scene::new();
    let agent = ScriptedAgent::new("parrot")
        .prints("{}\n")
        .says(RuntimeEvent::TurnStarted)
        .says_text("Working.")
        .says_text("Done: <jackin:pr>https://github.com/o/r/pull/7</jackin:pr>")
        .says(RuntimeEvent::Usage(Usage {
            input_tokens: Some(10),
            output_tokens: Some(3),
            cost_usd: Some(0.25),
            ..Usage::default()
        }))
        .says(RuntimeEvent::TurnEnded { error: None });
    let run = scene.run(agent, "x").await;
    let record = info(&run.layout);
    assert_eq!(record.tags["pr"], ["https://github.com/o/r/pull/7"]);
    let usage = record.usage.unwrap();
    assert_eq!((usage.input_tokens, usage.output_tokens, usage.cached_tokens), (Some(10), Some(3), None));
    assert_eq!(record.cost_usd, Some(0.25));
    assert_eq!(record.live, None, "it is over");
    assert_eq!(
        text(run.layout.output()),
        "Done: <jackin:pr>https://github.com/o/r/pull/7</jackin:pr>\n",
        "the last words, not what was printed for programs"
    );

    let agent =
        ScriptedAgent::new("parrot").says(RuntimeEvent::TurnEnded { error: Some("no quota".into()) }).ends(1);
    let run = scene.run(agent, "x").await;
    assert_eq!(info(&run.layout).error_summary, "the agent ended with exit code 1: no quota");
}

#[tokio::test]
async fn what_an_agent_does_shows_while_it_runs() {
    let scene = Scene::new();
    let agent = ScriptedAgent::new("parrot").says(RuntimeEvent::TurnStarted).goes_on();
    let request = scene.request(agent, "x");
    let (stop, store) = (request.stop.clone(), scene.store());
    let watcher = tokio::task::spawn_blocking(move || {
        let live = || {
            let run = store.runs().unwrap().0.pop()?;
            assert!(run.alive);
            run.info.live.map(|live| live.status)
        };
        eventually("the record says that it is busy", || live().as_deref() == Some("busy"));
        stop.request(StopReason::Asked);
    });
    scene.run_seen(request).await;
    watcher.await.unwrap();
}

#[tokio::test]
async fn a_directory_that_cannot_be_written_is_a_clear_error() {
    let scene = Scene::new();
    std::fs::write(scene.root(), "a file").unwrap();
    let request = scene.request(ScriptedAgent::new("parrot"), "x");
    let error = scene.runner().run(request, &mut ()).await.unwrap_err().to_string();
    assert!(error.contains("root") && error.contains("--root"), "{error}");

    // Nobody may make directories here, root included.
    let runner = jackin_cli::run::Runner::new(jackin_cli::run::Store::new("/sys/jackin").unwrap());
    let request = scene.request(ScriptedAgent::new("parrot"), "x");
    let error = runner.run(request, &mut ()).await.unwrap_err().to_string();
    assert!(error.contains("/sys/jackin") && error.contains("check the owner and the rights"), "{error}");
}
