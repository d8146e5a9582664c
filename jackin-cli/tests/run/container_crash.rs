//! The runner of a container is killed at each of its steps, and `jackin runs gc` puts in order what it left.

use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Stdio};
use std::time::Duration;

use async_trait::async_trait;
use jackin_cli::backend::Plan;
use jackin_cli::config::BackendKind;
use jackin_cli::run::{Docker, Plain, RunEvent, RunObserver, RunRequest, Runner, Store};
use jackin_core::run::{RunLayout, RunStatus, Step};
use rustix::process::{Signal, getpid, kill_process};

use crate::container::{left, take_away};
use crate::docker::{docker, shell_image};
use crate::scene::{FILES, Scene, files, info};
use crate::support::eventually;

const ROOT: &str = "JACKIN_TEST_DOCK_ROOT";
const AT: &str = "JACKIN_TEST_DOCK_AT";
const IMAGE: &str = "JACKIN_TEST_DOCK_IMAGE";

/// What is told on the way to a container.
const NOTES: [&str; 3] = ["making its network", "making its container", "starting the agent in it"];

/// Kills the process that it looks on in, at a step or at a note.
struct Killer(String);

#[async_trait]
impl RunObserver for Killer {
    async fn saw(&mut self, _run: &RunLayout, event: RunEvent<'_>) {
        let here = match event {
            RunEvent::Step(step) => step.word() == self.0,
            RunEvent::Note(text) => text == self.0,
            _ => false,
        };
        if here {
            kill_process(getpid(), Signal::KILL).unwrap();
            std::future::pending::<()>().await;
        }
    }
}

/// The runner that is killed: this program once more.
#[tokio::test]
#[ignore = "it kills itself; the walk starts it"]
async fn runner_that_is_killed() {
    let (Some(root), Ok(at), Ok(image)) = (std::env::var_os(ROOT), std::env::var(AT), std::env::var(IMAGE))
    else {
        return;
    };
    let script = if at == Step::Executing.word() { "echo up; exec sleep 1000" } else { "echo up" };
    let mut plan = Plan::new("run".parse().unwrap(), BackendKind::Docker, "api", "/workspace");
    plan.image = Some(image);
    let agent = Plain::new("wrap", ["sh", "-c", script].map(str::to_owned).to_vec(), Duration::from_secs(3))
        .in_place(Docker::new(plan, None).unwrap());
    let mut request =
        RunRequest::new(std::sync::Arc::new(agent), "api".parse().unwrap(), "fix".parse().unwrap(), "crash");
    request.cwd = std::env::temp_dir();
    let runner = Runner::new(Store::new(root).unwrap());
    runner.run(request, &mut Killer(at.clone())).await.unwrap();
    panic!("it was not killed at {at}");
}

/// What a killed runner left; on the engine it is gone with this value.
struct Wreck(Scene);

impl std::ops::Deref for Wreck {
    type Target = Scene;

    fn deref(&self) -> &Scene {
        &self.0
    }
}

impl Drop for Wreck {
    fn drop(&mut self) {
        take_away(&self.root());
    }
}

fn killed_at(at: &str, image: &str) -> Wreck {
    let scene = Wreck(Scene::new());
    let status = Command::new(std::env::current_exe().unwrap())
        .args(["container_crash::runner_that_is_killed", "--exact", "--ignored", "--nocapture"])
        .env(ROOT, scene.root())
        .env(AT, at)
        .env(IMAGE, image)
        .env("TMPDIR", scene.dir())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .status()
        .unwrap();
    assert_eq!(status.signal(), Some(9), "at {at}: {status}");
    scene
}

/// What `gc` prints.
fn gc(scene: &Scene) -> String {
    let root = scene.root();
    let output = scene.jackin(&["runs", "gc", "--root", root.to_str().unwrap()]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn at_each_step() {
    let Some(image) = shell_image() else { return };
    let points = Step::ALL.iter().map(|step| step.word()).chain(NOTES);
    for at in points {
        let scene = killed_at(at, image.name());
        let (runs, bad) = scene.store().runs().unwrap();
        assert!(bad.is_empty() && runs.len() == 1, "{at}: {bad:?}");
        let run = &runs[0];
        let container = run.info.container.as_ref().expect("the record names it from the beginning");
        assert_eq!(container.name, format!("jackin-run.{}", run.layout.run()), "{at}");
        let recorded = at == "recorded" || at == "closed";
        assert_eq!((run.is_abandoned(), run.alive), (!recorded, false), "{at}");
        if at == "executing" {
            let there = left(&scene.root());
            assert!(there.len() == 2 && there[0].contains("Up"), "it goes on without its runner: {there:?}");
        }

        let said = gc(&scene);
        let record = info(&run.layout);
        if recorded {
            assert!(said.starts_with("announced "), "{at}: {said}");
            assert_eq!(
                (record.status, record.exit_code),
                (RunStatus::Completed, 0),
                "{at}: it had ended well"
            );
        } else {
            assert!(said.starts_with("failed "), "{at}: {said}");
            assert_eq!((record.status, record.exit_code), (RunStatus::Failed, -1), "{at}");
        }
        if at == "executing" {
            let told = "died while the agent ran; the container that it had left was removed";
            assert!(record.error_summary.contains(told), "{}", record.error_summary);
        }
        assert!(record.warnings.is_empty(), "{at}: {:?}", record.warnings);
        let begun = run.layout.prompt().exists();
        let expected: Vec<&str> = FILES.into_iter().filter(|file| begun || *file != "prompt.md").collect();
        assert_eq!(files(&run.layout), expected, "{at}");
        // What the engine was just asked for may come after the first look.
        eventually("nothing is left", || {
            gc(&scene) == "nothing to put in order\n" && left(&scene.root()).is_empty()
        });
        assert_eq!(info(&run.layout), record, "{at}: once is enough");
    }
}

#[test]
fn what_comes_after_a_run_was_put_in_order_is_found_and_what_is_not_ours_is_left() {
    let Some(image) = shell_image() else { return };
    let scene = killed_at("begun", image.name());
    let run = scene.store().find("last").unwrap().layout;
    gc(&scene);
    let make = |name: &str, run: &str, root: &str| {
        let labels = [format!("jackin.run={run}"), format!("jackin.root={root}")];
        let words =
            ["create", "--network", "none", "--name", name, "--label", &labels[0], "--label", &labels[1]];
        assert!(docker([&words[..], &[image.name(), "true"]].concat()).status.success());
    };
    let root = scene.root().canonicalize().unwrap();
    let (late, other) = (format!("jackin-run.{}", run.run()), format!("test-{}", run.run()));
    make(&late, run.run().as_str(), root.to_str().unwrap());
    // A run of somebody whose records have the same place, on another machine or in another container.
    make(&other, "20200101-0000000000-1-1", root.to_str().unwrap());
    let said = gc(&scene);
    assert!(said.starts_with(&format!("removed {}: its container", run.run())), "{said}");
    let there = left(&root);
    assert!(there.len() == 1 && there[0].starts_with(&other), "{there:?}");
}

#[test]
fn a_record_that_an_agent_has_changed_opens_no_doors() {
    let Some(image) = shell_image() else { return };
    let scene = killed_at("executing", image.name());
    let run = scene.store().find("last").unwrap();
    // Somebody else's container, on an engine that the operator has never heard of.
    let victim = format!("test-victim-{}", run.layout.run());
    let made = docker(["create", "--network", "none", "--name", &victim, image.name(), "true"]);
    assert!(made.status.success());
    let listener = std::os::unix::net::UnixListener::bind(scene.dir().join("trap.sock")).unwrap();
    listener.set_nonblocking(true).unwrap();
    let record = std::fs::read_to_string(run.layout.info()).unwrap();
    let own = format!("name: jackin-run.{}", run.layout.run());
    let address = format!("address: unix://{}/trap.sock", scene.dir().display());
    let known = format!("address: {}", run.info.container.unwrap().address);
    assert!(record.contains(&own) && record.contains(&known), "{record}");
    let forged = record.replace(&own, &format!("name: {victim}")).replace(&known, &address);
    std::fs::write(run.layout.info(), &forged).unwrap();

    let said = gc(&scene);
    assert!(said.contains("which is not configured here"), "{said}");
    assert!(listener.accept().is_err(), "nobody may send us to an engine of their own");
    assert_eq!(left(&scene.root()), Vec::<String>::new(), "the labels tell what is there: {said}");
    assert!(docker(["inspect", &victim]).status.success(), "what is not the run's is left alone");
    docker(["rm", "-f", &victim]);
}
