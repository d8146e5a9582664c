//! Every recording replays to the timeline that was written down after reading it, and no line of it is taken for broken.
#![allow(clippy::disallowed_methods, clippy::disallowed_macros, reason = "the corpus is read in place")]

use std::fmt::Write as _;
use std::path::Path;

use jackin_core::RuntimeEvent;
use jackin_status::{LineDecoder, Replay, Runtime, Transition};

const TRANSCRIPTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/corpus/transcripts");

/// File, format, and what each line that changes the status changes it to.
const EXPECTED: [(&str, Runtime, &str); 31] = [
    // Busy from the first line: it is printed when the prompt has arrived. The sub-agent of lines 15 to 21 is over when
    // the result comes.
    ("claude/01-stream-subagent-explore-thinking.jsonl", Runtime::ClaudeStream, "1 busy\n24 idle\n"),
    (
        "claude/07-stream-api-error-result.jsonl",
        Runtime::ClaudeStream,
        "1 busy\n4 idle (last turn failed: There's an issue with the selected model (does-not-exist-model). It may not \
         exist or you may not have access to it. Run --model to pick a different model.)\n",
    ),
    (
        "claude/09-control-request-can-use-tool.jsonl",
        Runtime::ClaudeStream,
        "1 question: Allow Edit: /home/meawoppl/repos/cc-proxy/proxy/src/ui.rs?\n",
    ),
    // Pieces of several sessions one after the other: lines 10 and 11 are tool results of one that works, line 12 is a
    // sub-agent's.
    ("claude/10-stream-tool-use-captures.jsonl", Runtime::ClaudeStream, "1 busy\n8 idle\n10 busy\n"),
    ("claude/11-stream-raw-2025-08.jsonl", Runtime::ClaudeStream, "1 idle\n2 busy\n4 idle\n"),
    // This version never says that a turn is over. Line 3 comes 11 minutes after line 2, and line 4 13 seconds after
    // line 3, the agent's last word.
    (
        "claude/12-disk-continue-ls-tool-v1.0.56.jsonl",
        Runtime::ClaudeTranscript,
        "2 busy\n2 unknown\n3 busy\n3 unknown\n4 busy\n",
    ),
    // Ends in the middle of a tool call.
    ("claude/15-disk-task-sdk-v1.0.71.jsonl", Runtime::ClaudeTranscript, "3 busy\n"),
    // The permission dialog cannot be told from a running tool; line 6 is its rejection, line 9 is /exit.
    ("claude/17-disk-at-bash-permission-dialog-v2.1.29.jsonl", Runtime::ClaudeTranscript, "2 busy\n6 idle\n"),
    // Two turns without a word about their end, then /compact, whose boundary is an end.
    ("claude/19-disk-compact-command-v2.1.29.jsonl", Runtime::ClaudeTranscript, "2 busy\n11 idle\n"),
    ("claude/20-stream-normalized-v2.1.12.jsonl", Runtime::ClaudeStream, "1 busy\n3 idle\n"),
    (
        "claude/21-disk-plan-mode-v2.1.12.jsonl",
        Runtime::ClaudeTranscript,
        "3 busy\n5 question: Approve the plan?\n6 busy\n",
    ),
    // Interrupted at line 13; lines 14 and 15 are /model.
    ("claude/22-disk-short-with-terminal-v2.1.jsonl", Runtime::ClaudeTranscript, "4 busy\n13 idle\n"),
    (
        "claude/23-disk-tool-heavy-with-terminal.jsonl",
        Runtime::ClaudeTranscript,
        "4 busy\n18 idle\n26 busy\n39 idle\n",
    ),
    // Lines 1 and 2 are the command /init and what it expands to; the answer begins at line 3 and says end_turn at 29.
    ("claude/25-disk-viewer-sample.jsonl", Runtime::ClaudeTranscript, "3 busy\n29 idle\n"),
    ("codex/01-exec-hello-world.jsonl", Runtime::CodexExec, "2 busy\n5 idle\n"),
    ("codex/02-exec-failed-command.jsonl", Runtime::CodexExec, "2 busy\n8 idle\n"),
    ("codex/03-exec-file-change.jsonl", Runtime::CodexExec, "2 busy\n12 idle\n"),
    ("codex/04-exec-file-create.jsonl", Runtime::CodexExec, "2 busy\n8 idle\n"),
    ("codex/05-exec-list-files.jsonl", Runtime::CodexExec, "2 busy\n8 idle\n"),
    ("codex/07-exec-v0142-edit.jsonl", Runtime::CodexExec, "2 busy\n25 idle\n"),
    ("codex/08-exec-v0142-plan.jsonl", Runtime::CodexExec, "2 busy\n35 idle\n"),
    // The error of line 3 could be one that is tried again; line 4 is the end.
    (
        "codex/11-exec-usage-limit-error.jsonl",
        Runtime::CodexExec,
        "2 busy\n4 idle (last turn failed: You've hit your usage limit. Upgrade to Pro \
         (https://chatgpt.com/explore/pro), visit https://chatgpt.com/codex/settings/usage to purchase more credits or \
         try again at Aug 31st, 2026 7:08 AM.)\n",
    ),
    ("codex/12-rollout-short-redacted.jsonl", Runtime::CodexRollout, "8 busy\n"),
    ("codex/14-rollout-larger-redacted.jsonl", Runtime::CodexRollout, "8 busy\n417 idle\n"),
    ("amp/90-synthetic-untether-success.jsonl", Runtime::AmpStream, "1 busy\n5 idle\n"),
    (
        "amp/91-synthetic-untether-error.jsonl",
        Runtime::AmpStream,
        "1 busy\n2 idle (last turn failed: Authentication failed)\n",
    ),
    // The loop is a warning.
    ("gemini/02-official-snapshot-loop-detected.jsonl", Runtime::GeminiStream, "1 busy\n4 idle\n"),
    ("gemini/04-official-snapshot-tool-use.jsonl", Runtime::GeminiStream, "1 busy\n7 idle\n"),
    ("gemini/05-official-docs-example.jsonl", Runtime::GeminiStream, "1 busy\n6 idle\n"),
    ("gemini/90-synthetic-untether-success.jsonl", Runtime::GeminiStream, "1 busy\n7 idle\n"),
    // An error and no result: what follows is the process's exit, which is not in the stream.
    ("gemini/91-synthetic-untether-error.jsonl", Runtime::GeminiStream, "1 busy\n"),
];

const EXPECTED_OPENCODE: [(&str, Runtime, &str); 3] = [
    // Busy is said three times in between, the last time a line before idle.
    ("opencode/01-sse-event-stream-v1.18.5.jsonl", Runtime::OpenCodeSse, "6 busy\n34 idle\n"),
    ("opencode/03-run-format-json-bash.jsonl", Runtime::OpenCodeRun, "1 busy\n6 idle\n"),
    (
        "opencode/90-synthetic-run-with-error.jsonl",
        Runtime::OpenCodeRun,
        "1 busy\n4 idle\n5 idle (last turn failed: Upstream timeout while calling provider)\n",
    ),
];

fn expected() -> impl Iterator<Item = (&'static str, Runtime, &'static str)> {
    EXPECTED.into_iter().chain(EXPECTED_OPENCODE)
}

fn read(file: &str) -> Option<Vec<u8>> {
    let bytes = std::fs::read(Path::new(TRANSCRIPTS).join(file)).ok();
    if bytes.is_none() {
        println!("skipped: corpus missing");
    }
    bytes
}

/// The timeline of a recording that comes in pieces of `chunk` bytes.
fn timeline(runtime: Runtime, bytes: &[u8], chunk: usize) -> (String, Replay) {
    let mut told = String::new();
    let mut replay = Replay::new(runtime);
    let mut tell = |transition: Transition| {
        writeln!(told, "{} {}", transition.line, transition.status).unwrap();
    };
    for piece in bytes.chunks(chunk) {
        replay.feed(piece, &mut tell);
    }
    replay.finish(&mut tell);
    (told, replay)
}

#[test]
fn every_transcript_of_the_corpus() {
    for (file, runtime, expected) in expected() {
        let Some(bytes) = read(file) else { return };
        for chunk in [bytes.len(), 7] {
            let (told, replay) = timeline(runtime, &bytes, chunk);
            assert_eq!(told, expected, "{file}");
            let tally = replay.tally();
            assert_eq!((tally.broken, tally.oversized), (0, 0), "{file}");
            let lines = bytes.split(|b| *b == b'\n').filter(|line| !line.is_empty()).count();
            assert_eq!(tally.lines, lines as u64, "{file}");
        }
    }
}

#[test]
fn no_transcript_is_left_out() {
    let Ok(agents) = std::fs::read_dir(TRANSCRIPTS) else {
        println!("skipped: corpus missing");
        return;
    };
    for agent in agents {
        let agent = agent.unwrap();
        for file in std::fs::read_dir(agent.path()).unwrap() {
            let name = format!("{}/{}", agent.file_name().display(), file.unwrap().file_name().display());
            let known = expected().any(|(file, ..)| file == name) || name.ends_with(".terminal.txt");
            assert!(known, "write down what {name} must give");
        }
    }
}

/// The assistant's words of a recording, message by message.
fn words(runtime: Runtime, bytes: &[u8]) -> Vec<String> {
    let mut open: Vec<(String, String)> = Vec::new();
    let mut whole = Vec::new();
    LineDecoder::new(runtime.decoder()).feed(bytes, |decoded| {
        for event in decoded.events.drain(..) {
            let RuntimeEvent::AssistantText { message_id, chunk, end } = event else { continue };
            let at = open.iter().position(|(id, _)| *id == message_id).unwrap_or_else(|| {
                open.push((message_id, String::new()));
                open.len() - 1
            });
            open[at].1.push_str(&chunk);
            if end {
                whole.push(open.remove(at).1);
            }
        }
    });
    assert!(open.is_empty(), "messages that nobody ended: {open:?}");
    whole
}

#[test]
fn the_assistants_words_and_no_others() {
    for (file, runtime, expected) in [
        (
            "claude/01-stream-subagent-explore-thinking.jsonl",
            Runtime::ClaudeStream,
            &[
                "I'll launch an Explore subagent to count the `.rs` files in that directory.",
                "There are **21** `.rs` files in `/home/meawoppl/repos/rust-code-agent-sdks/claude-codes/src`.",
            ][..],
        ),
        ("claude/07-stream-api-error-result.jsonl", Runtime::ClaudeStream, &[]),
        ("codex/01-exec-hello-world.jsonl", Runtime::CodexExec, &["hello world"]),
        ("amp/90-synthetic-untether-success.jsonl", Runtime::AmpStream, &["hello"]),
        (
            "gemini/04-official-snapshot-tool-use.jsonl",
            Runtime::GeminiStream,
            &["Thinking...", "Final answer"],
        ),
        // The prompt, "Reply with the single word: ping", and 16 pieces of reasoning are left out.
        ("opencode/01-sse-event-stream-v1.18.5.jsonl", Runtime::OpenCodeSse, &["ping"]),
        ("opencode/03-run-format-json-bash.jsonl", Runtime::OpenCodeRun, &["```\nhello\n```"]),
    ] {
        let Some(bytes) = read(file) else { return };
        assert_eq!(words(runtime, &bytes), expected, "{file}");
    }
}

#[test]
fn usage_is_what_the_agent_reported() {
    for (file, runtime, input, cached, output, cost) in [
        (
            "claude/01-stream-subagent-explore-thinking.jsonl",
            Runtime::ClaudeStream,
            4 + 7_281,
            40_618,
            576,
            Some(0.076_316_3),
        ),
        ("codex/02-exec-failed-command.jsonl", Runtime::CodexExec, 15_086 - 14_080, 14_080, 114, None),
        (
            "opencode/03-run-format-json-bash.jsonl",
            Runtime::OpenCodeRun,
            21_772 + 671,
            21_415,
            118,
            Some(0.001),
        ),
    ] {
        let Some(bytes) = read(file) else { return };
        let session = timeline(runtime, &bytes, bytes.len()).1.usage().session();
        let figures = (session.input_tokens, session.cached_tokens, session.output_tokens);
        assert_eq!(figures, (Some(input), Some(cached), Some(output)), "{file}");
        assert_eq!(session.cost_usd, cost, "{file}");
    }
}
