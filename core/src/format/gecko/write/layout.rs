//! How a profile is laid out in its file: what is added, merged or renamed because the format demands it.

use rustc_hash::{FxHashMap, FxHashSet};

use super::super::names::RESERVED_TYPES;
use super::super::read::VERSION_PATH;
use super::flows::FlowFields;
use super::kept::is_json;
use crate::model::{
    CategoryId, Color, FunctionId, FunctionKind, MarkerField, MarkerSchemaId, Nanos, Profile, SourceLocationId,
    StackId, StringId, Thread, Time, TimeRange, Wait, WaitReason, Warning,
};

/// The type of the markers that slices are shown as.
pub(super) const SLICE_TYPE: &str = "tv-Slice";
/// The type of markers with data but without a schema.
pub(super) const PLAIN_TYPE: &str = "tv-Marker";

/// Categories of a file are stored in bytes; two are kept free for those that may have to be added.
const MAX_OWN_CATEGORIES: usize = 254;

/// The layout of one file. Its added rows grow while threads are written, so the shared tables come last.
pub(super) struct Layout<'a> {
    pub profile: &'a Profile,
    /// How many of the profile's categories the file has.
    pub own_categories: usize,
    /// Name and colour of the categories behind them.
    pub added_categories: Vec<(&'static str, Color)>,
    /// The default category.
    pub grey: u32,
    idle: u32,
    pub schema_names: Vec<String>,
    /// Of each schema, the field with a key.
    schema_fields: Vec<FxHashMap<StringId, &'a MarkerField>>,
    pub functions: Vec<FileFunction>,
    /// The file's row of each function.
    pub function_rows: Vec<u32>,
    function_index: FxHashMap<FunctionKey, u32>,
    /// Strings behind the profile's own.
    pub added_strings: Vec<String>,
    string_index: FxHashMap<String, u32>,
    /// The function (row of the file) of each frame behind the profile's own; its category is Idle.
    pub added_frames: Vec<u32>,
    frame_index: FxHashMap<u32, u32>,
    /// Caller and frame of each stack behind the profile's own.
    pub added_stacks: Vec<(Option<StackId>, u32)>,
    stack_index: FxHashMap<(Option<StackId>, u32), u32>,
    /// The pid of each process, made unique.
    pub pids: Vec<String>,
    /// Whether each thread is the one main thread of its process.
    pub main_threads: Vec<bool>,
    /// From the first to the last moment of the file.
    pub extent: TimeRange,
    pub interval: Nanos,
    /// Whether the profile was read from a Firefox profile: then it is as such tools want it.
    pub of_firefox: bool,
    kept: FxHashMap<&'a str, &'a str>,
    pub flows: FlowFields,
    pub repairs: Vec<Warning>,
}

/// A row of the file's function table. Several functions of the model share one where they differ only in what the
/// format does not know: two rows would be two nodes of the call tree.
#[derive(Clone, Copy)]
pub(super) struct FileFunction {
    pub name: u32,
    pub resource: Option<u32>,
    pub source: Option<u32>,
    pub line: Option<u32>,
    pub column: Option<u32>,
    pub script: bool,
    pub relevant_for_script: bool,
    pub original_location: Option<SourceLocationId>,
}

/// What makes two functions one to other tools: name, resource, source, line.
type FunctionKey = (u32, Option<u32>, Option<u32>, Option<u32>);

impl<'a> Layout<'a> {
    pub(super) fn new(profile: &'a Profile) -> Self {
        let own_categories = profile.categories.len().min(MAX_OWN_CATEGORIES);
        let interval = profile.meta.interval.filter(|interval| interval.0 > 0).unwrap_or(Nanos(1_000_000));
        let mut layout = Self {
            profile,
            own_categories,
            added_categories: Vec::new(),
            grey: 0,
            idle: 0,
            schema_names: Vec::new(),
            schema_fields: schema_fields(profile),
            functions: Vec::new(),
            function_rows: Vec::new(),
            function_index: FxHashMap::default(),
            added_strings: Vec::new(),
            string_index: FxHashMap::default(),
            added_frames: Vec::new(),
            frame_index: FxHashMap::default(),
            added_stacks: Vec::new(),
            stack_index: FxHashMap::default(),
            pids: unique_pids(profile),
            main_threads: main_threads(profile),
            extent: extent(profile, interval),
            interval,
            of_firefox: profile.kept.iter().any(|kept| &*kept.path == VERSION_PATH),
            kept: kept(profile),
            flows: FlowFields::default(),
            repairs: Vec::new(),
        };
        layout.place_categories();
        layout.name_schemas();
        layout.merge_functions();
        layout.place_flows();
        layout.report_threads();
        layout
    }

    /// The file's row of a category.
    pub(super) fn category(&self, category: CategoryId) -> u32 {
        if category.index() < self.own_categories { row(category.index()) } else { self.grey }
    }

    /// The file's stack of a wait: what the thread had called, and why it did not go on as the innermost frame.
    pub(super) fn wait_stack(&mut self, wait: &Wait) -> u32 {
        let profile = self.profile;
        let label = match (wait.reason, wait.syscall) {
            (WaitReason::Blocked, Some(syscall)) => profile.string(syscall),
            (WaitReason::Blocked, None) => "(waiting)",
            (WaitReason::Runnable, _) => "(waiting for a CPU)",
            (WaitReason::Stopped, _) => "(stopped)",
        };
        let name = self.string(label);
        let function = self.function(FileFunction {
            name,
            resource: None,
            source: None,
            line: None,
            column: None,
            script: false,
            relevant_for_script: false,
            original_location: None,
        });
        let frames = profile.frames.len();
        let frame = *self.frame_index.entry(function).or_insert_with(|| {
            self.added_frames.push(function);
            row(frames + self.added_frames.len() - 1)
        });
        *self.stack_index.entry((wait.stack, frame)).or_insert_with(|| {
            self.added_stacks.push((wait.stack, frame));
            row(profile.stacks.len() + self.added_stacks.len() - 1)
        })
    }

    /// What a schema says of the field with this key.
    pub(super) fn schema_field(&self, schema: MarkerSchemaId, key: StringId) -> Option<&'a MarkerField> {
        self.schema_fields[schema.index()].get(&key).copied()
    }

    /// What the profile keeps at `path` as JSON.
    pub(super) fn kept(&self, path: &str) -> Option<&'a str> {
        self.kept.get(path).copied()
    }

    /// The category of the frames that waits end in.
    pub(super) fn idle(&self) -> u32 {
        self.idle
    }

    /// The file's thread that a process is shown by.
    pub(super) fn main_thread_of(&self, process: usize) -> Option<usize> {
        let threads = self.profile.threads.iter().zip(&self.main_threads);
        threads.clone().position(|(thread, main)| *main && thread.process.index() == process)
    }

    pub(super) fn has_slices(&self) -> bool {
        self.profile.threads.iter().any(|thread| !thread.slices.is_empty())
    }

    /// Notes that something had to be changed.
    pub(super) fn repaired(&mut self, code: &str, message: &str, count: u64, first: Option<String>) {
        if count > 0 {
            let (code, message) = (code.to_owned(), message.to_owned());
            self.repairs.push(Warning { code, message, count, first });
        }
    }

    pub(super) fn string(&mut self, text: &str) -> u32 {
        if let Some(id) = self.profile.strings.find(text) {
            return row(id.index());
        }
        if let Some(index) = self.string_index.get(text) {
            return *index;
        }
        let index = row(self.profile.strings.len() + self.added_strings.len());
        self.added_strings.push(text.to_owned());
        self.string_index.insert(text.to_owned(), index);
        index
    }

    fn function(&mut self, function: FileFunction) -> u32 {
        let key = (function.name, function.resource, function.source, function.line);
        *self.function_index.entry(key).or_insert_with(|| {
            self.functions.push(function);
            row(self.functions.len() - 1)
        })
    }

    fn place_categories(&mut self) {
        let own = &self.profile.categories[..self.own_categories];
        let mut place = |known: Option<usize>, name, color| {
            row(known.unwrap_or_else(|| {
                self.added_categories.push((name, color));
                own.len() + self.added_categories.len() - 1
            }))
        };
        let grey = place(own.iter().position(|category| category.color == Color::Grey), "Other", Color::Grey);
        let idle = own.iter().position(|category| self.profile.string(category.name) == "Idle");
        let waits = self.profile.threads.iter().any(shows_waits);
        let idle = if idle.is_some() || waits { place(idle, "Idle", Color::Transparent) } else { grey };
        (self.grey, self.idle) = (grey, idle);
    }

    fn name_schemas(&mut self) {
        let mut taken: FxHashSet<String> = [SLICE_TYPE, PLAIN_TYPE].map(str::to_owned).into_iter().collect();
        let (mut renamed, mut first) = (0, None);
        for schema in &self.profile.marker_schemas {
            let name = self.profile.string(schema.name);
            let reserved = RESERVED_TYPES.contains(&name) && !self.of_firefox;
            let base = if reserved { format!("tv-{name}") } else { name.to_owned() };
            let unique = make_unique(&base, |candidate| taken.contains(candidate));
            if unique != name {
                renamed += 1;
                first.get_or_insert_with(|| name.to_owned());
            }
            taken.insert(unique.clone());
            self.schema_names.push(unique);
        }
        let message = "kinds of markers were renamed: their names stand for something else in Firefox profiles";
        self.repaired("marker-kind-renamed", message, renamed, first);
    }

    fn merge_functions(&mut self) {
        for index in 0..self.profile.functions.len() {
            let function = self.profile.functions.get(FunctionId::new(index));
            let file_row = self.function(FileFunction {
                name: row(function.name.index()),
                resource: function.resource.map(|id| row(id.index())),
                source: function.source.map(|id| row(id.index())),
                line: function.line.filter(|line| *line > 0),
                column: function.column.filter(|column| *column > 0),
                script: function.kind == FunctionKind::Script,
                relevant_for_script: function.relevant_for_script,
                original_location: function.original_location,
            });
            self.function_rows.push(file_row);
        }
    }

    fn report_threads(&mut self) {
        let threads = &self.profile.threads;
        let changed = || threads.iter().zip(&self.main_threads).filter(|(thread, main)| thread.is_main != **main);
        let first = changed().next().map(|(thread, _)| format!("thread {}", thread.tid));
        let count = changed().count() as u64;
        let message = "processes without exactly one main thread were given one";
        self.repaired("main-thread-chosen", message, count, first);
        let untimed = threads.iter().filter(|thread| !thread.timed && !thread.samples.is_empty()).count() as u64;
        let message = "threads without times are shown as if sampled at the profile's interval";
        self.repaired("times-made-up", message, untimed, None);
    }
}

/// What a profile keeps, by path; of several with one path the first, which is what stands in the file.
fn kept(profile: &Profile) -> FxHashMap<&str, &str> {
    let mut by_path = FxHashMap::default();
    for kept in profile.kept.iter().filter(|kept| is_json(&kept.json)) {
        by_path.entry(&*kept.path).or_insert(&*kept.json);
    }
    by_path
}

/// Whether the waits of `thread` are shown among its samples.
pub(super) fn shows_waits(thread: &Thread) -> bool {
    thread.timed && !thread.waits.is_empty()
}

/// An index as the file's number.
///
/// # Panics
/// Never for rows of a profile: its tables have fewer than `u32::MAX` rows.
pub(super) fn row(index: usize) -> u32 {
    u32::try_from(index).expect("tables have fewer than u32::MAX rows")
}

/// `base`, or `base.1`, `base.2`, … until it is not taken.
fn make_unique(base: &str, taken: impl Fn(&str) -> bool) -> String {
    let mut name = base.to_owned();
    let mut number = 1;
    while taken(&name) {
        name = format!("{base}.{number}");
        number += 1;
    }
    name
}

/// Of several fields with one key, the first counts.
fn schema_fields(profile: &Profile) -> Vec<FxHashMap<StringId, &MarkerField>> {
    let fields = profile.marker_schemas.iter().map(|schema| schema.fields.iter().rev().map(|field| (field.key, field)));
    fields.map(Iterator::collect).collect()
}

/// Systems use pids again; files group threads by them.
fn unique_pids(profile: &Profile) -> Vec<String> {
    let mut taken = FxHashSet::default();
    let mut pids = Vec::with_capacity(profile.processes.len());
    for process in &profile.processes {
        let pid = make_unique(&process.pid.to_string(), |candidate| taken.contains(candidate));
        taken.insert(pid.clone());
        pids.push(pid);
    }
    pids
}

/// Of each process the first thread that says it is the main one, or else the first.
fn main_threads(profile: &Profile) -> Vec<bool> {
    let mut chosen: Vec<Option<usize>> = vec![None; profile.processes.len()];
    for (index, thread) in profile.threads.iter().enumerate() {
        let chosen = &mut chosen[thread.process.index()];
        if chosen.is_none_or(|so_far| thread.is_main && !profile.threads[so_far].is_main) {
            *chosen = Some(index);
        }
    }
    let mut main = vec![false; profile.threads.len()];
    chosen.into_iter().flatten().for_each(|index| main[index] = true);
    main
}

/// Markers outside the file's range would not be shown, so it spans all that is timed.
fn extent(profile: &Profile, interval: Nanos) -> TimeRange {
    let mut extent = profile.extent().unwrap_or(TimeRange { start: Time::ZERO, end: Time::ZERO + interval });
    // The model does not demand that a recording ends after it starts.
    extent = TimeRange { start: extent.start.min(extent.end), end: extent.end.max(extent.start) };
    for thread in &profile.threads {
        if let Some(last) = thread.samples.time.last() {
            extent.end = extent.end.max(*last + interval);
        }
        if !thread.timed {
            extent.start = extent.start.min(Time::ZERO);
            extent.end = extent.end.max(untimed_moment(thread.samples.len(), interval));
        }
    }
    extent
}

/// The moment at which sample `index` of an untimed thread stands in the file.
pub(super) fn untimed_moment(index: usize, interval: Nanos) -> Time {
    Time(interval.0.saturating_mul(i64::try_from(index).unwrap_or(i64::MAX)))
}
