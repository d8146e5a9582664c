//! Which arguments a program takes for code. A value there would have to be quoted for that program's language, and
//! once more for each shell in between; it cannot be done for all of them, so the placeholder is refused.
//!
//! The lists cannot be complete: a script may pass its argument to `eval`. They hold what people write in one line.

use std::collections::BTreeSet;

use super::fault::{FaultKind, TemplateFault, UnsafePlace};
use super::word::{Command, Hole, Word};

/// Adds a fault for each placeholder that would become code, a program's name or a file chosen by an agent.
pub(super) fn check(commands: &[Command], faults: &mut Vec<TemplateFault>) {
    let refused = faults.iter().map(|fault| fault.span.start).collect();
    let mut refusals = Refusals { faults, refused };
    // With these a later plain assignment evaluates its value as arithmetic, and arithmetic can run commands.
    let evaluates = |command: &&Command| {
        command.program_and_args().first().is_some_and(|word| EVALUATES_LATER.contains(&word.text.as_str()))
    };
    if commands.iter().find(evaluates).is_some() {
        for hole in commands.iter().flat_map(Command::holes) {
            refusals.refuse(hole, UnsafePlace::Arithmetic);
        }
        return;
    }
    for (at, command) in commands.iter().enumerate() {
        for target in &command.targets {
            for hole in target.holes.iter().filter(|hole| target.descriptor || hole.placeholder.is_tag()) {
                refusals.refuse(hole, UnsafePlace::Redirection);
            }
        }
        let words = command.program_and_args();
        refusals.arguments(words);
        refusals.program_names(words);
        if command.piped && words.first().is_some_and(is_shell) && reads_script_from_stdin(words) {
            let upstream = (0..at).rev().take_while(|&before| commands[before + 1].piped);
            for hole in upstream.flat_map(|before| commands[before].holes()) {
                refusals.refuse(hole, UnsafePlace::PipedIntoShell(program_name(&words[0]).to_owned()));
            }
        }
    }
}

const EVALUATES_LATER: [&str; 3] = ["declare", "typeset", "let"];

/// Programs that run the program in their arguments.
const WRAPPERS: [&str; 30] = [
    "builtin",
    "busybox",
    "caffeinate",
    "chronic",
    "chroot",
    "command",
    "docker",
    "doas",
    "env",
    "exec",
    "find",
    "flatpak-spawn",
    "ionice",
    "kubectl",
    "lxc",
    "nerdctl",
    "nice",
    "nohup",
    "nsenter",
    "parallel",
    "podman",
    "setsid",
    "sshpass",
    "stdbuf",
    "sudo",
    "systemd-run",
    "time",
    "timeout",
    "unbuffer",
    "xargs",
];

/// Those of them whose first argument that is no option names it. `timeout` has its limit before that.
const BARE_WRAPPERS: [&str; 17] = [
    "builtin",
    "caffeinate",
    "chronic",
    "command",
    "doas",
    "env",
    "exec",
    "ionice",
    "nice",
    "nohup",
    "setsid",
    "stdbuf",
    "sudo",
    "time",
    "timeout",
    "unbuffer",
    "xargs",
];

const SHELLS: [&str; 14] = [
    "sh",
    "bash",
    "dash",
    "ash",
    "ksh",
    "mksh",
    "zsh",
    "fish",
    "csh",
    "tcsh",
    "rbash",
    "yash",
    "pwsh",
    "powershell",
];

/// How a program takes code.
enum Takes {
    /// All its arguments are joined to code, or are names that it evaluates.
    Everything,
    /// As above, but names and paths of the host's own do no harm.
    EverythingForeign,
    /// What stands before the `=` of an argument is a name that it evaluates.
    Names,
    /// All its arguments, if this one is among them.
    EverythingWith(&'static str),
    /// What follows these options: letters, and long ones.
    After { letters: &'static str, long: &'static [&'static str] },
    /// The first argument that is no option, unless one of these options gave the code, and what follows them;
    /// `valued` are the letters of the other options that take a value.
    FirstArgument { letters: &'static str, long: &'static [&'static str], valued: &'static str },
}

fn takes(program: &str) -> Option<Takes> {
    // python3.12, lua5.4
    let unversioned = program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.' || c == '-');
    let name = if unversioned.is_empty() { program } else { unversioned };
    Some(match name {
        "eval" | "trap" | "alias" | "source" | "[[" | "read" | "unset" | "mapfile" | "readarray"
        | "getopts" | "local" | "ssh" | "autossh" | "mosh" | "rsh" | "tmux" | "screen" | "parallel"
        | "watch" | "entr" => Takes::Everything,
        "make" | "gmake" => Takes::EverythingForeign,
        "export" | "readonly" => Takes::Names,
        "test" | "[" | "printf" => Takes::EverythingWith("-v"),
        "deno" => Takes::EverythingWith("eval"),
        "su" | "runuser" | "script" | "flock" => Takes::After { letters: "c", long: &["command"] },
        "env" => Takes::After { letters: "S", long: &["split-string"] },
        "npm" | "npx" => Takes::After { letters: "c", long: &["call"] },
        "xterm" | "urxvt" | "konsole" | "gnome-terminal" | "xfce4-terminal" | "x-terminal-emulator" => {
            Takes::After { letters: "ex", long: &["command", "execute"] }
        }
        "nix-shell" | "nix" => Takes::After { letters: "c", long: &["run", "command", "expr"] },
        "python" | "pypy" | "expect" => Takes::After { letters: "c", long: &[] },
        "perl" | "ruby" | "julia" | "Rscript" | "osascript" | "lua" | "luajit" | "mysql" | "mariadb" => {
            Takes::After { letters: "eE", long: &["eval", "execute"] }
        }
        "node" | "nodejs" | "bun" => Takes::After { letters: "ep", long: &["eval", "print"] },
        "php" => Takes::After { letters: "rBRE", long: &["run"] },
        "psql" => Takes::After { letters: "cv", long: &["command", "set", "variable"] },
        "vi" | "vim" | "nvim" | "ex" | "emacs" | "gdb" => {
            Takes::After { letters: "cS", long: &["cmd", "eval", "execute", "ex"] }
        }
        "awk" | "gawk" | "mawk" | "nawk" => {
            Takes::FirstArgument { letters: "e", long: &["source"], valued: "fFvE" }
        }
        "sed" | "gsed" => Takes::FirstArgument { letters: "e", long: &["expression"], valued: "fl" },
        _ => return None,
    })
}

struct Refusals<'a> {
    faults: &'a mut Vec<TemplateFault>,
    /// Where the faults are: several rules may refuse the same placeholder.
    refused: BTreeSet<usize>,
}

impl Refusals<'_> {
    fn refuse(&mut self, hole: &Hole, place: UnsafePlace) {
        if self.refused.insert(hole.span.start) {
            let kind = FaultKind::Unsafe { placeholder: hole.placeholder, place };
            self.faults.push(TemplateFault { kind, span: hole.span.clone() });
        }
    }

    fn refuse_all(&mut self, word: &Word, program: &str) {
        for hole in &word.holes {
            self.refuse(hole, UnsafePlace::Code(program.to_owned()));
        }
    }

    /// The program, or the one that a wrapper runs, must be known.
    fn program_names(&mut self, words: &[Word]) {
        let mut rest = words;
        while let Some((program, args)) = rest.split_first() {
            for hole in program.holes.iter().filter(|hole| !hole.placeholder.is_hosts_own()) {
                self.refuse(hole, UnsafePlace::Program);
            }
            let name = program_name(program);
            let wrapped = if BARE_WRAPPERS.contains(&name) {
                let is_option = |word: &Word| word.text.starts_with('-') || word.text.contains('=');
                let mut operands = (0..args.len()).filter(|&at| !is_option(&args[at]));
                if name == "timeout" { operands.nth(1) } else { operands.next() }
            } else if is_shell(program) {
                script_file(args)
            } else if name == "." {
                Some(0)
            } else {
                None
            };
            rest = wrapped.and_then(|at| args.get(at..)).unwrap_or(&[]);
        }
    }

    fn arguments(&mut self, words: &[Word]) {
        let Some(first) = words.first() else { return };
        let wraps = first.dynamic || WRAPPERS.contains(&program_name(first));
        for (at, word) in words.iter().enumerate() {
            let args = &words[at + 1..];
            // `find -exec sh -c`, `docker exec X bash -lc`, `ssh`: a shell's code is code wherever the shell stands.
            if (is_shell(word) || word.dynamic)
                && let Some(script) = script_string(args)
            {
                let name = if word.dynamic { "the program" } else { program_name(word) };
                self.refuse_all(script, name);
            }
            if at == 0 || wraps {
                let name = program_name(word);
                if let Some(takes) = takes(name) {
                    self.taken(name, &takes, args);
                }
            }
        }
    }

    fn taken(&mut self, program: &str, takes: &Takes, args: &[Word]) {
        match takes {
            Takes::Everything => {
                for word in args {
                    self.refuse_all(word, program);
                }
            }
            Takes::EverythingForeign => {
                for hole in args.iter().flat_map(|word| &word.holes) {
                    if !hole.placeholder.is_hosts_own() {
                        self.refuse(hole, UnsafePlace::Code(program.to_owned()));
                    }
                }
            }
            Takes::Names => {
                for word in args {
                    let name_ends = word.text.find('=').unwrap_or(word.text.len());
                    for hole in word.holes.iter().filter(|hole| hole.after <= name_ends) {
                        self.refuse(hole, UnsafePlace::Code(program.to_owned()));
                    }
                }
            }
            Takes::EverythingWith(marker) => {
                if args.iter().any(|word| word.text.starts_with(marker)) {
                    for word in args {
                        self.refuse_all(word, program);
                    }
                }
            }
            Takes::After { letters, long } => {
                self.after_options(program, letters, long, args);
            }
            Takes::FirstArgument { letters, long, valued } => {
                let has_code = self.after_options(program, letters, long, args);
                let from_file = args.iter().any(|word| {
                    word.text.starts_with("--file") || (is_cluster(word) && word.text.contains('f'))
                });
                if has_code || from_file {
                    return;
                }
                let takes_value =
                    |word: &Word| is_cluster(word) && word.text.ends_with(|c| valued.contains(c));
                let first = args.iter().enumerate().find(|(at, word)| {
                    !word.text.starts_with('-') && !at.checked_sub(1).is_some_and(|at| takes_value(&args[at]))
                });
                if let Some((_, code)) = first {
                    let shown = if program.ends_with("awk") { "awk" } else { program };
                    self.refuse_all(code, shown);
                }
            }
        }
    }

    /// Refuses what follows the options; whether there was one.
    fn after_options(&mut self, program: &str, letters: &str, long: &[&str], args: &[Word]) -> bool {
        let mut found = false;
        for (at, word) in args.iter().enumerate() {
            let is_long =
                word.text.trim_start_matches('-').split('=').next().is_some_and(|n| long.contains(&n));
            let is_short = is_cluster(word) && word.text.contains(|c| letters.contains(c));
            // vim's `+command`
            let is_plus = word.text.starts_with('+') && letters.contains('S');
            if (word.text.starts_with('-') && is_long) || is_short || is_plus {
                found = true;
                self.refuse_all(word, program);
                if let Some(value) = args.get(at + 1).filter(|_| !is_plus && !word.text.contains('=')) {
                    self.refuse_all(value, program);
                }
            }
        }
        found
    }
}

/// The program's name without its directory.
fn program_name(word: &Word) -> &str {
    word.text.rsplit('/').next().unwrap_or(&word.text)
}

fn is_shell(word: &Word) -> bool {
    let name = program_name(word).trim_end_matches(|c: char| c.is_ascii_digit() || c == '.' || c == '-');
    word.holes.is_empty() && SHELLS.contains(&name)
}

/// `-x` or `-xyz`, and not `--long`.
fn is_cluster(word: &Word) -> bool {
    word.text.starts_with(['-', '+']) && word.text.len() > 1 && !word.text.starts_with("--")
}

/// What stands among a shell's arguments: whether `-c` was given, and where the first argument that is no option is.
fn shell_operand(args: &[Word]) -> (bool, Option<usize>) {
    let mut has_code = false;
    let mut at = 0;
    while let Some(word) = args.get(at) {
        let text = word.text.as_str();
        if is_cluster(word) {
            has_code |= text.starts_with('-') && text.contains('c');
            at += usize::from(text.ends_with(['o', 'O']));
        } else if matches!(text, "--rcfile" | "--init-file" | "--init-command") {
            at += 1;
        } else if matches!(text, "--command" | "-Command") {
            has_code = true;
        } else if !text.starts_with("--") {
            return (has_code, Some(at));
        }
        at += 1;
    }
    (has_code, None)
}

fn script_string(args: &[Word]) -> Option<&Word> {
    match shell_operand(args) {
        (true, Some(at)) => args.get(at),
        // A value glued to the option is the code itself.
        (true, None) => args.iter().find(|word| is_cluster(word) && !word.holes.is_empty()),
        (false, _) => None,
    }
}

fn script_file(args: &[Word]) -> Option<usize> {
    match shell_operand(args) {
        (false, at) => at,
        (true, _) => None,
    }
}

fn reads_script_from_stdin(words: &[Word]) -> bool {
    let (has_code, operand) = shell_operand(&words[1..]);
    let from_stdin = words[1..].iter().any(|word| is_cluster(word) && word.text.contains('s'));
    from_stdin || (!has_code && operand.is_none_or(|at| words[1 + at].text == "-"))
}
