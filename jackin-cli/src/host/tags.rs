use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use anyhow::Result;
use clap::{Args, Subcommand};
use jackin_core::{AgentTag, InstanceName, RuntimeEvent, SessionId, Timestamp};
use jackin_status::{Decoder, LineDecoder, LineSplitter, Runtime, UnknownRuntime};
use jackin_tags::{Finding, ParserOptions, SkippedTag, TagExtractor, TagParser};
use serde_json::json;

use super::ask;
use super::input::read_pieces;
use crate::capsule::print_line;

/// The commands about tags.
#[derive(Debug, Args)]
pub(super) struct TagsArgs {
    #[command(subcommand)]
    command: TagsCommand,
}

#[derive(Debug, Subcommand)]
enum TagsCommand {
    #[command(flatten)]
    Ask(ask::TagsCommand),
    /// Print the tags in an agent's words, to test a skill or a prompt
    Parse {
        /// What the file holds: `text` is one message; otherwise a recording such as claude-stream, claude-transcript,
        /// codex-exec, codex-rollout, gemini, amp or opencode
        #[arg(long, default_value = "text", value_name = "FORMAT")]
        from: Format,
        /// Print one JSON object a line
        #[arg(long)]
        json: bool,
        /// Print also what looked like a tag and why it does not count
        #[arg(long)]
        explain: bool,
        /// The file; `-` or none is standard input
        file: Option<PathBuf>,
    },
}

#[derive(Clone, Copy, Debug)]
enum Format {
    Text,
    Recording(Runtime),
}

impl FromStr for Format {
    type Err = UnknownRuntime;

    fn from_str(text: &str) -> Result<Self, UnknownRuntime> {
        if text == "text" { Ok(Self::Text) } else { text.parse().map(Self::Recording) }
    }
}

/// Carries a command out.
pub(super) fn run(args: TagsArgs) -> Outcome {
    match args.command {
        TagsCommand::Ask(command) => Outcome::Ask(command),
        TagsCommand::Parse { from, json, explain, file } => {
            let mut printer = Printer { json };
            let parsed = match from {
                Format::Text => parse_text(file.as_deref(), explain, &mut printer),
                Format::Recording(runtime) => {
                    parse_recording(runtime, file.as_deref(), explain, &mut printer)
                }
            };
            Outcome::Done(parsed.map(|()| 0))
        }
    }
}

/// What was asked for.
pub(super) enum Outcome {
    /// It was done.
    Done(Result<u8>),
    /// Something about an instance.
    Ask(ask::TagsCommand),
}

fn parse_text(file: Option<&Path>, explain: bool, printer: &mut Printer) -> Result<()> {
    let mut parser = TagParser::with_options(ParserOptions { explain, ..ParserOptions::default() });
    let mut findings = Vec::new();
    read_pieces(file, |piece| {
        parser.feed_with(piece, &mut |finding| findings.push(finding));
        findings.drain(..).try_for_each(|finding| printer.finding(&finding))
    })?;
    parser.end_message_with(&mut |finding| findings.push(finding));
    findings.iter().try_for_each(|finding| printer.finding(finding))
}

fn parse_recording(
    runtime: Runtime,
    file: Option<&Path>,
    explain: bool,
    printer: &mut Printer,
) -> Result<()> {
    let mut recording = Recording::new(runtime)?;
    let mut splitter = LineSplitter::new();
    let mut document = Vec::new();
    read_pieces(file, |piece| {
        if runtime.is_document() {
            anyhow::ensure!(
                document.len() + piece.len() <= jackin_status::MAX_LINE,
                "the file is over {} bytes",
                jackin_status::MAX_LINE
            );
            document.extend_from_slice(piece);
            return Ok(());
        }
        let mut printed = Ok(());
        splitter.feed(piece, |number, line| {
            if printed.is_ok() {
                printed = recording.line(number, line, explain, printer);
            }
        });
        printed
    })?;
    if runtime.is_document() {
        return recording.line(1, &document, explain, printer);
    }
    let mut printed = Ok(());
    splitter.finish(|number, line| printed = recording.line(number, line, explain, printer));
    printed
}

/// A recording while it is read: the extractor finds the tags; a parser for each open message tells what was skipped.
struct Recording {
    decoder: LineDecoder<Box<dyn Decoder>>,
    extractor: TagExtractor,
    open: BTreeMap<String, TagParser>,
}

impl Recording {
    fn new(runtime: Runtime) -> Result<Self> {
        let session = SessionId::new(1).expect("1 is not 0");
        Ok(Self {
            decoder: LineDecoder::new(runtime.decoder()),
            extractor: TagExtractor::new(InstanceName::new("recording")?, session),
            open: BTreeMap::new(),
        })
    }

    fn line(&mut self, number: u64, line: &[u8], explain: bool, printer: &mut Printer) -> Result<()> {
        let Self { decoder, extractor, open } = self;
        let (mut tags, mut skipped) = (Vec::new(), Vec::new());
        decoder.line(line, |decoded| {
            for event in decoded.events.iter() {
                tags.extend(extractor.handle(event, Timestamp::default()));
                if explain {
                    collect_skipped(open, event, &mut skipped);
                }
            }
        });
        tags.iter().try_for_each(|found| printer.tag(&found.tag, number))?;
        skipped.iter().try_for_each(|skipped| printer.skipped(skipped, number))
    }
}

fn collect_skipped(open: &mut BTreeMap<String, TagParser>, event: &RuntimeEvent, out: &mut Vec<SkippedTag>) {
    let RuntimeEvent::AssistantText { message_id, chunk, end } = event else { return };
    let options = ParserOptions { explain: true, ..ParserOptions::default() };
    let parser = open.entry(message_id.clone()).or_insert_with(|| TagParser::with_options(options));
    let mut sink = |finding| {
        if let Finding::Skipped(skipped) = finding {
            out.push(skipped);
        }
    };
    parser.feed_with(chunk, &mut sink);
    if *end {
        parser.end_message_with(&mut sink);
        open.remove(message_id);
    }
}

struct Printer {
    json: bool,
}

impl Printer {
    fn finding(&mut self, finding: &Finding) -> Result<()> {
        match finding {
            Finding::Tag(found) => self.tag(&found.tag, found.place.line),
            Finding::Skipped(skipped) => self.skipped(skipped, skipped.place.line),
        }
    }

    fn tag(&mut self, tag: &AgentTag, line: u64) -> Result<()> {
        let AgentTag { namespace, kind, value } = tag;
        self.print(
            || format!("line {line}: {namespace}:{kind} {value}"),
            || json!({ "kind": kind, "value": value, "namespace": namespace, "line": line }),
        )
    }

    fn skipped(&mut self, skipped: &SkippedTag, line: u64) -> Result<()> {
        let SkippedTag { namespace, kind, value, reason, .. } = skipped;
        self.print(
            || {
                let value = value.as_deref().map(|value| format!(" {value}")).unwrap_or_default();
                format!(
                    "line {line}: skipped {namespace}:{}{value} ({reason})",
                    kind.as_deref().unwrap_or("?")
                )
            },
            || {
                json!({
                    "skipped": reason.to_string(),
                    "kind": kind,
                    "value": value,
                    "namespace": namespace.to_string(),
                    "line": line,
                })
            },
        )
    }

    fn print(&self, text: impl FnOnce() -> String, json: impl FnOnce() -> serde_json::Value) -> Result<()> {
        let line = if self.json { json().to_string() } else { text() };
        print_line(&line)
    }
}
