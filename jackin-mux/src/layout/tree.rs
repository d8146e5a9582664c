use jackin_core::PaneId;

use super::place::{Border, Orientation, Placement, place};
use super::{MIN_COLS, MIN_ROWS, Rect};

/// Where a new pane goes, seen from the one that is split.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Right,
    Down,
}

/// Where the focus or a border moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    Left,
    Down,
    Up,
    Right,
}

impl Direction {
    /// Which splits a movement in this direction changes.
    const fn orientation(self) -> Orientation {
        match self {
            Self::Left | Self::Right => Orientation::SideBySide,
            Self::Up | Self::Down => Orientation::Stacked,
        }
    }

    const fn is_forward(self) -> bool {
        matches!(self, Self::Right | Self::Down)
    }
}

/// A pane, or two parts with a border between them.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Node {
    Leaf(PaneId),
    Split(Box<Split>),
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Split {
    pub(super) orientation: Orientation,
    /// The first part's share of the cells, in parts of [`WHOLE`]: a ratio that survives any number of resizes.
    pub(super) share: u16,
    pub(super) parts: [Node; 2],
}

pub(super) const WHOLE: u16 = 10_000;
const HALF: u16 = WHOLE / 2;

/// The panes of one tab.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Layout {
    root: Node,
    focus: PaneId,
    /// The focused pane before this one: where the focus goes when this one closes.
    last: Option<PaneId>,
    zoomed: bool,
}

impl Layout {
    pub(crate) fn new(pane: PaneId) -> Self {
        Self { root: Node::Leaf(pane), focus: pane, last: None, zoomed: false }
    }

    pub(crate) fn focus(&self) -> PaneId {
        self.focus
    }

    pub(crate) fn is_zoomed(&self) -> bool {
        self.zoomed
    }

    pub(crate) fn is_single(&self) -> bool {
        matches!(self.root, Node::Leaf(_))
    }

    /// Every pane, in reading order.
    pub(crate) fn panes(&self) -> Vec<PaneId> {
        let mut panes = Vec::new();
        self.root.each(&mut |pane| panes.push(pane));
        panes
    }

    /// Shows every pane to `visit`, in reading order.
    pub(crate) fn each(&self, mut visit: impl FnMut(PaneId)) {
        self.root.each(&mut visit);
    }

    pub(crate) fn first(&self) -> PaneId {
        self.root.first()
    }

    pub(crate) fn contains(&self, pane: PaneId) -> bool {
        let mut found = false;
        self.each(|own| found |= own == pane);
        found
    }

    /// The rectangles of the panes and borders in `area`. Zoomed, or where there is no room for it beside others, the
    /// focused pane has all of it.
    pub(crate) fn place(&self, area: Rect) -> Placement {
        if !self.zoomed {
            let placement = place(&self.root, area);
            if !placement.hidden.contains(&self.focus) {
                return placement;
            }
        }
        place(&Node::Leaf(self.focus), area)
    }

    /// Puts a new pane beside `beside`; false when there is no such pane or not enough room in `area`.
    pub(crate) fn split(&mut self, beside: PaneId, side: Side, new: PaneId, area: Rect) -> bool {
        let Some(rect) = place(&self.root, area).rect(beside) else { return false };
        let fits = match side {
            Side::Right => rect.cols > 2 * MIN_COLS,
            Side::Down => rect.rows > 2 * MIN_ROWS,
        };
        if !fits || self.contains(new) {
            return false;
        }
        let Some(leaf) = self.root.leaf_mut(beside) else { return false };
        let orientation = match side {
            Side::Right => Orientation::SideBySide,
            Side::Down => Orientation::Stacked,
        };
        let parts = [Node::Leaf(beside), Node::Leaf(new)];
        *leaf = Node::Split(Box::new(Split { orientation, share: HALF, parts }));
        self.zoomed = false;
        true
    }

    /// Takes a pane away; its sibling takes its place. False when it is the last one or not here.
    pub(crate) fn close(&mut self, pane: PaneId) -> bool {
        if !self.root.remove(pane) {
            return false;
        }
        self.zoomed = false;
        if self.last == Some(pane) {
            self.last = None;
        }
        if self.focus == pane {
            let next = self.last.take().filter(|last| self.contains(*last));
            self.focus = next.unwrap_or_else(|| self.root.first());
        }
        true
    }

    /// Gives a pane the focus; false when it is not here. A zoom ends when another pane gets it.
    pub(crate) fn set_focus(&mut self, pane: PaneId) -> bool {
        if !self.contains(pane) {
            return false;
        }
        if pane != self.focus {
            self.last = Some(self.focus);
            self.focus = pane;
            self.zoomed = false;
        }
        true
    }

    /// The pane next to the focused one in a direction, as it is seen: the one that shares the longest piece of the
    /// border, and of equals the topmost or leftmost. Where there is no room to see them, the one before or after it.
    pub(crate) fn neighbour(&self, direction: Direction, area: Rect) -> Option<PaneId> {
        let placement = place(&self.root, area);
        let Some(from) = placement.rect(self.focus) else { return self.beside(direction.is_forward()) };
        let overlap = |a: (u16, u16), b: (u16, u16)| a.1.min(b.1).saturating_sub(a.0.max(b.0));
        let mut best = None;
        for &(pane, rect) in &placement.panes {
            let touches = match direction {
                Direction::Left => rect.right() < from.col && rect.right() + 1 >= from.col,
                Direction::Right => rect.col > from.right() && rect.col <= from.right() + 1,
                Direction::Up => rect.bottom() < from.row && rect.bottom() + 1 >= from.row,
                Direction::Down => rect.row > from.bottom() && rect.row <= from.bottom() + 1,
            };
            let shared = match direction.orientation() {
                Orientation::SideBySide => overlap((from.row, from.bottom()), (rect.row, rect.bottom())),
                Orientation::Stacked => overlap((from.col, from.right()), (rect.col, rect.right())),
            };
            if touches && shared > 0 && best.is_none_or(|(_, most)| shared > most) {
                best = Some((pane, shared));
            }
        }
        best.map(|(pane, _)| pane)
    }

    pub(crate) fn toggle_zoom(&mut self) {
        self.zoomed = !self.zoomed && !self.is_single();
    }

    /// The pane before or after the focused one in reading order, around the ends; none when it is alone.
    fn beside(&self, forward: bool) -> Option<PaneId> {
        let panes = self.panes();
        let at = panes.iter().position(|pane| *pane == self.focus)?;
        let step = if forward { 1 } else { panes.len() - 1 };
        Some(panes[(at + step) % panes.len()]).filter(|pane| *pane != self.focus)
    }

    /// Exchanges the focused pane with the one before or after it in reading order; the focus stays with the pane.
    pub(crate) fn swap(&mut self, forward: bool) -> bool {
        let Some(other) = self.beside(forward) else { return false };
        let mine = self.focus;
        self.root.rename(&mut |pane| match pane {
            pane if pane == mine => other,
            pane if pane == other => mine,
            pane => pane,
        });
        self.zoomed = false;
        true
    }

    /// Moves the border of the focused pane by `cells`. Like a border that is pulled, it is the one that the pane has
    /// in that direction, or else the opposite one.
    pub(crate) fn resize(&mut self, direction: Direction, cells: u16, area: Rect) -> bool {
        let path = self.root.path(self.focus).unwrap_or_default();
        let mut rect = area;
        let mut node = &self.root;
        let mut candidates = Vec::new();
        for (depth, &part) in path.iter().enumerate() {
            let Node::Split(split) = node else { break };
            if split.orientation == direction.orientation() {
                candidates.push((depth, part, rect));
            }
            rect = split.rects(rect)[part];
            node = &split.parts[part];
        }
        // The innermost split whose border lies in the direction, or else the innermost one.
        let wanted = usize::from(!direction.is_forward());
        let chosen = candidates.iter().rfind(|(_, part, _)| *part == wanted).or_else(|| candidates.last());
        let Some(&(depth, _, rect)) = chosen else { return false };
        let Some(split) = self.root.split_mut(&path[..depth]) else { return false };
        let before = split.position(rect);
        let after = if direction.is_forward() { before + cells } else { before.saturating_sub(cells) };
        split.set_position(after, rect)
    }

    /// Puts a border where it was dragged to: `position` is the row or column of the border itself.
    pub(crate) fn drag(&mut self, border: &Border, position: u16, area: Rect) -> bool {
        let mut rect = area;
        let mut node = &mut self.root;
        for &part in &border.path {
            let Node::Split(split) = node else { return false };
            rect = split.rects(rect)[part];
            node = &mut split.parts[part];
        }
        let Node::Split(split) = node else { return false };
        let origin = match split.orientation {
            Orientation::SideBySide => rect.col,
            Orientation::Stacked => rect.row,
        };
        split.set_position(position.saturating_sub(origin), rect)
    }

    /// Gives every pane in a row or column of panes the same share.
    pub(crate) fn equalise(&mut self) {
        self.root.equalise();
    }
}

impl Node {
    fn each(&self, visit: &mut impl FnMut(PaneId)) {
        match self {
            Self::Leaf(pane) => visit(*pane),
            Self::Split(split) => split.parts.iter().for_each(|part| part.each(visit)),
        }
    }

    fn first(&self) -> PaneId {
        match self {
            Self::Leaf(pane) => *pane,
            Self::Split(split) => split.parts[0].first(),
        }
    }

    fn leaf_mut(&mut self, pane: PaneId) -> Option<&mut Self> {
        match self {
            Self::Leaf(own) => (*own == pane).then_some(self),
            Self::Split(split) => split.parts.iter_mut().find_map(|part| part.leaf_mut(pane)),
        }
    }

    fn split_mut(&mut self, path: &[usize]) -> Option<&mut Split> {
        match (self, path) {
            (Self::Split(split), []) => Some(split),
            (Self::Split(split), [part, rest @ ..]) => split.parts[*part].split_mut(rest),
            (Self::Leaf(_), _) => None,
        }
    }

    /// The way to a pane: at each split, which part.
    fn path(&self, pane: PaneId) -> Option<Vec<usize>> {
        match self {
            Self::Leaf(own) => (*own == pane).then(Vec::new),
            Self::Split(split) => split.parts.iter().enumerate().find_map(|(part, node)| {
                let mut path = node.path(pane)?;
                path.insert(0, part);
                Some(path)
            }),
        }
    }

    fn remove(&mut self, pane: PaneId) -> bool {
        let Self::Split(split) = self else { return false };
        for part in 0..2 {
            if split.parts[part] == Self::Leaf(pane) {
                let sibling = std::mem::replace(&mut split.parts[1 - part], Self::Leaf(pane));
                *self = sibling;
                return true;
            }
        }
        split.parts.iter_mut().any(|part| part.remove(pane))
    }

    fn rename(&mut self, name: &mut impl FnMut(PaneId) -> PaneId) {
        match self {
            Self::Leaf(pane) => *pane = name(*pane),
            Self::Split(split) => split.parts.iter_mut().for_each(|part| part.rename(name)),
        }
    }

    /// How many panes stand in line in this orientation, as a person would count them.
    fn in_line(&self, orientation: Orientation) -> u16 {
        match self {
            Self::Split(split) if split.orientation == orientation => {
                split.parts.iter().map(|part| part.in_line(orientation)).fold(0, u16::saturating_add)
            }
            _ => 1,
        }
    }

    fn equalise(&mut self) {
        let Self::Split(split) = self else { return };
        let [first, second] = split.parts.each_ref().map(|part| u32::from(part.in_line(split.orientation)));
        split.share = (u32::from(WHOLE) * first / (first + second)) as u16;
        split.parts.iter_mut().for_each(Self::equalise);
    }
}
