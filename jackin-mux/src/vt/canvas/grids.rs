//! The two grids, of which one is shown, and starting over.

use jackin_core::Size;

use crate::vt::canvas::{Canvas, Place, parser};
use crate::vt::damage::Damage;
use crate::vt::history::History;
use crate::vt::past::Past;
use crate::vt::prompt::Marks;
use crate::vt::style::RawPen;

use super::loose::Loose;

/// What belongs to the grid that is not shown.
pub(super) struct Hidden {
    pub(super) at: Place,
    used: Vec<u16>,
    looks: Vec<u8>,
    loose: Vec<Loose>,
    marks: Vec<Marks>,
    margins: (u16, u16),
    /// The alternate grid has memory only once it was shown.
    pub(super) seen: bool,
}

impl Canvas {
    /// Shows the other grid. The cursor stays where it is on the screen.
    pub(in crate::vt) fn switch(&mut self, alternate: bool) {
        if self.alternate == alternate {
            return;
        }
        let margins = (self.top, self.bottom);
        self.show(alternate);
        self.set_margins(margins.0, margins.1);
        self.damage.mark_range(0, self.rows());
        self.work += usize::from(self.rows());
    }

    pub(super) fn show(&mut self, alternate: bool) {
        self.out.extend_from_slice(if alternate { b"\x1b[?47h" } else { b"\x1b[?47l" });
        self.alternate = alternate;
        self.hidden.seen = true;
        std::mem::swap(&mut self.at, &mut self.hidden.at);
        std::mem::swap(&mut self.used, &mut self.hidden.used);
        std::mem::swap(&mut self.looks, &mut self.hidden.looks);
        std::mem::swap(&mut self.loose, &mut self.hidden.loose);
        std::mem::swap(&mut self.marks, &mut self.hidden.marks);
        let margins = std::mem::replace(&mut self.hidden.margins, (self.top, self.bottom));
        (self.top, self.bottom) = margins;
    }

    /// Starts over with empty grids of a new size; history, styles and pens stay.
    pub(in crate::vt) fn reset(&mut self, size: Size) {
        self.flush();
        let past = std::mem::replace(self.past_mut(), Past::new(History::new(0, 0)));
        self.parser = parser(size, past);
        self.size = size;
        self.cursor = Place::default();
        self.at = Place::default();
        self.raw = RawPen::default();
        (self.top, self.bottom) = (0, size.rows - 1);
        self.damage = Damage::all(size.rows);
        self.alternate = false;
        self.used = vec![0; usize::from(size.rows)];
        self.looks = vec![0; usize::from(size.rows)];
        self.loose = Vec::new();
        self.marks = Vec::new();
        self.hidden = Hidden::new(size);
        self.work += usize::from(size.rows) * usize::from(size.cols) / 4;
    }
}

impl Hidden {
    pub(super) fn new(size: Size) -> Self {
        Self {
            at: Place::default(),
            used: vec![0; usize::from(size.rows)],
            looks: vec![0; usize::from(size.rows)],
            loose: Vec::new(),
            marks: Vec::new(),
            margins: (0, size.rows - 1),
            seen: false,
        }
    }
}
