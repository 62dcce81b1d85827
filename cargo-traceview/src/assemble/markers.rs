//! Starts, ends, execs, joins and waits as markers, and what belongs together of them as flows.

use rustc_hash::FxHashMap;
use traceview_core::model::{
    ExitStatus, Field, FieldValue, FlowAnchor, FlowMember, FlowPhase, Marker, MarkerId, MarkerSchemaId, MarkerTiming,
    ProfileBuilder, StackId, StandardCategory, ThreadId, Time,
};

use super::kin::{Kin, RowOf};
use super::marker_kinds::{Kind, add_schemas};
use crate::unwind::{Origin, Recording, SpawnKind};

/// A marker, before its thread's are in order. The fields are those of its kind, `None` where not known.
struct Row {
    thread: usize,
    time: i64,
    kind: Kind,
    stack: Option<u32>,
    fields: Vec<Option<Value>>,
}

enum Value {
    Text(String),
    Number(i64),
}

fn text(text: &(impl ToString + ?Sized)) -> Option<Value> {
    Some(Value::Text(text.to_string()))
}

/// A flow between two markers, by their numbers.
struct Link {
    name: &'static str,
    from: usize,
    to: usize,
}

/// Adds markers and flows. `threads` are the threads of the profile, by row of the recording; `stacks` its stacks. How many
/// ends were of the sort that others wait for, but with nobody seen waiting.
pub(super) fn add_markers(
    recording: &Recording,
    threads: &[ThreadId],
    stacks: &[StackId],
    builder: &mut ProfileBuilder,
) -> u64 {
    let kin = Kin::of(&recording.processes, &recording.threads);
    let mut collector = Collector { recording, kin: &kin, rows: Vec::new(), links: Vec::new(), not_seen: 0 };
    collector.collect();
    let Collector { mut rows, links, not_seen, .. } = collector;
    let flow_of = links.iter().enumerate().flat_map(|(flow, link)| [(link.from, flow), (link.to, flow)]).collect();
    let used = |kind| rows.iter().any(|row| row.kind == kind);
    let schemas = add_schemas(used, builder);
    let mut order: Vec<usize> = (0..rows.len()).collect();
    order.sort_by_key(|number| (rows[*number].time, *number));
    let mut ids = vec![MarkerId::new(0); rows.len()];
    for number in order {
        let marker = marker(&mut rows[number], number, &flow_of, stacks, &schemas, builder);
        ids[number] = builder.thread_mut(threads[rows[number].thread]).markers.push(marker);
    }
    let category = builder.string("lifetime");
    for (flow, link) in links.iter().enumerate() {
        let member = |number: usize, phase| FlowMember {
            thread: threads[rows[number].thread],
            time: Time(rows[number].time),
            phase,
            anchor: FlowAnchor::Marker(ids[number]),
        };
        let members = [member(link.from, FlowPhase::Start), member(link.to, FlowPhase::End)];
        let (name, id) = (builder.string(link.name), builder.string(&flow_id(flow)));
        builder.add_flow(name, category, id, &members);
    }
    not_seen
}

fn flow_id(flow: usize) -> String {
    format!("{:x}", flow + 1)
}

fn marker(
    row: &mut Row,
    number: usize,
    flow_of: &FxHashMap<usize, usize>,
    stacks: &[StackId],
    schemas: &FxHashMap<Kind, MarkerSchemaId>,
    builder: &mut ProfileBuilder,
) -> Marker {
    let look = row.kind.look();
    row.fields.push(flow_of.get(&number).map(|flow| Value::Text(flow_id(*flow))));
    let mut fields = Vec::new();
    for ((key, ..), value) in look.fields.iter().zip(row.fields.drain(..)) {
        let Some(value) = value else { continue };
        let value = match value {
            Value::Text(text) => FieldValue::Text(builder.string(&text)),
            Value::Number(number) => FieldValue::Integer(number),
        };
        fields.push(Field { key: builder.string(key), value });
    }
    Marker {
        name: builder.string(look.name),
        timing: MarkerTiming::Instant(Time(row.time)),
        category: StandardCategory::Kernel.id(),
        schema: schemas.get(&row.kind).copied(),
        payload: Some(builder.add_payload(fields)),
        stack: row.stack.map(|stack| stacks[stack as usize]),
    }
}

struct Collector<'a> {
    recording: &'a Recording,
    kin: &'a Kin,
    rows: Vec<Row>,
    links: Vec<Link>,
    not_seen: u64,
}

impl Collector<'_> {
    fn collect(&mut self) {
        let spawns = self.spawns();
        for thread in 0..self.recording.threads.len() {
            self.start(thread, &spawns);
        }
        for thread in 0..self.recording.threads.len() {
            self.end(thread);
        }
        for process in 0..self.recording.processes.len() {
            self.process_end(process);
        }
    }

    fn push(&mut self, row: Row) -> usize {
        let end = self.recording.end;
        self.rows.push(Row { time: row.time.min(end), ..row });
        self.rows.len() - 1
    }

    /// `NAME (PID/TID)`.
    fn name_of(&self, thread: usize) -> String {
        let thread = &self.recording.threads[thread];
        format!("{} ({}/{})", thread.name, self.recording.processes[thread.process].pid, thread.tid)
    }

    /// Markers of all spawns, by their rows.
    fn spawns(&mut self) -> FxHashMap<RowOf, usize> {
        let recording = self.recording;
        let mut spawns = FxHashMap::default();
        for (creator, record) in recording.threads.iter().enumerate() {
            for (row, spawn) in record.spawns.iter().enumerate() {
                let started = self.kin.started_by.get(&(creator, row)).map(|started| &recording.threads[*started]);
                let kind = match spawn.how {
                    SpawnKind::Vfork => Kind::Vfork,
                    SpawnKind::Fork => Kind::Fork,
                    SpawnKind::Clone if started.is_some_and(|started| started.process != record.process) => Kind::Fork,
                    SpawnKind::Clone => Kind::SpawnThread,
                };
                // Both are upper bounds of when it really was.
                let time = started.map_or(spawn.time, |started| started.start.min(spawn.time));
                let name = started.and_then(|started| text(&started.name));
                let fields = vec![text(&spawn.child), name];
                let number = self.push(Row { thread: creator, time, kind, stack: spawn.stack, fields });
                spawns.insert((creator, row), number);
            }
        }
        spawns
    }

    /// How a thread came to be, and the programs that it started.
    fn start(&mut self, thread: usize, spawns: &FxHashMap<RowOf, usize>) {
        let recording = self.recording;
        let record = &recording.threads[thread];
        if let Origin::Created(stack) = record.origin {
            let is_first = record.tid == recording.processes[record.process].pid;
            let kind = if is_first { Kind::ProcessStart } else { Kind::ThreadStart };
            let spawn = self.kin.spawn_of.get(&thread);
            let by = spawn.and_then(|(creator, _)| text(&self.name_of(*creator)));
            let to = self.push(Row { thread, time: record.start, kind, stack, fields: vec![by] });
            if let Some(from) = spawn.map(|spawn| spawns[spawn]) {
                let name = match self.rows[from].kind {
                    Kind::Fork => "fork",
                    Kind::Vfork => "vfork",
                    _ => "spawn",
                };
                self.links.push(Link { name, from, to });
            }
        }
        for exec in &record.execs {
            let fields = vec![text(&exec.command_line.join(" "))];
            let to = self.push(Row { thread, time: exec.time, kind: Kind::Exec, stack: exec.stack, fields });
            if let Some(former) = exec.former {
                let fields = vec![text("exec"), None];
                let from =
                    self.push(Row { thread: former, time: exec.time, kind: Kind::ThreadExit, stack: None, fields });
                self.links.push(Link { name: "exec", from, to });
            }
        }
    }

    /// How a thread ended, unless its process did so with it.
    fn end(&mut self, thread: usize) {
        let recording = self.recording;
        let record = &recording.threads[thread];
        let Some(time) = record.end else { return };
        let ended_process = self.kin.last_thread.get(&record.process) == Some(&thread);
        if ended_process || self.kin.became.contains_key(&thread) {
            return;
        }
        let can_be_joined = self.kin.can_be_joined(&recording.threads, thread);
        let join = self.kin.join_of.get(&thread).copied();
        let waiter = can_be_joined.then(|| self.waiter(join)).flatten();
        let fields = vec![text(if can_be_joined { "exit" } else { "ended with others" }), waiter];
        let stack = record.exit.and_then(|exit| exit.stack);
        let from = self.push(Row { thread, time, kind: Kind::ThreadExit, stack, fields });
        if let Some(call) = join {
            let fields = vec![text(&record.tid), text(&record.name)];
            self.released(call, from, Kind::Join, "join", fields);
        }
    }

    fn process_end(&mut self, process: usize) {
        let record = &self.recording.processes[process];
        let (Some(time), Some(thread)) = (record.end, self.kin.last_thread.get(&process).copied()) else { return };
        let status = record.exit.map(|exit| match exit {
            ExitStatus::Code(code) => format!("exit status {code}"),
            ExitStatus::Signal(signal) => format!("signal {signal}"),
        });
        let wait = self.kin.wait_of.get(&process).copied();
        let waiter = record.parent.and_then(|_| self.waiter(wait));
        let stack = self.recording.threads[thread].exit.and_then(|exit| exit.stack);
        let fields = vec![status.as_deref().and_then(text), waiter];
        let from = self.push(Row { thread, time, kind: Kind::ProcessExit, stack, fields });
        if let Some(call) = wait {
            self.released(call, from, Kind::Wait, "wait", vec![text(&record.pid), status.as_deref().and_then(text)]);
        }
    }

    /// Who waited for an end.
    fn waiter(&mut self, call: Option<RowOf>) -> Option<Value> {
        match call {
            Some((waiter, _)) => text(&self.name_of(waiter)),
            None => {
                self.not_seen += 1;
                text("not seen")
            }
        }
    }

    /// The end with marker `from` released `call`.
    fn released(
        &mut self,
        (thread, row): RowOf,
        from: usize,
        kind: Kind,
        name: &'static str,
        mut fields: Vec<Option<Value>>,
    ) {
        let record = &self.recording.threads[thread];
        let call = &record.calls[row];
        let ended = self.rows[from].time;
        // The waiter can have ended before it was looked at again.
        let time = call.end.min(record.end.unwrap_or(i64::MAX)).max(ended);
        fields.push(Some(Value::Number((time - call.start).max(0))));
        let to = self.push(Row { thread, time, kind, stack: call.stack, fields });
        self.links.push(Link { name, from, to });
    }
}
