//! Containers whose own files cannot be changed.

use jackin_cli::backend::{Backend, Life};
use jackin_core::AgentStatus;

use crate::bench::{Bench, as_agent, container, exec, inspect, things};
use crate::docker::docker;

const TRIES: &str = "cd /workspace && touch here && touch $HOME/home && printf '#!/bin/sh\nexit 0' > $HOME/run && chmod +x $HOME/run && $HOME/run && ! touch /bin/x 2>/dev/null && ! touch /jackin/runtime/x 2>/dev/null && touch $HOME/all-well; read -r line; exit 4";

#[tokio::test]
async fn the_capsule_comes_from_a_volume_and_the_agent_has_room() {
    let Some(bench) = Bench::new() else { return };
    let mut plans: Vec<_> = (0..3).map(|_| bench.plan(TRIES)).collect();
    for plan in &mut plans {
        plan.read_only = true;
    }
    let made = plans.iter().map(|plan| bench.create(plan));
    futures_util::future::join_all(made).await;
    for plan in &plans {
        let name = container(plan);
        let inspected = inspect(&name);
        assert_eq!(inspected["HostConfig"]["ReadonlyRootfs"], true);
        let mounts = inspected["Mounts"].as_array().unwrap();
        let runtime = mounts.iter().find(|mount| mount["Destination"] == "/jackin/runtime").unwrap();
        assert_eq!((&runtime["Type"], &runtime["RW"]), (&"volume".into(), &false.into()));
        assert!(runtime["Name"].as_str().unwrap().starts_with("jackin-capsule-"), "{runtime}");
        crate::support::eventually("the agent has found its room", || {
            !as_agent(&name, "ls ~/all-well").is_empty()
        });
        assert_eq!(exec(&name, &["stat", "-c", "%a %u", "/jackin/run/agent.toml"]), "600 0\n");
        let session = bench.status(&plan.instance).await.sessions[0].id;
        crate::bench::send(&bench, plan, session, "x").await;
        match bench.end(&plan.instance).await {
            Life::Ended(ending) => {
                assert_eq!(ending.status(), AgentStatus::Crashed { exit_code: 4 });
                assert_eq!(ending.record.unwrap().sessions.len(), 1, "the record outlives the container");
            }
            other => panic!("{other:?}"),
        }
        bench.backend.remove(&plan.instance).await.unwrap();
        assert_eq!(things(&plan.instance), Vec::<String>::new());
    }
    let volumes = docker(["volume", "ls", "-q", "--filter", "label=jackin.capsule"]).stdout;
    assert_eq!(String::from_utf8(volumes).unwrap().lines().count(), 1, "one capsule for all");
}
