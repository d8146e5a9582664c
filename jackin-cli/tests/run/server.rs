//! A small HTTP server that does what a test wants.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;

/// What the server does with a connection, piece by piece; then it closes it.
#[derive(Clone)]
pub enum Act {
    Send(Vec<u8>),
    /// Waits until the test lets it go on.
    Wait(Arc<Notify>),
    /// Says nothing more, and does not hang up.
    Hang,
}

pub struct Server {
    pub url: String,
    requests: Arc<Mutex<Vec<String>>>,
}

impl Server {
    /// Serves one connection after the other with these; the last one serves all that follow.
    pub async fn start(scripts: impl IntoIterator<Item = Vec<Act>>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        let requests = Arc::new(Mutex::new(Vec::new()));
        let mut scripts: VecDeque<Vec<Act>> = scripts.into_iter().collect();
        let seen = Arc::clone(&requests);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let script = if scripts.len() > 1 { scripts.pop_front() } else { scripts.front().cloned() };
                tokio::spawn(serve(stream, script.unwrap_or_default(), Arc::clone(&seen)));
            }
        });
        Self { url, requests }
    }

    /// The requests so far, head and body.
    pub fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }
}

async fn serve(mut stream: TcpStream, script: Vec<Act>, seen: Arc<Mutex<Vec<String>>>) {
    let mut request = Vec::new();
    let mut buf = [0; 4096];
    loop {
        let text = String::from_utf8_lossy(&request).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head
                .lines()
                .filter_map(|line| line.split_once(": "))
                .find(|(name, _)| name.eq_ignore_ascii_case("content-length"))
                .map_or(0, |(_, value)| value.parse().unwrap());
            if body.len() >= length {
                seen.lock().unwrap().push(text);
                break;
            }
        }
        match stream.read(&mut buf).await {
            Ok(len @ 1..) => request.extend_from_slice(&buf[..len]),
            _ => return,
        }
    }
    for act in script {
        match act {
            Act::Send(bytes) => {
                if stream.write_all(&bytes).await.is_err() {
                    return;
                }
            }
            Act::Wait(go_on) => go_on.notified().await,
            Act::Hang => std::future::pending().await,
        }
    }
    let _ = stream.shutdown().await;
}

/// A whole answer.
pub fn reply(status: &str, headers: &str, body: &str) -> Vec<Act> {
    let length = body.len();
    let head = format!("HTTP/1.1 {status}\r\n{headers}content-length: {length}\r\nconnection: close\r\n\r\n");
    vec![Act::Send((head + body).into_bytes())]
}

/// The head of a stream of events, which ends with its connection unless it is chunked.
pub fn stream_head(chunked: bool) -> Act {
    let how = if chunked { "transfer-encoding: chunked\r\n" } else { "" };
    Act::Send(
        format!("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n{how}connection: close\r\n\r\n")
            .into_bytes(),
    )
}

/// One event with a piece of text.
pub fn event(text: &str) -> String {
    format!("data: {}\n\n", serde_json::json!({ "choices": [{ "delta": { "content": text } }] }))
}

/// How a stream ends that is whole.
pub fn last_events() -> String {
    let usage = serde_json::json!({
        "choices": [{ "delta": {}, "finish_reason": "stop" }],
        "usage": { "prompt_tokens": 12, "completion_tokens": 5, "cost": { "total_cost": 0.01 } },
    });
    format!("data: {usage}\n\ndata: [DONE]\n\n")
}

/// A whole stream.
pub fn stream(texts: &[&str]) -> Vec<Act> {
    let events: String = texts.iter().map(|text| event(text)).collect();
    vec![stream_head(false), Act::Send((events + &last_events()).into_bytes())]
}
