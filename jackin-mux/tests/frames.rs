//! What frames cost: bytes sent and memory taken, for what happens most.

use allocation_counter::measure;
use jackin_core::{PaneId, Size, Timestamp};
use jackin_mux::{Client, Input, Mux, Place, Settings};

const SIZE: Size = Size { rows: 50, cols: 200 };

struct Scene {
    mux: Mux,
    pane: PaneId,
    now: u64,
    frame: Vec<u8>,
}

impl Scene {
    /// A pane full of text, all of it drawn, on a terminal that said what it can do.
    fn new(chrome: bool) -> Self {
        let mut mux = Mux::new(Settings { chrome, ..Settings::default() });
        let now = Timestamp::from_millis(0);
        let pane = mux.open(Place::Tab, "shell", true, now).unwrap();
        mux.handle_input(Input::Attached(Client::modern(SIZE)), now);
        mux.handle_input(Input::Client(b"\x1b[?2026;2$y\x1b[?0u\x1b[?62c"), now);
        let mut scene = Self { mux, pane, now: 0, frame: Vec::with_capacity(1 << 20) };
        let rows = scene.mux.size(pane).unwrap().rows;
        for row in 1..rows {
            scene.print(&format!("\x1b[{row};1H\x1b[3{}m{}\x1b[m", row % 8, "some words ".repeat(18)));
        }
        scene.print(&format!("\x1b[{rows};1H$ "));
        scene.draw();
        // What grows to its size at first use has it after a few frames.
        for row in 1..=rows {
            scene.print(&format!("\x1b[{row};190H#\x1b[{rows};3H"));
            scene.draw();
        }
        scene
    }

    fn print(&mut self, text: &str) {
        self.print_bytes(text.as_bytes());
    }

    fn print_bytes(&mut self, bytes: &[u8]) {
        let at = Timestamp::from_millis(self.now);
        self.mux.handle_input(Input::Pty { pane: self.pane, bytes }, at);
        while self.mux.poll_output().is_some() {}
    }

    /// The bytes of the next frame.
    fn draw(&mut self) -> usize {
        self.now += 100;
        self.frame.clear();
        self.mux.render(Timestamp::from_millis(self.now), &mut self.frame);
        self.frame.len()
    }

    fn shown(&self) -> String {
        self.frame.escape_ascii().to_string()
    }
}

fn scenes() -> impl Iterator<Item = Scene> {
    [false, true].into_iter().map(Scene::new)
}

#[test]
fn nothing_changed_is_nothing_sent() {
    for mut scene in scenes() {
        assert_eq!(scene.draw(), 0, "{}", scene.shown());
        scene.print("\x1b[m");
        assert_eq!(scene.draw(), 0, "{}", scene.shown());
    }
}

#[test]
fn a_typed_character_takes_at_most_40_bytes() {
    for mut scene in scenes() {
        for c in "ls -l | grep".chars() {
            scene.print(&c.to_string());
            let bytes = scene.draw();
            assert!((1..=40).contains(&bytes), "{bytes}: {}", scene.shown());
        }
        // An editor that moves about.
        for place in ["\x1b[3;7H", "\x1b[40;180H", "\x1b[1;1H"] {
            scene.print(&format!("{place}\x1b[1;32mx\x1b[m"));
            let bytes = scene.draw();
            assert!((1..=60).contains(&bytes), "{bytes}: {}", scene.shown());
        }
    }
}

#[test]
fn a_changed_row_takes_at_most_200_bytes() {
    for mut scene in scenes() {
        for row in [1, 20, 48] {
            scene.print(&format!("\x1b[{row};1H\x1b[36m{}\x1b[m\x1b[K", "other text ".repeat(14)));
            let bytes = scene.draw();
            assert!((1..=200).contains(&bytes), "{bytes}: {}", scene.shown());
        }
    }
}

#[test]
fn a_log_that_scrolls_takes_at_most_1_3_times_its_text() {
    for mut scene in scenes() {
        scene.print("\r\n");
        scene.draw();
        // What a frame costs beside its text counts for little, once there are a few lines in it.
        for lines in [3, 20] {
            let (mut sent, mut printed) = (0, 0);
            for frame in 0..10 {
                let line = format!("2026-11-16T02:07:00 INFO request {frame} served in 12 ms\r\n");
                let text = line.repeat(lines);
                printed += text.len();
                scene.print(&text);
                sent += scene.draw();
            }
            assert!(sent * 10 <= printed * 13, "{sent} bytes for {printed}: {}", scene.shown());
        }
    }
}

#[test]
fn a_frame_in_a_steady_state_allocates_nothing() {
    let rows =
        |n: usize| (1..48).map(move |row| format!("\x1b[{row};1Hrow {row} of {n} in \x1b[1mbold\x1b[m"));
    for mut scene in scenes() {
        let changes: [&dyn Fn(usize) -> String; 4] = [
            &|n| "abc"[n % 3..=n % 3].to_owned(),
            &|n| format!("\x1b[7;1H\x1b[38;2;1;2;{n}mcoloured {n}\x1b[m"),
            &|n| rows(n).collect(),
            &|n| format!("\r\nline {n} of a log"),
        ];
        for (kind, change) in changes.into_iter().enumerate() {
            // Buffers reach their size, and then keep it.
            for n in 0..200 {
                scene.print(&change(n));
                scene.draw();
            }
            let mut count = 0;
            for n in 200..240 {
                scene.print(&change(n % 250));
                count += measure(|| assert!(scene.draw() > 0)).count_total;
            }
            assert_eq!(count, 0, "kind {kind}");
        }
        assert_eq!(measure(|| assert_eq!(scene.draw(), 0)).count_total, 0);
    }
}

/// A spinner in the title changes the chrome with every frame.
#[test]
fn a_title_that_changes_costs_the_chrome_no_memory() {
    let mut scene = Scene::new(true);
    let title = |n: usize| format!("\x1b]2;{} working\x07", ["⠋", "⠙", "⠹", "⠸"][n % 4]);
    for n in 0..20 {
        scene.print(&title(n));
        scene.draw();
    }
    for n in 20..40 {
        scene.print(&title(n));
        assert_eq!(measure(|| assert!(scene.draw() > 0)).count_total, 0);
    }
}

/// What scrolls by unseen goes through buffers that are there already, into blocks that the oldest lines have left.
#[test]
fn a_flood_in_a_steady_state_allocates_nothing() {
    let mut scene = Scene::new(true);
    let plain = "[12345] Compiling crate-678 v0.9.1 (registry)\r\r\n".repeat(1_400);
    let coloured = "\x1b[32mok\x1b[0m  test of something that scrolls by\r\n".repeat(1_400);
    for batch in [plain, coloured] {
        // The history is full before anything is counted.
        for _ in 0..20 {
            scene.print(&batch);
        }
        let count = measure(|| (0..20).for_each(|_| scene.print(&batch))).count_total;
        assert_eq!(count, 0);
    }
}
