//! What became of the pull requests that agents opened: asked of GitHub politely, and only with a token.

mod answer;
mod token;

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use jackin_core::protocol::control::PullRequest;
use reqwest::header::{ETAG, HeaderMap, IF_NONE_MATCH, RETRY_AFTER};
use reqwest::{Client, StatusCode};
use serde_json::Value;
use tokio::time::Instant;

use crate::config::GithubConfig;

/// A pull request is asked for again no sooner than this.
const FRESH: Duration = Duration::from_secs(60);

/// After a failure it is left alone for so long, and twice as long after each next one, up to the second.
const PAUSE: Duration = Duration::from_secs(60);
const LONGEST_PAUSE: Duration = Duration::from_secs(1_800);

/// How long one answer may take.
const LIMIT: Duration = Duration::from_secs(10);

/// How many pull requests are remembered.
const MOST: usize = 512;

/// The largest answer that is read.
const LARGEST: usize = 4 << 20;

/// GitHub, with what it said before.
#[derive(Debug)]
pub(crate) struct Github {
    /// None when it is switched off.
    client: Option<Client>,
    /// An address that is asked instead of the usual one.
    api: Option<String>,
    known: Mutex<HashMap<String, Known>>,
}

/// A pull request, and where it is to go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pull {
    pub(crate) request: PullRequest,
    /// The branch that it is of.
    pub(crate) branch: Option<String>,
    /// The branch that everything starts from in the repository.
    pub(crate) default_branch: Option<String>,
}

impl Pull {
    /// One of which its address alone is known.
    pub(crate) fn unseen(url: &str) -> Option<Self> {
        let Place { number, .. } = Place::of(url)?;
        let request = PullRequest { number, url: Some(url.to_owned()), ..PullRequest::default() };
        Some(Self { request, branch: None, default_branch: None })
    }
}

/// What is known of one pull request.
#[derive(Clone, Debug)]
struct Known {
    found: Option<Pull>,
    /// Answers by address, so that the same one need not be sent again.
    answers: HashMap<String, (String, Value)>,
    next: Instant,
    failures: u32,
}

/// Where a pull request is.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Place {
    host: String,
    owner: String,
    repository: String,
    number: u64,
}

impl Place {
    fn of(url: &str) -> Option<Self> {
        let rest = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"))?;
        let mut parts = rest.split(['/', '?', '#']);
        let (host, owner, repository) = (parts.next()?, parts.next()?, parts.next()?);
        let (word, number) = (parts.next()?, parts.next()?.parse().ok()?);
        // They become parts of an address, and come from an agent.
        let plain = |text: &str| {
            !text.is_empty()
                && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'))
                && text != "."
                && text != ".."
        };
        let host_is_plain = !host.is_empty()
            && host.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | ':'));
        (word == "pull" && host_is_plain && plain(owner) && plain(repository)).then(|| Self {
            host: host.to_owned(),
            owner: owner.to_owned(),
            repository: repository.to_owned(),
            number,
        })
    }

    /// The address of the API that knows it.
    fn api(&self, configured: Option<&str>) -> String {
        match (configured, self.host.as_str()) {
            (Some(api), _) => api.trim_end_matches('/').to_owned(),
            (None, "github.com" | "www.github.com") => "https://api.github.com".to_owned(),
            (None, host) => format!("https://{host}/api/v3"),
        }
    }
}

/// Why there is no answer.
#[derive(Debug)]
enum Trouble {
    /// To be asked again later than usual.
    Later(Duration),
    Failed,
}

impl Github {
    /// As it is configured. Nothing is asked before somebody wants to know.
    pub(crate) fn new(config: &GithubConfig) -> Self {
        let enabled = config.enabled.unwrap_or(true);
        let client = enabled.then(client).flatten();
        Self { client, api: config.api.clone(), known: Mutex::default() }
    }

    /// What became of a pull request, as far as is known: asked for at most once a minute, less often when that fails,
    /// and never without a token.
    pub(crate) async fn pull(&self, url: &str) -> Option<Pull> {
        let client = self.client.as_ref()?;
        let place = Place::of(url)?;
        let mut known = {
            let mut all = self.known.lock().unwrap_or_else(PoisonError::into_inner);
            let entry = all.get(url).cloned();
            if let Some(entry) = entry.as_ref().filter(|entry| Instant::now() < entry.next) {
                return entry.found.clone();
            }
            if entry.is_none() && all.len() >= MOST {
                // Agents name them: one that names many must not keep the others' out.
                let oldest = all.iter().min_by_key(|(_, known)| known.next).map(|(url, _)| url.clone());
                oldest.map(|url| all.remove(&url));
            }
            let mut entry = entry.unwrap_or_else(|| Known {
                found: None,
                answers: HashMap::new(),
                next: Instant::now(),
                failures: 0,
            });
            // Whoever else asks meanwhile is told what was known.
            entry.next = Instant::now() + FRESH;
            all.insert(url.to_owned(), entry.clone());
            entry
        };
        let token = token::find(&place.host).await;
        let asked = match token {
            Some(token) => self.ask(client, &place, url, &token, &mut known).await,
            None => Err(Trouble::Failed),
        };
        known.next = Instant::now()
            + match asked {
                Ok(found) => {
                    known.found = Some(found);
                    known.failures = 0;
                    FRESH
                }
                Err(trouble) => {
                    known.failures += 1;
                    let pause = PAUSE.saturating_mul(1 << known.failures.min(10)).min(LONGEST_PAUSE);
                    if let Trouble::Later(wanted) = trouble {
                        wanted.max(pause).min(LONGEST_PAUSE)
                    } else {
                        pause
                    }
                }
            };
        let found = known.found.clone();
        self.known.lock().unwrap_or_else(PoisonError::into_inner).insert(url.to_owned(), known);
        found
    }

    async fn ask(
        &self,
        client: &Client,
        place: &Place,
        url: &str,
        token: &str,
        known: &mut Known,
    ) -> Result<Pull, Trouble> {
        let Place { owner, repository, number, .. } = place;
        let base = format!("{}/repos/{owner}/{repository}", place.api(self.api.as_deref()));
        let pull = get(client, &format!("{base}/pulls/{number}"), token, known).await?;
        let mut found = answer::pull(&pull, *number, url);
        if let Some(commit) = answer::commit(&pull) {
            let runs = get(client, &format!("{base}/commits/{commit}/check-runs?per_page=100"), token, known)
                .await?;
            let statuses =
                get(client, &format!("{base}/commits/{commit}/status?per_page=100"), token, known).await?;
            found.request.checks = answer::checks(&runs, &statuses);
        }
        Ok(found)
    }
}

fn client() -> Option<Client> {
    // A second call finds it installed.
    let _ = rustls::crypto::ring::default_provider().install_default();
    Client::builder().user_agent(concat!("jackin/", env!("CARGO_PKG_VERSION"))).timeout(LIMIT).build().ok()
}

async fn get(client: &Client, url: &str, token: &str, known: &mut Known) -> Result<Value, Trouble> {
    let mut request = client.get(url).bearer_auth(token).header("Accept", "application/vnd.github+json");
    if let Some((tag, _)) = known.answers.get(url) {
        request = request.header(IF_NONE_MATCH, tag);
    }
    let mut response = request.send().await.map_err(|_| Trouble::Failed)?;
    match response.status() {
        StatusCode::NOT_MODIFIED => {
            return known.answers.get(url).map(|(_, value)| value.clone()).ok_or(Trouble::Failed);
        }
        StatusCode::FORBIDDEN | StatusCode::TOO_MANY_REQUESTS => {
            return Err(Trouble::Later(asked_pause(response.headers())));
        }
        status if !status.is_success() => return Err(Trouble::Failed),
        _ => {}
    }
    let tag = response.headers().get(ETAG).and_then(|tag| tag.to_str().ok()).map(str::to_owned);
    let mut body = Vec::new();
    while let Some(piece) = response.chunk().await.map_err(|_| Trouble::Failed)? {
        if body.len() + piece.len() > LARGEST {
            return Err(Trouble::Failed);
        }
        body.extend_from_slice(&piece);
    }
    let value: Value = serde_json::from_slice(&body).map_err(|_| Trouble::Failed)?;
    if let Some(tag) = tag {
        known.answers.insert(url.to_owned(), (tag, value.clone()));
    }
    Ok(value)
}

/// How long GitHub wants to be left alone.
fn asked_pause(headers: &HeaderMap) -> Duration {
    let number = |name: &str| headers.get(name)?.to_str().ok()?.parse::<u64>().ok();
    let reset =
        number("x-ratelimit-reset").map(|at| at.saturating_sub(crate::capsule::now().as_millis() / 1_000));
    Duration::from_secs(number(RETRY_AFTER.as_str()).or(reset).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;

    use super::*;

    #[test]
    fn only_pull_requests_have_a_place() {
        let place = Place::of("https://github.com/a-b/c.d/pull/42#issuecomment-1").unwrap();
        assert_eq!((place.owner.as_str(), place.repository.as_str(), place.number), ("a-b", "c.d", 42));
        assert_eq!(place.api(None), "https://api.github.com");
        assert_eq!(
            Place::of("https://git.example/a/b/pull/1").unwrap().api(None),
            "https://git.example/api/v3"
        );
        for url in [
            "https://github.com/a/b/issues/1",
            "https://github.com/a/b/pull/x",
            "https://github.com/../b/pull/1",
            "https://user@github.com/a/b/pull/1",
            "ftp://github.com/a/b/pull/1",
            "https://github.com/a/b%2f/pull/1",
        ] {
            assert_eq!(Place::of(url), None, "{url}");
        }
    }

    /// Serves answers by path, once each, and says what it was asked.
    async fn serve(answers: Vec<(&'static str, String)>) -> (String, tokio::task::JoinHandle<Vec<String>>) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        let serving = tokio::spawn(async move {
            let mut asked = Vec::new();
            for (path, answer) in answers {
                let (mut stream, _) = listener.accept().await.unwrap();
                let mut request = Vec::new();
                while !request.ends_with(b"\r\n\r\n") {
                    request.push(stream.read_u8().await.unwrap());
                }
                let request = String::from_utf8(request).unwrap();
                assert!(request.starts_with(&format!("GET {path}")), "{request} is not for {path}");
                asked.push(request);
                stream.write_all(answer.as_bytes()).await.unwrap();
            }
            asked
        });
        (base, serving)
    }

    fn ok(tag: &str, body: &str) -> String {
        format!(
            "HTTP/1.1 200 OK\r\nETag: {tag}\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        )
    }

    #[tokio::test]
    async fn an_answer_that_did_not_change_is_not_sent_again() {
        let unchanged = || "HTTP/1.1 304 Not Modified\r\nConnection: close\r\n\r\n".to_owned();
        let pull = r#"{"title":"Fix","state":"open","draft":true,"head":{"sha":"abc","ref":"fix/login"},"base":{"repo":{"default_branch":"trunk"}}}"#;
        let runs = r#"{"total_count":1,"check_runs":[{"status":"completed","conclusion":"success"}]}"#;
        let statuses = r#"{"state":"pending","total_count":0,"statuses":[]}"#;
        let (base, serving) = serve(vec![
            ("/repos/a/b/pulls/7", ok("\"1\"", pull)),
            ("/repos/a/b/commits/abc/check-runs", ok("\"2\"", runs)),
            ("/repos/a/b/commits/abc/status", ok("\"3\"", statuses)),
            ("/repos/a/b/pulls/7", unchanged()),
            ("/repos/a/b/commits/abc/check-runs", unchanged()),
            ("/repos/a/b/commits/abc/status", unchanged()),
        ])
        .await;
        let github = Github::new(&GithubConfig { enabled: Some(true), api: Some(base) });
        let client = github.client.clone().unwrap();
        let url = "https://github.com/a/b/pull/7";
        let place = Place::of(url).unwrap();
        let mut known = Known { found: None, answers: HashMap::new(), next: Instant::now(), failures: 0 };
        let first = github.ask(&client, &place, url, "t0ken", &mut known).await.unwrap();
        let checks = first.request.checks.unwrap();
        assert_eq!((checks.passed, checks.failed, checks.pending), (1, 0, 0), "nothing is waited for");
        assert_eq!(first.request.state.as_deref(), Some("draft"));
        assert_eq!(
            (first.branch.as_deref(), first.default_branch.as_deref()),
            (Some("fix/login"), Some("trunk"))
        );
        let again = github.ask(&client, &place, url, "t0ken", &mut known).await.unwrap();
        assert_eq!(again, first);
        let asked = serving.await.unwrap();
        assert!(asked[0].to_lowercase().contains("authorization: bearer t0ken"));
        assert!(asked[3].to_lowercase().contains("if-none-match: \"1\""), "{}", asked[3]);
    }

    #[tokio::test]
    async fn a_busy_github_is_left_alone() {
        let busy = "HTTP/1.1 429 Too Many Requests\r\nRetry-After: 77\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";
        let (base, _serving) = serve(vec![("/repos/a/b/pulls/7", busy.to_owned())]).await;
        let github = Github::new(&GithubConfig { enabled: Some(true), api: Some(base) });
        let client = github.client.clone().unwrap();
        let mut known = Known { found: None, answers: HashMap::new(), next: Instant::now(), failures: 0 };
        let url = "https://github.com/a/b/pull/7";
        let asked = github.ask(&client, &Place::of(url).unwrap(), url, "t", &mut known).await;
        assert!(matches!(asked, Err(Trouble::Later(pause)) if pause == Duration::from_secs(77)));
    }

    #[tokio::test]
    async fn what_is_switched_off_asks_nobody() {
        let github = Github::new(&GithubConfig { enabled: Some(false), api: None });
        assert_eq!(github.pull("https://github.com/a/b/pull/7").await, None);
    }
}
