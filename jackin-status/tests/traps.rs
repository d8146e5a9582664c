//! The traps in which status displays are caught, each by its name. Lines are modelled on the agents' formats; where a
//! recording shows the trap, `recordings.rs` replays it as well.

use jackin_core::{AgentStatus, RuntimeEvent, Timestamp};
use jackin_status::{
    Authority, Channel, Evidence, LineDecoder, ProcessEnd, Progress, Replay, RuleSet, Runtime, Screen,
    ScreenSays,
};

fn timeline(runtime: Runtime, lines: &str) -> Vec<String> {
    let mut told = Vec::new();
    let mut replay = Replay::new(runtime);
    replay.feed(lines.as_bytes(), |change| told.push(format!("{} {}", change.line, change.status)));
    replay.finish(|change| told.push(format!("{} {}", change.line, change.status)));
    assert_eq!(replay.tally().broken, 0);
    told
}

/// The assistant's words, pieces of one message put together.
fn words(runtime: Runtime, lines: &str) -> Vec<(String, String)> {
    let mut messages: Vec<(String, String)> = Vec::new();
    LineDecoder::new(runtime.decoder()).feed(lines.as_bytes(), |decoded| {
        for event in decoded.events.drain(..) {
            let RuntimeEvent::AssistantText { message_id, chunk, .. } = event else { continue };
            match messages.iter_mut().find(|(id, _)| *id == message_id) {
                Some((_, text)) => text.push_str(&chunk),
                None => messages.push((message_id, chunk)),
            }
        }
    });
    messages.retain(|(_, text)| !text.is_empty());
    messages
}

fn claude(screen: &str, title: &str) -> ScreenSays {
    let screen = Screen { title: title.into(), ..Screen::from_text(screen) };
    RuleSet::builtin().verdict("claude", &screen).expect("a rule matches").says
}

const DIALOG: &str = "\n Do you want to proceed?\n ❯ 1. Yes\n   2. No\n\n Esc to cancel · Tab to amend\n";
const PROMPT: &str = "\n──────────────────────\n❯ \n──────────────────────\n  ? for shortcuts\n";

#[test]
fn trap_1_claude_a_failed_turn_can_be_called_success() {
    let told = timeline(
        Runtime::ClaudeStream,
        r#"{"type":"system","subtype":"init"}
{"type":"result","subtype":"success","is_error":true,"result":"no such model","terminal_reason":"api_error"}
{"type":"assistant","message":{"id":"m","content":[{"type":"text","text":"hi"}]},"parent_tool_use_id":null}
{"type":"result","subtype":"error_max_turns","is_error":false,"result":"as far as it got"}
"#,
    );
    assert_eq!(told, ["1 busy", "2 idle (last turn failed: no such model)", "3 busy", "4 idle"]);
}

#[test]
fn trap_2_claude_a_result_ends_a_turn_and_not_the_work() {
    let told = timeline(
        Runtime::ClaudeStream,
        r#"{"type":"system","subtype":"init"}
{"type":"system","subtype":"task_started","task_id":"t1"}
{"type":"result","subtype":"success","is_error":false}
{"type":"system","subtype":"task_notification","task_id":"t1","status":"completed"}
{"type":"assistant","message":{"id":"m","content":[{"type":"text","text":"The task is done."}]}}
{"type":"result","subtype":"success","is_error":false,"origin":{"kind":"task-notification"}}
"#,
    );
    assert_eq!(told, ["1 busy", "6 idle"]);
    let told = timeline(
        Runtime::ClaudeHooks,
        r#"{"hook_event_name":"UserPromptSubmit","prompt":"x"}
{"hook_event_name":"Stop","background_tasks":[{"id":"b1"}]}
{"hook_event_name":"Stop","background_tasks":[]}
"#,
    );
    assert_eq!(told, ["1 busy", "3 idle"]);
}

#[test]
fn trap_3_claude_the_title_looks_idle_during_a_permission_prompt() {
    assert_eq!(claude(DIALOG, "✳ fix the build"), ScreenSays::Question);
    // And alone it says nothing: not that the agent is idle.
    let screen = Screen { title: "✳ fix the build".into(), ..Screen::from_text("something unknown") };
    assert_eq!(RuleSet::builtin().verdict("claude", &screen), None);
}

#[test]
fn trap_4_claude_both_sets_of_title_glyphs_are_known() {
    for glyph in ["⠂", "⠐", "◐", "◑"] {
        assert_eq!(claude(PROMPT, &format!("{glyph} fix the build")), ScreenSays::Busy, "{glyph}");
    }
    assert_eq!(claude(PROMPT, "✳ fix the build"), ScreenSays::Idle);
}

#[test]
fn trap_5_claude_draws_words_with_cursor_moves_so_the_grid_is_matched() {
    let bytes = "✻ Baking…\r\n\r\n─────────────────────\r\n❯\r\n\x1b[3Gesc\x1b[7Gto\x1b[10Ginterrupt";
    let mut terminal = vt100::Parser::default();
    terminal.process(bytes.as_bytes());
    let rows: Vec<_> = terminal.screen().rows(0, 80).collect();
    assert!(!bytes.contains("esc to interrupt") && rows.iter().any(|row| row.contains("esc to interrupt")));
    let without_spinner = rows[1..].join("\n");
    assert_eq!(claude(&without_spinner, ""), ScreenSays::Busy);
}

#[test]
fn trap_6_codex_exec_an_error_may_be_tried_again_and_an_interruption_is_silent() {
    let lines = r#"{"type":"turn.started"}
{"type":"error","message":"stream disconnected; retrying 1/5"}
{"type":"item.completed","item":{"id":"i","type":"agent_message","text":"done"}}
{"type":"turn.completed","usage":{}}
"#;
    assert_eq!(timeline(Runtime::CodexExec, lines), ["1 busy", "4 idle"]);
    // Interrupted: the stream just ends, and the process's exit says so.
    let at = Timestamp::from_millis;
    let mut authority = Authority::for_agent(at(0));
    let event = RuntimeEvent::TurnStarted;
    authority.observe(Evidence::Runtime { channel: Channel::Stream, event }, at(1));
    assert_eq!(authority.observe(Evidence::Closed(Channel::Stream), at(2)).status.word(), "busy");
    let end = ProcessEnd { exit_code: 1, oom_killed: false, on_purpose: false };
    assert_eq!(
        authority.observe(Evidence::Process(end), at(3)).status,
        AgentStatus::Crashed { exit_code: 1 }
    );
}

#[test]
fn trap_7_codex_a_rollout_never_yields_a_question_so_the_screen_must() {
    // Whatever a request would look like in it.
    let lines = r#"{"timestamp":"2026-02-23T12:00:00.000Z","type":"event_msg","payload":{"type":"task_started"}}
{"timestamp":"2026-02-23T12:00:01.000Z","type":"event_msg","payload":{"type":"exec_approval_request","call_id":"c"}}
{"timestamp":"2026-02-23T12:00:02.000Z","type":"event_msg","payload":{"type":"request_user_input","call_id":"c"}}
"#;
    assert_eq!(timeline(Runtime::CodexRollout, lines), ["1 busy"]);
    let at = Timestamp::from_millis;
    let mut authority = Authority::for_agent(at(0));
    let event = RuntimeEvent::TurnStarted;
    authority.observe(Evidence::Runtime { channel: Channel::Transcript, event }, at(1));
    let dialog = "  Would you like to run the following command?\n\n  $ make\n\n› 1. Yes, proceed (y)\n  2. No\n\n  Press enter to confirm or esc to cancel\n";
    let look = RuleSet::builtin().look("codex", &Screen::from_text(dialog));
    authority.observe(Evidence::Screen(look), at(1_000));
    let verdict = authority.look(at(1_500));
    assert_eq!(verdict.status.to_string(), "question: Would you like to run the following command? — $ make");
}

#[test]
fn trap_8_gemini_giving_up_is_an_error_and_then_success() {
    let lines = r#"{"type":"init","session_id":"s","model":"m"}
{"type":"error","severity":"error","message":"Maximum session turns exceeded"}
{"type":"result","status":"success"}
"#;
    let told = timeline(Runtime::GeminiStream, lines);
    assert_eq!(told, ["1 busy", "3 idle (last turn failed: Maximum session turns exceeded)"]);
}

#[test]
fn trap_9_opencode_the_prompt_comes_as_the_reply_does() {
    let part = |message: &str, id: &str, text: &str| {
        format!(
            r#"data: {{"type":"message.part.updated","properties":{{"sessionID":"s","part":{{"id":"{id}","messageID":"{message}","type":"text","text":"{text}"}}}}}}"#
        )
    };
    let role = |message: &str, role: &str| {
        format!(
            r#"data: {{"type":"message.updated","properties":{{"sessionID":"s","info":{{"id":"{message}","role":"{role}"}}}}}}"#
        )
    };
    // A part that comes before its message's role is told once the role is known.
    let lines = [
        role("u", "user"),
        part("u", "p1", "<jackin:pr>prompt</jackin:pr>"),
        part("a", "p2", "re"),
        role("a", "assistant"),
        part("a", "p2", "reply"),
        part("u", "p1", "<jackin:pr>prompt</jackin:pr>"),
    ]
    .map(|line| line + "\n\n")
    .concat();
    assert_eq!(words(Runtime::OpenCodeSse, &lines), [("p2".to_owned(), "reply".to_owned())]);
}

#[test]
fn trap_10_only_the_assistants_own_words_are_told() {
    let claude = r#"{"type":"user","isReplay":true,"message":{"role":"user","content":"prompt"},"parent_tool_use_id":null}
{"type":"assistant","message":{"id":"m0","model":"<synthetic>","content":[{"type":"text","text":"synthetic"}]}}
{"type":"assistant","message":{"id":"m1","content":[{"type":"thinking","thinking":"thought"},{"type":"text","text":"mine"}]}}
{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":[{"type":"text","text":"result"}]}]}}
{"type":"assistant","parent_tool_use_id":"t","message":{"id":"m2","content":[{"type":"text","text":"a sub-agent's"}]}}
{"type":"stream_event","parent_tool_use_id":"t","event":{"type":"content_block_delta","delta":{"type":"text_delta","text":"another's"}}}
"#;
    assert_eq!(words(Runtime::ClaudeStream, claude), [("m1".to_owned(), "mine".to_owned())]);
    let amp = r#"{"type":"user","message":{"role":"user","content":[{"type":"text","text":"prompt"}]}}
{"type":"assistant","message":{"content":[{"type":"text","text":"mine"}],"stop_reason":"end_turn"}}
"#;
    assert_eq!(words(Runtime::AmpStream, amp), [("message-1".to_owned(), "mine".to_owned())]);
    let gemini = r#"{"type":"message","role":"user","content":"prompt"}
{"type":"message","role":"assistant","content":"mine","delta":true}
{"type":"tool_result","tool_id":"t","status":"success","output":"result"}
"#;
    assert_eq!(words(Runtime::GeminiStream, gemini), [("message-2".to_owned(), "mine".to_owned())]);
}

#[test]
fn trap_11_text_in_pieces_is_one_message_and_is_told_once() {
    let claude = r#"{"type":"stream_event","event":{"type":"message_start","message":{"id":"m1"}}}
{"type":"stream_event","event":{"type":"content_block_delta","delta":{"type":"text_delta","text":"<jackin:p"}}}
{"type":"stream_event","event":{"type":"content_block_delta","delta":{"type":"text_delta","text":"r>x</jackin:pr>"}}}
{"type":"assistant","message":{"id":"m1","content":[{"type":"text","text":"<jackin:pr>x</jackin:pr>"}]}}
{"type":"stream_event","event":{"type":"message_stop"}}
{"type":"result","subtype":"success","is_error":false,"result":"<jackin:pr>x</jackin:pr>"}
"#;
    let whole = [("m1".to_owned(), "<jackin:pr>x</jackin:pr>".to_owned())];
    assert_eq!(words(Runtime::ClaudeStream, claude), whole);
    let codex = r#"{"method":"item/agentMessage/delta","params":{"threadId":"t","itemId":"m1","delta":"<jackin:p"}}
{"method":"item/agentMessage/delta","params":{"threadId":"t","itemId":"m1","delta":"r>x</jackin:pr>"}}
{"method":"item/completed","params":{"threadId":"t","item":{"id":"m1","type":"agentMessage","text":"<jackin:pr>x</jackin:pr>"}}}
"#;
    assert_eq!(words(Runtime::CodexAppServer, codex), whole);
    let gemini = r#"{"type":"message","role":"assistant","content":"<jackin:p","delta":true}
{"type":"message","role":"assistant","content":"r>x</jackin:pr>","delta":true}
"#;
    assert_eq!(words(Runtime::GeminiStream, gemini).len(), 1);
    let opencode = r#"{"type":"message.updated","properties":{"info":{"id":"m","role":"assistant"}}}
{"type":"message.part.updated","properties":{"part":{"id":"m1","messageID":"m","type":"text","text":""}}}
{"type":"message.part.delta","properties":{"messageID":"m","partID":"m1","field":"text","delta":"<jackin:p"}}
{"type":"message.part.delta","properties":{"messageID":"m","partID":"m1","field":"text","delta":"r>x</jackin:pr>"}}
{"type":"message.part.updated","properties":{"part":{"id":"m1","messageID":"m","type":"text","text":"<jackin:pr>x</jackin:pr>","time":{"end":2}}}}
"#;
    assert_eq!(words(Runtime::OpenCodeSse, opencode), whole);
}

#[test]
fn progress_is_a_region_of_its_own() {
    let mut rules = RuleSet::empty();
    let rule = "[[rule]]\nname = \"p\"\nagent = \"x\"\nstatus = \"busy\"\nwhen = [{ region = \"progress\", regex = '^(percent|indeterminate)$' }]\n";
    assert_eq!(rules.add("f", rule), []);
    let screen = |progress| Screen { progress, ..Screen::default() };
    assert!(rules.verdict("x", &screen(Progress::Percent(3))).is_some());
    assert!(rules.verdict("x", &screen(Progress::None)).is_none());
}
