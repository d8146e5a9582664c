//! Previews: the changing rows of one session's screen, for any number of viewers.

mod support;

use std::collections::BTreeMap;

use jackin_cli::client::{Client, ClientError};
use jackin_core::SessionId;
use jackin_core::protocol::control::{ErrorCode, Request, ScreenRows};
use support::{Place, eventually};

const ECHO: &str = r#"printf '\033[31mready\033[m\n'; while read -r line; do [ "$line" = bye ] && exit 4; printf 'got <%s>\n' "$line"; done"#;

/// What a viewer of the rows shows.
struct Preview {
    client: Client,
    rows: BTreeMap<u16, String>,
    items: Vec<ScreenRows>,
}

impl Preview {
    async fn of(place: &Place, session: u32) -> Self {
        let mut client = Client::connect(place.socket()).await.unwrap();
        client.watch_screen(SessionId::new(session).unwrap()).await.unwrap();
        Self { client, rows: BTreeMap::new(), items: Vec::new() }
    }

    /// False when the stream has ended.
    async fn step(&mut self) -> bool {
        let Some(item) = self.client.next_rows().await.unwrap() else { return false };
        if self.items.last().is_some_and(|last| last.size != item.size) {
            self.rows.clear();
        }
        self.rows.extend(item.rows.iter().cloned());
        self.items.push(item);
        true
    }

    async fn wait_for(&mut self, text: &str) {
        while !self.rows.values().any(|row| row.contains(text)) {
            assert!(self.step().await, "it ended before {text:?}: {:?}", self.rows);
        }
    }
}

#[tokio::test]
async fn rows_come_once_and_then_as_they_change() {
    let place = Place::new();
    let _daemon = place.daemon(ECHO);
    let (mut first, mut second) = (Preview::of(&place, 1).await, Preview::of(&place, 1).await);
    first.wait_for("\x1b[31mready\x1b[m").await;
    second.wait_for("ready").await;
    assert_eq!(first.items[0].rows.len(), 23, "the first time, all of them");
    let before = first.items.len();
    place.ctl(&["send", "hello"]);
    first.wait_for("got <hello>").await;
    second.wait_for("got <hello>").await;
    for item in &first.items[before..] {
        assert!(item.rows.len() <= 3, "only what changed: {item:?}");
    }
    // What every row says together is what a reader reads.
    let read = place.ctl_json(&["read", "--sgr"]);
    let read: Vec<&str> = read["text"].as_str().unwrap().lines().collect();
    let shown: Vec<&str> = first.rows.values().map(String::as_str).collect();
    assert_eq!(shown, read);
}

#[tokio::test]
async fn a_session_that_ends_shows_its_last_screen_and_ends_the_stream() {
    let place = Place::new();
    let _daemon = place.daemon("while read -r line; do :; done");
    place.ctl(&["create", "--", "sh", "-c", "echo first; read -r x; echo the last words; exit 3"]);
    let mut preview = Preview::of(&place, 2).await;
    preview.wait_for("first").await;
    place.ctl(&["send", "--session", "2", "go"]);
    preview.wait_for("the last words").await;
    while preview.step().await {}
    // What ended badly is kept, and can still be looked at.
    eventually("it has ended", || place.ctl_json(&["status"])["sessions"][1]["pane"].is_null());
    let mut kept = Preview::of(&place, 2).await;
    kept.wait_for("the last words").await;
    assert!(!kept.step().await);
    let mut nobody = Client::connect(place.socket()).await.unwrap();
    nobody.watch_screen(SessionId::new(9).unwrap()).await.unwrap();
    match nobody.next_rows().await {
        Err(ClientError::Refused(error)) => assert_eq!(error.code, ErrorCode::NotFound),
        other => panic!("{other:?}"),
    }
}

/// A flood is told at most ten times a second, one that does not read costs nothing, and the end is the same for all.
#[tokio::test]
async fn a_flood_comes_in_few_pieces() {
    let place = Place::new();
    let _daemon = place.daemon(
        "printf 'ready\\n'; read -r x; i=0; while [ $i -lt 100000 ]; do i=$((i+1)); echo \"line $i\"; done; \
         printf 'the very end\\n'; read -r x",
    );
    let mut slow = Preview::of(&place, 1).await;
    slow.wait_for("ready").await;
    let mut quick = Preview::of(&place, 1).await;
    quick.wait_for("ready").await;
    let start = std::time::Instant::now();
    place.ctl(&["send", "go"]);
    quick.wait_for("the very end").await;
    let most = start.elapsed().as_millis() / 100 + 3;
    assert!((quick.items.len() as u128) < most, "{} of at most {most}", quick.items.len());
    slow.wait_for("the very end").await;
    assert_eq!(slow.rows, quick.rows);
}

#[tokio::test]
async fn another_size_tells_every_row_anew() {
    let place = Place::new();
    let terminal = place.run(ECHO, 12, 50);
    terminal.wait_for("ready");
    let mut preview = Preview::of(&place, 1).await;
    preview.wait_for("ready").await;
    terminal.resize(9, 40);
    while preview.items.last().unwrap().size.rows != 8 {
        assert!(preview.step().await);
    }
    assert_eq!(preview.items.last().unwrap().rows.len(), 8);
}

/// The control channel works over whatever carries bytes; here over the standard streams of `bridge`.
#[tokio::test]
async fn a_client_speaks_over_a_bridge() {
    let place = Place::new();
    let _daemon = place.daemon(ECHO);
    let mut bridge = tokio::process::Command::new(support::JACKIN)
        .args(["capsule", "bridge", "--socket", place.socket().to_str().unwrap()])
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let streams = tokio::io::join(bridge.stdout.take().unwrap(), bridge.stdin.take().unwrap());
    let mut client = Client::over(streams).await.unwrap();
    let status: serde_json::Value = client.call(Request::Status {}).await.unwrap();
    assert_eq!(status["sessions"][0]["id"], 1);
    client.watch_screen(SessionId::new(1).unwrap()).await.unwrap();
    let mut preview = Preview { client, rows: BTreeMap::new(), items: Vec::new() };
    preview.wait_for("ready").await;
}
