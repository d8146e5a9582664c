//! Turns a screen that was written out with its colours into a picture:
//!
//! ```console
//! $ tmux capture-pane -e -p | cargo run -q -p jackin-examples --example screen_to_svg -- 120 40 > screen.svg
//! ```
//!
//! The picture is plain SVG: a box for each run of cells with a background, and a text for each run with one look.
#![allow(clippy::disallowed_macros, clippy::disallowed_methods, reason = "an example reads and prints")]

use std::fmt::Write as _;
use std::io::{self, Read, Write as _};

use jackin_core::Size;
use jackin_mux::vt::{Attributes, Color, Pen, Row, Settings, Terminal, Underline};

/// A cell in pixels.
const WIDE: f64 = 8.4;
const HIGH: f64 = 18.0;
const MARGIN: f64 = 12.0;

/// What nothing was said about.
const INK: &str = "#d8dee9";
const PAPER: &str = "#1d2129";

/// The sixteen named colours.
const NAMED: [&str; 16] = [
    "#2b303b", "#e06c75", "#98c379", "#e5c07b", "#61afef", "#c678dd", "#56b6c2", "#c8ccd4", "#5c6370",
    "#ff7b86", "#b5e890", "#ffd68a", "#7cc5ff", "#e09bf5", "#6fd6e0", "#ffffff",
];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let usage = "usage: screen_to_svg COLUMNS ROWS < screen";
    let mut number = || -> Option<u16> { args.next()?.parse().ok() };
    let (columns, rows) = number().zip(number()).ok_or(usage)?;
    let mut text = Vec::new();
    io::stdin().read_to_end(&mut text)?;
    io::stdout().write_all(picture(&text, columns, rows).as_bytes())?;
    Ok(())
}

/// The picture of a text with SGR sequences.
fn picture(text: &[u8], columns: u16, rows: u16) -> String {
    let mut terminal = Terminal::new(Size::new(rows, columns), Settings::default());
    let lines: Vec<&[u8]> = text.split(|byte| *byte == b'\n').take(usize::from(rows)).collect();
    terminal.feed_all(&lines.join(&b"\r\n"[..]));
    let (width, height) = (f64::from(columns) * WIDE + 2.0 * MARGIN, f64::from(rows) * HIGH + 2.0 * MARGIN);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" \
         font-family=\"ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace\" font-size=\"14\">\n\
         <rect width=\"100%\" height=\"100%\" rx=\"8\" fill=\"{PAPER}\"/>\n"
    );
    let mut row = Row::new();
    for line in 0..rows {
        if terminal.read_row(isize::try_from(line).unwrap_or(0), &mut row) {
            draw_row(&mut svg, &row, line);
        }
    }
    svg.push_str("</svg>\n");
    svg
}

/// A row: cells that look the same are drawn together.
fn draw_row(svg: &mut String, row: &Row, line: u16) {
    let cells = row.cells();
    let mut start = 0;
    while start < cells.len() {
        let pen = cells[start].pen;
        let end = (start..cells.len()).find(|at| cells[*at].pen != pen).unwrap_or(cells.len());
        let text: String = cells[start..end]
            .iter()
            .filter(|cell| cell.width() > 0)
            .map(|cell| Some(row.text(cell)).filter(|text| !text.is_empty()).unwrap_or(" "))
            .collect();
        draw_run(svg, &text, &pen, (start, end - start), line);
        start = end;
    }
}

fn draw_run(svg: &mut String, text: &str, pen: &Pen, (start, len): (usize, usize), line: u16) {
    let has = |attribute| pen.attributes.contains(attribute);
    let (mut ink, mut paper) = (color(pen.foreground), color(pen.background));
    if has(Attributes::INVERSE) {
        (ink, paper) =
            (Some(paper.unwrap_or_else(|| PAPER.to_owned())), Some(ink.unwrap_or_else(|| INK.to_owned())));
    }
    let (x, y) = (MARGIN + start as f64 * WIDE, MARGIN + f64::from(line) * HIGH);
    let wide = len as f64 * WIDE;
    if let Some(paper) = paper {
        let _ = writeln!(
            svg,
            "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{wide:.1}\" height=\"{HIGH}\" fill=\"{paper}\"/>"
        );
    }
    if text.trim().is_empty() {
        return;
    }
    let mut look = format!("fill=\"{}\"", ink.unwrap_or_else(|| INK.to_owned()));
    for (on, attribute) in [
        (has(Attributes::BOLD), " font-weight=\"bold\""),
        (has(Attributes::DIM), " opacity=\"0.6\""),
        (has(Attributes::ITALIC), " font-style=\"italic\""),
        (pen.underline != Underline::None, " text-decoration=\"underline\""),
    ] {
        if on {
            look.push_str(attribute);
        }
    }
    // The length keeps columns in line whatever font is there.
    let trimmed = text.trim_end();
    let shown = wide * trimmed.chars().count() as f64 / text.chars().count().max(1) as f64;
    let _ = writeln!(
        svg,
        "<text x=\"{x:.1}\" y=\"{:.1}\" textLength=\"{shown:.1}\" lengthAdjust=\"spacingAndGlyphs\" xml:space=\"preserve\" {look}>{}</text>",
        y + HIGH * 0.75,
        escaped(trimmed)
    );
}

fn color(color: Color) -> Option<String> {
    match color {
        Color::Default => None,
        Color::Indexed(index @ 0..=15) => Some(NAMED[usize::from(index)].to_owned()),
        Color::Indexed(index @ 16..=231) => {
            let level = |step: u8| if step == 0 { 0 } else { 55 + 40 * step };
            let cube = index - 16;
            Some(format!("#{:02x}{:02x}{:02x}", level(cube / 36), level(cube / 6 % 6), level(cube % 6)))
        }
        Color::Indexed(index) => {
            let grey = 8 + 10 * (index - 232);
            Some(format!("#{grey:02x}{grey:02x}{grey:02x}"))
        }
        Color::Rgb(red, green, blue) => Some(format!("#{red:02x}{green:02x}{blue:02x}")),
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
