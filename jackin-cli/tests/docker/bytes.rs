//! Bytes arrive as they were sent, whichever way they take.

use std::fs;

use jackin_cli::backend::{Backend, ByteStream};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::bench::Bench;

const SIZE: usize = 1 << 20;

/// All bytes, in an order that repeats nowhere near a buffer's size.
fn all_bytes() -> Vec<u8> {
    let mut state = 0x9e37_79b9u32;
    let mut noise = || {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        state as u8
    };
    (0..SIZE).map(|at| if at < 4_096 { at as u8 } else { noise() }).collect()
}

async fn there_and_back(stream: Box<dyn ByteStream>, sent: &[u8]) -> Vec<u8> {
    let (mut reader, mut writer) = tokio::io::split(stream);
    let write = async {
        writer.write_all(sent).await.unwrap();
        writer.flush().await.unwrap();
        writer.shutdown().await.unwrap();
    };
    let mut came = Vec::new();
    let (read, ()) = tokio::join!(reader.read_to_end(&mut came), write);
    read.unwrap();
    came
}

#[tokio::test]
async fn the_bridge_and_the_socket_carry_every_byte() {
    let Some(bench) = Bench::new() else { return };
    let plan = bench.plan("read -r line");
    bench.create(&plan).await;
    // An echo in the capsule's place, at the far end of both ways.
    let socket = bench.backend.socket(&plan.instance).await.unwrap();
    fs::rename(&socket, socket.with_extension("moved")).unwrap();
    let listener = tokio::net::UnixListener::bind(&socket).unwrap();
    let echo = tokio::spawn(async move {
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            tokio::spawn(async move {
                let (mut reader, mut writer) = stream.into_split();
                tokio::io::copy(&mut reader, &mut writer).await.unwrap();
            });
        }
    });
    let sent = all_bytes();
    let by_socket = there_and_back(bench.backend.open(&plan.instance).await.unwrap(), &sent).await;
    let by_bridge = there_and_back(bench.backend.bridge(&plan.instance).await.unwrap(), &sent).await;
    assert!(by_socket == sent, "the socket");
    assert!(by_bridge == sent, "the bridge: {} of {} bytes came back", by_bridge.len(), sent.len());
    echo.abort();
    bench.backend.remove(&plan.instance).await.unwrap();
}

#[tokio::test]
async fn a_bridge_that_finds_nobody_says_so() {
    let Some(bench) = Bench::new() else { return };
    let plan = bench.plan("read -r line");
    bench.create(&plan).await;
    let socket = bench.backend.socket(&plan.instance).await.unwrap();
    fs::rename(&socket, socket.with_extension("moved")).unwrap();
    let mut bridge = bench.backend.bridge(&plan.instance).await.unwrap();
    let error = bridge.read_to_end(&mut Vec::new()).await.unwrap_err().to_string();
    assert!(error.contains("no capsule answers at /jackin/run/jackin.sock"), "{error}");
    bench.backend.remove(&plan.instance).await.unwrap();
}
