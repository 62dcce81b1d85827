//! The processes of a file. They are inside of each other; here they are met one after the other, each taken apart only
//! while its threads are converted.

use serde_json::{Map, Value};

use super::super::schema::{Category, Counter, MarkerSchema, Meta, Page, Row, Str, Thread};
use super::collect::Collector;
use super::counter::{self, MainThread};
use super::frames::Code;
use super::libs::Libs;
use super::marker::Kinds;
use super::meta::{self, Schemas};
use super::notes::{COUNTERS_WITHOUT_THREAD, DEEP_PROCESS, LIB_WITHOUT_OFFSET, OVERHEAD_WITHOUT_THREAD};
use super::schema::{Extension, Lib, Process};
use super::table::Table;
use super::thread::{OfProcess, complete_old, kept, pid_text};
use super::{Embedded, File, ImportReport, Made, PROCESSED_VERSION, ReadError, Text, upgrade};

/// How far processes are inside of each other at most. Firefox has one level, and each costs another look at what is in it.
const MAX_DEPTH: usize = 8;

/// A file on its way.
pub(super) struct Converter<'r, 'a> {
    file: Text<'a>,
    made: &'a Made,
    version: u64,
    root: Process<'a>,
    report: &'r mut ImportReport,
    children: Vec<Child<'a>>,
    kinds: Kinds,
    schemas: Vec<MarkerSchema<'a>>,
    collector: Collector<'a>,
    threads: Vec<Thread<'a>>,
    counters: Vec<Counter<'a>>,
    overhead: Vec<Value>,
    log: Map<String, Value>,
    pages: Vec<Page<'a>>,
    unknown_pids: usize,
}

/// Another process than the first.
struct Child<'a> {
    text: &'a str,
    at: String,
    depth: usize,
    /// Its libraries, where they are text of their own.
    libs: Option<&'a str>,
}

/// What is known of a process besides what it says.
struct Place<'p, 'a> {
    /// The path to it, with a dot behind.
    at: &'p str,
    /// How much later than the first it began, in milliseconds.
    later: f64,
    libs: Option<&'a str>,
    categories: &'p [Category<'a>],
}

impl<'r, 'a> Converter<'r, 'a> {
    /// Looks at all processes, for what has to be known before the first thread.
    pub(super) fn new(
        file: Text<'a>,
        made: &'a Made,
        version: u64,
        mut root: Process<'a>,
        report: &'r mut ImportReport,
    ) -> Result<Self, ReadError> {
        let mut schemas = Schemas::default();
        schemas.add(version, root.meta.marker_schema.take(), "", report);
        let mut children = Vec::new();
        if version < 5 {
            let embedded = embedded(version, &root)?;
            let embedded = made.embedded.get_or_init(|| embedded);
            children.extend(embedded.iter().skip(1).map(|process| Child {
                text: &process.text,
                at: process.at.clone(),
                depth: 1,
                libs: process.libs.as_deref(),
            }));
        } else {
            let mut waiting = Vec::new();
            push_children(&mut waiting, root.processes.take(), "", 1);
            while let Some(child) = waiting.pop() {
                let mut process: Process<'a> = file.parse(child.text, child.at.trim_end_matches('.'))?;
                schemas.add(version, process.meta.marker_schema.take(), &child.at, report);
                if child.depth < MAX_DEPTH {
                    push_children(&mut waiting, process.processes.take(), &child.at, child.depth + 1);
                } else {
                    let count = process.processes.map_or(0, |inner| inner.len());
                    report.count(DEEP_PROCESS, count as u64, || format!("{}processes", child.at));
                }
                children.push(child);
            }
        }
        upgrade::categories(version, &mut root.meta.categories);
        Ok(Self {
            file,
            made,
            version,
            root,
            report,
            children,
            kinds: Kinds::of(&schemas.list),
            schemas: schemas.list,
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
        let extensions = self.extensions()?;
        let mut root = std::mem::replace(&mut self.root, empty());
        let start = root.meta.start_time.unwrap_or(0.0);
        let gathering_log = root.profile_gathering_log;
        let root_libs = self.made.embedded.get().and_then(|embedded| embedded.first()?.libs.as_deref());
        let mut meta = std::mem::take(&mut root.meta);
        let categories = meta.categories.take().unwrap_or_default();
        let place = Place { at: "", later: 0.0, libs: root_libs, categories: &categories };
        self.process(root, &meta, &place)?;
        for child in std::mem::take(&mut self.children) {
            let mut process: Process<'a> = self.file.parse(child.text, &child.at)?;
            let of_child = std::mem::take(&mut process.meta);
            let later = of_child.start_time.map_or(0.0, |time| time - start);
            let place = Place { at: &child.at, later, libs: child.libs, categories: &categories };
            self.process(process, &of_child, &place)?;
        }
        meta.categories = Some(categories);
        meta.marker_schema = Some(self.schemas);
        meta.preprocessed_profile_version = Some(PROCESSED_VERSION);
        let is_symbolicated = meta.kept.iter().any(|(key, value)| key == "presymbolicated" && value.get() == "true");
        meta.kept
            .retain(|(key, _)| !matches!(&**key, "extensions" | "shutdownTime" | "presymbolicated" | "symbolicated"));
        meta.kept.extend(kept([
            ("extensions", extensions.then(|| self.made.extensions.get().map(|text| &**text)).flatten()),
            ("symbolicated", meta::word(if is_symbolicated { "true" } else { "false" })),
        ]));
        let overhead = Some(self.overhead).filter(|overhead| !overhead.is_empty());
        let overhead = overhead.and_then(|overhead| serde_json::value::to_raw_value(&overhead).ok());
        let log = Some(self.log).filter(|log| !log.is_empty());
        let log = log.and_then(|log| serde_json::value::to_raw_value(&log).ok());
        let (libs, tables) = self.collector.finish();
        Ok(File {
            meta: Some(meta),
            libs: Some(libs),
            counters: Some(self.counters),
            threads: Some(self.threads),
            shared: Some(tables),
            pages: Some(self.pages),
            kept: kept([
                ("profilerOverhead", overhead.map(|text| &**self.made.overhead.get_or_init(|| text))),
                ("profilingLog", log.map(|text| &**self.made.log.get_or_init(|| text))),
                ("profileGatheringLog", gathering_log),
            ]),
        })
    }

    /// Makes the resources of extensions.
    fn extensions(&mut self) -> Result<bool, ReadError> {
        let kept = self.root.meta.kept.iter().find(|(key, _)| key == "extensions");
        let Some(text) = kept.map(|(_, text)| text.get()).filter(|text| *text != "null") else { return Ok(false) };
        let table: Table<Extension<'a>> = self.file.parse(text, "meta.extensions")?;
        for extension in &table.rows {
            self.collector.add_extension(extension);
        }
        if let Some(columns) = meta::extensions(&table) {
            self.made.extensions.get_or_init(|| columns);
        }
        Ok(true)
    }

    fn process(&mut self, process: Process<'a>, meta: &Meta<'a>, place: &Place<'_, 'a>) -> Result<(), ReadError> {
        let Place { at, later, libs, categories } = *place;
        let libs = match (libs, process.libs) {
            (Some(text), _) => self.file.parse(text, &format!("{at}libs"))?,
            (None, Some(libs)) => {
                self.file.parse::<Option<Vec<Lib<'a>>>>(libs.get(), &format!("{at}libs"))?.unwrap_or_default()
            }
            (None, None) => Vec::new(),
        };
        let libs = Libs::new(libs);
        self.report.count(LIB_WITHOUT_OFFSET, libs.without_offset() as u64, || format!("{at}libs"));
        let sources = process.sources.unwrap_or_default();
        let first = self.threads.len();
        let of_process = OfProcess {
            code: Code { version: self.version, libs: &libs, abi: meta.abi.as_ref(), sources: &sources.rows },
            kinds: &self.kinds,
            categories,
            paused_ranges: process.paused_ranges.as_deref().unwrap_or_default(),
            shutdown_time: shutdown_time(meta),
            tracer_dictionary: process.js_tracer_dictionary.as_deref(),
            later,
        };
        for (index, text) in process.threads.into_iter().enumerate() {
            if is_embedded(self.version, text.get()) {
                continue;
            }
            let at = format!("{at}threads[{index}]");
            let mut thread: super::schema::Thread<'a> = self.file.parse(text.get(), &at)?;
            complete_old(self.version, &mut thread);
            thread.pid = pid_text(thread.pid, &mut self.unknown_pids);
            let thread = of_process.process(&mut self.collector, thread, &at, self.report);
            self.threads.push(thread);
        }
        let main = self.main_thread(first);
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
        for mut page in process.pages.into_iter().flatten() {
            page.tab_id = page.tab_id.or(page.browsing_context_id.take());
            self.pages.push(page);
        }
        if let Some(log) = process.profiling_log
            && let Ok(Value::Object(log)) = serde_json::from_str(log.get())
        {
            self.log.extend(log);
        }
        Ok(())
    }

    /// The main thread of the process whose threads are those from `first` on. With the pid of an earlier process it is
    /// that one's.
    fn main_thread(&self, first: usize) -> Option<MainThread> {
        let is_main = |thread: &&Thread<'_>| thread.name.as_ref().is_some_and(|name| name.0 == "GeckoMain");
        let pid = &self.threads[first..].iter().find(is_main)?.pid;
        let row = self.threads.iter().position(|thread| is_main(&thread) && thread.pid == *pid)?;
        Some(MainThread { pid: pid.clone(), row: u32::try_from(row).map_or(Row::BAD, Row) })
    }
}

fn empty<'a>() -> Process<'a> {
    Process {
        meta: Meta::default(),
        libs: None,
        threads: Vec::new(),
        processes: None,
        counters: None,
        profiler_overhead: None,
        pages: None,
        paused_ranges: None,
        sources: None,
        js_tracer_dictionary: None,
        profiling_log: None,
        profile_gathering_log: None,
    }
}

/// Puts processes on a stack so that the first is taken first.
fn push_children<'a>(
    waiting: &mut Vec<Child<'a>>,
    processes: Option<Vec<&'a serde_json::value::RawValue>>,
    at: &str,
    depth: usize,
) {
    let processes = processes.unwrap_or_default();
    for (index, process) in processes.into_iter().enumerate().rev() {
        waiting.push(Child { text: process.get(), at: format!("{at}processes[{index}]."), depth, libs: None });
    }
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
fn embedded(version: u64, root: &Process<'_>) -> Result<Vec<Embedded>, ReadError> {
    let mut found = vec![Embedded { libs: libs_text(version, root)?, ..Embedded::default() }];
    let mut next = strings_in(version, root, "")?;
    // Each level doubles the escapes, so that there cannot be many.
    while !next.is_empty() {
        let mut deeper = Vec::new();
        for (text, at) in next {
            let process: Process<'_> = Text { file: &text }.parse(&text, &at).map_err(|error| inside(&at, &error))?;
            deeper.extend(strings_in(version, &process, &at)?);
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

fn strings_in(version: u64, process: &Process<'_>, at: &str) -> Result<Vec<(String, String)>, ReadError> {
    let mut found = Vec::new();
    for (index, entry) in process.threads.iter().enumerate() {
        if is_embedded(version, entry.get()) {
            let at = format!("{at}threads[{index}].");
            let text: Str<'_> = serde_json::from_str(entry.get()).map_err(|error| ReadError::Value {
                path: at.trim_end_matches('.').to_owned(),
                message: error.to_string(),
            })?;
            found.push((text.0.into_owned(), at));
        }
    }
    Ok(found)
}

fn libs_text(version: u64, process: &Process<'_>) -> Result<Option<String>, ReadError> {
    let Some(libs) = process.libs.filter(|libs| version < 4 && libs.get().starts_with('"')) else { return Ok(None) };
    let text: Result<Str<'_>, _> = serde_json::from_str(libs.get());
    let text = text.map_err(|error| ReadError::Value { path: "libs".to_owned(), message: error.to_string() })?;
    Ok(Some(text.0.into_owned()))
}
