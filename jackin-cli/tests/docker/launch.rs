//! What a container is made of, and how its capsule is reached.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};

use jackin_cli::backend::{Backend, Life, Secrets};
use jackin_cli::client::Client;
use jackin_core::AgentEntry;
use jackin_core::protocol::control::{Request, Snapshot, Status};
use serde_json::json;

use crate::bench::{Bench, as_agent, container, exec, inspect, raw_inspect, things};

const WAITS: &str = "read -r line";

#[tokio::test]
async fn an_instance_is_made_found_reached_and_removed() {
    let Some(bench) = Bench::new() else { return };
    let workspace = bench.dir().join("workspace");
    fs::create_dir(&workspace).unwrap();
    fs::set_permissions(&workspace, fs::Permissions::from_mode(0o777)).unwrap();
    fs::write(workspace.join("file"), "of the host").unwrap();
    let mut plan = bench.plan(WAITS);
    plan.host_workdir = Some(workspace);
    plan.role = Some("acme/smith".parse().unwrap());
    plan.env.insert("GREETING".into(), "hello".into());
    assert_eq!(bench.backend.inspect(&plan.instance).await.unwrap(), Life::Absent);

    let steps = bench.create(&plan).await;
    assert!(steps.iter().any(|step| step.contains("starting the capsule")), "{steps:?}");
    assert!(!steps.iter().any(|step| step.contains("warning")), "{steps:?}");
    let name = container(&plan);
    assert!(exec(&name, &["cat", "/proc/1/cmdline"]).starts_with("/jackin/runtime/jackin-capsule\0daemon\0"));
    assert_eq!(exec(&name, &["cat", "/workspace/file"]), "of the host");
    assert_eq!(exec(&name, &["sh", "-c", "echo $GREETING"]), "hello\n");

    let labels = inspect(&name)["Config"]["Labels"].clone();
    assert_eq!(labels["jackin.instance"], plan.instance.as_str());
    assert_eq!(
        (&labels["jackin.workspace"], &labels["jackin.role"]),
        (&json!("tests"), &json!("acme/smith"))
    );
    assert_eq!(labels["jackin.version"], env!("CARGO_PKG_VERSION"));
    let found = bench.backend.list().await.unwrap();
    let found = found.iter().find(|found| found.instance == plan.instance).unwrap();
    assert_eq!((&found.plan, &found.life), (&Some(plan.clone()), &Life::Running));

    let status = bench.status(&plan.instance).await;
    assert_eq!((status.instance, status.sessions.len()), (plan.instance.clone(), 1));
    let socket = bench.backend.socket(&plan.instance).await.unwrap();
    assert_eq!(socket, bench.paths.socket(&plan.instance));
    let direct: Status = Client::connect(&socket).await.unwrap().call(Request::Status {}).await.unwrap();
    assert_eq!(direct.pid, status.pid);

    bench.backend.remove(&plan.instance).await.unwrap();
    assert_eq!(things(&plan.instance), Vec::<String>::new());
    assert!(!bench.paths.run_dir(&plan.instance).exists());
    assert_eq!(bench.backend.inspect(&plan.instance).await.unwrap(), Life::Absent);
    bench.backend.remove(&plan.instance).await.unwrap();
    bench.backend.stop(&plan.instance).await.unwrap();
}

#[tokio::test]
async fn rights_and_limits_are_what_the_plan_says() {
    let Some(bench) = Bench::new() else { return };
    let mut plan = bench
        .plan("id -u > ~/who; grep -E 'Cap(Prm|Eff)|NoNewPrivs' /proc/self/status > ~/rights; read -r line");
    plan.limits.cpus = Some(0.5);
    plan.limits.memory = Some("64m".parse().unwrap());
    plan.limits.pids = Some(50);
    bench.create(&plan).await;
    let name = container(&plan);
    let inspected = inspect(&name);
    let host = &inspected["HostConfig"];
    assert_eq!(host["NanoCpus"], 500_000_000);
    assert_eq!((&host["Memory"], &host["MemorySwap"]), (&json!(64 << 20), &json!(64 << 20)));
    assert_eq!(host["PidsLimit"], 50);
    assert_eq!(host["CapDrop"], json!(["ALL"]));
    let added: BTreeSet<&str> = host["CapAdd"]
        .as_array()
        .unwrap()
        .iter()
        .map(|name| name.as_str().unwrap().trim_start_matches("CAP_"))
        .collect();
    assert_eq!(added, BTreeSet::from(["SETUID", "SETGID", "KILL", "CHOWN"]));
    assert_eq!(host["SecurityOpt"], json!(["no-new-privileges"]));
    assert_eq!(
        (&host["Privileged"], &host["Init"], &host["NetworkMode"]),
        (&json!(false), &json!(false), &json!("none"))
    );
    assert_eq!(host["RestartPolicy"]["Name"], "no");
    crate::support::eventually("the session has written down who it is", || {
        as_agent(&name, "cat ~/rights || true").lines().count() == 3
    });
    assert_eq!(as_agent(&name, "cat ~/who"), "1000\n");
    let rights = as_agent(&name, "cat ~/rights");
    assert!(rights.contains("NoNewPrivs:\t1") && rights.contains("CapEff:\t0000000000000000"), "{rights}");
    bench.backend.remove(&plan.instance).await.unwrap();
}

#[tokio::test]
async fn a_token_is_in_the_agents_environment_and_nowhere_else() {
    let Some(bench) = Bench::new() else { return };
    let mut plan = bench.plan("");
    plan.command.clear();
    plan.agent = Some("smith".into());
    let script = "printf '%s' \"$SMITH_TOKEN\" > ~/token; read -r line";
    plan.agents = vec![AgentEntry {
        id: "smith".into(),
        command: ["sh", "-c", script].map(String::from).to_vec(),
        ..AgentEntry::default()
    }];
    plan.tokens.insert("smith".into(), vec!["SMITH_TOKEN".into()]);
    let secrets = plan.secrets(|_| Some("s3cr3t-value".into()));
    bench.backend.create(&plan, &secrets, &mut |_| {}).await.unwrap();
    let name = container(&plan);
    crate::support::eventually("the agent has its token", || {
        as_agent(&name, "cat ~/token || true") == "s3cr3t-value"
    });
    assert!(!raw_inspect(&name).contains("s3cr3t-value"));
    let file = bench.paths.run_dir(&plan.instance).join("agent.toml");
    let metadata = fs::metadata(&file).unwrap();
    assert_eq!((metadata.mode() & 0o7777, metadata.uid(), metadata.gid()), (0o600, 0, 0));
    assert!(fs::read_to_string(&file).unwrap().contains("s3cr3t-value"));
    assert_eq!(fs::metadata(file.parent().unwrap()).unwrap().mode() & 0o7777, 0o700);
    let modes = exec(
        &name,
        &[
            "stat",
            "-c",
            "%a %u %n",
            "/jackin",
            "/jackin/run",
            "/jackin/run/agent.toml",
            "/jackin/agent",
            "/jackin/state",
            "/jackin/runtime/jackin-capsule",
        ],
    );
    assert_eq!(
        modes,
        "755 0 /jackin\n700 0 /jackin/run\n600 0 /jackin/run/agent.toml\n755 0 /jackin/agent\n700 0 /jackin/state\n755 0 /jackin/runtime/jackin-capsule\n"
    );
    let spied = crate::docker::docker(["exec", "--user", "1000", &name, "cat", "/jackin/run/agent.toml"]);
    assert!(!spied.status.success());
    bench.backend.remove(&plan.instance).await.unwrap();
}

#[tokio::test]
async fn both_ways_lead_to_the_same_capsule() {
    let Some(bench) = Bench::new() else { return };
    let plan = bench.plan("printf 'on the screen'; read -r line");
    bench.create(&plan).await;
    let mut by_socket = bench.client(&plan.instance).await;
    let mut by_bridge = Client::over(bench.backend.bridge(&plan.instance).await.unwrap()).await.unwrap();
    for _ in 0..20 {
        let one: Snapshot = by_socket.call(Request::Snapshot {}).await.unwrap();
        let other: Snapshot = by_bridge.call(Request::Snapshot {}).await.unwrap();
        assert_eq!(one.status.pid, other.status.pid);
        assert_eq!(one.status.sessions.len(), 1);
    }
    bench.backend.remove(&plan.instance).await.unwrap();
}

#[tokio::test]
async fn a_socket_that_does_not_answer_is_gone_around() {
    let Some(bench) = Bench::new() else { return };
    let plan = bench.plan(WAITS);
    bench.create(&plan).await;
    // As seen by another command, which has not tried yet.
    let other = jackin_cli::backend::DockerBackend::connect("docker", None, bench.paths.clone()).unwrap();
    let socket = bench.paths.socket(&plan.instance);
    fs::rename(&socket, socket.with_extension("moved")).unwrap();
    let _silent = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    assert_eq!(other.socket(&plan.instance).await, None);
    let mut client = Client::over(other.open(&plan.instance).await.unwrap()).await;
    // The bridge in the container finds the silent one, too; the capsule itself is still at the other name.
    assert!(client.is_ok());
    fs::remove_file(&socket).unwrap();
    fs::rename(socket.with_extension("moved"), &socket).unwrap();
    client = Client::over(other.open(&plan.instance).await.unwrap()).await;
    let status: Status = client.unwrap().call(Request::Status {}).await.unwrap();
    assert_eq!(status.instance, plan.instance);
    bench.backend.remove(&plan.instance).await.unwrap();
}

#[tokio::test]
async fn a_bridge_ends_with_its_stream() {
    let Some(bench) = Bench::new() else { return };
    let plan = bench.plan(WAITS);
    bench.create(&plan).await;
    let name = container(&plan);
    let bridges = || {
        let lines = exec(&name, &["sh", "-c", "cat /proc/[0-9]*/cmdline | tr '\\0' ' '"]);
        lines.matches("jackin-capsule bridge").count()
    };
    let mut calling = Client::over(bench.backend.bridge(&plan.instance).await.unwrap()).await.unwrap();
    calling.call::<Status>(Request::Status {}).await.unwrap();
    let mut listening = Client::over(bench.backend.bridge(&plan.instance).await.unwrap()).await.unwrap();
    listening.subscribe(Some(0)).await.unwrap();
    assert!(listening.next_event().await.unwrap().is_some());
    // Whoever else lists what is on the engine has bridges of its own.
    assert!(bridges() >= 2);
    drop((calling, listening));
    // The runtime has to run for the connections to be closed.
    let begin = std::time::Instant::now();
    while bridges() > 0 {
        assert!(begin.elapsed().as_secs() < 60, "bridges are left");
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    bench.backend.remove(&plan.instance).await.unwrap();
}

#[tokio::test]
async fn ten_at_once_get_in_nobodys_way() {
    let Some(bench) = Bench::new() else { return };
    let plans: Vec<_> = (0..10)
        .map(|_| {
            let mut plan = bench.plan(WAITS);
            plan.network = None;
            plan
        })
        .collect();
    let secrets = Secrets::default();
    let made = plans.iter().map(|plan| async {
        bench.backend.create(plan, &secrets, &mut |_| {}).await.unwrap();
        let status = bench.status(&plan.instance).await;
        assert_eq!(status.instance, plan.instance);
    });
    futures_util::future::join_all(made).await;
    let found = bench.backend.list().await.unwrap();
    for plan in &plans {
        assert!(found.iter().any(|found| found.instance == plan.instance && found.life == Life::Running));
    }
    let gone = plans.iter().map(|plan| bench.backend.remove(&plan.instance));
    for done in futures_util::future::join_all(gone).await {
        done.unwrap();
    }
    for plan in &plans {
        assert_eq!(things(&plan.instance), Vec::<String>::new());
    }
}
