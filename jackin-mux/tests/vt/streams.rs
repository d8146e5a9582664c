//! Generated streams: no panic, the same cells for every cut, jump-scroll or not, at any size.
//!
//! A run tries a few. Forty-eight thousand in a few minutes, optimised but with every check on:
//!
//! ```text
//! PROPTEST_CASES=8000 cargo test --profile checked -p jackin-mux --test vt streams
//! ```

use jackin_core::Size;
use jackin_mux::vt::{Damage, Point, Settings, Terminal};
use proptest::prelude::*;

use crate::generate::{Bytes, Step, jumps, piece, sgr, size, steps, stream, text};
use crate::shown::assert_same;

/// Few lines of history, so that some are evicted.
pub(crate) fn with_jump(size: (u16, u16), jump_scroll: bool) -> Terminal {
    let settings = Settings { jump_scroll, history_lines: 100, ..Settings::default() };
    Terminal::new(Size::new(size.0, size.1), settings)
}

fn drain(terminal: &mut Terminal) {
    while terminal.poll_event().is_some() {}
}

/// Few enough that the limit is met.
const HISTORY_BYTES: usize = 32 * 1024;

/// Bytes of text in history.
fn stored(terminal: &Terminal) -> usize {
    let oldest = Point { row: -(terminal.history_rows() as isize), column: 0 };
    terminal.text_between(oldest, Point { row: -1, column: u16::MAX }).len()
}

/// Few enough for every run; `PROPTEST_CASES` asks for more.
fn config() -> ProptestConfig {
    let asked = ProptestConfig::default();
    let cases = if asked.cases == 256 { 100 } else { asked.cases };
    ProptestConfig { cases, failure_persistence: None, ..asked }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn cuts_do_not_matter(
        size in size(),
        steps in steps(),
        cuts in prop::collection::vec(prop_oneof![1usize..4, 1usize..40, 1usize..2000], 1..6),
        jump in prop::bool::ANY,
    ) {
        let (mut whole, mut cut_up) = (with_jump(size, jump), with_jump(size, jump));
        let mut cuts = cuts.iter().copied().cycle();
        for step in steps {
            match step {
                Step::Feed(bytes) => {
                    whole.feed_all(&bytes.0);
                    let mut rest = bytes.0.as_slice();
                    while !rest.is_empty() {
                        let (piece, after) = rest.split_at(cuts.next().unwrap_or(1).min(rest.len()));
                        cut_up.feed_all(piece);
                        drain(&mut cut_up);
                        rest = after;
                    }
                }
                Step::Resize(rows, columns) => {
                    whole.resize(Size::new(rows, columns));
                    cut_up.resize(Size::new(rows, columns));
                }
            }
            drain(&mut whole);
        }
        assert_same(&whole, &cut_up, "cut");
    }

    #[test]
    fn budgets_do_not_matter(size in size(), bytes in stream(), budget in 1usize..500) {
        let mut whole = with_jump(size, true);
        whole.feed_all(&bytes.0);
        let mut slow = with_jump(size, true);
        let mut at = 0;
        while at < bytes.0.len() {
            at += slow.feed(&bytes.0[at..], budget);
            drain(&mut slow);
        }
        assert_same(&whole, &slow, "budget");
    }

    #[test]
    fn jumping_changes_nothing(size in size(), steps in jumps()) {
        let mut jumping = with_jump(size, true);
        let mut drawing = with_jump(size, false);
        for step in &steps {
            for terminal in [&mut jumping, &mut drawing] {
                match step {
                    Step::Feed(bytes) => terminal.feed_all(&bytes.0),
                    Step::Resize(rows, columns) => terminal.resize(Size::new(*rows, *columns)),
                }
                drain(terminal);
            }
            // Reading changes nothing: what one step hides, another shows.
            assert_same(&jumping, &drawing, "jump");
        }
        prop_assert_eq!(jumping.scrolled_rows(), drawing.scrolled_rows());
    }

    #[test]
    fn anything_goes(first in size(), steps in steps()) {
        let settings = Settings { history_lines: 100, history_bytes: HISTORY_BYTES, ..Settings::default() };
        let mut terminal = Terminal::new(Size::new(first.0, first.1), settings);
        for step in steps {
            match step {
                Step::Feed(bytes) => terminal.feed_all(&bytes.0),
                Step::Resize(rows, columns) => terminal.resize(Size::new(rows, columns)),
            }
            drain(&mut terminal);
            crate::shown::rows(&terminal);
            crate::shown::history(&terminal);
            let (cursor, size) = (terminal.cursor(), terminal.size());
            prop_assert!(cursor.row < size.rows && cursor.column < size.cols);
            // A new size may put a screen in history that new output has yet to push out, and the last line always stays.
            let slack = 64 * 1024 + usize::from(size.rows) * usize::from(size.cols) * 64;
            prop_assert!(stored(&terminal) <= HISTORY_BYTES + slack, "history has an end");
        }
    }

    #[test]
    fn rows_outside_the_damage_did_not_change(size in size(), pieces in prop::collection::vec(piece().prop_map(Bytes), 1..30)) {
        let mut terminal = with_jump(size, true);
        let mut seen = crate::shown::rows(&terminal);
        let mut damage = Damage::default();
        terminal.clear_damage();
        for piece in pieces {
            terminal.feed_all(&piece.0);
            drain(&mut terminal);
            terminal.take_damage(&mut damage);
            if let Some(scroll) = damage.scroll() {
                let region = &mut seen[usize::from(scroll.top)..=usize::from(scroll.bottom)];
                match usize::try_from(scroll.up) {
                    Ok(up) => region.rotate_left(up),
                    Err(_) => region.rotate_right(scroll.up.unsigned_abs() as usize),
                }
            }
            for (at, row) in crate::shown::rows(&terminal).into_iter().enumerate() {
                if damage.contains(at as u16) {
                    seen[at] = row;
                } else {
                    prop_assert!(seen[at] == row, "row {} changed unseen: {} -> {}", at, crate::shown::show(&seen[at]), crate::shown::show(&row));
                }
            }
        }
    }

    #[test]
    fn a_new_size_loses_no_text(
        size in size(),
        lines in prop::collection::vec(prop_oneof![3 => text(), 1 => (sgr(), text()).prop_map(|(a, b)| [a, b].concat())].prop_map(Bytes), 1..30),
        sizes in prop::collection::vec((1u16..12, 2u16..40), 1..6),
    ) {
        let mut terminal = with_jump((size.0, size.1.max(2)), true);
        for line in &lines {
            terminal.feed_all(&line.0);
            terminal.feed_all(b"\r\n");
        }
        let text = |terminal: &Terminal| {
            let from = Point { row: -(terminal.history_rows() as isize), column: 0 };
            let text = terminal.text_between(from, Point { row: terminal.size().rows as isize - 1, column: u16::MAX });
            text.trim_end_matches('\n').to_owned()
        };
        let before = text(&terminal);
        for (rows, columns) in sizes {
            terminal.resize(Size::new(rows, columns));
            prop_assert_eq!(&text(&terminal), &before);
        }
    }
}
