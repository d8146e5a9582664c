use jackin_core::{PaneId, Size, Timestamp};

use super::{FullRedrawReason, Mux};
use crate::dialog::{Choice, Dialog, List, Verdict};
use crate::layout::{Layout, Side};
use crate::output::{Launch, Output};
use crate::pane::Pane;

/// Where a pane is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// In a tab of its own, at the end.
    Tab,
    /// At the right of another pane.
    Right(PaneId),
    /// Below another pane.
    Down(PaneId),
}

impl Mux {
    /// Opens a pane for a program that the embedder starts; `name` is what the program is called before it sets a
    /// title. None when the place has no room or does not exist. Its size is told by [`Mux::size`].
    pub fn open(&mut self, place: Place, name: &str, focus: bool, now: Timestamp) -> Option<PaneId> {
        let id = PaneId::new(self.opened.checked_add(1)?)?;
        let name: String = name.chars().filter(|c| !c.is_control()).take(256).collect();
        let mut settings = self.settings.terminal.clone();
        settings.kitty_keyboard = self.kitty_keyboard;
        settings.cell_pixels = self.cell_pixels;
        match place {
            Place::Tab => self.tabs.open(Layout::new(id), focus),
            Place::Right(beside) | Place::Down(beside) => {
                let side = if matches!(place, Place::Right(_)) { Side::Right } else { Side::Down };
                let at = self.tabs.position(beside)?;
                let area = self.area_of(at);
                let tab = self.tabs.of_mut(beside)?;
                if !tab.layout.split(beside, side, id, area) {
                    return None;
                }
                if focus {
                    tab.layout.set_focus(id);
                    self.tabs.select(at);
                }
            }
        }
        self.opened += 1;
        // A size that no layout gives, so that arranging tells the program its own.
        self.panes.insert(id, Pane::new(id, name, Size::new(1, 1), settings));
        self.arrange(FullRedrawReason::Open);
        self.settle_focus(now);
        // Whoever opens it asks for its size; it has no program yet that could be told.
        self.outputs.retain(|output| !matches!(output, Output::ResizePty { pane, .. } if *pane == id));
        Some(id)
    }

    /// Opens a pane on the operator's behalf and asks for a program in it.
    pub(super) fn launch(&mut self, beside: Option<(PaneId, Side)>, launch: Launch, now: Timestamp) {
        let name = match &launch {
            Launch::Shell => "shell".to_owned(),
            Launch::Agent(id) => {
                let known = self.settings.agents.iter().find(|agent| agent.id == *id);
                known.map_or_else(|| id.clone(), |agent| agent.display.clone())
            }
        };
        let place = match beside {
            None => Place::Tab,
            Some((pane, Side::Right)) => Place::Right(pane),
            Some((pane, Side::Down)) => Place::Down(pane),
        };
        if let Some(pane) = self.open(place, &name, true, now) {
            let size = self.size(pane).unwrap_or_default();
            self.outputs.push_back(Output::Spawn { pane, launch, size });
        }
    }

    /// Lets the operator choose what to start; with nothing to choose from, starts a shell.
    pub(super) fn choose_launch(&mut self, beside: Option<(PaneId, Side)>, now: Timestamp) {
        if self.settings.agents.is_empty() {
            self.launch(beside, Launch::Shell, now);
        } else {
            self.open_picker(beside);
        }
    }

    pub(super) fn open_picker(&mut self, beside: Option<(PaneId, Side)>) {
        let agents = self.settings.agents.iter().map(|agent| Choice {
            text: agent.display.clone(),
            hint: agent.id.clone(),
            verdict: Verdict::Open { beside, launch: Launch::Agent(agent.id.clone()) },
        });
        let shell = Choice {
            text: "Shell".to_owned(),
            hint: String::new(),
            verdict: Verdict::Open { beside, launch: Launch::Shell },
        };
        let choices = agents.chain([shell]).collect();
        self.show_dialog(Dialog::List(List::new("Start", choices, 0)));
    }
}
