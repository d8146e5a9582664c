//! What cannot be done is told with what to do, and in time.

use std::time::{Duration, Instant};

use jackin_cli::backend::{Backend, BackendError, DockerBackend, Life};
use jackin_cli::config::{HostConfig, Paths};

use crate::bench::Bench;

fn engine(at: &str) -> DockerBackend {
    let host = HostConfig { docker: at.parse().unwrap(), certificates: None };
    let dir = std::env::temp_dir().join("jackin-no-such-home");
    DockerBackend::connect("far", Some(&host), Paths::new(&dir, &dir)).unwrap()
}

/// The error of a call, which has to come in time.
async fn told(backend: &DockerBackend) -> String {
    let begin = Instant::now();
    let listed = backend.list().await.unwrap_err();
    assert!(matches!(listed, BackendError::Unreachable { .. }), "{listed}");
    let inspected = backend.inspect(&"x".parse().unwrap()).await.unwrap_err();
    assert!(matches!(inspected, BackendError::Unreachable { .. }), "{inspected}");
    assert!(begin.elapsed() < Duration::from_secs(4), "two calls, each within two seconds");
    listed.to_string()
}

#[tokio::test]
async fn an_engine_that_is_not_there_is_told_in_time() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| format!("unix://{}", dir.path().join(name).display());
    let none = told(&engine(&at("none.sock"))).await;
    assert!(none.contains("there is no socket") && none.contains("systemctl start docker"), "{none}");

    // Nobody listens any more.
    drop(std::os::unix::net::UnixListener::bind(dir.path().join("dead.sock")).unwrap());
    let dead = told(&engine(&at("dead.sock"))).await;
    assert!(dead.contains("nobody listens there"), "{dead}");

    // Somebody listens and says nothing.
    let _silent = std::os::unix::net::UnixListener::bind(dir.path().join("silent.sock")).unwrap();
    let silent = told(&engine(&at("silent.sock"))).await;
    assert!(silent.contains("nothing came within 1.5 s"), "{silent}");

    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    assert!(told(&engine(&format!("tcp://127.0.0.1:{port}"))).await.contains("nothing came"));
    drop(listener);
    let refused = told(&engine(&format!("tcp://127.0.0.1:{port}"))).await;
    assert!(refused.contains("refused"), "{refused}");
}

#[tokio::test]
async fn an_engine_that_talks_nonsense_is_told() {
    let dir = tempfile::tempdir().unwrap();
    let socket = dir.path().join("odd.sock");
    let listener = tokio::net::UnixListener::bind(&socket).unwrap();
    let says = std::sync::Arc::new(std::sync::Mutex::new("220 mail.example ESMTP\r\n"));
    let said = says.clone();
    tokio::spawn(async move {
        use tokio::io::{AsyncReadExt, AsyncWriteExt};
        while let Ok((mut stream, _)) = listener.accept().await {
            let says = *said.lock().unwrap();
            tokio::spawn(async move {
                let _ = stream.read(&mut [0; 4096]).await;
                let _ = stream.write_all(says.as_bytes()).await;
            });
        }
    });
    let told = async || {
        let error = engine(&format!("unix://{}", socket.display())).list().await.unwrap_err();
        error.to_string()
    };
    assert!(told().await.contains("invalid HTTP"), "{}", told().await);
    *says.lock().unwrap() = "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
    assert!(told().await.contains("\"404\": is that a Docker engine?"), "{}", told().await);
}

#[tokio::test]
async fn a_context_that_does_not_exist_is_told_when_it_is_used() {
    let error = engine("context:jackin-no-such-context").list().await.unwrap_err().to_string();
    assert!(error.contains("there is no Docker context") && error.contains("docker context ls"), "{error}");
}

#[tokio::test]
async fn plans_that_cannot_be_carried_out_say_what_to_change() {
    let Some(bench) = Bench::new() else { return };
    let refused = async |change: &dyn Fn(&mut jackin_cli::backend::Plan), expected: &[&str]| {
        let mut plan = bench.plan("true");
        change(&mut plan);
        let error = bench.try_create(&plan).await.unwrap_err().to_string();
        for part in expected {
            assert!(error.contains(part), "{part:?} is not in: {error}");
        }
        bench.backend.remove(&plan.instance).await.unwrap();
        assert_eq!(bench.backend.inspect(&plan.instance).await.unwrap(), Life::Absent);
    };
    refused(&|plan| plan.image = None, &["--image"]).await;
    refused(
        &|plan| plan.image = Some("localhost:1/jackin/none:1".into()),
        &["cannot pull localhost:1/jackin/none:1", "docker load"],
    )
    .await;
    refused(&|plan| plan.image = Some("Not An Image".into()), &["Not An Image"]).await;
    refused(
        &|plan| plan.network = Some("jackin-no-net".into()),
        &["no network jackin-no-net", "docker network create"],
    )
    .await;
    refused(&|plan| plan.mounts = vec!["/no/such/dir:/x".parse().unwrap()], &["/no/such/dir", "not there"])
        .await;
    refused(&|plan| plan.mounts = vec!["/etc:/jackin/run".parse().unwrap()], &["not below /jackin"]).await;
    refused(&|plan| plan.limits.cpus = Some(4_096.0), &["lower `cpus`"]).await;
    refused(&|plan| plan.limits.memory = Some("1k".parse().unwrap()), &["raise `memory`"]).await;
    refused(
        &|plan| plan.sidecars = [("db".to_owned(), crate::sidecars::sleeper())].into(),
        &["`network = \"none\"`"],
    )
    .await;
}

#[tokio::test]
async fn what_opens_doors_is_mounted_with_a_warning() {
    let Some(bench) = Bench::new() else { return };
    let mut plan = bench.plan("read -r line");
    plan.mounts = vec!["/var/run/docker.sock:/docker.sock".parse().unwrap()];
    plan.user = Some(jackin_core::UserEntry { uid: 0, gid: None, name: None, home: None });
    let steps = bench.create(&plan).await;
    let warnings: Vec<_> = steps.iter().filter(|step| step.starts_with("warning: ")).collect();
    assert_eq!(warnings.len(), 2, "{steps:?}");
    assert!(
        warnings[0].contains("root on the host") && warnings[1].contains("agents are root"),
        "{warnings:?}"
    );
    bench.backend.remove(&plan.instance).await.unwrap();
}
