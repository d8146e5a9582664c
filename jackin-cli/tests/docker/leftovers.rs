//! What an interrupted launch leaves is found, and taken away; what is not ours is left alone.

use std::fs;
use std::pin::pin;
use std::sync::Mutex;

use jackin_cli::backend::{Backend, Life, Secrets};

use crate::bench::{Bench, container, things};
use crate::docker::docker;

/// Begins a launch and drops it as soon as this step is told.
async fn interrupted(bench: &Bench, plan: &jackin_cli::backend::Plan, at: &str) {
    let told = Mutex::new(Vec::new());
    let secrets = Secrets::default();
    let mut step = |text: &str| told.lock().unwrap().push(text.to_owned());
    let mut launch = pin!(bench.backend.create(plan, &secrets, &mut step));
    std::future::poll_fn(|context| {
        let done = launch.as_mut().poll(context).is_ready();
        let reached = told.lock().unwrap().iter().any(|step| step.contains(at));
        assert!(!done || reached, "it was done before {at:?}: {:?}", told.lock().unwrap());
        if reached { std::task::Poll::Ready(()) } else { std::task::Poll::Pending }
    })
    .await;
}

#[tokio::test]
async fn a_launch_that_stops_anywhere_leaves_nothing_that_is_not_found() {
    let Some(bench) = Bench::new() else { return };
    for at in [
        "asking",
        "making the network",
        "starting the sidecar",
        "making the container",
        "starting the capsule",
    ] {
        let mut plan = bench.plan("read -r line");
        plan.network = None;
        plan.sidecars = [("beside".to_owned(), crate::sidecars::sleeper())].into();
        interrupted(&bench, &plan, at).await;
        // The engine may be at work on the last call yet: what it makes then is found by whoever looks next.
        let begin = std::time::Instant::now();
        loop {
            let listed = bench.backend.list().await.unwrap();
            let listed = listed.iter().find(|found| found.instance == plan.instance);
            let life = bench.backend.inspect(&plan.instance).await.unwrap();
            let there = !things(&plan.instance).is_empty();
            if life != Life::Absent && there && listed.is_some()
                || life == Life::Absent && !there && listed.is_none()
            {
                // The very last call may have started it.
                let half = matches!(life, Life::Absent | Life::Unfinished);
                assert!(half || at == "starting the capsule", "{at}: {life:?}");
                break;
            }
            assert!(begin.elapsed().as_secs() < 60, "{at}: {life:?}, {listed:?}");
        }
        bench.backend.remove(&plan.instance).await.unwrap();
        while !things(&plan.instance).is_empty() {
            assert!(begin.elapsed().as_secs() < 60, "{at}");
            bench.backend.remove(&plan.instance).await.unwrap();
        }
        assert_eq!(things(&plan.instance), Vec::<String>::new(), "{at}");
        assert!(!bench.paths.run_dir(&plan.instance).exists(), "{at}");
        assert_eq!(bench.backend.inspect(&plan.instance).await.unwrap(), Life::Absent, "{at}");
    }
}

#[tokio::test]
async fn what_is_not_ours_is_left_alone() {
    let Some(bench) = Bench::new() else { return };
    let plan = bench.plan("read -r line");
    let name = container(&plan);
    let made = docker(["create", "--name", &name, plan.image.as_deref().unwrap(), "sh"]);
    assert!(made.status.success());
    let error = bench.try_create(&plan).await.unwrap_err().to_string();
    assert!(error.contains(&format!("a container {name} already")) && error.contains("--name"), "{error}");
    // A directory of an instance that is a process of this machine.
    let dir = bench.paths.run_dir(&plan.instance);
    fs::remove_file(dir.join("docker")).unwrap();
    fs::write(dir.join("capsule.pid"), "1").unwrap();
    bench.backend.remove(&plan.instance).await.unwrap();
    assert!(dir.join("capsule.pid").exists());
    assert_eq!(bench.backend.inspect(&plan.instance).await.unwrap(), Life::Absent);
    assert!(docker(["inspect", &name]).status.success());
    docker(["rm", "-f", &name]);
}
