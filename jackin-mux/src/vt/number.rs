//! Decimal numbers in control sequences.

/// Numbers in sequences saturate here: larger than any coordinate, code or count that we know.
const LIMIT: u32 = 99_999_999;

/// Appends `n` in decimal.
#[inline]
pub(crate) fn push_number(out: &mut Vec<u8>, n: u32) {
    if n < 10 {
        out.push(b'0' + n as u8);
        return;
    }
    if n < 100 {
        out.extend_from_slice(&[b'0' + (n / 10) as u8, b'0' + (n % 10) as u8]);
        return;
    }
    if n < 1000 {
        out.extend_from_slice(&[b'0' + (n / 100) as u8, b'0' + (n / 10 % 10) as u8, b'0' + (n % 10) as u8]);
        return;
    }
    let mut digits = [0; 10];
    let mut at = digits.len();
    let mut rest = n;
    while rest > 0 {
        at -= 1;
        digits[at] = b'0' + (rest % 10) as u8;
        rest /= 10;
    }
    out.extend_from_slice(&digits[at..]);
}

/// Reads leading digits: the number, saturated, and how many bytes it took.
#[inline]
pub(crate) fn read_number(bytes: &[u8]) -> (u32, usize) {
    let mut value = 0u32;
    let mut used = 0;
    for &b in bytes {
        let digit = b.wrapping_sub(b'0');
        if digit > 9 {
            break;
        }
        value = (value * 10 + u32::from(digit)).min(LIMIT);
        used += 1;
    }
    (value, used)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_round_trip() {
        for n in [0, 9, 10, 99, 100, 999, 1000, 65535, 99_999_999] {
            let mut out = Vec::new();
            push_number(&mut out, n);
            assert_eq!(out, n.to_string().as_bytes());
            assert_eq!(read_number(&out), (n, out.len()));
        }
        assert_eq!(read_number(b"99999999999999999999;"), (LIMIT, 20));
        assert_eq!(read_number(b";"), (0, 0));
    }
}
