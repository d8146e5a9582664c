//! The commands of a script as lists of words: just enough of a shell's grammar to tell which program gets a value.

use std::ops::Range;

use crate::placeholder::Placeholder;

#[derive(Debug, Default)]
pub(super) struct Word {
    /// What is known of it once quotes are removed; values and expansions are left out, but for the `$` of the latter.
    pub(super) text: String,
    pub(super) holes: Vec<Hole>,
    /// Whether the shell puts something into it that is not known here.
    pub(super) dynamic: bool,
    pub(super) quoted: bool,
    /// Whether it is `NAME=…` before the program.
    pub(super) assignment: bool,
    /// Whether a `[` is open in it.
    pub(super) in_brackets: bool,
    /// Whether it follows `>&` or `<&`.
    pub(super) descriptor: bool,
}

#[derive(Clone, Debug)]
pub(super) struct Hole {
    pub(super) placeholder: Placeholder,
    /// The bytes of the template's text.
    pub(super) span: Range<usize>,
    /// How much of the word's known text stands before it.
    pub(super) after: usize,
}

/// One program with its arguments, as far as they are known.
#[derive(Debug, Default)]
pub(super) struct Command {
    pub(super) words: Vec<Word>,
    /// The files of its redirections.
    pub(super) targets: Vec<Word>,
    /// Whether it reads what the command before it prints.
    pub(super) piped: bool,
}

/// Words that stand before a command without being its program.
const LEADING_WORDS: [&str; 9] = ["if", "then", "else", "elif", "do", "while", "until", "!", "{"];

impl Word {
    fn leads(&self) -> bool {
        self.assignment
            || (!self.quoted && self.holes.is_empty() && LEADING_WORDS.contains(&self.text.as_str()))
    }
}

impl Command {
    /// The program and its arguments: what follows assignments and the shell's own words.
    pub(super) fn program_and_args(&self) -> &[Word] {
        &self.words[self.words.iter().take_while(|word| word.leads()).count()..]
    }

    pub(super) fn holes(&self) -> impl Iterator<Item = &Hole> {
        self.words.iter().chain(&self.targets).flat_map(|word| &word.holes)
    }
}

/// Takes a script's characters, already told apart by quoting, and makes commands of them.
#[derive(Debug, Default)]
pub(super) struct Commands {
    done: Vec<Command>,
    command: Command,
    word: Option<Word>,
    target_follows: bool,
    descriptor_follows: bool,
    /// A newline was read; if a word follows, it begins another command.
    newline: bool,
}

impl Commands {
    pub(super) fn finish(mut self) -> Vec<Command> {
        self.end_command(false);
        self.done
    }

    pub(super) fn in_word(&self) -> bool {
        self.word.is_some()
    }

    /// The word that is being read, or a new one.
    pub(super) fn word(&mut self) -> &mut Word {
        if self.word.is_none() && std::mem::take(&mut self.newline) && !self.command.words.is_empty() {
            self.end_command(false);
        }
        self.word.get_or_insert_default()
    }

    /// Takes a character that has no meaning of its own to the shell.
    pub(super) fn literal(&mut self, c: char) {
        self.word().text.push(c);
    }

    /// Takes a character that stands in quotes or after a backslash.
    pub(super) fn quoted(&mut self, c: char) {
        let word = self.word();
        word.quoted = true;
        word.text.push(c);
    }

    pub(super) fn hole(&mut self, placeholder: Placeholder, span: Range<usize>) {
        let word = self.word();
        let after = word.text.len();
        word.holes.push(Hole { placeholder, span, after });
    }

    /// Whether `=` read now makes an assignment of the word.
    pub(super) fn would_assign(&self) -> bool {
        let Some(word) = &self.word else { return false };
        let name = word.text.strip_suffix('+').unwrap_or(&word.text);
        let is_name = !name.is_empty()
            && !name.starts_with(|c: char| c.is_ascii_digit())
            && name.chars().all(|c| c == '_' || c.is_ascii_alphanumeric());
        is_name
            && word.holes.is_empty()
            && !word.dynamic
            && !word.quoted
            && !self.target_follows
            && self.command.words.iter().all(Word::leads)
    }

    /// Whether `~` read now means a home directory.
    pub(super) fn tilde_expands(&self) -> bool {
        self.word.as_ref().is_none_or(|word| word.text.ends_with(['=', ':']))
    }

    pub(super) fn end_word(&mut self) {
        if let Some(mut word) = self.word.take() {
            if std::mem::take(&mut self.target_follows) {
                word.descriptor = self.descriptor_follows;
                self.command.targets.push(word);
            } else {
                self.command.words.push(word);
            }
        }
    }

    pub(super) fn end_line(&mut self) {
        self.end_word();
        self.newline = true;
    }

    /// Ends a command; the next one reads its output if `piped`.
    pub(super) fn end_command(&mut self, piped: bool) {
        self.end_word();
        self.target_follows = false;
        self.newline = false;
        let ended = std::mem::replace(&mut self.command, Command { piped, ..Command::default() });
        if ended.words.is_empty() && ended.targets.is_empty() {
            // `||` is read as two bars and is no pipe; a parenthesis after a bar leaves it one.
            self.command.piped = piped != ended.piped;
        } else {
            self.done.push(ended);
        }
    }

    /// Begins a redirection. A number directly before it is not an argument.
    pub(super) fn redirect(&mut self, to_descriptor: bool) {
        let is_number = |word: &Word| {
            !word.quoted
                && !word.dynamic
                && word.holes.is_empty()
                && !word.text.is_empty()
                && word.text.chars().all(|c| c.is_ascii_digit())
        };
        if self.word.as_ref().is_some_and(is_number) {
            self.word = None;
        }
        self.end_word();
        self.target_follows = true;
        self.descriptor_follows = to_descriptor;
    }
}
