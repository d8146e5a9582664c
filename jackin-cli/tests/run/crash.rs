//! The runner is killed at each of its steps, and `jackin runs gc` puts in order what it left.

use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Stdio};
use std::time::Duration;

use async_trait::async_trait;
use jackin_cli::run::{Plain, RunEvent, RunObserver, RunRequest, Runner, Store};
use jackin_core::run::{RunLayout, RunStatus, Step};
use rustix::process::{Signal, getpid, kill_process};

use crate::scene::{FILES, Scene, files, info, text};

const ROOT: &str = "JACKIN_TEST_CRASH_ROOT";
const AT: &str = "JACKIN_TEST_CRASH_AT";

/// Kills the process that it looks on in.
struct Killer(Step);

#[async_trait]
impl RunObserver for Killer {
    async fn saw(&mut self, _run: &RunLayout, event: RunEvent<'_>) {
        if matches!(event, RunEvent::Step(step) if step == self.0) {
            kill_process(getpid(), Signal::KILL).unwrap();
            std::future::pending::<()>().await;
        }
    }
}

/// The runner that is killed: this program once more.
#[tokio::test]
#[ignore = "it kills itself; the walk starts it"]
async fn runner_that_is_killed() {
    let (Some(root), Ok(at)) = (std::env::var_os(ROOT), std::env::var(AT)) else { return };
    let step = Step::ALL.into_iter().find(|step| step.word() == at).unwrap();
    let script = if step == Step::Executing { "echo up; exec sleep 1000" } else { "echo up" };
    let agent = Plain::new("wrap", ["sh", "-c", script].map(str::to_owned).to_vec(), Duration::from_secs(3));
    let request =
        RunRequest::new(std::sync::Arc::new(agent), "api".parse().unwrap(), "fix".parse().unwrap(), "crash");
    let runner = Runner::new(Store::new(root).unwrap());
    runner.run(request, &mut Killer(step)).await.unwrap();
    panic!("it was not killed at {step}");
}

fn killed_at(step: Step) -> Scene {
    let scene = Scene::new();
    let status = Command::new(std::env::current_exe().unwrap())
        .args(["crash::runner_that_is_killed", "--exact", "--ignored", "--nocapture"])
        .env(ROOT, scene.root())
        .env(AT, step.word())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .status()
        .unwrap();
    assert_eq!(status.signal(), Some(9), "at {step}: {status}");
    scene
}

/// What `gc` prints.
fn gc(scene: &Scene) -> String {
    let root = scene.root();
    let output = scene.jackin(&["runs", "gc", "--root", root.to_str().unwrap()]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn processes_of(run: &str) -> usize {
    let wanted = format!("JRUN_ID={run}");
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    let environs = entries.filter_map(|entry| std::fs::read(entry.path().join("environ")).ok());
    environs.filter(|environ| environ.split(|byte| *byte == 0).any(|pair| pair == wanted.as_bytes())).count()
}

#[test]
fn at_each_step() {
    for step in Step::ALL {
        let scene = killed_at(step);
        let (runs, bad) = scene.store().runs().unwrap();
        assert!(bad.is_empty() && runs.len() == 1, "{step}: {bad:?}");
        let run = &runs[0];
        let recorded = step >= Step::Recorded;
        assert_eq!(run.is_abandoned(), !recorded, "{step}");
        assert!(!run.alive);
        let prompted = run.layout.prompt().exists();
        assert_eq!(prompted, step >= Step::Prompted, "{step}");

        let said = gc(&scene);
        let record = info(&run.layout);
        if recorded {
            assert!(said.starts_with("announced "), "{step}: {said}");
            assert_eq!(
                (record.status, record.exit_code),
                (RunStatus::Completed, 0),
                "{step}: it had ended well"
            );
        } else {
            assert!(said.starts_with("failed "), "{step}: {said}");
            assert_eq!((record.status, record.exit_code), (RunStatus::Failed, -1), "{step}");
            let told = format!("the runner (process {}) died ", record.runner.as_ref().unwrap().pid);
            assert!(record.error_summary.starts_with(&told), "{step}: {}", record.error_summary);
            assert!(record.end_time.is_some());
        }
        let expected: Vec<&str> = FILES.into_iter().filter(|file| prompted || *file != "prompt.md").collect();
        assert_eq!(files(&run.layout), expected, "{step}");
        if step >= Step::Executed {
            assert_eq!(text(run.layout.output()), "up\n", "{step}: nothing that was written is lost");
        }
        if step == Step::Executing {
            assert!(
                record.error_summary.contains("while the agent ran; 1 process that it had left was ended")
            );
            assert_eq!(processes_of(run.layout.run().as_str()), 0, "{step}");
        }
        let mut kinds = vec!["RUN_START"];
        if step < Step::Begun {
            kinds.clear();
        }
        kinds.push(if recorded { "RUN_STOP" } else { "RUN_CRASH" });
        assert_eq!(scene.kinds(), kinds, "{step}");
        assert_eq!(gc(&scene), "nothing to put in order\n", "{step}: once is enough");
        assert_eq!(scene.kinds(), kinds, "{step}");
    }
}

#[test]
fn what_never_became_a_run_is_removed() {
    let scene = killed_at(Step::Closed);
    let runs = scene.root().join("api/fix/runs");
    let left = runs.join(".new-20260223-1530221234-991-1");
    std::fs::create_dir(&left).unwrap();
    assert!(!gc(&scene).contains("removed"), "somebody may be just making it");
    let lock = std::fs::File::create(left.join("runner.lock")).unwrap();
    rustix::fs::flock(&lock, rustix::fs::FlockOperation::LockExclusive).unwrap();
    assert!(!gc(&scene).contains("removed"), "somebody is making it");
    drop(lock);
    assert!(gc(&scene).contains("removed"));
    assert!(!left.exists());
}

#[test]
fn records_of_other_runners_are_left_alone_while_their_process_lives() {
    let scene = Scene::new();
    let folder = scene.root().join("swarm/task-1/runs/20260204-1830425699-12345-1");
    std::fs::create_dir_all(&folder).unwrap();
    let write = |pid: u32| {
        let yaml = format!(
            "version: 1\nrun_id: 20260204-1830425699-12345-1\nparent_run_id: \"\"\nproject_id: swarm\n\
             task_id: task-1\nagent: claude\npid: {pid}\npgid: {pid}\nstart_time: 2026-02-04T18:30:42.569912Z\n\
             end_time: 0001-01-01T00:00:00Z\nexit_code: -1\nstatus: running\nagent_version: \"\"\n"
        );
        std::fs::write(folder.join("run-info.yaml"), yaml).unwrap();
    };
    write(std::process::id());
    assert_eq!(gc(&scene), "nothing to put in order\n");
    let mut ended = Command::new("true").spawn().unwrap();
    let pid = ended.id();
    ended.wait().unwrap();
    write(pid);
    assert!(gc(&scene).starts_with("failed 20260204-1830425699-12345-1: its process"));
    let run = scene.store().find("20260204").unwrap();
    assert_eq!((run.standing(), run.info.exit_code), ("failed", -1));
    assert_eq!(run.info.start_time.to_string(), "2026-02-04T18:30:42.569Z");
}

#[test]
fn a_broken_record_is_a_problem_and_stops_nothing() {
    let scene = killed_at(Step::Begun);
    let run = scene.store().find("last").unwrap();
    let other = run.layout.task().runs().join("20200101-0000000000-1-1");
    std::fs::create_dir(&other).unwrap();
    std::fs::write(other.join("run-info.yaml"), "status: [").unwrap();
    let root = scene.root();
    let output = scene.jackin(&["runs", "gc", "--root", root.to_str().unwrap()]).output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(said.contains("problem 20200101-0000000000-1-1: cannot read"), "{said}");
    assert!(said.contains(&format!("failed {}", run.layout.run())), "{said}");
    assert_eq!(std::fs::read_to_string(other.join("run-info.yaml")).unwrap(), "status: [");
    let list = scene.jackin(&["runs", "list", "--root", root.to_str().unwrap()]).output().unwrap();
    assert!(list.status.success());
    assert!(String::from_utf8_lossy(&list.stderr).contains("cannot read"));
}
