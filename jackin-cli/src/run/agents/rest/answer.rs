use jackin_core::{Usage, UsageScope, one_line};
use jackin_status::LineSplitter;
use serde::Deserialize;

/// A longer event of a stream, or a longer answer that comes in one piece, is skipped.
pub(super) const MAX_EVENT: usize = 8 << 20;

/// More sources than anybody looks at.
const MAX_SOURCES: usize = 50;

/// An answer as it arrives: a stream of server-sent events, or one JSON document.
///
/// Bytes come in cut anywhere; text goes out as soon as it is there. Whether the answer is whole is known at its end.
#[derive(Debug)]
pub(super) struct Answer {
    form: Form,
    finished: bool,
    error: Option<String>,
    usage: Option<Usage>,
    sources: Vec<String>,
}

#[derive(Debug)]
enum Form {
    Events(LineSplitter),
    Document(Vec<u8>),
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Wire {
    choices: Vec<Choice>,
    usage: Option<WireUsage>,
    error: Option<serde_json::Value>,
    citations: Option<Vec<String>>,
    search_results: Option<Vec<Source>>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Choice {
    delta: Option<Message>,
    message: Option<Message>,
    finish_reason: Option<String>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Message {
    content: Option<String>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Source {
    url: String,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct WireUsage {
    prompt_tokens: Option<u64>,
    completion_tokens: Option<u64>,
    prompt_tokens_details: Option<PromptDetails>,
    cost: Option<Cost>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct PromptDetails {
    cached_tokens: Option<u64>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Cost {
    total_cost: Option<f64>,
}

impl Answer {
    /// An answer with this content type.
    pub(super) fn new(content_type: &str) -> Self {
        let form = if content_type.trim_start().starts_with("application/json") {
            Form::Document(Vec::new())
        } else {
            Form::Events(LineSplitter::with_cap(MAX_EVENT))
        };
        Self { form, finished: false, error: None, usage: None, sources: Vec::new() }
    }

    /// Takes a piece; the text in it.
    pub(super) fn feed(&mut self, piece: &[u8]) -> String {
        let mut text = String::new();
        match &mut self.form {
            Form::Document(document) => {
                if document.len() + piece.len() > MAX_EVENT {
                    self.error.get_or_insert_with(|| format!("it has more than {MAX_EVENT} bytes"));
                } else {
                    document.extend_from_slice(piece);
                }
            }
            Form::Events(lines) => {
                let mut events = Vec::new();
                lines.feed(piece, |_, line| events.extend(data(line)));
                for event in events {
                    self.event(&event, &mut text);
                }
            }
        }
        text
    }

    /// No more comes; the rest of the text.
    pub(super) fn finish(&mut self) -> String {
        let mut text = String::new();
        match &mut self.form {
            Form::Document(document) => {
                let document = std::mem::take(document);
                self.event(&document, &mut text);
            }
            Form::Events(lines) => {
                let mut last = None;
                lines.finish(|_, line| last = data(line));
                if let Some(last) = last {
                    self.event(&last, &mut text);
                }
            }
        }
        text
    }

    /// Why it is not a whole answer, if it is not.
    pub(super) fn problem(&self) -> Option<String> {
        self.error
            .clone()
            .or_else(|| (!self.finished).then(|| "it ended without saying that it was complete".to_owned()))
    }

    /// What it cost, as far as it was told.
    pub(super) fn usage(&self) -> Option<Usage> {
        self.usage
    }

    /// Where it is from, as text to put behind it.
    pub(super) fn sources(&self) -> String {
        if self.sources.is_empty() {
            return "\n".to_owned();
        }
        let lines: Vec<String> =
            self.sources.iter().enumerate().map(|(at, url)| format!("[{}] {url}", at + 1)).collect();
        format!("\n\nSources:\n{}\n", lines.join("\n"))
    }

    fn event(&mut self, json: &[u8], text: &mut String) {
        if json == b"[DONE]" {
            self.finished = true;
            return;
        }
        let Ok(wire) = serde_json::from_slice::<Wire>(json) else {
            return;
        };
        if let Some(error) = wire.error.as_ref().filter(|error| !error.is_null()) {
            self.error.get_or_insert(error_text(error));
        }
        if let Some(choice) = wire.choices.into_iter().next() {
            let message = match self.form {
                Form::Events(_) => choice.delta,
                Form::Document(_) => choice.message,
            };
            text.push_str(message.and_then(|message| message.content).as_deref().unwrap_or_default());
            self.finished |= choice.finish_reason.is_some();
        }
        if let Some(usage) = wire.usage {
            self.usage = Some(usage.report());
        }
        let found = wire.search_results.map(|found| found.into_iter().map(|source| source.url).collect());
        if let Some(urls) = found.or(wire.citations) {
            let urls: Vec<String> = urls;
            let good = urls.iter().filter(|url| url.starts_with("https://") || url.starts_with("http://"));
            self.sources = good.take(MAX_SOURCES).map(|url| one_line(url, 2_000)).collect();
        }
    }
}

impl WireUsage {
    /// Cached tokens are counted among the prompt's.
    fn report(&self) -> Usage {
        let cached = self.prompt_tokens_details.as_ref().and_then(|details| details.cached_tokens);
        Usage {
            scope: UsageScope::Session,
            input_tokens: self.prompt_tokens.map(|tokens| tokens.saturating_sub(cached.unwrap_or(0))),
            cached_tokens: cached,
            output_tokens: self.completion_tokens,
            cost_usd: self.cost.as_ref().and_then(|cost| cost.total_cost),
        }
    }
}

/// The data of a line of a stream; comments and other fields have none.
fn data(line: &[u8]) -> Option<Vec<u8>> {
    let data = line.strip_prefix(b"data:")?.trim_ascii();
    (!data.is_empty()).then(|| data.to_vec())
}

/// What an error document says: `{"error": {"message": …}}`, `{"error": "…"}`, or anything else as it is.
pub(super) fn error_text(error: &serde_json::Value) -> String {
    let inner = error.get("error").unwrap_or(error);
    let said = inner.get("message").unwrap_or(inner);
    one_line(said.as_str().map_or_else(|| said.to_string(), str::to_owned).as_str(), 300)
}

#[cfg(test)]
mod tests {
    use super::*;

    const STREAM: &str = concat!(
        ": a comment\n\n",
        "data: {\"choices\":[{\"delta\":{\"role\":\"assistant\",\"content\":\"Hällo \"}}]}\r\n\r\n",
        "event: x\ndata: {\"choices\":[{\"delta\":{\"content\":\"world\"}}],\"citations\":[\"https://a/1\",\"javascript:x\"]}\n\n",
        "data: {broken\n\n",
        "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}],",
        "\"usage\":{\"prompt_tokens\":10,\"completion_tokens\":4,\"prompt_tokens_details\":{\"cached_tokens\":3},\"cost\":{\"total_cost\":0.5}}}\n\n",
        "data: [DONE]\n\n"
    );

    #[test]
    fn a_stream_cut_anywhere_is_the_same_answer() {
        for size in [1, 2, 3, 7, 64, STREAM.len()] {
            let mut answer = Answer::new("text/event-stream");
            let mut text: String = STREAM.as_bytes().chunks(size).map(|piece| answer.feed(piece)).collect();
            text += &answer.finish();
            assert_eq!(text, "Hällo world");
            assert_eq!(answer.problem(), None);
            assert_eq!(answer.sources(), "\n\nSources:\n[1] https://a/1\n");
            let usage = answer.usage().unwrap();
            assert_eq!(
                (usage.input_tokens, usage.cached_tokens, usage.output_tokens),
                (Some(7), Some(3), Some(4))
            );
            assert_eq!(usage.cost_usd, Some(0.5));
        }
    }

    #[test]
    fn a_stream_that_breaks_off_is_no_answer() {
        let whole = STREAM.find("{\"choices\":[{\"delta\":{},").unwrap();
        let mut answer = Answer::new("text/event-stream");
        assert_eq!(answer.feed(&STREAM.as_bytes()[..whole]), "Hällo world");
        answer.finish();
        assert!(answer.problem().unwrap().contains("without saying"));

        let mut answer = Answer::new("text/event-stream");
        answer.feed(b"data: {\"error\":{\"message\":\"overloaded\"}}\n\ndata: [DONE]\n\n");
        assert_eq!(answer.problem().as_deref(), Some("overloaded"));
    }

    #[test]
    fn a_document_is_an_answer_too() {
        let mut answer = Answer::new("application/json; charset=utf-8");
        assert_eq!(answer.feed(b"{\"choices\":[{\"message\":{\"content\":\"yes\"},\"finish"), "");
        answer.feed(b"_reason\":\"stop\"}]}");
        assert_eq!(answer.finish(), "yes");
        assert_eq!(answer.problem(), None);
    }
}
