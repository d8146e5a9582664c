//! Reads what an agent wrote and prints what it declared: `cargo run -p jackin-examples --example tag_index < FILE`.
//! A line of `---` ends a message; the screen of a pipe will do, so will a saved conversation.
use std::io::{BufRead, stdin};

use jackin_core::{RuntimeEvent, SessionId, TagKind, Timestamp};
use jackin_tags::{Overrides, TagExtractor, TagIndex, TagView};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut extractor = TagExtractor::new("example".parse()?, SessionId::new(1).ok_or("ids begin at 1")?);
    let mut index = TagIndex::new();
    let mut message = 1;
    for line in stdin().lock().lines() {
        let line = line?;
        let end = line == "---";
        let chunk = if end { String::new() } else { line + "\n" };
        let event = RuntimeEvent::AssistantText { message_id: format!("m{message}"), chunk, end };
        message += usize::from(end);
        for tag in extractor.handle(&event, Timestamp::from_millis(0)) {
            index.record(&tag);
        }
    }
    for tag in extractor.handle(&RuntimeEvent::Ended, Timestamp::from_millis(0)) {
        index.record(&tag);
    }
    let view = TagView::new(&index, &Overrides::new());
    for kind in TagKind::KNOWN {
        for tag in view.values(&kind) {
            println!("{kind:<8}{}", tag.value);
        }
    }
    Ok(())
}
