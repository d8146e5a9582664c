use std::fs::File;
use std::io::{self, IsTerminal, Read};
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};

/// More than any agent takes.
const MAX_PROMPT: u64 = 64 << 20;

/// Where a prompt comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Source<'a> {
    Text(&'a str),
    File(&'a Path),
    Stdin,
}

/// Reads a prompt.
pub(super) fn read(source: &Source<'_>) -> Result<String> {
    let prompt = match source {
        Source::Text(text) => (*text).to_owned(),
        Source::File(path) => {
            let file = File::open(path).with_context(|| format!("cannot read {}", path.display()))?;
            read_text(file).with_context(|| format!("cannot read {}", path.display()))?
        }
        Source::Stdin => {
            if io::stdin().is_terminal() {
                bail!("the prompt is read from standard input, which is a terminal: write it with --prompt");
            }
            read_text(io::stdin()).context("cannot read the prompt from standard input")?
        }
    };
    ensure!(!prompt.trim().is_empty(), "the prompt is empty: say what to do");
    Ok(prompt)
}

fn read_text(from: impl Read) -> Result<String> {
    let mut bytes = Vec::new();
    from.take(MAX_PROMPT + 1).read_to_end(&mut bytes)?;
    ensure!(bytes.len() as u64 <= MAX_PROMPT, "it has more than {MAX_PROMPT} bytes");
    String::from_utf8(bytes).map_err(|error| anyhow::anyhow!("it is not UTF-8 text: {error}"))
}

/// The prompts of a file: what stands between lines of `---`; where there is no such line, each line that says
/// something.
pub(super) fn split(text: &str) -> Vec<String> {
    let is_rule = |line: &str| line.trim_end() == "---";
    let mut prompts = Vec::new();
    if text.lines().any(is_rule) {
        let mut prompt = String::new();
        for line in text.lines().chain(["---"]) {
            if is_rule(line) {
                prompts.push(std::mem::take(&mut prompt));
            } else {
                prompt.push_str(line);
                prompt.push('\n');
            }
        }
    } else {
        prompts.extend(text.lines().map(str::to_owned));
    }
    prompts.retain(|prompt| !prompt.trim().is_empty());
    prompts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_prompts() {
        assert_eq!(split("one\n\n two \r\n"), ["one", " two "]);
        assert_eq!(split("one\nmore\n---\n---\ntwo\n"), ["one\nmore\n", "two\n"]);
        assert!(split("\n \n---\n").is_empty());
    }

    #[test]
    fn what_is_no_text_is_refused() {
        assert!(read(&Source::Text(" \n")).unwrap_err().to_string().contains("empty"));
        assert!(read_text(&b"\xff\xfe"[..]).unwrap_err().to_string().contains("UTF-8"));
        assert!(read(&Source::File(Path::new("/does/not/exist"))).is_err());
    }
}
