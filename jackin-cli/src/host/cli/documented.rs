//! The pages of the documentation say nothing that the programs do not know.

use std::path::{Path, PathBuf};

use clap::Parser;

use super::Cli;
use crate::config::{Loaded, Paths, REFERENCE};

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

/// README, CONTRIBUTING, the crates' pages and everything in docs.
fn pages() -> Vec<(String, String)> {
    let root = repository();
    let mut files = vec![root.join("README.md"), root.join("CONTRIBUTING.md")];
    for directory in std::fs::read_dir(&root).unwrap().map(|entry| entry.unwrap().path()) {
        files.extend(Some(directory.join("README.md")).filter(|file| file.is_file()));
    }
    for file in std::fs::read_dir(root.join("docs")).unwrap().map(|entry| entry.unwrap().path()) {
        files.extend(Some(file).filter(|file| file.extension().is_some_and(|ending| ending == "md")));
    }
    files.sort();
    files.dedup();
    let name = |file: &Path| file.strip_prefix(&root).unwrap().display().to_string();
    files.iter().map(|file| (name(file), std::fs::read_to_string(file).unwrap())).collect()
}

/// The command lines of a page's `console` blocks, each with its line number.
fn command_lines(page: &str) -> Vec<(usize, String)> {
    let mut lines = Vec::new();
    let mut inside = false;
    for (number, line) in (1..).zip(page.lines()) {
        let line = line.trim_start();
        if let Some(language) = line.strip_prefix("```") {
            inside = !inside && language.split(' ').next() == Some("console");
        } else if inside && let Some(command) = line.strip_prefix("$ ") {
            lines.push((number, command.to_owned()));
        }
    }
    lines
}

/// The calls of our programs in a command line: their words, without what is left and right of them in a shell.
fn calls(line: &str) -> Vec<Vec<String>> {
    let mut calls = Vec::new();
    // Pipes and lists within quotes are not told apart: the pages have none.
    for part in line.split('|').flat_map(|part| part.split("&&")).flat_map(|part| part.split(';')) {
        let part = part.split("  #").next().unwrap_or_default().split(" # ").next().unwrap_or_default();
        let Ok(words) = shell_words::split(part.trim().trim_start_matches('(')) else { continue };
        let mut words = words.into_iter().skip_while(|word| is_assignment(word));
        // What one program does, the other does as `jackin capsule`.
        let program = match words.next().as_deref() {
            Some("jackin") => &["jackin"][..],
            Some("jackin-capsule") => &["jackin", "capsule"],
            _ => continue,
        };
        let arguments = words.take_while(|word| !word.starts_with(['>', '<']));
        calls.push(program.iter().map(|&word| word.to_owned()).chain(arguments).collect());
    }
    calls
}

fn is_assignment(word: &str) -> bool {
    word.split_once('=')
        .is_some_and(|(name, _)| name.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_'))
}

#[test]
fn every_documented_command_line_is_one() {
    let mut wrong = Vec::new();
    let mut seen = 0;
    for (page, text) in pages() {
        for (number, line) in command_lines(&text) {
            for words in calls(&line) {
                seen += 1;
                let Err(error) = Cli::try_parse_from(&words) else { continue };
                if !error.use_stderr() {
                    // --help and --version.
                    continue;
                }
                wrong.push(format!("{page}:{number}: {line}\n{error}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(seen > 50, "only {seen} command lines were found: are the pages still written as they were?");
}

#[test]
fn what_is_no_command_line_is_noticed() {
    let page = "```console run\n$ echo x | jackin tags prase --explain  # no\nout\n```\n```\n$ jackin nothing\n```\n";
    let lines = command_lines(page);
    assert_eq!(lines, [(2, "echo x | jackin tags prase --explain  # no".to_owned())]);
    let found = calls(&lines[0].1);
    assert_eq!(found, [["jackin", "tags", "prase", "--explain"]]);
    assert!(Cli::try_parse_from(&found[0]).is_err());
    assert_eq!(calls("A_B=1 jackin-capsule ctl > x"), [["jackin", "capsule", "ctl"]]);
}

#[test]
fn every_link_between_pages_leads_somewhere() {
    let mut wrong = Vec::new();
    for (page, text) in pages() {
        let mut from = repository().join(&page);
        from.pop();
        for target in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let file = target.split('#').next().unwrap_or_default();
            if file.is_empty() || file.contains("://") || from.join(file).exists() {
                continue;
            }
            wrong.push(format!("{page}: {target}"));
        }
    }
    assert!(wrong.is_empty(), "nothing is there:\n{}", wrong.join("\n"));
}

/// The reference in `docs/configuration.md` stands between these.
const BEGIN: &str = "<!-- Out of jackin-cli/src/config/reference.toml; CONTRIBUTING.md says how. -->\n\n";
const END: &str = "<!-- End of the reference. -->";

/// `JACKIN_BLESS=1 cargo test -p jackin-cli --lib documented` writes it.
#[test]
fn the_documented_configuration_is_the_reference() {
    let file = repository().join("docs/configuration.md");
    let written = std::fs::read_to_string(&file).unwrap();
    let (before, rest) = written.split_once(BEGIN).expect("the mark where the reference begins");
    let (_, after) = rest.split_once(END).expect("the mark where the reference ends");
    let page = [before, BEGIN, &sections(REFERENCE).concat(), END, after].concat();
    if std::env::var_os("JACKIN_BLESS").is_some() {
        std::fs::write(&file, &page).unwrap();
    } else {
        let how = "run JACKIN_BLESS=1 cargo test -p jackin-cli --lib documented";
        assert!(written == page, "docs/configuration.md is out of date: {how}");
    }
}

/// The reference's tables, each under a heading with the comment that stands above it.
fn sections(reference: &str) -> Vec<String> {
    let mut sections = Vec::new();
    for paragraph in reference.trim_end().split("\n\n").skip(1) {
        let comment: Vec<&str> = paragraph.lines().map_while(|line| line.strip_prefix("# ")).collect();
        let toml: Vec<&str> = paragraph.lines().skip(comment.len()).collect();
        let name = toml.first().and_then(|line| line.split_inclusive(']').next()).unwrap_or_default();
        let name = if name.starts_with("[[") { format!("{name}]") } else { name.to_owned() };
        let comment = if comment.is_empty() { String::new() } else { format!("{}\n\n", comment.join("\n")) };
        sections.push(format!("## `{name}`\n\n{comment}```toml\n{}\n```\n\n", toml.join("\n")));
    }
    sections
}

/// The role that `docs/roles.md` points at can be loaded.
#[test]
fn the_example_of_a_role_is_sound() {
    let paths = Paths::new("/nowhere", repository().join("examples/roles"));
    let loaded = Loaded::from(paths).unwrap();
    assert!(loaded.config.roles.values().all(|role| role.image.is_some()));
    assert_eq!(loaded.config.roles.len(), 1);
}
