//! Values against real shells: whatever a value contains, the program receives it within one argument, byte for byte,
//! and nothing else happens.
#![cfg(unix)]
#![allow(clippy::disallowed_methods, reason = "these tests run the resolved commands")]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::LazyLock;

use jackin_tools::{Context, Placeholder, Provenance, ResolvedCommand, Template, TemplateKind};
use proptest::prelude::*;
use tempfile::TempDir;

/// Writes down its arguments, with NUL after each, in a file of its own: those of a pipeline run at the same time.
const PROBE: &str = "#!/bin/sh\nfor a in \"$@\"; do printf '%s\\0' \"$a\"; done > \"$PROBE_OUT/$$\"\n";

/// The directory of the probe, called `P`. It is written once, before anything is started: a file that some process
/// still has open for writing cannot be run.
static BIN: LazyLock<PathBuf> = LazyLock::new(|| {
    let dir = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("placement-bin");
    fs::create_dir_all(&dir).unwrap();
    let probe = dir.join("P");
    if fs::read_to_string(&probe).is_ok_and(|written| written == PROBE) {
        return dir;
    }
    fs::write(&probe, PROBE).unwrap();
    fs::set_permissions(&probe, fs::Permissions::from_mode(0o755)).unwrap();
    dir
});

/// A directory to work in.
struct Lab {
    dir: TempDir,
}

/// What a command did: the arguments of each call of the probe, in no order, and the files that it left behind.
#[derive(Debug, PartialEq)]
struct Effects {
    calls: Vec<Vec<Vec<u8>>>,
    files: Vec<String>,
}

impl Lab {
    fn new() -> Self {
        LazyLock::force(&BIN);
        let dir = tempfile::tempdir().unwrap();
        Self { dir }
    }

    /// Runs a command with this shell in place of `sh`, in an empty directory.
    fn run(&self, command: &ResolvedCommand, shell: &[&str]) -> Effects {
        let (out, work) = (self.dir.path().join("out"), self.dir.path().join("work"));
        for dir in [&out, &work] {
            let _ = fs::remove_dir_all(dir);
            fs::create_dir(dir).unwrap();
        }
        let mut process = if command.via_shell {
            let mut process = Command::new(shell[0]);
            process.args(&shell[1..]);
            process
        } else {
            Command::new(BIN.join(&command.program))
        };
        process
            .args(&command.args)
            .env_clear()
            .env("PATH", format!("{}:/usr/bin:/bin", BIN.display()))
            .env("HOME", "/home/nobody")
            .env("LC_ALL", "C.UTF-8")
            .env("PROBE_OUT", &out)
            .envs(command.env.iter().map(|variable| (variable.name, &*variable.value)))
            .current_dir(&work)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        process.status().unwrap();
        let mut calls: Vec<_> =
            files(&out).iter().map(|file| arguments(&fs::read(out.join(file)).unwrap())).collect();
        calls.sort();
        Effects { calls, files: files(&work) }
    }
}

fn arguments(written: &[u8]) -> Vec<Vec<u8>> {
    written
        .split_inclusive(|byte| *byte == 0)
        .map(|part| part.strip_suffix(b"\0").unwrap().to_vec())
        .collect()
}

fn files(dir: &Path) -> Vec<String> {
    let mut files: Vec<String> = fs::read_dir(dir)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    files.sort();
    files
}

/// The shells of this machine that `sh` may be.
fn shells() -> Vec<Vec<&'static str>> {
    let installed = |name: &str| {
        [format!("/bin/{name}"), format!("/usr/bin/{name}")].iter().any(|p| PathBuf::from(p).exists())
    };
    let mut shells = vec![vec!["/bin/sh"]];
    for shell in ["dash", "bash", "busybox"].into_iter().filter(|name| installed(name)) {
        shells.push(if shell == "busybox" { vec!["busybox", "sh"] } else { vec![shell] });
    }
    if installed("bash") {
        shells.push(vec!["bash", "--posix"]);
    }
    shells
}

fn resolve(text: &str, value: &str) -> ResolvedCommand {
    let template =
        Template::parse(text, TemplateKind::Prompt).unwrap_or_else(|faults| panic!("{text}: {faults:?}"));
    let mut context = Context::new();
    context.set(Placeholder::Input, value, Provenance::Operator).unwrap();
    context.set(Placeholder::Issue, value, Provenance::Agent).unwrap();
    template.resolve(&context).unwrap()
}

/// Templates, and the arguments that the probe must get; `@` stands for the value.
const PLACES: &[(&str, &[&str])] = &[
    // Without a shell.
    ("P {input}", &["@"]),
    ("P '{input}'", &["@"]),
    ("P \"{input}\"", &["@"]),
    ("P a{input}b", &["a@b"]),
    ("P 'a {input} b'", &["a @ b"]),
    ("P \"a {input} b\"", &["a @ b"]),
    ("P --url={input}", &["--url=@"]),
    ("P -- {issue} x{input}y", &["--", "@", "x@y"]),
    ("P {input}{issue}", &["@@"]),
    ("P 'a'{input}\"b\"\\ c", &["a@b c"]),
    ("P {{{input}}}", &["{@}"]),
    // With one.
    ("P {input} | cat", &["@"]),
    ("P '{input}' && true", &["@"]),
    ("P \"{input}\" 2>&1", &["@"]),
    ("true; P a{input}b", &["a@b"]),
    ("true; P 'a {input} b'", &["a @ b"]),
    ("true; P \"a {input} b\"", &["a @ b"]),
    ("true; P \"$HOME\"{input}\"$HOME\"", &["/home/nobody@/home/nobody"]),
    ("true; P \"$HOME {input} ${{HOME}}\"", &["/home/nobody @ /home/nobody"]),
    ("P ~/{input}", &["/home/nobody/@"]),
    ("X={input} sh -c 'P \"$X\"'", &["@"]),
    ("X={input}; P \"$X\"", &["@"]),
    ("X='{input}'; P \"$X\"", &["@"]),
    ("X=\"a{input}\"; P \"$X\"", &["a@"]),
    ("export X={input}; P \"$X\"", &["@"]),
    ("(P {input})", &["@"]),
    ("for i in {input} ; do P \"$i\"; done", &["@"]),
    ("if true; then P {input}; fi", &["@"]),
    ("f() {{ P {input} \"$@\"; }}; f x", &["@", "x"]),
    ("case {input} in *) P {input};; esac", &["@"]),
    ("case {input} in {issue}) P same;; esac", &["same"]),
    ("P $(echo a) {input} `echo b`", &["a", "@", "b"]),
    ("P \"$(echo \"a  b\")\" \"{input}\"", &["a  b", "@"]),
    ("P $((1 + 1)){input}", &["2@"]),
    ("P {input} # it's a comment", &["@"]),
    ("true\nP {input}\n", &["@"]),
    ("P \\\n {input} ; true", &["@"]),
    ("P {{{input}}}; true", &["{@}"]),
    ("set -- {input}; P \"$1\" \"$#\"", &["@", "1"]),
    ("sh -c 'P \"$1\"' sh {input}; true", &["@"]),
    ("! P {input}", &["@"]),
];

/// Values that would do something if a shell read them, and the characters of which such values are made.
fn hostile_value() -> impl Strategy<Value = String> {
    let fragment = prop_oneof![
        4 => proptest::sample::select(vec![
            "$(touch canary)", "`touch canary`", "; touch canary;", "| touch canary", "&& touch canary",
            "\n touch canary\n", "> canary", "'; touch canary; '", "\"; touch canary; \"", "${HOME}", "$HOME", "$$",
            "${JACKIN_INPUT}", "{input}", "{{", "}}", "\\", "\\\\", "'", "\"", "'\\''", "\\\"", "$", "$'\\n'", "*", "?",
            "[a-z]*", "~", "~root", "#", " # ", "!", "!!", "&", "<", "<<EOF\n", "(", ")", "a b", "  ", "\t", "\n", "\r\n",
            "-", "--", "-c", "-rf /", "=", "A=b", "%s%n", "é", "漢字", "👩‍💻", "\u{81}", "\u{88}", "\u{200f}", "\u{feff}",
            "\u{1b}[31m", "\u{7}", "\u{7f}", "\u{e000}", "\u{fffd}", "a[$(touch canary)]", "x\\\ny",
        ]).prop_map(str::to_owned),
        1 => any::<char>().prop_filter("no program can receive NUL", |c| *c != '\0').prop_map(String::from),
        1 => "[ -~]{0,12}",
    ];
    proptest::collection::vec(fragment, 0..8).prop_map(|fragments| fragments.concat())
}

/// How many cases, unless the environment says otherwise: each starts several processes.
fn cases(default: u32) -> ProptestConfig {
    let cases = std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(default);
    ProptestConfig { cases, max_shrink_iters: 200, failure_persistence: None, ..ProptestConfig::default() }
}

fn assert_placed(lab: &Lab, text: &str, arguments: &[&str], value: &str) {
    let command = resolve(text, value);
    let expected = Effects {
        calls: vec![arguments.iter().map(|argument| argument.replace('@', value).into_bytes()).collect()],
        files: Vec::new(),
    };
    let shells = if command.via_shell { shells() } else { vec![vec![]] };
    for shell in shells {
        assert_eq!(lab.run(&command, &shell), expected, "{text:?} with {value:?} in {shell:?}");
    }
}

proptest! {
    #![proptest_config(cases(120))]

    #[test]
    fn a_value_arrives_as_it_is_wherever_it_stands(
        value in hostile_value(),
        place in proptest::sample::select(PLACES),
    ) {
        assert_placed(&Lab::new(), place.0, place.1, &value);
    }
}

/// Every place once with the values that break the usual ways of quoting.
#[test]
fn the_worst_values_in_every_place() {
    let lab = Lab::new();
    for (text, arguments) in PLACES {
        for value in [
            "",
            "'\"`$(touch canary)`\"'; touch canary #\n\ttouch canary\\",
            "-n é\u{81}\u{88}漢\u{1b}[0m * ~ {{input}} ${HOME:-x} \\",
        ] {
            assert_placed(&lab, text, arguments, value);
        }
    }
}

/// A script of pieces that open and close quotes and substitutions at random.
fn template_text() -> impl Strategy<Value = String> {
    let piece = proptest::sample::select(vec![
        "{input}",
        "{input}",
        "{input}",
        "'",
        "'",
        "\"",
        "\"",
        "\\",
        "\\\\",
        "`",
        "$",
        "$$",
        "$(",
        "$((",
        "(",
        ")",
        "))",
        "${{",
        "}}",
        "{{",
        "$HOME",
        "${{HOME}}",
        "${{X:-",
        " ",
        " ",
        " ",
        "\n",
        ";",
        " | ",
        " && ",
        " || ",
        "#",
        " # ",
        "P",
        "P ",
        "P ",
        "P a ",
        "true ",
        "echo ",
        "printf %s ",
        "a",
        "b=",
        "X=",
        "*",
        "?",
        "[",
        "]",
        "~",
        "!",
        "-",
        "=",
        "<<",
        "<<E\n",
        "\nE\n",
        " > f ",
        " 2>&1",
        "$'",
        "$\"",
        "case x in ",
        " x) ",
        ";; ",
        " esac",
        "for i in ",
        " do ",
        " done",
        "if ",
        " then ",
        " fi",
        "é",
        "%",
        "echo \"$(echo ",
        "\")\"",
        "$(echo \"",
        "`echo ",
        "export ",
        "f() ",
        "\\\n",
        "\t",
    ]);
    proptest::collection::vec(piece, 1..14).prop_map(|pieces| format!("P {}", pieces.concat()))
}

proptest! {
    #![proptest_config(ProptestConfig { max_global_rejects: 400_000, ..cases(400) })]

    /// The law behind all of it: of every template that is accepted, a hostile value does exactly what a harmless one
    /// does, with itself in the other's place.
    #[test]
    fn an_accepted_template_treats_all_values_alike(text in template_text(), value in hostile_value()) {
        const HARMLESS: &str = "VALUE";
        // The one thing that differs from run to run.
        prop_assume!(!text.contains("$$"));
        // What prints the environment prints the value, in as many ways as there are values.
        prop_assume!(!text.contains("export"));
        let template = Template::parse(&text, TemplateKind::Prompt);
        prop_assume!(template.is_ok_and(|template| template.uses().contains(&Placeholder::Input)));
        let lab = Lab::new();
        for shell in shells() {
            let harmless = lab.run(&resolve(&text, HARMLESS), &shell);
            let hostile = lab.run(&resolve(&text, &value), &shell);
            let with_value = |argument: &Vec<u8>| {
                String::from_utf8_lossy(argument).replace(HARMLESS, &value).into_bytes()
            };
            let mut expected: Vec<Vec<Vec<u8>>> =
                harmless.calls.iter().map(|call| call.iter().map(with_value).collect()).collect();
            expected.sort();
            prop_assert_eq!(&hostile.calls, &expected, "{:?} with {:?} in {:?}", text, value, shell);
            prop_assert!(
                !hostile.files.iter().any(|file| file == "canary"),
                "{:?} with {:?} in {:?} left {:?}", text, value, shell, hostile.files
            );
        }
    }
}
