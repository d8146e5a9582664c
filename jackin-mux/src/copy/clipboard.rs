/// The most that is copied; terminals take less, and nobody means more.
const MOST: usize = 1 << 20;

/// OSC 52: the sequence that puts text into the operator's clipboard.
pub(crate) fn clipboard_sequence(text: &str) -> Vec<u8> {
    let mut end = text.len().min(MOST);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let mut sequence = b"\x1b]52;c;".to_vec();
    encode(&text.as_bytes()[..end], &mut sequence);
    sequence.push(0x07);
    sequence
}

/// Base64 with padding.
fn encode(bytes: &[u8], out: &mut Vec<u8>) {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for chunk in bytes.chunks(3) {
        let at = |n: usize| u32::from(chunk.get(n).copied().unwrap_or(0));
        let bits = at(0) << 16 | at(1) << 8 | at(2);
        for digit in 0..4 {
            let value = bits >> (18 - 6 * digit) & 0x3f;
            out.push(if digit <= chunk.len() { DIGITS[value as usize] } else { b'=' });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_encoded_and_padded() {
        let sequence = |text| String::from_utf8(clipboard_sequence(text)).unwrap();
        for (text, encoded) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("ü?~", "w7w/fg=="),
        ] {
            assert_eq!(sequence(text), format!("\x1b]52;c;{encoded}\x07"));
        }
        assert!(clipboard_sequence(&"é".repeat(MOST)).len() < MOST * 4 / 3 + 16);
    }
}
