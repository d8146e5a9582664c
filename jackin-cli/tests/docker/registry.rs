//! Images of a registry that asks who wants them.

use std::collections::HashMap;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::Command;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use crate::command_line::{Operator, left};
use crate::docker::docker;

/// User and password, and both in Base64.
const PASSWORD: &str = "0pen-sesame";
const BOTH: &str = "bWU6MHBlbi1zZXNhbWU=";

/// A registry with one image, for those who log in.
struct Registry {
    address: String,
    asked: Arc<Mutex<Vec<Asked>>>,
}

/// What a request was, and the login that came with it.
type Asked = (String, Option<String>);

/// What is told of a path: its kind and its bytes.
type Answers = HashMap<String, (&'static str, Vec<u8>)>;

fn digest(bytes: &[u8]) -> String {
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(file.path(), bytes).unwrap();
    let output = Command::new("sha256sum").arg(file.path()).output().unwrap();
    format!("sha256:{}", String::from_utf8(output.stdout).unwrap().split(' ').next().unwrap())
}

/// The parts of an image that the engine has, as a registry has them.
fn parts(image: &str) -> Answers {
    let dir = tempfile::tempdir().unwrap();
    let (tar, out) = (dir.path().join("image.tar"), dir.path().join("out"));
    fs::create_dir(&out).unwrap();
    assert!(docker(["save", "--output", tar.to_str().unwrap(), image]).status.success());
    assert!(Command::new("tar").arg("-xf").arg(&tar).arg("-C").arg(&out).status().unwrap().success());
    let read = |name: &Value| fs::read(out.join(Path::new(name.as_str().unwrap()))).unwrap();
    let saved: Value = serde_json::from_slice(&fs::read(out.join("manifest.json")).unwrap()).unwrap();
    let config = read(&saved[0]["Config"]);
    let layers: Vec<Vec<u8>> = saved[0]["Layers"].as_array().unwrap().iter().map(read).collect();
    let part = |kind: &str, bytes: &[u8]| {
        let kind = format!("application/vnd.docker.{kind}");
        json!({ "mediaType": kind, "size": bytes.len(), "digest": digest(bytes) })
    };
    let manifest = json!({
        "schemaVersion": 2,
        "mediaType": "application/vnd.docker.distribution.manifest.v2+json",
        "config": part("container.image.v1+json", &config),
        "layers": layers.iter().map(|layer| part("image.rootfs.diff.tar", layer)).collect::<Vec<_>>(),
    });
    let manifest = manifest.to_string().into_bytes();
    let mut answers = Answers::new();
    for blob in layers.into_iter().chain([config]) {
        answers.insert(format!("/v2/acme/tool/blobs/{}", digest(&blob)), ("application/octet-stream", blob));
    }
    let kind = "application/vnd.docker.distribution.manifest.v2+json";
    answers.insert(format!("/v2/acme/tool/manifests/{}", digest(&manifest)), (kind, manifest.clone()));
    answers.insert("/v2/acme/tool/manifests/1".to_owned(), (kind, manifest));
    answers.insert("/v2/".to_owned(), ("application/json", b"{}".to_vec()));
    answers
}

impl Registry {
    fn start(image: &str) -> Self {
        let answers = Arc::new(parts(image));
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let asked = Arc::<Mutex<Vec<(String, Option<String>)>>>::default();
        let seen = Arc::clone(&asked);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (answers, seen) = (Arc::clone(&answers), Arc::clone(&seen));
                std::thread::spawn(move || serve(stream, &answers, &seen));
            }
        });
        Self { address, asked }
    }

    fn image(&self) -> String {
        format!("{}/acme/tool:1", self.address)
    }
}

impl Drop for Registry {
    fn drop(&mut self) {
        docker(["rmi", "--force", &self.image()]);
    }
}

/// Answers until the other side has had enough.
fn serve(mut stream: TcpStream, answers: &Answers, seen: &Mutex<Vec<(String, Option<String>)>>) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    loop {
        let mut lines = Vec::new();
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line).unwrap_or(0) == 0 {
                return;
            }
            if line.trim().is_empty() {
                break;
            }
            lines.push(line.trim().to_owned());
        }
        let mut words = lines[0].split(' ');
        let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let login = lines.iter().find_map(|line| {
            let (name, value) = line.split_once(": ")?;
            name.eq_ignore_ascii_case("authorization").then(|| value.to_owned())
        });
        seen.lock().unwrap().push((format!("{method} {path}"), login.clone()));
        let (status, kind, body) = match answers.get(path) {
            _ if login.as_deref() != Some(&format!("Basic {BOTH}")) => (
                "401 Unauthorized",
                "application/json",
                br#"{"errors":[{"code":"UNAUTHORIZED"}]}"#.as_slice(),
            ),
            Some((kind, bytes)) => ("200 OK", *kind, bytes.as_slice()),
            None => ("404 Not Found", "application/json", b"{}".as_slice()),
        };
        let head = format!(
            "HTTP/1.1 {status}\r\nWWW-Authenticate: Basic realm=\"test\"\r\nDocker-Distribution-Api-Version: registry/2.0\r\n\
             Content-Type: {kind}\r\nContent-Length: {}\r\n\r\n",
            body.len()
        );
        let body = if method == "HEAD" { b"".as_slice() } else { body };
        if stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body)).is_err() {
            return;
        }
    }
}

#[test]
fn a_pull_goes_with_the_login_of_its_registry() {
    let Some(operator) = Operator::new() else { return };
    let (registry, stranger) = (Registry::start(operator.image), Registry::start(operator.image));
    let image = registry.image();
    let name = Operator::name("login");
    let load = |image: &str| {
        operator.run(&["load", "--detach", "--image", image, "--name", &name, "--", "sleep", "1000"])
    };
    let refused = load(&image);
    let told = String::from_utf8(refused.stderr).unwrap();
    assert_eq!(refused.status.code(), Some(1), "{told}");
    assert!(told.contains("docker login"), "{told}");
    assert_eq!(left(&name), Vec::<String>::new());

    let docker_dir = operator.dir.path().join(".docker");
    fs::create_dir(&docker_dir).unwrap();
    let logins = json!({ "auths": { &registry.address: { "auth": BOTH } } });
    fs::write(docker_dir.join("config.json"), logins.to_string()).unwrap();
    let loaded = load(&image);
    let told = String::from_utf8(loaded.stderr).unwrap();
    assert!(loaded.status.success(), "{told}");
    assert!(told.contains(&format!("pulling {image}")) && !told.contains(PASSWORD) && !told.contains(BOTH));
    let inspected = docker(["inspect", &format!("jackin-{name}")]).stdout;
    let inspected = String::from_utf8(inspected).unwrap();
    assert!(!inspected.contains(PASSWORD) && !inspected.contains(BOTH));
    operator.ok(&["eject", &name]);

    // Another registry is not shown it.
    let refused = load(&stranger.image());
    assert_eq!(refused.status.code(), Some(1));
    let asked = stranger.asked.lock().unwrap().clone();
    assert!(!asked.is_empty() && asked.iter().all(|(_, login)| login.is_none()), "{asked:?}");
    assert!(registry.asked.lock().unwrap().iter().any(|(_, login)| login.is_some()));
}
