//! What a hostile program can do at the agent's user in a container: nothing, and each try is told.

use std::collections::BTreeMap;

use crate::docker::{CAPSULE, Container, image};
use crate::support::eventually;

/// Runs as a session. Each line of the outcome is a try, what it ended with, and what it said. The arguments are
/// the numbers of the daemon and of another session's first process.
const ATTACK: &str = r#"
exec 3> $HOME/outcome.new
try() { name=$1; shift; said=$("$@" 2>&1 < /dev/null); code=$?; printf '%s|%s|%s\n' "$name" "$code" "$(echo $said)" >&3; }
capsule=$0; daemon=$1; victim=$2
agent="$capsule ctl --socket $JACKIN_AGENT_SOCKET"

printf 'who|%s|%s\n' "$(id -u)" "$(echo $(grep -E '^(Groups|NoNewPrivs|Cap(Inh|Prm|Eff|Amb))' /proc/self/status))" >&3

try 'enter the directory' ls /jackin/run
try 'operator socket' $capsule ctl status
try 'operator attach' $capsule attach
try 'state directory' ls /jackin/state
try 'token of process 1' cat /proc/1/environ
try 'token of the daemon' cat /proc/$daemon/environ
try 'memory of process 1' dd if=/proc/1/mem of=/dev/null bs=1 count=1
try 'memory of the daemon' dd if=/proc/$daemon/mem of=/dev/null bs=1 count=1
try 'write the memory' dd if=/dev/zero of=/proc/$daemon/mem bs=1 count=1
try 'descriptors of the daemon' ls /proc/$daemon/fd
try 'root of the daemon' ls /proc/$daemon/root/jackin/run
try 'end process 1' kill -9 1
try 'end the daemon' kill -9 $daemon
try 'end its threads' sh -c "code=1; for t in /proc/$daemon/task/*; do kill -9 \${t##*/} 2>/dev/null && code=0; done; echo not permitted; exit \$code"
try 'write the capsule' sh -c ": > $capsule"
try 'remove the capsule' rm -f $capsule
try 'replace the capsule' mv /bin/busybox $capsule
try 'replace its directory' mv /jackin/runtime /jackin/other
try 'replace the agents socket' rm -f $JACKIN_AGENT_SOCKET
try 'change the root' chroot / id
stolen=$(tr '\0' '\n' < /proc/$victim/environ | sed -n 's/^JACKIN_AGENT_TOKEN=//p')
try 'token of another session' env JACKIN_AGENT_TOKEN=${stolen:-none} $capsule report --strict --event turn-started
try 'the same, in a session apart' env JACKIN_AGENT_TOKEN=${stolen:-none} setsid $capsule report --strict --event turn-started
try 'no token' env JACKIN_AGENT_TOKEN= $capsule report --strict --event turn-started
try 'attach at the agents socket' $capsule attach --socket $JACKIN_AGENT_SOCKET
try 'method snapshot' $agent snapshot
try 'method events' $agent events
try 'method wait' $agent wait --until idle
try 'method create' $agent create -- sh
try 'method split' $agent split --right -- sh
try 'method kill' $agent kill --session 1
try 'method title' $agent title --session 1 mine
try 'method focus' $agent focus --session 1
try 'method send' $agent send --session 1 --force x
try 'method read' $agent read --session 1
try 'method explain' $agent explain --session 1
try 'method ack' $agent ack --session 1
try 'method tags' $agent tags list
try 'method tags set' $agent tags set pr https://github.com/o/r/pull/1
try 'method tags unset' $agent tags unset pr https://github.com/o/r/pull/1
try 'method tags overrides' $agent tags overrides
try 'method tags restore' $agent tags restore '{"overrides":[]}'
try 'method context' $agent context {}
try 'method resources' $agent resources
try 'method screen' $agent screen --session 1
try 'method record' $agent record start --session 1
try 'method restart' $agent restart --session 1
try 'method shutdown' $agent shutdown
try 'own status' $agent status --json
try 'own report' $capsule report --strict --event turn-started
mv $HOME/outcome.new $HOME/outcome
read -r line
"#;

/// Root may not look into the agent's home, for want of the right to.
const AS_AGENT: [&str; 2] = ["--user", "1000"];
const OUTCOME: &str = "/home/agent/outcome";

/// The tries that nobody is to succeed in, and what each one is told.
fn refusal(name: &str) -> &'static [&'static str] {
    match name {
        "token of another session" | "the same, in a session apart" => &["that of another session"],
        "no token" => &["missing or not that of a running session"],
        "attach at the agents socket" => &["terminal", "closed"],
        name if name.starts_with("method ") => {
            &["an agent may report about itself, ask for its own status, and nothing else"]
        }
        _ => &["ermission denied", "not permitted", "denied", "a terminal"],
    }
}

fn outcome(container: &Container) -> BTreeMap<String, (String, String)> {
    eventually("the attack is over", || container.exec(&AS_AGENT, &["test", "-e", OUTCOME]).status.success());
    let text = String::from_utf8(container.exec(&AS_AGENT, &["cat", OUTCOME]).stdout).unwrap();
    let line = |line: &str| {
        let mut parts = line.splitn(3, '|').map(ToOwned::to_owned);
        Some((parts.next()?, (parts.next()?, parts.next()?)))
    };
    text.lines().filter_map(line).collect()
}

#[test]
fn the_agents_user_gets_nowhere_and_every_try_is_told() {
    let Some(image) = image() else { return };
    let container = image.run(&[], &["daemon", "--", "sh", "-c", "read -r line"]);
    eventually("the capsule answers", || container.ctl(&["status"]).status.success());
    // The first session's first process; those of the engine's calls are not below the daemon.
    let daemon = container.ctl_json(&["status"])["pid"].to_string();
    let victim = container.exec(&[], &["sh", "-c", &format!("cat /proc/{daemon}/task/*/children")]).stdout;
    let victim = String::from_utf8(victim).unwrap().trim().to_owned();
    let created = container.ctl(&["create", "--", "sh", "-c", ATTACK, CAPSULE, &daemon, &victim]);
    assert!(created.status.success(), "{}", String::from_utf8_lossy(&created.stderr));
    let outcome = outcome(&container);
    let logs = container.logs();

    let (uid, rights) = &outcome["who"];
    assert_eq!(uid, "1000");
    for expected in
        ["NoNewPrivs: 1", "CapPrm: 0000000000000000", "CapEff: 0000000000000000", "CapAmb: 0000000000000000"]
    {
        assert!(rights.contains(expected), "{rights}");
    }
    assert_eq!(outcome["own report"].0, "0", "{outcome:#?}\n{logs}");
    let status: serde_json::Value = serde_json::from_str(&outcome["own status"].1).unwrap();
    let ids: Vec<_> = status["sessions"].as_array().unwrap().iter().map(|session| &session["id"]).collect();
    assert_eq!(ids, [2], "it is told of itself alone");
    let granted = ["who", "own report", "own status"];
    let tries: Vec<_> = outcome.iter().filter(|(name, _)| !granted.contains(&name.as_str())).collect();
    let made = ATTACK.lines().filter(|line| line.starts_with("try '")).count() - 2;
    assert_eq!(tries.len(), made, "{outcome:#?}");
    for (name, (code, said)) in tries {
        assert_ne!(code, "0", "{name} was not refused: {said}");
        assert!(refusal(name).iter().any(|reason| said.contains(reason)), "{name}: {said}");
        if let Some(method) = name.strip_prefix("method ") {
            let method = method.replace(' ', ".");
            assert!(logs.contains(&method), "no line about {method} in\n{logs}");
        }
    }
    assert!(logs.contains("that of another session"), "{logs}");
    assert!(container.ctl(&["status"]).status.success(), "it runs as before");
}
