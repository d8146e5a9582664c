//! A real ssh server of the test's own, at a port of this machine, with keys that go with it. Neither the operator's
//! configuration of ssh nor the machine's server has a part in it.
#![allow(dead_code, unreachable_pub, reason = "each test binary uses a part of it")]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const PROGRAMS: [&str; 3] = ["/usr/sbin/sshd", "/usr/local/sbin/sshd", "/sbin/sshd"];

/// What a server that runs as root wants to be there.
const EMPTY: &str = "/run/sshd";

/// A server, gone with this value.
pub struct Server {
    dir: tempfile::TempDir,
    process: Option<Child>,
    pub port: u16,
    made_empty: bool,
}

impl Server {
    /// Starts one; none, with a message, where that does not work.
    pub fn start() -> Option<Self> {
        let server = Self::try_start();
        server.inspect_err(|why| eprintln!("skipped: an ssh server does not start here: {why}")).ok()
    }

    fn try_start() -> Result<Self, String> {
        let program = PROGRAMS.into_iter().find(|path| Path::new(path).exists());
        let program = program.ok_or("there is no sshd: install Debian's openssh-server")?;
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name).display().to_string();
        for name in ["host", "key", "wrong"] {
            let made = Command::new("ssh-keygen")
                .args(["-q", "-t", "ed25519", "-N", "", "-f", &path(name)])
                .status()
                .map_err(|error| format!("ssh-keygen: {error}"))?;
            assert!(made.success());
        }
        let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let host_key = fs::read_to_string(path("host.pub")).unwrap();
        fs::write(path("known"), format!("[127.0.0.1]:{port} {host_key}")).unwrap();
        let config = format!(
            "Port {port}\nListenAddress 127.0.0.1\nHostKey {}\nPidFile none\nAuthorizedKeysFile {}\nPasswordAuthentication no\n\
             KbdInteractiveAuthentication no\nUsePAM no\nStrictModes no\nPermitRootLogin prohibit-password\nSetEnv HOME={}\n",
            path("host"),
            path("key.pub"),
            // An empty home: what this user's own shell does at its start is none of a test's business.
            dir.path().display()
        );
        fs::write(path("sshd_config"), config).unwrap();
        for (name, key) in [("ssh_config", "key"), ("wrong_config", "wrong")] {
            let config = format!(
                "Host *\nIdentityFile {}\nIdentitiesOnly yes\nIdentityAgent none\nUserKnownHostsFile {}\nGlobalKnownHostsFile /dev/null\n",
                path(key),
                path("known")
            );
            fs::write(path(name), config).unwrap();
        }
        for (bin, config) in [("bin", "ssh_config"), ("wrong-bin", "wrong_config")] {
            fs::create_dir(path(bin)).unwrap();
            let ssh = dir.path().join(bin).join("ssh");
            let script = format!("#!/bin/sh\nexec /usr/bin/ssh -F {} \"$@\"\n", path(config));
            fs::write(&ssh, script).unwrap();
            fs::set_permissions(&ssh, fs::Permissions::from_mode(0o755)).unwrap();
        }
        let made_empty = fs::create_dir(EMPTY).is_ok();
        let log = fs::File::create(path("log")).unwrap();
        let process = Command::new(program)
            .args(["-D", "-e", "-f", &path("sshd_config")])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .map_err(|error| error.to_string())?;
        let mut server = Self { process: Some(process), port, made_empty, dir };
        let begin = Instant::now();
        while !server.lets_in() {
            let ended = server.process.as_mut().unwrap().try_wait().unwrap();
            if ended.is_some() || begin.elapsed() > Duration::from_secs(30) {
                return Err(fs::read_to_string(server.dir.path().join("log")).unwrap_or_default());
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        Ok(server)
    }

    fn lets_in(&self) -> bool {
        let output = Command::new(self.ssh())
            .args(["-o", "BatchMode=yes", "-p", &self.port.to_string(), "127.0.0.1", "true"])
            .stdin(Stdio::null())
            .output();
        output.is_ok_and(|output| output.status.success())
    }

    /// An `ssh` that this server lets in.
    pub fn ssh(&self) -> PathBuf {
        self.dir.path().join("bin/ssh")
    }

    /// A path on which `ssh` has one of the configurations here.
    pub fn path(&self, bin: &str) -> String {
        let path = std::env::var("PATH").unwrap();
        format!("{}:{path}", self.dir.path().join(bin).display())
    }

    /// The processes of ssh that go to this server.
    pub fn clients(&self) -> usize {
        let config = self.dir.path().join("ssh_config").display().to_string();
        let processes = fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.path().join("cmdline"));
        let lines = processes.map(|line: PathBuf| fs::read(line).unwrap_or_default());
        lines.filter(|line| String::from_utf8_lossy(line).contains(&config)).count()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(mut process) = self.process.take() {
            let _ = process.kill();
            let _ = process.wait();
        }
        if self.made_empty {
            let _ = fs::remove_dir(EMPTY);
        }
    }
}
