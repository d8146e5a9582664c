//! The operator's command line over containers.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use jackin_core::InstanceName;
use serde_json::Value;

use crate::bench::things;
use crate::docker::{bare_image, docker};
use crate::engines::Engine;
use crate::support::{JACKIN, eventually};

pub(crate) struct Operator {
    pub(crate) dir: tempfile::TempDir,
    pub(crate) image: &'static str,
    capsule: PathBuf,
    variables: Vec<(&'static str, String)>,
}

impl Operator {
    pub(crate) fn new() -> Option<Self> {
        let (image, capsule) = bare_image()?;
        let dir = tempfile::tempdir().unwrap();
        for name in ["config", "work"] {
            std::fs::create_dir(dir.path().join(name)).unwrap();
        }
        Some(Self {
            dir,
            image: image.name(),
            capsule: std::fs::canonicalize(capsule).unwrap(),
            variables: Vec::new(),
        })
    }

    pub(crate) fn configure(&self, text: &str) {
        std::fs::write(self.dir.path().join("config/config.toml"), text).unwrap();
    }

    /// Sets a variable for every command from now on.
    pub(crate) fn set(&mut self, name: &'static str, value: String) {
        self.variables.push((name, value));
    }

    /// A name that no other test has.
    pub(crate) fn name(word: &str) -> String {
        format!("cli-{}-{word}", std::process::id())
    }

    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(JACKIN);
        command
            .args(args)
            .current_dir(self.dir.path().join("work"))
            .env("HOME", self.dir.path())
            .env("JACKIN_HOME", self.dir.path().join("home"))
            .env("JACKIN_CONFIG_DIR", self.dir.path().join("config"))
            .env("JACKIN_CAPSULE_BIN", &self.capsule)
            .envs(self.variables.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null());
        command
    }

    pub(crate) fn run(&self, args: &[&str]) -> Output {
        self.command(args).output().unwrap()
    }

    pub(crate) fn ok(&self, args: &[&str]) -> String {
        let output = self.run(args);
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().trim_end().to_owned()
    }

    pub(crate) fn json(&self, args: &[&str]) -> Value {
        serde_json::from_str(&self.ok(args)).unwrap()
    }

    pub(crate) fn load(&self, name: &str, script: &str) {
        let args = ["load", "--detach", "--image", self.image, "--name", name, "--", "sh", "-c", script];
        assert_eq!(self.ok(&args), name);
    }

    pub(crate) fn instance(&self, name: &str) -> Value {
        let list = self.json(&["ls", "--json"]);
        let found =
            list["instances"].as_array().unwrap().iter().find(|instance| instance["instance"] == name);
        found.cloned().unwrap_or(Value::Null)
    }
}

impl Drop for Operator {
    fn drop(&mut self) {
        let list = self.run(&["ls", "--json"]);
        let list: Value = serde_json::from_slice(&list.stdout).unwrap_or_default();
        for instance in list["instances"].as_array().into_iter().flatten() {
            let name = instance["instance"].as_str().unwrap_or_default();
            // Other tests have instances on the same engine.
            if self.dir.path().join(format!("home/instances/{name}.toml")).exists() {
                self.run(&["eject", name]);
            }
        }
    }
}

pub(crate) fn left(name: &str) -> Vec<String> {
    things(&InstanceName::new(name).unwrap())
}

#[test]
fn status_and_tags_flow_and_a_clean_end_leaves_nothing() {
    let Some(operator) = Operator::new() else { return };
    let name = Operator::name("flow");
    let capsule = "/jackin/runtime/jackin-capsule";
    let script = format!(
        r#"report() {{ echo "$1" | {capsule} report --strict; }}
        report '{{"event":"turn-started"}}'
        report '{{"event":"assistant-text","message_id":"m","chunk":"<jackin:pr>https://github.com/a/b/pull/7</jackin:pr>","end":true}}'
        report '{{"event":"waiting","prompt":"Go on?"}}'
        read -r line; report '{{"event":"waiting-resolved"}}'; read -r line"#
    );
    operator.load(&name, &script);
    let process = docker(["exec", &format!("jackin-{name}"), "cat", "/proc/1/cmdline"]).stdout;
    assert!(process.starts_with(capsule.as_bytes()));
    operator.ok(&["wait", &name, "--until", "blocked", "--timeout", "60s"]);
    let instance = operator.instance(&name);
    assert_eq!((&instance["host"], &instance["status"]["prompt"]), (&"docker".into(), &"Go on?".into()));
    let tags = operator.json(&["tags", "list", &name, "--json"]);
    assert_eq!(tags["tags"][0]["value"], "https://github.com/a/b/pull/7");
    let refused = operator.run(&["send", &name, "x"]);
    assert_eq!(refused.status.code(), Some(1));
    operator.ok(&["send", &name, "--force", "x"]);
    operator.ok(&["send", &name, "--force", "y"]);
    // The watcher that `load --detach` left takes everything away.
    eventually("everything is gone", || left(&name).is_empty());
    eventually("its record too", || operator.instance(&name) == Value::Null);
}

#[test]
fn a_killed_container_is_kept_and_restarted_and_ejected() {
    let Some(operator) = Operator::new() else { return };
    let name = Operator::name("kill");
    operator.load(&name, "echo here; sleep 1000");
    assert!(docker(["kill", &format!("jackin-{name}")]).status.success());
    eventually("it is known", || operator.instance(&name)["status"]["exit_code"] == 137);
    let gc = operator.json(&["gc", "--json"]);
    assert!(gc["kept"].as_array().unwrap().iter().any(|kept| kept["instance"] == name.as_str()), "{gc}");
    operator.ok(&["restart", &name, "--detach"]);
    eventually("it runs again", || operator.ok(&["read", &name]).contains("here"));
    operator.ok(&["eject", &name]);
    assert_eq!(left(&name), Vec::<String>::new());
}

#[test]
fn a_launch_that_is_killed_at_any_step_leaves_nothing_after_gc() {
    let Some(operator) = Operator::new() else { return };
    let name = Operator::name("cut");
    let args =
        ["load", "--detach", "--no-watch", "--image", operator.image, "--name", &name, "--", "sleep", "1000"];
    for step in 0.. {
        let mut load = operator.command(&args).stderr(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
        let mut told = BufReader::new(load.stderr.take().unwrap()).lines();
        let reached = (0..=step).all(|_| told.next().is_some());
        load.kill().unwrap();
        load.wait().unwrap();
        if !reached {
            assert!(step >= 3, "only {step} steps were told");
            operator.ok(&["eject", &name]);
            break;
        }
        // What the engine was just asked for may come after the first look.
        eventually("nothing is left", || {
            operator.ok(&["gc"]);
            left(&name).is_empty() && operator.instance(&name) == Value::Null
        });
    }
    assert_eq!(left(&name), Vec::<String>::new());
}

#[test]
fn one_that_was_stopped_from_outside_is_kept() {
    let Some(operator) = Operator::new() else { return };
    let name = Operator::name("stopped");
    operator.load(&name, "read -r line");
    assert!(docker(["stop", &format!("jackin-{name}")]).status.success());
    eventually("it has ended", || operator.instance(&name)["state"] == "ended");
    // Whoever watches it may be looking at it just now.
    eventually("it is kept", || {
        let kept = operator.json(&["gc", "--json"])["kept"].clone();
        kept.as_array().is_some_and(|kept| kept.iter().any(|kept| kept["instance"] == name.as_str()))
    });
    operator.ok(&["restart", &name, "--detach"]);
    operator.ok(&["eject", &name]);
    assert_eq!(left(&name), Vec::<String>::new());
}

#[test]
fn a_name_that_another_operator_has_on_the_engine_is_not_touched() {
    let (Some(operator), Some(other)) = (Operator::new(), Operator::new()) else { return };
    let name = Operator::name("shared");
    operator.load(&name, "read -r line");
    let args = ["load", "--detach", "--image", other.image, "--name", &name, "--", "sleep", "1000"];
    let refused = other.run(&args);
    let why = String::from_utf8_lossy(&refused.stderr);
    assert!(!refused.status.success() && why.contains("already"), "{why}");
    assert_eq!(operator.instance(&name)["state"], "running");
}

#[test]
fn an_engine_that_does_not_answer_takes_no_name() {
    let Some(mut operator) = Operator::new() else { return };
    let name = Operator::name("nobody");
    operator.set("DOCKER_HOST", "unix:///nowhere.sock".to_owned());
    let load = ["load", "--detach", "--image", operator.image, "--name", &name, "--", "sleep", "1000"];
    for _ in 0..2 {
        let refused = operator.run(&load);
        let why = String::from_utf8_lossy(&refused.stderr);
        assert!(!refused.status.success() && why.contains("does not answer"), "{why}");
    }
}

#[test]
fn a_program_that_the_image_does_not_have_is_an_error_and_leaves_nothing() {
    let Some(operator) = Operator::new() else { return };
    let name = Operator::name("nosuch");
    for (program, why) in [("nosuch", "nosuch"), ("/etc", "/etc")] {
        let output =
            operator.run(&["load", "--detach", "--image", operator.image, "--name", &name, "--", program]);
        let told = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{told}");
        assert!(output.stdout.is_empty() && told.contains(why) && told.contains("cannot start"), "{told}");
        assert_eq!(left(&name), Vec::<String>::new());
        assert_eq!(operator.instance(&name), Value::Null);
    }
    // A program may end with that code, too, when it has run for a while.
    operator.load(&name, "read -r line; exit 127");
    operator.ok(&["send", "--force", &name, "x"]);
    eventually("it is kept", || operator.instance(&name)["status"]["exit_code"] == 127);
}

/// An engine may get round to what a killed launch had asked for after everything was cleared away.
#[test]
fn what_an_engine_makes_late_is_found_and_what_others_make_is_left_alone() {
    let Some(operator) = Operator::new() else { return };
    let name = Operator::name("late");
    operator.load(&name, "sleep 1000");
    let network = format!("jackin-{name}");
    let labels = docker(["network", "inspect", "--format", "{{json .Labels}}", &network]).stdout;
    let labels: BTreeMap<String, String> = serde_json::from_slice(&labels).unwrap();
    operator.ok(&["eject", &name]);
    let make_late = |plan: &str| {
        let made = Command::new("docker")
            .args(["network", "create", "--label", &format!("jackin.instance={name}")])
            .args(["--label", &format!("jackin.plan={plan}"), &network])
            .output()
            .unwrap();
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    };
    let mut plan: Value = serde_json::from_str(&labels["jackin.plan"]).unwrap();
    make_late(&plan.to_string());
    operator.ok(&["gc"]);
    assert_eq!(left(&name), Vec::<String>::new());
    plan["owner"] = "somebody else".into();
    make_late(&plan.to_string());
    operator.ok(&["gc"]);
    assert_eq!(left(&name).len(), 1);
    operator.ok(&["eject", &name]);
    assert_eq!(left(&name), Vec::<String>::new());
}

#[test]
fn two_engines_are_in_one_list_and_a_third_that_is_gone_holds_up_nobody() {
    let Some(operator) = Operator::new() else { return };
    let Some(second) = Engine::start(&[]) else { return };
    let gone = operator.dir.path().join("gone.sock");
    operator.configure(&format!(
        "[hosts.second]\ndocker = {:?}\n[hosts.gone]\ndocker = \"unix://{}\"\n",
        second.socket(),
        gone.display()
    ));
    let (here, there) = (Operator::name("here"), Operator::name("there"));
    operator.load(&here, "sleep 1000");
    let args = [
        "load",
        "--detach",
        "--host",
        "second",
        "--image",
        operator.image,
        "--name",
        &there,
        "--",
        "sleep",
        "1000",
    ];
    operator.ok(&args);
    let list = operator.json(&["ls", "--json"]);
    let host = |name: &str| operator.instance(name)["host"].clone();
    assert_eq!((host(&here), host(&there)), ("docker".into(), "second".into()));
    assert_eq!(list["unreachable"][0]["host"], "gone", "{list}");
    operator.ok(&["eject", &here, &there]);
}
