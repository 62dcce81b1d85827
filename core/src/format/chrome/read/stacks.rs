//! Stacks that events carry: an id in `stackFrames` (`sf`), or names written out (`stack`), the root first. Samples of the whole
//! system (`samples`) and single ones (phase `P`).

use rustc_hash::FxHashMap;

use super::Reader;
use super::tracks::os_id;
use crate::format::chrome::arguments::Arguments;
use crate::format::chrome::events::{EventFlags, Scalar};
use crate::format::chrome::notes;
use crate::format::chrome::scan::{self, Value};
use crate::format::chrome::time::nanos_of_micros;
use crate::format::json_value::Number;
use crate::format::room::most_threads;
use crate::model::{
    CpuDelta, Field, FieldValue, Frame, Function, OsId, Process, ProcessId, SampleTable, StackId, Thread, ThreadId,
    Time, Values,
};

/// The frames of `stackFrames`.
#[derive(Default)]
pub(super) struct StackFrames {
    rows: Vec<FrameRow>,
    by_id: FxHashMap<Box<str>, u32>,
}

struct FrameRow {
    name: Box<str>,
    parent: Option<Box<str>>,
    stack: Option<StackId>,
    is_being_made: bool,
}

/// A sample without the thread that it is of.
struct OneSample {
    time: Time,
    stack: Option<StackId>,
    weight: i64,
}

impl StackFrames {
    /// Adds the frames of an object: by id their name and the id of their caller.
    pub(super) fn add(&mut self, object: &[u8]) {
        for (id, frame) in Arguments::of(object).iter() {
            let Value::Object(frame) = frame else { continue };
            let frame = Arguments::of(frame);
            let row = FrameRow {
                name: frame.text("name").unwrap_or_else(|| "(no name)".to_owned()).into(),
                parent: frame.text("parent").map(Into::into),
                stack: None,
                is_being_made: false,
            };
            let index = u32::try_from(self.rows.len()).expect("fewer frames than bytes of a text that fits");
            self.rows.push(row);
            self.by_id.insert(id.decode().into_owned().into(), index);
        }
    }
}

/// Names of frames, one a line, as far as they are shown: a stack can be as deep and a name as long as the file, and every slice
/// can have them.
fn shown_stack<'a>(names: impl Iterator<Item = &'a str>) -> String {
    const MOST_FRAMES: usize = 100;
    const MOST_BYTES: usize = 1 << 12;
    let mut text = String::new();
    for (name, count) in names.zip(0..) {
        if count > 0 {
            text.push('\n');
        }
        let left = MOST_BYTES.saturating_sub(text.len());
        if count == MOST_FRAMES || name.len() > left {
            text.push_str(if count == MOST_FRAMES { "" } else { &name[..name.floor_char_boundary(left)] });
            text.push('…');
            break;
        }
        text.push_str(name);
    }
    text
}

impl Reader<'_, '_> {
    /// The stack of event `row`, if it carries one.
    pub(super) fn stack(&mut self, row: usize) -> Option<StackId> {
        if !self.table.flags(row).has_any(&[EventFlags::FRAME, EventFlags::STACK]) {
            return None;
        }
        let frame = self.table.more_ids(row).map_or(Scalar::Missing, |more| more.frame);
        if let Some(id) = os_id(self.table, frame) {
            let stack = self.stack_of_frame(&id.to_string());
            if stack.is_none() {
                self.note(notes::NO_FRAME, row);
            }
            return stack;
        }
        if !self.table.flags(row).has(EventFlags::STACK) {
            return None;
        }
        let names = scan::elements(self.table.field(row, "stack")?).ok()?;
        let mut stack = None;
        for name in names {
            let name = match name {
                Value::Text(text) => text.decode(),
                other => String::from_utf8_lossy(other.written()),
            };
            stack = Some(self.push_frame(stack, &name));
        }
        stack
    }

    fn push_frame(&mut self, caller: Option<StackId>, name: &str) -> StackId {
        let name = self.builder.string(name);
        let function = self.builder.function(Function::named(name));
        let frame = self.builder.frame(Frame::of(function));
        self.builder.stack(caller, frame)
    }

    /// The stack whose innermost frame has this id. What calls itself is cut there.
    fn stack_of_frame(&mut self, id: &str) -> Option<StackId> {
        let mut path = Vec::new();
        let mut next = self.frames.by_id.get(id).copied();
        let mut stack = None;
        while let Some(index) = next {
            let row = &mut self.frames.rows[index as usize];
            if row.stack.is_some() || row.is_being_made {
                stack = row.stack;
                break;
            }
            row.is_being_made = true;
            path.push(index);
            next = row.parent.as_ref().and_then(|parent| self.frames.by_id.get(parent).copied());
        }
        for index in path.into_iter().rev() {
            let name = self.frames.rows[index as usize].name.clone();
            stack = Some(self.push_frame(stack, &name));
            self.frames.rows[index as usize].stack = stack;
        }
        stack
    }

    /// The stack of a slice as a field of its arguments: the innermost frame first, one a line.
    pub(super) fn stack_fields(&mut self, row: usize) -> Vec<Field> {
        let Some(stack) = self.stack(row) else { return Vec::new() };
        let tables = self.builder.tables();
        let name = |node: StackId| {
            let frame = tables.stacks.frame[node.index()];
            tables.strings.get(tables.functions.name[tables.frames.function[frame.index()].index()])
        };
        let text = shown_stack(tables.stacks.ancestors(stack).map(name));
        let (key, text) = (self.builder.string("stack"), self.builder.string(&text));
        vec![Field { key, value: FieldValue::Text(text) }]
    }

    /// Reads events of phase `P`: pieces of profiles, and single samples of their thread, which are shown as instants if they
    /// carry no stack.
    pub(super) fn read_samples(&mut self, mut rows: Vec<u32>) {
        self.sort_by_time(&mut rows);
        self.read_v8_profiles(&mut rows);
        let mut samples: FxHashMap<u32, Vec<OneSample>> = FxHashMap::default();
        let mut order = Vec::new();
        for row in rows.iter().map(|row| *row as usize) {
            let thread = self.thread_of(row);
            let Some(time) = self.time(row) else { continue };
            let Some(id) = self.tracks.thread(thread) else {
                self.note(notes::TOO_MANY_THREADS, row);
                continue;
            };
            let Some(stack) = self.stack(row) else {
                self.note(notes::SAMPLE_WITHOUT_STACK, row);
                self.add_marker(id, row, Some("sample"));
                continue;
            };
            let of_thread = samples.entry(thread).or_insert_with(|| {
                order.push((thread, id));
                Vec::new()
            });
            of_thread.push(OneSample { time, stack: Some(stack), weight: 1 });
        }
        for (thread, id) in order {
            let samples = samples.remove(&thread).unwrap_or_default();
            self.add_samples(id, &samples);
        }
    }

    /// Reads the samples of the whole system that stand beside the events.
    pub(super) fn read_system_samples(&mut self) {
        let Some(Value::Array(array)) = self.table.other("samples") else { return };
        let mut by_tid: FxHashMap<OsId, (usize, Vec<OneSample>)> = FxHashMap::default();
        let mut order = Vec::new();
        for (index, sample) in scan::elements(array).unwrap_or_default().into_iter().enumerate() {
            let fields = Arguments::of(sample.written());
            let time = fields.get("ts").and_then(|time| nanos_of_micros(time.written()));
            let Some(time) = time else {
                self.report.note(notes::SAMPLE_WITHOUT_TIME, || format!("samples[{index}]"));
                continue;
            };
            let tid = match fields.text("tid").as_deref().map(str::parse) {
                Some(Ok(number)) => OsId::Number(number),
                Some(Err(_)) => OsId::Text(fields.text("tid").unwrap_or_default().into()),
                None => OsId::Number(0),
            };
            let stack = fields.text("sf").and_then(|id| self.stack_of_frame(&id));
            let stack = stack.or_else(|| fields.text("name").map(|name| self.push_frame(None, &name)));
            let place = || format!("samples[{index}]");
            let time = Time(self.since_origin(time, place));
            // Whole numbers, as nanoseconds are.
            let weight = |weight: f64| self.report.nanos(Number::Float(weight.round()), 1, place);
            let weight = fields.number("weight").map_or(1, weight);
            let (_, of_thread) = by_tid.entry(tid.clone()).or_insert_with(|| {
                order.push(tid);
                (index, Vec::new())
            });
            of_thread.push(OneSample { time, stack, weight });
        }
        let (known, most) = (self.tracks.by_tid(self.table), most_threads(self.table.text_len()));
        let (mut process, mut added) = (None, 0);
        for tid in order {
            let Some((first, mut samples)) = by_tid.remove(&tid) else { continue };
            samples.sort_by_key(|sample| sample.time);
            let thread = match known.get(&tid) {
                Some(thread) => *thread,
                None if added < most => {
                    added += 1;
                    self.add_sampled_thread(&mut process, tid)
                }
                None => {
                    let count = samples.len() as u64;
                    self.report.count(notes::TOO_MANY_THREADS, count, || format!("samples[{first}]"));
                    continue;
                }
            };
            self.add_samples(thread, &samples);
        }
    }

    /// A thread that only the samples know.
    fn add_sampled_thread(&mut self, process: &mut Option<ProcessId>, tid: OsId) -> ThreadId {
        let id = *process.get_or_insert_with(|| {
            let name = self.builder.string("samples");
            self.builder.add_process(Process::new(OsId::Text("samples".into()), name))
        });
        let name = self.builder.string(&format!("thread {tid}"));
        self.builder.add_thread(Thread::new(id, tid, name))
    }

    /// Adds samples in order of time to a thread.
    fn add_samples(&mut self, thread: ThreadId, samples: &[OneSample]) {
        let mut table = SampleTable {
            time: samples.iter().map(|sample| sample.time).collect(),
            stack: samples.iter().map(|sample| sample.stack).collect(),
            ..SampleTable::default()
        };
        if samples.iter().any(|sample| sample.weight != 1) {
            table.weight = Values::Integer(samples.iter().map(|sample| sample.weight).collect());
        }
        self.merge_samples(thread, vec![table]);
    }

    /// Adds samples to those that a thread has. Each table is in order of time; all that are at hand should come at once, as
    /// they are sorted each time.
    pub(super) fn merge_samples(&mut self, thread: ThreadId, mut tables: Vec<SampleTable>) {
        let table = &mut self.builder.thread_mut(thread).samples;
        if !table.is_empty() {
            tables.insert(0, std::mem::take(table));
        }
        if tables.len() < 2 {
            *table = tables.pop().unwrap_or_default();
            return;
        }
        let mut order: Vec<(usize, usize)> = tables
            .iter()
            .enumerate()
            .flat_map(|(which, table)| (0..table.len()).map(move |row| (which, row)))
            .collect();
        order.sort_by_key(|(which, row)| tables[*which].time[*row]);
        table.time = order.iter().map(|(which, row)| tables[*which].time[*row]).collect();
        table.stack = order.iter().map(|(which, row)| tables[*which].stack[*row]).collect();
        if tables.iter().any(|table| !table.cpu.is_empty()) {
            let cpu =
                |(which, row): &(usize, usize)| tables[*which].cpu.get(*row).copied().unwrap_or(CpuDelta::UNKNOWN);
            table.cpu = order.iter().map(cpu).collect();
        }
        if tables.iter().any(|table| table.weight != Values::Ones) {
            #[expect(clippy::cast_possible_truncation, reason = "weights of such samples are whole")]
            let weight = |(which, row): &(usize, usize)| match &tables[*which].weight {
                Values::Integer(weights) => weights[*row],
                others => others.get(*row) as i64,
            };
            table.weight = Values::Integer(order.iter().map(weight).collect());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stacks_are_shown_up_to_a_length() {
        assert_eq!(shown_stack(["leaf", "root"].into_iter()), "leaf\nroot");
        assert_eq!(shown_stack(["f"; 100].into_iter()), ["f"; 100].join("\n"));
        assert_eq!(shown_stack(["f"; 101].into_iter()), format!("{}…", "f\n".repeat(100)));
        let long = "ä".repeat(1 << 16);
        assert_eq!(shown_stack(["é", &long, "root"].into_iter()), format!("é\n{}…", "ä".repeat((4096 - 3) / 2)));
        assert_eq!(shown_stack([&*long].into_iter()), format!("{}…", "ä".repeat(2048)));
    }
}
