//! The screen of the selected session, as its capsule tells it.

use jackin_core::protocol::control::ScreenRows;
use jackin_core::{InstanceName, SessionId, Size};

/// The most rows and the longest row that are kept, whatever a capsule claims.
const MOST_ROWS: usize = 1_000;
const LONGEST_ROW: usize = 32 * 1024;

/// A session whose screen is watched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Watched {
    pub(crate) instance: InstanceName,
    pub(crate) session: SessionId,
    /// Whether it has ended and left its last screen.
    pub(crate) over: bool,
}

/// What is known of its screen.
#[derive(Clone, Debug, Default)]
pub(crate) struct Preview {
    pub(crate) of: Option<Watched>,
    pub(crate) size: Size,
    /// SGR text, row by row.
    pub(crate) rows: Vec<String>,
    /// Why nothing comes, in words for people.
    pub(crate) problem: Option<String>,
}

impl Preview {
    /// Looks at another session, or at none. Whether that is a change.
    pub(crate) fn look(&mut self, of: Option<Watched>) -> bool {
        if self.of == of {
            return false;
        }
        let same =
            |of: &Watched, before: &Watched| (&of.instance, of.session) == (&before.instance, before.session);
        // A session that ended shows its last screen.
        if self.of.as_ref().zip(of.as_ref()).is_some_and(|(of, before)| same(of, before)) {
            self.of = of;
        } else {
            *self = Self { of, ..Self::default() };
        }
        true
    }

    /// Takes rows that changed. What is told of a session that is no longer watched comes too late.
    pub(crate) fn take(&mut self, of: &Watched, changed: ScreenRows) -> bool {
        if self.of.as_ref() != Some(of) {
            return false;
        }
        if changed.size != self.size {
            self.size = changed.size;
            self.rows.clear();
        }
        let rows = usize::from(changed.size.rows).min(MOST_ROWS);
        self.rows.resize(rows, String::new());
        for (at, mut row) in changed.rows {
            if let Some(place) = self.rows.get_mut(usize::from(at)) {
                if row.len() > LONGEST_ROW {
                    let end = (0..=LONGEST_ROW).rev().find(|at| row.is_char_boundary(*at));
                    row.truncate(end.unwrap_or(0));
                }
                *place = row;
            }
        }
        self.problem = None;
        true
    }

    /// The text alone.
    pub(crate) fn text(&self) -> String {
        let rows: Vec<String> = self.rows.iter().map(|row| crate::console::view::plain(row)).collect();
        let used = rows.iter().rposition(|row| !row.trim().is_empty()).map_or(0, |at| at + 1);
        rows[..used].iter().flat_map(|row| [row.trim_end(), "\n"]).collect()
    }
}
