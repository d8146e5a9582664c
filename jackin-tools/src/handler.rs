use thiserror::Error;

use crate::command::ResolvedCommand;
use crate::context::{Context, Provenance, ValueError};
use crate::placeholder::Placeholder;
use crate::template::{ResolveError, Template, TemplateKind};

/// What opens links, files and changes: the operator's choice, else the system's default.
///
/// ```
/// use jackin_tools::{Context, HandlerKind, Platform, Tools};
///
/// let tools = Tools::parse("[handler]\nweb = 'firefox --new-tab {}'").unwrap();
/// let url = "https://example.com/?a=1&b=2";
/// let command = tools.handlers().resolve(HandlerKind::Web, url, &Context::new(), Platform::Freedesktop)?;
/// assert_eq!(command.argv().collect::<Vec<_>>(), ["firefox", "--new-tab", url]);
/// # Ok::<(), jackin_tools::HandlerError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Handlers {
    commands: [Option<Template>; HandlerKind::ALL.len()],
}

/// What is to be opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum HandlerKind {
    /// A file or link, with whatever the system would use.
    Open,
    /// A web page.
    Web,
    /// The changes in a directory.
    Diff,
    /// A file, to change it.
    Editor,
    /// A file, to read it.
    Pager,
}

/// Whose defaults to use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Platform {
    /// Linux and the other systems with `xdg-open`.
    Freedesktop,
    /// macOS.
    MacOs,
}

/// Why there is no command to open something.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum HandlerError {
    /// The target cannot be passed to a program.
    #[error(transparent)]
    Value(#[from] ValueError),
    /// The handler asks for something that is not known.
    #[error(transparent)]
    Resolve(#[from] ResolveError),
}

impl Handlers {
    /// The operator's own command.
    pub fn get(&self, kind: HandlerKind) -> Option<&Template> {
        self.commands[kind as usize].as_ref()
    }

    /// Chooses a command, which must be of the kind [`TemplateKind::Handler`].
    pub fn set(&mut self, kind: HandlerKind, command: Template) {
        self.commands[kind as usize] = Some(command);
    }

    /// The command that opens `target`.
    pub fn resolve(
        &self,
        kind: HandlerKind,
        target: &str,
        context: &Context,
        platform: Platform,
    ) -> Result<ResolvedCommand, HandlerError> {
        let mut context = context.clone();
        context.set(Placeholder::Target, target, Provenance::Host)?;
        let command = match self.get(kind) {
            Some(command) => command.resolve(&context)?,
            None => kind.default_command(platform).resolve(&context)?,
        };
        Ok(command)
    }

    /// The command to run in place of `open TARGET` on a machine that has no program of that name.
    pub fn instead_of_open(
        &self,
        command: &ResolvedCommand,
        context: &Context,
        platform: Platform,
    ) -> Option<Result<ResolvedCommand, HandlerError>> {
        match command.args.as_slice() {
            [target] if command.program == HandlerKind::Open.as_str() && !command.via_shell => {
                Some(self.resolve(HandlerKind::Open, target, context, platform))
            }
            _ => None,
        }
    }
}

impl HandlerKind {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Open, Self::Web, Self::Diff, Self::Editor, Self::Pager];

    /// The name in the configuration.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Web => "web",
            Self::Diff => "diff",
            Self::Editor => "editor",
            Self::Pager => "pager",
        }
    }

    /// What runs if the operator chose nothing.
    pub const fn default_source(self, platform: Platform) -> &'static str {
        match (self, platform) {
            (Self::Open | Self::Web, Platform::Freedesktop) => "xdg-open {}",
            (Self::Open | Self::Web, Platform::MacOs) => "open {}",
            (Self::Diff, _) => "git -C {} diff HEAD",
            (Self::Editor, _) => "${{VISUAL:-${{EDITOR:-vi}}}} {}",
            (Self::Pager, _) => "${{PAGER:-less}} {}",
        }
    }

    fn default_command(self, platform: Platform) -> Template {
        Template::parse(self.default_source(platform), TemplateKind::Handler)
            .expect("the defaults are constants, and a test parses each")
    }
}

impl Platform {
    /// The platform of an operating system by the name that Rust gives it (`std::env::consts::OS`).
    pub fn from_os(os: &str) -> Self {
        if os == "macos" { Self::MacOs } else { Self::Freedesktop }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_default_can_be_resolved() {
        for platform in [Platform::Freedesktop, Platform::MacOs] {
            for kind in HandlerKind::ALL {
                let command = Handlers::default()
                    .resolve(kind, "a b", &Context::new(), platform)
                    .unwrap_or_else(|_| panic!("{}", kind.as_str()));
                assert_eq!(command.env[0].name, "JACKIN_TARGET");
                assert_eq!(command.via_shell, matches!(kind, HandlerKind::Editor | HandlerKind::Pager));
            }
        }
        let editor = Handlers::default()
            .resolve(HandlerKind::Editor, "x", &Context::new(), Platform::from_os("linux"))
            .unwrap();
        assert_eq!(editor.args[1], "${VISUAL:-${EDITOR:-vi}} \"${JACKIN_TARGET}\"");
    }

    #[test]
    fn open_has_a_stand_in() {
        let context = Context::new();
        let template = Template::parse("open https://example.com", TemplateKind::Exec).unwrap();
        let command = template.resolve(&context).unwrap();
        let instead = Handlers::default().instead_of_open(&command, &context, Platform::Freedesktop);
        assert_eq!(instead.unwrap().unwrap().argv().collect::<Vec<_>>(), ["xdg-open", "https://example.com"]);
        for other in ["open -a Mail x", "xdg-open x", "open", "open x && true"] {
            let command = Template::parse(other, TemplateKind::Exec).unwrap().resolve(&context).unwrap();
            assert_eq!(Handlers::default().instead_of_open(&command, &context, Platform::Freedesktop), None);
        }
    }
}
