use std::collections::HashMap;

use crate::vt::LinkId;

/// The hyperlinks on the operator's terminal, over all panes. A link is `id;uri`, as in OSC 8.
#[derive(Debug, Default)]
pub(crate) struct LinkTable {
    numbers: HashMap<Box<str>, u16>,
    keys: Vec<Box<str>>,
}

/// More than a screen of links. When they are used up, the table starts anew and the screen is drawn anew.
const MOST: usize = 4_096;

impl LinkTable {
    pub(crate) fn intern(&mut self, key: &str) -> LinkId {
        if let Some(&number) = self.numbers.get(key) {
            return LinkId(number);
        }
        if self.keys.len() >= MOST {
            return LinkId::NONE;
        }
        self.keys.push(key.into());
        let number = self.keys.len() as u16;
        self.numbers.insert(key.into(), number);
        LinkId(number)
    }

    pub(crate) fn key(&self, id: LinkId) -> Option<&str> {
        self.keys.get(usize::from(id.0).checked_sub(1)?).map(AsRef::as_ref)
    }

    /// Whether no further link fits.
    pub(crate) fn is_full(&self) -> bool {
        self.keys.len() >= MOST
    }
}
