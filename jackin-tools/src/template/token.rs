//! A template's text with its braces read: characters and placeholders.

use std::ops::Range;

use super::TemplateKind;
use super::fault::{FaultKind, TemplateFault};
use crate::placeholder::Placeholder;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) kind: TokenKind,
    /// The bytes of the template's text.
    pub(super) span: Range<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TokenKind {
    Char(char),
    Hole(Placeholder),
}

/// Reads `{name}`, `{{` and `}}`. What is wrong with them is added to `faults`.
pub(super) fn tokens(text: &str, kind: TemplateKind, faults: &mut Vec<TemplateFault>) -> Vec<Token> {
    let mut tokens = Vec::with_capacity(text.len());
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        let rest = &text[at..];
        let (len, token) = match c {
            '{' if rest.starts_with("{{") => (2, Some(TokenKind::Char('{'))),
            '}' if rest.starts_with("}}") => (2, Some(TokenKind::Char('}'))),
            '{' => {
                let after_dollar = text[..at].ends_with('$');
                match placeholder(rest, kind, after_dollar) {
                    Ok((len, placeholder)) => (len, Some(TokenKind::Hole(placeholder))),
                    Err((len, fault)) => {
                        faults.push(TemplateFault { kind: fault, span: at..at + len });
                        (len, None)
                    }
                }
            }
            '}' => {
                let fault = FaultKind::StrayBrace { brace: '}', after_dollar: false };
                faults.push(TemplateFault { kind: fault, span: at..at + 1 });
                (1, None)
            }
            '\0' => {
                faults.push(TemplateFault { kind: FaultKind::Nul, span: at..at + 1 });
                (1, None)
            }
            c => (c.len_utf8(), Some(TokenKind::Char(c))),
        };
        tokens.extend(token.map(|kind| Token { kind, span: at..at + len }));
        at += len;
    }
    tokens
}

/// The placeholder that `rest` begins with and its length, or what is wrong and how much of the text that is.
fn placeholder(
    rest: &str,
    kind: TemplateKind,
    after_dollar: bool,
) -> Result<(usize, Placeholder), (usize, FaultKind)> {
    let inside = &rest[1..];
    let stray = (1, FaultKind::StrayBrace { brace: '{', after_dollar });
    let Some(end) = inside.find(['{', '}']).filter(|&end| inside[end..].starts_with('}')) else {
        return Err(stray);
    };
    let name = &inside[..end];
    // A shell's group or an awk program rather than a name that was mistyped.
    if name.chars().any(|c| c.is_whitespace() || c == '"' || c == '\'') {
        return Err(stray);
    }
    let len = end + 2;
    let unknown = || {
        let known = Placeholder::ALL.into_iter().filter(|&known| kind.allows(known)).collect();
        (len, FaultKind::UnknownPlaceholder { name: name.to_owned(), after_dollar, known })
    };
    match Placeholder::from_name(name) {
        Some(placeholder) if kind.allows(placeholder) => Ok((len, placeholder)),
        Some(Placeholder::Input) if kind == TemplateKind::Exec => {
            Err((len, FaultKind::InputOutsidePrompt { written: Placeholder::Input.to_string() }))
        }
        _ => Err(unknown()),
    }
}
