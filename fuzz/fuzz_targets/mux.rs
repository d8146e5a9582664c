//! The whole multiplexer: any operations in any order, at any time, with clients and viewers of any size.
//!
//! Each operation is a byte that says what, one that says where or how much, and for some a length and so many bytes.
//! After each, a frame brings an emulated terminal to what a new client would be shown.
#![no_main]

use jackin_core::{AgentStatus, Attention, PaneId, Size, Timestamp};
use jackin_mux::vt::{self, Row, Terminal};
use jackin_mux::{Agent, Client, Command, Context, Input, Mux, Output, Place, Settings, Viewer};
use libfuzzer_sys::fuzz_target;

/// What may happen, read from the input.
enum Operation<'a> {
    Print(u8, &'a [u8]),
    Type(&'a [u8]),
    Run(u8),
    Open(u8, u8),
    Close(u8),
    Resize(Size),
    Attach(Size),
    Detach,
    View(Size),
    Status(u8, u8),
    Context(&'a [u8]),
    Wait(u8),
}

/// Takes the next operation off the input.
fn next<'a>(data: &mut &'a [u8]) -> Option<Operation<'a>> {
    let (&[what, which], rest) = data.split_first_chunk()?;
    *data = rest;
    let mut bytes = || {
        let len = data.first().map_or(0, |len| usize::from(*len) + 1).min(data.len());
        let (bytes, rest) = data.split_at(len);
        *data = rest;
        bytes.get(1..).unwrap_or_default()
    };
    let size = Size::new(u16::from(which % 32), u16::from(which / 3));
    Some(match what % 16 {
        0..=3 => Operation::Print(which, bytes()),
        4..=6 => Operation::Type(bytes()),
        7 => Operation::Run(which),
        8 => Operation::Open(which & 3, which >> 2),
        9 => Operation::Close(which),
        10 => Operation::Resize(size),
        11 if which == 255 => Operation::Detach,
        11 => Operation::Attach(size),
        12 => Operation::View(size),
        13 => Operation::Status(which & 15, which >> 4),
        14 => Operation::Context(bytes()),
        _ => Operation::Wait(which),
    })
}

fuzz_target!(|data: &[u8]| {
    let mut data = data;
    let agents = vec![Agent { id: "claude".into(), display: "Claude".into() }];
    let chrome = data.first().is_some_and(|byte| byte % 2 == 0);
    let terminal = vt::Settings { history_lines: 100, ..vt::Settings::default() };
    let mut mux = Mux::new(Settings { agents, chrome, terminal, ..Settings::default() });
    let mut now = Timestamp::from_millis(0);
    let mut outer: Option<Terminal> = None;
    let mut viewer: Option<(Viewer, Terminal)> = None;
    let mut frame = Vec::new();
    while let Some(operation) = next(&mut data) {
        perform(&mut mux, operation, &mut now, &mut outer, &mut viewer);
        while let Some(output) = mux.poll_output() {
            match output {
                Output::Kill { pane } => mux.handle_input(Input::PaneClosed { pane }, now),
                Output::ResizePty { pane, size } | Output::Spawn { pane, size, .. } => {
                    assert!(size.rows > 0 && size.cols > 0, "{pane}");
                }
                _ => {}
            }
        }
        assert!(mux.focused().is_none_or(|pane| mux.size(pane).is_some()), "the focused pane is there");
        frame.clear();
        mux.render(now, &mut frame);
        if let Some(outer) = &mut outer {
            outer.feed_all(&frame);
            while outer.poll_event().is_some() {}
        }
        frame.clear();
        if let Some((viewer, terminal)) = &mut viewer {
            mux.render_viewer(viewer, now, &mut frame);
            terminal.feed_all(&frame);
        }
    }
    check(&mut mux, now, outer.as_mut());
});

/// After everything was drawn, the terminal shows what a new one would be shown.
fn check(mux: &mut Mux, now: Timestamp, outer: Option<&mut Terminal>) {
    let Some(outer) = outer else { return };
    let now = now + std::time::Duration::from_secs(1);
    mux.handle_input(Input::Tick, now);
    let mut frame = Vec::new();
    mux.render(now, &mut frame);
    outer.feed_all(&frame);
    let mut fresh = Terminal::new(outer.size(), vt::Settings::default());
    let mut viewer = Viewer::new(Client::modern(outer.size()));
    frame.clear();
    mux.render_viewer(&mut viewer, now, &mut frame);
    fresh.feed_all(&frame);
    let (mut shown, mut wanted) = (Row::new(), Row::new());
    for row in 0..outer.size().rows {
        outer.read_row(row as isize, &mut shown);
        fresh.read_row(row as isize, &mut wanted);
        assert_eq!(cells(&shown), cells(&wanted), "row {row}");
    }
}

/// What is seen of each cell: a blank that was printed is one that was erased.
fn cells(row: &Row) -> Vec<(&str, u8, vt::Pen, Option<&str>)> {
    let seen = |cell: &vt::Cell| {
        let link = row.link(cell.pen.link).map(|link| link.uri);
        let pen = vt::Pen { link: vt::LinkId::NONE, ..cell.pen };
        // There is no half of a character to show.
        let text = if row.text(cell).is_empty() && cell.width() > 0 { " " } else { row.text(cell) };
        (text, cell.width(), pen, link)
    };
    row.cells().iter().map(seen).collect()
}

fn perform(
    mux: &mut Mux,
    operation: Operation<'_>,
    now: &mut Timestamp,
    outer: &mut Option<Terminal>,
    viewer: &mut Option<(Viewer, Terminal)>,
) {
    let nth = |mux: &Mux, at: u8| -> Option<PaneId> {
        let panes: Vec<PaneId> = mux.panes().collect();
        panes.get(usize::from(at) % panes.len().max(1)).copied()
    };
    let terminal = |size: Size| Terminal::new(size, vt::Settings::default());
    match operation {
        Operation::Print(pane, bytes) => {
            if let Some(pane) = nth(mux, pane) {
                mux.handle_input(Input::Pty { pane, bytes }, *now);
            }
        }
        Operation::Type(bytes) => mux.handle_input(Input::Client(bytes), *now),
        Operation::Run(which) => {
            let command = Command::all().nth(usize::from(which) % Command::all().count());
            mux.run(command.expect("there are commands"), *now);
        }
        Operation::Open(place, at) => {
            let place = match (place, nth(mux, at)) {
                (1, Some(pane)) => Place::Right(pane),
                (2, Some(pane)) => Place::Down(pane),
                _ => Place::Tab,
            };
            // As many as anyone opens.
            if mux.panes().count() < 12 {
                mux.open(place, "pane", at % 2 == 0, *now);
            }
        }
        Operation::Close(pane) => {
            if let Some(pane) = nth(mux, pane) {
                mux.handle_input(Input::PaneClosed { pane }, *now);
            }
        }
        Operation::Resize(size) => {
            mux.handle_input(Input::Resized(size), *now);
            if let Some(outer) = outer {
                *outer = terminal(size);
            }
        }
        Operation::Attach(size) => {
            mux.handle_input(Input::Attached(Client::modern(size)), *now);
            *outer = Some(terminal(size));
        }
        Operation::Detach => {
            mux.handle_input(Input::Detached, *now);
            *outer = None;
        }
        Operation::View(size) => *viewer = Some((Viewer::new(Client::modern(size)), terminal(size))),
        Operation::Status(pane, attention) => {
            let attention = Attention::ALL[usize::from(attention) % Attention::ALL.len()];
            if let Some(pane) = nth(mux, pane) {
                mux.handle_input(Input::Status { pane, status: &AgentStatus::idle(), attention }, *now);
            }
        }
        Operation::Context(bytes) => {
            let branch = Some(String::from_utf8_lossy(bytes).into_owned());
            mux.handle_input(Input::Context(&Context { branch, ..Context::default() }), *now);
        }
        Operation::Wait(time) => {
            *now = *now + std::time::Duration::from_millis(u64::from(time) * 4);
            mux.handle_input(Input::Tick, *now);
        }
    }
}
