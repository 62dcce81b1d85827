//! `.cpuprofile` files of V8: Node (`--cpu-prof`), Chrome's DevTools, Deno, …
//!
//! * One thread: a table of `nodes`, `samples` by their ids, and the times between these in µs (`timeDeltas`). Times count from
//!   `startTime`, which is on the machine's monotonic clock.
//! * Before 2016 the nodes stood inside each other, below `head`, lines counted from 1, and samples had `timestamps`. Such
//!   trees are as deep as the stacks, so that part is parsed without recursion.
//! * What the values mean is the same wherever V8 profiles stand, and in `v8_profile`. Here is the file.

mod file;
mod head;
mod node;

use self::file::Facts;
use super::ReadError;
use super::import_report::ImportReport;
use super::json_keys::{begins_object, top_level_keys};
use super::v8_profile::V8Profile;
use crate::model::{OsId, Process, Profile, ProfileBuilder, Thread, Time};

/// Whether a profile of V8 can begin with `bytes`: it is a JSON object.
#[must_use]
pub fn begins(bytes: &[u8]) -> bool {
    begins_object(bytes)
}

/// Whether `bytes` look like a CPU profile of V8: an object with nodes, or a head of them, and a start.
#[must_use]
pub fn sniff(bytes: &[u8]) -> bool {
    let (mut nodes, mut start) = (false, false);
    top_level_keys(bytes).any(|(key, value)| {
        match key {
            b"nodes" => nodes = nodes || value.starts_with(b"["),
            b"head" => nodes = nodes || value.starts_with(b"{"),
            b"startTime" => start = true,
            _ => {}
        }
        nodes && start
    })
}

/// Reads a CPU profile of V8.
///
/// # Errors
/// If `bytes` are not a whole file of the format. What single nodes and samples have wrong is counted in the profile's
/// warnings.
pub fn read(bytes: &[u8]) -> Result<Profile, ReadError> {
    let mut builder = ProfileBuilder::with_standard_categories();
    let mut report = ImportReport::default();
    let mut v8 = V8Profile::default();
    let facts = file::read(bytes, &mut v8, &mut builder, &mut report)?;
    let name = builder.string("V8");
    let process = builder.add_process(Process::new(OsId::Number(0), name));
    let end = end(&facts, &mut v8, &mut report);
    let sampled = v8.finish(end, &mut builder, &mut report);
    let name = builder.string(facts.title.as_deref().unwrap_or("JavaScript"));
    let mut thread = Thread::new(process, OsId::Number(0), name);
    thread.timed = sampled.timed;
    thread.samples = sampled.samples;
    builder.add_thread(thread);
    let meta = builder.meta_mut();
    meta.name = facts.title.unwrap_or_default();
    meta.interval = sampled.interval;
    if let Some(end) = end.filter(|end| *end >= Time::ZERO) {
        (meta.recording_start, meta.recording_end) = (Some(Time::ZERO), Some(end));
    }
    if !facts.is_nested {
        meta.start_monotonic_ns = facts.start.map(|start| report.nanos(start, 1_000, || "startTime".to_owned()));
    }
    meta.warnings = report.into_warnings();
    Ok(builder.finish()?)
}

/// The end of the profile from its start. Brings times that were absolute to the start, too.
fn end(facts: &Facts, v8: &mut V8Profile, report: &mut ImportReport) -> Option<Time> {
    let scale = if facts.is_nested { 1_000_000_000 } else { 1_000 };
    let (start, end) = (facts.start?, facts.end?);
    let start = report.nanos(start, scale, || "startTime".to_owned());
    let end = report.nanos(end, scale, || "endTime".to_owned());
    let length = Time(end.saturating_sub(start));
    if facts.is_absolute {
        let start = Time(start);
        // The start may be on another clock.
        let first = v8.first_time().unwrap_or(start);
        let is_near = (0..=length.0).contains(&first.0.saturating_sub(start.0));
        v8.shift(if is_near { start } else { first }, report);
    }
    Some(length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_and_a_start_tell_a_file() {
        assert!(sniff(br#"{"nodes":[{"id":1}],"startTime":3,"endTime":4}"#));
        assert!(sniff(br#"{"typeId":"CPU","startTime":3,"head":{"functionName":"(root)""#), "also when cut off");
        assert!(!sniff(br#"{"head":{"callFrame":{},"selfSize":0},"samples":[]}"#), "a heap profile");
        assert!(!sniff(br#"{"snapshot":{},"nodes":[1,2],"edges":[]}"#), "a heap snapshot");
        assert!(!sniff(br#"{"nodes":3,"startTime":4}"#));
    }
}
