//! Agents behind an HTTP API: perplexity, xai, and others that speak like them.

mod answer;

use std::collections::BTreeMap;
use std::time::Duration;

use async_trait::async_trait;
use jackin_core::run::{Agent, AgentError, Ended, RunContext, RunSink};
use jackin_core::{RuntimeEvent, one_line};
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderValue, RETRY_AFTER};
use reqwest::{Client, Response, StatusCode, Url};
use serde_json::json;
use tokio::time::timeout;

use answer::{Answer, error_text};

use crate::run::clock;
use crate::run::settings::{AgentSettings, RestSettings};

/// No pause is longer, whatever a server asks for.
const MAX_PAUSE: Duration = Duration::from_secs(60);

/// So much of a refusal is read.
const MAX_REFUSAL: usize = 64 << 10;

/// An agent that is a server. The operator's prompt is sent without the preamble, which speaks of files that it cannot
/// reach; the answer is what it "prints".
pub struct Rest {
    name: String,
    settings: RestSettings,
    env: BTreeMap<String, String>,
    tokens: Vec<String>,
}

/// A try that failed: what to tell, and how long to wait before another one, if that makes sense.
struct Failure {
    error: AgentError,
    again: Option<Pause>,
}

enum Pause {
    /// As long as it is usual.
    Usual,
    /// As long as the server asks for.
    Asked(Duration),
}

impl Rest {
    /// The agent of this name, by its settings.
    pub fn new(name: &str, agent: &AgentSettings, rest: &RestSettings) -> Self {
        Self {
            name: name.to_owned(),
            settings: rest.clone(),
            env: agent.env.clone(),
            tokens: agent.tokens.clone().unwrap_or_else(|| vec![rest.token.clone()]),
        }
    }

    fn url(&self) -> Result<Url, AgentError> {
        let base = self.settings.base_url.trim_end_matches('/');
        Url::parse(&format!("{base}/chat/completions"))
            .ok()
            .filter(|url| matches!(url.scheme(), "http" | "https") && url.username().is_empty())
            .ok_or_else(|| {
                let shown = one_line(base.rsplit('@').next().unwrap_or_default(), 200);
                AgentError::Other(format!(
                    "the base URL {shown:?} of {} is not valid: write https://HOST/PATH without a user",
                    self.name
                ))
            })
    }

    fn client(&self) -> Result<Client, AgentError> {
        // The first one counts; whoever embeds this may have chosen another.
        let _ = rustls::crypto::ring::default_provider().install_default();
        Client::builder()
            .connect_timeout(self.settings.connect_timeout)
            // A key must not follow a redirection.
            .redirect(reqwest::redirect::Policy::none())
            .user_agent(concat!("jackin/", env!("CARGO_PKG_VERSION")))
            .build()
            .map_err(|error| AgentError::Other(format!("cannot make a connection: {}", error.without_url())))
    }

    /// One request and its answer. Once text has come, there is no other try: it would come twice.
    async fn ask(
        &self,
        client: &Client,
        key: &Key,
        context: &RunContext,
        sink: &mut dyn RunSink,
    ) -> Result<(), Failure> {
        let url = self.url()?;
        let server = url.authority().to_owned();
        let body = json!({
            "model": self.settings.model,
            "messages": [{ "role": "user", "content": context.prompt }],
            "stream": true,
        });
        let request = client.post(url).header(AUTHORIZATION, key.header()?).json(&body).send();
        let silent = || AgentError::Silent { server: server.clone(), limit: self.settings.silence };
        let response = match timeout(self.settings.silence, request).await {
            Err(_) => return Err(silent().into()),
            Ok(Err(error)) => {
                let reason = key.hide(&reason(&error));
                let error = AgentError::Unreachable { server, reason };
                return Err(Failure { error, again: Some(Pause::Usual) });
            }
            Ok(Ok(response)) => response,
        };
        if !response.status().is_success() {
            return Err(self.refused(server, response, key).await);
        }
        self.take(response, server, key, sink).await
    }

    async fn take(
        &self,
        mut response: Response,
        server: String,
        key: &Key,
        sink: &mut dyn RunSink,
    ) -> Result<(), Failure> {
        let content_type = response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
        let mut answer = Answer::new(content_type.unwrap_or_default());
        let mut begun = false;
        let broken_off = |reason: String, begun: bool| Failure {
            error: AgentError::BrokenOff { server: server.clone(), reason },
            again: (!begun).then_some(Pause::Usual),
        };
        loop {
            let piece = match timeout(self.settings.silence, response.chunk()).await {
                Err(_) => {
                    let limit = self.settings.silence;
                    return Err(AgentError::Silent { server, limit }.into());
                }
                Ok(Err(error)) => return Err(broken_off(key.hide(&reason(&error)), begun)),
                Ok(Ok(piece)) => piece,
            };
            let (text, over) = match &piece {
                Some(piece) => (answer.feed(piece), false),
                None => (answer.finish(), true),
            };
            begun |= !text.is_empty();
            self.say(&key.hide(&text), false, sink).await?;
            if over {
                break;
            }
        }
        if let Some(usage) = answer.usage() {
            sink.events(vec![RuntimeEvent::Usage(usage)]).await;
        }
        if let Some(problem) = answer.problem() {
            return Err(broken_off(key.hide(&problem), begun));
        }
        self.say(&answer.sources(), true, sink).await?;
        Ok(())
    }

    async fn say(&self, text: &str, end: bool, sink: &mut dyn RunSink) -> Result<(), AgentError> {
        if text.is_empty() && !end {
            return Ok(());
        }
        sink.stdout(text.as_bytes()).await?;
        let chunk = text.to_owned();
        sink.events(vec![RuntimeEvent::AssistantText { message_id: "answer".to_owned(), chunk, end }]).await;
        Ok(())
    }

    async fn refused(&self, server: String, mut response: Response, key: &Key) -> Failure {
        let status = response.status();
        let after =
            response.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok()?.trim().parse().ok());
        let again = (status == StatusCode::TOO_MANY_REQUESTS || status.is_server_error())
            .then(|| after.map_or(Pause::Usual, |seconds| Pause::Asked(Duration::from_secs(seconds))));
        let mut body = Vec::new();
        while let Ok(Ok(Some(piece))) = timeout(self.settings.silence, response.chunk()).await {
            body.extend_from_slice(&piece);
            if body.len() > MAX_REFUSAL {
                break;
            }
        }
        let said = match serde_json::from_slice(&body) {
            Ok(json) => error_text(&json),
            Err(_) => one_line(&String::from_utf8_lossy(&body), 300),
        };
        let advice = match status.as_u16() {
            300..=399 => "it moved: put the new address into the configuration".to_owned(),
            401 | 403 => format!("check the key in {}", self.settings.token),
            404 => format!("check the base URL and the model ({})", self.settings.model),
            429 => "a limit is reached: wait, or ask for a higher one".to_owned(),
            500..=599 => "it has a problem of its own: try again later".to_owned(),
            _ => "check the model and the prompt".to_owned(),
        };
        let message = if said.is_empty() { advice } else { format!("{} ({advice})", key.hide(&said)) };
        Failure { error: AgentError::Refused { server, status: status.as_u16(), message }, again }
    }

    fn pause(&self, pause: &Pause, tried: u32) -> Duration {
        match pause {
            Pause::Asked(asked) => *asked,
            Pause::Usual => {
                let usual = self.settings.first_pause.saturating_mul(1 << tried.min(16));
                // Many runs that were refused at once must not come back at once.
                usual + usual.mul_f64(0.25 * f64::from(clock::later().1 % 1_000) / 1_000.0)
            }
        }
        .min(MAX_PAUSE)
    }

    async fn ask_patiently(&self, context: &RunContext, sink: &mut dyn RunSink) -> Result<(), AgentError> {
        let key = Key::find(&self.name, &self.settings.token, context)?;
        let client = self.client()?;
        let mut tried = 0;
        loop {
            let Err(Failure { error, again }) = self.ask(&client, &key, context, sink).await else {
                return Ok(());
            };
            let Some(pause) = again.filter(|_| tried < self.settings.retries) else {
                return Err(error);
            };
            let pause = self.pause(&pause, tried);
            tried += 1;
            let note = format!("{error}; try {tried} of {} in {pause:.1?}\n", self.settings.retries);
            sink.stderr(note.as_bytes()).await?;
            tokio::time::sleep(pause).await;
        }
    }
}

impl From<AgentError> for Failure {
    fn from(error: AgentError) -> Self {
        Self { error, again: None }
    }
}

#[async_trait]
impl Agent for Rest {
    fn name(&self) -> &str {
        &self.name
    }

    fn tokens(&self) -> Vec<String> {
        self.tokens.clone()
    }

    fn environment(&self) -> BTreeMap<String, String> {
        self.env.clone()
    }

    fn command_line(&self, _context: &RunContext) -> String {
        self.url().map(|url| format!("POST {url} (model {})", self.settings.model)).unwrap_or_default()
    }

    fn place(&self) -> &'static str {
        "rest"
    }

    async fn version(&self, _context: &RunContext) -> Option<String> {
        Some(self.settings.model.clone())
    }

    async fn execute(&self, context: &RunContext, sink: &mut dyn RunSink) -> Result<Ended, AgentError> {
        sink.events(vec![RuntimeEvent::TurnStarted]).await;
        let asked = tokio::select! {
            biased;
            _ = context.stop.requested() => Err(AgentError::Stopped),
            asked = self.ask_patiently(context, &mut *sink) => asked,
        };
        let error = asked.as_ref().err().map(ToString::to_string);
        if let Some(error) = &error {
            // It may be the writing that failed; that is told anyway.
            let _ = sink.stderr(format!("{error}\n").as_bytes()).await;
        }
        sink.events(vec![RuntimeEvent::TurnEnded { error }]).await;
        asked.map(|()| Ended::with_code(0))
    }
}

/// A key, which shows itself to nobody but its server.
struct Key(String);

impl Key {
    fn find(agent: &str, variable: &str, context: &RunContext) -> Result<Self, AgentError> {
        let key = context.variable(variable).map(str::trim).filter(|key| !key.is_empty());
        key.map(|key| Self(key.to_owned()))
            .ok_or_else(|| AgentError::NoToken { agent: agent.to_owned(), variable: variable.to_owned() })
    }

    fn header(&self) -> Result<HeaderValue, AgentError> {
        let mut header = HeaderValue::from_str(&format!("Bearer {}", self.0))
            .map_err(|_| AgentError::Other("the key has characters that no key has: check it".to_owned()))?;
        header.set_sensitive(true);
        Ok(header)
    }

    /// A server's words, without the key that it may repeat.
    fn hide(&self, text: &str) -> String {
        text.replace(&self.0, "(key)")
    }
}

/// What went wrong, down to the cause, without the address.
fn reason(error: &reqwest::Error) -> String {
    let mut cause: &dyn std::error::Error = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    one_line(&cause.to_string(), 200)
}
