//! The shell-integration marks of the rows on the screen.

use crate::vt::canvas::Canvas;
use crate::vt::prompt::{Marks, PromptMark};

impl Canvas {
    /// The marks of a row.
    pub(in crate::vt) fn marks(&self, row: u16) -> Marks {
        self.marks.get(usize::from(row)).copied().unwrap_or_default()
    }

    pub(in crate::vt) fn set_marks(&mut self, row: u16, marks: Marks) {
        if self.marks.is_empty() {
            if marks.is_empty() {
                return;
            }
            self.marks = vec![Marks::NONE; usize::from(self.rows())];
        }
        self.marks[usize::from(row)] = marks;
    }

    pub(in crate::vt) fn take_marks(&mut self, row: u16) -> Marks {
        let marks = self.marks(row);
        self.set_marks(row, Marks::NONE);
        marks
    }

    /// Marks the cursor's row.
    pub(in crate::vt) fn add_mark(&mut self, mark: PromptMark) {
        let row = self.cursor.row;
        let mut marks = self.marks(row);
        marks.add(mark);
        self.set_marks(row, marks);
    }
}
