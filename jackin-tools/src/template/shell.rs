//! Reads a template as a shell would, far enough to know in which kind of place each placeholder stands.
//!
//! A value never becomes part of the script. The script refers to the variable that holds it, quoted for its place:
//! `"${V}"` bare, `'"${V}"'` within '…', `${V}` within "…". So whatever a value contains, the shell does not read it as
//! code; what must be right here is that the reference stands where we believe it does, because outside of double
//! quotes the value would be split into words. Where shells differ, or where following them would take a whole shell,
//! the reader is *lost*: every placeholder from there on is refused.

use std::ops::Range;

use super::fault::{FaultKind, TemplateFault, UnsafePlace};
use super::token::{Token, TokenKind};
use super::word::{Command, Commands};
use crate::placeholder::Placeholder;

/// What was learned of a template.
#[derive(Debug)]
pub(super) struct Reading {
    /// For `sh -c`.
    pub(super) script: String,
    /// Whether the text means something to a shell that it does not mean without one.
    pub(super) needs_shell: bool,
    pub(super) commands: Vec<Command>,
}

/// Reads the tokens; what is wrong is added to `faults`.
pub(super) fn read(tokens: &[Token], faults: &mut Vec<TemplateFault>) -> Reading {
    let mut reader = Reader {
        tokens,
        at: 0,
        script: String::with_capacity(tokens.len() + 64),
        needs_shell: false,
        frames: Vec::new(),
        lost: None,
        commands: Commands::default(),
        faults,
    };
    while let Some(token) = reader.next() {
        reader.take(token);
    }
    if let (Some(frame), None) = (reader.frames.first(), &reader.lost) {
        let fault = FaultKind::Unbalanced { opener: frame.kind.opener() };
        reader.faults.push(TemplateFault { kind: fault, span: frame.opened.clone() });
    }
    let commands = reader.commands.finish();
    let needs_shell = reader.needs_shell || commands.len() > 1 || commands.iter().any(begins_with_shell_word);
    Reading { script: reader.script, needs_shell, commands }
}

/// Words that only a shell understands as the first of a command: its grammar, and what exists only inside of it.
const SHELL_WORDS: [&str; 45] = [
    "!", ".", ":", "[[", "alias", "bg", "break", "builtin", "case", "cd", "command", "continue", "declare",
    "dirs", "eval", "exec", "exit", "export", "fg", "for", "function", "getopts", "hash", "if", "jobs",
    "let", "local", "popd", "pushd", "read", "readonly", "return", "set", "shift", "source", "times", "trap",
    "type", "typeset", "ulimit", "umask", "unalias", "unset", "until", "wait",
];

fn begins_with_shell_word(command: &Command) -> bool {
    command.words.first().is_some_and(|word| {
        let text = word.text.as_str();
        !word.quoted
            && word.holes.is_empty()
            && (SHELL_WORDS.contains(&text) || matches!(text, "while" | "{" | "}"))
    })
}

struct Reader<'a> {
    tokens: &'a [Token],
    at: usize,
    script: String,
    needs_shell: bool,
    /// What is open, outermost first.
    frames: Vec<Frame>,
    /// Why places can no longer be told.
    lost: Option<UnsafePlace>,
    commands: Commands,
    faults: &'a mut Vec<TemplateFault>,
}

struct Frame {
    kind: FrameKind,
    opened: Range<usize>,
}

enum FrameKind {
    /// "…"
    Double,
    /// `$( … )` and its like; the word that is being read in it, if any, and how many `(` are open.
    Substitution { place: UnsafePlace, word: Option<String>, depth: usize },
    /// `` `…` ``; murky when it holds what shells look into while searching for the end.
    Backticks { murky: bool },
    /// `${ … }`
    Parameter,
}

impl FrameKind {
    fn opener(&self) -> &'static str {
        match self {
            Self::Double => "\"",
            Self::Substitution { .. } => "$(",
            Self::Backticks { .. } => "`",
            Self::Parameter => "${",
        }
    }

    fn unsafe_place(&self) -> Option<UnsafePlace> {
        match self {
            Self::Double => None,
            Self::Substitution { place, .. } => Some(place.clone()),
            Self::Backticks { .. } => Some(UnsafePlace::Backticks),
            Self::Parameter => Some(UnsafePlace::ParameterExpansion),
        }
    }
}

#[derive(Clone, Copy)]
enum Quoting {
    Bare,
    Single,
    Double,
}

impl<'a> Reader<'a> {
    fn next(&mut self) -> Option<&'a Token> {
        let token = self.tokens.get(self.at)?;
        self.at += 1;
        Some(token)
    }

    fn peek(&self) -> Option<TokenKind> {
        self.tokens.get(self.at).map(|token| token.kind)
    }

    fn take(&mut self, token: &Token) {
        let c = match token.kind {
            TokenKind::Hole(placeholder) => {
                let quoting = match self.frames.last() {
                    Some(Frame { kind: FrameKind::Double, .. }) => Quoting::Double,
                    _ => Quoting::Bare,
                };
                return self.hole(placeholder, token.span.clone(), quoting);
            }
            TokenKind::Char(c) => c,
        };
        if self.lost.is_some() {
            return self.script.push(c);
        }
        match self.frames.last_mut().map(|frame| &mut frame.kind) {
            None => self.bare(c, &token.span),
            Some(FrameKind::Double) => self.double(c, &token.span),
            Some(FrameKind::Substitution { .. }) => self.substitution(c, &token.span),
            Some(FrameKind::Backticks { .. }) => self.backticks(c),
            Some(FrameKind::Parameter) => self.parameter(c, &token.span),
        }
    }

    /// A placeholder: the reference to its variable, or why it cannot stand here.
    fn hole(&mut self, placeholder: Placeholder, span: Range<usize>, quoting: Quoting) {
        let refused = self
            .lost
            .clone()
            .or_else(|| self.frames.iter().find_map(|frame| frame.kind.unsafe_place()))
            .or_else(|| self.commands.word().in_brackets.then_some(UnsafePlace::Pattern));
        if let Some(place) = refused {
            return self.refuse(placeholder, span, place);
        }
        self.commands.hole(placeholder, span);
        let (before, after) = match quoting {
            Quoting::Bare => ("\"${", "}\""),
            Quoting::Single => ("'\"${", "}\"'"),
            Quoting::Double => ("${", "}"),
        };
        self.script.push_str(before);
        self.script.push_str(placeholder.variable());
        self.script.push_str(after);
    }

    fn refuse(&mut self, placeholder: Placeholder, span: Range<usize>, place: UnsafePlace) {
        self.faults.push(TemplateFault { kind: FaultKind::Unsafe { placeholder, place }, span });
    }

    /// Gives up on telling places apart, after `c`.
    fn lose(&mut self, c: char, place: UnsafePlace) {
        self.script.push(c);
        self.needs_shell = true;
        self.lost = Some(place);
    }

    fn open(&mut self, kind: FrameKind, opened: &Range<usize>) {
        self.frames.push(Frame { kind, opened: opened.clone() });
    }

    fn bare(&mut self, c: char, span: &Range<usize>) {
        match c {
            '\\' => self.backslash(),
            '\'' => self.single(span),
            '"' => {
                self.script.push(c);
                self.commands.word().quoted = true;
                self.open(FrameKind::Double, span);
            }
            '`' => self.open_backticks(span),
            '$' => self.dollar(span, false),
            ' ' | '\t' => {
                self.script.push(c);
                self.commands.end_word();
            }
            '\n' => {
                self.script.push(c);
                self.commands.end_line();
            }
            ';' | '&' | '|' | ')' => {
                self.script.push(c);
                self.needs_shell = true;
                self.commands.end_command(c == '|');
            }
            '(' if self.peek() == Some(TokenKind::Char('(')) => self.lose(c, UnsafePlace::Arithmetic),
            '(' => {
                self.script.push(c);
                self.needs_shell = true;
                self.commands.end_command(false);
            }
            '<' | '>' => self.redirection(c, span),
            '#' if !self.commands.in_word() => self.comment(),
            _ => self.word_char(c),
        }
    }

    /// A character of a word that is not in quotes.
    fn word_char(&mut self, c: char) {
        self.script.push(c);
        match c {
            '~' => self.needs_shell |= self.commands.tilde_expands(),
            '=' if self.commands.would_assign() => {
                self.needs_shell = true;
                self.commands.word().assignment = true;
            }
            '*' | '?' => self.needs_shell = true,
            '[' => {
                self.needs_shell = true;
                self.commands.word().in_brackets = true;
            }
            ']' => self.commands.word().in_brackets = false,
            _ => {}
        }
        self.commands.literal(c);
    }

    fn backslash(&mut self) {
        self.script.push('\\');
        match self.next() {
            None => self.commands.quoted('\\'),
            // The line goes on: neither character is left.
            Some(Token { kind: TokenKind::Char('\n'), .. }) => self.script.push('\n'),
            Some(Token { kind: TokenKind::Char(c), .. }) => {
                self.script.push(*c);
                self.commands.quoted(*c);
            }
            Some(Token { kind: TokenKind::Hole(placeholder), span }) => {
                self.refuse(*placeholder, span.clone(), UnsafePlace::AfterBackslash);
            }
        }
    }

    /// '…', in which nothing but the closing quote means anything.
    fn single(&mut self, opened: &Range<usize>) {
        self.script.push('\'');
        if self.frames.is_empty() {
            self.commands.word().quoted = true;
        }
        loop {
            match self.next() {
                None => {
                    let fault = FaultKind::Unbalanced { opener: "'" };
                    self.faults.push(TemplateFault { kind: fault, span: opened.clone() });
                    // One report is enough, whatever else is open around it.
                    self.frames.clear();
                    return;
                }
                Some(Token { kind: TokenKind::Char('\''), .. }) => return self.script.push('\''),
                Some(Token { kind: TokenKind::Char(c), .. }) => {
                    self.script.push(*c);
                    if self.frames.is_empty() {
                        self.commands.quoted(*c);
                    }
                }
                Some(Token { kind: TokenKind::Hole(placeholder), span }) => {
                    self.hole(*placeholder, span.clone(), Quoting::Single);
                }
            }
        }
    }

    fn comment(&mut self) {
        self.script.push('#');
        loop {
            match self.peek() {
                None | Some(TokenKind::Char('\n')) => return,
                Some(TokenKind::Char(c)) => self.script.push(c),
                Some(TokenKind::Hole(placeholder)) => {
                    let span = self.tokens[self.at].span.clone();
                    self.refuse(placeholder, span, UnsafePlace::Comment);
                }
            }
            self.at += 1;
        }
    }

    fn redirection(&mut self, c: char, span: &Range<usize>) {
        if c == '<' && self.peek() == Some(TokenKind::Char('<')) {
            return self.lose(c, UnsafePlace::HereDocument);
        }
        self.needs_shell = true;
        self.script.push(c);
        if self.peek() == Some(TokenKind::Char('(')) {
            self.at += 1;
            self.script.push('(');
            self.commands.word().dynamic = true;
            return self.open_substitution(UnsafePlace::Substitution, span);
        }
        let mut to_descriptor = false;
        while let Some(TokenKind::Char(c @ ('>' | '&' | '|'))) = self.peek() {
            self.at += 1;
            self.script.push(c);
            to_descriptor |= c == '&';
        }
        self.commands.redirect(to_descriptor);
    }

    /// A `$` outside of '…'.
    fn dollar(&mut self, span: &Range<usize>, in_double: bool) {
        self.needs_shell = true;
        if self.at_base() {
            let word = self.commands.word();
            word.dynamic = true;
            word.text.push('$');
        }
        match self.peek() {
            Some(TokenKind::Char('(')) => {
                self.at += 1;
                self.script.push_str("$(");
                let is_arithmetic = self.peek() == Some(TokenKind::Char('('));
                let place = if is_arithmetic { UnsafePlace::Arithmetic } else { UnsafePlace::Substitution };
                self.open_substitution(place, span);
            }
            Some(TokenKind::Char('{')) => {
                self.at += 1;
                self.script.push_str("${");
                self.open(FrameKind::Parameter, span);
            }
            Some(TokenKind::Char('[')) => self.lose('$', UnsafePlace::Arithmetic),
            Some(TokenKind::Char('\'' | '"')) if !in_double => {
                self.lose('$', UnsafePlace::Ambiguous("$'…' or $\"…\""));
            }
            // One-character parameters; `$$(` is the process id and a parenthesis.
            Some(TokenKind::Char(c)) if c.is_ascii_digit() || "$?!#*@-".contains(c) => {
                self.at += 1;
                self.script.push('$');
                self.script.push(c);
            }
            Some(TokenKind::Hole(placeholder)) => {
                let span = self.tokens[self.at].span.clone();
                self.at += 1;
                self.refuse(placeholder, span, UnsafePlace::AfterDollar);
            }
            _ => self.script.push('$'),
        }
    }

    fn at_base(&self) -> bool {
        self.frames.iter().all(|frame| matches!(frame.kind, FrameKind::Double))
    }

    fn open_substitution(&mut self, place: UnsafePlace, span: &Range<usize>) {
        self.open(FrameKind::Substitution { place, word: None, depth: 0 }, span);
    }

    fn open_backticks(&mut self, span: &Range<usize>) {
        self.needs_shell = true;
        self.script.push('`');
        if self.at_base() {
            self.commands.word().dynamic = true;
        }
        self.open(FrameKind::Backticks { murky: false }, span);
    }

    fn double(&mut self, c: char, span: &Range<usize>) {
        match c {
            '"' => {
                self.script.push(c);
                self.frames.pop();
            }
            '`' => self.open_backticks(span),
            '$' => self.dollar(span, true),
            '\\' => self.backslash_in_double(),
            c => {
                self.script.push(c);
                if self.at_base() {
                    self.commands.quoted(c);
                }
            }
        }
    }

    fn backslash_in_double(&mut self) {
        self.script.push('\\');
        let at_base = self.at_base();
        match self.peek() {
            Some(TokenKind::Char(c @ ('$' | '`' | '"' | '\\' | '\n'))) => {
                self.at += 1;
                self.script.push(c);
                if at_base && c != '\n' {
                    self.commands.quoted(c);
                }
            }
            Some(TokenKind::Hole(placeholder)) => {
                let span = self.tokens[self.at].span.clone();
                self.at += 1;
                self.refuse(placeholder, span, UnsafePlace::AfterBackslash);
            }
            // Before anything else it is itself.
            _ if at_base => self.commands.quoted('\\'),
            _ => {}
        }
    }

    fn substitution(&mut self, c: char, span: &Range<usize>) {
        let next = self.peek();
        let Some(Frame { kind: FrameKind::Substitution { word, depth, .. }, .. }) = self.frames.last_mut()
        else {
            return;
        };
        let ends_word = matches!(c, ' ' | '\t' | '\n' | ';' | '&' | '|' | '<' | '>' | '(' | ')');
        if ends_word {
            let ended = word.take();
            if ended.is_some_and(|word| word == "case") {
                // Its patterns end in parentheses that open nowhere.
                return self.lose(c, UnsafePlace::Ambiguous("`case` in $( )"));
            }
        } else if c == '#' && word.is_none() {
            return self.lose(c, UnsafePlace::Ambiguous("a comment in $( )"));
        } else {
            word.get_or_insert_default().push(c);
        }
        match c {
            '(' => *depth += 1,
            ')' if *depth > 0 => *depth -= 1,
            ')' => {
                self.frames.pop();
            }
            '<' if next == Some(TokenKind::Char('<')) => return self.lose(c, UnsafePlace::HereDocument),
            '\'' => return self.single(span),
            '"' => self.open(FrameKind::Double, span),
            '`' => return self.open_backticks(span),
            '$' => return self.dollar(span, false),
            '\\' => {
                self.script.push(c);
                // A placeholder is left for the next round, where it is refused.
                if let Some(TokenKind::Char(c)) = next {
                    self.at += 1;
                    self.script.push(c);
                }
                return;
            }
            _ => {}
        }
        self.script.push(c);
    }

    fn backticks(&mut self, c: char) {
        self.script.push(c);
        let next = self.peek();
        let Some(Frame { kind: FrameKind::Backticks { murky }, .. }) = self.frames.last_mut() else { return };
        match c {
            '`' => {
                let was_murky = *murky;
                self.frames.pop();
                if was_murky {
                    self.lost = Some(UnsafePlace::Ambiguous("quotes or comments in ` `"));
                }
            }
            '\\' => {
                if let Some(TokenKind::Char(c)) = next {
                    self.at += 1;
                    self.script.push(c);
                    *murky |= c == '`';
                }
            }
            '\'' | '"' | '#' | '<' => *murky = true,
            '$' if next == Some(TokenKind::Char('(')) => *murky = true,
            _ => {}
        }
    }

    fn parameter(&mut self, c: char, span: &Range<usize>) {
        match c {
            '}' => {
                self.script.push(c);
                self.frames.pop();
            }
            '\'' | '"' | '`' => self.lose(c, UnsafePlace::Ambiguous("quotes in ${ }")),
            '\\' => {
                self.script.push(c);
                if let Some(TokenKind::Char(c)) = self.peek() {
                    self.at += 1;
                    self.script.push(c);
                }
            }
            '$' => self.dollar(span, false),
            c => self.script.push(c),
        }
    }
}
