//! Formats of which no recording is known, or none that shows a question. The lines here are modelled on the agents'
//! documentation and sources, not recorded.

use jackin_status::{Replay, Runtime};

fn timeline(runtime: Runtime, lines: &str) -> Vec<String> {
    let mut told = Vec::new();
    let mut replay = Replay::new(runtime);
    replay.feed(lines.as_bytes(), |change| told.push(format!("{} {}", change.line, change.status)));
    replay.finish(|change| told.push(format!("{} {}", change.line, change.status)));
    assert_eq!(replay.tally().broken, 0);
    told
}

#[test]
fn claude_hooks() {
    let lines = r#"{"hook_event_name":"SessionStart","source":"startup","session_id":"s"}
{"hook_event_name":"UserPromptSubmit","prompt":"x"}
{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_use_id":"t1","tool_input":{"command":"make"}}
{"hook_event_name":"PreToolUse","tool_name":"Read","tool_use_id":"t2","tool_input":{"file_path":"a"}}
{"hook_event_name":"PermissionRequest","tool_name":"Bash","tool_input":{"command":"make"}}
{"hook_event_name":"PostToolUse","tool_name":"Read","tool_use_id":"t2"}
{"hook_event_name":"Notification","notification_type":"permission_prompt","message":"Claude needs your permission"}
{"hook_event_name":"PostToolUse","tool_name":"Bash","tool_use_id":"t1"}
{"hook_event_name":"PreToolUse","tool_name":"AskUserQuestion","tool_use_id":"t3","tool_input":{"questions":[{"question":"Which one?"}]}}
{"hook_event_name":"PostToolUse","tool_name":"AskUserQuestion","tool_use_id":"t3"}
{"hook_event_name":"PostToolUse","tool_name":"Bash","tool_use_id":"t9","agent_id":"a1"}
{"hook_event_name":"Stop","last_assistant_message":"done"}
{"hook_event_name":"UserPromptSubmit","prompt":"y"}
{"hook_event_name":"StopFailure","error":"rate_limit"}
"#;
    assert_eq!(
        timeline(Runtime::ClaudeHooks, lines),
        [
            "1 idle",
            "2 busy",
            "5 question: Allow Bash: make?",
            "8 busy",
            "9 question: Which one?",
            "10 busy",
            "12 idle",
            "13 busy",
            "14 idle (last turn failed: rate_limit)"
        ]
    );
}

#[test]
fn a_permission_request_inside_a_sub_agent_asks_the_operator_too() {
    let lines = r#"{"hook_event_name":"UserPromptSubmit"}
{"hook_event_name":"SubagentStart","agent_id":"a1"}
{"hook_event_name":"PermissionRequest","agent_id":"a1","tool_name":"Bash","tool_input":{"command":"make"}}
{"hook_event_name":"PostToolUse","agent_id":"a1","tool_name":"Bash","tool_use_id":"t"}
{"hook_event_name":"Stop","agent_id":"a1"}
{"hook_event_name":"SubagentStop","agent_id":"a1"}
{"hook_event_name":"Stop"}
"#;
    let told = timeline(Runtime::ClaudeHooks, lines);
    assert_eq!(told, ["1 busy", "3 question: Allow Bash: make?", "4 busy", "7 idle"]);
}

#[test]
fn notifications_stand_in_for_hooks_that_are_not_set_up() {
    let lines = r#"{"hook_event_name":"UserPromptSubmit"}
{"hook_event_name":"Notification","notification_type":"permission_prompt","message":"Claude needs your permission to use Bash"}
{"hook_event_name":"Notification","notification_type":"idle_prompt","message":"Claude is waiting for your input"}
"#;
    let told = timeline(Runtime::ClaudeHooks, lines);
    assert_eq!(told, ["1 busy", "2 question: Claude needs your permission to use Bash", "3 idle"]);
}

#[test]
fn codex_hooks_and_notify() {
    let lines = r#"{"hook_event_name":"UserPromptSubmit","turn_id":"1","model":"m"}
{"hook_event_name":"PermissionRequest","tool_name":"shell","tool_input":{"command":"make"}}
{"hook_event_name":"PostToolUse","tool_name":"shell"}
{"hook_event_name":"Stop","last_assistant_message":"done"}
"#;
    let told = timeline(Runtime::CodexHooks, lines);
    assert_eq!(told, ["1 busy", "2 question: Allow shell: make?", "3 busy", "4 idle"]);
    let notice =
        r#"{"type":"agent-turn-complete","thread-id":"t","turn-id":"1","last-assistant-message":"done"}"#;
    assert_eq!(timeline(Runtime::CodexNotify, notice), ["1 idle"]);
}

#[test]
fn claude_session_state_and_stream_questions() {
    let lines = r#"{"type":"system","subtype":"session_state_changed","state":"running"}
{"type":"system","subtype":"session_state_changed","state":"requires_action"}
{"type":"system","subtype":"session_state_changed","state":"running"}
{"type":"control_request","request_id":"r1","request":{"subtype":"can_use_tool","tool_name":"AskUserQuestion","tool_use_id":"t","input":{"questions":[{"question":"Which one?","header":"H"}]}}}
{"type":"system","subtype":"session_state_changed","state":"requires_action"}
{"type":"control_cancel_request","request_id":"r1"}
{"type":"control_request","request_id":"r2","request":{"subtype":"hook_callback"}}
{"type":"control_request","request_id":"r3","request":{"subtype":"can_use_tool","tool_name":"ExitPlanMode","tool_use_id":"t2","input":{"plan":"1."}}}
{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t2","content":"ok"}]}}
{"type":"system","subtype":"session_state_changed","state":"idle"}
"#;
    assert_eq!(
        timeline(Runtime::ClaudeStream, lines),
        [
            "1 busy",
            "2 question",
            "3 busy",
            "4 question: Which one?",
            "6 busy",
            "8 question: Approve the plan?",
            "9 busy",
            "10 idle"
        ]
    );
}

#[test]
fn codex_app_server() {
    let lines = r#"{"method":"thread/started","params":{"thread":{"id":"t1"}}}
{"method":"thread/status/changed","params":{"threadId":"t1","status":{"type":"active","activeFlags":[]}}}
{"method":"turn/started","params":{"threadId":"t1","turn":{"id":"1","status":"inProgress"}}}
{"id":7,"method":"item/commandExecution/requestApproval","params":{"threadId":"t1","itemId":"i1","command":"make"}}
{"method":"thread/status/changed","params":{"threadId":"t1","status":{"type":"active","activeFlags":["waitingOnApproval"]}}}
{"method":"thread/started","params":{"thread":{"id":"sub"}}}
{"method":"thread/status/changed","params":{"threadId":"sub","status":{"type":"idle"}}}
{"method":"serverRequest/resolved","params":{"threadId":"t1","requestId":7}}
{"method":"thread/status/changed","params":{"threadId":"t1","status":{"type":"active","activeFlags":["waitingOnUserInput"]}}}
{"method":"thread/status/changed","params":{"threadId":"t1","status":{"type":"active","activeFlags":[]}}}
{"id":"8","method":"item/tool/requestUserInput","params":{"threadId":"t1","itemId":"i2","questions":[{"question":"Which?"}],"isBlocking":false}}
{"id":"9","method":"item/tool/requestUserInput","params":{"threadId":"t1","itemId":"i2","questions":[{"question":"Which?"}]}}
{"id":"9","result":{}}
{"method":"error","params":{"threadId":"t1","error":{"message":"again"},"willRetry":true}}
{"method":"turn/completed","params":{"threadId":"t1","turn":{"status":"failed","error":{"message":"no quota"}}}}
{"method":"thread/status/changed","params":{"threadId":"t1","status":{"type":"idle"}}}
"#;
    assert_eq!(
        timeline(Runtime::CodexAppServer, lines),
        [
            "2 busy",
            "4 question: Allow command: make?",
            "8 busy",
            "9 question",
            "10 busy",
            "12 question: Which?",
            "13 busy",
            "15 idle (last turn failed: no quota)"
        ]
    );
}

#[test]
fn gemini_hooks_and_chat() {
    let lines = r#"{"hook_event_name":"SessionStart","session_id":"s"}
{"hook_event_name":"BeforeAgent","prompt":"x"}
{"hook_event_name":"Notification","notification_type":"ToolPermission","message":"Allow execution of: make?"}
{"hook_event_name":"BeforeTool","tool_name":"run_shell_command"}
{"hook_event_name":"AfterTool","tool_name":"run_shell_command"}
{"hook_event_name":"AfterAgent","prompt_response":"done"}
"#;
    let told = timeline(Runtime::GeminiHooks, lines);
    assert_eq!(told, ["1 idle", "2 busy", "3 question: Allow execution of: make?", "4 busy", "6 idle"]);
    let lines = r#"{"sessionId":"s","projectHash":"h","startTime":"2026-01-15T10:00:00.000Z"}
{"id":"1","timestamp":"2026-01-15T10:00:01.000Z","type":"user","content":"x"}
{"id":"2","timestamp":"2026-01-15T10:00:02.000Z","type":"gemini","content":"look","toolCalls":[{"id":"c","name":"ls","status":"executing"}]}
{"id":"2","timestamp":"2026-01-15T10:05:02.000Z","type":"gemini","content":"looked","toolCalls":[{"id":"c","name":"ls","status":"success"}]}
{"id":"3","timestamp":"2026-01-15T10:05:03.000Z","type":"gemini","content":[{"text":"done"}]}
{"id":"4","timestamp":"2026-01-15T10:06:03.000Z","type":"user","content":"y"}
"#;
    // Nothing tells the turn's end; after the last word it is not known.
    assert_eq!(timeline(Runtime::GeminiChat, lines), ["2 busy", "5 unknown", "6 busy"]);
}

#[test]
fn opencode_questions_and_sub_agents() {
    let lines = r#"data: {"type":"session.status","properties":{"sessionID":"s","status":{"type":"busy"}}}

data: {"type":"permission.asked","properties":{"id":"p1","sessionID":"s","permission":"bash","patterns":["make *"]}}

data: {"type":"session.status","properties":{"sessionID":"s","status":{"type":"busy"}}}

data: {"type":"permission.replied","properties":{"sessionID":"s","requestID":"p1","reply":"once"}}

: heartbeat
data: {"type":"session.created","properties":{"info":{"id":"child","parentID":"s"}}}

data: {"type":"session.status","properties":{"sessionID":"child","status":{"type":"idle"}}}

data: {"type":"question.asked","properties":{"id":"q1","sessionID":"s","questions":[{"question":"Which one?"}]}}

data: {"type":"question.rejected","properties":{"sessionID":"s","requestID":"q1"}}

data: {"type":"session.status","properties":{"sessionID":"s","status":{"type":"retry","attempt":1,"message":"m"}}}

data: {"type":"session.error","properties":{"sessionID":"s","error":{"name":"APIError","data":{"message":"gateway timeout"}}}}

data: {"type":"session.idle","properties":{"sessionID":"s"}}
"#;
    assert_eq!(
        timeline(Runtime::OpenCodeSse, lines),
        [
            "1 busy",
            "3 question: Allow bash: make *?",
            "7 busy",
            "14 question: Which one?",
            "16 busy",
            "20 idle (last turn failed: gateway timeout)"
        ]
    );
}

#[test]
fn amp_threads_and_lone_errors() {
    let thread = |messages: &str| format!("{{\n  \"id\": \"T-1\",\n  \"messages\": [{messages}]\n}}");
    let user = r#"{"role":"user","content":[]}"#;
    let told = |messages: &str| timeline(Runtime::AmpThread, &thread(messages));
    assert_eq!(told(user), ["1 busy"]);
    let running = format!(r#"{user},{{"role":"assistant","state":{{"type":"running"}}}}"#);
    assert_eq!(told(&running), ["1 busy"]);
    let tool =
        format!(r#"{user},{{"role":"assistant","state":{{"type":"complete","stopReason":"tool_use"}}}}"#);
    assert_eq!(told(&tool), ["1 busy"]);
    let done =
        format!(r#"{user},{{"role":"assistant","state":{{"type":"complete","stopReason":"end_turn"}}}}"#);
    assert_eq!(told(&done), ["1 idle"]);
    let alone =
        r#"{"type":"result","subtype":"error_during_execution","is_error":true,"error":"no credits"}"#;
    assert_eq!(timeline(Runtime::AmpStream, alone), ["1 idle (last turn failed: no credits)"]);
}

#[test]
fn claude_transcript_of_a_newer_version() {
    let lines = r#"{"type":"user","sessionId":"s","timestamp":"2026-08-01T10:00:00.000Z","message":{"role":"user","content":"x"}}
{"type":"assistant","sessionId":"s","timestamp":"2026-08-01T10:00:01.000Z","message":{"id":"m1","role":"assistant","stop_reason":"end_turn","content":[{"type":"thinking","thinking":""}]}}
{"type":"assistant","sessionId":"s","timestamp":"2026-08-01T10:00:01.000Z","message":{"id":"m1","role":"assistant","stop_reason":"end_turn","content":[{"type":"text","text":"done"}]}}
{"type":"system","subtype":"turn_duration","timestamp":"2026-08-01T10:00:01.500Z","durationMs":1500}
{"type":"user","isSidechain":true,"timestamp":"2026-08-01T10:00:02.000Z","message":{"role":"user","content":"a sub-agent's prompt"}}
{"type":"user","sessionId":"s","timestamp":"2026-08-01T10:00:03.000Z","message":{"role":"user","content":"y"}}
{"type":"assistant","sessionId":"s","timestamp":"2026-08-01T10:00:04.000Z","isApiErrorMessage":true,"error":"overloaded","message":{"id":"m2","model":"<synthetic>","content":[{"type":"text","text":"API Error: 529"}]}}
"#;
    assert_eq!(
        timeline(Runtime::ClaudeTranscript, lines),
        ["1 busy", "2 idle", "6 busy", "7 idle (last turn failed: API Error: 529)"]
    );
}

#[test]
fn a_prompt_cannot_drive_the_operators_terminal() {
    let line = r#"{"type":"control_request","request_id":"r","request":{"subtype":"can_use_tool","tool_name":"Bash\u001b]0;x\u0007","input":{"command":"a\u001b[2J\nb\u0090"}}}"#;
    let told = timeline(Runtime::ClaudeStream, line);
    assert!(told[0].chars().all(|c| !c.is_control()), "{told:?}");
}

#[test]
fn half_a_surrogate_pair_costs_no_line() {
    let line = "{\"type\":\"item.completed\",\"item\":{\"id\":\"i\",\"type\":\"agent_message\",\"text\":\"\\ud83d\"}}\n";
    assert_eq!(timeline(Runtime::CodexExec, line), ["1 busy"]);
}
