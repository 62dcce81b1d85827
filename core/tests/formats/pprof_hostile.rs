//! pprof files that are made to do harm: too many threads, and names that take long to look through.

use traceview_core::format::{self, ReadOptions, WriteOptions};
use traceview_core::model::Profile;

/// A message in the making.
#[derive(Default)]
struct Message(Vec<u8>);

impl Message {
    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value.to_le_bytes()[0] | 0x80);
            value >>= 7;
        }
        self.0.push(value.to_le_bytes()[0]);
    }

    fn number(mut self, field: u64, value: u64) -> Self {
        self.varint(field << 3);
        self.varint(value);
        self
    }

    fn bytes(mut self, field: u64, bytes: &[u8]) -> Self {
        self.varint(field << 3 | 2);
        self.varint(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
        self
    }

    fn message(self, field: u64, message: &Self) -> Self {
        self.bytes(field, &message.0)
    }
}

/// Fields of a file.
const SAMPLE_TYPE: u64 = 1;
const SAMPLE: u64 = 2;
const MAPPING: u64 = 3;
const LOCATION: u64 = 4;
const FUNCTION: u64 = 5;
const TEXT: u64 = 6;

/// A file of samples that count `samples`, with these texts behind the empty one and those of the type.
fn file(texts: &[&str]) -> Message {
    let file = Message::default().message(SAMPLE_TYPE, &Message::default().number(1, 1).number(2, 2));
    let texts = ["", "samples", "count"].iter().chain(texts);
    texts.fold(file, |file, text| file.bytes(TEXT, text.as_bytes()))
}

/// A location that is in function 1.
fn location(id: u64) -> Message {
    Message::default().number(1, id).number(3, 0x1000 + id).message(4, &Message::default().number(1, 1))
}

fn sample(location: u64) -> Message {
    Message::default().number(1, location).number(2, 1)
}

fn read(file: &Message) -> Profile {
    format::read(&file.0, &ReadOptions::default()).expect("it can be read").profile
}

#[test]
fn threads_that_are_known_stay_apart_when_there_are_too_many() {
    let file = file(&["work", "tid", "kind", "late"]);
    let file = file.message(FUNCTION, &Message::default().number(1, 1).number(2, 3)).message(LOCATION, &location(1));
    let tid = |tid: u64| Message::default().number(1, 4).number(3, tid);
    let mut file = (1..=10_003).fold(file, |file, number| file.message(SAMPLE, &sample(1).message(3, &tid(number))));
    let kind = Message::default().number(1, 5).number(2, 6);
    for known in [7, 10_000, 10_001] {
        file = file.message(SAMPLE, &sample(1).message(3, &tid(known)).message(3, &kind));
    }
    let profile = read(&file);
    assert_eq!(profile.threads.len(), 10_001, "those that can be told apart, and the others");
    let rows = |thread: usize| profile.threads[thread].samples.len();
    assert_eq!([0, 6, 7, 9_999, 10_000].map(rows), [1, 2, 1, 2, 4]);
    assert_eq!(profile.threads[6].tid.to_string(), "7");
    assert_eq!(profile.string(profile.threads[10_000].name), "other threads");
    let told: Vec<_> = profile.meta.warnings.iter().map(|warning| (&*warning.code, warning.count)).collect();
    assert_eq!(told, [("too-many-threads", 4)]);
}

#[test]
fn a_long_name_is_looked_through_once() {
    // For each location it would take minutes.
    let name = "é".repeat(4 << 20);
    let file = file(&[&name]).message(FUNCTION, &Message::default().number(1, 1).number(2, 3));
    let file = (1..=50_000).fold(file, |file, id| file.message(LOCATION, &location(id)).message(SAMPLE, &sample(id)));
    let profile = read(&file);
    assert_eq!((profile.functions.len(), profile.frames.len()), (1, 50_000));
}

#[test]
fn a_long_text_is_a_comment_once() {
    const COMMENT: u64 = 13;
    let long = "x".repeat(1 << 20);
    let one = (0..100_000).fold(file(&[&long]), |file, _| file.number(COMMENT, 3));
    let profile = read(&one);
    assert_eq!(profile.meta.extra.iter().filter(|(_, text)| *text == long).count(), 1);
    let warning = profile.meta.warnings.iter().find(|warning| warning.code == "comments-left-out");
    assert_eq!(warning.map(|warning| (warning.count, warning.first.as_deref())), Some((99_999, Some("comment 1"))));
}

/// Found by fuzzing: both were kept, and one of them when the profile was written and read again.
#[test]
fn two_rows_of_one_text_are_one_comment() {
    const COMMENT: u64 = 13;
    let profile = read(&file(&["made by hand", "made by hand"]).number(COMMENT, 3).number(COMMENT, 4));
    assert_eq!(profile.meta.extra.iter().filter(|(_, text)| text == "made by hand").count(), 1);
    let warnings: Vec<(&str, u64)> =
        profile.meta.warnings.iter().map(|warning| (warning.code.as_ref(), warning.count)).collect();
    assert_eq!(warnings, [("comments-left-out", 1)]);
}

#[test]
fn a_long_name_of_a_library_is_not_copied_for_each_address() {
    let long = "é".repeat(500_000);
    let mut text = file(&[&long]).message(MAPPING, &Message::default().number(1, 1).number(5, 3));
    let ids = 1..=20_000;
    for id in ids.clone() {
        // Every second one has no address.
        let address = if id % 2 == 0 { 0 } else { 0x1000 + id };
        text = text.message(LOCATION, &Message::default().number(1, id).number(2, 1).number(3, address));
        text = text.message(SAMPLE, &sample(id));
    }
    let profile = read(&text);
    let lens = || profile.functions.name.iter().map(|name| profile.string(*name).len());
    assert_eq!((lens().len(), lens().max()), (10_001, Some(100 + "…+0x5e1f".len())));
    assert!(profile.string(profile.functions.name[0]).ends_with("é…+0x1001"));
    // The whole name comes back, once.
    let mut written = Vec::new();
    format::pprof::write(&profile, &WriteOptions::default(), &mut written).expect("memory does not fail");
    assert_eq!(memchr::memmem::find_iter(&written, long.as_bytes()).count(), 2, "as path and in brackets");
}
