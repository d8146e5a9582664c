//! A command line with placeholders: parsed once, resolved many times.

mod code;
mod fault;
mod shell;
mod token;
mod word;

use std::path::PathBuf;

use jackin_core::InstanceName;
use thiserror::Error;

pub use fault::{FaultKind, TemplateFault, UnsafePlace};
use token::{Token, TokenKind};

use crate::command::{EnvVar, ResolvedCommand};
use crate::context::Context;
use crate::placeholder::Placeholder;

/// A command line with placeholders such as `{issue}`; `{{` and `}}` are braces.
///
/// Whatever a value contains, it arrives as one argument (or as one part of one), byte for byte, and nothing of it is
/// run. Without shell syntax there is no shell: the text is split into words first and the values are placed after.
/// With shell syntax it runs as `sh -c` with a script that does not depend on the values: they are in the environment,
/// and the script refers to them in quotes that fit the place. A place where that cannot be safe is an error.
///
/// ```
/// use jackin_tools::{Context, Placeholder, Provenance, Template, TemplateKind};
///
/// let template = Template::parse("echo {input} >> ~/ops.log", TemplateKind::Prompt).unwrap();
/// let mut context = Context::new();
/// context.set(Placeholder::Input, "it's $(done)", Provenance::Operator)?;
/// let command = template.resolve(&context)?;
/// assert_eq!(command.args, ["-c", r#"echo "${JACKIN_INPUT}" >> ~/ops.log"#]);
/// assert_eq!(&*command.env[0].value, "it's $(done)");
///
/// let faults = Template::parse("sh -c 'open {issue}'", TemplateKind::Exec).unwrap_err();
/// assert_eq!(faults[0].kind.to_string(), "{issue} is not safe in what sh takes for code");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template {
    source: String,
    plan: Plan,
    uses: Vec<Placeholder>,
}

/// Which placeholders a command may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TemplateKind {
    /// A tool's command: everything about the instance.
    Exec,
    /// A prompt tool's command: `{input}` as well.
    Prompt,
    /// A handler's command: `{}`, what to open, as well.
    Handler,
}

/// Why a command cannot be made from a template.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ResolveError {
    /// Values are missing. The message has a line for each.
    #[error("{}", missing_values(.placeholders, .instance.as_ref()))]
    Missing {
        /// Whose.
        placeholders: Vec<Placeholder>,
        /// For which instance.
        instance: Option<InstanceName>,
    },
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Plan {
    Words { program: Text, args: Vec<Text> },
    Shell { script: String },
}

/// A word: texts with values between them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Text {
    parts: Vec<Part>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Text(String),
    Value(Placeholder),
}

impl Template {
    /// The longest text in bytes; as a script it must fit into one argument.
    pub const MAX_LEN: usize = 16 * 1024;

    /// Reads a command line; all that is wrong with it is reported.
    pub fn parse(text: &str, kind: TemplateKind) -> Result<Self, Vec<TemplateFault>> {
        if text.len() > Self::MAX_LEN {
            let fault = FaultKind::TooLong { len: text.len() };
            return Err(vec![TemplateFault { kind: fault, span: 0..text.len() }]);
        }
        let mut faults = Vec::new();
        let tokens = token::tokens(text, kind, &mut faults);
        let braces_are_sound = faults.is_empty();
        let reading = shell::read(&tokens, &mut faults);
        let variables: Vec<_> = variables(text).collect();
        if kind != TemplateKind::Prompt {
            for (at, name) in variables.iter().filter(|(_, name)| *name == Placeholder::Input.variable()) {
                let written = FaultKind::InputOutsidePrompt { written: format!("${name}") };
                faults.push(TemplateFault { kind: written, span: *at..at + 1 + name.len() });
            }
        }
        if braces_are_sound {
            let has_program = reading.commands.iter().any(|command| {
                let first = command.words.first();
                first.is_some_and(|word| !word.text.is_empty() || word.dynamic || !word.holes.is_empty())
                    || !command.targets.is_empty()
            });
            if !has_program && faults.is_empty() {
                faults.push(TemplateFault { kind: FaultKind::Empty, span: 0..text.len() });
            }
            code::check(&reading.commands, &mut faults);
        }
        if !faults.is_empty() {
            faults.sort_by_key(|fault| fault.span.start);
            return Err(faults);
        }
        let mut uses: Vec<_> = Placeholder::ALL
            .into_iter()
            .filter(|placeholder| {
                tokens.iter().any(|token| token.kind == TokenKind::Hole(*placeholder))
                    || variables.iter().any(|(_, name)| *name == placeholder.variable())
            })
            .collect();
        uses.shrink_to_fit();
        let plan = if reading.needs_shell {
            Plan::Shell { script: reading.script }
        } else {
            words(&tokens)
                .ok_or_else(|| vec![TemplateFault { kind: FaultKind::Empty, span: 0..text.len() }])?
        };
        Ok(Self { source: text.to_owned(), plan, uses })
    }

    /// The text as it was written.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Whether it runs as `sh -c`.
    pub fn needs_shell(&self) -> bool {
        matches!(self.plan, Plan::Shell { .. })
    }

    /// The values that it cannot do without: its placeholders, and the `$JACKIN_*` variables that it names plainly.
    /// One with a default of its own, as in `${{JACKIN_PR:-none}}`, is not among them.
    pub fn uses(&self) -> &[Placeholder] {
        &self.uses
    }

    /// The command for these values. It runs in the host's working directory where that is known.
    pub fn resolve(&self, context: &Context) -> Result<ResolvedCommand, ResolveError> {
        let missing: Vec<_> =
            self.uses.iter().copied().filter(|placeholder| context.get(*placeholder).is_none()).collect();
        if !missing.is_empty() {
            let instance = context.instance().cloned();
            return Err(ResolveError::Missing { placeholders: missing, instance });
        }
        let (program, args, via_shell) = match &self.plan {
            Plan::Words { program, args } => {
                (program.fill(context), args.iter().map(|word| word.fill(context)).collect(), false)
            }
            Plan::Shell { script } => ("sh".to_owned(), vec!["-c".to_owned(), script.clone()], true),
        };
        let mut env = Vec::with_capacity(Placeholder::ALL.len());
        env.extend(
            context
                .values()
                .map(|(placeholder, value)| EnvVar { name: placeholder.variable(), value: value.shared() }),
        );
        let cwd = context.get(Placeholder::HostWorkdir).map(|value| PathBuf::from(value.text()));
        Ok(ResolvedCommand { program, args, env, cwd, via_shell })
    }
}

impl TemplateKind {
    /// Whether a command of this kind may use the placeholder.
    pub fn allows(self, placeholder: Placeholder) -> bool {
        match placeholder {
            Placeholder::Input => self == Self::Prompt,
            Placeholder::Target => self == Self::Handler,
            _ => true,
        }
    }
}

impl Text {
    fn fill(&self, context: &Context) -> String {
        let mut filled = String::with_capacity(
            self.parts
                .iter()
                .map(|part| match part {
                    Part::Text(text) => text.len(),
                    Part::Value(placeholder) => value(context, *placeholder).len(),
                })
                .sum(),
        );
        for part in &self.parts {
            match part {
                Part::Text(text) => filled.push_str(text),
                Part::Value(placeholder) => filled.push_str(value(context, *placeholder)),
            }
        }
        filled
    }
}

/// A value that `resolve` has found to be there.
fn value(context: &Context, placeholder: Placeholder) -> &str {
    context.get(placeholder).map_or("", |value| value.text())
}

/// Splits the text into words and puts the placeholders into them. Each is stood in for by a character that the text
/// does not have, so that the split cannot take it for a blank, a quote or a backslash.
fn words(tokens: &[Token]) -> Option<Plan> {
    let has = |c: char| tokens.iter().any(|token| token.kind == TokenKind::Char(c));
    let stand_in = ('\u{e000}'..=char::MAX).find(|&c| !has(c))?;
    let mut line = String::with_capacity(tokens.len());
    let mut holes = Vec::new();
    for token in tokens {
        match token.kind {
            TokenKind::Char(c) => line.push(c),
            TokenKind::Hole(placeholder) => {
                line.push(stand_in);
                holes.push(placeholder);
            }
        }
    }
    let mut holes = holes.into_iter();
    let mut words = shell_words::split(&line).ok()?.into_iter().map(|word| {
        let mut text = Text::default();
        for (at, piece) in word.split(stand_in).enumerate() {
            if at > 0 {
                text.parts.extend(holes.next().map(Part::Value));
            }
            if !piece.is_empty() {
                text.parts.push(Part::Text(piece.to_owned()));
            }
        }
        text
    });
    let program = words.next()?;
    let args = words.collect();
    Some(Plan::Words { program, args })
}

/// Where the text names a `JACKIN_*` variable as `$NAME` or `${{NAME}}`.
fn variables(text: &str) -> impl Iterator<Item = (usize, &'static str)> {
    text.match_indices('$').filter_map(|(at, _)| {
        let rest = &text[at + 1..];
        let (rest, braced) = rest.strip_prefix("{{").map_or((rest, false), |rest| (rest, true));
        let end = rest.find(|c: char| c != '_' && !c.is_ascii_alphanumeric()).unwrap_or(rest.len());
        let name =
            Placeholder::ALL.into_iter().map(Placeholder::variable).find(|name| *name == &rest[..end])?;
        (!braced || rest[end..].starts_with("}}")).then_some((at, name))
    })
}

fn missing_values(placeholders: &[Placeholder], instance: Option<&InstanceName>) -> String {
    let lines: Vec<_> =
        placeholders.iter().map(|placeholder| missing_value(*placeholder, instance)).collect();
    lines.join("\n")
}

fn missing_value(placeholder: Placeholder, instance: Option<&InstanceName>) -> String {
    let of = instance
        .map_or_else(|| "and no instance is chosen".to_owned(), |name| format!("for instance {name}"));
    match placeholder {
        Placeholder::Instance => "no instance is chosen: {instance} has no value".to_owned(),
        Placeholder::Input => "the prompt was not answered: {input} has no value".to_owned(),
        Placeholder::Target => "there is nothing to open: {} has no value".to_owned(),
        Placeholder::Workspace => format!("no workspace is known {of}"),
        Placeholder::Workdir => format!("no working directory in the container is known {of}"),
        Placeholder::HostWorkdir => format!("no working directory on this machine is known {of}"),
        tag => format!("no <jackin:{}> recorded {of}", tag.name()),
    }
}

#[cfg(test)]
mod tests;
