//! Labels of the file to processes, threads and labels of the model.

use rustc_hash::FxHashMap;

use super::super::super::import_report::Note;
use super::super::schema;
use super::Maker;
use super::libraries::Libraries;
use super::values::Columns;
use crate::model::{Label, LabelSetId, LabelValue, OsId, Process, ProcessId, StringId, Thread, ThreadId};

const NO_VALUE: Note = Note { code: "label-without-value", message: "labels without a text or number are left out" };
const TWO_VALUES: Note =
    Note { code: "label-two-values", message: "labels have a text and a number; the text is kept" };
const MANY_THREADS: Note = Note {
    code: "too-many-threads",
    message: "the labels of samples name more threads than can be told apart; the others are one, \"other threads\"",
};

/// What labels can say of the thread of a sample, and the keys that they do it with, the best first. Where a tool calls
/// both process and thread `comm`, the thread's is `thread_comm`.
const KEYS: [(Role, &[&str]); 4] = [
    (Role::ThreadName, &["thread_name", "thread name", "thread_comm", "thread"]),
    (Role::Tid, &["tid", "thread_id", "thread id", "thread"]),
    (Role::Pid, &["pid", "process_id", "process id"]),
    (Role::ProcessName, &["comm", "process_name", "process name"]),
];

/// Beyond this many, labels of samples are labels and nothing else: a thread takes more memory than a label in a file.
const MOST_THREADS: usize = 10_000;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Role {
    ThreadName,
    Tid,
    Pid,
    ProcessName,
}

/// Which thread samples are of.
pub(super) struct Threads {
    /// By their labels.
    known: FxHashMap<Box<[schema::Label]>, Owner>,
    unlabelled: Option<Owner>,
    processes: FxHashMap<(OsId, StringId), ProcessId>,
    threads: FxHashMap<(ProcessId, OsId, StringId), ThreadId>,
    /// The thread of all samples whose thread is one too many.
    others: Option<ThreadId>,
    /// What a process is called that has no name of its own.
    program: StringId,
}

/// Whose a sample is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Owner {
    pub thread: ThreadId,
    /// Its labels that do not name the thread.
    pub labels: Option<LabelSetId>,
}

/// What the labels of a sample say of its thread.
#[derive(Default)]
struct Named {
    thread_name: Option<StringId>,
    tid: Option<OsId>,
    pid: Option<OsId>,
    process_name: Option<StringId>,
}

impl Threads {
    pub(super) fn new(program: StringId) -> Self {
        let (known, processes, threads) = (FxHashMap::default(), FxHashMap::default(), FxHashMap::default());
        Self { known, unlabelled: None, processes, threads, others: None, program }
    }

    /// How many different labels of samples were seen.
    pub(super) fn known(&self) -> usize {
        self.known.len()
    }

    /// Whose the sample with these labels is.
    pub(super) fn owner(
        &mut self,
        labels: &[schema::Label],
        columns: &Columns,
        maker: &mut Maker<'_>,
        place: impl Fn() -> String,
    ) -> Owner {
        let known = if labels.is_empty() { self.unlabelled.as_ref() } else { self.known.get(labels) };
        if let Some(owner) = known {
            return *owner;
        }
        let owner = self.add(labels, columns, maker, place);
        if labels.is_empty() {
            self.unlabelled = Some(owner);
        } else {
            self.known.insert(labels.into(), owner);
        }
        owner
    }

    /// The mappings of the file become those of its first process.
    pub(super) fn add_mappings(&mut self, libraries: &mut Libraries, maker: &mut Maker<'_>) {
        if self.processes.is_empty() {
            self.process(OsId::Text("".into()), None, maker);
        }
        libraries.add_mappings(ProcessId::new(0), &mut maker.builder);
    }

    fn add(
        &mut self,
        labels: &[schema::Label],
        columns: &Columns,
        maker: &mut Maker<'_>,
        place: impl Fn() -> String,
    ) -> Owner {
        let mut set = Vec::new();
        for label in labels {
            let key = maker.text(label.key);
            let value = match (label.str, label.num, label.num_unit) {
                (0, 0, 0) => {
                    maker.report.note(NO_VALUE, || format!("{}: {:?}", place(), maker.texts.get(label.key)));
                    continue;
                }
                (0, number, unit) => LabelValue::Number(number, (unit != 0).then(|| maker.text(unit))),
                (text, number, _) => {
                    if number != 0 {
                        maker.report.note(TWO_VALUES, || format!("{}: {:?}", place(), maker.texts.get(label.key)));
                    }
                    LabelValue::Text(maker.text(text))
                }
            };
            set.push(Label { key, value });
        }
        let mut rest = set.clone();
        let named = take_names(&mut rest, maker);
        let thread = match self.thread(named, columns, maker) {
            Some(thread) => {
                set = rest;
                thread
            }
            None => {
                maker.report.note(MANY_THREADS, place);
                self.others(columns, maker)
            }
        };
        Owner { thread, labels: (!set.is_empty()).then(|| maker.builder.label_set(set)) }
    }

    fn thread(&mut self, named: Named, columns: &Columns, maker: &mut Maker<'_>) -> Option<ThreadId> {
        let no_id = || OsId::Text("".into());
        let is_anonymous = named.tid.is_none() && named.thread_name.is_none();
        let tid = named.tid.unwrap_or_else(no_id);
        let pid = named.pid.unwrap_or_else(no_id);
        let is_full = self.threads.len() == MOST_THREADS;
        // A new process would have a new thread.
        let process_name = named.process_name.unwrap_or(self.program);
        if is_full && !self.processes.contains_key(&(pid.clone(), process_name)) {
            return None;
        }
        let process = self.process(pid, named.process_name, maker);
        let name = named.thread_name.unwrap_or_else(|| {
            if is_anonymous {
                maker.builder.tables().processes[process.index()].name
            } else {
                maker.builder.string(&format!("thread {tid}"))
            }
        });
        let key = (process, tid.clone(), name);
        if let Some(known) = self.threads.get(&key) {
            return Some(*known);
        }
        if is_full {
            return None;
        }
        let id = add_thread(Thread::new(process, tid, name), columns, maker);
        self.threads.insert(key, id);
        Some(id)
    }

    fn others(&mut self, columns: &Columns, maker: &mut Maker<'_>) -> ThreadId {
        *self.others.get_or_insert_with(|| {
            let name = maker.builder.string("other threads");
            add_thread(Thread::new(ProcessId::new(0), OsId::Text("".into()), name), columns, maker)
        })
    }

    fn process(&mut self, pid: OsId, name: Option<StringId>, maker: &mut Maker<'_>) -> ProcessId {
        let name = name.unwrap_or(self.program);
        let builder = &mut maker.builder;
        *self.processes.entry((pid.clone(), name)).or_insert_with(|| builder.add_process(Process::new(pid, name)))
    }
}

fn add_thread(thread: Thread, columns: &Columns, maker: &mut Maker<'_>) -> ThreadId {
    maker.builder.add_thread(Thread { timed: false, samples: columns.table(), ..thread })
}

/// Takes those of `labels` out that name the thread.
fn take_names(labels: &mut Vec<Label>, maker: &mut Maker<'_>) -> Named {
    let mut named = Named::default();
    for (role, keys) in KEYS {
        for key in keys {
            let strings = &maker.builder.tables().strings;
            // The same key can be a name in one tool and a number in another.
            let is_meant = |label: &Label| {
                strings.get(label.key) == *key
                    && match label.value {
                        LabelValue::Text(_) => role != Role::Tid || *key != "thread",
                        LabelValue::Number(..) => matches!(role, Role::Tid | Role::Pid),
                    }
            };
            let Some(found) = labels.iter().position(is_meant) else { continue };
            let value = labels.remove(found).value;
            match (role, value) {
                (Role::ThreadName, LabelValue::Text(text)) => named.thread_name = Some(text),
                (Role::ProcessName, LabelValue::Text(text)) => named.process_name = Some(text),
                (Role::Tid, value) => named.tid = Some(os_id(value, strings)),
                (Role::Pid, value) => named.pid = Some(os_id(value, strings)),
                (Role::ThreadName | Role::ProcessName, LabelValue::Number(..)) => {}
            }
            break;
        }
    }
    named
}

/// A number, also where a tool wrote it as text.
fn os_id(value: LabelValue, strings: &crate::model::StringTable) -> OsId {
    let text = match value {
        LabelValue::Number(number, _) => return OsId::Number(number),
        LabelValue::Text(text) => strings.get(text),
    };
    match text.parse::<i64>() {
        Ok(number) if number.to_string() == text => OsId::Number(number),
        _ => OsId::Text(text.into()),
    }
}
