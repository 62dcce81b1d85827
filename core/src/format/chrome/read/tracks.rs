//! Processes and threads: who they are, what they are called, and in which order they are shown.
//!
//! `1` and `"1"` are one id: a person sees no difference, and writers that mix them mean none. What no number is (`"Spans"`,
//! `1.5`) is an id as it is written. An event without `pid` is of process 0, one without `tid` of the thread that has the
//! process's own id, as in Perfetto.

use rustc_hash::FxHashMap;

use super::Reader;
use crate::format::chrome::arguments::Arguments;
use crate::format::chrome::events::{EventFlags, EventTable, Scalar, ThreadIds};
use crate::format::chrome::notes;
use crate::format::room::most_threads;
use crate::model::{OsId, Process, ProcessId, Thread, ThreadId, Time};

/// The threads of a trace. An index of one is its place in the order in which they came up.
#[derive(Default)]
pub(super) struct Tracks {
    processes: Vec<NamedProcess>,
    threads: Vec<NamedThread>,
    /// For each pair of ids of the table its thread.
    pub(super) of_ids: Vec<u32>,
}

#[derive(Default)]
struct NamedProcess {
    pid: Option<OsId>,
    name: Option<String>,
    labels: Vec<String>,
    sort_index: f64,
    is_used: bool,
    id: Option<ProcessId>,
}

/// Small: a file made for it has one an event.
struct NamedThread {
    process: u32,
    /// The first pair of ids that means it.
    ids: u32,
    name: Option<Box<str>>,
    sort_index: f64,
    is_used: bool,
    id: Option<ThreadId>,
}

impl Tracks {
    pub(super) fn new(table: &EventTable<'_>) -> Self {
        let mut tracks = Self::default();
        let mut processes: FxHashMap<OsId, u32> = FxHashMap::default();
        let mut threads: FxHashMap<(u32, OsId), u32> = FxHashMap::default();
        for (ids, pair) in (0..).zip(table.thread_ids()) {
            let (pid, tid) = (pid(table, *pair), tid(table, *pair));
            let process = *processes.entry(pid.clone()).or_insert_with(|| {
                tracks.processes.push(NamedProcess { pid: Some(pid), ..NamedProcess::default() });
                index(tracks.processes.len() - 1)
            });
            let thread = *threads.entry((process, tid)).or_insert_with(|| {
                let (name, sort_index, is_used, id) = (None, 0.0, false, None);
                tracks.threads.push(NamedThread { process, ids, name, sort_index, is_used, id });
                index(tracks.threads.len() - 1)
            });
            tracks.of_ids.push(thread);
        }
        tracks
    }

    pub(super) fn len(&self) -> usize {
        self.threads.len()
    }

    /// Says that something is on thread `thread`.
    pub(super) fn set_used(&mut self, thread: u32) {
        let thread = &mut self.threads[thread as usize];
        thread.is_used = true;
        self.processes[thread.process as usize].is_used = true;
    }

    /// The thread of the model; `None` if nothing is on it, or there are too many.
    pub(super) fn thread(&self, thread: u32) -> Option<ThreadId> {
        self.threads[thread as usize].id
    }

    /// The process of a thread.
    pub(super) fn process_of(&self, thread: u32) -> u32 {
        self.threads[thread as usize].process
    }

    pub(super) fn process(&self, process: u32) -> Option<ProcessId> {
        self.processes[process as usize].id
    }

    /// For each id of a thread the first of any process on which something is.
    pub(super) fn by_tid(&self, table: &EventTable<'_>) -> FxHashMap<OsId, ThreadId> {
        let tid = |thread: &NamedThread| tid(table, table.thread_ids()[thread.ids as usize]);
        let with_id = self.threads.iter().rev().filter_map(|thread| Some((tid(thread), thread.id?)));
        with_id.collect()
    }
}

fn index(index: usize) -> u32 {
    u32::try_from(index).expect("fewer threads than events")
}

fn pid(table: &EventTable<'_>, ids: ThreadIds) -> OsId {
    os_id(table, ids.pid).unwrap_or(OsId::Number(0))
}

fn tid(table: &EventTable<'_>, ids: ThreadIds) -> OsId {
    os_id(table, ids.tid).unwrap_or_else(|| pid(table, ids))
}

/// The id that a value is; `None` for none.
pub(super) fn os_id(table: &EventTable<'_>, id: Scalar) -> Option<OsId> {
    match id {
        Scalar::Missing => None,
        Scalar::Integer(number) => Some(OsId::Number(number)),
        Scalar::Number(text) => Some(OsId::Text(table.text(text).into())),
        Scalar::Text(text) => {
            let text = table.text(text);
            let number = text.parse::<i64>().ok().filter(|number| number.to_string() == text);
            Some(number.map_or_else(|| OsId::Text(text.into()), OsId::Number))
        }
        Scalar::Other(text) => match table.text(text) {
            "null" => None,
            text => Some(OsId::Text(text.into())),
        },
    }
}

/// Takes in a metadata event.
pub(super) fn metadata(reader: &mut Reader<'_, '_>, row: usize) {
    let table = reader.table;
    let name = table.name[row].map_or("", |name| table.text(name));
    let args = Arguments::of(table.args(row).unwrap_or_default());
    let thread = reader.tracks.of_ids[table.thread[row] as usize] as usize;
    let process = reader.tracks.threads[thread].process as usize;
    let process = &mut reader.tracks.processes[process];
    let thread = &mut reader.tracks.threads[thread];
    let is_understood = match name {
        "process_name" => args.text("name").map(|name| process.name = Some(name)).is_some(),
        "thread_name" => args.text("name").map(|name| thread.name = Some(name.into())).is_some(),
        "process_sort_index" => args.number("sort_index").map(|index| process.sort_index = index).is_some(),
        "thread_sort_index" => args.number("sort_index").map(|index| thread.sort_index = index).is_some(),
        "process_labels" => args.text("labels").map(|labels| add_label(&mut process.labels, labels)).is_some(),
        "num_cpus" => {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "`as` saturates")]
            let cpus = args.number("number").map(|number| number as u32);
            cpus.map(|cpus| reader.builder.meta_mut().machine.logical_cpus = Some(cpus)).is_some()
        }
        "stackFrames" => true,
        _ => false,
    };
    if !is_understood {
        reader.report.note(notes::METADATA, || format!("{}: {name:?}", table.place(row)));
    }
    if table.flags(row).has(EventFlags::BAD_ARGS) {
        reader.report.note(notes::BAD_ARGS, || table.place(row));
    }
}

fn add_label(labels: &mut Vec<String>, label: String) {
    if !label.is_empty() && !labels.contains(&label) && labels.len() < 16 {
        labels.push(label);
    }
}

/// Adds the processes and threads on which something is to the model, in the order in which they are shown.
pub(super) fn add(reader: &mut Reader<'_, '_>) {
    let most = most_threads(reader.table.text_len());
    let mut order: Vec<u32> = (0..index(reader.tracks.threads.len())).collect();
    order.retain(|thread| reader.tracks.threads[*thread as usize].is_used);
    let sort_index_of_process = |thread: &NamedThread| reader.tracks.processes[thread.process as usize].sort_index;
    order.sort_by(|a, b| {
        let (a, b) = (&reader.tracks.threads[*a as usize], &reader.tracks.threads[*b as usize]);
        let process = sort_index_of_process(a).total_cmp(&sort_index_of_process(b)).then(a.process.cmp(&b.process));
        process.then(a.sort_index.total_cmp(&b.sort_index))
    });
    let named = reader.tracks.threads.iter().filter(|thread| !thread.is_used && thread.name.is_some()).count();
    reader.report.count(notes::EMPTY_THREADS, named as u64, || "thread_name".to_owned());
    reader.builder.reserve_threads(order.len().min(most));
    for (count, index) in order.into_iter().enumerate() {
        let process = reader.tracks.threads[index as usize].process;
        let process = match reader.tracks.processes[process as usize].id {
            Some(process) => process,
            None => add_process(reader, process),
        };
        // What is left out is counted where it would be added.
        if count < most {
            add_thread(reader, index, process);
        }
    }
}

fn add_process(reader: &mut Reader<'_, '_>, index: u32) -> ProcessId {
    let process = &mut reader.tracks.processes[index as usize];
    let pid = process.pid.take().unwrap_or(OsId::Number(0));
    let name = match (&process.name, process.labels.is_empty()) {
        (Some(name), true) => name.clone(),
        (Some(name), false) => format!("{name} ({})", process.labels.join(", ")),
        (None, true) => format!("process {pid}"),
        (None, false) => process.labels.join(", "),
    };
    let name = reader.builder.string(&name);
    let id = reader.builder.add_process(Process::new(pid, name));
    process.id = Some(id);
    id
}

fn add_thread(reader: &mut Reader<'_, '_>, index: u32, process: ProcessId) {
    let thread = &mut reader.tracks.threads[index as usize];
    let tid = tid(reader.table, reader.table.thread_ids()[thread.ids as usize]);
    let name = match &thread.name {
        Some(name) => reader.builder.string(name),
        None => reader.builder.string(&format!("thread {tid}")),
    };
    let pid = &reader.builder.tables().processes[process.index()].pid;
    let is_main = *pid == tid;
    let mut added = Thread::new(process, tid, name);
    added.is_main = is_main;
    thread.id = Some(reader.builder.add_thread(added));
}

impl Reader<'_, '_> {
    /// The moment of event `row`, if it has a time.
    pub(super) fn time(&self, row: usize) -> Option<Time> {
        self.nanos(row).map(Time)
    }
}
