//! Agents behind HTTP, against a real server on this machine.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use jackin_cli::run::{AgentSettings, Backend, FinishedRun, Rest, RestSettings, RunSettings};
use jackin_core::run::{RunStatus, StopReason};
use tokio::sync::Notify;

use crate::scene::{FILES, Scene, files, info, text};
use crate::server::{Act, Server, event, last_events, reply, stream, stream_head};
use crate::support::eventually;

const KEY: &str = "xai-0123456789-very-secret";

fn xai(url: &str) -> Rest {
    xai_with(url, |_| {})
}

fn xai_with(url: &str, change: impl FnOnce(&mut RestSettings)) -> Rest {
    let known = RunSettings::default();
    let Backend::Rest(rest) = &known.agents["xai"].backend else { panic!("xai is reached by REST") };
    let mut rest =
        RestSettings { base_url: url.to_owned(), first_pause: Duration::from_millis(1), ..rest.clone() };
    change(&mut rest);
    Rest::new("xai", &AgentSettings::new(Backend::Rest(rest.clone())), &rest)
}

fn scene() -> Scene {
    Scene::new().with_variable("XAI_API_KEY", KEY).with_variable("PERPLEXITY_API_KEY", "another-secret")
}

/// No file below holds the key.
fn assert_no_key(dir: &Path) {
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            assert_no_key(&path);
        } else {
            let bytes = std::fs::read(&path).unwrap();
            let text = String::from_utf8_lossy(&bytes);
            assert!(
                !text.contains(KEY) && !text.contains("another-secret"),
                "{} holds a key",
                path.display()
            );
        }
    }
}

async fn failed(scene: &Scene, agent: Rest) -> (FinishedRun, String) {
    let run = scene.run(agent, "What is new?").await;
    let record = info(&run.layout);
    assert_eq!(record.status, RunStatus::Failed);
    assert_eq!(run.exit_code(), 1);
    assert_eq!(files(&run.layout), FILES);
    assert_eq!(scene.kinds().last().unwrap(), "RUN_CRASH");
    assert_no_key(scene.dir());
    (run, record.error_summary)
}

#[tokio::test]
async fn an_answer_in_one_piece() {
    let body = r#"{"choices":[{"message":{"content":"Nothing."},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":1}}"#;
    let server = Server::start([reply("200 OK", "content-type: application/json\r\n", body)]).await;
    let scene = scene();
    let run = scene.run(xai(&server.url), "What is new?").await;
    let record = info(&run.layout);
    assert_eq!((record.status, record.exit_code), (RunStatus::Completed, 0), "{}", record.error_summary);
    assert_eq!(text(run.layout.output()), "Nothing.\n");
    assert_eq!(record.usage.unwrap().output_tokens, Some(1));
    assert_eq!(record.agent_version, "grok-4");
    assert_eq!(record.runner.unwrap().place, "rest");
    assert!(record.commandline.contains("/v1/chat/completions"), "{}", record.commandline);

    let requests = server.requests();
    let (head, body) = requests[0].split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("POST /v1/chat/completions HTTP/1.1"), "{head}");
    assert!(head.contains(&format!("authorization: Bearer {KEY}")), "{head}");
    let body: serde_json::Value = serde_json::from_str(body).unwrap();
    assert_eq!(body["messages"][0]["content"], "What is new?", "without the preamble");
    assert_eq!((&body["model"], &body["stream"]), (&"grok-4".into(), &true.into()));
    assert!(text(run.layout.prompt()).ends_with("What is new?"));
    assert_no_key(scene.dir());
}

#[tokio::test]
async fn an_answer_is_kept_as_it_comes() {
    let go_on = Arc::new(Notify::new());
    let script = vec![
        stream_head(true),
        Act::Send(chunk(&event("First "))),
        Act::Wait(Arc::clone(&go_on)),
        Act::Send(chunk(&event("and <jackin:link>https://example.com/a</jackin:link>"))),
        Act::Send(chunk(&last_events())),
        Act::Send(b"0\r\n\r\n".to_vec()),
    ];
    let server = Server::start([script]).await;
    let scene = scene();
    let store = scene.store();
    let watcher = tokio::task::spawn_blocking(move || {
        let first = || {
            let run = store.runs().unwrap().0.pop();
            run.is_some_and(|run| text(run.layout.stdout()) == "First ")
        };
        eventually("the first piece is in the file", first);
        go_on.notify_one();
    });
    let run = scene.run(xai(&server.url), "x").await;
    watcher.await.unwrap();
    let record = info(&run.layout);
    assert_eq!(record.status, RunStatus::Completed, "{}", record.error_summary);
    assert_eq!(text(run.layout.output()), "First and <jackin:link>https://example.com/a</jackin:link>\n");
    assert_eq!(record.tags["link"], ["https://example.com/a"]);
    assert_eq!((record.usage.unwrap().input_tokens, record.cost_usd), (Some(12), Some(0.01)));
}

fn chunk(text: &str) -> Vec<u8> {
    format!("{:x}\r\n{text}\r\n", text.len()).into_bytes()
}

#[tokio::test]
async fn a_refused_key_is_told_but_not_repeated() {
    let body = format!(r#"{{"error":{{"message":"Incorrect API key: {KEY}"}}}}"#);
    let server = Server::start([reply("401 Unauthorized", "", &body)]).await;
    let scene = scene();
    let (run, error) = failed(&scene, xai(&server.url)).await;
    assert!(error.contains("401") && error.contains("check the key in XAI_API_KEY"), "{error}");
    assert!(text(run.layout.stderr()).contains("Incorrect API key: (key)"));
    assert_eq!(server.requests().len(), 1, "that is not tried again");
}

#[tokio::test]
async fn too_many_requests_are_tried_again() {
    let server = Server::start([
        reply("429 Too Many Requests", "retry-after: 0\r\n", "slow down"),
        reply("503 Service Unavailable", "", ""),
        stream(&["Here."]),
    ])
    .await;
    let scene = scene();
    let run = scene.run(xai(&server.url), "x").await;
    assert_eq!(info(&run.layout).status, RunStatus::Completed, "{}", info(&run.layout).error_summary);
    assert_eq!(text(run.layout.output()), "Here.\n");
    assert_eq!(server.requests().len(), 3);
    let notes = text(run.layout.stderr());
    assert!(notes.contains("answered 429: slow down") && notes.contains("try 1 of 4"), "{notes}");
    assert_no_key(scene.dir());
}

#[tokio::test]
async fn a_server_with_a_problem_is_given_up_on() {
    let server = Server::start([reply("500 Internal Server Error", "", "oops")]).await;
    let scene = scene();
    let (_, error) = failed(&scene, xai_with(&server.url, |rest| rest.retries = 2)).await;
    assert!(error.contains("answered 500: oops"), "{error}");
    assert_eq!(server.requests().len(), 3, "once, and twice again");
}

#[tokio::test]
async fn a_server_that_says_nothing_is_not_waited_for() {
    let silent = |rest: &mut RestSettings| rest.silence = Duration::from_millis(100);
    let (scene, again) = (scene(), scene());
    let server = Server::start([vec![Act::Hang]]).await;
    let (_, error) = failed(&scene, xai_with(&server.url, silent)).await;
    assert!(error.contains("said nothing for 100ms"), "{error}");

    let script = vec![stream_head(false), Act::Send(event("So far").into_bytes()), Act::Hang];
    let server = Server::start([script]).await;
    let (run, error) = failed(&again, xai_with(&server.url, silent)).await;
    assert!(error.contains("said nothing for"), "{error}");
    assert_eq!(text(run.layout.output()), "So far\n", "what came is kept");
}

#[tokio::test]
async fn an_answer_that_breaks_off_is_a_failure() {
    let half = || Act::Send(chunk(&event("Half")));
    // The stream ends as if it were whole, but it does not say so; the connection breaks; the length is wrong.
    let short =
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: 9999\r\n\r\n".to_owned();
    let scripts = [
        vec![stream_head(false), Act::Send(event("Half").into_bytes())],
        vec![stream_head(true), half()],
        vec![stream_head(true), half(), Act::Send(b"0\r\n\r\n".to_vec())],
        vec![Act::Send((short + &event("Half")).into_bytes())],
    ];
    for script in scripts {
        let (server, scene) = (Server::start([script]).await, scene());
        let (run, error) = failed(&scene, xai(&server.url)).await;
        assert!(error.contains("broke off"), "{error}");
        assert_eq!(text(run.layout.stdout()), "Half");
        assert_eq!(server.requests().len(), 1, "the text would come twice");
    }
    // Before there was any text, it can be tried again.
    let server = Server::start([vec![stream_head(true)], stream(&["Whole"])]).await;
    let run = scene().run(xai(&server.url), "x").await;
    assert_eq!(run.info.status, RunStatus::Completed, "{}", run.info.error_summary);
}

#[tokio::test]
async fn garbage_is_no_answer() {
    for body in ["\u{0}\u{1}\u{2}", "<html>Welcome</html>", "data: {}\n\n", "data: [\"\n\n"] {
        let server = Server::start([reply("200 OK", "content-type: text/html\r\n", body)]).await;
        let (_, error) = failed(&scene(), xai_with(&server.url, |rest| rest.retries = 0)).await;
        assert!(error.contains("broke off"), "{body:?}: {error}");
    }
}

#[tokio::test]
async fn without_a_key_nothing_is_asked() {
    let server = Server::start([stream(&["x"])]).await;
    for scene in [Scene::new(), Scene::new().with_variable("XAI_API_KEY", " ")] {
        let run = scene.run(xai(&server.url), "x").await;
        assert_eq!(info(&run.layout).error_summary, "XAI_API_KEY is not set: put the key of xai into it");
    }
    let run = Scene::new().with_variable("XAI_API_KEY", "a\nb").run(xai(&server.url), "x").await;
    assert!(run.info.error_summary.contains("characters that no key has"), "{}", run.info.error_summary);
    assert!(server.requests().is_empty());
}

#[tokio::test]
async fn a_server_that_is_not_there() {
    let unused = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", unused.local_addr().unwrap());
    drop(unused);
    let (_, error) = failed(&scene(), xai_with(&url, |rest| rest.retries = 1)).await;
    assert!(error.contains("cannot reach 127.0.0.1") && error.contains("refused"), "{error}");

    for url in ["nonsense", "ftp://x", "http://user:pass@host"] {
        let (_, error) = failed(&scene(), xai(url)).await;
        assert!(error.contains("is not valid") && !error.contains("pass"), "{error}");
    }
}

#[tokio::test]
async fn a_server_that_knows_no_encryption_does_not_get_the_key() {
    let server = Server::start([stream(&["x"])]).await;
    let url = server.url.replace("http://", "https://");
    let (_, error) = failed(&scene(), xai_with(&url, |rest| rest.retries = 0)).await;
    assert!(error.contains("cannot reach 127.0.0.1"), "{error}");
    assert!(server.requests().is_empty());
}

#[tokio::test]
async fn a_redirection_does_not_get_the_key() {
    let other = Server::start([stream(&["x"])]).await;
    let server = Server::start([reply("302 Found", &format!("location: {}\r\n", other.url), "")]).await;
    let (_, error) = failed(&scene(), xai(&server.url)).await;
    assert!(error.contains("302"), "{error}");
    assert!(other.requests().is_empty());
}

#[tokio::test]
async fn waiting_for_a_server_can_be_stopped() {
    for script in [vec![Act::Hang], reply("429 Too Many Requests", "retry-after: 3600\r\n", "")] {
        let server = Server::start([script]).await;
        let scene = scene();
        let request = scene.request(xai(&server.url), "x");
        let stop = request.stop.clone();
        let stopper = tokio::spawn(async move {
            while server.requests().is_empty() {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            stop.request(StopReason::Asked);
        });
        let (run, _) = scene.run_seen(request).await;
        stopper.await.unwrap();
        assert_eq!(info(&run.layout).exit_code, 143);
    }
}

#[tokio::test]
async fn the_other_one_tells_its_sources() {
    let body = r#"{"choices":[{"message":{"content":"Yes [1]."},"finish_reason":"stop"}],"citations":["https://a.example/x"]}"#;
    let server = Server::start([reply("200 OK", "content-type: application/json\r\n", body)]).await;
    let known = RunSettings::default();
    let Backend::Rest(rest) = &known.agents["perplexity"].backend else { panic!() };
    let rest = RestSettings { base_url: server.url.clone(), ..rest.clone() };
    let agent = Rest::new("perplexity", &AgentSettings::new(Backend::Rest(rest.clone())), &rest);
    let scene = scene();
    let run = scene.run(agent, "x").await;
    assert_eq!(text(run.layout.output()), "Yes [1].\n\nSources:\n[1] https://a.example/x\n");
    assert!(server.requests()[0].contains("Bearer another-secret"));
}
