//! The operator's token for a GitHub host.

use std::collections::HashMap;
use std::process::Stdio;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// How long `gh` may take.
const LIMIT: Duration = Duration::from_secs(5);

/// How long it is believed that `gh` has none: the operator may log in meanwhile.
const NONE_FOR: Duration = Duration::from_secs(60);

/// How many hosts are remembered; agents name them.
const MOST_HOSTS: usize = 64;

/// The variables that may hold tokens, none of which is for just any host.
const VARIABLES: [&str; 4] = ["GH_TOKEN", "GITHUB_TOKEN", "GH_ENTERPRISE_TOKEN", "GITHUB_ENTERPRISE_TOKEN"];

struct Asked {
    at: Instant,
    token: Option<String>,
}

/// The token: a variable's, or that of `gh`, which is asked once for each host. It is kept in memory alone.
pub(super) async fn find(host: &str) -> Option<String> {
    static ASKED: OnceLock<Mutex<HashMap<String, Asked>>> = OnceLock::new();
    let set = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    if let Some(token) = variables(host, set("GH_HOST").as_deref()).iter().find_map(|name| set(name)) {
        return Some(token);
    }
    let asked = ASKED.get_or_init(Mutex::default);
    let lock = || asked.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) =
        lock().get(host).filter(|known| known.token.is_some() || known.at.elapsed() < NONE_FOR)
    {
        return known.token.clone();
    }
    let token = ask_gh(host).await;
    let mut asked = lock();
    if asked.len() >= MOST_HOSTS {
        asked.clear();
    }
    asked.insert(host.to_owned(), Asked { at: Instant::now(), token: token.clone() });
    token
}

/// The variables whose token is meant for a host. An agent names the host, so a token is shown to the one that the operator
/// has it for, and to no other.
fn variables(host: &str, operators_own: Option<&str>) -> &'static [&'static str] {
    match host {
        "github.com" | "www.github.com" => &VARIABLES[..2],
        _ if operators_own == Some(host) => &VARIABLES[2..],
        _ => &[],
    }
}

async fn ask_gh(host: &str) -> Option<String> {
    let mut gh = tokio::process::Command::new("gh");
    gh.args(["auth", "token", "--hostname", host]);
    // With these it would answer for any host with the same token; what is left is what the operator logged in with there.
    for variable in VARIABLES.iter().chain(&["CODESPACES"]) {
        gh.env_remove(variable);
    }
    gh.stdin(Stdio::null()).stderr(Stdio::null()).kill_on_drop(true);
    let output = tokio::time::timeout(LIMIT, gh.output()).await.ok()?.ok()?;
    let token = String::from_utf8(output.stdout).ok()?.trim().to_owned();
    (output.status.success() && !token.is_empty()).then_some(token)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_that_an_agent_names_gets_no_token_of_another() {
        assert_eq!(variables("github.com", None), ["GH_TOKEN", "GITHUB_TOKEN"]);
        assert_eq!(variables("evil.example", None), [""; 0]);
        assert_eq!(variables("evil.example", Some("git.acme.example")), [""; 0]);
        assert_eq!(variables("git.acme.example", Some("git.acme.example")).len(), 2);
    }
}
