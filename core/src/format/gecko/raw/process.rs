//! The processes of a file. They are inside of each other; here they are met one after the other, each taken apart only
//! while its threads are converted.

use std::borrow::Cow;
use std::cell::OnceCell;

use rustc_hash::FxHashMap;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::super::schema::{Counter, Fields, Id, MarkerSchema, Meta, PausedRange, Row, Str, Thread};
use super::collect::Collector;
use super::counter::{self, MainThread};
use super::frames::{Code, Sources};
use super::libs::Libs;
use super::marker::Kinds;
use super::meta::{self, Schemas, word};
use super::notes::{
    COUNTERS_WITHOUT_THREAD, DEEP_PROCESS, LIB_WITHOUT_OFFSET, OVERHEAD_WITHOUT_THREAD, TOO_MANY_PAUSES,
    TOO_MANY_THREADS,
};
use super::schema::{Extension, Lib, Process, Thread as RawThread};
use super::strings::Strings;
use super::table::Table;
use super::thread::{OfProcess, complete_old, copy, kept, pid_text};
use super::{Embedded, File, ImportReport, PROCESSED_VERSION, ReadError, Text, upgrade};
use crate::format::room::most_threads;

/// How far processes are inside of each other at most. Firefox has one level, and each costs another look at what is in it.
const MAX_DEPTH: u8 = 8;

/// A file on its way.
pub(super) struct Converter<'r, 'a> {
    file: Text<'a>,
    embedded: &'a [Embedded],
    version: u64,
    /// Until it is its turn.
    root: Option<Process<'a>>,
    report: &'r mut ImportReport,
    children: Vec<Child<'a>>,
    kinds: Kinds,
    schemas: Vec<MarkerSchema<'a>>,
    collector: Collector<'a>,
    threads: Vec<Thread<'a>>,
    counters: Vec<Counter<'a>>,
    overhead: Vec<Value>,
    log: Map<String, Value>,
    pages: Vec<Fields<'a>>,
    unknown_pids: usize,
    /// The first main thread of each pid.
    main_threads: FxHashMap<String, Row>,
    /// How many pauses can still be given to threads: each thread has those of its process.
    pause_budget: usize,
}

/// Another process than the first. There can be many, so they are small.
struct Child<'a> {
    text: &'a str,
    /// What it is inside of: another child, or none.
    parent: u32,
    /// Which one of those in there.
    index: u32,
    depth: u8,
}

const NO_PARENT: u32 = u32::MAX;

/// What is known of a process besides what it says.
struct Place<'p, 'a> {
    /// The path to it, with a dot behind.
    at: &'p str,
    /// How much later than the first it began, in milliseconds.
    later: f64,
    libs: Option<&'a str>,
}

impl<'r, 'a> Converter<'r, 'a> {
    /// Looks at all processes, for what has to be known before the first thread.
    pub(super) fn new(
        file: Text<'a>,
        made: &'a OnceCell<Vec<Embedded>>,
        version: u64,
        mut root: Process<'a>,
        report: &'r mut ImportReport,
    ) -> Result<Self, ReadError> {
        let mut schemas = Schemas::default();
        schemas.add(root.meta.marker_schema.take().map(|list| list.0), "", report);
        let mut children: Vec<Child<'a>> = Vec::new();
        if version < 5 {
            let embedded = embedded(file, version, &root)?;
            made.get_or_init(|| embedded);
        } else {
            let mut waiting = Vec::new();
            push_children(file, &mut waiting, root.processes, "", NO_PARENT, 1)?;
            while let Some(child) = waiting.pop() {
                let at = path(&children, &child);
                let mut process: Process<'a> = file.parse(child.text, at.trim_end_matches('.'))?;
                schemas.add(process.meta.marker_schema.take().map(|list| list.0), &at, report);
                if child.depth < MAX_DEPTH {
                    let parent = u32::try_from(children.len()).unwrap_or(NO_PARENT);
                    push_children(file, &mut waiting, process.processes, &at, parent, child.depth + 1)?;
                } else if let Some(deeper) = process.processes {
                    file.for_each(deeper, &format!("{at}processes"), |_, _| {
                        report.note(DEEP_PROCESS, || format!("{at}processes"));
                        Ok(())
                    })?;
                }
                children.push(child);
            }
        }
        upgrade::categories(version, &mut root.meta.categories);
        Ok(Self {
            pause_budget: file.file.len() / 16,
            file,
            embedded: made.get().map_or(&[], Vec::as_slice),
            version,
            report,
            children,
            kinds: Kinds::of(&schemas.list, root.meta.categories.as_deref().unwrap_or_default()),
            schemas: schemas.list,
            root: Some(root),
            main_threads: FxHashMap::default(),
            collector: Collector::default(),
            threads: Vec::new(),
            counters: Vec::new(),
            overhead: Vec::new(),
            log: Map::new(),
            pages: Vec::new(),
            unknown_pids: 0,
        })
    }

    pub(super) fn convert(mut self) -> Result<File<'a>, ReadError> {
        let Some(mut root) = self.root.take() else { return Ok(File::default()) };
        let mut meta = std::mem::take(&mut root.meta);
        let extensions = self.extensions(&meta)?;
        let start = meta.start_time.unwrap_or(0.0);
        let gathering_log = root.profile_gathering_log;
        let embedded = self.embedded;
        let libs = embedded.first().and_then(|first| first.libs.as_deref());
        self.process(root, &meta, &Place { at: "", later: 0.0, libs })?;
        for process in embedded.iter().skip(1) {
            self.child(&process.text, &process.at, process.libs.as_deref(), start)?;
        }
        let children = std::mem::take(&mut self.children);
        for child in &children {
            self.child(child.text, &path(&children, child), None, start)?;
        }
        drop(children);
        meta.marker_schema = Some(self.schemas.into());
        meta.preprocessed_profile_version = Some(PROCESSED_VERSION);
        let is_symbolicated = meta.kept.iter().any(|(key, value)| key == "presymbolicated" && value.get() == "true");
        meta.kept
            .retain(|(key, _)| !matches!(&**key, "extensions" | "shutdownTime" | "presymbolicated" | "symbolicated"));
        meta.kept.extend(kept([
            ("extensions", extensions),
            ("symbolicated", word(if is_symbolicated { "true" } else { "false" }).map(Cow::Borrowed)),
        ]));
        let overhead = Some(self.overhead).filter(|overhead| !overhead.is_empty()).map(Value::Array);
        let log = Some(self.log).filter(|log| !log.is_empty()).map(Value::Object);
        let (libs, tables) = self.collector.finish();
        Ok(File {
            meta: Some(meta),
            libs: Some(libs.into()),
            counters: Some(self.counters.into()),
            threads: Some(self.threads.into()),
            shared: Some(tables),
            pages: Some(self.pages.into()),
            kept: kept([
                ("profilerOverhead", overhead.and_then(|overhead| made(&overhead))),
                ("profilingLog", log.and_then(|log| made(&log))),
                ("profileGatheringLog", gathering_log.map(Cow::Borrowed)),
            ]),
        })
    }

    fn child(&mut self, text: &'a str, at: &str, libs: Option<&'a str>, start: f64) -> Result<(), ReadError> {
        let mut process: Process<'a> = self.file.parse(text, at.trim_end_matches('.'))?;
        let meta = std::mem::take(&mut process.meta);
        let later = meta.start_time.map_or(0.0, |time| time - start);
        self.process(process, &meta, &Place { at, later, libs })
    }

    /// Makes the resources of extensions. Gives them as processed files have them.
    fn extensions(&mut self, meta: &Meta<'a>) -> Result<Option<Cow<'a, RawValue>>, ReadError> {
        let kept = meta.kept.iter().find(|(key, _)| key == "extensions");
        let Some((_, Cow::Borrowed(text))) = kept else { return Ok(None) };
        let table: Option<Table<Extension<'a>>> = self.file.parse(text.get(), "meta.extensions")?;
        let Some(table) = table else { return Ok(None) };
        for extension in &table.rows {
            self.collector.add_extension(extension);
        }
        Ok(made(&meta::extensions(&table)))
    }

    fn process(&mut self, process: Process<'a>, meta: &Meta<'a>, place: &Place<'_, 'a>) -> Result<(), ReadError> {
        let Place { at, later, libs } = *place;
        let libs = match (libs, process.libs) {
            (Some(text), _) => self.file.parse(text, &format!("{at}libs"))?,
            (None, Some(libs)) => {
                let libs: Option<Vec<Lib<'a>>> = self.file.parse(libs.get(), &format!("{at}libs"))?;
                libs.unwrap_or_default()
            }
            (None, None) => Vec::new(),
        };
        let libs = Libs::new(libs);
        self.report.count(LIB_WITHOUT_OFFSET, libs.without_offset() as u64, || format!("{at}libs"));
        let sources = Sources::new(process.sources.unwrap_or_default().rows);
        let dictionary = process.js_tracer_dictionary.map(Strings::new);
        let of_process = OfProcess {
            code: Code { version: self.version, libs: &libs, abi: meta.abi.as_ref(), sources: &sources },
            shutdown_time: shutdown_time(meta),
            tracer_dictionary: dictionary.as_ref(),
            later,
        };
        let pauses = process.paused_ranges.as_deref().unwrap_or_default();
        let mut main = None;
        let file = self.file;
        file.for_each(process.threads, &format!("{at}threads"), |index, text| {
            if is_embedded(self.version, text.get()) {
                return Ok(());
            }
            let at = format!("{at}threads[{index}]");
            let main_thread = self.thread(&of_process, text.get(), pauses, &at)?;
            main = main.take().or(main_thread);
            Ok(())
        })?;
        let counters = process.counters.unwrap_or_default();
        match &main {
            Some(main) => {
                for (index, counter) in counters.into_iter().enumerate() {
                    let at = format!("{at}counters[{index}]");
                    self.counters.extend(counter::process(self.file, counter, main, later, &at)?);
                }
            }
            None => self.report.count(COUNTERS_WITHOUT_THREAD, counters.len() as u64, || format!("{at}counters")),
        }
        match (&process.profiler_overhead, &main) {
            (Some(overhead), Some(main)) => self.overhead.push(counter::overhead(overhead, main, later)),
            (Some(_), None) => self.report.note(OVERHEAD_WITHOUT_THREAD, || format!("{at}profilerOverhead")),
            (None, _) => {}
        }
        self.pages.extend(process.pages.into_iter().flatten());
        if let Some(log) = process.profiling_log
            && let Ok(Value::Object(log)) = serde_json::from_str(log.get())
        {
            self.log.extend(log);
        }
        Ok(())
    }

    /// Converts a thread. Gives the main thread of its process if it is one: with the pid of an earlier process that one's.
    fn thread(
        &mut self,
        of_process: &OfProcess<'_, 'a>,
        text: &'a str,
        pauses: &[PausedRange<'a>],
        at: &str,
    ) -> Result<Option<MainThread>, ReadError> {
        // Each is larger before it goes into the model than there.
        if self.threads.len() >= most_threads(self.file.file.len() / 2) {
            self.report.note(TOO_MANY_THREADS, || at.to_owned());
            return Ok(None);
        }
        let mut thread: RawThread<'a> = self.file.parse(text, at)?;
        complete_old(self.version, &mut thread);
        let pid = pid_text(thread.pid, &mut self.unknown_pids);
        thread.pid = Id::Text(pid.clone());
        let mut thread = of_process.process(&mut self.collector, &self.kinds, thread, at, self.report);
        match self.pause_budget.checked_sub(pauses.len()) {
            Some(left) => {
                self.pause_budget = left;
                thread.paused_ranges = Some(pauses.iter().map(copy).collect());
            }
            None => self.report.count(TOO_MANY_PAUSES, pauses.len() as u64, || at.to_owned()),
        }
        let is_main = thread.name.as_ref().is_some_and(|name| name.0 == "GeckoMain");
        let row = u32::try_from(self.threads.len()).map_or(Row::BAD, Row);
        self.threads.push(thread);
        Ok(is_main.then(|| MainThread { row: *self.main_threads.entry(pid.clone()).or_insert(row), pid }))
    }
}

/// A value as text, to be kept.
fn made<'a>(value: &Value) -> Option<Cow<'a, RawValue>> {
    serde_json::value::to_raw_value(value).ok().map(Cow::Owned)
}

/// The path to a process, with a dot behind.
fn path(children: &[Child<'_>], child: &Child<'_>) -> String {
    let mut path = format!("processes[{}].", child.index);
    let mut next = child.parent;
    while let Some(parent) = children.get(next as usize) {
        path.insert_str(0, &format!("processes[{}].", parent.index));
        next = parent.parent;
    }
    path
}

/// Puts processes on a stack so that the first is taken first.
fn push_children<'a>(
    file: Text<'a>,
    waiting: &mut Vec<Child<'a>>,
    processes: Option<&'a RawValue>,
    at: &str,
    parent: u32,
    depth: u8,
) -> Result<(), ReadError> {
    let first = waiting.len();
    if let Some(processes) = processes {
        file.for_each(processes, &format!("{at}processes"), |index, text| {
            let index = u32::try_from(index).unwrap_or(u32::MAX);
            waiting.push(Child { text: text.get(), parent, index, depth });
            Ok(())
        })?;
    }
    waiting[first..].reverse();
    Ok(())
}

fn shutdown_time(meta: &Meta<'_>) -> Option<f64> {
    let (_, text) = meta.kept.iter().find(|(key, _)| key == "shutdownTime")?;
    serde_json::from_str(text.get()).ok()
}

/// Whether an entry of the threads is another process.
fn is_embedded(version: u64, entry: &str) -> bool {
    version < 5 && entry.starts_with('"')
}

/// The first process and those that are strings in it, and in those.
fn embedded<'a>(file: Text<'a>, version: u64, root: &Process<'a>) -> Result<Vec<Embedded>, ReadError> {
    let mut found = vec![Embedded { libs: libs_text(version, root)?, ..Embedded::default() }];
    let mut next = strings_in(file, version, root, "")?;
    // Each level doubles the escapes, so that there cannot be many.
    while !next.is_empty() {
        let mut deeper = Vec::new();
        for (text, at) in next {
            let file = Text { file: &text };
            let process: Process<'_> = file.parse(&text, &at).map_err(|error| inside(&at, &error))?;
            deeper.extend(strings_in(file, version, &process, &at).map_err(|error| inside(&at, &error))?);
            let libs = libs_text(version, &process)?;
            drop(process);
            found.push(Embedded { text, at, libs });
        }
        next = deeper;
    }
    Ok(found)
}

fn inside(at: &str, error: &ReadError) -> ReadError {
    ReadError::Value {
        path: at.trim_end_matches('.').to_owned(),
        message: format!("in the text of the string: {error}"),
    }
}

fn strings_in<'a>(
    file: Text<'a>,
    version: u64,
    process: &Process<'a>,
    at: &str,
) -> Result<Vec<(String, String)>, ReadError> {
    let mut found = Vec::new();
    file.for_each(process.threads, &format!("{at}threads"), |index, entry| {
        if is_embedded(version, entry.get()) {
            let at = format!("{at}threads[{index}].");
            let text: Str<'_> = file.parse(entry.get(), at.trim_end_matches('.'))?;
            found.push((text.0.into_owned(), at));
        }
        Ok(())
    })?;
    Ok(found)
}

fn libs_text(version: u64, process: &Process<'_>) -> Result<Option<String>, ReadError> {
    let Some(libs) = process.libs.filter(|libs| version < 4 && libs.get().starts_with('"')) else { return Ok(None) };
    let text: Result<Str<'_>, _> = serde_json::from_str(libs.get());
    let text = text.map_err(|error| ReadError::Value { path: "libs".to_owned(), message: error.to_string() })?;
    Ok(Some(text.0.into_owned()))
}
