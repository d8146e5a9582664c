//! What GitHub's answers mean.

use jackin_core::protocol::control::{Checks, PullRequest};
use serde_json::Value;

use super::Pull;

/// The longest title that is kept.
const LONGEST_TITLE: usize = 200;

/// The longest name of a branch that is kept.
const LONGEST_BRANCH: usize = 200;

/// A pull request out of its answer.
pub(super) fn pull(answer: &Value, number: u64, url: &str) -> Pull {
    let branch = |name: &Value| name.as_str().map(|name| plain(name, LONGEST_BRANCH));
    Pull {
        request: pull_request(answer, number, url),
        branch: branch(&answer["head"]["ref"]),
        default_branch: branch(&answer["base"]["repo"]["default_branch"]),
    }
}

fn plain(text: &str, longest: usize) -> String {
    text.chars().filter(|c| !c.is_control()).take(longest).collect()
}

fn pull_request(answer: &Value, number: u64, url: &str) -> PullRequest {
    let state = match answer["state"].as_str() {
        _ if answer["merged"] == true => Some("merged"),
        Some("closed") => Some("closed"),
        _ if answer["draft"] == true => Some("draft"),
        _ => None,
    };
    let title = answer["title"].as_str().map(|title| plain(title, LONGEST_TITLE));
    PullRequest { number, url: Some(url.to_owned()), title, state: state.map(str::to_owned), checks: None }
}

/// The commit whose checks count.
pub(super) fn commit(answer: &Value) -> Option<&str> {
    let commit = answer["head"]["sha"].as_str()?;
    commit.chars().all(|c| c.is_ascii_hexdigit()).then_some(commit).filter(|commit| !commit.is_empty())
}

/// The checks of a commit: those of Actions and apps, and the older statuses. A commit without statuses is called
/// pending by GitHub although nobody is waited for; only what is there counts.
pub(super) fn checks(runs: &Value, statuses: &Value) -> Option<Checks> {
    let mut checks = Checks::default();
    for run in runs["check_runs"].as_array().into_iter().flatten() {
        match (run["status"].as_str(), run["conclusion"].as_str()) {
            (Some("completed"), Some("success" | "neutral" | "skipped")) => checks.passed += 1,
            (Some("completed"), _) => checks.failed += 1,
            _ => checks.pending += 1,
        }
    }
    for status in statuses["statuses"].as_array().into_iter().flatten() {
        match status["state"].as_str() {
            Some("success") => checks.passed += 1,
            Some("failure" | "error") => checks.failed += 1,
            _ => checks.pending += 1,
        }
    }
    (checks != Checks::default()).then_some(checks)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_pull_request_is_what_it_became() {
        for (answer, state) in [
            (json!({ "state": "open" }), None),
            (json!({ "state": "open", "draft": true }), Some("draft")),
            (json!({ "state": "closed", "merged": false }), Some("closed")),
            (json!({ "state": "closed", "merged": true }), Some("merged")),
            (json!("nonsense"), None),
        ] {
            assert_eq!(pull_request(&answer, 1, "u").state.as_deref(), state, "{answer}");
        }
        let hostile = json!({ "title": "a\u{1b}]0;x\u{7}b" });
        assert_eq!(pull_request(&hostile, 1, "u").title.as_deref(), Some("a]0;xb"));
        assert_eq!(commit(&json!({ "head": { "sha": "../x" } })), None);
    }

    #[test]
    fn checks_of_both_kinds_count_and_nothing_else() {
        let run =
            |status: &str, conclusion: Option<&str>| json!({ "status": status, "conclusion": conclusion });
        let runs = json!({ "check_runs": [
            run("completed", Some("success")), run("completed", Some("skipped")), run("completed", Some("timed_out")),
            run("in_progress", None), run("queued", None),
        ]});
        let statuses =
            json!({ "state": "pending", "statuses": [{ "state": "success" }, { "state": "error" }] });
        let Checks { passed, failed, pending } = checks(&runs, &statuses).unwrap();
        assert_eq!((passed, failed, pending), (3, 2, 2));
        let none = json!({ "state": "pending", "total_count": 0, "statuses": [] });
        assert_eq!(checks(&json!({ "check_runs": [] }), &none), None);
        let actions_alone = json!({ "check_runs": [run("completed", Some("success"))] });
        assert_eq!(checks(&actions_alone, &none).unwrap().pending, 0);
    }
}
