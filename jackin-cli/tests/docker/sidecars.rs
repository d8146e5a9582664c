//! Containers beside an instance.

use jackin_cli::backend::Backend;
use jackin_cli::config::SidecarConfig;

use crate::bench::{Bench, container, exec, inspect, things};
use crate::docker::{bare_image, docker};

/// A sidecar that does nothing.
pub(crate) fn sleeper() -> SidecarConfig {
    sidecar("exec sleep 3600")
}

fn sidecar(script: &str) -> SidecarConfig {
    SidecarConfig {
        image: bare_image().unwrap().0.name().to_owned(),
        command: ["/bin/sh", "-c", script].map(ToOwned::to_owned).to_vec(),
        ..SidecarConfig::default()
    }
}

#[tokio::test]
async fn a_sidecar_is_reached_by_its_name_and_shares_its_volumes() {
    let Some(bench) = Bench::new() else { return };
    let mut plan = bench.plan("read -r line");
    plan.network = None;
    let serve = "echo $SECRET > /shared/made; mkdir /www; echo served > /www/index.html; exec httpd -f -p 8080 -h /www";
    let mut web = sidecar(serve);
    web.env.insert("SECRET".into(), "of the sidecar".into());
    web.volumes = vec!["data:/shared:ro".parse().unwrap()];
    plan.sidecars = [("web".to_owned(), web)].into();
    bench.create(&plan).await;
    let name = container(&plan);
    crate::support::eventually("the sidecar serves", || {
        docker(["exec", &name, "wget", "-q", "-O", "-", "http://web:8080/"]).stdout == b"served\n"
    });
    assert_eq!(exec(&name, &["cat", "/shared/made"]), "of the sidecar\n");
    assert!(!docker(["exec", &name, "touch", "/shared/mine"]).status.success(), "it is to be read only");
    let beside = inspect(&format!("{name}.web"));
    assert_eq!(beside["HostConfig"]["Privileged"], false);
    assert_eq!(beside["Config"]["Labels"]["jackin.sidecar"], "web");
    assert_eq!(things(&plan.instance).len(), 4, "two containers, a network, a volume");
    let found = bench.backend.list().await.unwrap();
    assert_eq!(found.iter().filter(|found| found.instance == plan.instance).count(), 1);
    bench.backend.remove(&plan.instance).await.unwrap();
    assert_eq!(things(&plan.instance), Vec::<String>::new());
}

#[tokio::test]
async fn a_sidecar_is_on_the_instances_own_network_beside_a_named_one() {
    let Some(bench) = Bench::new() else { return };
    let mut plan = bench.plan("read -r line");
    let named = format!("jackin-test-net-{}", std::process::id());
    assert!(docker(["network", "create", &named]).status.success());
    plan.network = Some(named.clone());
    plan.sidecars = [("db".to_owned(), sleeper())].into();
    bench.create(&plan).await;
    let name = container(&plan);
    assert!(exec(&name, &["nslookup", "db"]).contains("db"));
    let networks = inspect(&name)["NetworkSettings"]["Networks"].clone();
    assert!(networks.get(&named).is_some() && networks.get(&name).is_some(), "{networks}");
    bench.backend.remove(&plan.instance).await.unwrap();
    assert!(docker(["network", "inspect", &named]).status.success(), "what somebody else made stays");
    docker(["network", "rm", &named]);
}

#[tokio::test]
async fn a_sidecar_that_fails_is_told_with_its_last_words() {
    let Some(bench) = Bench::new() else { return };
    let mut plan = bench.plan("read -r line");
    plan.network = None;
    let mut broken = sleeper();
    broken.command = vec!["/no/such/program".into()];
    plan.sidecars = [("db".to_owned(), broken)].into();
    let error = bench.try_create(&plan).await.unwrap_err().to_string();
    assert!(error.contains("start the sidecar db") && error.contains("/no/such/program"), "{error}");
    bench.backend.remove(&plan.instance).await.unwrap();
    assert_eq!(things(&plan.instance), Vec::<String>::new());
}
