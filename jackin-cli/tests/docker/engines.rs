//! Engines other than this machine's usual one.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use jackin_cli::backend::{Backend, BackendError, Life};
use jackin_cli::config::HostConfig;
use tempfile::TempDir;

use crate::bench::Bench;
use crate::docker::{bare_image, docker};

/// Another engine, which goes with this value.
pub(crate) struct Engine {
    dir: TempDir,
    daemon: Option<Child>,
    options: Vec<String>,
}

impl Engine {
    /// Starts one and gives it the image; none, with a message, where that does not work.
    pub(crate) fn start(options: &[String]) -> Option<Self> {
        let (image, _) = bare_image()?;
        let dir = tempfile::tempdir().unwrap();
        let mut engine = Self { dir, daemon: None, options: options.to_vec() };
        if let Err(why) = engine.up() {
            eprintln!("skipped: a second engine does not start here: {why}");
            return None;
        }
        let tar = engine.dir.path().join("image.tar");
        assert!(docker(["save", "--output", tar.to_str().unwrap(), image.name()]).status.success());
        let loaded = engine.docker(&["load", "--input", tar.to_str().unwrap()]);
        assert!(loaded, "the image is not loaded: {}", engine.log());
        Some(engine)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub(crate) fn socket(&self) -> String {
        format!("unix://{}", self.path("d.sock").display())
    }

    fn host(&self) -> HostConfig {
        HostConfig { docker: self.socket().parse().unwrap(), certificates: None }
    }

    fn docker(&self, args: &[&str]) -> bool {
        docker([&["--host", &self.socket()], args].concat()).status.success()
    }

    fn log(&self) -> String {
        let log = fs::read_to_string(self.path("log")).unwrap_or_default();
        log.lines().rev().take(5).collect::<Vec<_>>().join("\n")
    }

    fn up(&mut self) -> Result<(), String> {
        // The machine's own configuration is for its own engine.
        fs::write(self.path("daemon.json"), "{}").unwrap();
        let log = fs::OpenOptions::new().create(true).append(true).open(self.path("log")).unwrap();
        let daemon = Command::new("dockerd")
            .args(["--host", &self.socket(), "--bridge=none", "--iptables=false"])
            .arg("--config-file")
            .arg(self.path("daemon.json"))
            .arg("--data-root")
            .arg(self.path("data"))
            .arg("--exec-root")
            .arg(self.path("exec"))
            .arg("--pidfile")
            .arg(self.path("pid"))
            .args(&self.options)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn();
        self.daemon = Some(daemon.map_err(|error| format!("dockerd: {error}"))?);
        let begin = Instant::now();
        while !self.docker(&["version"]) {
            let ended = self.daemon.as_mut().unwrap().try_wait().unwrap();
            if ended.is_some() {
                self.daemon = None;
            }
            if ended.is_some() || begin.elapsed() > Duration::from_secs(60) {
                return Err(self.log());
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        Ok(())
    }

    /// Ends it as the system would at a shutdown.
    fn down(&mut self) {
        if let Some(mut daemon) = self.daemon.take() {
            let _ = Command::new("kill").args(["-s", "TERM", &daemon.id().to_string()]).status();
            let _ = daemon.wait();
        }
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        if self.daemon.is_some() {
            let ids = docker(["--host", &self.socket(), "ps", "-aq"]).stdout;
            for id in String::from_utf8_lossy(&ids).lines() {
                self.docker(&["rm", "-f", id]);
            }
        }
        self.down();
    }
}

#[tokio::test]
async fn a_second_engine_is_a_host_like_any_other() {
    let Some(engine) = Engine::start(&[]) else { return };
    let (Some(here), Some(there)) = (Bench::new(), Bench::on("big", Some(&engine.host()))) else { return };
    let (one, mut other) = (here.plan("read -r line"), there.plan("read -r line"));
    other.host = Some("big".into());
    here.create(&one).await;
    there.create(&other).await;
    let names = |found: Vec<jackin_cli::backend::Found>| -> Vec<_> {
        found.into_iter().map(|found| found.instance).collect()
    };
    let (of_here, of_there) =
        (names(here.backend.list().await.unwrap()), names(there.backend.list().await.unwrap()));
    assert!(of_here.contains(&one.instance) && !of_here.contains(&other.instance));
    assert_eq!(of_there, [other.instance.clone()]);
    assert_eq!(there.status(&other.instance).await.instance, other.instance);
    here.backend.remove(&one.instance).await.unwrap();
    there.backend.remove(&other.instance).await.unwrap();
    assert!(names(there.backend.list().await.unwrap()).is_empty());
}

#[tokio::test]
async fn an_engine_that_is_started_again_tells_what_became_of_its_instances() {
    let Some(mut engine) = Engine::start(&[]) else { return };
    let Some(bench) = Bench::on("big", Some(&engine.host())) else { return };
    let plan = bench.plan("read -r line");
    bench.create(&plan).await;
    let mut bridge = bench.backend.bridge(&plan.instance).await.unwrap();
    let mut changes = bench.backend.watch().await.unwrap();
    engine.down();
    let begin = Instant::now();
    let error = bench.backend.inspect(&plan.instance).await;
    // What it said a moment ago may still be believed; the call itself finds out.
    assert!(matches!(error, Err(BackendError::Unreachable { .. })), "{error:?}");
    assert!(begin.elapsed() < Duration::from_secs(3));
    // Whatever was open comes to its end.
    let mut rest = Vec::new();
    let read = tokio::io::AsyncReadExt::read_to_end(&mut bridge, &mut rest);
    let _ = tokio::time::timeout(Duration::from_secs(60), read).await.expect("the stream ends");
    let drained = async { while futures_util::StreamExt::next(&mut changes).await.is_some() {} };
    tokio::time::timeout(Duration::from_secs(60), drained).await.expect("the watch ends");
    engine.up().unwrap();
    let life = bench.backend.inspect(&plan.instance).await.unwrap();
    assert!(matches!(life, Life::Ended(_)), "{life:?}");
    bench.backend.remove(&plan.instance).await.unwrap();
    assert_eq!(bench.backend.inspect(&plan.instance).await.unwrap(), Life::Absent);
}

fn openssl(dir: &Path, args: &str) -> bool {
    let done = Command::new("openssl").args(args.split(' ')).current_dir(dir).stdin(Stdio::null()).output();
    done.is_ok_and(|done| done.status.success())
}

/// Certificates for an engine at 127.0.0.1 and its operator.
fn certificates() -> Option<TempDir> {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("server.ext"), "subjectAltName=IP:127.0.0.1\nextendedKeyUsage=serverAuth\n")
        .unwrap();
    fs::write(dir.path().join("client.ext"), "subjectAltName=DNS:operator\nextendedKeyUsage=clientAuth\n")
        .unwrap();
    let mut commands = vec![
        "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=ca -keyout ca-key.pem -out ca.pem"
            .to_owned(),
    ];
    for (name, prefix) in [("server", "server-"), ("client", "")] {
        commands.push(format!("req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN={name} -keyout {prefix}key.pem -out {name}.csr"));
        commands.push(format!("x509 -req -in {name}.csr -CA ca.pem -CAkey ca-key.pem -CAcreateserial -days 2 -extfile {name}.ext -out {prefix}cert.pem"));
    }
    if commands.iter().all(|command| openssl(dir.path(), command)) {
        return Some(dir);
    }
    eprintln!("skipped: openssl does not make certificates here");
    None
}

#[tokio::test]
async fn an_engine_behind_tls_is_used_with_the_right_certificates() {
    let Some(certificates) = certificates() else { return };
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let file = |name: &str| certificates.path().join(name).display().to_string();
    let options = [
        "--host".to_owned(),
        format!("tcp://127.0.0.1:{port}"),
        "--tlsverify".to_owned(),
        format!("--tlscacert={}", file("ca.pem")),
        format!("--tlscert={}", file("server-cert.pem")),
        format!("--tlskey={}", file("server-key.pem")),
    ];
    let Some(_engine) = Engine::start(&options) else { return };
    let host = |dir: &Path| HostConfig {
        docker: format!("tcp://127.0.0.1:{port}").parse().unwrap(),
        certificates: Some(dir.to_owned()),
    };
    let Some(bench) = Bench::on("tls", Some(&host(certificates.path()))) else { return };
    let plan = bench.plan("read -r line");
    bench.create(&plan).await;
    assert_eq!(bench.backend.socket(&plan.instance).await, None, "it is another machine, for all we know");
    assert_eq!(bench.status(&plan.instance).await.instance, plan.instance);
    bench.backend.remove(&plan.instance).await.unwrap();

    let stranger = self::certificates().unwrap();
    let bench = Bench::on("tls", Some(&host(stranger.path()))).unwrap();
    let error = bench.backend.list().await.unwrap_err();
    assert!(
        matches!(error, BackendError::Unreachable { .. }) && error.to_string().contains("certificate"),
        "{error}"
    );
    fs::remove_file(stranger.path().join("key.pem")).unwrap();
    let bench = Bench::on("tls", Some(&host(stranger.path()))).unwrap();
    let error = bench.backend.list().await.unwrap_err().to_string();
    assert!(error.contains("key.pem") && error.contains("ca.pem, cert.pem and key.pem"), "{error}");
}

/// Stands for `ssh` where there is no server: the command runs here.
const FAKE_SSH: &str = r#"#!/bin/sh
case "$*" in *"-l me -p 2222 -- far docker system dial-stdio") exec docker system dial-stdio ;; esac
echo "what is $*?" >&2
exit 1
"#;

#[test]
fn an_engine_behind_ssh_is_used() {
    if bare_image().is_none() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let ssh = dir.path().join("ssh");
    fs::write(&ssh, FAKE_SSH).unwrap();
    fs::set_permissions(&ssh, fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", dir.path().display(), std::env::var("PATH").unwrap());
    // The path is the whole program's, hence another program.
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "engines::behind_ssh", "--ignored", "--nocapture"])
        .env("PATH", path)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && said.contains("1 passed"),
        "{said}{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

#[tokio::test]
#[ignore = "needs a stand-in for ssh on its path; run by an_engine_behind_ssh_is_used"]
async fn behind_ssh() {
    let host = HostConfig { docker: "ssh://me@far:2222".parse().unwrap(), certificates: None };
    let bench = Bench::on("far", Some(&host)).unwrap();
    let plan = bench.plan("read -r line");
    bench.create(&plan).await;
    assert_eq!(bench.backend.socket(&plan.instance).await, None);
    assert_eq!(bench.status(&plan.instance).await.instance, plan.instance);
    bench.backend.remove(&plan.instance).await.unwrap();
    assert_eq!(bench.backend.inspect(&plan.instance).await.unwrap(), Life::Absent);
}
