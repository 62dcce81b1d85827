//! Counters.

use serde_json::value::RawValue;

use super::super::extension::{self as key, Extension};
use super::super::names::{COLORS, COUNTER_GRAPHS, color_of_graph, value};
use super::super::number::Exact;
use super::super::schema::{Counter as InFile, CounterDisplay as Display, CounterSamples, Real, Str};
use super::kept::compact;
use super::repair::{Repairs, entry, stored};
use super::rows::{Rows, apply, same_length, wrong};
use super::thread::{Processes, pid_of};
use super::times::Timed;
use crate::format::ReadError;
use crate::model::{Color, Counter, CounterDisplay, CounterGraph, ProcessId, ProfileBuilder, ThreadId, Time};

/// Reads `counters`. In files of other tools their processes are found by pid.
pub(super) fn read(
    builder: &mut ProfileBuilder,
    counters: Vec<InFile<'_>>,
    extension: Option<&Extension>,
    processes: &Rows<ProcessId>,
    threads: &Rows<ThreadId>,
    by_pid: &mut Processes,
    repairs: &mut Repairs,
) -> Result<(), ReadError> {
    let extensions = extension.map(|extension| &extension.counters[..]);
    if let Some(extensions) = extensions {
        same_length(format_args!("meta.traceview"), counters.len(), &[("counters", extensions.len())])?;
    }
    for (row, mut counter) in counters.into_iter().enumerate() {
        let at = format!("counters[{row}]");
        let samples = counter.samples.take().unwrap_or_else(|| {
            repairs.missing(|| format!("{at}.samples"));
            CounterSamples::default()
        });
        let (time, delta, operations) = columns(samples, &at, repairs);
        let mut text = |text: &Option<Str<'_>>| builder.string(text.as_ref().map_or("", |text| &text.0));
        let mut of_model = Counter {
            name: text(&counter.name),
            category: text(&counter.category),
            description: text(&counter.description),
            process: ProcessId::new(0),
            main_thread: None,
            display: display(builder, &counter, &at, repairs),
            time,
            delta,
            operations,
        };
        match extensions {
            Some(extensions) => {
                let at = format!("meta.traceview.counters[{row}]");
                ours(&mut of_model, &extensions[row], processes, threads, &at)?;
            }
            None => {
                of_model.process = by_pid.find_or_add(builder, &pid_of(&counter.pid), || {
                    let message = "counters of processes that have no thread: their process was added";
                    repairs.note("counter-without-thread", message, || format!("{at}.pid"));
                });
                let thread = counter.main_thread_index;
                of_model.main_thread = repairs.row(threads, thread, || format!("{at}.mainThreadIndex"));
                keep(builder, &counter, &at);
            }
        }
        builder.add_counter(of_model);
    }
    Ok(())
}

/// What only `traceview` says.
fn ours(
    counter: &mut Counter,
    extension: &key::Counter,
    processes: &Rows<ProcessId>,
    threads: &Rows<ThreadId>,
    at: &str,
) -> Result<(), ReadError> {
    counter.process = processes.get(extension.process, format_args!("{at}.process"))?;
    counter.main_thread = threads.optional(extension.main_thread, format_args!("{at}.mainThread"))?;
    let known = |name: &str| {
        value(&COLORS, &name).ok_or_else(|| wrong(format_args!("{at}.color"), format_args!("unknown colour {name:?}")))
    };
    counter.display.color = extension.color.as_deref().map(known).transpose()?;
    if extension.lead {
        if counter.time.is_empty() {
            return Err(wrong(format_args!("{at}.lead"), "the counter has no rows"));
        }
        counter.time.remove(0);
        counter.delta.remove(0);
        counter.operations.drain(..counter.operations.len().min(1));
    }
    let moments = extension.time.with(extension.time.value.iter().map(|ns| Time(*ns)).collect());
    apply(&moments, &mut counter.time, format_args!("{at}.time"))?;
    let deltas = extension.delta.with(extension.delta.value.iter().map(|Exact(delta)| *delta).collect());
    apply(&deltas, &mut counter.delta, format_args!("{at}.delta"))
}

type Columns = (Vec<Time>, Vec<f64>, Vec<i64>);

#[expect(clippy::cast_possible_truncation, reason = "numbers of operations are whole")]
fn columns(samples: CounterSamples<'_>, at: &str, repairs: &mut Repairs) -> Columns {
    let at = format!("{at}.samples");
    let times = stored(samples.time.as_ref()).or(stored(samples.time_deltas.as_ref()));
    let required = [("time", times), ("count", stored(samples.count.as_ref()))];
    let optional = [("number", samples.number.as_ref().map(super::super::schema::Numbers::len))];
    let rows = repairs.rows(&at, samples.length, &required, &optional);
    let timed = Timed::read(repairs, &at, rows, samples.time, samples.time_deltas);
    let mut deltas = Vec::with_capacity(timed.len());
    let mut operations = Vec::new();
    for row in timed.file_rows() {
        let Real(count) = entry(samples.count.as_ref(), row);
        if count.is_nan() {
            repairs.not_a_number(|| format!("{at}.count[{row}]"));
        }
        deltas.push(if count.is_nan() { 0.0 } else { count });
        if let Some(number) = &samples.number {
            let known = number.get(row);
            operations.push(known.map_or(0, |known| number.whole(row).unwrap_or(known as i64)));
        }
    }
    (timed.time, deltas, operations)
}

/// How a counter is drawn. Before version 62 files did not say; tools went by the category.
#[expect(clippy::cast_possible_truncation, reason = "weights to sort by are small")]
fn display(builder: &mut ProfileBuilder, counter: &InFile<'_>, at: &str, repairs: &mut Repairs) -> CounterDisplay {
    let usual = usual_display(counter);
    let display = counter.display.as_ref();
    let graph = match display.and_then(|display| display.graph_type.as_ref()) {
        Some(Str(kind)) => value(&COUNTER_GRAPHS, &&**kind).unwrap_or_else(|| {
            let message = "counters with kinds of graphs that no tool knows are drawn as usual";
            repairs.note("graph-unknown", message, || format!("{at}.display.graphType: {kind:?}"));
            usual.graph
        }),
        None => usual.graph,
    };
    let color = display.and_then(|display| display.color.as_ref());
    let weight = display.and_then(|display| display.sort_weight).map(RawValue::get);
    let weight = weight.and_then(|text| text.parse().ok().or_else(|| Some(text.parse::<f64>().ok()? as i64)));
    let text = |of: fn(&Display<'_>) -> Option<String>| display.and_then(of);
    let unit = text(|display| display.unit.as_ref().map(|unit| unit.0.to_string()));
    let label = text(|display| display.label.as_ref().map(|label| label.0.to_string()));
    CounterDisplay {
        graph,
        unit: builder.string(unit.as_deref().unwrap_or(usual.unit)),
        color: color.map_or(usual.color, |color| color_of_graph(&color.0)),
        label: builder.string(label.as_deref().unwrap_or(&usual.label)),
        sort_weight: weight.unwrap_or(usual.sort_weight),
    }
}

struct Usual<'a> {
    graph: CounterGraph,
    unit: &'static str,
    color: Option<Color>,
    label: std::borrow::Cow<'a, str>,
    sort_weight: i64,
}

fn usual_display<'a>(counter: &'a InFile<'_>) -> Usual<'a> {
    let text = |text: &'a Option<Str<'_>>| text.as_ref().map_or("", |text| &*text.0);
    let name = text(&counter.name);
    let (graph, unit, color, label, sort_weight) = match (text(&counter.category), name) {
        ("Memory", _) => (CounterGraph::Accumulated, "bytes", Color::Orange, "Memory", 20),
        ("Bandwidth", _) => (CounterGraph::Rate, "bytes", Color::Blue, "Bandwidth", 10),
        ("power", _) => (CounterGraph::Rate, "pWh", Color::Grey, name, 30),
        ("CPU", "processCPU") => (CounterGraph::Rate, "percent", Color::Grey, "Process CPU", 40),
        _ => (CounterGraph::Rate, "", Color::Grey, name, 50),
    };
    Usual { graph, unit, color: Some(color), label: label.into(), sort_weight }
}

/// Keeps what only the format knows of a counter.
fn keep(builder: &mut ProfileBuilder, counter: &InFile<'_>, at: &str) {
    if let Some(display) = &counter.display {
        if let Some(Str(location)) = &display.marker_schema_location {
            let json = serde_json::Value::from(&**location).to_string();
            builder.keep(&format!("{at}.display.markerSchemaLocation"), &json);
        }
        if let Some(rows) = display.tooltip_rows {
            builder.keep(&format!("{at}.display.tooltipRows"), &compact(rows.get()));
        }
        for (key, json) in &display.kept {
            builder.keep(&format!("{at}.display.{key}"), &compact(json.get()));
        }
    }
    for (key, json) in &counter.kept {
        builder.keep(&format!("{at}.{key}"), &compact(json.get()));
    }
}
