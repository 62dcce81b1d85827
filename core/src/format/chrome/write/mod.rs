//! Model to file: one object whose events are in order of time, for Perfetto and Chrome DevTools.
//!
//! * Slices are complete events on their threads, those of asynchronous tracks pairs of events, unfinished ones begin only.
//!   Markers are instants or pairs, counters and flows what the format has for them, waits the states that Perfetto knows.
//! * Samples are CPU profiles of V8, which both tools show.
//! * Times are microseconds with all digits of the profile's nanoseconds, from the zero of the trace that the profile was read
//!   from, or the system's monotonic clock, or the profile's own zero; never before the file's zero, as Perfetto drops that. What
//!   the profile's zero is stands under a key of our own.
//! * What is kept in memory is a number or two for each slice of an asynchronous track, marker and member of a flow.

mod counters;
mod flows;
mod left_out;
mod markers;
mod merge;
mod pieces;
mod plan;
mod samples;
mod slices;
mod text;

#[cfg(test)]
mod properties;

use std::io::Write;

use rustc_hash::{FxHashMap, FxHashSet};

use self::counters::{CounterEvents, Waits};
use self::flows::Flows;
use self::left_out::LeftOut;
use self::markers::Markers;
use self::merge::Source;
use self::plan::Plan;
use self::samples::{Nodes, Samples};
use self::slices::{AsyncSlices, ThreadSlices};
use self::text::Text;
use super::time::nanos_of_micros;
use super::{KEPT, OWN_KEY, OWN_KEYS};
use crate::analysis::default_measure;
use crate::format::{WriteError, WriteOptions};
use crate::model::{MarkerTiming, Profile, TRACE_START, Time, Warning};

/// Writes `profile`. Returns what the file has no place for.
///
/// # Errors
/// If `out` fails.
pub fn write(profile: &Profile, options: &WriteOptions, out: &mut dyn Write) -> Result<Vec<Warning>, WriteError> {
    // What is counted takes a look at all threads, here once and not for each.
    let measure = options.measure.unwrap_or_else(|| default_measure(profile));
    let options = &WriteOptions { measure: Some(measure), ..*options };
    let mut plan = Plan::of(profile);
    let nodes = Nodes::of(profile);
    plan.end = end(profile, sampled_end(&plan, &nodes, options));
    let flows = Flows::of(&plan);
    let mut left_out = LeftOut::default();
    let mut sources = sources(&plan, &flows, &nodes, options, &mut left_out);
    let first = sources.iter().filter_map(|source| source.time()).min();
    let base = base(profile, first);
    let mut text = Text::new(out, base);
    text.raw("{\"traceEvents\":[\n");
    metadata_events(&plan, &mut text);
    merge::write(&mut sources, &mut text)?;
    drop(sources);
    text.raw("\n],\"displayTimeUnit\":\"ns\"");
    facts(profile, base, &mut text);
    stack_frames(profile, &mut text)?;
    text.raw("}\n");
    text.finish()?;
    Ok(left_out.warnings(&plan, &flows))
}

fn sources<'a>(
    plan: &'a Plan<'a>,
    flows: &'a Flows,
    nodes: &'a Nodes,
    options: &WriteOptions,
    left_out: &mut LeftOut,
) -> Vec<Box<dyn Source + 'a>> {
    let mut sources: Vec<Box<dyn Source + 'a>> = Vec::new();
    // What has an id of its own, has the next number.
    let mut next = 1;
    for thread in 0..plan.profile.threads.len() {
        let mut spans = None;
        if plan.is_async[thread] {
            let slices = AsyncSlices::new(plan, &flows.binds, thread, &mut next);
            spans = Some(slices.numbers.clone());
            sources.push(Box::new(slices));
        } else {
            sources.push(Box::new(ThreadSlices { plan, binds: &flows.binds, thread, row: 0 }));
        }
        sources.push(Box::new(Markers::new(plan, &flows.binds, thread, spans.as_deref(), &mut next)));
        sources.push(Box::new(Waits { plan, thread, row: 0 }));
        if let Some(samples) = Samples::new(plan, nodes, thread, options, next) {
            next += 1;
            left_out.refused += samples.refused;
            sources.push(Box::new(samples));
        }
    }
    let mut named = FxHashMap::default();
    for (index, counter) in plan.profile.counters.iter().enumerate() {
        let count = named.entry((counter.process, counter.name)).or_insert(0_u64);
        let id = (*count > 0).then_some(*count);
        *count += 1;
        sources.push(Box::new(CounterEvents::new(plan, index, id)));
    }
    // Last, so that phases stand behind what they are bound to.
    sources.push(Box::new(flows.source(plan)));
    sources
}

/// When the last event with samples is.
fn sampled_end(plan: &Plan<'_>, nodes: &Nodes, options: &WriteOptions) -> Option<Time> {
    let all = 0..plan.profile.threads.len();
    all.filter_map(|thread| Some(Samples::new(plan, nodes, thread, options, 0)?.end)).max()
}

/// When the last thing happens in the file, if there is anything.
fn end(profile: &Profile, sampled: Option<Time>) -> Time {
    let mut end = sampled.unwrap_or(Time(i64::MIN));
    let mut include = |time: Time| end = end.max(time);
    for thread in &profile.threads {
        let slices = &thread.slices;
        slices.start.iter().zip(&slices.duration).for_each(|(start, duration)| include(*start + *duration));
        thread.waits.iter().for_each(|wait| include(wait.start + wait.duration));
        for timing in &thread.markers.timing {
            let (MarkerTiming::Instant(time)
            | MarkerTiming::Interval(_, time)
            | MarkerTiming::Start(time)
            | MarkerTiming::End(time)) = *timing;
            include(time);
        }
    }
    profile.counters.iter().filter_map(|counter| counter.time.last()).for_each(|time| include(*time));
    profile.flows.members.iter().for_each(|member| include(member.time));
    end
}

/// What the profile's zero is in the file.
fn base(profile: &Profile, first: Option<Time>) -> i64 {
    let base = trace_start(profile).or(profile.meta.start_monotonic_ns).unwrap_or(0);
    let first = first.unwrap_or(Time::ZERO).0;
    if base.saturating_add(first) >= 0 { base } else { first.saturating_neg() }
}

/// The moment of the trace that a profile was read from which is its zero.
fn trace_start(profile: &Profile) -> Option<i64> {
    profile.meta.extra_of(TRACE_START).and_then(|start| nanos_of_micros(start.as_bytes()))
}

/// The names of processes and threads and their order.
fn metadata_events(plan: &Plan<'_>, text: &mut Text<'_>) {
    let profile = plan.profile;
    let mut event = |name: &str, ids: &[u8], key: &str, value: &dyn Fn(&mut Vec<u8>)| {
        text.event(b'M', name, b",\"cat\":\"__metadata\"", ids);
        text.raw(",\"ts\":0,\"args\":{\"");
        text.raw(key);
        text.raw("\":");
        value(&mut text.buffer);
        text.raw("}");
        text.end();
    };
    let order = |index: usize| i64::try_from(index).unwrap_or(i64::MAX);
    for (index, process) in profile.processes.iter().enumerate() {
        let name = profile.string(process.name);
        let ids = &plan.process_ids[index];
        event("process_name", ids, "name", &|buffer| text::string(buffer, name));
        event("process_sort_index", ids, "sort_index", &|buffer| text::integer(buffer, order(index)));
    }
    for (index, thread) in profile.threads.iter().enumerate().filter(|(index, _)| !plan.is_async[*index]) {
        let name = profile.string(thread.name);
        let ids = &plan.ids[index];
        event("thread_name", ids, "name", &|buffer| text::string(buffer, name));
        event("thread_sort_index", ids, "sort_index", &|buffer| text::integer(buffer, order(index)));
    }
}

/// What is known of the recording, for other tools and for our own reader.
fn facts(profile: &Profile, base: i64, text: &mut Text<'_>) {
    let meta = &profile.meta;
    let command_line = meta.command_line.join(" ");
    let facts = [
        ("product-version", meta.recorder.as_deref()),
        ("os-name", meta.machine.os.as_deref()),
        ("cpu-brand", meta.machine.cpu_name.as_deref()),
        ("command_line", Some(&*command_line)),
        ("clock-domain", (meta.start_monotonic_ns == Some(base)).then_some("LINUX_CLOCK_MONOTONIC")),
    ];
    let kept = |key: &str| kept(profile).find(|(known, _)| *known == key);
    // What it says of the clock holds as long as times are what they were.
    let is_as_read = trace_start(profile) == Some(base);
    let own_facts = if is_as_read && kept("metadata").is_some() { &[][..] } else { &facts };
    for (key, json) in self::kept(profile).filter(|(key, _)| *key != "metadata" || is_as_read) {
        text.raw(",");
        text::string(&mut text.buffer, key);
        text.raw(":");
        text.raw(json);
    }
    let mut is_first = true;
    for (key, fact) in
        own_facts.iter().copied().filter_map(|(key, fact)| Some((key, fact.filter(|fact| !fact.is_empty())?)))
    {
        text.raw(if std::mem::take(&mut is_first) { ",\"metadata\":{\"" } else { ",\"" });
        text.raw(key);
        text.raw("\":");
        text::string(&mut text.buffer, fact);
    }
    text.raw(if is_first { "" } else { "}" });
    text.raw(",\"");
    text.raw(OWN_KEY);
    text.raw("\":{\"zero\":");
    text::micros(&mut text.buffer, base);
    for (key, time) in [("start_unix_ns", meta.start_unix_ns), ("start_monotonic_ns", meta.start_monotonic_ns)] {
        if let Some(time) = time {
            text.raw(",\"");
            text.raw(key);
            text.raw("\":");
            text::integer(&mut text.buffer, time);
        }
    }
    text.raw("}");
}

/// What stood beside the events of the trace that a profile was read from: keys and JSON texts, each key once.
fn kept(profile: &Profile) -> impl Iterator<Item = (&str, &str)> {
    let mut seen = FxHashSet::default();
    let mine = profile.kept.iter().filter_map(|kept| Some((kept.path.strip_prefix(KEPT)?, &*kept.json)));
    // A profile can come from a file that only says that it was read from a trace.
    mine.filter(move |(key, json)| {
        let is_json = || serde_json::from_str::<serde::de::IgnoredAny>(json).is_ok();
        !OWN_KEYS.contains(key) && seen.insert(*key) && is_json()
    })
}

/// The frames of the stacks of markers.
fn stack_frames(profile: &Profile, text: &mut Text<'_>) -> Result<(), WriteError> {
    let stacks = &profile.stacks;
    let mut in_use = vec![false; stacks.len()];
    let of_markers = profile.threads.iter().flat_map(|thread| thread.markers.stack.iter().flatten());
    of_markers.for_each(|stack| in_use[stack.index()] = true);
    // Callers stand before callees.
    for node in (0..stacks.len()).rev().filter(|node| stacks.prefix[*node].is_some()) {
        if let Some(caller) = stacks.prefix[node].filter(|_| in_use[node]) {
            in_use[caller.index()] = true;
        }
    }
    let mut is_first = true;
    for node in (0..stacks.len()).filter(|node| in_use[*node]) {
        text.raw(if std::mem::take(&mut is_first) { ",\"stackFrames\":{\n\"" } else { ",\n\"" });
        let index = |index: usize| i64::try_from(index).unwrap_or(i64::MAX);
        text::integer(&mut text.buffer, index(node));
        text.raw("\":{\"name\":");
        let function = profile.frames.function[stacks.frame[node].index()];
        text::string(&mut text.buffer, profile.string(profile.functions.name[function.index()]));
        if let Some(caller) = stacks.prefix[node] {
            text.raw(",\"parent\":");
            text::integer(&mut text.buffer, index(caller.index()));
        }
        text.raw("}");
        text.flush_full()?;
    }
    text.raw(if is_first { "" } else { "}" });
    Ok(())
}
