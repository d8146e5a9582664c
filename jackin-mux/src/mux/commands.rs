use jackin_core::{Attention, PaneId, Timestamp};

use super::{FullRedrawReason, Mux};
use crate::command::Command;
use crate::dialog::{Choice, Confirm, Dialog, Line, List, Page, Verdict};
use crate::layout::{Layout, Side};
use crate::output::Output;
use crate::vt::Mode;

/// How far one key press moves a border.
const RESIZE_ROWS: u16 = 1;
const RESIZE_COLS: u16 = 2;

impl Mux {
    /// Does what a key, the palette or the embedder asks for. Poll outputs afterwards.
    pub fn run(&mut self, command: Command, now: Timestamp) {
        match command {
            Command::NewTab => self.choose_launch(None, now),
            Command::NextTab => self.show_tab(|tabs| tabs.select_relative(true)),
            Command::PreviousTab => self.show_tab(|tabs| tabs.select_relative(false)),
            Command::LastTab => self.show_tab(super::Tabs::select_last),
            Command::Tab(at) => self.show_tab(|tabs| tabs.select(at.into())),
            Command::MoveTabLeft | Command::MoveTabRight => {
                if self.tabs.shift(command == Command::MoveTabRight) {
                    self.mark_chrome();
                }
            }
            Command::SplitDown | Command::SplitRight => {
                let side = if command == Command::SplitDown { Side::Down } else { Side::Right };
                self.choose_launch(self.focused().map(|pane| (pane, side)), now);
            }
            Command::FocusLeft | Command::FocusDown | Command::FocusUp | Command::FocusRight => {
                self.move_focus(command);
            }
            Command::ResizeLeft | Command::ResizeDown | Command::ResizeUp | Command::ResizeRight => {
                let vertical = matches!(command, Command::ResizeUp | Command::ResizeDown);
                let cells = if vertical { RESIZE_ROWS } else { RESIZE_COLS };
                let area = self.view.area;
                let Some(direction) = command.direction() else { return };
                self.change_layout(|layout| layout.resize(direction, cells, area));
            }
            Command::Equalise => self.change_layout(|layout| {
                layout.equalise();
                true
            }),
            Command::SwapPrevious => self.change_layout(|layout| layout.swap(false)),
            Command::SwapNext => self.change_layout(|layout| layout.swap(true)),
            Command::Zoom => self.change_layout(|layout| {
                layout.toggle_zoom();
                true
            }),
            Command::BreakPane => self.break_pane(),
            Command::CopyMode => {
                if let Some(pane) = self.focused_pane() {
                    pane.enter_copy_mode();
                    let id = pane.id;
                    self.mark_pane(id);
                }
            }
            Command::ClearPane => self.clear_pane(),
            Command::Redraw => {
                if let Some(operator) = &mut self.operator {
                    operator.screen.forget();
                }
                self.mark_all(FullRedrawReason::Request);
            }
            Command::Restart => self.outputs.push_back(Output::Restart { pane: self.focused() }),
            Command::Record => self.outputs.extend(self.focused().map(|pane| Output::Record { pane })),
            Command::Detach => self.outputs.push_back(Output::Detach),
            Command::KillPane
            | Command::KillTab
            | Command::TabList
            | Command::RenameTab
            | Command::Usage
            | Command::Details
            | Command::Palette
            | Command::Help => self.ask(command),
        }
        self.settle_focus(now);
    }

    /// The commands that open a dialog.
    fn ask(&mut self, command: Command) {
        let Some(dialog) = (match command {
            Command::KillPane => self.focused().map(|pane| {
                let title = self.panes.get(&pane).map_or("", |pane| pane.title());
                Dialog::Confirm(Confirm::new(format!("Kill pane {title}?"), Verdict::Kill(vec![pane])))
            }),
            Command::KillTab => self.tabs.active().map(|tab| {
                let panes = tab.layout.panes();
                let what =
                    if panes.len() == 1 { "1 pane".to_owned() } else { format!("{} panes", panes.len()) };
                let question = format!("Kill tab {} with {what}?", self.label(tab));
                Dialog::Confirm(Confirm::new(question, Verdict::Kill(panes)))
            }),
            Command::RenameTab => {
                self.tabs.active().map(|tab| Dialog::Rename { tab: tab.id, line: Line::new(self.label(tab)) })
            }
            Command::TabList => Some(self.tab_list()),
            Command::Palette => Some(self.palette()),
            Command::Help => Some(Dialog::Page(Page::new("Keys", self.key_rows()))),
            Command::Usage => {
                let mut rows = self.context.usage_details.clone();
                if rows.is_empty() {
                    rows.push(("usage unavailable".into(), "host not connected".into()));
                }
                Some(Dialog::Page(Page::new("Usage", rows)))
            }
            Command::Details => Some(Dialog::Page(Page::new("Details", self.detail_rows()))),
            _ => None,
        }) else {
            return;
        };
        self.show_dialog(dialog);
    }

    fn palette(&self) -> Dialog {
        let offered = |command: &Command| match *command {
            Command::Palette => false,
            Command::Tab(at) => usize::from(at) < self.tabs.list().len(),
            _ => true,
        };
        let choices = Command::all().filter(offered).map(|command| Choice {
            text: command.title().to_owned(),
            hint: self.keys_of(command),
            verdict: Verdict::Run(command),
        });
        Dialog::List(List::new("Commands", choices.collect(), 0))
    }

    fn tab_list(&self) -> Dialog {
        let choices = self.tabs.list().iter().enumerate().map(|(at, tab)| Choice {
            text: format!("{at}: {}", self.label(tab)),
            hint: self
                .most_urgent(tab)
                .map_or_else(Attention::default, |pane| pane.attention)
                .word()
                .to_owned(),
            verdict: Verdict::Show { tab: tab.id },
        });
        Dialog::List(List::new("Tabs", choices.collect(), self.tabs.active_index()))
    }

    fn key_rows(&self) -> Vec<(String, String)> {
        let prefix = self.settings.prefix.map_or_else(|| "none".to_owned(), |key| key.to_string());
        let mut rows = vec![("prefix".to_owned(), prefix)];
        // Ten tabs take one row, as long as each has its own digit.
        let digits = (0..10).all(|at| self.keys_of(Command::Tab(at)) == at.to_string());
        for command in Command::all() {
            match command {
                Command::Tab(0) if digits => rows.push(("0 to 9".to_owned(), "Tab 0 to 9".to_owned())),
                Command::Tab(_) if digits => {}
                _ => rows.push((self.keys_of(command), command.title().to_owned())),
            }
        }
        rows
    }

    fn keys_of(&self, command: Command) -> String {
        let keys: Vec<String> = self.settings.keymap.keys(command).map(|key| key.to_string()).collect();
        keys.join("  ")
    }

    fn detail_rows(&self) -> Vec<(String, String)> {
        let context = &self.context;
        let known = [
            ("workspace", &context.workspace),
            ("branch", &context.branch),
            ("pull request", &context.pull_request),
            ("instance", &context.instance),
            ("usage", &context.usage),
        ];
        let known = known.into_iter().filter_map(|(what, value)| Some((what.to_owned(), value.clone()?)));
        let mut rows: Vec<_> = known.chain(context.details.iter().cloned()).collect();
        if rows.is_empty() {
            rows.push(("nothing known".into(), String::new()));
        }
        rows
    }

    fn show_tab(&mut self, select: impl FnOnce(&mut super::Tabs) -> bool) {
        if select(&mut self.tabs) {
            self.arrange(FullRedrawReason::Tab);
        }
    }

    fn change_layout(&mut self, change: impl FnOnce(&mut Layout) -> bool) {
        let changed = self.tabs.active_mut().is_some_and(|tab| change(&mut tab.layout));
        if changed {
            self.arrange(FullRedrawReason::Layout);
        }
    }

    fn move_focus(&mut self, command: Command) {
        let area = self.view.area;
        let Some(direction) = command.direction() else { return };
        let Some(tab) = self.tabs.active() else { return };
        if let Some(pane) = tab.layout.neighbour(direction, area) {
            self.give_focus(pane);
        }
    }

    pub(super) fn give_focus(&mut self, pane: PaneId) {
        let Some(tab) = self.tabs.active_mut().filter(|tab| tab.layout.focus() != pane) else { return };
        tab.layout.set_focus(pane);
        // A zoom may have ended with it.
        self.arrange(FullRedrawReason::Focus);
    }

    fn break_pane(&mut self) {
        let Some(tab) = self.tabs.active_mut().filter(|tab| !tab.layout.is_single()) else { return };
        let pane = tab.layout.focus();
        if tab.layout.close(pane) {
            self.tabs.open(Layout::new(pane), true);
            self.arrange(FullRedrawReason::Tab);
        }
    }

    /// Drops history and has the program draw again: a shell at its prompt knows form feed.
    fn clear_pane(&mut self) {
        let Some(pane) = self.focused_pane() else { return };
        let id = pane.id;
        pane.terminal.clear_history();
        pane.selection = None;
        pane.copy = None;
        let full_screen =
            pane.terminal.is_alternate() && pane.terminal.modes().contains(Mode::ApplicationCursor);
        if !full_screen {
            self.write_pty(id, b"\x0c");
        }
        self.mark_pane(id);
    }
}
