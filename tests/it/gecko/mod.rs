//! Firefox Profiler files: nothing is lost, and every rule of the format is kept.

mod hostile;
mod other_tools;
mod property;
mod recordings;
mod round_trip;
mod validator;

use serde_json::Value;
use traceview_core::format::{self, ReadError, ReadOptions, Target, WriteOptions};
use traceview_core::model::{Profile, Tables};

fn firefox(gzip: bool) -> Target {
    Target { format: format::by_name("firefox").expect("a known format"), gzip }
}

fn written(profile: &Profile) -> Vec<u8> {
    let mut bytes = Vec::new();
    format::write(profile, firefox(false), &WriteOptions::default(), &mut bytes).expect("memory does not fail");
    bytes
}

fn read(bytes: &[u8]) -> Result<Profile, ReadError> {
    format::read(bytes, &ReadOptions::default()).map(|contents| contents.profile)
}

fn json(bytes: &[u8]) -> Value {
    serde_json::from_slice(bytes).expect("the writer writes JSON")
}

/// The first table in which two profiles differ.
fn difference(left: &Tables, right: &Tables) -> Option<String> {
    macro_rules! compare {
        ($($table:ident)*) => {$(
            if left.$table != right.$table {
                return Some(format!(
                    "{}:\n  left {:?}\n right {:?}", stringify!($table), left.$table, right.$table
                ));
            }
        )*};
    }
    compare!(meta strings categories libraries mappings resources sources crates native_symbols functions frames
        stacks value_types label_sets marker_schemas payloads processes);
    for (index, (left, right)) in left.threads.iter().zip(&right.threads).enumerate() {
        if left != right {
            return Some(format!("thread {index}:\n  left {left:?}\n right {right:?}"));
        }
    }
    compare!(threads counters flows);
    (left != right).then(|| "another table".to_owned())
}
