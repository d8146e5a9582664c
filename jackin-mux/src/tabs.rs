use jackin_core::PaneId;

use crate::layout::Layout;

/// One tab: panes in a layout, under a label.
#[derive(Clone, Debug)]
pub(crate) struct Tab {
    /// Told apart from others that stood in its place before.
    pub(crate) id: u32,
    /// The operator's own label.
    pub(crate) label: Option<String>,
    pub(crate) layout: Layout,
}

/// The tabs in their order, and which one is shown.
#[derive(Debug, Default)]
pub(crate) struct Tabs {
    list: Vec<Tab>,
    active: usize,
    /// The tab that was shown before.
    last: Option<u32>,
    next_id: u32,
}

impl Tabs {
    pub(crate) fn list(&self) -> &[Tab] {
        &self.list
    }

    pub(crate) fn active_index(&self) -> usize {
        self.active
    }

    pub(crate) fn active(&self) -> Option<&Tab> {
        self.list.get(self.active)
    }

    pub(crate) fn active_mut(&mut self) -> Option<&mut Tab> {
        self.list.get_mut(self.active)
    }

    pub(crate) fn position(&self, pane: PaneId) -> Option<usize> {
        self.list.iter().position(|tab| tab.layout.contains(pane))
    }

    pub(crate) fn of_mut(&mut self, pane: PaneId) -> Option<&mut Tab> {
        let at = self.position(pane)?;
        self.list.get_mut(at)
    }

    /// A new tab at the end; shown at once if `show`.
    pub(crate) fn open(&mut self, layout: Layout, show: bool) {
        self.next_id += 1;
        self.list.push(Tab { id: self.next_id, label: None, layout });
        if show || self.list.len() == 1 {
            self.select(self.list.len() - 1);
        }
    }

    /// Takes a pane out of its tab, and the tab away if it was the last in it.
    pub(crate) fn remove_pane(&mut self, pane: PaneId) {
        let Some(at) = self.position(pane) else { return };
        if !self.list[at].layout.close(pane) {
            self.remove(at);
        }
    }

    fn remove(&mut self, at: usize) {
        let shown = self.active().map(|tab| tab.id);
        let gone = self.list.remove(at).id;
        let next = if shown == Some(gone) { self.last } else { shown };
        let found = self.list.iter().position(|tab| Some(tab.id) == next);
        self.active = found.unwrap_or_else(|| at.min(self.list.len().saturating_sub(1)));
        if self.last == Some(gone) || self.last == self.active().map(|tab| tab.id) {
            self.last = None;
        }
    }

    /// Shows a tab; false when it is shown or not there.
    pub(crate) fn select(&mut self, at: usize) -> bool {
        if at >= self.list.len() || at == self.active {
            return false;
        }
        self.last = self.active().map(|tab| tab.id);
        self.active = at;
        true
    }

    pub(crate) fn select_relative(&mut self, forward: bool) -> bool {
        let count = self.list.len().max(1);
        let step = if forward { 1 } else { count - 1 };
        self.select((self.active + step) % count)
    }

    pub(crate) fn select_last(&mut self) -> bool {
        let found = self.list.iter().position(|tab| Some(tab.id) == self.last);
        found.is_some_and(|at| self.select(at))
    }

    /// Gives a tab a label of the operator's; an empty one takes it back.
    pub(crate) fn rename(&mut self, id: u32, label: String) {
        if let Some(tab) = self.list.iter_mut().find(|tab| tab.id == id) {
            tab.label = Some(label).filter(|label| !label.is_empty());
        }
    }

    /// Moves the shown tab by one place.
    pub(crate) fn shift(&mut self, right: bool) -> bool {
        let to = if right { self.active + 1 } else { self.active.wrapping_sub(1) };
        if to >= self.list.len() {
            return false;
        }
        self.list.swap(self.active, to);
        self.active = to;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tabs(count: u32) -> Tabs {
        let mut tabs = Tabs::default();
        for number in 1..=count {
            tabs.open(Layout::new(PaneId::new(number).unwrap()), true);
        }
        tabs
    }

    fn order(tabs: &Tabs) -> Vec<u32> {
        tabs.list().iter().map(|tab| tab.id).collect()
    }

    #[test]
    fn closing_the_shown_tab_shows_the_one_before_it_in_time() {
        let mut tabs = tabs(3);
        tabs.select(0);
        tabs.remove_pane(PaneId::new(1).unwrap());
        assert_eq!((order(&tabs), tabs.active().unwrap().id), (vec![2, 3], 3));
        tabs.remove_pane(PaneId::new(2).unwrap());
        assert_eq!(tabs.active().unwrap().id, 3, "another tab's end changes nothing");
        tabs.remove_pane(PaneId::new(3).unwrap());
        assert!(tabs.active().is_none());
    }

    #[test]
    fn tabs_go_round_and_back_and_move() {
        let mut tabs = tabs(3);
        assert!(tabs.select_relative(true) && tabs.active_index() == 0);
        assert!(tabs.select_relative(false) && tabs.active_index() == 2);
        assert!(tabs.select_last() && tabs.active_index() == 0);
        assert!(tabs.shift(true) && !tabs.select(7));
        assert_eq!((order(&tabs), tabs.active_index()), (vec![2, 1, 3], 1));
        assert!(tabs.shift(true) && !tabs.shift(true));
    }
}
