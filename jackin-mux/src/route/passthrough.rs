use jackin_core::PaneId;

use crate::settings::Forward;
use crate::vt::{Part, Passthrough, SequenceKind};

/// The longest sequence that is passed on. It is kept until it is whole: our own frames must not fall into it.
const LONGEST: usize = 4 << 20;

/// Lets the sequences of one pane at a time through, each as a whole.
#[derive(Debug, Default)]
pub(crate) struct Gate {
    /// The sequence that is not whole yet.
    open: Option<(PaneId, Sequence)>,
    /// How many were left out, because they were too long or would have covered other panes.
    pub(crate) dropped: u64,
}

/// A whole sequence for the operator's terminal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Sequence {
    pub(crate) kind: SequenceKind,
    pub(crate) bytes: Vec<u8>,
    /// The cursor's place in the pane when it began.
    pub(crate) row: u16,
    pub(crate) col: u16,
}

impl Gate {
    /// Takes a piece and returns the sequence that it completes.
    pub(crate) fn accept(&mut self, pane: PaneId, piece: Passthrough) -> Option<Sequence> {
        let Passthrough { kind, part, bytes, row, column: col } = piece;
        match part {
            Part::Whole => return Some(Sequence { kind, bytes, row, col }),
            Part::First => self.open = Some((pane, Sequence { kind, bytes, row, col })),
            Part::Middle | Part::Last => {
                let (_, sequence) = self.open.as_mut().filter(|(owner, _)| *owner == pane)?;
                sequence.bytes.extend_from_slice(&bytes);
                if sequence.bytes.len() > LONGEST {
                    self.open = None;
                    self.dropped += 1;
                } else if part == Part::Last {
                    return self.open.take().map(|(_, sequence)| sequence);
                }
            }
            Part::Aborted => self.open = self.open.take().filter(|(owner, _)| *owner != pane),
        }
        None
    }
}

impl Sequence {
    /// Whether it draws, and where the cursor is matters.
    pub(crate) fn is_image(&self) -> bool {
        matches!(self.kind, SequenceKind::Apc | SequenceKind::Dcs | SequenceKind::Osc(1337))
    }

    /// Whether an image that tells its size in cells stays inside a pane of this size.
    pub(crate) fn fits(&self, rows: u16, cols: u16) -> bool {
        let Some(control) = self.bytes.strip_prefix(b"\x1b_G") else { return true };
        let control = control.split(|byte| matches!(byte, b';' | 0x1b)).next().unwrap_or_default();
        let value = |key: u8| {
            let text =
                control.split(|byte| *byte == b',').find_map(|pair| pair.strip_prefix(&[key, b'=']))?;
            std::str::from_utf8(text).ok()?.parse::<u32>().ok()
        };
        let inside = |from: u16, key: u8, end: u16| {
            value(key).is_none_or(|cells| u32::from(from).saturating_add(cells) <= u32::from(end))
        };
        inside(self.col, b'c', cols) && inside(self.row, b'r', rows)
    }

    /// Whether the operator lets this kind through.
    pub(crate) fn is_allowed(&self, forward: Forward) -> bool {
        match self.kind {
            SequenceKind::Osc(9) if self.bytes.starts_with(b"\x1b]9;4;") => forward.progress,
            SequenceKind::Osc(9 | 99 | 777) => forward.notifications,
            SequenceKind::Osc(52) => forward.clipboard,
            SequenceKind::Osc(1337) | SequenceKind::Apc | SequenceKind::Dcs => forward.graphics,
            SequenceKind::Osc(_) => forward.other,
            SequenceKind::Other => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn piece(part: Part, bytes: &[u8]) -> Passthrough {
        Passthrough { kind: SequenceKind::Dcs, part, bytes: bytes.to_vec(), row: 1, column: 2 }
    }

    #[test]
    fn pieces_come_out_as_one_or_not_at_all() {
        let [one, two] = [1, 2].map(|number| PaneId::new(number).unwrap());
        let mut gate = Gate::default();
        assert_eq!(gate.accept(one, piece(Part::First, b"\x1bPq")), None);
        assert_eq!(gate.accept(two, piece(Part::Middle, b"other")), None);
        assert_eq!(gate.accept(one, piece(Part::Middle, b"abc")), None);
        let whole = gate.accept(one, piece(Part::Last, b"\x1b\\")).unwrap();
        assert_eq!(whole.bytes, b"\x1bPqabc\x1b\\");
        gate.accept(one, piece(Part::First, b"\x1bPq"));
        gate.accept(one, piece(Part::Aborted, b""));
        assert_eq!(gate.accept(one, piece(Part::Last, b"\x1b\\")), None);
        gate.accept(one, piece(Part::First, b"\x1bPq"));
        assert_eq!(gate.accept(one, piece(Part::Middle, &vec![b'x'; LONGEST])), None);
        assert_eq!((gate.accept(one, piece(Part::Last, b"\x1b\\")), gate.dropped), (None, 1));
    }

    #[test]
    fn an_image_that_would_cross_the_edge_does_not_fit() {
        let image = |control: &str| Sequence {
            kind: SequenceKind::Apc,
            bytes: format!("\x1b_Ga=T,{control};AAAA\x1b\\").into_bytes(),
            row: 2,
            col: 10,
        };
        assert!(image("c=10,r=3").fits(5, 20));
        assert!(!image("c=11,r=3").fits(5, 20));
        assert!(!image("c=1,r=4").fits(5, 20));
        assert!(image("f=100").fits(5, 20) && !image("c=4294967295").fits(5, 20));
    }
}
