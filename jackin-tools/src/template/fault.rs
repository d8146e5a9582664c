use std::fmt;
use std::ops::Range;

use crate::placeholder::Placeholder;

/// What is wrong with a template, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TemplateFault {
    /// What is wrong.
    pub kind: FaultKind,
    /// Which bytes of the template's text.
    pub span: Range<usize>,
}

/// What can be wrong with a template.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FaultKind {
    /// There is no command in it.
    Empty,
    /// It is longer than allowed.
    TooLong {
        /// Its length in bytes.
        len: usize,
    },
    /// It contains a NUL character.
    Nul,
    /// A single brace that belongs to no placeholder.
    StrayBrace {
        /// The brace.
        brace: char,
        /// Whether it is the brace of a shell's `${…}`.
        after_dollar: bool,
    },
    /// A placeholder that does not exist, or not in this kind of command.
    UnknownPlaceholder {
        /// The text between the braces.
        name: String,
        /// Whether a `$` stands before it, as in the shell's `${NAME}`.
        after_dollar: bool,
        /// The ones that do exist here.
        known: Vec<Placeholder>,
    },
    /// `{input}`, or `$JACKIN_INPUT`, in a tool that asks no question.
    InputOutsidePrompt {
        /// As it is written.
        written: String,
    },
    /// A quote, or something else that opens and closes, is not closed.
    Unbalanced {
        /// What was opened.
        opener: &'static str,
    },
    /// A placeholder in a place where no quoting makes its value safe.
    Unsafe {
        /// The placeholder.
        placeholder: Placeholder,
        /// The place.
        place: UnsafePlace,
    },
}

/// Where a value cannot be made safe.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum UnsafePlace {
    /// `$( … )`, `<( … )` or `>( … )`.
    Substitution,
    /// `` `…` ``.
    Backticks,
    /// `${ … }`.
    ParameterExpansion,
    /// `$(( … ))`, `$[ … ]`, `(( … ))`.
    Arithmetic,
    /// After `<<`.
    HereDocument,
    /// After `#`.
    Comment,
    /// Directly after a backslash.
    AfterBackslash,
    /// Directly after a dollar sign.
    AfterDollar,
    /// In a `[ … ]` of a pattern or an index.
    Pattern,
    /// The name of the program that is run.
    Program,
    /// The file that the shell opens for `>` or `<`.
    Redirection,
    /// Text that this program takes for code.
    Code(String),
    /// Text that is piped into this program, which takes it for code.
    PipedIntoShell(String),
    /// After syntax that different shells read differently.
    Ambiguous(&'static str),
}

impl FaultKind {
    /// What to write instead.
    pub fn advice(&self) -> String {
        match self {
            Self::Empty => "write the command to run, such as exec = \"cargo clippy\"".to_owned(),
            Self::TooLong { .. } => "put it into a script file and run that".to_owned(),
            Self::Nul => "remove it: no program can receive it".to_owned(),
            Self::StrayBrace { after_dollar: true, .. } => {
                "double the braces of the shell's own: ${{NAME}}".to_owned()
            }
            Self::StrayBrace { brace, .. } => format!("write {brace}{brace} for a brace"),
            Self::UnknownPlaceholder { name, after_dollar: true, .. } => {
                format!("for the shell's variable, double the braces: ${{{{{name}}}}}")
            }
            Self::UnknownPlaceholder { name, known, .. } => {
                let known: Vec<_> = known.iter().map(ToString::to_string).collect();
                format!("write one of {}; for the braces themselves, {{{{{name}}}}}", known.join(", "))
            }
            Self::InputOutsidePrompt { .. } => {
                "add type = \"prompt\" and prompt = \"…\", the question to ask".to_owned()
            }
            Self::Unbalanced { opener } => format!("close it, or write \\{opener} for the character itself"),
            Self::Unsafe { placeholder, place } => place.advice(*placeholder),
        }
    }
}

impl UnsafePlace {
    fn advice(&self, placeholder: Placeholder) -> String {
        let variable = placeholder.variable();
        match self {
            Self::Comment => format!("remove it there, or quote the #; the value is also in ${variable}"),
            Self::AfterBackslash => {
                format!("remove the backslash, or double it; the value is also in ${variable}")
            }
            Self::AfterDollar => {
                format!("remove the $, or write \\$ for the character; the value is also in ${variable}")
            }
            Self::Program => format!("name the program, and let it read the variable {variable}"),
            Self::Redirection => {
                format!("name the file; if this must be, write \"${variable}\" there, knowing what it may be")
            }
            Self::Code(program) => code_advice(program, variable),
            Self::PipedIntoShell(_) => {
                format!("let the commands read the variable {variable} instead: \"${variable}\"")
            }
            Self::Arithmetic => format!("use the variable {variable}, once it is known to be a number"),
            Self::Pattern => format!("compare with \"${variable}\", the variable, outside of the brackets"),
            Self::HereDocument => format!("write the variable there: ${variable}"),
            _ => format!("use the variable {variable} there, in double quotes: \"${variable}\""),
        }
    }
}

/// How that code gets at the value. Merely writing the variable in place of the placeholder would often not do: a
/// shell in between would put the value into the code just the same.
fn code_advice(program: &str, variable: &str) -> String {
    match program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.') {
        "awk" => format!("let the program read the variable: ENVIRON[\"{variable}\"]"),
        "python" | "pypy" => format!("let the code read the variable: os.environ[\"{variable}\"]"),
        "perl" => format!("let the code read the variable: $ENV{{{{{variable}}}}}"),
        "ruby" => format!("let the code read the variable: ENV[\"{variable}\"]"),
        "node" | "nodejs" | "bun" => format!("let the code read the variable: process.env.{variable}"),
        "make" | "gmake" => format!("let the recipe read the variable: \"$${variable}\""),
        "ssh" | "autossh" | "mosh" | "rsh" => {
            format!("send the variable on standard input: printf '%s\\n' \"${variable}\" | {program} …")
        }
        "sh" | "bash" | "dash" | "ash" | "ksh" | "mksh" | "zsh" | "fish" | "eval" | "trap" | "su"
        | "runuser" | "script" | "flock" | "watch" | "the program" => {
            format!("write the code in single quotes and let it read the variable: '… \"${variable}\" …'")
        }
        _ => format!("let {program} itself read the variable {variable} from its environment"),
    }
}

impl fmt::Display for FaultKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("the command is empty"),
            Self::TooLong { len } => {
                write!(f, "the command is {len} bytes long: at most {} are allowed", super::Template::MAX_LEN)
            }
            Self::Nul => f.write_str("the command contains a NUL character"),
            Self::StrayBrace { brace: '{', .. } => f.write_str("{ opens no placeholder"),
            Self::StrayBrace { brace, .. } => write!(f, "{brace} closes no placeholder"),
            Self::UnknownPlaceholder { name, .. } => write!(f, "unknown placeholder {{{name}}}"),
            Self::InputOutsidePrompt { written } => {
                write!(f, "{written} in a tool that asks no question")
            }
            Self::Unbalanced { opener } => write!(f, "{opener} is not closed"),
            Self::Unsafe { placeholder, place } => write!(f, "{placeholder} is not safe {place}"),
        }
    }
}

impl fmt::Display for UnsafePlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Substitution => f.write_str("inside a command substitution $( )"),
            Self::Backticks => f.write_str("inside a command substitution ` `"),
            Self::ParameterExpansion => f.write_str("inside the shell's ${ }"),
            Self::Arithmetic => f.write_str("inside arithmetic: a shell may run what stands in it"),
            Self::HereDocument => f.write_str("after a here-document <<"),
            Self::Comment => f.write_str("in a comment: it would have no effect"),
            Self::AfterBackslash => f.write_str("directly after a backslash"),
            Self::AfterDollar => f.write_str("directly after a dollar sign"),
            Self::Pattern => f.write_str("inside the [ ] of a pattern"),
            Self::Program => f.write_str("as the program to run: somebody else would choose it"),
            Self::Redirection => f.write_str("as the file of a redirection: somebody else would choose it"),
            Self::Code(program) => write!(f, "in what {program} takes for code"),
            Self::PipedIntoShell(program) => write!(f, "in what is piped into {program} as code"),
            Self::Ambiguous(syntax) => write!(f, "after {syntax}, which shells read differently"),
        }
    }
}
