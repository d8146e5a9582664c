use crate::vt::Row;

/// The first and the last column of what stands at a column: an address or a path as a whole, else a word, else the
/// cell itself.
pub(super) fn around(row: &Row, col: u16) -> (u16, u16) {
    let whole = run(row, col, is_of_an_address);
    if let Some((from, to)) = whole {
        let text = text(row, from, to);
        if text.contains('/') {
            // The full stop or comma after an address belongs to the sentence.
            let trimmed = text.trim_end_matches(['.', ',', ';', ':', '!', '?']).chars().count();
            let end = from + (trimmed as u16).saturating_sub(1);
            if col <= end {
                return (from, end);
            }
        }
    }
    run(row, col, is_of_a_word).unwrap_or((col, col))
}

pub(super) fn is_of_a_word(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-')
}

fn is_of_an_address(c: char) -> bool {
    !c.is_whitespace()
        && !c.is_control()
        && !matches!(c, '"' | '\'' | '`' | '<' | '>' | '(' | ')' | '[' | ']' | '{' | '}' | '│' | '|')
}

fn run(row: &Row, col: u16, belongs: fn(char) -> bool) -> Option<(u16, u16)> {
    let fits = |at: u16| {
        let cell = row.cells().get(usize::from(at));
        cell.is_some_and(|cell| cell.width() == 0 || row.text(cell).chars().next().is_some_and(belongs))
    };
    if !fits(col) {
        return None;
    }
    let from = (0..col).rev().take_while(|&at| fits(at)).last().unwrap_or(col);
    let to = (col..row.cells().len() as u16).take_while(|&at| fits(at)).last().unwrap_or(col);
    Some((from, to))
}

fn text(row: &Row, from: u16, to: u16) -> String {
    let mut text = String::new();
    row.push_text(&mut text, usize::from(from), usize::from(to) + 1);
    text
}
