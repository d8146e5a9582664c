//! The kitty keyboard protocol's stack of flags, one for each screen.

/// Most entries; pushing more drops the oldest, as the protocol asks.
const DEEPEST: usize = 16;
/// The flags that the protocol defines.
const KNOWN: u8 = 0b1_1111;

#[derive(Debug, Clone, Default)]
pub(super) struct KeyboardStack {
    pushed: Vec<u8>,
    current: u8,
}

impl KeyboardStack {
    /// The flags in force.
    pub(super) fn flags(&self) -> u8 {
        self.current
    }

    /// `CSI > flags u`.
    pub(super) fn push(&mut self, flags: u32) {
        if self.pushed.len() == DEEPEST {
            self.pushed.remove(0);
        }
        self.pushed.push(self.current);
        self.current = flags as u8 & KNOWN;
    }

    /// `CSI < count u`; popping everything leaves no flags.
    pub(super) fn pop(&mut self, count: u32) {
        for _ in 0..count.min(DEEPEST as u32 + 1) {
            self.current = self.pushed.pop().unwrap_or(0);
        }
    }

    /// `CSI = flags ; mode u`: 1 sets exactly these, 2 adds them, 3 takes them away.
    pub(super) fn set(&mut self, flags: u32, mode: u32) {
        let flags = flags as u8 & KNOWN;
        match mode {
            0 | 1 => self.current = flags,
            2 => self.current |= flags,
            3 => self.current &= !flags,
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_nest() {
        let mut stack = KeyboardStack::default();
        stack.push(1);
        stack.push(5);
        stack.set(8, 2);
        assert_eq!(stack.flags(), 13);
        stack.set(1, 3);
        assert_eq!(stack.flags(), 12);
        stack.pop(1);
        assert_eq!(stack.flags(), 1);
        stack.pop(99);
        assert_eq!(stack.flags(), 0);
        for n in 0..100 {
            stack.push(n);
        }
        assert_eq!(stack.pushed.len(), DEEPEST);
    }
}
