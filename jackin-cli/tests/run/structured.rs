//! Agents whose output tells what they do: programs with the names and the output of the real ones.

use std::path::{Path, PathBuf};

use jackin_cli::run::{Agents, RunSettings};
use jackin_core::run::RunStatus;

use crate::scene::{Scene, info, text};

/// The recordings that all of jackin is tested with.
fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/corpus/transcripts")
}

const CLAUDE: &str = r#"{"type":"system","subtype":"init","session_id":"s1","model":"opus"}
{"type":"assistant","message":{"id":"m1","content":[{"type":"text","text":"Looking."}]},"parent_tool_use_id":null}
{"type":"assistant","message":{"id":"m2","content":[{"type":"text","text":"Fixed in <jackin:pr>https://github.com/o/r/pull/7</jackin:pr>."}]},"parent_tool_use_id":null}
{"type":"result","subtype":"success","is_error":false,"result":"Fixed","total_cost_usd":0.5,"usage":{"input_tokens":10,"cache_read_input_tokens":5,"output_tokens":20}}
"#;

const CODEX: &str = r#"{"type":"thread.started","thread_id":"t"}
{"type":"turn.started"}
{"type":"item.completed","item":{"id":"i1","type":"agent_message","text":"Done."}}
{"type":"turn.completed","usage":{"input_tokens":30,"cached_input_tokens":10,"output_tokens":4}}
"#;

const GEMINI: &str = r#"{"type":"init","session_id":"s","model":"pro"}
{"type":"message","role":"assistant","content":"Hel","delta":true}
{"type":"message","role":"assistant","content":"lo.","delta":true}
{"type":"result","status":"success","stats":{"input_tokens":3,"output_tokens":2}}
"#;

/// A program that checks its arguments, swallows the prompt and prints a recording.
fn agent(scene: &mut Scene, name: &str, arguments: &str, recording: &str) {
    let file = scene.dir().join(format!("{name}.jsonl"));
    std::fs::write(&file, recording).unwrap();
    let script = format!(
        "if [ \"$*\" = --version ]; then echo '{name} 1.2.3 (test)'; exit; fi\n\
         [ \"$*\" = '{arguments}' ] || {{ echo \"unexpected: $*\" >&2; exit 64; }}\n\
         cat > {name}.prompt\ncat {}\n",
        file.display()
    );
    scene.program(name, &script);
}

#[tokio::test]
async fn the_three_that_are_known_run_by_their_own_command_lines() {
    let mut scene = Scene::new();
    agent(&mut scene, "claude", "-p --output-format stream-json --verbose", CLAUDE);
    agent(&mut scene, "codex", "exec --json -", CODEX);
    agent(&mut scene, "gemini", "--output-format stream-json", GEMINI);
    let agents = Agents::new(&RunSettings::default());
    for (name, said) in [
        ("claude", "Fixed in <jackin:pr>https://github.com/o/r/pull/7</jackin:pr>."),
        ("codex", "Done."),
        ("gemini", "Hello."),
    ] {
        let mut request = scene.request(jackin_core::run::ScriptedAgent::new(name), "fix it");
        request.agent = agents.get(name).unwrap();
        let (run, _) = scene.run_seen(request).await;
        let record = info(&run.layout);
        assert_eq!(record.status, RunStatus::Completed, "{name}: {}", record.error_summary);
        assert_eq!(text(run.layout.output()), format!("{said}\n"));
        assert_eq!(record.agent_version, format!("{name} 1.2.3 (test)"));
        assert!(record.commandline.starts_with(name), "{}", record.commandline);
        assert!(record.pid > 0 && record.pgid == record.pid);
        assert_eq!(text(scene.dir().join(format!("{name}.prompt"))), text(run.layout.prompt()));
        assert_eq!(
            record.usage.unwrap().output_tokens,
            Some(match name {
                "claude" => 20,
                "codex" => 4,
                _ => 2,
            })
        );
        if name == "claude" {
            assert_eq!(record.tags["pr"], ["https://github.com/o/r/pull/7"]);
            assert_eq!(record.cost_usd, Some(0.5));
        }
    }
}

#[tokio::test]
async fn an_output_of_its_own_beats_its_last_words() {
    let mut scene = Scene::new();
    scene.program("claude", &format!("echo mine > \"$JRUN_RUN_FOLDER/output.md\"\ncat <<'E'\n{CLAUDE}E\n"));
    let mut request = scene.request(jackin_core::run::ScriptedAgent::new("claude"), "x");
    request.agent = Agents::new(&RunSettings::default()).get("claude").unwrap();
    let (run, _) = scene.run_seen(request).await;
    assert_eq!(text(run.layout.output()), "mine\n");
}

#[tokio::test]
async fn a_failed_turn_tells_why() {
    let mut scene = Scene::new();
    let result =
        r#"{"type":"result","subtype":"success","is_error":true,"result":"Credit balance is too low"}"#;
    scene.program("claude", &format!("echo '{result}'\nexit 1\n"));
    let mut request = scene.request(jackin_core::run::ScriptedAgent::new("claude"), "x");
    request.agent = Agents::new(&RunSettings::default()).get("claude").unwrap();
    let (run, _) = scene.run_seen(request).await;
    let record = info(&run.layout);
    assert_eq!(record.exit_code, 1);
    assert_eq!(record.error_summary, "the agent ended with exit code 1: Credit balance is too low");
    assert_eq!(text(run.layout.output()), format!("{result}\n"), "nothing was said: it is what was printed");
}

/// Every recording of a headless agent, played by a program of its name.
#[tokio::test]
async fn recordings_of_real_agents() {
    if !corpus().is_dir() {
        eprintln!("skipped: there are no recordings at {}", corpus().display());
        return;
    }
    let kinds = [("claude", "stream"), ("codex", "exec"), ("gemini", "")];
    for (agent, part) in kinds {
        let mut said = 0;
        for entry in std::fs::read_dir(corpus().join(agent)).unwrap().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            if !name.contains(part) {
                continue;
            }
            let mut scene = Scene::new();
            scene.program(agent, &format!("cat '{}'\n", entry.path().display()));
            let mut request = scene.request(jackin_core::run::ScriptedAgent::new(agent), "x");
            request.agent = Agents::new(&RunSettings::default()).get(agent).unwrap();
            let (run, _) = scene.run_seen(request).await;
            assert_eq!(info(&run.layout).status, RunStatus::Completed, "{name}");
            let printed = std::fs::read(entry.path()).unwrap();
            assert_eq!(std::fs::read(run.layout.stdout()).unwrap(), printed, "{name}");
            let output = std::fs::read(run.layout.output()).unwrap();
            said += usize::from(output != printed && !output.is_empty());
        }
        assert!(said > 0, "of no recording of {agent} the last words were known");
    }
}
