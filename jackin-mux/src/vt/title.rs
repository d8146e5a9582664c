//! The window title and its stack.

/// Longest title kept.
const LONGEST: usize = 1024;
/// Most titles on the stack, as in xterm.
const DEEPEST: usize = 10;

#[derive(Debug, Default)]
pub(super) struct Titles {
    title: String,
    stack: Vec<String>,
}

impl Titles {
    pub(super) fn get(&self) -> &str {
        &self.title
    }

    /// Sets the title, without controls and not longer than is useful; true if it changed.
    pub(super) fn set(&mut self, bytes: &[u8]) -> bool {
        let bytes = &bytes[..bytes.len().min(LONGEST)];
        let title: String = String::from_utf8_lossy(bytes).chars().filter(|c| !c.is_control()).collect();
        let changed = title != self.title;
        self.title = title;
        changed
    }

    pub(super) fn push(&mut self) {
        if self.stack.len() == DEEPEST {
            self.stack.remove(0);
        }
        self.stack.push(self.title.clone());
    }

    /// Back to the title pushed last; true if it changed.
    pub(super) fn pop(&mut self) -> bool {
        let Some(title) = self.stack.pop() else { return false };
        let changed = title != self.title;
        self.title = title;
        changed
    }
}
