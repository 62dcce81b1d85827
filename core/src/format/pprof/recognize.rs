//! Tells pprof files from others by the shape of their outermost fields, without decoding what is in them.

use super::wire::{MAX_VARINT, varint};

/// Whether a file can begin with `bytes`.
pub fn begins(bytes: &[u8]) -> bool {
    !bytes.is_empty() && (!matches!(walk(bytes), Walk::Wrong) || legacy(bytes).is_some())
}

/// Whether `bytes` are the fields of a file: whole, with the empty text as the first one; or, to be told what is wrong with
/// them, such that name a sample type. Files from before the format had fields are taken too, to be refused by name.
pub fn sniff(bytes: &[u8]) -> bool {
    let names_type = |walked: Walked<'_>| walked.sample_types > 0;
    match walk(bytes) {
        Walk::Whole(walked) => walked.first_text == Some(&[]) || names_type(walked),
        Walk::Cut(walked) => names_type(walked),
        Walk::Wrong => legacy(bytes).is_some(),
    }
}

/// What sort of legacy file `bytes` are.
pub(super) fn legacy(bytes: &[u8]) -> Option<&'static str> {
    const TEXTS: [&str; 10] = [
        "--- contention",
        "--- mutex",
        "--- heapz",
        "--- growthz",
        "--- threadz",
        "--- Thread",
        "heap profile: ",
        "threadcreate profile: ",
        "goroutine profile: ",
        "--- CPU",
    ];
    if TEXTS.iter().any(|text| bytes.starts_with(text.as_bytes())) {
        return Some("text");
    }
    // Words of the machine: 0, 3 (more follow), 0 (the version), the period, 0.
    let word = |size: usize, index: usize| bytes.get(size * index..size * (index + 1));
    let is = |size: usize, index: usize, value: u8| {
        let Some(bytes) = word(size, index) else { return false };
        let rest = |bytes: &[u8]| bytes.iter().all(|byte| *byte == 0);
        (bytes[0] == value && rest(&bytes[1..])) || (bytes[size - 1] == value && rest(&bytes[..size - 1]))
    };
    let is_binary = |size: usize| {
        // Java's is of version 1.
        let has_version = is(size, 2, 0) || is(size, 2, 1);
        is(size, 0, 0) && is(size, 1, 3) && has_version && !is(size, 3, 0) && is(size, 4, 0)
    };
    [4, 8].into_iter().any(is_binary).then_some("binary")
}

/// What a walk over the outermost fields met.
enum Walk<'a> {
    Whole(Walked<'a>),
    /// All well until the bytes ended inside a field.
    Cut(Walked<'a>),
    /// A field that no such file has.
    Wrong,
}

#[derive(Clone, Copy, Default)]
struct Walked<'a> {
    first_text: Option<&'a [u8]>,
    sample_types: usize,
}

const VARINT: u64 = 0;
const BYTES: u64 = 2;
const SAMPLE_TYPE: u64 = 1;
const STRING_TABLE: u64 = 6;

fn walk(mut bytes: &[u8]) -> Walk<'_> {
    let mut walked = Walked::default();
    while !bytes.is_empty() {
        let Some(key) = take_number(&mut bytes) else { return cut_or_wrong(bytes, walked) };
        let (number, kind) = (key >> 3, key & 7);
        if !is_field(number, kind) {
            return Walk::Wrong;
        }
        let Some(value) = take_number(&mut bytes) else { return cut_or_wrong(bytes, walked) };
        if kind == BYTES {
            let Some((body, rest)) = usize::try_from(value).ok().and_then(|len| bytes.split_at_checked(len)) else {
                return Walk::Cut(walked);
            };
            bytes = rest;
            match number {
                STRING_TABLE => {
                    walked.first_text.get_or_insert(body);
                }
                SAMPLE_TYPE if !is_sample_type(body) => return Walk::Wrong,
                SAMPLE_TYPE => walked.sample_types += 1,
                _ => {}
            }
        }
    }
    Walk::Whole(walked)
}

/// Whether this is a message of two numbers, both of which can be left out.
fn is_sample_type(mut body: &[u8]) -> bool {
    while !body.is_empty() {
        let (Some(key), Some(_)) = (take_number(&mut body), take_number(&mut body)) else { return false };
        if ![1, 2].contains(&(key >> 3)) || key & 7 != VARINT {
            return false;
        }
    }
    true
}

fn take_number(bytes: &mut &[u8]) -> Option<u64> {
    let mut len = 0;
    let number = varint(bytes, &mut len)?;
    *bytes = &bytes[len..];
    Some(number)
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

/// A number without an end: cut off, unless it is longer than any.
fn cut_or_wrong<'a>(bytes: &[u8], walked: Walked<'a>) -> Walk<'a> {
    if bytes.len() < MAX_VARINT { Walk::Cut(walked) } else { Walk::Wrong }
}

#[cfg(test)]
mod tests {
    use prost::Message;

    use super::super::schema::{Profile, Sample, ValueType};
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
        assert!(!sniff(&file[..file.len() - 1]), "no sample type says what it is");
        assert!(!begins(b"") && !sniff(b""));
        let sample_type = vec![ValueType { r#type: 1, unit: 2 }];
        let typed = Profile { sample_type, string_table: vec![Vec::new(); 3], ..Profile::default() }.encode_to_vec();
        assert!(sniff(&typed) && sniff(&typed[..typed.len() - 1]), "to be told that it is cut off");
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
            b"--- a/src/main.rs\n",
        ];
        for other in others {
            assert!(!begins(other) && !sniff(other), "{}", String::from_utf8_lossy(other));
        }
        let texts = Profile { string_table: vec![b"not empty".to_vec()], ..Profile::default() }.encode_to_vec();
        assert!(begins(&texts) && !sniff(&texts), "the first text must be the empty one");
        // A trace of Perfetto is all packets in field 1.
        let packet = [0x0a, 4, 0x40, 1, 0x50, 1];
        assert!(!begins(&packet) && !sniff(&packet));
    }
}
