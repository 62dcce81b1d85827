//! Counters.

use super::super::names::{COLORS, COUNTER_GRAPHS, color_of_graph, value};
use super::super::old_schema::{self as schema, File};
use super::extension::os_id;
use super::rows::{Rows, apply, same_length, times, wrong};
use crate::format::ReadError;
use crate::model::{Counter, CounterDisplay, ProcessId, ProfileBuilder, ThreadId, Time};

pub(super) fn read(
    builder: &mut ProfileBuilder,
    file: &File,
    processes: &Rows<ProcessId>,
    threads: &Rows<ThreadId>,
) -> Result<(), ReadError> {
    let counters = file.counters.as_deref().unwrap_or_default();
    let extensions = file.meta.traceview.as_ref().map(|extension| &extension.counters[..]);
    if let Some(extensions) = extensions {
        same_length(format_args!("meta.traceview"), counters.len(), &[("counters", extensions.len())])?;
    }
    for (row, counter) in counters.iter().enumerate() {
        let at = format!("counters[{row}]");
        let (time, delta, operations) = columns(counter, &at)?;
        let color = &counter.display.color;
        let mut of_model = Counter {
            name: builder.string(&counter.name.0),
            category: builder.string(&counter.category.0),
            description: builder.string(&counter.description.0),
            process: ProcessId::new(0),
            main_thread: None,
            display: CounterDisplay {
                graph: value(&COUNTER_GRAPHS, &&*counter.display.graph_type).ok_or_else(|| {
                    let kind = &counter.display.graph_type;
                    wrong(format_args!("{at}.display.graphType"), format_args!("unknown kind {kind:?}"))
                })?,
                unit: builder.string(&counter.display.unit.0),
                color: color_of_graph(color),
                label: builder.string(&counter.display.label.0),
                sort_weight: counter.display.sort_weight,
            },
            time,
            delta,
            operations,
        };
        match extensions {
            Some(extensions) => {
                let extension = &extensions[row];
                let at = format!("meta.traceview.counters[{row}]");
                of_model.process = processes.get(extension.process, format_args!("{at}.process"))?;
                of_model.main_thread = threads.optional(extension.main_thread, format_args!("{at}.mainThread"))?;
                let known = |name: &str| {
                    value(&COLORS, &name)
                        .ok_or_else(|| wrong(format_args!("{at}.color"), format_args!("unknown colour {name:?}")))
                };
                of_model.display.color = extension.color.as_deref().map(known).transpose()?;
                if extension.lead {
                    if of_model.time.is_empty() {
                        return Err(wrong(format_args!("{at}.lead"), "the counter has no rows"));
                    }
                    of_model.time.remove(0);
                    of_model.delta.remove(0);
                    of_model.operations.drain(..of_model.operations.len().min(1));
                }
                let moments = extension.time.with(extension.time.value.iter().map(|ns| Time(*ns)).collect());
                apply(&moments, &mut of_model.time, format_args!("{at}.time"))?;
                let deltas = extension.delta.with(extension.delta.value.iter().map(|delta| delta.0).collect());
                apply(&deltas, &mut of_model.delta, format_args!("{at}.delta"))?;
            }
            None => {
                let pid = os_id(&counter.pid).to_string();
                let same_pid = |process: &crate::model::Process| process.pid.to_string() == pid;
                let process = builder.tables().processes.iter().position(same_pid);
                let unknown = || wrong(format_args!("{at}.pid"), format_args!("no thread has the pid {pid:?}"));
                of_model.process = ProcessId::new(process.ok_or_else(unknown)?);
                let thread = counter.main_thread_index;
                of_model.main_thread = Some(threads.get(thread, format_args!("{at}.mainThreadIndex"))?);
            }
        }
        builder.add_counter(of_model);
    }
    Ok(())
}

type Columns = (Vec<Time>, Vec<f64>, Vec<i64>);

fn columns(counter: &schema::Counter, at: &str) -> Result<Columns, ReadError> {
    let samples = &counter.samples;
    let at = format!("{at}.samples");
    let time = times(samples.time.as_deref(), samples.time_deltas.as_deref(), format_args!("{at}"))?;
    let columns = [("time", time.len()), ("count", samples.count.len())];
    same_length(format_args!("{at}"), samples.length, &columns)?;
    let operations = samples.number.clone().unwrap_or_default();
    if samples.number.is_some() {
        same_length(format_args!("{at}"), samples.length, &[("number", operations.len())])?;
    }
    Ok((time, samples.count.clone(), operations))
}
