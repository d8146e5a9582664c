//! Hyperlinks (OSC 8), each kept once per pane.

use std::collections::BTreeMap;

/// A hyperlink of one terminal; [`LinkId::NONE`] is no link.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LinkId(pub(crate) u16);

impl LinkId {
    /// No hyperlink.
    pub const NONE: Self = Self(0);

    /// Whether this is no link.
    pub const fn is_none(self) -> bool {
        self.0 == 0
    }
}

/// What a hyperlink points at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Link<'a> {
    /// The `id=` parameter, empty if there is none: cells with equal id and address are one link.
    pub id: &'a str,
    /// The address.
    pub uri: &'a str,
}

/// Links alive in one pane. The key is `id;uri`, which is also how they stand in OSC 8 and in history.
#[derive(Debug, Default)]
pub(super) struct Links {
    ids: BTreeMap<Box<str>, LinkId>,
    keys: Vec<Option<Box<str>>>,
    free: Vec<LinkId>,
}

/// Most distinct links that one pane keeps at a time.
pub(super) const MOST_LINKS: usize = 2048;
/// Longest address with its id; a longer link is shown as text without a link.
pub(super) const LONGEST_LINK: usize = 2083;

impl Links {
    /// The id of a link, or `None` when the table is full and must be collected first.
    pub(super) fn intern(&mut self, key: &str) -> Option<LinkId> {
        if let Some(&id) = self.ids.get(key) {
            return Some(id);
        }
        let id = match self.free.pop() {
            Some(id) => id,
            None if self.keys.len() < MOST_LINKS => {
                self.keys.push(None);
                LinkId(self.keys.len() as u16)
            }
            None => return None,
        };
        self.keys[usize::from(id.0) - 1] = Some(key.into());
        self.ids.insert(key.into(), id);
        Some(id)
    }

    /// The `id;uri` of a link.
    pub(super) fn key(&self, id: LinkId) -> Option<&str> {
        self.keys.get(usize::from(id.0).checked_sub(1)?)?.as_deref()
    }

    /// Drops every link that `used` does not name.
    pub(super) fn retain(&mut self, used: &std::collections::BTreeSet<LinkId>) {
        for (at, slot) in self.keys.iter_mut().enumerate() {
            let id = LinkId(at as u16 + 1);
            if !used.contains(&id)
                && let Some(key) = slot.take()
            {
                self.ids.remove(&key);
                self.free.push(id);
            }
        }
    }
}

impl<'a> Link<'a> {
    pub(super) fn from_key(key: &'a str) -> Self {
        let (id, uri) = key.split_once(';').unwrap_or(("", key));
        Self { id, uri }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_links_share_an_id_and_freed_ids_return() {
        let mut links = Links::default();
        let a = links.intern("x;http://a").unwrap();
        assert_eq!(links.intern("x;http://a"), Some(a));
        let b = links.intern(";http://b").unwrap();
        assert_ne!(a, b);
        assert_eq!(links.key(b).map(Link::from_key), Some(Link { id: "", uri: "http://b" }));
        links.retain(&[b].into());
        assert_eq!(links.key(a), None);
        assert_eq!(links.intern(";http://c"), Some(a));
    }

    #[test]
    fn the_table_has_an_end() {
        let mut links = Links::default();
        for n in 0..MOST_LINKS {
            assert!(links.intern(&format!(";{n}")).is_some());
        }
        assert_eq!(links.intern(";more"), None);
    }
}
