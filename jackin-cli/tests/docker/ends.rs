//! How an instance ends, and how that is told.

use futures_util::StreamExt;
use jackin_cli::backend::{Backend, BackendError, Ending, Life};
use jackin_core::AgentStatus;
use jackin_core::protocol::control::{Done, Request};

use crate::bench::{Bench, container};
use crate::docker::docker;

fn ending(life: Life) -> Ending {
    match life {
        Life::Ended(ending) => ending,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn an_exit_code_and_the_record_are_told() {
    let Some(bench) = Bench::new() else { return };
    for (code, status) in
        [(0, AgentStatus::Ended { exit_code: 0 }), (7, AgentStatus::Crashed { exit_code: 7 })]
    {
        let plan = bench.plan(&format!("printf 'last words'; exit {code}"));
        bench.create(&plan).await;
        let ending = ending(bench.end(&plan.instance).await);
        assert_eq!((ending.exit_code, ending.status()), (Some(code), status));
        let record = ending.record.unwrap();
        assert_eq!((record.exit_code, record.sessions.len()), (code, 1));
        assert!(record.sessions[0].screen.contains("last words"), "{record:?}");
        let error = bench.backend.open(&plan.instance).await.err().unwrap();
        assert!(matches!(error, BackendError::Ended { .. }), "{error}");
        bench.backend.remove(&plan.instance).await.unwrap();
        let error = bench.backend.open(&plan.instance).await.err().unwrap();
        assert!(matches!(error, BackendError::NotFound(_)), "{error}");
    }
}

#[tokio::test]
async fn a_program_that_is_not_there_is_told_at_once_and_by_the_record() {
    let Some(bench) = Bench::new() else { return };
    let mut plan = bench.plan("");
    plan.command = vec!["/no/such/program".into()];
    let error = bench.try_create(&plan).await.unwrap_err().to_string();
    assert!(error.contains("cannot start /no/such/program"), "{error}");
    let ending = ending(bench.end(&plan.instance).await);
    assert!(matches!(ending.status(), AgentStatus::Crashed { .. }), "{ending:?}");
    let screen = &ending.record.unwrap().sessions[0].screen;
    assert!(screen.contains("/no/such/program"), "{screen}");
    bench.backend.remove(&plan.instance).await.unwrap();
}

#[tokio::test]
async fn a_kill_from_outside_is_a_crash() {
    let Some(bench) = Bench::new() else { return };
    let plan = bench.plan("read -r line");
    bench.create(&plan).await;
    assert!(docker(["kill", &container(&plan)]).status.success());
    let ending = ending(bench.end(&plan.instance).await);
    assert_eq!(ending.status(), AgentStatus::Crashed { exit_code: 137 });
    assert!(ending.record.is_none() && !ending.is_clean());
    bench.backend.remove(&plan.instance).await.unwrap();
}

#[tokio::test]
async fn memory_that_runs_out_is_told_as_such() {
    let Some(bench) = Bench::new() else { return };
    let mut plan = bench.plan("read -r line; exec tail /dev/zero");
    plan.limits.memory = Some("48m".parse().unwrap());
    bench.create(&plan).await;
    let session = bench.status(&plan.instance).await.sessions[0].id;
    crate::bench::send(&bench, &plan, session, "go").await;
    let ending = ending(bench.end(&plan.instance).await);
    assert_eq!(ending.status(), AgentStatus::OomKilled, "{ending:?}");
    bench.backend.remove(&plan.instance).await.unwrap();
}

#[tokio::test]
async fn stopping_is_in_order_and_says_so() {
    let Some(bench) = Bench::new() else { return };
    let plan = bench.plan("trap '' HUP TERM; while :; do sleep 1; done");
    bench.create(&plan).await;
    bench.backend.stop(&plan.instance).await.unwrap();
    let ended = ending(bench.backend.inspect(&plan.instance).await.unwrap());
    assert!(ended.is_clean() && ended.record.unwrap().stopped);
    bench.backend.remove(&plan.instance).await.unwrap();

    let plan = bench.plan("read -r line");
    bench.create(&plan).await;
    bench.client(&plan.instance).await.call::<Done>(Request::Shutdown {}).await.unwrap();
    assert!(ending(bench.end(&plan.instance).await).is_clean());
    bench.backend.remove(&plan.instance).await.unwrap();
}

#[tokio::test]
async fn beginnings_and_ends_are_told_as_they_happen() {
    let Some(bench) = Bench::new() else { return };
    let mut changes = bench.backend.watch().await.unwrap();
    let plan = bench.plan("read -r line");
    bench.create(&plan).await;
    let mut next = async |what: &str| loop {
        let told = tokio::time::timeout(std::time::Duration::from_secs(60), changes.next());
        if told.await.expect(what).expect("the stream goes on") == plan.instance {
            return;
        }
    };
    next("it was made").await;
    next("it began").await;
    docker(["kill", &container(&plan)]);
    next("it ended").await;
    bench.backend.remove(&plan.instance).await.unwrap();
    next("it is gone").await;
}
