use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;

use crate::scene::{Scene, corpus};

#[test]
fn the_events_of_an_opencode_server_are_followed() {
    let Some(recording) = corpus("transcripts/opencode/01-sse-event-stream-v1.18.5.jsonl") else { return };
    let recording = std::fs::read_to_string(recording).unwrap();
    let scene = Scene::new();
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = server.local_addr().unwrap().port();
    let (go_on, wait) = std::sync::mpsc::channel::<()>();
    let serve = std::thread::spawn(move || {
        let (mut stream, _) = server.accept().unwrap();
        let mut head = BufReader::new(stream.try_clone().unwrap()).lines();
        assert_eq!(head.next().unwrap().unwrap(), "GET /event HTTP/1.1");
        stream.write_all(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n").unwrap();
        let mut waited = false;
        for line in recording.lines() {
            // The turn's end waits until its beginning was seen.
            if !waited && line.contains("idle") {
                wait.recv().unwrap();
                waited = true;
            }
            let event = format!("data: {line}\n\n");
            write!(stream, "{:x}\r\n{event}\r\n", event.len()).unwrap();
        }
        // Until the test is over.
        let _ = wait.recv();
    });
    let _capsule = scene.start(&format!(
        "initial_agent = \"o\"\n[[agents]]\nid = \"o\"\ncommand = [\"opencode\", \"--port\", \"{port}\"]\nobservable = true\n"
    ));
    scene.wait_for(1, "busy", "stream");
    go_on.send(()).unwrap();
    scene.wait_for(1, "idle", "stream");
    drop(go_on);
    serve.join().unwrap();
}
