//! Questions that are answered at once.

use super::event::{Event, Query, QueryKind};
use super::modes::{Mode, Modes, Standing};
use super::number::{push_number, read_number};
use super::pen::Pen;
use super::screen::Screen;
use super::sgr::write_sgr;

impl Screen {
    /// Answers control sequences that ask something; others are ignored.
    pub(super) fn query(&mut self, lead: u8, intermediates: &[u8], end: u8, params: &[u8]) {
        let first = read_number(params).0;
        match (lead, intermediates, end) {
            (0 | b'>' | b'=', b"", b'c') if first == 0 => self.device_attributes(lead),
            (0, b"", b'n') => self.device_status(first),
            (b'?', b"", b'n') => self.private_status(first),
            (b'?', b"$", b'p') => {
                let standing = self.modes.standing(first, self.canvas.is_alternate());
                self.answer(format_args!("\x1b[?{first};{}$y", standing as u8));
            }
            (0, b"$", b'p') => {
                let standing = match Modes::ansi(first) {
                    Some(mode) if self.modes.contains(mode) => Standing::Set,
                    Some(_) => Standing::Reset,
                    None => Standing::Unknown,
                };
                self.answer(format_args!("\x1b[{first};{}$y", standing as u8));
            }
            (b'>', b"", b'q') if first == 0 => {
                let name = self.settings.name.clone();
                self.answer(format_args!("\x1bP>|{name}\x1b\\"));
            }
            (b'?', b"", b'u') if self.settings.kitty_keyboard => {
                let flags = self.keyboard[usize::from(self.canvas.is_alternate())].flags();
                self.answer(format_args!("\x1b[?{flags}u"));
            }
            (b'?', b"", b'm') if first == 4 => {
                let level = self.modify_other_keys;
                self.answer(format_args!("\x1b[>4;{level}m"));
            }
            _ => {}
        }
    }

    /// DA1, DA2 (`>`), DA3 (`=`).
    pub(super) fn device_attributes(&mut self, lead: u8) {
        match lead {
            // A VT220 with colours; the clipboard can be written.
            0 => self.answer(format_args!("\x1b[?62;22;52c")),
            b'>' => self.answer(format_args!("\x1b[>1;100;0c")),
            _ => self.answer(format_args!("\x1bP!|00000000\x1b\\")),
        }
    }

    fn device_status(&mut self, what: u32) {
        match what {
            5 => self.answer(format_args!("\x1b[0n")),
            6 => {
                let (row, column) = self.reported_cursor();
                self.answer(format_args!("\x1b[{row};{column}R"));
            }
            _ => {}
        }
    }

    fn private_status(&mut self, what: u32) {
        match what {
            6 => {
                let (row, column) = self.reported_cursor();
                self.answer(format_args!("\x1b[?{row};{column};1R"));
            }
            15 => self.answer(format_args!("\x1b[?13n")),
            25 => self.answer(format_args!("\x1b[?21n")),
            26 => self.answer(format_args!("\x1b[?27;1;0;0n")),
            996 => self
                .events
                .push(Event::Query(Query { kind: QueryKind::ColorScheme, bytes: b"\x1b[?996n".to_vec() })),
            _ => {}
        }
    }

    /// The cursor as CPR tells it: from 1, and from the top margin in origin mode.
    fn reported_cursor(&self) -> (u16, u16) {
        let cursor = self.canvas.cursor;
        let (top, _) = self.address_rows();
        (cursor.row.saturating_sub(top) + 1, cursor.column.min(self.canvas.columns() - 1) + 1)
    }

    /// Answers CSI 14, 16, 18 and 19 t. Titles are never reported: an agent's output could have set them to a command.
    pub(super) fn report_window(&mut self, what: u32) {
        let size = self.canvas.size();
        let (rows, columns) = (u32::from(size.rows), u32::from(size.cols));
        let (width, height) = self.settings.cell_pixels;
        let (width, height) = (u32::from(width), u32::from(height));
        match what {
            14 => self.answer(format_args!("\x1b[4;{};{}t", rows * height, columns * width)),
            16 => self.answer(format_args!("\x1b[6;{height};{width}t")),
            18 => self.answer(format_args!("\x1b[8;{rows};{columns}t")),
            19 => self.answer(format_args!("\x1b[9;{rows};{columns}t")),
            _ => {}
        }
    }

    /// Tells the size in-band (mode 2048).
    pub(super) fn report_size(&mut self) {
        if !self.modes.contains(Mode::ResizeEvents) {
            return;
        }
        let size = self.canvas.size();
        let (rows, columns) = (u32::from(size.rows), u32::from(size.cols));
        let (width, height) = self.settings.cell_pixels;
        let pixels = (rows * u32::from(height), columns * u32::from(width));
        self.answer(format_args!("\x1b[48;{rows};{columns};{};{}t", pixels.0, pixels.1));
    }

    /// DECRQSS: what SGR, margins and cursor shape are.
    pub(super) fn report_setting(&mut self, what: &[u8]) {
        let mut out = b"\x1bP1$r".to_vec();
        match what {
            b"m" => {
                let mut sgr = Vec::new();
                write_sgr(&mut sgr, &Pen::default(), &self.pen);
                out.push(b'0');
                if sgr.len() > 3 {
                    out.push(b';');
                    out.extend_from_slice(&sgr[2..sgr.len() - 1]);
                }
                out.push(b'm');
            }
            b"r" => {
                let (top, bottom) = self.canvas.margins();
                push_number(&mut out, u32::from(top) + 1);
                out.push(b';');
                push_number(&mut out, u32::from(bottom) + 1);
                out.push(b'r');
            }
            b" q" => {
                push_number(&mut out, u32::from(self.cursor_shape.number()));
                out.extend_from_slice(b" q");
            }
            _ => {
                out.clear();
                out.extend_from_slice(b"\x1bP0$r");
            }
        }
        out.extend_from_slice(b"\x1b\\");
        self.events.reply(&out);
    }

    /// XTGETTCAP: hex names, separated by `;`, each answered by itself.
    pub(super) fn report_capabilities(&mut self, names: &[u8]) {
        for name in names.split(|b| *b == b';').take(64) {
            let value = unhex(name).and_then(|name| capability(&name));
            let mut out = if value.is_some() { b"\x1bP1+r".to_vec() } else { b"\x1bP0+r".to_vec() };
            if name.iter().all(u8::is_ascii_hexdigit) {
                out.extend_from_slice(name);
            }
            if let Some(value) = value
                && !value.is_empty()
            {
                out.push(b'=');
                for byte in value.bytes() {
                    out.extend_from_slice(format!("{byte:02X}").as_bytes());
                }
            }
            out.extend_from_slice(b"\x1b\\");
            self.events.reply(&out);
        }
    }

    fn answer(&mut self, text: std::fmt::Arguments<'_>) {
        self.events.reply(text.to_string().as_bytes());
    }
}

/// Terminfo capabilities that programs ask for; a flag has an empty value.
fn capability(name: &[u8]) -> Option<&'static str> {
    Some(match name {
        b"TN" | b"name" => "xterm-256color",
        b"Co" | b"colors" => "256",
        b"RGB" => "8/8/8",
        b"Tc" | b"Su" | b"XT" => "",
        b"Smulx" => "\x1b[4:%p1%dm",
        b"Setulc" => "\x1b[58:2::%p1%{65536}%/%d:%p1%{256}%/%{255}%&%d:%p1%{255}%&%dm",
        b"Ss" => "\x1b[%p1%d q",
        b"Se" => "\x1b[0 q",
        b"Ms" => "\x1b]52;%p1%s;%p2%s\x07",
        b"Sync" => "\x1b[?2026%?%p1%{1}%-%tl%eh%;",
        b"smxx" => "\x1b[9m",
        b"Smol" => "\x1b[53m",
        b"setrgbf" => "\x1b[38;2;%p1%d;%p2%d;%p3%dm",
        b"setrgbb" => "\x1b[48;2;%p1%d;%p2%d;%p3%dm",
        b"kbs" => "\x7f",
        b"BE" => "\x1b[?2004h",
        b"BD" => "\x1b[?2004l",
        _ => return None,
    })
}

fn unhex(text: &[u8]) -> Option<Vec<u8>> {
    text.chunks(2)
        .take(32)
        .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok().filter(|_| pair.len() == 2))
        .collect()
}
