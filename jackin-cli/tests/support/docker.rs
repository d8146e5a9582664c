//! Containers of a real engine for tests. The image is made of Debian's static busybox and the static capsule: no
//! registry is asked.
#![allow(dead_code, unreachable_pub, reason = "each test binary uses a part of it")]

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

/// Where the capsule is in the image.
pub const CAPSULE: &str = "/jackin/runtime/jackin-capsule";

/// All that a capsule needs of root's rights.
pub const CAPABILITIES: [&str; 4] = ["SETUID", "SETGID", "KILL", "CHOWN"];

const BUSYBOX: [&str; 2] = ["/bin/busybox", "/usr/bin/busybox"];

/// An image with a shell and the capsule.
pub struct Image(&'static str);

const NAME: &str = "jackin-test";
const BARE: &str = "jackin-test-bare";
const SHELL: &str = "jackin-test-shell";

/// The image, made once for each test program; none, with a message, where something for it is missing. With
/// `JACKIN_REQUIRE_DOCKER=1` that is a failure.
pub fn image() -> Option<&'static Image> {
    static IMAGE: OnceLock<Result<Image, String>> = OnceLock::new();
    let image = IMAGE.get_or_init(|| make(NAME, Some(&static_capsule()?)));
    present(image)
}

/// An image with a shell and nothing else: its name, and the capsule that is to be put into it.
pub fn bare_image() -> Option<&'static (Image, PathBuf)> {
    static IMAGE: OnceLock<Result<(Image, PathBuf), String>> = OnceLock::new();
    let image = IMAGE.get_or_init(|| {
        let capsule = static_capsule()?;
        Ok((make(BARE, None)?, capsule))
    });
    present(image)
}

/// An image with a shell and nothing else, for what needs no capsule.
pub fn shell_image() -> Option<&'static Image> {
    static IMAGE: OnceLock<Result<Image, String>> = OnceLock::new();
    present(IMAGE.get_or_init(|| make(SHELL, None)))
}

fn present<T>(image: &Result<T, String>) -> Option<&T> {
    match image {
        Ok(image) => Some(image),
        Err(missing) => {
            assert!(std::env::var("JACKIN_REQUIRE_DOCKER").as_deref() != Ok("1"), "{missing}");
            eprintln!("skipped: {missing}");
            None
        }
    }
}

pub fn docker(args: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Output {
    let output = Command::new("docker").args(args).stdin(Stdio::null()).output();
    output.unwrap_or_else(|error| panic!("docker cannot be started: {error}"))
}

/// The static capsule: `JACKIN_STATIC_CAPSULE`, else where cargo puts it.
fn static_capsule() -> Result<PathBuf, String> {
    if let Some(path) = std::env::var_os("JACKIN_STATIC_CAPSULE") {
        return Ok(path.into());
    }
    let target = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/x86_64-unknown-linux-musl");
    let found = ["release", "debug"].map(|profile| target.join(profile).join("jackin-capsule"));
    found.into_iter().find(|path| path.exists()).ok_or_else(|| {
        "there is no static capsule: build it with `cargo build --release --target x86_64-unknown-linux-musl \
         --no-default-features --features capsule --bin jackin-capsule`"
            .to_owned()
    })
}

fn make(name: &'static str, capsule: Option<&Path>) -> Result<Image, String> {
    let engine = Command::new("docker").arg("version").stdin(Stdio::null()).output();
    if !engine.is_ok_and(|output| output.status.success()) {
        return Err("no Docker engine answers".to_owned());
    }
    let busybox = BUSYBOX.into_iter().find(|path| Path::new(path).exists());
    let busybox = busybox.ok_or("there is no busybox: install Debian's busybox-static")?;
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("root");
    for below in ["bin", "etc", "tmp", "home", "workspace"] {
        fs::create_dir_all(root.join(below)).unwrap();
    }
    if let Some(capsule) = capsule {
        let place = root.join(CAPSULE.trim_start_matches('/'));
        fs::create_dir_all(place.parent().unwrap()).unwrap();
        fs::copy(capsule, place).unwrap();
    }
    fs::copy(busybox, root.join("bin/busybox")).unwrap();
    let applets = Command::new(busybox).arg("--list").output().unwrap();
    for applet in String::from_utf8(applets.stdout).unwrap().lines().filter(|name| *name != "busybox") {
        symlink("busybox", root.join("bin").join(applet)).unwrap();
    }
    fs::write(root.join("etc/passwd"), "root:x:0:0:root:/root:/bin/sh\n").unwrap();
    let tar = dir.path().join("image.tar");
    let packed = Command::new("tar")
        .args(["--owner=0", "--group=0", "--mode=u+rwX,go+rX,go-w", "-cf"])
        .arg(&tar)
        .arg("-C")
        .arg(&root)
        .arg(".")
        .status();
    assert!(packed.unwrap().success());
    let entrypoint = format!("ENTRYPOINT [\"{CAPSULE}\"]");
    let mut changes = vec!["ENV PATH=/bin", "LABEL jackin-test=1"];
    changes.extend(capsule.is_some().then_some(entrypoint.as_str()));
    let changes = changes.into_iter().flat_map(|change| ["--change", change]).map(OsStr::new);
    let words = [OsStr::new("import")].into_iter().chain(changes);
    let output = docker(words.chain([tar.as_os_str(), name.as_ref()]));
    if !output.status.success() {
        return Err(format!("the image cannot be made: {}", String::from_utf8_lossy(&output.stderr)));
    }
    // The name has moved on from the image of the last run.
    docker(["image", "prune", "--force", "--filter", "label=jackin-test"]);
    Ok(Image(name))
}

/// A container, gone with this value.
pub struct Container {
    pub name: String,
}

impl Image {
    pub fn name(&self) -> &'static str {
        self.0
    }

    /// Starts the capsule as process 1, with no more rights than it needs, no network, and these arguments.
    pub fn run(&self, options: &[&str], args: &[&str]) -> Container {
        static NEXT: AtomicU32 = AtomicU32::new(1);
        let name = format!("{}-{}-{}", self.0, std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let mut words = vec!["run", "--detach", "--name", &name, "--network", "none", "--cap-drop", "ALL"];
        for capability in CAPABILITIES {
            words.extend(["--cap-add", capability]);
        }
        words.extend(options);
        words.push(self.0);
        words.extend(args);
        let output = docker(&words);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        Container { name }
    }
}

impl Container {
    /// Runs a command in the container.
    pub fn exec(&self, options: &[&str], command: &[&str]) -> Output {
        docker([&["exec"], options, &[self.name.as_str()], command].concat())
    }

    /// What the operator asks, by `docker exec`.
    pub fn ctl(&self, args: &[&str]) -> Output {
        self.exec(&[], &[&[CAPSULE, "ctl"], args].concat())
    }

    pub fn ctl_json(&self, args: &[&str]) -> serde_json::Value {
        let output = self.ctl(&[args, &["--json"]].concat());
        assert!(output.status.success(), "{}\n{}", String::from_utf8_lossy(&output.stderr), self.logs());
        serde_json::from_slice(&output.stdout).unwrap()
    }

    pub fn signal(&self, name: &str) {
        assert!(docker(["kill", "--signal", name, &self.name]).status.success());
    }

    /// Waits for the end; the exit code.
    pub fn wait(&self) -> i32 {
        String::from_utf8(docker(["wait", &self.name]).stdout).unwrap().trim().parse().unwrap()
    }

    /// What process 1 and the daemon said.
    pub fn logs(&self) -> String {
        let output = docker(["logs", &self.name]);
        String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned()
    }

    /// A file of the container, which need not run.
    pub fn read(&self, path: &str) -> Vec<u8> {
        let dir = tempfile::tempdir().unwrap();
        let (from, to) = (format!("{}:{path}", self.name), dir.path().join("file"));
        let copied = docker([OsStr::new("cp"), from.as_ref(), to.as_os_str()]);
        assert!(copied.status.success(), "{}\n{}", String::from_utf8_lossy(&copied.stderr), self.logs());
        fs::read(to).unwrap()
    }
}

impl Drop for Container {
    fn drop(&mut self) {
        docker(["rm", "--force", "--volumes", &self.name]);
    }
}
