//! What all events of a file need: the ids of processes and threads, categories, arguments.

use rustc_hash::{FxHashMap, FxHashSet};

use super::text::{self, Text};
use crate::format::chrome::colors::{cname_of_color, color_of_name};
use crate::format::chrome::{async_track, thread_clock};
use crate::model::{CategoryId, Field, FieldValue, OsId, PayloadId, Profile, StandardCategory, StringId, Time};

/// A profile and what its events have in common.
pub(super) struct Plan<'a> {
    pub profile: &'a Profile,
    /// The fields `pid` and `tid` of each thread's events. Asynchronous ones stand on a thread of their process.
    pub ids: Vec<Box<[u8]>>,
    /// The thread on which each thread's events stand: the first with these ids; `None` if that is none of the profile.
    pub host: Vec<Option<usize>>,
    /// The fields `pid` and `tid` of what is only of a process.
    pub process_ids: Vec<Box<[u8]>>,
    /// Whether each thread is a track of asynchronous spans.
    pub is_async: Vec<bool>,
    /// The fields `cat` and `cname` of each category.
    categories: Vec<Box<[u8]>>,
    /// How many processes and threads have other ids than in the profile, and the first of them.
    pub changed_ids: (u64, Option<String>),
    /// The keys of the fields of markers that say what their thread's CPU clock said, as far as there are any.
    thread_clock: [Option<StringId>; 2],
    /// Texts that are no JSON where JSON is said to be.
    bad_json: FxHashSet<StringId>,
    /// When the last thing happens; what is unfinished then has no end in the file.
    pub end: Time,
}

impl<'a> Plan<'a> {
    pub(super) fn of(profile: &'a Profile) -> Self {
        let is_async: Vec<bool> = profile.threads.iter().map(async_track::is_track).collect();
        let mut changed = (0, None);
        let pids = process_ids(profile, &mut changed);
        let tids = thread_ids(profile, &is_async, &mut changed);
        let hosts = hosts(profile, &is_async);
        let head = |process: usize, tid: &[u8]| -> Box<[u8]> {
            let parts: [&[u8]; 4] = [b",\"pid\":", &pids[process], b",\"tid\":", tid];
            parts.concat().into()
        };
        let process_head = |process: usize| {
            let tid = hosts[process].map_or(&pids[process], |host| &tids[host]);
            head(process, tid)
        };
        let process_heads: Vec<Box<[u8]>> = (0..profile.processes.len()).map(process_head).collect();
        let (mut ids, mut host) = (Vec::new(), Vec::new());
        for (index, thread) in profile.threads.iter().enumerate() {
            let process = thread.process.index();
            ids.push(if is_async[index] { process_heads[process].clone() } else { head(process, &tids[index]) });
            host.push(if is_async[index] { hosts[process] } else { Some(index) });
        }
        Self {
            profile,
            ids,
            host,
            process_ids: process_heads,
            is_async,
            categories: categories(profile),
            changed_ids: changed,
            thread_clock: thread_clock::KEYS.map(|key| profile.strings.find(key)),
            bad_json: bad_json(profile),
            end: Time(i64::MIN),
        }
    }

    pub(super) fn category(&self, id: CategoryId) -> &[u8] {
        &self.categories[id.index()]
    }

    /// What events of this category have as `cat`; `None`: nothing.
    pub(super) fn category_name(&self, id: CategoryId) -> Option<StringId> {
        (!is_none(self.profile, id.index())).then(|| self.profile.categories[id.index()].name)
    }

    /// Writes arguments, but for those that `is_elsewhere`. DevTools fails on some events that have none at all.
    pub(super) fn args(&self, text: &mut Text<'_>, id: Option<PayloadId>, is_elsewhere: impl Fn(&Field) -> bool) {
        let fields = id.map_or(&[][..], |id| self.profile.payloads.get(id));
        text.raw(",\"args\":{");
        let mut is_first = true;
        for field in fields.iter().filter(|field| !is_elsewhere(field)) {
            text.raw(if std::mem::take(&mut is_first) { "" } else { "," });
            text::string(&mut text.buffer, self.profile.string(field.key));
            text.raw(":");
            self.value(text, &field.value);
        }
        text.raw("}");
    }

    /// Whether a field of a marker is of its event, not of the event's arguments.
    pub(super) fn is_thread_clock(&self, field: &Field) -> bool {
        self.thread_clock.contains(&Some(field.key)) && thread_clock::is_clock(&field.value)
    }

    /// Writes the fields of a marker that say what the CPU clock of its thread said.
    pub(super) fn thread_clock(&self, text: &mut Text<'_>, id: Option<PayloadId>) {
        let fields = id.map_or(&[][..], |id| self.profile.payloads.get(id));
        for field in fields.iter().filter(|field| self.is_thread_clock(field)) {
            text.raw(",");
            text::string(&mut text.buffer, self.profile.string(field.key));
            text.raw(":");
            self.value(text, &field.value);
        }
    }

    fn value(&self, text: &mut Text<'_>, value: &FieldValue) {
        match *value {
            FieldValue::Json(json) if !self.bad_json.contains(&json) => text.raw(self.profile.string(json)),
            FieldValue::Text(value) | FieldValue::Json(value) => {
                text::string(&mut text.buffer, self.profile.string(value));
            }
            FieldValue::Integer(value) => text::integer(&mut text.buffer, value),
            FieldValue::Float(value) => text::float(&mut text.buffer, value),
            FieldValue::Bool(value) => text.raw(if value { "true" } else { "false" }),
        }
    }
}

/// Whether a category is that of events without one.
fn is_none(profile: &Profile, category: usize) -> bool {
    let other = StandardCategory::Other;
    category == other.id().index() && profile.string(profile.categories[category].name) == other.name()
}

fn categories(profile: &Profile) -> Vec<Box<[u8]>> {
    let field = |(index, category): (usize, &crate::model::Category)| -> Box<[u8]> {
        let mut field = Vec::new();
        if !is_none(profile, index) {
            let name = profile.string(category.name);
            field.extend_from_slice(b",\"cat\":");
            text::string(&mut field, name);
            if category.color != color_of_name(name) {
                field.extend_from_slice(b",\"cname\":");
                text::string(&mut field, cname_of_color(category.color));
            }
        }
        field.into()
    };
    profile.categories.iter().enumerate().map(field).collect()
}

/// Each text is looked at once, however many fields have it.
fn bad_json(profile: &Profile) -> FxHashSet<StringId> {
    let mut known: FxHashMap<StringId, bool> = FxHashMap::default();
    for field in profile.payloads.iter().flatten() {
        if let FieldValue::Json(json) = field.value {
            let is_json = || serde_json::from_str::<serde::de::IgnoredAny>(profile.string(json)).is_ok();
            known.entry(json).or_insert_with(is_json);
        }
    }
    known.into_iter().filter(|(_, is_json)| !is_json).map(|(json, _)| json).collect()
}

/// For each process the thread on which events stand that are of no thread: one on which nothing else is, if there is one,
/// as such events were on threads too.
fn hosts(profile: &Profile, is_async: &[bool]) -> Vec<Option<usize>> {
    let mut hosts: Vec<Option<usize>> = vec![None; profile.processes.len()];
    let is_empty = |index: usize| {
        let thread = &profile.threads[index];
        thread.samples.is_empty() && thread.slices.is_empty() && thread.markers.is_empty() && thread.waits.is_empty()
    };
    for (index, thread) in profile.threads.iter().enumerate().filter(|(index, _)| !is_async[*index]) {
        let host = &mut hosts[thread.process.index()];
        match *host {
            Some(known) if is_empty(known) || !is_empty(index) => {}
            _ => *host = Some(index),
        }
    }
    hosts
}

/// Ids as JSON values, none twice: systems use ids again, and other readers take what has one id for one thing.
struct Distinct {
    used: FxHashSet<String>,
    next: i64,
}

impl Distinct {
    /// Those of `known`, which come up later or never, are not given to others.
    fn new<'i>(known: impl Iterator<Item = &'i OsId>) -> Self {
        let number = |id: &OsId| if let OsId::Number(number) = id { *number } else { 0 };
        let most = known.map(number).max().unwrap_or(0);
        Self { used: FxHashSet::default(), next: most.max(0).saturating_add(1) }
    }

    fn add(&mut self, scope: &str, id: &OsId) -> (Box<[u8]>, bool) {
        let mut value = Vec::new();
        if self.used.insert(format!("{scope}{id}")) {
            match id {
                OsId::Number(number) => text::integer(&mut value, *number),
                OsId::Text(name) => text::string(&mut value, name),
            }
            return (value.into(), false);
        }
        text::integer(&mut value, self.next);
        self.used.insert(format!("{scope}{}", self.next));
        self.next = self.next.saturating_add(1);
        (value.into(), true)
    }
}

fn process_ids(profile: &Profile, changed: &mut (u64, Option<String>)) -> Vec<Box<[u8]>> {
    let mut distinct = Distinct::new(profile.processes.iter().map(|process| &process.pid));
    let add = |process: &crate::model::Process| {
        let (id, is_other) = distinct.add("", &process.pid);
        if is_other {
            changed.0 += 1;
            changed.1.get_or_insert_with(|| format!("process {}", process.pid));
        }
        id
    };
    profile.processes.iter().map(add).collect()
}

/// Tracks have no id of their own in the file.
fn thread_ids(profile: &Profile, is_async: &[bool], changed: &mut (u64, Option<String>)) -> Vec<Box<[u8]>> {
    let mut distinct = Distinct::new(profile.threads.iter().map(|thread| &thread.tid));
    let add = |(thread, is_async): (&crate::model::Thread, &bool)| {
        if *is_async {
            return Box::default();
        }
        let (id, is_other) = distinct.add(&format!("{}/", thread.process.index()), &thread.tid);
        if is_other {
            changed.0 += 1;
            changed.1.get_or_insert_with(|| format!("thread {}", thread.tid));
        }
        id
    };
    profile.threads.iter().zip(is_async).map(add).collect()
}
