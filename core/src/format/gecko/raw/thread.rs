//! Threads.

use std::borrow::Cow;

use serde_json::value::RawValue;

use super::super::schema::{self, Flag, Id, JsTracer, PausedRange, Real, Samples, Str, Wide};
use super::collect::Collector;
use super::frames::{self, Code, Stacks, Uses};
use super::marker::{self, Kinds};
use super::meta::word;
use super::notes::TRACER_EVENT;
use super::numbers;
use super::schema::{Sample, Thread};
use super::strings::Strings;
use super::table::Table;
use crate::format::import_report::ImportReport;

/// What a process says about its threads.
pub(super) struct OfProcess<'p, 'a> {
    pub code: Code<'p, 'a>,
    pub shutdown_time: Option<f64>,
    pub tracer_dictionary: Option<&'p Strings<'a>>,
    /// How much later than the first process it began, in milliseconds.
    pub later: f64,
}

impl<'a> OfProcess<'_, 'a> {
    pub(super) fn process(
        &self,
        collector: &mut Collector<'a>,
        kinds: &Kinds,
        thread: Thread<'a>,
        at: &str,
        report: &mut ImportReport,
    ) -> schema::Thread<'a> {
        let version = self.code.version;
        let mut uses = Uses::of(&thread.stack_table);
        for sample in &thread.samples.rows {
            uses.sample(sample.stack);
        }
        let strings = Strings::new(thread.string_table);
        let markers = marker::prepare(version, thread.markers, &strings, &mut uses, at, report);
        let frames = frames::read(collector, &self.code, &thread.frame_table, &strings, at, report);
        let stacks = Stacks::collect(collector, &thread.stack_table, &frames, &uses);
        drop(frames);
        let context = marker::Context { kinds, strings: &strings, stacks: &stacks, later: self.later, at };
        let processed = context.process(collector, markers, report);
        let samples = self.samples(&thread.samples, &stacks);
        let later = |time: f64| time + self.later;
        let is_main = thread.name.0 == "GeckoMain";
        // Before version 8 nothing was known about lifetimes.
        let register_time = if version < 8 { Some(0.0) } else { thread.register_time };
        schema::Thread {
            name: Some(thread.name),
            process_name: thread.process_name.and_then(|name| serde_json::from_str(name.get()).ok()),
            process_type: thread.process_type,
            pid: thread.pid,
            tid: thread.tid,
            is_main_thread: Some(Flag(is_main)),
            process_startup_time: Some(later(0.0)),
            process_shutdown_time: self.shutdown_time.map(later),
            register_time: register_time.map(later),
            unregister_time: thread.unregister_time.map(later),
            samples: Some(samples),
            markers: Some(processed.markers),
            js_allocations: processed.js_allocations,
            native_allocations: processed.native_allocations,
            js_tracer: thread.js_tracer_events.and_then(|tracer| self.js_tracer(collector, tracer, at, report)),
            kept: kept([
                ("eTLD+1", thread.site.map(Cow::Borrowed)),
                ("isPrivateBrowsing", thread.is_private_browsing.map(Cow::Borrowed)),
                ("userContextId", thread.user_context_id.map(Cow::Borrowed)),
                ("tracedValuesBuffer", thread.traced_values.map(Cow::Borrowed)),
                ("tracedObjectShapes", thread.traced_object_shapes.map(Cow::Borrowed)),
            ]),
            ..schema::Thread::default()
        }
    }

    fn samples(&self, table: &Table<Sample>, stacks: &Stacks) -> Samples<'a> {
        let rows = &table.rows;
        let if_there = |column: &str, of: fn(&Sample) -> Real| table.has(column).then(|| numbers(rows.iter().map(of)));
        // A thread without any value does not measure its time.
        let has_cpu = rows.iter().any(|sample| !sample.thread_cpu_delta.0.is_nan());
        Samples {
            stack: Some(rows.iter().map(|sample| stacks.sampled(sample.stack)).collect()),
            time: Some(rows.iter().map(|sample| Real(sample.time.0 + self.later)).collect()),
            weight_type: Some(Str("samples".into())),
            thread_cpu_delta: has_cpu.then(|| numbers(rows.iter().map(|sample| sample.thread_cpu_delta))),
            event_delay: if_there("eventDelay", |sample| sample.event_delay),
            responsiveness: if_there("responsiveness", |sample| sample.responsiveness),
            argument_values: if_there("argumentValues", |sample| sample.argument_values),
            length: Some(Wide(u64::try_from(rows.len()).ok())),
            ..Samples::default()
        }
    }

    fn js_tracer(
        &self,
        collector: &mut Collector<'a>,
        mut tracer: JsTracer<'a>,
        at: &str,
        report: &mut ImportReport,
    ) -> Option<JsTracer<'a>> {
        let dictionary = self.tracer_dictionary?;
        for (index, event) in tracer.events.iter_mut().flatten().enumerate() {
            *event = dictionary.shared(collector, *event).unwrap_or_else(|| {
                report.note(TRACER_EVENT, || format!("{at}.jsTracerEvents.events[{index}]"));
                collector.text("(unknown)")
            });
        }
        for time in tracer.timestamps.iter_mut().flatten() {
            time.0 += self.later * 1000.0;
        }
        Some(tracer)
    }
}

/// The id of a process as processed files have it.
pub(super) fn pid_text(pid: Id, unknown: &mut usize) -> String {
    match pid {
        Id::Missing => {
            *unknown += 1;
            format!("Unknown Process {unknown}")
        }
        Id::Number(number) => number.to_string(),
        Id::Text(text) => text,
    }
}

/// Those of some keys that are there, to be kept as they are.
pub(super) fn kept<'a, const N: usize>(
    values: [(&'static str, Option<Cow<'a, RawValue>>); N],
) -> Vec<(Cow<'a, str>, Cow<'a, RawValue>)> {
    values.into_iter().filter_map(|(key, value)| Some((key.into(), value?))).collect()
}

/// A pause, of which each thread has its own.
pub(super) fn copy<'a>(range: &PausedRange<'a>) -> PausedRange<'a> {
    PausedRange {
        start_time: range.start_time,
        end_time: range.end_time,
        reason: range.reason.clone(),
        ..PausedRange::default()
    }
}

/// Makes up for what threads of the first versions lack.
pub(super) fn complete_old(version: u64, thread: &mut Thread<'_>) {
    if version > 3 || thread.process_type.is_some() {
        return;
    }
    thread.process_type = match &*thread.name.0 {
        "Content" => {
            thread.name = Str("GeckoMain".into());
            word(r#""tab""#)
        }
        "Plugin" => word(r#""plugin""#),
        _ => word(r#""default""#),
    };
}
