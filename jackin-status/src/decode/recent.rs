use super::words;

/// How many open things a decoder remembers of one kind; the oldest is forgotten beyond that, so that an agent that
/// never closes anything costs a bounded amount.
const MAX_OPEN: usize = 128;

/// The most recent entries under a key. Keys are ids, and cut as ids are.
#[derive(Debug)]
pub(crate) struct Recent<V> {
    entries: Vec<(Box<str>, V)>,
}

impl<V> Default for Recent<V> {
    fn default() -> Self {
        Self { entries: Vec::new() }
    }
}

impl<V> Recent<V> {
    /// Remembers `value`, in place of an older one under the same key. Returns whether the key is new.
    pub(crate) fn insert(&mut self, key: &str, value: V) -> bool {
        let key = words::cut(key, words::MAX_ID);
        if let Some(old) = self.get_mut(key) {
            *old = value;
            return false;
        }
        if self.entries.len() == MAX_OPEN {
            self.entries.remove(0);
        }
        self.entries.push((key.into(), value));
        true
    }

    pub(crate) fn get(&self, key: &str) -> Option<&V> {
        let key = words::cut(key, words::MAX_ID);
        self.entries.iter().find(|(known, _)| &**known == key).map(|(_, value)| value)
    }

    pub(crate) fn get_mut(&mut self, key: &str) -> Option<&mut V> {
        let key = words::cut(key, words::MAX_ID);
        self.entries.iter_mut().find(|(known, _)| &**known == key).map(|(_, value)| value)
    }

    pub(crate) fn remove(&mut self, key: &str) -> Option<V> {
        let key = words::cut(key, words::MAX_ID);
        let at = self.entries.iter().position(|(known, _)| &**known == key)?;
        Some(self.entries.remove(at).1)
    }

    /// The key of the latest entry whose value fits.
    pub(crate) fn latest_key(&self, mut fits: impl FnMut(&V) -> bool) -> Option<&str> {
        self.entries.iter().rev().find(|(_, value)| fits(value)).map(|(key, _)| &**key)
    }

    /// The entries, oldest first.
    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = (&str, &mut V)> {
        self.entries.iter_mut().map(|(key, value)| (&**key, value))
    }

    /// Takes out the entries, oldest first.
    pub(crate) fn drain(&mut self) -> impl Iterator<Item = (Box<str>, V)> {
        std::mem::take(&mut self.entries).into_iter()
    }

    /// Forgets the entries whose value does not fit.
    pub(crate) fn retain(&mut self, mut fits: impl FnMut(&V) -> bool) {
        self.entries.retain(|(_, value)| fits(value));
    }

    pub(crate) fn values(&self) -> impl DoubleEndedIterator<Item = &V> {
        self.entries.iter().map(|(_, value)| value)
    }

    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub(crate) fn clear(&mut self) {
        self.entries.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_is_forgotten() {
        let mut recent = Recent::default();
        for number in 0..10_000 {
            assert!(recent.insert(&number.to_string(), number));
        }
        assert_eq!(recent.len(), MAX_OPEN);
        assert!(recent.get("0").is_none());
        assert_eq!(recent.remove("9999"), Some(9999));
        assert!(!recent.insert("9998", 1));
        let absurd = "x".repeat(1 << 20);
        recent.insert(&absurd, 7);
        assert_eq!(recent.remove(&absurd), Some(7));
        assert_eq!(recent.latest_key(|value| *value == 1), Some("9998"));
    }
}
