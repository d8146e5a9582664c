use std::borrow::Cow;
use std::str::FromStr;

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

use super::{ValueError, clean, text_value};

/// A status hint is shown in so many columns.
pub const STATUS_COLUMNS: usize = 80;

/// A few words from the agent about what it does. A hint for display, never the source of truth.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StatusHint {
    text: String,
}

impl StatusHint {
    /// The words as they were given.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The words as they are shown: cut to [`STATUS_COLUMNS`], with an ellipsis where something is missing.
    ///
    /// ```
    /// let hint: jackin_tags::StatusHint = "測".repeat(50).parse()?;
    /// assert_eq!(hint.shown(), "測".repeat(39) + "…");
    /// # Ok::<(), jackin_tags::ValueError>(())
    /// ```
    pub fn shown(&self) -> Cow<'_, str> {
        if self.text.width() <= STATUS_COLUMNS {
            return Cow::Borrowed(&self.text);
        }
        let mut columns = 0;
        let mut cut = 0;
        for (at, cluster) in self.text.grapheme_indices(true) {
            columns += cluster.width();
            if columns >= STATUS_COLUMNS {
                break;
            }
            cut = at + cluster.len();
        }
        Cow::Owned(format!("{}…", &self.text[..cut]))
    }
}

impl FromStr for StatusHint {
    type Err = ValueError;

    fn from_str(text: &str) -> Result<Self, ValueError> {
        clean(text).map(|text| Self { text: text.to_owned() })
    }
}

text_value!(StatusHint);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn eighty_columns_fit_and_more_are_cut() {
        let shown = |text: &str| text.parse::<StatusHint>().unwrap().shown().into_owned();
        assert_eq!(shown(&"x".repeat(80)), "x".repeat(80));
        assert_eq!(shown(&"x".repeat(81)), "x".repeat(79) + "…");
        for text in ["👩‍💻".repeat(60), "e\u{301}".repeat(100), "ab測".repeat(40)] {
            assert!(shown(&text).width() <= STATUS_COLUMNS, "{text}");
        }
        assert!(!shown(&"👩‍💻".repeat(60)).ends_with("\u{200d}…"));
    }
}
