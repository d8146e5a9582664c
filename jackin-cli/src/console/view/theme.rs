//! Colours and signs. On a dark terminal the colours are its own sixteen, which follow its theme; on one that says to be
//! light they are darker ones of the 256, each with a contrast of 4.5 to white or better, because yellow, green and cyan
//! are hardly seen there. A sign beside each colour says the same without it.

use jackin_core::{AgentStatus, Attention};
use ratatui::style::{Color, Modifier, Style};

use crate::console::background;

/// What the terminal can show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Theme {
    /// Colours at all.
    pub(crate) colors: bool,
    /// 256 of them.
    pub(crate) many: bool,
    /// On a light background.
    pub(crate) light: bool,
}

impl Default for Theme {
    fn default() -> Self {
        Self { colors: true, many: true, light: false }
    }
}

/// What is coloured.
#[derive(Clone, Copy, Debug)]
enum Ink {
    Red,
    Yellow,
    Orange,
    Green,
    Cyan,
    Blue,
    Grey,
}

#[expect(clippy::unused_self, reason = "looks are asked of the theme, whether or not they depend on it")]
impl Theme {
    /// What the environment says of the terminal.
    pub(crate) fn new(variable: impl Fn(&str) -> Option<String>) -> Self {
        let set = |name| variable(name).filter(|value| !value.is_empty());
        let term = set("TERM").unwrap_or_default();
        let many = term.contains("256") || term.contains("direct") || set("COLORTERM").is_some();
        let light = background::guess(set("COLORFGBG").as_deref()).unwrap_or(false);
        Self { colors: set("NO_COLOR").is_none() && term != "dumb", many, light }
    }

    /// The sign and the look of a state.
    pub(crate) fn state(self, attention: Attention, status: &AgentStatus) -> (&'static str, Style) {
        match (attention, status) {
            (_, AgentStatus::Crashed { .. } | AgentStatus::OomKilled) => ("✗", self.bad()),
            (Attention::Blocked, _) => ("?", self.wait()),
            (Attention::Done, _) => ("✓", self.ink(Ink::Cyan).add_modifier(Modifier::BOLD)),
            (Attention::Working, _) => ("●", self.good()),
            (Attention::Idle, AgentStatus::Ended { .. }) => ("□", self.quiet()),
            (Attention::Idle, _) => ("○", self.ink(Ink::Orange)),
            (Attention::Unknown, AgentStatus::Initializing) => ("◌", self.quiet()),
            (Attention::Unknown, _) => ("·", self.quiet()),
        }
    }

    fn ink(self, ink: Ink) -> Style {
        let style = Style::new();
        match (self.light, self.many) {
            _ if !self.colors => style,
            (true, true) => style.fg(Color::Indexed(match ink {
                Ink::Red => 160,
                Ink::Yellow => 94,
                Ink::Orange => 130,
                Ink::Green => 28,
                Ink::Cyan => 24,
                Ink::Blue => 26,
                // How faint `DIM` is differs a lot, and on white it is soon too faint.
                Ink::Grey => 242,
            })),
            // Of sixteen, only these are seen on white.
            (true, false) => match ink {
                Ink::Red => style.fg(Color::Red),
                Ink::Blue => style.fg(Color::Blue),
                Ink::Grey => style.add_modifier(Modifier::DIM),
                _ => style,
            },
            (false, many) => match ink {
                Ink::Red => style.fg(Color::Red),
                Ink::Yellow => style.fg(Color::Yellow),
                Ink::Orange if many => style.fg(Color::Indexed(208)),
                Ink::Orange => style.fg(Color::Yellow).add_modifier(Modifier::DIM),
                Ink::Green => style.fg(Color::Green),
                Ink::Cyan => style.fg(Color::Cyan),
                // The blue of sixteen is hardly seen on black.
                Ink::Blue if many => style.fg(Color::Indexed(32)),
                Ink::Blue => style.fg(Color::Blue),
                Ink::Grey => style.add_modifier(Modifier::DIM),
            },
        }
    }

    /// What is there for whoever looks for it.
    pub(crate) fn quiet(self) -> Style {
        if self.colors { self.ink(Ink::Grey) } else { Style::new().add_modifier(Modifier::DIM) }
    }

    pub(crate) fn strong(self) -> Style {
        Style::new().add_modifier(Modifier::BOLD)
    }

    pub(crate) fn bad(self) -> Style {
        self.ink(Ink::Red).add_modifier(Modifier::BOLD)
    }

    pub(crate) fn good(self) -> Style {
        self.ink(Ink::Green)
    }

    pub(crate) fn wait(self) -> Style {
        self.ink(Ink::Yellow).add_modifier(Modifier::BOLD)
    }

    pub(crate) fn link(self) -> Style {
        self.ink(Ink::Blue).add_modifier(Modifier::UNDERLINED)
    }

    /// A key in a bar.
    pub(crate) fn key(self) -> Style {
        Style::new().add_modifier(Modifier::BOLD | Modifier::REVERSED)
    }

    /// A bar in the terminal's own colours: reversed, any other would be a background that nothing is read on.
    pub(crate) fn selected(self) -> Style {
        Style::new().fg(Color::Reset).add_modifier(Modifier::REVERSED).remove_modifier(Modifier::DIM)
    }

    /// A piece of an agent's screen; without colours, its attributes.
    pub(crate) fn screen(self, style: Style) -> Style {
        if self.colors { style } else { Style { fg: None, bg: None, underline_color: None, ..style } }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Ink; 7] = [Ink::Red, Ink::Yellow, Ink::Orange, Ink::Green, Ink::Cyan, Ink::Blue, Ink::Grey];

    /// How light one of the 256 colours is, from 0 to 1, as WCAG defines it.
    fn luminance(index: u8) -> f64 {
        let cube = |step: u8| if step == 0 { 0 } else { 55 + 40 * step };
        let parts = match index {
            16..=231 => [(index - 16) / 36, (index - 16) / 6 % 6, (index - 16) % 6].map(cube),
            232.. => [8 + 10 * (index - 232); 3],
            _ => panic!("what {index} looks like is up to the terminal"),
        };
        let [red, green, blue] = parts.map(|part| {
            let part = f64::from(part) / 255.0;
            if part <= 0.04045 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) }
        });
        0.2126 * red + 0.7152 * green + 0.0722 * blue
    }

    #[test]
    fn every_colour_is_readable_on_white_and_on_black() {
        let light = Theme { light: true, ..Theme::default() };
        for ink in ALL {
            let Some(Color::Indexed(index)) = light.ink(ink).fg else {
                panic!("{ink:?} depends on the terminal")
            };
            let contrast = 1.05 / (luminance(index) + 0.05);
            assert!(contrast >= 4.5, "{ink:?} has {contrast:.1} on white");
            if let Some(Color::Indexed(index)) = Theme::default().ink(ink).fg {
                let contrast = (luminance(index) + 0.05) / 0.05;
                assert!(contrast >= 4.5, "{ink:?} has {contrast:.1} on black");
            }
        }
    }

    #[test]
    fn without_colours_there_are_none_and_of_sixteen_only_what_is_seen() {
        for light in [false, true] {
            let plain = Theme { colors: false, light, ..Theme::default() };
            assert!(ALL.iter().all(|ink| plain.ink(*ink).fg.is_none()));
        }
        let few = Theme { many: false, light: true, ..Theme::default() };
        let seen = |ink: &&Ink| few.ink(**ink).fg.is_some();
        assert_eq!(ALL.iter().filter(seen).count(), 2);
    }
}
