//! The console over ssh, from a server of its own on the loopback.

use std::fs;
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use crate::operator::Operator;
use crate::support::{Terminal, eventually};

const SSHD: &str = "/usr/sbin/sshd";

/// A server for this user alone, with a key that nobody else has.
struct Server {
    child: Child,
    port: u16,
}

impl Server {
    fn start(dir: &Path) -> Self {
        for key in ["host", "key"] {
            let made = Command::new("ssh-keygen")
                .args(["-q", "-t", "ed25519", "-N", "", "-f"])
                .arg(dir.join(key))
                .status();
            assert!(made.unwrap().success());
        }
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let config = format!(
            "Port {port}\nListenAddress 127.0.0.1\nHostKey {0}/host\nAuthorizedKeysFile {0}/key.pub\n\
             StrictModes no\nUsePAM no\nPidFile none\nPermitRootLogin yes\nPasswordAuthentication no\nSetEnv HOME={0}\n",
            // Its home is empty, too: what this user's own shell does at its start is none of a test's business.
            dir.display()
        );
        fs::write(dir.join("sshd_config"), config).unwrap();
        let child = Command::new(SSHD)
            .args(["-D", "-e", "-f"])
            .arg(dir.join("sshd_config"))
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        eventually("the server listens", || TcpStream::connect(("127.0.0.1", port)).is_ok());
        Self { child, port }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn it_works_over_ssh_and_goes_with_the_connection() {
    if !Path::new(SSHD).exists() {
        eprintln!("skipped: there is no {SSHD}");
        return;
    }
    let operator = Operator::new();
    operator.agent("one");
    operator.works("one");
    let dir = operator.path("ssh");
    fs::create_dir(&dir).unwrap();
    // Root's server wants a directory of its own, which a package makes only when its service starts.
    let _ = fs::create_dir_all("/run/sshd");
    let server = Server::start(&dir);
    let pid = operator.path("pid");
    let script = operator.program(
        "far",
        &operator
            .command_line(&format!("sh -c 'echo $$ > \"$0\"; exec \"$@\"' '{}'", pid.display()), "console"),
    );
    let (port, key) = (server.port.to_string(), dir.join("key").display().to_string());
    let connect = || {
        let args = ["-tt", "-F", "none", "-p", &port, "-i", &key, "-o", "StrictHostKeyChecking=no"];
        let quiet = ["-o", "UserKnownHostsFile=/dev/null", "-o", "LogLevel=ERROR", "127.0.0.1"];
        let script = script.display().to_string();
        Terminal::start("ssh", &[&args[..], &quiet, &[&script]].concat(), 24, 80)
    };
    let mut terminal = connect();
    terminal.wait_for("● 1 working");
    // The terminal's answer, its size, the clipboard and an attached session all take the long way.
    terminal.wait_for_bytes(b"\x1b]11;?\x1b\\");
    terminal.type_in("\x1b]11;rgb:ffff/ffff/ffff\x1b\\");
    terminal.resize(30, 100);
    terminal.wait_for("branch");
    terminal.type_in("y");
    terminal.wait_for("Copy");
    terminal.type_in("instance\r");
    terminal.wait_for_bytes(b"\x1b]52;c;b25l\x1b\\");
    terminal.type_in("\r");
    terminal.wait_until_text("it is attached", |text| text.contains("ready") && !text.contains("1 agent"));
    terminal.type_in("\x02d");
    terminal.wait_for("one: detached");
    terminal.type_in("q");
    assert_eq!(terminal.exit_code(), 0);

    // A connection that is lost ends the console, and nothing else.
    let terminal = connect();
    terminal.wait_for("● 1 working");
    let console = fs::read_to_string(&pid).unwrap();
    let runs = || Path::new("/proc").join(console.trim()).exists();
    assert!(runs());
    drop(terminal);
    eventually("the console has left", || !runs());
    let listed = operator.jackin(&["ls"]);
    assert!(String::from_utf8_lossy(&listed.stdout).contains("one"));
}
