use std::fs::File;
use std::io::{self, Read, Write};
use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::{Args, Subcommand, ValueEnum};
use jackin_tags::{Finding, ParserOptions, TagParser};
use serde_json::json;

/// The commands about tags.
#[derive(Debug, Args)]
pub(super) struct TagsArgs {
    #[command(subcommand)]
    command: TagsCommand,
}

#[derive(Debug, Subcommand)]
enum TagsCommand {
    /// Print the tags in an agent's words, to test a skill or a prompt
    Parse {
        /// What the file holds
        #[arg(long, value_enum, default_value_t = Format::Text)]
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

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Format {
    /// One message of an agent
    Text,
}

/// Carries a command out.
pub(super) fn run(args: &TagsArgs) -> Result<u8> {
    let TagsCommand::Parse { from: Format::Text, json, explain, file } = &args.command;
    let mut input: Box<dyn Read> = match file.as_deref() {
        Some(path) if path.as_os_str() != "-" => {
            Box::new(File::open(path).with_context(|| format!("cannot open {}", path.display()))?)
        }
        _ => Box::new(io::stdin()),
    };
    let mut parser = TagParser::with_options(ParserOptions { explain: *explain, ..ParserOptions::default() });
    let mut findings = Vec::new();
    let mut buf = vec![0; 64 * 1024];
    loop {
        let len = input.read(&mut buf).context("cannot read the input")?;
        if len == 0 {
            parser.end_message_with(&mut |finding| findings.push(finding));
        } else {
            parser.feed_with(&buf[..len], &mut |finding| findings.push(finding));
        }
        for finding in findings.drain(..) {
            writeln!(io::stdout(), "{}", if *json { as_json(&finding) } else { as_text(&finding) })?;
        }
        if len == 0 {
            return Ok(0);
        }
    }
}

fn as_json(finding: &Finding) -> String {
    match finding {
        Finding::Tag(found) => json!({
            "kind": found.tag.kind,
            "value": found.tag.value,
            "namespace": found.tag.namespace,
            "line": found.place.line,
        }),
        Finding::Skipped(skipped) => json!({
            "skipped": skipped.reason.to_string(),
            "kind": skipped.kind,
            "value": skipped.value,
            "namespace": skipped.namespace.to_string(),
            "line": skipped.place.line,
        }),
    }
    .to_string()
}

fn as_text(finding: &Finding) -> String {
    match finding {
        Finding::Tag(found) => {
            let tag = &found.tag;
            format!("line {}: {}:{} {}", found.place.line, tag.namespace, tag.kind, tag.value)
        }
        Finding::Skipped(skipped) => {
            let kind = skipped.kind.as_deref().unwrap_or("?");
            let value = skipped.value.as_deref().map(|value| format!(" {value}")).unwrap_or_default();
            format!(
                "line {}: skipped {}:{kind}{value} ({})",
                skipped.place.line, skipped.namespace, skipped.reason
            )
        }
    }
}
