//! The files in the repository's `tests/fixtures`.

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

#[test]
fn what_no_reader_takes_is_refused_with_a_reason() {
    for path in ["pprof/derived/empty.pb.gz", "pprof/derived/empty-member.pb.gz"] {
        assert_eq!(read(path).expect_err(path).to_string(), "the file is empty", "{path}");
    }
    let name = "ancient-cleopatra-profile.sps.json.gz";
    assert_eq!(json(&format!("gecko/expected/{name}.expected.json"))["exit"], 1, "{name}");
    read(&format!("gecko/{name}")).expect_err(name);
}
