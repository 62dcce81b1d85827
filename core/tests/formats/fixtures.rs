//! The files in the repository's `tests/fixtures`.

use std::io::Read;
use std::path::PathBuf;

use serde_json::Value;
use traceview_core::format::{self, Contents, ReadError, ReadOptions};

/// A file by its path in the folder.
#[expect(clippy::disallowed_methods, reason = "the code does no I/O, its tests read files")]
pub(crate) fn bytes(path: &str) -> Vec<u8> {
    let full = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../tests/fixtures").join(path);
    std::fs::read(&full).unwrap_or_else(|error| panic!("{}: {error}", full.display()))
}

/// A file, read.
pub(crate) fn read(path: &str) -> Result<Contents, ReadError> {
    format::read(&bytes(path), &ReadOptions::default())
}

/// A JSON file, compressed if its name says so.
pub(crate) fn json(path: &str) -> Value {
    let bytes = bytes(path);
    let parsed = if path.ends_with(".gz") {
        serde_json::from_reader(flate2::read::GzDecoder::new(&*bytes))
    } else {
        serde_json::from_slice(&bytes)
    };
    parsed.unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// A file, decompressed if its name says so.
pub(crate) fn text(path: &str) -> Vec<u8> {
    let bytes = bytes(path);
    if !path.ends_with(".gz") {
        return bytes;
    }
    let mut text = Vec::new();
    let read = flate2::read::GzDecoder::new(&*bytes).read_to_end(&mut text);
    read.unwrap_or_else(|error| panic!("{path}: {error}"));
    text
}

/// The names of the files of a folder.
pub(crate) fn names(folder: &str) -> Vec<String> {
    let full = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../tests/fixtures").join(folder);
    let entries = std::fs::read_dir(&full).unwrap_or_else(|error| panic!("{}: {error}", full.display()));
    let name = |entry: std::io::Result<std::fs::DirEntry>| entry.expect("an entry").file_name().into_string();
    let mut names: Vec<String> = entries.map(|entry| name(entry).expect("a name")).collect();
    names.sort();
    names
}

/// The paths of all files, of every format, that can be read.
pub(crate) fn profiles() -> Vec<(String, Contents)> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../tests/fixtures");
    let (mut folders, mut found) = (vec![root.clone()], Vec::new());
    while let Some(folder) = folders.pop() {
        let entries = std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
        for path in entries.map(|entry| entry.expect("an entry").path()) {
            if path.is_dir() {
                folders.extend((!path.ends_with("expected")).then_some(path));
            } else {
                found.push(path.strip_prefix(&root).expect("it is inside").to_str().expect("a name").to_owned());
            }
        }
    }
    found.sort();
    found.into_iter().filter_map(|path| Some((read(&path).ok()?, path))).map(|(read, path)| (path, read)).collect()
}

#[test]
fn what_no_reader_takes_is_refused_with_a_reason() {
    for path in ["pprof/derived/empty.pb.gz", "pprof/derived/empty-member.pb.gz"] {
        assert_eq!(read(path).expect_err(path).to_string(), "the file is empty", "{path}");
    }
    let name = "ancient-cleopatra-profile.sps.json.gz";
    assert_eq!(json(&format!("gecko/expected/{name}.expected.json"))["exit"], 1, "{name}");
    read(&format!("gecko/{name}")).expect_err(name);
}
