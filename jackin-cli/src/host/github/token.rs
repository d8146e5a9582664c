//! The operator's token for a GitHub host.

use std::collections::HashMap;
use std::process::Stdio;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;

/// How long `gh` may take.
const LIMIT: Duration = Duration::from_secs(5);

/// The token: a variable's, or that of `gh`, which is asked once for each host. It is kept in memory alone.
pub(super) async fn find(host: &str) -> Option<String> {
    static ASKED: OnceLock<Mutex<HashMap<String, Option<String>>>> = OnceLock::new();
    let set = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    // A token of github.com is not shown to any other host: an agent names the host.
    let variables: &[&str] = match host {
        "github.com" | "www.github.com" => &["GH_TOKEN", "GITHUB_TOKEN"],
        _ => &[],
    };
    if let Some(token) = variables.iter().find_map(|name| set(name)) {
        return Some(token);
    }
    let asked = ASKED.get_or_init(Mutex::default);
    if let Some(token) = asked.lock().unwrap_or_else(PoisonError::into_inner).get(host) {
        return token.clone();
    }
    let token = ask_gh(host).await;
    asked.lock().unwrap_or_else(PoisonError::into_inner).insert(host.to_owned(), token.clone());
    token
}

async fn ask_gh(host: &str) -> Option<String> {
    let mut gh = tokio::process::Command::new("gh");
    gh.args(["auth", "token", "--hostname", host]);
    gh.stdin(Stdio::null()).stderr(Stdio::null()).kill_on_drop(true);
    let output = tokio::time::timeout(LIMIT, gh.output()).await.ok()?.ok()?;
    let token = String::from_utf8(output.stdout).ok()?.trim().to_owned();
    (output.status.success() && !token.is_empty()).then_some(token)
}
