use jackin_core::{AgentStatus, Attention};

use crate::vt::{Attributes, Color, Pen, Underline};

/// The fixed colours of the chrome.
pub(crate) struct Theme;

impl Theme {
    pub(crate) const BRAND: Pen = pen(Color::Rgb(10, 20, 10), Color::Rgb(80, 220, 100), Attributes::BOLD);
    pub(crate) const BAR: Pen = pen(Color::Rgb(150, 150, 150), Color::Rgb(28, 28, 28), Attributes::NONE);
    pub(crate) const TAB_HOVER: Pen =
        pen(Color::Rgb(220, 220, 220), Color::Rgb(42, 42, 42), Attributes::NONE);
    pub(crate) const CONTEXT_HOVER: Pen =
        pen(Color::Rgb(220, 220, 220), Color::Rgb(28, 28, 28), Attributes::NONE);
    pub(crate) const BORDER: Pen = pen(Color::Rgb(90, 90, 90), Color::Default, Attributes::NONE);
    pub(crate) const BORDER_FOCUSED: Pen = pen(Color::Rgb(80, 220, 100), Color::Default, Attributes::NONE);
    pub(crate) const HINT: Pen = pen(Color::Rgb(130, 130, 130), Color::Default, Attributes::NONE);
    pub(crate) const PANEL: Pen = pen(Color::Rgb(220, 220, 220), Color::Rgb(36, 36, 36), Attributes::NONE);
    pub(crate) const PANEL_QUIET: Pen =
        pen(Color::Rgb(140, 140, 140), Color::Rgb(36, 36, 36), Attributes::NONE);
    pub(crate) const PANEL_TITLE: Pen =
        pen(Color::Rgb(80, 220, 100), Color::Rgb(36, 36, 36), Attributes::BOLD);
    pub(crate) const PANEL_CHOSEN: Pen =
        pen(Color::Rgb(10, 20, 10), Color::Rgb(80, 220, 100), Attributes::NONE);
    pub(crate) const INDICATOR: Pen = pen(Color::Rgb(10, 10, 10), Color::Rgb(230, 190, 60), Attributes::NONE);
    pub(crate) const SCROLLBAR: Pen = pen(Color::Rgb(70, 70, 70), Color::Default, Attributes::NONE);
    pub(crate) const SCROLLBAR_THUMB: Pen = pen(Color::Rgb(180, 180, 180), Color::Default, Attributes::NONE);

    /// The tab that is shown: lifted and underlined.
    pub(crate) const fn tab_active() -> Pen {
        let mut pen = pen(Color::Rgb(255, 255, 255), Color::Rgb(58, 58, 58), Attributes::BOLD);
        pen.underline = Underline::Single;
        pen
    }

    /// How marked text looks.
    pub(crate) fn selected(mut pen: Pen) -> Pen {
        pen.attributes = if pen.attributes.contains(Attributes::INVERSE) {
            pen.attributes.without(Attributes::INVERSE)
        } else {
            pen.attributes | Attributes::INVERSE
        };
        pen
    }

    /// How what lies under a dialog looks.
    pub(crate) fn dimmed(mut pen: Pen) -> Pen {
        pen.attributes = pen.attributes.without(Attributes::BOLD) | Attributes::DIM;
        pen
    }

    /// The sign of a state; the console has the same.
    pub(crate) const fn glyph(attention: Attention, status: Option<&AgentStatus>) -> &'static str {
        match (attention, status) {
            (Attention::Blocked, Some(AgentStatus::Crashed { .. } | AgentStatus::OomKilled)) => "✗",
            (Attention::Blocked, _) => "?",
            (Attention::Done, _) => "✓",
            (Attention::Working, _) => "●",
            (Attention::Idle, _) => "○",
            (Attention::Unknown, _) => "·",
        }
    }

    /// The colour of a state; a process that is gone is worse than one that waits.
    pub(crate) const fn state(attention: Attention, status: Option<&AgentStatus>) -> Color {
        match (attention, status) {
            (Attention::Blocked, Some(AgentStatus::Crashed { .. } | AgentStatus::OomKilled)) => {
                Color::Rgb(240, 80, 80)
            }
            (Attention::Blocked, _) => Color::Rgb(240, 200, 60),
            (Attention::Done, _) => Color::Rgb(80, 210, 230),
            (Attention::Working, _) => Color::Rgb(80, 220, 100),
            (Attention::Idle, _) => Color::Rgb(230, 150, 70),
            (Attention::Unknown, _) => Color::Rgb(130, 130, 130),
        }
    }
}

const fn pen(foreground: Color, background: Color, attributes: Attributes) -> Pen {
    Pen {
        foreground,
        background,
        underline_color: Color::Default,
        underline: Underline::None,
        attributes,
        link: crate::vt::LinkId::NONE,
    }
}
