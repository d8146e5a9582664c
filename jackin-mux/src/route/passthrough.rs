use jackin_core::PaneId;

use super::kitty::StoredImages;
use crate::settings::Forward;
use crate::vt::{Part, Passthrough, SequenceKind};

/// The longest sequence that is passed on. It is kept until it is whole: our own frames must not fall into it.
const LONGEST: usize = 4 << 20;

/// Lets the sequences of one pane at a time through, each as a whole.
#[derive(Debug, Default)]
pub(crate) struct Gate {
    /// The sequence that is not whole yet.
    open: Option<(PaneId, Sequence)>,
    /// The pane of whose image the first piece was left out, and the others have to be.
    dropping: Option<PaneId>,
    /// The images that the operator's terminal has.
    pub(crate) images: StoredImages,
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

impl Gate {
    /// Leaves an image out, with all of its pieces.
    pub(crate) fn drop_image(&mut self, pane: PaneId, sequence: &Sequence) {
        self.dropped += 1;
        if sequence.is_first_of_several() {
            self.dropping = Some(pane);
        }
    }

    /// Whether a sequence is a piece of an image that was left out.
    pub(crate) fn is_dropped(&mut self, pane: PaneId, sequence: &Sequence) -> bool {
        let Some(more) = sequence.continues().filter(|_| self.dropping == Some(pane)) else { return false };
        if !more {
            self.dropping = None;
        }
        true
    }
}

impl Sequence {
    /// Whether it draws, and where the cursor is matters.
    pub(crate) fn is_image(&self) -> bool {
        matches!(self.kind, SequenceKind::Apc | SequenceKind::Dcs | SequenceKind::Osc(1337))
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
}
