//! A mistake in the configuration keeps nobody from the agents that there are.

use crate::operator::Operator;

const WRONG: &str = "[defaults]\nagent = 7\nrole = \"nobody\"\n";

#[test]
fn what_is_there_can_be_reached_whatever_is_wrong_with_the_configuration() {
    let operator = Operator::new();
    operator.ok(&["load", "--detach", "--name", "one", "--", "cat"]);
    for wrong in [WRONG, "[defaults\n", "\u{0}"] {
        operator.configure(wrong);
        assert_eq!(operator.instance("one")["instance"], "one", "{wrong:?}");
    }
    operator.configure(WRONG);
    for args in [
        &["ls"][..],
        &["status"],
        &["read", "one"],
        &["explain", "one"],
        &["ack", "one"],
        &["hardline", "one", "--inspect"],
        &["wait", "one", "--until", "blocked", "--timeout", "1s"],
        &["tags", "list", "one"],
        &["send", "one", "hello", "--force"],
        &["log", "one"],
        &["gc"],
        &["runs", "list"],
        &["runs", "gc"],
    ] {
        let output = operator.run(args);
        let told = String::from_utf8(output.stderr).unwrap();
        assert_ne!(output.status.code(), Some(2), "{args:?}: {told}");
        assert!(told.contains("config.toml:2: defaults.agent: invalid type"), "{args:?}: {told}");
        assert!(told.contains("config.toml:3: defaults.role: there is no role"), "{args:?}: {told}");
    }
    for args in [&["load", "--detach"][..], &["restart", "one"], &["run", "--agent", "claude", "hello"]] {
        let (code, told) = operator.refused(args);
        assert_eq!(code, 2, "{args:?}: {told}");
    }
    let told = operator.run(&["eject", "one"]);
    assert!(told.status.success(), "{}", String::from_utf8_lossy(&told.stderr));
    assert_eq!(operator.left(), Vec::<std::path::PathBuf>::new());
}

#[test]
fn the_doctor_names_each_mistake_and_goes_on() {
    let operator = Operator::new();
    operator.configure(WRONG);
    let output = operator.run(&["doctor", "--json"]);
    assert_eq!(output.status.code(), Some(1));
    let lines: Vec<serde_json::Value> = String::from_utf8(output.stdout)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let of = |what: &str| lines.iter().filter(|line| line["what"] == what).collect::<Vec<_>>();
    let configuration = of("configuration");
    assert_eq!(configuration.len(), 2, "{lines:?}");
    assert!(configuration.iter().all(|line| line["grade"] == "bad"), "{lines:?}");
    assert!(configuration[1]["says"].as_str().unwrap().contains("config.toml:3: "), "{lines:?}");
    assert_eq!(of("home").len(), 1, "{lines:?}");
}
