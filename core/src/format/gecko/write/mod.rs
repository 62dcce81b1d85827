//! Model to file. Everything goes out as a stream; the shared tables come last because threads add rows to them.

mod allocation;
mod counter;
mod extension;
mod flows;
mod json;
mod kept;
mod layout;
mod marker;
mod meta;
mod samples;
mod schema;
mod shared;
mod thread;

use std::io::{self, BufWriter, Write};

use self::json::Json;
use self::layout::Layout;
use super::super::{WriteError, WriteOptions};
use super::FORMAT;
use crate::model::{Profile, Time, Warning};

/// Writes `profile`, always with its waits. Returns what had to be changed in the file; reading it back gives what was
/// not changed.
///
/// # Errors
/// If `out` fails, or the profile has no thread: other tools cannot show such a file.
pub fn write(profile: &Profile, _options: &WriteOptions, out: &mut dyn Write) -> Result<Vec<Warning>, WriteError> {
    if profile.threads.is_empty() {
        return Err(WriteError::Unsupported { format: FORMAT, reason: "it has no threads" });
    }
    let mut layout = Layout::new(profile);
    let mut json = Json::new(BufWriter::with_capacity(1 << 16, out));
    json.object(None, |json| {
        json.object(Some("meta"), |json| meta::write(json, &layout))?;
        json.array("libs", |json| shared::libraries(json, profile))?;
        kept::top_level(json, &layout)?;
        json.array("counters", |json| counter::write(json, &layout))?;
        json.array("threads", |json| {
            (0..profile.threads.len()).try_for_each(|index| thread::write(json, &mut layout, index))
        })?;
        json.object(Some("shared"), |json| shared::write(json, &layout))
    })?;
    json.finish()?;
    Ok(layout.repairs)
}

type Out<'a> = Json<BufWriter<&'a mut dyn Write>>;
type Written = io::Result<()>;

/// A moment in the file's milliseconds. Beyond what can be read back it is brought nearer (and corrected by
/// `traceview`), which keeps the order of moments.
fn millis(time: Time) -> f64 {
    const READABLE: i64 = 9_100_000_000_000_000_000;
    Time(time.0.clamp(-READABLE, READABLE)).as_millis_f64()
}

/// Whether the file's milliseconds give `time` back to the nanosecond.
fn is_exact(time: Time) -> bool {
    const EXACT: i64 = 1 << 52;
    (-EXACT..=EXACT).contains(&time.0) || Time::from_millis_f64(millis(time)) == Some(time)
}
