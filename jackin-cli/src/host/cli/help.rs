//! What `--help` says, of every command of both programs, and what it has to say.

use std::path::{Path, PathBuf};

use clap::{Command, CommandFactory};

use super::Cli;
use super::manual::{EXIT_CODES, render};

/// The help of a command and of all below it.
fn pages(command: &mut Command, path: &str, pages: &mut Vec<(String, String)>) {
    let path = if path.is_empty() {
        command.get_name().to_owned()
    } else {
        format!("{path} {}", command.get_name())
    };
    pages.push((path.clone(), command.render_long_help().to_string()));
    let shown = |command: &&mut Command| !command.is_hide_set() && command.get_name() != "help";
    for below in command.get_subcommands_mut().filter(shown) {
        self::pages(below, &path, pages);
    }
}

fn built(mut command: Command) -> Command {
    command.build();
    command
}

fn is_as_it_was(name: &str, pages: &[(String, String)]) {
    let page = |(path, help): &(String, String)| format!("$ {path} --help\n{}\n\n", help.trim_end());
    let text: String = pages.iter().map(page).collect();
    insta::with_settings!({ prepend_module_to_snapshot => false, omit_expression => true }, {
        insta::assert_snapshot!(name, text);
    });
}

/// A file for each command of the first rank, so that a change touches its own. Whoever means a change reads the
/// difference and runs `INSTA_UPDATE=always cargo test -p jackin-cli --lib help`.
#[test]
fn every_help_is_as_it_was() {
    let mut jackin = built(Cli::command());
    let mut own = vec![("jackin".to_owned(), jackin.render_long_help().to_string())];
    is_as_it_was("jackin", &own);
    for command in jackin.get_subcommands_mut().filter(|command| !command.is_hide_set()) {
        let name = command.get_name().to_owned();
        // Its commands are those of the other program, below.
        if name == "help" || name == "capsule" {
            continue;
        }
        own.clear();
        pages(command, "jackin", &mut own);
        is_as_it_was(&format!("jackin-{name}"), &own);
    }
    let mut capsule = Vec::new();
    pages(&mut built(crate::capsule::command()), "", &mut capsule);
    is_as_it_was("jackin-capsule", &capsule);
}

/// One line that begins with a capital and has no full stop, for everything that can be written.
#[test]
fn every_help_keeps_to_the_conventions() {
    fn check(command: &Command, path: &str, wrong: &mut Vec<String>) {
        let path = format!("{path} {}", command.get_name());
        let mut told = |what: &str, help: Option<String>| {
            let Some(help) = help else { return wrong.push(format!("{path}{what} says nothing")) };
            let first = help.trim_start_matches(['`', '<']).chars().next();
            let begins_well = first.is_some_and(|first| first.is_uppercase() || !first.is_alphabetic());
            let is_a_word =
                help.split([',', ' ']).next().is_some_and(|word| word.chars().all(char::is_lowercase));
            let is_a_list = is_a_word && help.contains(',');
            if !begins_well && !is_a_list {
                wrong.push(format!("{path}{what} does not begin with a capital: {help}"));
            }
            if help.trim_end().ends_with('.') {
                wrong.push(format!("{path}{what} ends with a full stop: {help}"));
            }
        };
        told("", command.get_about().map(ToString::to_string));
        for argument in command.get_arguments() {
            let name = format!(" {}", argument.get_id());
            told(&name, argument.get_help().map(ToString::to_string));
        }
        for below in command.get_subcommands().filter(|below| !below.is_hide_set()) {
            check(below, &path, wrong);
        }
    }
    let mut wrong = Vec::new();
    check(&built(Cli::command()), "", &mut wrong);
    check(&built(crate::capsule::command()), "", &mut wrong);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn sources(dir: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()) {
        if entry.is_dir() {
            sources(&entry, files);
        } else if entry.extension().is_some_and(|ending| ending == "rs") {
            files.push(entry);
        }
    }
}

/// The numbers in a line, without those that are parts of words.
fn numbers(line: &str) -> Vec<u32> {
    let words = line.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    words.filter_map(|word| word.parse().ok()).collect()
}

/// The exit codes that the programs' text names: constants that say so, what a function `exit_code` gives, and exits.
fn used(text: &str) -> Vec<u32> {
    let mut found = Vec::new();
    let (mut comment, mut inside) = (String::new(), false);
    for line in text.split("#[cfg(test)]").next().unwrap_or_default().lines() {
        let trimmed = line.trim_start();
        if let Some(words) = trimmed.strip_prefix("///") {
            comment.push_str(words);
            continue;
        }
        let is_constant = trimmed.contains("const ") && trimmed.contains('=');
        if is_constant && comment.to_lowercase().contains("exit code") {
            // Written as one number, or as 128 and a signal's.
            let code: u32 = numbers(trimmed.split('=').next_back().unwrap_or_default()).iter().sum();
            found.push(code);
        }
        comment.clear();
        if trimmed.contains("fn exit_code(") {
            inside = true;
        } else if inside && line.trim_end() == "    }" || line.trim_end() == "}" {
            inside = false;
        } else if inside && trimmed.contains("=>") {
            found.extend(numbers(trimmed.split("=>").last().unwrap_or_default()));
        }
        for call in ["process::exit(", "ExitCode::from("] {
            if let Some((_, rest)) = trimmed.split_once(call) {
                found.extend(numbers(rest.split(')').next().unwrap_or_default()));
            }
        }
    }
    found
}

#[test]
fn every_exit_code_stands_in_the_manual() {
    let mut page = Vec::new();
    render(&mut page).unwrap();
    let page = String::from_utf8(page).unwrap();
    let (_, section) =
        page.split_once(".SH \"EXIT STATUS\"").expect("the manual has a section for exit codes");
    let section = section.split("\n.SH ").next().unwrap().replace("\\fB", "").replace("\\fR", "");
    for (code, what) in EXIT_CODES {
        assert!(
            section.contains(code) && section.contains(&what.replace('-', "\\-")),
            "{code} is not in\n{section}"
        );
    }
    let mut files = Vec::new();
    sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut files);
    let mut seen = Vec::new();
    for file in files {
        for code in used(&std::fs::read_to_string(&file).unwrap()) {
            let is_told = numbers(&section).contains(&code);
            assert!(is_told, "{} uses exit code {code}, which is not in the manual", file.display());
            seen.push(code);
        }
    }
    for code in [1, 2, 124, 127, 128, 130, 137] {
        assert!(
            seen.contains(&code) || code == 1,
            "{code} was not found: are exit codes still written as they were?"
        );
    }
}

#[test]
fn exit_codes_are_found_where_they_are_written() {
    let text = "/// The exit code for x.\nconst A: u8 = 3;\n/// An exit code.\nconst K: i32 = 128 + 9;\n/// Not one.\nconst B: u8 = 4;\n    pub fn exit_code(self) -> u8 {\n        match self {\n            Self::A => 128 + n,\n            Self::B(7) => 9,\n        }\n    }\nstd::process::exit(5);\n#[cfg(test)]\n/// The exit code\nconst C: u8 = 6;\n";
    assert_eq!(used(text), [3, 137, 128, 9, 5]);
}
