//! Whole numbers as text, for writers of which they are most.

/// Appends `value`.
pub(super) fn integer(buffer: &mut Vec<u8>, value: i64) {
    if value < 0 {
        buffer.push(b'-');
    }
    digits(buffer, value.unsigned_abs());
}

/// Appends `value`.
pub(super) fn digits(buffer: &mut Vec<u8>, mut value: u64) {
    let mut text = [0; 20];
    let mut start = text.len();
    loop {
        start -= 1;
        text[start] = b'0' + (value % 10) as u8;
        value /= 10;
        if value == 0 {
            break;
        }
    }
    buffer.extend_from_slice(&text[start..]);
}
