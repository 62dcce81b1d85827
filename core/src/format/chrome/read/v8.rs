//! CPU profiles of V8 that come in pieces: an event `Profile`, then events `ProfileChunk` of the same id in the same process. The
//! samples are of the thread of the first; the pieces are written by another.

use rustc_hash::FxHashMap;

use super::Reader;
use crate::format::chrome::arguments::Arguments;
use crate::format::chrome::events::Scalar;
use crate::format::chrome::notes;
use crate::format::chrome::scan::{self, Value};
use crate::format::chrome::time::nanos_of_micros;
use crate::format::json_value::{Index, Number};
use crate::format::v8_profile::{CallFrame, V8Profile};
use crate::model::{Nanos, SampleTable, ThreadId, Time};

/// A profile while its pieces are read.
struct Profile {
    v8: V8Profile,
    thread: u32,
    /// Its first event.
    row: usize,
    /// When the next sample was taken, but for its delta; from the trace's beginning.
    time: i64,
}

impl Reader<'_, '_> {
    /// Reads the events among `rows` that are pieces of a profile, and keeps the others. `rows` are in order of time.
    pub(super) fn read_v8_profiles(&mut self, rows: &mut Vec<u32>) {
        let table = self.table;
        let mut profiles: Vec<Profile> = Vec::new();
        let mut by_id: FxHashMap<(u32, Scalar), usize> = FxHashMap::default();
        rows.retain(|row| {
            let row = *row as usize;
            let name = table.name[row].map_or("", |name| table.text(name));
            let (Some(args), true) = (table.args(row), matches!(name, "Profile" | "ProfileChunk")) else { return true };
            let thread = self.thread_of(row);
            let id = table.link(row).map_or(Scalar::Missing, |link| link.id);
            let Some(Value::Object(data)) = Arguments::of(args).get("data") else { return true };
            let data = Arguments::of(data);
            let next = profiles.len();
            let index = *by_id.entry((self.tracks.process_of(thread), id)).or_insert(next);
            if index == next {
                let time = self.nanos(row).unwrap_or(0);
                profiles.push(Profile { v8: V8Profile::default(), thread, row, time });
            }
            let profile = &mut profiles[index];
            if let Some(start) = data.get("startTime").and_then(|start| nanos_of_micros(start.written())) {
                profile.time = self.since_origin(start, || table.place(row));
                profile.thread = thread;
            }
            self.add_piece(profile, &data, row);
            false
        });
        self.add_v8_profiles(profiles);
    }

    fn add_v8_profiles(&mut self, profiles: Vec<Profile>) {
        let table = self.table;
        let mut by_thread: FxHashMap<ThreadId, Vec<SampleTable>> = FxHashMap::default();
        let mut order = Vec::new();
        for profile in profiles {
            let (count, place) = (profile.v8.sample_count() as u64, || table.place(profile.row));
            let Some(thread) = self.tracks.thread(profile.thread) else {
                self.report.count(notes::TOO_MANY_THREADS, count, place);
                continue;
            };
            if profile.v8.last_time().is_none() {
                self.report.count(notes::SAMPLE_WITHOUT_TIME, count, place);
                continue;
            }
            let sampled = profile.v8.finish(None, &mut self.builder, &mut self.report);
            if self.builder.tables().meta.interval.is_none() {
                self.builder.meta_mut().interval = sampled.interval.filter(|interval| *interval > Nanos(0));
            }
            let of_thread = by_thread.entry(thread).or_insert_with(|| {
                order.push(thread);
                Vec::new()
            });
            of_thread.push(sampled.samples);
        }
        for thread in order {
            let tables = by_thread.remove(&thread).unwrap_or_default();
            self.merge_samples(thread, tables);
        }
    }

    fn add_piece(&mut self, profile: &mut Profile, data: &Arguments<'_>, row: usize) {
        let table = self.table;
        let cpu_profile = match data.get("cpuProfile") {
            Some(Value::Object(object)) => Arguments::of(object),
            _ => Arguments::of(b""),
        };
        for node in part(cpu_profile.get("nodes")) {
            let node = Arguments::of(node.written());
            let call = match node.get("callFrame") {
                Some(Value::Object(object)) => Arguments::of(object),
                _ => Arguments::of(b""),
            };
            let at = profile.v8.announce(None);
            if let Some(parent) = node.get("parent") {
                profile.v8.add_parent(at, index(parent));
            }
            for child in part(node.get("children")) {
                profile.v8.add_child(at, index(child));
            }
            let text = |key: &str| call.text(key).unwrap_or_default();
            let number = |key: &str| std::str::from_utf8(call.get(key)?.written()).ok()?.parse().ok();
            let (name, url) = (text("functionName"), text("url"));
            let (line, column) = (number("lineNumber"), number("columnNumber"));
            let frame = CallFrame { name: &name, url: &url, line, column };
            let id = node.get("id").map_or(Index(None), index);
            profile.v8.fill(at, (id, 0), &frame, &mut self.builder, &mut self.report, || table.place(row));
        }
        for sample in part(cpu_profile.get("samples")) {
            profile.v8.add_sample(index(sample));
        }
        // Older pieces have them beside the nodes.
        for delta in part(data.get("timeDeltas").or_else(|| cpu_profile.get("timeDeltas"))) {
            match nanos_of_micros(delta.written()) {
                Some(delta) => {
                    profile.time = self.report.later(profile.time, Number::Integer(delta), 1, || table.place(row));
                }
                None => self.report.note(notes::BAD_DELTA, || table.place(row)),
            }
            profile.v8.add_time(Time(profile.time));
        }
        for line in part(data.get("lines").or_else(|| cpu_profile.get("lines"))) {
            profile.v8.add_line(index(line));
        }
    }
}

/// The elements of an array; none of anything else.
fn part(value: Option<Value<'_>>) -> Vec<Value<'_>> {
    match value {
        Some(Value::Array(array)) => scan::elements(array).unwrap_or_default(),
        _ => Vec::new(),
    }
}

fn index(value: Value<'_>) -> Index {
    Index(std::str::from_utf8(value.written()).ok().and_then(|text| text.parse().ok()))
}
