use std::fs;

use crate::scene::{Scene, corpus};
use crate::support::eventually;

const CLAUDE: &str = "initial_agent = \"claude\"\n[[agents]]\nid = \"claude\"\ndisplay = \"Claude Code\"\n";

#[test]
fn a_claude_transcript_tells_work_its_end_and_what_it_cost() {
    let Some(recording) = corpus("transcripts/claude/22-disk-short-with-terminal-v2.1.jsonl") else { return };
    let scene = Scene::new();
    scene.record(&fs::read_to_string(recording).unwrap());
    let _capsule = scene.start(CLAUDE);
    eventually("it is there", || scene.screen("1").contains("claude is here"));
    let session = scene.session(1);
    assert_eq!((&session["agent"], &session["cwd"]), (&"Claude Code".into(), &scene.path("work").into()));

    scene.tell("1", "write 1,5");
    let busy = scene.wait_for(1, "busy", "transcript");
    assert_eq!(busy["attention"], "working");
    scene.tell("1", "write 6,13");
    let idle = scene.wait_for(1, "idle", "transcript");
    assert_eq!(idle["attention"], "done", "nobody has looked");
    assert!(idle["usage"]["output_tokens"].as_u64().unwrap() > 0);
    assert!(!scene.events_named("usage-updated").is_empty());
    let causes = scene.place.ctl(&["explain"]);
    let causes = String::from_utf8(causes.stdout).unwrap();
    assert!(causes.starts_with("idle  (transcript: turn ended)\n"), "{causes}");
    assert!(causes.contains("is stronger than"), "{causes}");
}

#[test]
fn a_codex_rollout_is_found_by_its_directory() {
    let Some(recording) = corpus("transcripts/codex/14-rollout-larger-redacted.jsonl") else { return };
    let scene = Scene::new();
    scene.record(&fs::read_to_string(recording).unwrap());
    let _capsule = scene.start("initial_agent = \"codex\"\n[[agents]]\nid = \"codex\"\n");
    // Another directory's rollout, which is as new.
    let elsewhere = scene.place.dir().join("dot-codex/sessions/2026/01/02");
    fs::create_dir_all(&elsewhere).unwrap();
    let stranger = r#"{"timestamp":"2099-01-01T00:00:00Z","type":"session_meta","payload":{"cwd":"/elsewhere"}}
{"timestamp":"2099-01-01T00:00:00Z","type":"event_msg","payload":{"type":"task_started"}}
"#;
    fs::write(elsewhere.join("rollout-0.jsonl"), stranger).unwrap();
    scene.tell_and_wait("1", "run true");
    assert_ne!(scene.session(1)["cause"]["source"], "transcript");
    scene.tell("1", "write 1,9");
    scene.wait_for(1, "busy", "transcript");
    scene.tell("1", "write 10,417");
    scene.wait_for(1, "idle", "transcript");
}

const TURN: &str = r#"{"type":"user","timestamp":"T","cwd":"C","sessionId":"s","message":{"role":"user","content":"write <jackin:pr>https://github.com/a/b/pull/1</jackin:pr>"}}
{"type":"assistant","timestamp":"T","cwd":"C","sessionId":"s","message":{"id":"m1","model":"x","content":[{"type":"text","text":"Opened <jackin:pr>https://github.com/a/b/pull/7</jackin:pr>"}]}}
{"type":"system","subtype":"turn_duration","timestamp":"T","cwd":"C","sessionId":"s"}
"#;

#[test]
fn tags_are_the_assistants_words_and_no_one_elses() {
    let scene = Scene::new();
    scene.record(&TURN.replace("\"T\"", "\"2026-01-01T00:00:00Z\""));
    let _capsule = scene.start(CLAUDE);
    scene.tell("1", "write 1,3");
    eventually("the tag is there", || {
        !scene.place.ctl_json(&["tags"])["tags"].as_array().unwrap().is_empty()
    });
    let tags = scene.place.ctl_json(&["tags"]);
    assert_eq!(tags["tags"].as_array().unwrap().len(), 1, "{tags}");
    assert_eq!(tags["tags"][0]["value"], "https://github.com/a/b/pull/7");
    assert_eq!(scene.events_named("tag-observed")[0].get("plain"), None);
}

#[test]
fn two_agents_in_one_directory_are_not_mixed_up() {
    let scene = Scene::new();
    scene.record(&TURN.replace("\"T\"", "\"2026-01-01T00:00:00Z\""));
    let _capsule = scene.start(CLAUDE);
    eventually("the first is there", || scene.screen("1").contains("claude is here"));
    let created = scene.place.ctl(&["create", "--agent", "claude"]);
    assert!(created.status.success());
    eventually("the second is there", || scene.screen("2").contains("claude is here"));
    // Clocks of file systems are coarse: what happens within a second cannot be told apart.
    let started = scene.session(2)["since"].as_u64().unwrap();
    eventually("a moment passed", || now() > started + 2_500);
    scene.tell("1", "write 1,1");
    scene.wait_for(1, "busy", "transcript");
    assert_ne!(scene.session(2)["cause"]["source"], "transcript");
    let written = now();
    eventually("a moment passed", || now() > written + 2_500);
    scene.tell("2", "write 1,3");
    scene.wait_for(2, "idle", "transcript");
    assert_eq!(scene.session(1)["status"]["kind"], "busy");
    scene.tell("1", "write 2,3");
    scene.wait_for(1, "idle", "transcript");
}

#[test]
fn a_conversation_that_is_cleared_goes_on_in_another_file_and_an_old_one_is_not_read() {
    let scene = Scene::new();
    scene.record(&TURN.replace("\"T\"", "\"2026-01-01T00:00:00Z\""));
    let directory = scene.path("work").replace(|c: char| !c.is_ascii_alphanumeric(), "-");
    let directory = scene.place.dir().join("dot-claude/projects").join(directory);
    fs::create_dir_all(&directory).unwrap();
    let past = directory.join("past.jsonl");
    fs::write(&past, TURN.replace("pull/7", "pull/99").replace("\"T\"", "\"2020-01-01T00:00:00Z\"")).unwrap();
    let long_ago = std::time::SystemTime::UNIX_EPOCH;
    fs::File::options().write(true).open(&past).unwrap().set_modified(long_ago).unwrap();

    let _capsule = scene.start(CLAUDE);
    scene.tell("1", "write 1,3");
    scene.wait_for(1, "idle", "transcript");
    let tags = scene.place.ctl_json(&["tags"]).to_string();
    assert!(tags.contains("pull/7") && !tags.contains("pull/99"), "{tags}");
    scene.tell("1", "clear");
    scene.tell("1", "write 1,1");
    scene.wait_for(1, "busy", "transcript");
}

#[test]
fn without_anything_that_watches_directories_they_are_looked_at() {
    let scene = Scene::new();
    scene.record(&TURN.replace("\"T\"", "\"2026-01-01T00:00:00Z\""));
    let config = scene.path("agent.toml");
    fs::write(
        &config,
        format!("version = 1\ninstance = \"stage\"\nworkdir = {:?}\n{CLAUDE}", scene.path("work")),
    )
    .unwrap();
    let path = format!("{}:{}", scene.place.dir().display(), std::env::var("PATH").unwrap());
    let (claude, recording) = (scene.path("dot-claude"), scene.path("recording"));
    let env = [
        ("PATH", path.as_str()),
        ("CLAUDE_CONFIG_DIR", &claude),
        ("RECORDING", &recording),
        ("JACKIN_WATCH", "poll"),
    ];
    let _capsule = scene.place.daemon_with(&["--config", &config], &env);
    scene.tell("1", "write 1,1");
    scene.wait_for(1, "busy", "transcript");
    scene.tell("1", "write 2,3");
    scene.wait_for(1, "idle", "transcript");
}

fn now() -> u64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    u64::try_from(now.as_millis()).unwrap()
}
