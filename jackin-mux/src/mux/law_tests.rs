//! The law: the client's screen after the emitted bytes equals a frame composed from scratch, after every step of any
//! session. A debug build does a few sessions; for more, in a release build:
//!
//! ```sh
//! PROPTEST_CASES=5000 cargo test --release -p jackin-mux --lib law_tests
//! ```

use jackin_core::{AgentStatus, Attention, PaneId, Size, Timestamp};
use proptest::collection::vec;
use proptest::prelude::*;

use super::Place;
use super::stage::Stage;
use crate::input::{Client, Context, Input};
use crate::output::Output;
use crate::settings::{Agent, CopyKeys, Settings};

/// One thing that happens.
#[derive(Clone, Debug)]
enum Step {
    /// A program, by its place among the panes, prints.
    Print(usize, String),
    /// All of them do.
    PrintAll(String),
    Keys(&'static str),
    /// The embedder opens a pane.
    Open {
        place: Opened,
        focus: bool,
    },
    /// Marks text, or drags a border: a button goes down, moves and comes up, or does not.
    Drag {
        code: u8,
        from: (u16, u16),
        to: (u16, u16),
        clicks: usize,
        release: bool,
    },
    Mouse {
        code: u8,
        row: u16,
        col: u16,
        release: bool,
    },
    Close(usize),
    Resize(Size),
    Attach {
        size: Size,
        terminal: usize,
    },
    /// Someone looks on, at a size of their own.
    View {
        size: Size,
        terminal: usize,
    },
    ResizeViewer(Size),
    Status(usize, Attention),
    Context(bool),
    Focus(bool),
    Wait(u64),
}

/// Where the embedder opens a pane: beside one, by its place among the panes.
#[derive(Clone, Copy, Debug)]
enum Opened {
    Tab,
    Right(usize),
    Down(usize),
}

const TERMINALS: [(&str, Option<&str>); 6] = [
    ("xterm-256color", Some("truecolor")),
    ("xterm-256color", None),
    ("xterm-kitty", None),
    ("xterm", None),
    ("linux", None),
    ("vt100", None),
];

const PIECES: &[&str] = &[
    "a",
    "hello world",
    "日本",
    "e\u{301}",
    "é",
    "\r\n",
    "\n",
    "\r",
    "\x08",
    "\t",
    "\x1b[1;31m",
    "\x1b[m",
    "\x1b[38;2;1;2;3;48;5;200m",
    "\x1b[4:3;58;2;9;8;7m",
    "\x1b[7;2;9m",
    "\x1b[H",
    "\x1b[2J",
    "\x1b[K",
    "\x1b[1K",
    "\x1b[3;4H",
    "\x1b[2;5r",
    "\x1b[r",
    "\x1b[L",
    "\x1b[M",
    "\x1b[2S",
    "\x1b[T",
    "\x1bM",
    "\x1b[@",
    "\x1b[3P",
    "\x1b[?1049h",
    "\x1b[?1049l",
    "\x1b[?25l",
    "\x1b[?25h",
    "\x1b[5 q",
    "\x1b[?1h",
    "\x1b=",
    "\x1b[>1u",
    "\x1b[<u",
    "\x1b[>4;2m",
    "\x1b[?5h",
    "\x1b[?5l",
    "\x1b[?2026h",
    "\x1b[?2026l",
    "\x1b]8;;http://x\x1b\\",
    "\x1b]8;;\x1b\\",
    "\x1b]2;a title\x07",
    "\x1b[?1000h",
    "\x1b[?1000l",
    "\x1bc",
    "\x1b[44m\x1b[J\x1b[m",
    "12345678901234567890",
    "\x1b[?2026hone\x1b[?2026l",
    "\x1b[1;1Htop\r\n\x1b[99;1Hbottom",
    "\x1b[3 q",
    "\x1b[0 q",
    "\x1b[>31u",
    "\x1b[=5;1u",
    "\x1b[?1l\x1b>",
    "\x1b[?1003h\x1b[?1006h",
    "\x1b[?2004h",
    "\x1b[?1004h",
    "\x1b[3;5;8m",
    "\x1b[4;21m",
    "\x1b[97;101m",
    "\x1b]8;id=a;https://example.org/?q=1;2\x07",
    "\x1b[3J",
    "\x1b[5L\x1b[2M",
    "\x1b[?6h\x1b[2;6r\x1b[H",
    "\x1b[?6l",
    "\x1b[?7l",
    "\x1b[?7h",
    "\x1b#8",
    "\x1b7\x1b[5;5H",
    "\x1b8",
    "\x1b[5X",
    "\x1b[3b",
    "\x1b(0lqqk\x1b(B",
    "\n\n\n\n\n\n\n\n\n\n\n\n",
    "한국어 text",
    "\x1b]11;?\x07",
    "\x1b[c\x1b[6n",
    "\x07",
];

const KEYS: &[&str] = &[
    "x",
    "\r",
    "\x02%",
    "\x02\"",
    "\x02c",
    "\x02n",
    "\x02p",
    "\x02z",
    "\x02h",
    "\x02j",
    "\x02k",
    "\x02l",
    "\x02!",
    "\x02{",
    "\x02}",
    "\x02=",
    "\x02\x1b[1;5C",
    "\x02\x1b[1;5B",
    "\x02 ",
    "\x02?",
    "\x02,",
    "\x02w",
    "\x02x",
    "y",
    "\x02&",
    "\x02[",
    "k",
    "j",
    "v",
    "/a\r",
    "q",
    "\x1b",
    "\x02r",
    "\x02\x0c",
    "\x02<",
    "\x02>",
    "\x1b[B",
    "zoo",
    "\x02i",
    "\x02u",
    "\x1b[?1u\x1b[?62c",
    "\x1b[?2026;2$y",
    "\x1b[200~pasted\x1b[201~",
    "\x02\t",
    "\x021",
    "\x1b[O",
    "\x1b[I",
    "\x1b]11;rgb:1111/2222/3333\x07",
    "\x1b[6;20;10t",
    "\x02[gg",
    "\x02[?l\r",
    "n",
    "N",
    "V",
    "\x16",
    "G",
    "\x15",
    "\x04",
    "w",
    "b",
    "$",
    "\x1b[5~",
    "\x1b[6~",
    "\x1b[A",
    "\x1b[D",
    "\t",
    "\x7f",
    "\x02e",
    "\x02R",
    "\x02$",
];

fn step() -> impl Strategy<Value = Step> {
    let size = prop_oneof![
        3 => Just(Size::new(12, 40)),
        1 => (1..16u16, 2..50u16).prop_map(|(rows, cols)| Size::new(rows, cols)),
    ];
    let opened = prop_oneof![
        Just(Opened::Tab),
        any::<usize>().prop_map(Opened::Right),
        any::<usize>().prop_map(Opened::Down),
    ];
    let cell = (0..14u16, 0..45u16);
    let text = vec(prop::sample::select(PIECES.to_vec()), 1..10).prop_map(|pieces| pieces.concat());
    prop_oneof![
        8 => (any::<usize>(), text.clone()).prop_map(|(pane, text)| Step::Print(pane, text)),
        2 => text.prop_map(Step::PrintAll),
        6 => prop::sample::select(KEYS.to_vec()).prop_map(Step::Keys),
        2 => (opened, any::<bool>()).prop_map(|(place, focus)| Step::Open { place, focus }),
        2 => (prop::sample::select(vec![0u8, 4, 8]), cell.clone(), cell, 1..4usize, any::<bool>())
            .prop_map(|(code, from, to, clicks, release)| Step::Drag { code, from, to, clicks, release }),
        3 => (prop::sample::select(vec![0u8, 32, 35, 64, 65]), 0..16u16, 0..50u16, any::<bool>())
            .prop_map(|(code, row, col, release)| Step::Mouse { code, row, col, release }),
        1 => any::<usize>().prop_map(Step::Close),
        1 => size.clone().prop_map(Step::Resize),
        1 => (size.clone(), 0..TERMINALS.len()).prop_map(|(size, terminal)| Step::Attach { size, terminal }),
        1 => (size.clone(), 0..TERMINALS.len()).prop_map(|(size, terminal)| Step::View { size, terminal }),
        1 => size.prop_map(Step::ResizeViewer),
        1 => (any::<usize>(), prop::sample::select(Attention::ALL.to_vec()))
            .prop_map(|(pane, attention)| Step::Status(pane, attention)),
        1 => any::<bool>().prop_map(Step::Context),
        1 => any::<bool>().prop_map(Step::Focus),
        1 => (0..200u64).prop_map(Step::Wait),
    ]
}

fn nth(stage: &Stage, at: usize) -> Option<PaneId> {
    let panes: Vec<PaneId> = stage.mux.panes().collect();
    (!panes.is_empty()).then(|| panes[at % panes.len()])
}

fn perform(stage: &mut Stage, step: &Step) {
    match step {
        Step::Print(pane, text) => {
            if let Some(pane) = nth(stage, *pane) {
                stage.print_in(pane, text);
            }
        }
        Step::PrintAll(text) => {
            for pane in stage.mux.panes().collect::<Vec<_>>() {
                stage.print_in(pane, text);
            }
        }
        Step::Keys(keys) => stage.types(keys),
        Step::Open { place, focus } => {
            let place = match place {
                Opened::Tab => Some(Place::Tab),
                Opened::Right(pane) => nth(stage, *pane).map(Place::Right),
                Opened::Down(pane) => nth(stage, *pane).map(Place::Down),
            };
            let at = stage.at();
            if let Some(place) = place {
                stage.mux.open(place, "opened", *focus, at);
            }
        }
        Step::Drag { code, from, to, clicks, release } => {
            let mouse = |code: u8, (row, col): (u16, u16), end: char| {
                format!("\x1b[<{code};{};{}{end}", col + 1, row + 1)
            };
            for _ in 1..*clicks {
                stage.types(&(mouse(*code, *from, 'M') + &mouse(*code, *from, 'm')));
            }
            stage.types(&(mouse(*code, *from, 'M') + &mouse(code + 32, *to, 'M')));
            if *release {
                stage.types(&mouse(*code, *to, 'm'));
            }
        }
        Step::Mouse { code, row, col, release } => {
            let end = if *release { 'm' } else { 'M' };
            stage.types(&format!("\x1b[<{code};{};{}{end}", col + 1, row + 1));
        }
        Step::Close(pane) => {
            if let Some(pane) = nth(stage, *pane) {
                stage.input(Input::PaneClosed { pane });
            }
        }
        Step::Resize(size) => stage.resize(*size),
        Step::Attach { size, terminal } => {
            let (term, colorterm) = TERMINALS[*terminal];
            stage.attach(Client { size: *size, term: Some(term), colorterm });
        }
        Step::View { size, terminal } => {
            let (term, colorterm) = TERMINALS[*terminal];
            stage.view(Client { size: *size, term: Some(term), colorterm });
        }
        Step::ResizeViewer(size) => stage.resize_viewer(*size),
        Step::Focus(focused) => stage.input(Input::Focus(*focused)),
        Step::Status(pane, attention) => {
            if let Some(pane) = nth(stage, *pane) {
                let status = AgentStatus::Busy { since: Timestamp::default() };
                stage.input(Input::Status { pane, status: &status, attention: *attention });
            }
        }
        Step::Context(given) => {
            let context = Context { branch: given.then(|| "feature/x".into()), ..Context::default() };
            stage.input(Input::Context(&context));
        }
        Step::Wait(ms) => stage.wait(*ms),
    }
    for output in stage.outputs() {
        if let Output::Kill { pane } = output {
            stage.input(Input::PaneClosed { pane });
        }
    }
}

fn cases() -> ProptestConfig {
    // The default of proptest, unless the environment says otherwise, is more than a debug build does in a minute.
    let config = ProptestConfig::default();
    let cases = if config.cases == 256 { 160 } else { config.cases };
    ProptestConfig { cases, max_shrink_iters: 3_000, ..config }
}

proptest! {
    #![proptest_config(cases())]

    /// The client's screen after the emitted bytes equals a frame composed from scratch.
    #[test]
    fn the_terminal_shows_what_is_true_after_every_step(
        steps in vec(step(), 1..40),
        chrome in any::<bool>(),
        agents in any::<bool>(),
        emacs in any::<bool>(),
    ) {
        let agent = Agent { id: "claude".into(), display: "Claude".into() };
        let settings = Settings {
            chrome,
            agents: if agents { vec![agent] } else { Vec::new() },
            copy_keys: if emacs { CopyKeys::Emacs } else { CopyKeys::Vi },
            ..Settings::default()
        };
        let mut stage = Stage::new(Size::new(12, 40), settings);
        stage.check();
        for step in &steps {
            perform(&mut stage, step);
            stage.draw();
            stage.draw_viewer();
            let at = stage.at();
            if !stage.mux.is_any_held(at) {
                stage.check();
                stage.check_viewer();
                prop_assert_eq!(stage.draw() + &stage.draw_viewer(), "", "nothing changed since the last frame");
                prop_assert_eq!((stage.mux.frame_due(), stage.viewer_due()), (None, None));
            }
        }
        // Whatever was held back is shown in the end; what waited for a frame may have begun another one with it.
        stage.wait(200);
        stage.wait(200);
        stage.draw();
        stage.draw_viewer();
        stage.check();
        stage.check_viewer();
        stage.check_restored();
    }
}
