//! Counters and how they are drawn.

use serde::Serialize;

use super::extension::{finite, needs_lead};
use super::layout::Layout;
use super::{Out, Written, millis};
use crate::format::gecko::names::{COUNTER_GRAPHS, graph_color, word};
use crate::model::{Counter, CounterGraph, ThreadId};

/// A line of a graph's tooltip.
#[derive(Serialize)]
struct TooltipRow {
    #[serde(rename = "type")]
    kind: &'static str,
    source: &'static str,
    format: TooltipFormat,
    label: &'static str,
}

#[derive(Serialize)]
struct TooltipFormat {
    unit: &'static str,
}

pub(super) fn write(json: &mut Out<'_>, layout: &Layout<'_>) -> Written {
    let counters = layout.profile.counters.iter().enumerate();
    counters
        .map(|(row, counter)| (format!("counters[{row}]"), counter))
        .try_for_each(|(at, counter)| json.object(None, |json| write_one(json, layout, &at, counter)))
}

fn write_one(json: &mut Out<'_>, layout: &Layout<'_>, at: &str, counter: &Counter) -> Written {
    let profile = layout.profile;
    let process = counter.process.index();
    json.field("name", profile.string(counter.name))?;
    json.field("category", profile.string(counter.category))?;
    json.field("description", profile.string(counter.description))?;
    json.field("pid", &layout.pids[process])?;
    let thread = counter.main_thread.map(ThreadId::index).or_else(|| layout.main_thread_of(process));
    json.field("mainThreadIndex", &thread.unwrap_or(0))?;
    json.object(Some("samples"), |json| {
        // The change of the first row is ignored by other tools: one without a change goes before it.
        let lead = usize::from(needs_lead(layout, counter));
        let first = counter.time.iter().take(lead);
        json.column("time", first.chain(&counter.time).map(|time| millis(*time)))?;
        json.column("count", std::iter::repeat_n(&0.0, lead).chain(&counter.delta).map(|delta| finite(*delta)))?;
        if !counter.operations.is_empty() {
            json.column("number", std::iter::repeat_n(&0, lead).chain(&counter.operations))?;
        }
        json.field("length", &(lead + counter.time.len()))
    })?;
    json.object(Some("display"), |json| {
        let display = &counter.display;
        let unit = profile.string(display.unit);
        json.field("graphType", word(&COUNTER_GRAPHS, &display.graph))?;
        json.field("unit", unit)?;
        json.field("color", graph_color(display.color))?;
        let kept = |key: &str| layout.kept(&format!("{at}.display.{key}"));
        match kept("markerSchemaLocation") {
            Some(location) => json.raw("markerSchemaLocation", location)?,
            None => json.field("markerSchemaLocation", &None::<&str>)?,
        }
        json.field("sortWeight", &display.sort_weight)?;
        json.field("label", profile.string(display.label))?;
        match kept("tooltipRows") {
            Some(rows) => json.raw("tooltipRows", rows),
            None => json.column("tooltipRows", tooltip(display.graph, unit)),
        }
    })
}

fn tooltip(graph: CounterGraph, unit: &str) -> Vec<TooltipRow> {
    let value = |source, unit, label| TooltipRow { kind: "value", source, format: TooltipFormat { unit }, label };
    let (amount, rate) = match unit {
        "bytes" => ("bytes", "bytes-per-second"),
        "percent" => ("percent", "percent"),
        _ => ("number", "number"),
    };
    match graph {
        CounterGraph::Accumulated => vec![
            value("accumulated", amount, "relative value at this time"),
            value("count-range", amount, "range in graph"),
            value("sample-number", "number", "operations since the previous sample"),
        ],
        // CPU time over time: what it is of the most that is seen.
        CounterGraph::Rate if unit == "percent" => vec![value("cpu-ratio", "percent", "CPU at this time")],
        CounterGraph::Rate => vec![
            value("rate", rate, "rate at this time"),
            value("committed-range-total", amount, "total in the visible range"),
        ],
    }
}
