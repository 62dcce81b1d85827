//! Numbers in the making of a file: seven bits a byte, the lowest first.

/// Numbers one behind the other, as in a packed field.
#[derive(Default)]
pub(super) struct Packed {
    /// Longer than what is in it, so that a number is stored at once, however long it is.
    bytes: Vec<u8>,
    len: usize,
}

/// No number takes more bytes.
const LONGEST: usize = 10;
/// Numbers below this take four bytes at most.
const SHORT: u64 = 1 << 28;

impl Packed {
    pub(super) fn clear(&mut self) {
        self.len = 0;
    }

    pub(super) fn as_slice(&self) -> &[u8] {
        &self.bytes[..self.len]
    }

    /// Adds numbers, so many of them at most.
    #[inline]
    pub(super) fn extend(&mut self, numbers: impl Iterator<Item = u64>, most: usize) {
        let room = self.len + most * LONGEST;
        if self.bytes.len() < room {
            self.bytes.resize(2 * room, 0);
        }
        let mut len = self.len;
        for number in numbers.take(most) {
            len += store(number, &mut self.bytes[len..]);
        }
        self.len = len;
    }
}

/// Stores a number at the beginning of `room`, which has place for the longest. Returns how many bytes it takes.
#[inline]
fn store(number: u64, room: &mut [u8]) -> usize {
    if number < SHORT {
        // Nobody could foresee the lengths of such numbers, the processor as little: so nothing is decided by them.
        let (number, len) = (number as u32, short_len(number));
        let groups =
            (number & 0x7f) | ((number & 0x3f80) << 1) | ((number & 0x001f_c000) << 2) | ((number & 0x0fe0_0000) << 3);
        let goes_on = 0x0080_8080 & !(u32::MAX << (8 * (len - 1)));
        room[..4].copy_from_slice(&(groups | goes_on).to_le_bytes());
        return len;
    }
    let mut rest = number;
    let mut len = 1;
    while rest >= 0x80 {
        room[len - 1] = rest as u8 | 0x80;
        rest >>= 7;
        len += 1;
    }
    room[len - 1] = rest as u8;
    len
}

/// How many bytes a number below [`SHORT`] takes.
fn short_len(number: u64) -> usize {
    1 + usize::from(number > 0x7f) + usize::from(number > 0x3fff) + usize::from(number > 0x001f_ffff)
}

#[cfg(test)]
mod tests {
    use prost::encoding::encode_varint;

    use super::*;

    #[test]
    fn numbers_of_all_lengths_are_what_the_format_says() {
        let (mut packed, mut expected) = (Packed::default(), Vec::new());
        for bit in 0..64 {
            for number in [(1_u64 << bit) - 1, 1 << bit, (1 << bit) | 1, u64::MAX >> bit] {
                packed.extend(std::iter::once(number), 1);
                encode_varint(number, &mut expected);
            }
        }
        assert_eq!(packed.as_slice(), expected);
        packed.clear();
        packed.extend(0.., 2);
        assert_eq!(packed.as_slice(), [0, 1]);
    }
}
