//! Calls from samples between events: what a sample's stack says is fitted into the events that ran at the time.
//!
//! * A call lasts as long as samples that follow each other have it, and to the end of the event that the first was in.
//! * While an event runs, no call ends that was there when it began.
//! * Samples count inside events that run JavaScript, and where nothing says otherwise.
//! * An event can say by an id in which node it was.
//! * Samples of the garbage collector have no stack: it ran on top of the one before.

use std::borrow::Cow;

use memchr::memmem;

use super::CallTreeError;
use super::entries::{Entry, What, merge};
use super::profile::CpuProfile;
use super::steps::Steps;
use crate::format::chrome::arguments::Arguments;
use crate::format::chrome::events::EventTable;
use crate::format::chrome::scan::Value;

/// The url of what V8 counts of its own runtime. It isn't shown.
const RUNTIME: &str = "native V8Runtime";

/// The entries of a thread together with the calls that the samples of its profile show.
pub(super) fn integrate(
    table: &EventTable<'_>,
    profile: &CpuProfile<'_>,
    entries: &[Entry],
) -> Result<Vec<Entry>, CallTreeError> {
    let (samples, stacks) = samples_of(profile);
    let mut calls = Calls {
        profile,
        calls: Vec::new(),
        stack: Vec::new(),
        locked: Vec::new(),
        is_assumed: false,
        last_cut: (0.0, 0),
        path: Vec::new(),
        steps: Steps::default(),
    };
    // Events that have not ended: when they do, and whether they run JavaScript.
    let mut open: Vec<(f64, bool)> = Vec::new();
    for entry in merge(entries, &samples) {
        let event = match entry.what {
            What::Call(_) => None,
            What::Event(row) => {
                let trace_id = trace_id(table, row as usize);
                if table.phase[row as usize] == b'I' && trace_id.is_none() {
                    continue;
                }
                Some((row, trace_id))
            }
        };
        while let Some((end, _)) = open.pop_if(|(end, _)| entry.start >= *end) {
            calls.end_event(end);
        }
        match (event, entry.what) {
            (Some((row, trace_id)), _) => {
                let name = table.name[row as usize].map_or("", |name| table.text(name));
                calls.begin_event(name, entry.start, trace_id.as_deref())?;
                open.push((entry.end(), runs_javascript(name)));
            }
            (None, What::Call(sample)) => {
                let runs = open.last().is_some_and(|(_, runs)| *runs);
                calls.sample(entry.start, stacks[sample as usize], runs)?;
            }
            (None, What::Event(_)) => {}
        }
    }
    while let Some((end, _)) = open.pop() {
        calls.end_event(end);
    }
    Ok(merge(entries, &calls.finish()))
}

/// The stack of a sample.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Stack {
    Node(u32),
    /// The garbage collector, on top of a node if there was one before.
    Collector(Option<u32>),
}

/// The samples as entries, and the stacks of these.
fn samples_of(profile: &CpuProfile<'_>) -> (Vec<Entry>, Vec<Stack>) {
    let (mut entries, mut stacks) = (Vec::new(), Vec::new());
    let mut before = None;
    for (sample, time) in profile.samples.iter().zip(&profile.times) {
        let Some(node) = *sample else { continue };
        let is_collector = profile.garbage_collector == Some(node);
        let at = u32::try_from(stacks.len()).expect("fewer samples than bytes, of which a trace has less than 2^32");
        entries.push(Entry { start: time * 1000.0, duration: Some(0.0), what: What::Call(at) });
        stacks.push(if is_collector { Stack::Collector(before) } else { Stack::Node(node) });
        if !is_collector || before.is_none() {
            before = Some(node);
        }
    }
    (entries, stacks)
}

/// Whether an event of this name runs JavaScript.
fn runs_javascript(name: &str) -> bool {
    matches!(name, "RunMicrotasks" | "FunctionCall" | "EvaluateScript" | "EventDispatch")
        || name.starts_with("v8")
        || name.starts_with("V8")
}

/// The id by which a profile says in which node the event was.
fn trace_id<'a>(table: &EventTable<'a>, row: usize) -> Option<Cow<'a, str>> {
    let args = table.args(row)?;
    memmem::find(args, b"sampleTraceId")?;
    let args = Arguments::of(args);
    let id = if args.get("beginData").is_some() {
        args.object("beginData").get("sampleTraceId")
    } else {
        let is_there = |value: &Value<'_>| !matches!(value, Value::Word(b"null"));
        args.get("sampleTraceId").filter(is_there).or_else(|| args.object("data").get("sampleTraceId"))
    };
    match id? {
        Value::Number(b"0") | Value::Word(_) => None,
        Value::Text(text) => Some(text.decode()).filter(|text| !text.is_empty()),
        other => Some(String::from_utf8_lossy(other.written())),
    }
}

/// Calls while events and samples come in, in order of time.
struct Calls<'p, 'a> {
    profile: &'p CpuProfile<'a>,
    calls: Vec<Entry>,
    /// The calls that have not ended, the outermost first.
    stack: Vec<usize>,
    /// How many of these may not end, for each event that has not.
    locked: Vec<usize>,
    /// Whether samples count although no event says that JavaScript runs.
    is_assumed: bool,
    /// When the stack was looked at last, and how many calls there were: those last until then at least.
    last_cut: (f64, usize),
    /// The nodes of a stack, the outermost first.
    path: Vec<u32>,
    steps: Steps,
}

impl Calls<'_, '_> {
    fn begin_event(&mut self, name: &str, time: f64, trace_id: Option<&str>) -> Result<(), CallTreeError> {
        if matches!(name, "RunMicrotasks" | "RunTask") {
            self.locked.clear();
            self.cut(0, time);
            self.is_assumed = false;
        }
        if self.is_assumed {
            let depth = self.locked.pop().unwrap_or(0);
            self.cut(depth, time);
            self.is_assumed = false;
        }
        match trace_id.and_then(|id| self.profile.node_of_trace_id(id)) {
            Some(node) if self.profile.garbage_collector == Some(node) => {
                self.path.clear();
                self.follow_path(time)?;
            }
            Some(node) => self.follow(time, Stack::Node(node))?,
            None => self.cut(self.stack.len(), time),
        }
        self.locked.push(self.stack.len());
        Ok(())
    }

    fn end_event(&mut self, end: f64) {
        let depth = self.locked.pop().unwrap_or(0);
        self.cut(depth, end);
    }

    /// `runs`: whether it was taken in an event that runs JavaScript.
    fn sample(&mut self, time: f64, stack: Stack, runs: bool) -> Result<(), CallTreeError> {
        if runs || self.is_assumed {
            return self.follow(time, stack);
        }
        if self.stack.is_empty() {
            self.is_assumed = true;
            self.follow(time, stack)?;
            self.locked.push(0);
        }
        Ok(())
    }

    fn follow(&mut self, time: f64, stack: Stack) -> Result<(), CallTreeError> {
        self.path.clear();
        let (node, collector) = match stack {
            Stack::Node(node) => (Some(node), None),
            Stack::Collector(None) => (None, None),
            Stack::Collector(below) => (below, self.profile.garbage_collector),
        };
        self.path.extend(collector);
        let mut next = node;
        while let Some(node) = next {
            let node_data = &self.profile.nodes[node as usize];
            // The outermost node stands for the program.
            if node_data.parent.is_some() && node_data.frame.url != RUNTIME {
                self.path.push(node);
            }
            next = node_data.parent;
            self.steps.take(1)?;
        }
        self.path.reverse();
        self.follow_path(time)
    }

    /// Makes the stack that of the path: keeps what is the same, ends the calls above it and begins others.
    fn follow_path(&mut self, time: f64) -> Result<(), CallTreeError> {
        let nodes = &self.profile.nodes;
        let mut depth = self.locked.last().copied().unwrap_or(0);
        let pairs = self.path.iter().zip(&self.stack).skip(depth);
        let same = pairs.take_while(|(node, call)| match self.calls[**call].what {
            What::Call(other) => nodes[**node as usize].same == nodes[other as usize].same,
            What::Event(_) => false,
        });
        depth += same.count();
        self.cut(depth, time);
        for at in depth..self.path.len() {
            let node = self.path[at];
            if !self.profile.is_special(node) {
                self.steps.take_call(self.calls.len())?;
                self.stack.push(self.calls.len());
                self.calls.push(Entry { start: time, duration: Some(0.0), what: What::Call(node) });
            }
        }
        Ok(())
    }

    /// Ends the calls above `depth`, or those that may end. All lasted until now; for those that stay, what comes says how long.
    fn cut(&mut self, depth: usize, time: f64) {
        let depth = depth.max(self.locked.last().copied().unwrap_or(0)).min(self.stack.len());
        self.last_cut = (time, self.calls.len());
        for call in self.stack.drain(depth..) {
            self.calls[call].duration = Some((time - self.calls[call].start).max(0.0));
        }
    }

    fn finish(mut self) -> Vec<Entry> {
        let (time, count) = self.last_cut;
        for call in self.stack.into_iter().filter(|call| *call < count) {
            self.calls[call].duration = Some((time - self.calls[call].start).max(0.0));
        }
        self.calls
    }
}
