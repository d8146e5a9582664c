//! Lines that are JSON and have the agents' own keys and words, in shapes that no agent writes: a decoder takes every
//! one of them, and none is counted as broken.
#![no_main]

use jackin_status::{LineDecoder, MAX_LINE, Runtime};
use libfuzzer_sys::fuzz_target;
use serde_json::{Map, Value};

/// Keys and words that the decoders know; the first byte of a value picks one.
const WORDS: &[&str] = &[
    "type", "subtype", "system", "init", "assistant", "user", "result", "message", "content", "text", "tool_use",
    "tool_result", "tool_use_id", "id", "name", "input", "is_error", "usage", "input_tokens", "output_tokens",
    "stream_event", "event", "message_start", "content_block_delta", "delta", "text_delta", "message_stop",
    "control_request", "request_id", "request", "can_use_tool", "tool_name", "AskUserQuestion", "questions",
    "question", "task_started", "task_id", "task_notification", "status", "completed", "session_state_changed",
    "state", "idle", "running", "requires_action", "parent_tool_use_id", "error", "errors", "stop_reason", "end_turn",
    "timestamp", "2026-02-23T12:19:42.561Z", "sessionId", "isSidechain", "isMeta", "turn_duration", "hook_event_name",
    "PreToolUse", "PostToolUse", "PermissionRequest", "Stop", "background_tasks", "Notification", "notification_type",
    "permission_prompt", "thread.started", "turn.started", "turn.completed", "turn.failed", "item.started",
    "item.completed", "item", "agent_message", "command_execution", "method", "params", "thread/status/changed",
    "threadId", "active", "activeFlags", "turn/completed", "turn", "item/agentMessage/delta", "itemId",
    "item/commandExecution/requestApproval", "serverRequest/resolved", "requestId", "payload", "session_meta",
    "event_msg", "task_complete", "response_item", "function_call", "call_id", "init", "role", "tool_id", "severity",
    "stats", "properties", "sessionID", "session.status", "busy", "session.idle", "session.error", "info", "parentID",
    "message.updated", "message.part.updated", "message.part.delta", "part", "partID", "messageID", "field",
    "permission.asked", "permission.replied", "requestID", "question.asked", "step-finish", "tokens", "cost", "cache",
    "step_start", "step_finish", "tool-calls", "messages", "complete", "stopReason", "gemini", "toolCalls", "ToolPermission",
];

fuzz_target!(|bytes: &[u8]| {
    let Some((&runtime, mut bytes)) = bytes.split_first() else { return };
    let runtime = Runtime::ALL[usize::from(runtime) % Runtime::ALL.len()];
    let mut lines = LineDecoder::new(runtime.decoder());
    let mut written = 0;
    while !bytes.is_empty() && written < 64 {
        let line = Value::Object(object(&mut bytes, 0)).to_string();
        assert!(line.len() < MAX_LINE);
        lines.line(line.as_bytes(), |decoded| assert!(!decoded.events.is_empty()));
        written += 1;
    }
    assert_eq!((lines.tally().lines, lines.tally().broken), (written, 0));
});

fn value(bytes: &mut &[u8], depth: usize) -> Value {
    let Some(byte) = next(bytes) else { return Value::Null };
    match byte {
        0..=3 => Value::Bool(byte % 2 == 0),
        4..=7 => Value::from(i64::from(byte) - 5),
        8 => Value::from(u64::MAX),
        9 => Value::from(1.5e300),
        10 => Value::Null,
        11..=60 if depth < 6 => Value::Object(object(bytes, depth + 1)),
        61..=90 if depth < 6 => (0..byte % 4).map(|_| value(bytes, depth + 1)).collect(),
        _ => Value::from(word(byte)),
    }
}

fn object(bytes: &mut &[u8], depth: usize) -> Map<String, Value> {
    let fields = next(bytes).unwrap_or_default() % 6;
    (0..fields).map(|_| (word(next(bytes).unwrap_or_default()).to_owned(), value(bytes, depth))).collect()
}

fn word(byte: u8) -> &'static str {
    WORDS[usize::from(byte) % WORDS.len()]
}

fn next(bytes: &mut &[u8]) -> Option<u8> {
    let (&first, rest) = bytes.split_first()?;
    *bytes = rest;
    Some(first)
}
