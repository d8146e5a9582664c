//! `[[tool]]` and `[handler]` of a configuration file.

mod mistake;
mod read;
mod source;

use jackin_core::RoleName;
use toml::de::DeTable;

pub use mistake::{ConfigError, Mistake, MistakeKind};
pub use source::Place;

use crate::handler::Handlers;
use crate::key::Key;
use crate::tool::Tool;

/// The tools and handlers of a configuration.
///
/// ```
/// use jackin_tools::Tools;
///
/// let tools = Tools::parse(r#"
///     [[tool]]
///     key = "i"
///     name = "Open emitted issue"
///     exec = "open {issue}"
/// "#)?;
/// assert_eq!(tools.visible_to(None)[0].name, "Open emitted issue");
///
/// let error = Tools::parse("[[tool]]\nkey = \"q\"\nname = \"Quiet\"\nexec = \"open {isue}\"\n").unwrap_err();
/// assert_eq!(error.mistakes().len(), 2);
/// assert!(error.render("config.toml").starts_with("config.toml:2:7: key `q` is the console's: it quits the console"));
/// # Ok::<(), jackin_tools::ConfigError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tools {
    tools: Vec<Tool>,
    handlers: Handlers,
}

impl Tools {
    /// The largest configuration in bytes.
    pub const MAX_CONFIG: usize = 1 << 20;

    /// How many mistakes are listed; the rest is counted.
    pub const MAX_MISTAKES: usize = 100;

    /// Reads a configuration. Only `[[tool]]` and `[handler]` are looked at; the rest must be TOML. Everything that is
    /// wrong is reported, not just the first.
    pub fn parse(text: &str) -> Result<Self, ConfigError> {
        let source = source::Source::new(if text.len() > Self::MAX_CONFIG { "" } else { text });
        if text.len() > Self::MAX_CONFIG {
            let kind = MistakeKind::TooLarge { len: text.len() };
            let mistake = Mistake { kind, place: source.place(0..0), other: None };
            return Err(ConfigError { mistakes: vec![mistake], unlisted: 0 });
        }
        let (root, syntax_errors) = DeTable::parse_recoverable(text);
        let (tools, mut mistakes, mut unlisted) = Self::read(root.get_ref(), text);
        if !syntax_errors.is_empty() {
            let listed = &syntax_errors[..syntax_errors.len().min(Self::MAX_MISTAKES)];
            // What could not be read may be what seems to be missing, and a broken line is reported once.
            let broken: Vec<_> =
                listed.iter().map(|error| source.place(error.span().unwrap_or(0..0))).collect();
            mistakes.retain(|mistake| {
                !matches!(mistake.kind, MistakeKind::MissingField { .. })
                    && broken.iter().all(|place| place.line != mistake.place.line)
            });
            mistakes.extend(listed.iter().zip(broken).map(|(error, place)| Mistake {
                kind: MistakeKind::Syntax(error.message().to_owned()),
                place,
                other: None,
            }));
            mistakes.sort_by_key(|mistake| mistake.place.span.start);
            unlisted +=
                syntax_errors.len() - listed.len() + mistakes.len().saturating_sub(Self::MAX_MISTAKES);
            mistakes.truncate(Self::MAX_MISTAKES);
        }
        if mistakes.is_empty() { Ok(tools) } else { Err(ConfigError { mistakes, unlisted }) }
    }

    /// Reads `tool` and `handler` from a document that was parsed already; `text` is what it was parsed from. Returns
    /// what could be read, and what is wrong with the rest, in the order of the text, up to
    /// [`MAX_MISTAKES`](Self::MAX_MISTAKES).
    pub fn from_table(root: &DeTable<'_>, text: &str) -> (Self, Vec<Mistake>) {
        let (tools, mistakes, _) = Self::read(root, text);
        (tools, mistakes)
    }

    fn read(root: &DeTable<'_>, text: &str) -> (Self, Vec<Mistake>, usize) {
        let mut reader = read::Reader::new(text);
        let (tools, handlers) = reader.document(root);
        let (mistakes, unlisted) = reader.into_mistakes();
        (Self { tools, handlers }, mistakes, unlisted)
    }

    /// All tools, in the order of the configuration.
    pub fn all(&self) -> &[Tool] {
        &self.tools
    }

    /// The tools for an instance of this role, or for one without a role, in the order in which they are shown: by
    /// key.
    pub fn visible_to(&self, role: Option<&RoleName>) -> Vec<&Tool> {
        let mut visible: Vec<_> = self.tools.iter().filter(|tool| tool.is_visible_to(role)).collect();
        visible.sort_by_key(|tool| tool.key);
        visible
    }

    /// The tool that a key fires for an instance of this role, or for one without a role.
    pub fn find(&self, key: Key, role: Option<&RoleName>) -> Option<&Tool> {
        self.tools.iter().find(|tool| tool.key == key && tool.is_visible_to(role))
    }

    /// What opens links, files and changes.
    pub fn handlers(&self) -> &Handlers {
        &self.handlers
    }
}
