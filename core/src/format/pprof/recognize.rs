//! Tells pprof files from others by the shape of their outermost fields, without decoding what is in them.

/// Whether a file can begin with `bytes`.
pub fn begins(bytes: &[u8]) -> bool {
    !bytes.is_empty() && !matches!(walk(bytes), Walk::Wrong)
}

/// Whether `bytes` are the whole fields of a file, its texts with the empty one first.
pub fn sniff(bytes: &[u8]) -> bool {
    matches!(walk(bytes), Walk::Whole { first_text: Some([]) })
}

/// What a walk over the outermost fields met.
enum Walk<'a> {
    Whole {
        first_text: Option<&'a [u8]>,
    },
    /// All well until the bytes ended inside a field.
    Cut,
    /// A field that no such file has.
    Wrong,
}

const VARINT: u64 = 0;
const BYTES: u64 = 2;
const STRING_TABLE: u64 = 6;

fn walk(mut bytes: &[u8]) -> Walk<'_> {
    let mut first_text = None;
    while !bytes.is_empty() {
        let Some(key) = varint(&mut bytes) else { return cut_or_wrong(bytes) };
        let (number, kind) = (key >> 3, key & 7);
        if !is_field(number, kind) {
            return Walk::Wrong;
        }
        let Some(value) = varint(&mut bytes) else { return cut_or_wrong(bytes) };
        if kind == BYTES {
            let Some((body, rest)) = usize::try_from(value).ok().and_then(|len| bytes.split_at_checked(len)) else {
                return Walk::Cut;
            };
            bytes = rest;
            if number == STRING_TABLE {
                first_text.get_or_insert(body);
            }
        }
    }
    Walk::Whole { first_text }
}

/// Whether the message has a field of this number that is encoded so.
fn is_field(number: u64, kind: u64) -> bool {
    match number {
        1..=6 | 11 => kind == BYTES,
        7..=10 | 12 | 14 | 15 => kind == VARINT,
        // Comments can be packed.
        13 => kind == VARINT || kind == BYTES,
        _ => false,
    }
}

/// Takes a number of seven bits a byte off the front; `None` (and nothing taken) if it has no end.
fn varint(bytes: &mut &[u8]) -> Option<u64> {
    let len = bytes.iter().take(MAX_VARINT).position(|byte| byte & 0x80 == 0)? + 1;
    let (number, rest) = bytes.split_at(len);
    *bytes = rest;
    Some(number.iter().rev().fold(0, |value, byte| (value << 7) | u64::from(byte & 0x7f)))
}

const MAX_VARINT: usize = 10;

/// A number without an end: cut off, unless it is longer than any.
fn cut_or_wrong(bytes: &[u8]) -> Walk<'_> {
    if bytes.len() < MAX_VARINT { Walk::Cut } else { Walk::Wrong }
}

#[cfg(test)]
mod tests {
    use prost::Message;

    use super::super::schema::{Profile, Sample};
    use super::*;

    fn file() -> Vec<u8> {
        let sample = Sample { location_id: vec![1, 2, 300], value: vec![-1, i64::MAX], label: Vec::new() };
        let string_table = vec![Vec::new(), b"cpu".to_vec()];
        Profile { sample: vec![sample; 3], string_table, comment: vec![1, 1], period: -1, ..Profile::default() }
            .encode_to_vec()
    }

    #[test]
    fn whole_files_and_their_beginnings_are_known() {
        let file = file();
        assert!(sniff(&file));
        for len in 1..=file.len() {
            assert!(begins(&file[..len]), "{len}");
        }
        assert!(!sniff(&file[..file.len() - 1]));
        assert!(!begins(b"") && !sniff(b""));
    }

    #[test]
    fn what_is_something_else_is_not_taken_for_one() {
        let others: [&[u8]; 8] = [
            b"{\"meta\":{}}",
            b"\x7fELF\x02\x01\x01",
            b"Hello, world",
            &[0; 100],
            &[0xa5; 100],
            &[0xff; 100],
            b"[]",
            b"--- heapz 1 ---\n",
        ];
        for other in others {
            assert!(!begins(other) && !sniff(other), "{}", String::from_utf8_lossy(other));
        }
        let texts = Profile { string_table: vec![b"not empty".to_vec()], ..Profile::default() }.encode_to_vec();
        assert!(begins(&texts) && !sniff(&texts), "the first text must be the empty one");
    }
}
