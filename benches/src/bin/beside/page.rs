//! The pages that show the figures: what stands between two marks is written anew, the rest is left as it is.

use std::path::Path;

use anyhow::{Context, Result};

const BEGIN: &str =
    "<!-- Figures: written by `cargo run --release -p jackin-benches --bin beside -- --write`. -->\n";
const END: &str = "<!-- End of the figures. -->";

/// Puts the text between the marks of a page.
pub(crate) fn write(file: &Path, text: &str) -> Result<()> {
    let page = std::fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
    let page = replaced(&page, text)
        .with_context(|| format!("{} has no place for figures: {BEGIN}", file.display()))?;
    std::fs::write(file, page).with_context(|| format!("cannot write {}", file.display()))
}

fn replaced(page: &str, text: &str) -> Option<String> {
    let (before, rest) = page.split_once(BEGIN)?;
    let (_, after) = rest.split_once(END)?;
    Some([before, BEGIN, "\n", text.trim(), "\n\n", END, after].concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_between_the_marks_changes() {
        let page = format!("# Page\n\n{BEGIN}old\n{END}\nrest\n");
        let new = replaced(&page, "| new |\n").unwrap();
        assert_eq!(new, format!("# Page\n\n{BEGIN}\n| new |\n\n{END}\nrest\n"));
        assert_eq!(replaced(&new, "| new |\n"), Some(new));
        assert_eq!(replaced("# Page\n", "x"), None);
    }

    #[test]
    fn the_pages_have_a_place_for_them() {
        let repository = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        for name in super::super::PAGES {
            let page = std::fs::read_to_string(repository.join(name)).unwrap();
            assert!(replaced(&page, "").is_some(), "{name}");
        }
    }
}
