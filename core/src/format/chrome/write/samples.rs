//! Samples as CPU profiles of V8, one for each thread: an event `Profile`, then chunks with nodes, samples and times.
//!
//! Nodes are functions that were called from others, not lines: other lines would make other boxes. The line of the innermost
//! frame stands beside the sample.

use rustc_hash::{FxHashMap, FxHashSet};

use super::merge::Source;
use super::pieces::{Pieces, Sample};
use super::plan::Plan;
use super::text::{self, Text};
use crate::format::WriteOptions;
use crate::model::{FunctionId, Profile, StackId, Time};

/// Samples in a chunk: readers put all of one onto a call stack.
const CHUNK: usize = 1000;

const ROOT: u32 = 1;
const IDLE: u32 = 2;
/// The node of the first stack.
const FIRST: u32 = 3;

const CATEGORY: &[u8] = b",\"cat\":\"disabled-by-default-v8.cpu_profiler\"";

/// The node that each stack is.
pub(super) struct Nodes {
    of_stack: Vec<u32>,
}

/// The samples of a thread.
pub(super) struct Samples<'a> {
    plan: &'a Plan<'a>,
    nodes: &'a Nodes,
    thread: usize,
    pieces: Pieces<'a>,
    next: Option<Sample>,
    /// The nodes that are in the file.
    known: FxHashSet<u32>,
    has_lines: bool,
    number: u64,
    /// The last sample in the file.
    written: Option<Time>,
    has_head: bool,
    /// When the last chunk is.
    pub end: Time,
    /// How many samples had weights that are no lengths.
    pub refused: u64,
}

impl Nodes {
    pub(super) fn of(profile: &Profile) -> Self {
        let mut of_stack: Vec<u32> = Vec::with_capacity(profile.stacks.len());
        let mut known: FxHashMap<(u32, FunctionId), u32> = FxHashMap::default();
        for (row, (prefix, frame)) in (FIRST..).zip(profile.stacks.prefix.iter().zip(&profile.stacks.frame)) {
            let function = profile.frames.function[frame.index()];
            let caller = prefix.map_or(ROOT, |prefix| of_stack[prefix.index()]);
            let is_meta = |name: &str| {
                let has_source = profile.functions.source[function.index()].is_some();
                !has_source && profile.string(profile.functions.name[function.index()]) == name
            };
            of_stack.push(match prefix {
                None if is_meta("(root)") => ROOT,
                _ if caller == ROOT && is_meta("(idle)") => IDLE,
                _ => *known.entry((caller, function)).or_insert(row),
            });
        }
        Self { of_stack }
    }

    fn of_sample(&self, sample: &Sample) -> u32 {
        sample.stack.map_or(IDLE, |stack| self.of_stack[stack.index()])
    }
}

impl<'a> Samples<'a> {
    /// `None` if nothing was sampled.
    pub(super) fn new(
        plan: &'a Plan<'a>,
        nodes: &'a Nodes,
        thread: usize,
        options: &WriteOptions,
        number: u64,
    ) -> Option<Self> {
        let profile = plan.profile;
        let mut all = Pieces::of(profile, &profile.threads[thread], options);
        let (mut end, mut has_lines) = (None, false);
        for (index, sample) in all.by_ref().enumerate() {
            if index % CHUNK == 0 {
                end = Some(sample.time);
            }
            has_lines |= line(profile, &sample) > 0;
        }
        let refused = all.refused;
        let mut pieces = Pieces::of(profile, &profile.threads[thread], options);
        let next = pieces.next();
        let known = FxHashSet::default();
        let (written, has_head, end) = (None, false, end?);
        Some(Self { plan, nodes, thread, pieces, next, known, has_lines, number, written, has_head, end, refused })
    }

    fn event(&self, name: &str, time: Time, text: &mut Text<'_>) {
        text.event(b'P', name, CATEGORY, &self.plan.ids[self.thread]);
        text.time(time);
        text.raw(",\"id\":");
        text::hexadecimal(&mut text.buffer, self.number);
        text.raw(",\"args\":{\"data\":{");
    }

    fn head(&self, time: Time, text: &mut Text<'_>) {
        self.event("Profile", time, text);
        text.raw("\"startTime\":");
        text.moment(time);
        text.raw("}}");
        text.end();
    }

    fn chunk(&mut self, time: Time, text: &mut Text<'_>) {
        let mut samples = Vec::with_capacity(CHUNK);
        while let Some(sample) = self.next.filter(|_| samples.len() < CHUNK) {
            samples.push(sample);
            self.next = self.pieces.next();
        }
        self.event("ProfileChunk", time, text);
        text.raw("\"cpuProfile\":{\"nodes\":[");
        self.add_nodes(&samples, text);
        text.raw("],\"samples\":[");
        list(text, &samples, |buffer, sample| text::integer(buffer, self.nodes.of_sample(sample).into()));
        text.raw("]},\"timeDeltas\":[");
        let mut before = self.written.unwrap_or(time);
        list(text, &samples, |buffer, sample| {
            text::micros(buffer, (sample.time - before).0);
            before = sample.time;
        });
        self.written = Some(before);
        if self.has_lines {
            text.raw("],\"lines\":[");
            list(text, &samples, |buffer, sample| text::integer(buffer, line(self.plan.profile, sample).into()));
        }
        text.raw("]}}");
        text.end();
    }

    /// The nodes of samples that are not in the file yet, callers first.
    fn add_nodes(&mut self, samples: &[Sample], text: &mut Text<'_>) {
        const META: &str = r#""scriptId":0,"url":"","lineNumber":-1,"columnNumber":-1}}"#;
        let mut is_first = !self.known.is_empty();
        if self.known.insert(ROOT) && self.known.insert(IDLE) {
            text.raw(r#"{"id":1,"callFrame":{"functionName":"(root)","#);
            text.raw(META);
            text.raw(r#",{"id":2,"parent":1,"callFrame":{"functionName":"(idle)","#);
            text.raw(META);
        }
        let stacks = &self.plan.profile.stacks;
        let mut path: Vec<StackId> = Vec::new();
        for stack in samples.iter().filter_map(|sample| sample.stack) {
            let node = |stack: &StackId| self.nodes.of_stack[stack.index()];
            path.extend(stacks.ancestors(stack).take_while(|stack| !self.known.contains(&node(stack))));
            while let Some(stack) = path.pop() {
                if self.known.insert(self.nodes.of_stack[stack.index()]) {
                    text.raw(if std::mem::take(&mut is_first) { "" } else { "," });
                    self.node(stack, text);
                }
            }
        }
    }

    fn node(&self, stack: StackId, text: &mut Text<'_>) {
        let profile = self.plan.profile;
        let caller = profile.stacks.prefix[stack.index()].map_or(ROOT, |caller| self.nodes.of_stack[caller.index()]);
        let function = profile.frames.function[profile.stacks.frame[stack.index()].index()];
        let function = profile.functions.get(function);
        text.raw("{\"id\":");
        text::integer(&mut text.buffer, self.nodes.of_stack[stack.index()].into());
        text.raw(",\"parent\":");
        text::integer(&mut text.buffer, caller.into());
        text.raw(",\"callFrame\":{\"functionName\":");
        text::string(&mut text.buffer, profile.string(function.name));
        text.raw(",\"scriptId\":0,\"url\":");
        let path = function.source.map_or("", |source| profile.string(profile.sources[source.index()].path));
        text::string(&mut text.buffer, path);
        for (key, number) in [(",\"lineNumber\":", function.line), (",\"columnNumber\":", function.column)] {
            text.raw(key);
            text::integer(&mut text.buffer, number.map_or(-1, |number| i64::from(number) - 1));
        }
        text.raw("}}");
    }
}

impl Source for Samples<'_> {
    fn time(&self) -> Option<Time> {
        self.next.map(|sample| sample.time)
    }

    fn write(&mut self, text: &mut Text<'_>) {
        let Some(first) = self.next else { return };
        if std::mem::replace(&mut self.has_head, true) {
            self.chunk(first.time, text);
        } else {
            self.head(first.time, text);
        }
    }
}

/// The line of a sample's innermost frame; 0 if it is not known.
fn line(profile: &Profile, sample: &Sample) -> u32 {
    let line = |stack: StackId| profile.frames.line[profile.stacks.frame[stack.index()].index()];
    sample.stack.and_then(line).unwrap_or(0)
}

fn list(text: &mut Text<'_>, samples: &[Sample], mut write: impl FnMut(&mut Vec<u8>, &Sample)) {
    for (index, sample) in samples.iter().enumerate() {
        if index > 0 {
            text.buffer.push(b',');
        }
        write(&mut text.buffer, sample);
    }
}
