//! Colours and signs. The terminal's own sixteen colours follow its light or dark theme, so that both are readable; a
//! sign beside each colour says the same without it.

use jackin_core::{AgentStatus, Attention};
use ratatui::style::{Color, Modifier, Style};

/// What the terminal can show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Theme {
    /// Colours at all.
    pub(crate) colors: bool,
    /// 256 of them.
    pub(crate) many: bool,
}

impl Default for Theme {
    fn default() -> Self {
        Self { colors: true, many: true }
    }
}

/// Orange among 256 colours.
const ORANGE: Color = Color::Indexed(208);

#[expect(clippy::unused_self, reason = "looks are asked of the theme, whether or not they depend on it")]
impl Theme {
    /// What the environment says of the terminal.
    pub(crate) fn new(variable: impl Fn(&str) -> Option<String>) -> Self {
        let set = |name| variable(name).filter(|value| !value.is_empty());
        let term = set("TERM").unwrap_or_default();
        let many = term.contains("256") || term.contains("direct") || set("COLORTERM").is_some();
        Self { colors: set("NO_COLOR").is_none() && term != "dumb", many }
    }

    /// The sign and the look of a state.
    pub(crate) fn state(self, attention: Attention, status: &AgentStatus) -> (&'static str, Style) {
        let bold = Style::new().add_modifier(Modifier::BOLD);
        match (attention, status) {
            (_, AgentStatus::Crashed { .. } | AgentStatus::OomKilled) => ("✗", self.color(bold, Color::Red)),
            (Attention::Blocked, _) => ("?", self.color(bold, Color::Yellow)),
            (Attention::Done, _) => ("✓", self.color(bold, Color::Cyan)),
            (Attention::Working, _) => ("●", self.color(Style::new(), Color::Green)),
            (Attention::Idle, AgentStatus::Ended { .. }) => ("□", self.quiet()),
            (Attention::Idle, _) => ("○", self.orange()),
            (Attention::Unknown, AgentStatus::Initializing) => ("◌", self.quiet()),
            (Attention::Unknown, _) => ("·", self.quiet()),
        }
    }

    fn orange(self) -> Style {
        if self.many {
            return self.color(Style::new(), ORANGE);
        }
        self.color(Style::new(), Color::Yellow).add_modifier(Modifier::DIM)
    }

    fn color(self, style: Style, color: Color) -> Style {
        if self.colors { style.fg(color) } else { style }
    }

    /// What is there for whoever looks for it.
    pub(crate) fn quiet(self) -> Style {
        Style::new().add_modifier(Modifier::DIM)
    }

    pub(crate) fn strong(self) -> Style {
        Style::new().add_modifier(Modifier::BOLD)
    }

    pub(crate) fn bad(self) -> Style {
        self.color(Style::new().add_modifier(Modifier::BOLD), Color::Red)
    }

    pub(crate) fn good(self) -> Style {
        self.color(Style::new(), Color::Green)
    }

    pub(crate) fn wait(self) -> Style {
        self.color(Style::new().add_modifier(Modifier::BOLD), Color::Yellow)
    }

    pub(crate) fn link(self) -> Style {
        self.color(Style::new().add_modifier(Modifier::UNDERLINED), Color::Blue)
    }

    /// A key in a bar.
    pub(crate) fn key(self) -> Style {
        Style::new().add_modifier(Modifier::BOLD | Modifier::REVERSED)
    }

    pub(crate) fn selected(self) -> Style {
        Style::new().add_modifier(Modifier::REVERSED)
    }

    /// A piece of an agent's screen; without colours, its attributes.
    pub(crate) fn screen(self, style: Style) -> Style {
        if self.colors { style } else { Style { fg: None, bg: None, underline_color: None, ..style } }
    }
}
