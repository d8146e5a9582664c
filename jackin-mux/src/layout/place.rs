use jackin_core::PaneId;

use super::tree::{Node, Split, WHOLE};
use super::{MIN_COLS, MIN_ROWS, Rect};

/// How the two parts of a split stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Orientation {
    /// Left and right, a vertical border between.
    SideBySide,
    /// Top and bottom, a horizontal border between.
    Stacked,
}

/// Where everything is.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Placement {
    /// The panes that have room, in reading order.
    pub(crate) panes: Vec<(PaneId, Rect)>,
    /// The panes for which there is none.
    pub(crate) hidden: Vec<PaneId>,
    pub(crate) borders: Vec<Border>,
}

/// The line between the two parts of a split.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Border {
    /// One cell wide or high.
    pub(crate) rect: Rect,
    pub(crate) orientation: Orientation,
    /// The split that it belongs to.
    pub(super) path: Vec<usize>,
}

impl Placement {
    pub(crate) fn rect(&self, pane: PaneId) -> Option<Rect> {
        self.panes.iter().find(|(own, _)| *own == pane).map(|(_, rect)| *rect)
    }

    /// The pane at a cell.
    pub(crate) fn pane_at(&self, row: u16, col: u16) -> Option<(PaneId, Rect)> {
        self.panes.iter().copied().find(|(_, rect)| rect.contains(row, col))
    }

    /// The border at a cell.
    pub(crate) fn border_at(&self, row: u16, col: u16) -> Option<&Border> {
        self.borders.iter().find(|border| border.rect.contains(row, col))
    }
}

pub(super) fn place(root: &Node, area: Rect) -> Placement {
    let mut placement = Placement::default();
    let mut path = Vec::new();
    place_node(root, area, &mut path, &mut placement);
    placement
}

fn place_node(node: &Node, area: Rect, path: &mut Vec<usize>, placement: &mut Placement) {
    match node {
        Node::Leaf(pane) if area.is_empty() => placement.hidden.push(*pane),
        Node::Leaf(pane) => placement.panes.push((*pane, area)),
        Node::Split(split) => {
            let rects = split.rects(area);
            let border = split.border(area);
            if !border.is_empty() {
                placement.borders.push(Border {
                    rect: border,
                    orientation: split.orientation,
                    path: path.clone(),
                });
            }
            for (part, rect) in rects.into_iter().enumerate() {
                path.push(part);
                place_node(&split.parts[part], rect, path, placement);
                path.pop();
            }
        }
    }
}

impl Split {
    /// How many cells the first part has in the split's direction. Where the area is too small for both, the first
    /// part has all of it and the second is hidden.
    pub(super) fn position(&self, area: Rect) -> u16 {
        let (length, min) = self.length(area);
        if length < 2 * min + 1 {
            return length;
        }
        let wanted =
            (u32::from(length - 1) * u32::from(self.share) + u32::from(WHOLE) / 2) / u32::from(WHOLE);
        (wanted as u16).clamp(min, length - 1 - min)
    }

    /// Gives the first part so many cells, as far as both keep their least size. False when that changes nothing.
    pub(super) fn set_position(&mut self, position: u16, area: Rect) -> bool {
        let (length, min) = self.length(area);
        let before = self.position(area);
        if length < 2 * min + 1 {
            return false;
        }
        let position = position.clamp(min, length - 1 - min);
        let share =
            (u32::from(position) * u32::from(WHOLE) + u32::from(length - 1) / 2) / u32::from(length - 1);
        self.share = share.min(u32::from(WHOLE)) as u16;
        self.position(area) != before
    }

    /// The rectangles of the two parts.
    pub(super) fn rects(&self, area: Rect) -> [Rect; 2] {
        let first = self.position(area);
        let (length, _) = self.length(area);
        // The border takes one cell, where there is a second part at all.
        let from = (first + 1).min(length);
        match self.orientation {
            Orientation::SideBySide => {
                [Rect { cols: first, ..area }, Rect { col: area.col + from, cols: length - from, ..area }]
            }
            Orientation::Stacked => {
                [Rect { rows: first, ..area }, Rect { row: area.row + from, rows: length - from, ..area }]
            }
        }
    }

    /// The cells between them; none when the second part is hidden.
    fn border(&self, area: Rect) -> Rect {
        let first = self.position(area);
        let (length, _) = self.length(area);
        let thickness = u16::from(first < length);
        match self.orientation {
            Orientation::SideBySide => Rect { col: area.col + first, cols: thickness, ..area },
            Orientation::Stacked => Rect { row: area.row + first, rows: thickness, ..area },
        }
    }

    /// The area's length in the split's direction, and the least length of a part.
    const fn length(&self, area: Rect) -> (u16, u16) {
        match self.orientation {
            Orientation::SideBySide => (area.cols, MIN_COLS),
            Orientation::Stacked => (area.rows, MIN_ROWS),
        }
    }
}
