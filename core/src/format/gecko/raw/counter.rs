//! What a process counts: counters and the profiler's own costs.

use serde_json::{Value, json};

use super::super::schema::{self, CounterSamples, Id, Real, Row, Wide};
use super::schema::{Counter, CounterSample, Overhead, OverheadSample, SampleGroup};
use super::table::Table;
use super::{ReadError, Text, numbers};

/// The thread that counters belong to.
#[derive(Clone)]
pub(super) struct MainThread {
    pub pid: String,
    /// Among all threads.
    pub row: Row,
}

/// A counter as processed files have it; `None` if it never counted.
pub(super) fn process<'a>(
    file: Text<'a>,
    counter: Counter<'a>,
    main: &MainThread,
    later: f64,
    at: &str,
) -> Result<Option<schema::Counter<'a>>, ReadError> {
    let samples = match (counter.samples, counter.sample_groups) {
        (Some(samples), _) => Some(samples),
        (None, Some(groups)) if groups.get().starts_with('[') => {
            let groups: Vec<SampleGroup> = file.parse(groups.get(), &format!("{at}.sample_groups"))?;
            groups.into_iter().next().and_then(|group| group.samples)
        }
        (None, Some(group)) => file.parse::<SampleGroup>(group.get(), &format!("{at}.sample_groups"))?.samples,
        (None, None) => None,
    };
    let Some(samples) = samples.filter(|samples| !samples.rows.is_empty()) else { return Ok(None) };
    Ok(Some(schema::Counter {
        name: Some(counter.name),
        category: Some(counter.category),
        description: Some(counter.description),
        pid: Id::Text(main.pid.clone()),
        main_thread_index: main.row,
        samples: Some(columns(&samples, later)),
        ..schema::Counter::default()
    }))
}

fn columns<'a>(samples: &Table<CounterSample>, later: f64) -> CounterSamples<'a> {
    let rows = &samples.rows;
    CounterSamples {
        time: Some(rows.iter().map(|row| Real(row.time.0 + later)).collect()),
        count: Some(rows.iter().map(|row| row.count).collect()),
        number: samples.has("number").then(|| numbers(rows.iter().map(|row| row.number))),
        length: Some(Wide(u64::try_from(rows.len()).ok())),
        ..CounterSamples::default()
    }
}

/// The costs of a process' profiler as processed files have them: milliseconds instead of microseconds for the times.
pub(super) fn overhead(overhead: &Overhead<'_>, main: &MainThread, later: f64) -> Value {
    let rows = &overhead.samples.rows;
    let column = |of: fn(&OverheadSample) -> Real| rows.iter().map(|row| json!(of(row).0)).collect::<Vec<_>>();
    let statistics = overhead.statistics.and_then(|text| serde_json::from_str(text.get()).ok());
    json!({
        "samples": {
            "time": rows.iter().map(|row| json!(row.time.0 / 1000.0 + later)).collect::<Vec<_>>(),
            "counters": column(|row| row.counters),
            "expiredMarkerCleaning": column(|row| row.expired_marker_cleaning),
            "locking": column(|row| row.locking),
            "threads": column(|row| row.threads),
            "length": rows.len(),
        },
        "pid": main.pid,
        "mainThreadIndex": main.row.0,
        "statistics": statistics.unwrap_or(Value::Null),
    })
}
