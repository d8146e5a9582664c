//! Decoding attach frames, beside what cannot be avoided: copying the same bytes once.

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use jackin_core::protocol::attach::{Decoder, Frame, encode};

/// What a daemon or client reads from its socket at once.
const READ_SIZE: usize = 64 * 1024;

fn attach_decode(c: &mut Criterion) {
    let mut group = c.benchmark_group("attach_decode");
    for payload_len in [64, 1024, 16 * 1024] {
        let payload = vec![b'x'; payload_len];
        let mut wire = Vec::new();
        while wire.len() < (4 << 20) {
            encode(&Frame::Output(&payload), &mut wire).expect("output can always be encoded");
        }
        group.throughput(Throughput::Bytes(wire.len() as u64));
        group.bench_with_input(BenchmarkId::new("decode", payload_len), &wire, |b, wire| {
            let mut decoder = Decoder::new();
            b.iter(|| {
                for mut rest in wire.chunks(READ_SIZE) {
                    while !rest.is_empty() {
                        rest = &rest[decoder.feed(rest)..];
                        while let Some(frame) = decoder.next_frame().expect("the frames are ours") {
                            black_box(&frame);
                        }
                    }
                }
            });
        });
        group.bench_with_input(BenchmarkId::new("extend_from_slice", payload_len), &wire, |b, wire| {
            let mut copy = Vec::new();
            b.iter(|| {
                for chunk in wire.chunks(READ_SIZE) {
                    copy.clear();
                    copy.extend_from_slice(chunk);
                    black_box(&copy);
                }
            });
        });
    }
    group.finish();
}

criterion_group!(benches, attach_decode);
criterion_main!(benches);
