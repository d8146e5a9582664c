//! Runs in containers of a real engine: the same record, and what an agent sees and may do in there.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use jackin_cli::run::{FoundRun, Store};
use jackin_core::run::RunStatus;
use serde_json::Value;

use crate::docker::{docker, shell_image};
use crate::scene::{FILES, Scene, files, text};
use crate::support::{JACKIN, eventually};

/// An operator with an image; what the runs of a test leave is gone with this value.
pub struct Dock {
    pub scene: Scene,
    pub image: &'static str,
}

impl Dock {
    /// None, with a message, where there is no engine.
    pub fn new() -> Option<Self> {
        let image = shell_image()?.name();
        Some(Self { scene: Scene::new(), image })
    }

    pub fn configure(&self, text: &str) {
        let text = text.replace("IMAGE", self.image);
        std::fs::write(self.scene.dir().join("config.toml"), text).unwrap();
    }

    /// `jackin …` with a configuration of its own.
    pub fn jackin(&self, args: &[&str]) -> Command {
        let mut jackin = self.scene.jackin(args);
        jackin.env("JACKIN_CONFIG_DIR", self.scene.dir()).current_dir(self.workspace());
        jackin
    }

    /// The directory that agents work in.
    pub fn workspace(&self) -> PathBuf {
        let dir = self.scene.dir().join("work");
        std::fs::create_dir_all(&dir).unwrap();
        dir
    }

    /// `jackin run` of a script in a container, with a network only if the options say so.
    pub fn command(&self, script: &str, options: &[&str]) -> Command {
        let begin = ["run", "--project", "api", "--task", "fix", "--image", self.image];
        self.jackin(&[&begin, options, &["--wrap", "--", "sh", "-c", script]].concat())
    }

    pub fn run(&self, script: &str, options: &[&str]) -> Output {
        self.command(script, options).output().unwrap()
    }

    pub fn store(&self) -> Store {
        Store::new(self.root()).unwrap()
    }

    pub fn root(&self) -> PathBuf {
        self.scene.dir().join("runs")
    }

    pub fn last(&self) -> FoundRun {
        self.store().find("last").unwrap()
    }

    /// Everything that the engine has of this operator's runs.
    pub fn left(&self) -> Vec<String> {
        left(&self.root())
    }
}

impl Drop for Dock {
    fn drop(&mut self) {
        take_away(&self.root());
    }
}

fn listed(root: &Path, list: &[&str]) -> Vec<String> {
    let filter = format!("label=jackin.root={}", root.display());
    let output = docker([list, &["--filter", &filter]].concat());
    String::from_utf8(output.stdout).unwrap().lines().map(ToOwned::to_owned).collect()
}

/// The containers and networks of the runs below a root.
pub fn left(root: &Path) -> Vec<String> {
    let mut left = listed(root, &["ps", "-a", "--format", "{{.Names}} {{.Status}}"]);
    left.extend(listed(root, &["network", "ls", "--format", "network {{.Name}}"]));
    left
}

pub fn take_away(root: &Path) {
    for id in listed(root, &["ps", "-aq"]) {
        docker(["rm", "-f", &id]);
    }
    for id in listed(root, &["network", "ls", "-q"]) {
        docker(["network", "rm", &id]);
    }
}

pub fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

pub fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// What the engine says of the only container of a root.
fn inspect(root: &Path) -> Value {
    let ids = listed(root, &["ps", "-aq"]);
    let output = docker(["inspect", &ids[0]]);
    serde_json::from_slice::<Value>(&output.stdout).unwrap()[0].take()
}

#[test]
fn a_run_in_a_container_leaves_the_same_record_and_nothing_else() {
    let Some(dock) = Dock::new() else { return };
    let script = "echo said; echo complained >&2; cat > got; echo '# Done' > $JRUN_RUN_FOLDER/output.md; \
                  touch $JRUN_TASK_FOLDER/DONE";
    let output = dock.run(script, &["--prompt", "Do it"]);
    assert_eq!(
        (output.status.code(), stdout(&output).as_str()),
        (Some(0), "# Done\n"),
        "{}",
        stderr(&output)
    );
    let run = dock.last();
    assert_eq!(files(&run.layout), FILES);
    assert_eq!(
        (text(run.layout.stdout()), text(run.layout.stderr())),
        ("said\n".into(), "complained\n".into())
    );
    assert_eq!(text(dock.workspace().join("got")), text(run.layout.prompt()), "prompt.md is what it read");
    assert!(run.layout.task().done().exists());
    let kinds: Vec<String> =
        jackin_cli::run::bus::read(&run.layout.task().bus()).unwrap().into_iter().map(|m| m.kind).collect();
    assert_eq!(kinds, ["RUN_START", "RUN_STOP"]);

    let info = &run.info;
    assert_eq!((info.status, info.exit_code, info.pid), (RunStatus::Completed, 0, 0));
    assert_eq!(info.runner.as_ref().unwrap().place, "docker");
    let container = info.container.as_ref().unwrap();
    assert_eq!(container.name, format!("jackin-run.{}", info.run_id));
    assert_eq!((container.engine.as_str(), container.image.as_str()), ("docker", dock.image));
    assert!(container.address.starts_with("unix://"), "{container:?}");
    assert_eq!(container.workdir, "/workspace");
    assert_eq!(container.folder, format!("/jackin/runs/api/fix/runs/{}", info.run_id));
    assert_eq!(info.cwd, dock.workspace().to_str().unwrap(), "where it is on this machine");
    let told = text(run.layout.prompt());
    assert!(
        told.contains(&format!("{}/output.md", container.folder)),
        "the agent is told its own paths: {told}"
    );
    assert!(info.warnings.is_empty(), "{info:?}");
    assert_eq!(dock.left(), Vec::<String>::new());

    let show = stdout(&dock.jackin(&["runs", "show", "last"]).output().unwrap());
    assert!(show.contains(&container.name), "{show}");
}

#[test]
fn without_an_output_md_it_is_what_was_printed_byte_for_byte() {
    let Some(dock) = Dock::new() else { return };
    // More than any buffer on the way holds, and no text.
    let script = "i=0; while [ $i -lt 40 ]; do head -c 500000 /dev/zero | tr '\\000' '\\377'; printf '\\001\\002\\n'; \
                  echo $i >&2; i=$((i+1)); done; exit 7";
    let output = dock.run(script, &[]);
    assert_eq!(output.status.code(), Some(7), "{}", stderr(&output));
    let run = dock.last();
    let printed = std::fs::read(run.layout.stdout()).unwrap();
    let piece = [vec![0xff; 500_000], b"\x01\x02\n".to_vec()].concat();
    assert!(printed == piece.repeat(40), "{} bytes came", printed.len());
    assert!(std::fs::read(run.layout.output()).unwrap() == printed);
    assert_eq!(text(run.layout.stderr()).lines().count(), 40);
    assert_eq!(run.info.error_summary, "the agent ended with exit code 7: 39");
    assert_eq!(dock.left(), Vec::<String>::new());
}

#[test]
fn the_environment_is_the_contract_s_and_holds_nothing_of_this_machine() {
    let Some(mut dock) = Dock::new() else { return };
    dock.scene = std::mem::replace(&mut dock.scene, Scene::new())
        .with_variable("ANTHROPIC_API_KEY", "its own")
        .with_variable("OPENAI_API_KEY", "host secret")
        .with_variable("GH_TOKEN", "host secret")
        .with_variable("MY_OWN_THING", "host secret")
        .with_variable("JRUN_CONDUCTOR_URL", "http://conductor");
    dock.configure("[agents.claude]\nheadless = [\"env\"]\nenv = { MODE = \"fast\" }\n[roles.r]\nimage = \"IMAGE\"\nenv = { FROM_ROLE = \"1\" }\n");
    let args =
        ["run", "--project", "api", "--task", "fix", "--role", "r", "--env", "GIVEN=2", "--agent", "claude"];
    let output = dock.jackin(&[&args[..], &["--prompt", "x", "--live=raw"]].concat()).output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    let run = dock.last();
    let printed = text(run.layout.stdout());
    assert!(!printed.contains("host secret"), "{printed}");
    let id = &run.info.run_id;
    let mut lines: Vec<String> = printed.lines().map(str::to_owned).collect();
    lines.sort();
    let mut expected = [
        "ANTHROPIC_API_KEY=its own".to_owned(),
        "FROM_ROLE=1".to_owned(),
        "GIVEN=2".to_owned(),
        "HOME=/home/operator".to_owned(),
        format!("HOSTNAME={id}"),
        "JRUN_CONDUCTOR_URL=http://conductor".to_owned(),
        format!("JRUN_ID={id}"),
        "JRUN_MESSAGE_BUS=/jackin/runs/api/fix/TASK-MESSAGE-BUS.md".to_owned(),
        "JRUN_PARENT_ID=".to_owned(),
        "JRUN_PROJECT_ID=api".to_owned(),
        "JRUN_RUNS_DIR=/jackin/runs/api/fix/runs".to_owned(),
        format!("JRUN_RUN_FOLDER=/jackin/runs/api/fix/runs/{id}"),
        "JRUN_TASK_FOLDER=/jackin/runs/api/fix".to_owned(),
        "JRUN_TASK_ID=fix".to_owned(),
        "LANG=C.UTF-8".to_owned(),
        "MODE=fast".to_owned(),
        "PATH=/bin".to_owned(),
        "TERM=dumb".to_owned(),
        "TINI_KILL_PROCESS_GROUP=1".to_owned(),
    ];
    expected.sort();
    assert_eq!(lines, expected);
    let record = text(run.layout.info());
    assert!(!record.contains("its own"), "{record}");
}

#[test]
fn an_agent_may_do_no_more_than_it_needs() {
    let Some(dock) = Dock::new() else { return };
    dock.configure(
        "[roles.r]\nimage = \"IMAGE\"\nlimits = { memory = \"64m\", cpus = 0.5, pids = 50 }\nmounts = [\"HERE:/given:ro\"]\nnetwork = \"none\"\nread_only = true\n"
            .replace("HERE", dock.scene.dir().to_str().unwrap())
            .as_str(),
    );
    let sibling = dock.run("true", &[]);
    assert!(sibling.status.success(), "{}", stderr(&sibling));
    let script = "touch up; while [ ! -e go ]; do sleep 0.05; done; grep Cap /proc/self/status; id -u; \
                  for at in / /given $JRUN_RUNS_DIR $JRUN_RUNS_DIR/*/output.md; do touch $at/x 2>&1; done; \
                  echo fine > $HOME/x && echo fine > /tmp/x && cat $HOME/x; ip link | grep -c eth0";
    let args =
        ["run", "--project", "api", "--task", "fix", "--role", "r", "--wrap", "--", "sh", "-c", script];
    let child = dock.jackin(&args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let up = dock.workspace().join("up");
    eventually("the agent is up", || up.exists());
    let seen = inspect(&dock.root());
    let host = &seen["HostConfig"];
    assert_eq!(host["CapDrop"], serde_json::json!(["ALL"]));
    assert_eq!((&host["CapAdd"], &host["Privileged"]), (&Value::Null, &false.into()));
    assert_eq!(host["SecurityOpt"], serde_json::json!(["no-new-privileges"]));
    assert_eq!((&host["Memory"], &host["MemorySwap"]), (&(64 << 20).into(), &(64 << 20).into()));
    assert_eq!((&host["NanoCpus"], &host["PidsLimit"]), (&500_000_000.into(), &50.into()));
    assert_eq!((&host["ReadonlyRootfs"], &host["NetworkMode"]), (&true.into(), &"none".into()));
    let own = std::fs::metadata(dock.scene.dir()).unwrap();
    assert_eq!(seen["Config"]["User"], format!("{}:{}", own.uid(), own.gid()));
    let labels = &seen["Config"]["Labels"];
    assert_eq!(labels["jackin.run"], dock.last().info.run_id.as_str());
    assert_eq!((&labels["jackin.role"], &labels["jackin.instance"]), (&"r".into(), &Value::Null));
    assert!(!seen.to_string().contains("docker.sock"), "it has no engine of its own");
    std::fs::write(dock.workspace().join("go"), "").unwrap();
    let output = child.wait_with_output().unwrap();
    let said = text(dock.last().layout.stdout());
    assert!(
        said.contains("CapEff:\t0000000000000000") && said.contains("CapBnd:\t0000000000000000"),
        "{said}"
    );
    let refused = said.lines().filter(|line| line.starts_with("touch:")).count();
    assert!(refused >= 4, "{said}{}", stderr(&output));
    assert!(said.contains("\nfine\n") && said.ends_with("\n0\n"), "{said}");
    assert_eq!(dock.left(), Vec::<String>::new());
}

#[test]
fn what_it_prints_is_kept_as_it_comes_and_its_input_may_be_large() {
    let Some(dock) = Dock::new() else { return };
    let prompt = "a line of a long prompt\n".repeat(100_000);
    std::fs::write(dock.scene.dir().join("prompt"), &prompt).unwrap();
    let file = dock.scene.dir().join("prompt");
    let script = "echo up; while [ ! -e go ]; do sleep 0.05; done; tail -n 100000 | md5sum";
    let child = dock
        .command(script, &["--prompt-file", file.to_str().unwrap()])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    eventually("what it printed is in the file", || {
        let run = dock.store().find("last");
        run.is_ok_and(|run| text(run.layout.stdout()) == "up\n" && run.info.status == RunStatus::Running)
    });
    std::fs::write(dock.workspace().join("go"), "").unwrap();
    let output = child.wait_with_output().unwrap();
    let expected = Command::new("md5sum").arg(&file).output().unwrap();
    let sum = |output: &Output| stdout(output).lines().last().unwrap_or_default()[..32].to_owned();
    assert_eq!(sum(&output), sum(&expected));

    // One that reads nothing of it, and one that is given nothing.
    let output = dock.run("echo none", &["--prompt-file", file.to_str().unwrap()]);
    assert_eq!((output.status.code(), stdout(&output).as_str()), (Some(0), "none\n"));
    let output = dock.run("cat; echo end", &[]);
    assert_eq!(stdout(&output), "end\n");
}

#[test]
fn a_structured_agent_is_understood_and_tells_its_version() {
    let Some(dock) = Dock::new() else { return };
    dock.configure(
        "[agents.claude]\nheadless = [\"/workspace/claude\", \"-p\", \"{run_folder}\", \"{cwd}\"]\n",
    );
    let said = r#"{"type":"assistant","message":{"id":"m1","content":[{"type":"text","text":"Hello <jackin:link>https://example.com/</jackin:link>"}]},"parent_tool_use_id":null}"#;
    // It goes on until it was asked for its version.
    let script = format!(
        "#!/bin/sh\nif [ \"$*\" = --version ]; then echo '9.9 (Robot)'; echo more; touch asked; exit; fi\n\
         echo \"$@\" > args\ncat <<'E'\n{said}\nE\nwhile [ ! -e asked ]; do sleep 0.05; done; sleep 0.5\n"
    );
    let program = dock.workspace().join("claude");
    std::fs::write(&program, script).unwrap();
    Command::new("chmod").args(["755", program.to_str().unwrap()]).status().unwrap();
    let args = [
        "run",
        "--project",
        "api",
        "--task",
        "fix",
        "--image",
        dock.image,
        "--agent",
        "claude",
        "--prompt",
        "x",
    ];
    let output = dock.jackin(&args).output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    let run = dock.last();
    assert_eq!(run.info.agent_version, "9.9 (Robot)");
    assert_eq!(run.info.tags["link"], ["https://example.com/"]);
    assert!(text(run.layout.output()).starts_with("Hello "));
    let folder = run.info.container.unwrap().folder;
    assert_eq!(text(dock.workspace().join("args")), format!("-p {folder} /workspace\n"));
}

#[test]
fn several_at_a_time() {
    let Some(dock) = Dock::new() else { return };
    let prompts: Vec<String> = (0..6).map(|n| format!("prompt {n}")).collect();
    let file = dock.scene.dir().join("prompts");
    std::fs::write(&file, prompts.join("\n")).unwrap();
    dock.configure("[agents.robot]\ncommand = [\"sh\", \"-c\", \"tail -n 1\"]\n");
    let args = [
        "run",
        "--project",
        "api",
        "--task",
        "fix",
        "--image",
        dock.image,
        "--agent",
        "robot",
        "--parallel",
        "3",
        "--prompt-file",
    ];
    let output = dock.jackin(&args).arg(&file).output().unwrap();
    assert!(stderr(&output).ends_with("[jackin] 6 of 6 runs done, 0 failed\n"), "{}", stderr(&output));
    let (runs, bad) = dock.store().runs().unwrap();
    assert!(bad.is_empty());
    let mut told: Vec<String> = runs.iter().map(|run| text(run.layout.output())).collect();
    told.sort();
    assert_eq!(told, prompts);
    assert!(runs.iter().all(|run| files(&run.layout) == FILES && run.info.warnings.is_empty()));
    assert_eq!(dock.left(), Vec::<String>::new());
}

#[test]
fn the_files_of_an_operator_who_is_not_root_are_the_operator_s() {
    let Some(dock) = Dock::new() else { return };
    const UID: u32 = 4323;
    let Ok(socket) = std::fs::metadata("/var/run/docker.sock") else { return };
    // The program may be below a directory that only root can enter.
    let (jackin, home) = (dock.scene.dir().join("jackin"), dock.scene.dir().join("home"));
    std::fs::copy(JACKIN, &jackin).unwrap();
    std::fs::create_dir(&home).unwrap();
    for path in [dock.scene.dir(), &home, &dock.workspace()] {
        if std::os::unix::fs::chown(path, Some(UID), Some(UID)).is_err() {
            eprintln!("skipped: only root can become another user");
            return;
        }
    }
    let script = "id -u; echo x > made; echo y > $JRUN_RUN_FOLDER/output.md; echo z > $HOME/z && cat $HOME/z";
    let mut setpriv = Command::new("setpriv");
    setpriv.args(["--reuid", &UID.to_string(), "--regid", &UID.to_string()]);
    setpriv.args(["--groups", &socket.gid().to_string()]).arg(&jackin);
    let args = [
        "run",
        "--project",
        "api",
        "--task",
        "fix",
        "--image",
        dock.image,
        "--wrap",
        "--",
        "sh",
        "-c",
        script,
    ];
    let output = setpriv
        .args(args)
        .env("JACKIN_HOME", &home)
        .env("HOME", &home)
        .env("ANTHROPIC_API_KEY", "x")
        .current_dir(dock.workspace())
        .output()
        .unwrap();
    take_away(&home.join("runs"));
    assert!(output.status.success(), "{}", stderr(&output));
    let run = Store::new(home.join("runs")).unwrap().find("last").unwrap();
    assert_eq!(text(run.layout.stdout()), format!("{UID}\nz\n"));
    for path in [run.layout.output(), run.layout.info(), dock.workspace().join("made")] {
        assert_eq!(std::fs::metadata(&path).unwrap().uid(), UID, "{}", path.display());
    }
}

#[test]
fn what_an_agent_puts_in_the_place_of_a_file_leads_nowhere() {
    let Some(dock) = Dock::new() else { return };
    let secret = dock.scene.dir().join("secret");
    std::fs::write(&secret, "the operator's secret\n").unwrap();
    // In the container these lead nowhere; on this machine they would.
    let script = format!(
        "cd $JRUN_RUN_FOLDER; for file in agent-stderr.txt agent-stdout.txt output.md; do \
         rm -f $file; ln -s {} $file; done; exit 3",
        secret.display()
    );
    let output = dock.run(&script, &[]);
    assert_eq!(output.status.code(), Some(3));
    let run = dock.last();
    let told = text(run.layout.info()) + &stdout(&output) + &stderr(&output);
    assert!(!told.contains("secret\n") && !told.contains("the operator's secret"), "{told}");
    assert_eq!(text(&secret), "the operator's secret\n");
    assert!(!run.layout.output().is_symlink());
}
