use crate::client::{Button, Mouse, MouseAction, Wheel};
use crate::vt::number::push_number;
use crate::vt::{MouseEncoding, MouseProtocol};

/// What a program that asked for the mouse in this way is sent; `row` and `col` are the pane's own, from 0. None for
/// what it did not ask for, and for what its encoding cannot say.
pub(crate) fn encode_mouse(
    mouse: Mouse,
    (row, col): (u16, u16),
    protocol: MouseProtocol,
    encoding: MouseEncoding,
    cell_pixels: (u16, u16),
) -> Option<Vec<u8>> {
    let wanted = match mouse.action {
        MouseAction::Press(_) => protocol != MouseProtocol::Off,
        MouseAction::Release(_) | MouseAction::Wheel(_) => {
            !matches!(protocol, MouseProtocol::Off | MouseProtocol::X10)
        }
        MouseAction::Move(Some(_)) => matches!(protocol, MouseProtocol::Drag | MouseProtocol::Motion),
        MouseAction::Move(None) => protocol == MouseProtocol::Motion,
    };
    if !wanted {
        return None;
    }
    let (mut code, released) = match mouse.action {
        MouseAction::Press(button) => (number(button), false),
        MouseAction::Release(button) => (number(button), true),
        MouseAction::Move(button) => (32 + button.map_or(3, number), false),
        MouseAction::Wheel(wheel) => (
            match wheel {
                Wheel::Up => 64,
                Wheel::Down => 65,
                Wheel::Left => 66,
                Wheel::Right => 67,
            },
            false,
        ),
    };
    if protocol != MouseProtocol::X10 {
        code += u32::from(mouse.shift) * 4 + u32::from(mouse.alt) * 8 + u32::from(mouse.ctrl) * 16;
    }
    // The old encodings do not say which button was let go.
    let old = if released { code & !3 | 3 } else { code };
    let (x, y) = (u32::from(col) + 1, u32::from(row) + 1);
    let mut bytes = b"\x1b[".to_vec();
    match encoding {
        MouseEncoding::Sgr | MouseEncoding::SgrPixels => {
            let (x, y) = if encoding == MouseEncoding::SgrPixels {
                // The middle of the cell: the operator's terminal told cells.
                let (width, height) = (u32::from(cell_pixels.0), u32::from(cell_pixels.1));
                ((x - 1) * width + width / 2 + 1, (y - 1) * height + height / 2 + 1)
            } else {
                (x, y)
            };
            bytes.push(b'<');
            push_list(&mut bytes, [code, x, y]);
            bytes.push(if released { b'm' } else { b'M' });
        }
        MouseEncoding::Urxvt => {
            push_list(&mut bytes, [old + 32, x, y]);
            bytes.push(b'M');
        }
        MouseEncoding::Utf8 => {
            bytes.push(b'M');
            for value in [old + 32, x + 32, y + 32] {
                let c = char::from_u32(value).filter(|_| value <= 2047)?;
                bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
            }
        }
        MouseEncoding::X10 => {
            bytes.push(b'M');
            for value in [old + 32, x + 32, y + 32] {
                bytes.push(u8::try_from(value).ok()?);
            }
        }
    }
    Some(bytes)
}

fn number(button: Button) -> u32 {
    match button {
        Button::Left => 0,
        Button::Middle => 1,
        Button::Right => 2,
        Button::Extra(number) => 128 + u32::from(number.saturating_sub(8)),
    }
}

fn push_list(bytes: &mut Vec<u8>, numbers: [u32; 3]) {
    for (at, number) in numbers.into_iter().enumerate() {
        if at > 0 {
            bytes.push(b';');
        }
        push_number(bytes, number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mouse(action: MouseAction) -> Mouse {
        Mouse { action, row: 0, col: 0, shift: false, alt: false, ctrl: true }
    }

    fn sent(action: MouseAction, protocol: MouseProtocol, encoding: MouseEncoding) -> Option<String> {
        let bytes = encode_mouse(mouse(action), (4, 9), protocol, encoding, (8, 16))?;
        Some(bytes.escape_ascii().to_string())
    }

    #[test]
    fn each_encoding_says_the_same() {
        let press = MouseAction::Press(Button::Right);
        let release = MouseAction::Release(Button::Right);
        let by = |encoding| {
            [press, release].map(|action| sent(action, MouseProtocol::Press, encoding).unwrap_or_default())
        };
        assert_eq!(by(MouseEncoding::Sgr), ["\\x1b[<18;10;5M", "\\x1b[<18;10;5m"]);
        assert_eq!(by(MouseEncoding::SgrPixels), ["\\x1b[<18;77;73M", "\\x1b[<18;77;73m"]);
        assert_eq!(by(MouseEncoding::Urxvt), ["\\x1b[50;10;5M", "\\x1b[51;10;5M"]);
        assert_eq!(by(MouseEncoding::X10), ["\\x1b[M2*%", "\\x1b[M3*%"]);
        assert_eq!(by(MouseEncoding::Utf8), ["\\x1b[M2*%", "\\x1b[M3*%"]);
    }

    #[test]
    fn each_protocol_gets_what_it_asked_for() {
        let told = |action| {
            [
                MouseProtocol::Off,
                MouseProtocol::X10,
                MouseProtocol::Press,
                MouseProtocol::Drag,
                MouseProtocol::Motion,
            ]
            .map(|protocol| sent(action, protocol, MouseEncoding::Sgr).is_some())
        };
        assert_eq!(told(MouseAction::Press(Button::Left)), [false, true, true, true, true]);
        assert_eq!(told(MouseAction::Release(Button::Left)), [false, false, true, true, true]);
        assert_eq!(told(MouseAction::Wheel(Wheel::Up)), [false, false, true, true, true]);
        assert_eq!(told(MouseAction::Move(Some(Button::Left))), [false, false, false, true, true]);
        assert_eq!(told(MouseAction::Move(None)), [false, false, false, false, true]);
        let x10 = sent(MouseAction::Press(Button::Left), MouseProtocol::X10, MouseEncoding::X10);
        assert_eq!(x10.as_deref(), Some("\\x1b[M *%"), "without modifiers");
    }

    #[test]
    fn what_the_old_encoding_cannot_say_is_not_said() {
        let far = |encoding| {
            let press = mouse(MouseAction::Press(Button::Left));
            encode_mouse(press, (0, 300), MouseProtocol::Press, encoding, (8, 16))
        };
        assert_eq!(far(MouseEncoding::X10), None);
        assert_eq!(far(MouseEncoding::Utf8), Some("\x1b[M0\u{14d}!".as_bytes().to_vec()));
    }
}
