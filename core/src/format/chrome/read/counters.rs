//! Counters: one series for each number among the arguments of an event, apart by `id`.

use rustc_hash::FxHashMap;

use super::Reader;
use crate::format::chrome::arguments::{Arguments, number};
use crate::format::chrome::events::{Scalar, TextId};
use crate::format::chrome::notes;
use crate::model::{Counter, CounterDisplay, CounterGraph, ProcessId, StringId, Time};

/// What tells one series from another: process, name, id, key of the argument.
type Key = (ProcessId, Option<TextId>, Scalar, StringId);

/// A series while it grows.
struct Series {
    key: Key,
    category: Option<TextId>,
    time: Vec<Time>,
    value: Vec<f64>,
}

impl Reader<'_, '_> {
    /// Reads counter events.
    pub(super) fn read_counters(&mut self, rows: &mut [u32]) {
        self.sort_by_time(rows);
        let mut series: Vec<Series> = Vec::new();
        let mut by_key: FxHashMap<Key, usize> = FxHashMap::default();
        // A counter of the model is larger than the text of one.
        let most = crate::format::room::most_threads(self.table.text_len());
        let table = self.table;
        for row in rows.iter().map(|row| *row as usize) {
            let (Some(process), Some(time)) = (self.process_of(row), self.time(row)) else { continue };
            let (name, id) = (table.name[row], table.link(row).map_or(Scalar::Missing, |link| link.id));
            for (key, value) in Arguments::of(table.args(row).unwrap_or_default()).iter() {
                let Some(value) = number(value) else {
                    self.note(notes::NO_NUMBER, row);
                    continue;
                };
                let key = (process, name, id, self.builder.string(&key.decode()));
                let next = series.len();
                if next >= most && !by_key.contains_key(&key) {
                    self.note(notes::TOO_MANY_COUNTERS, row);
                    continue;
                }
                let at = *by_key.entry(key).or_insert(next);
                if at == next {
                    series.push(Series { key, category: table.category[row], time: Vec::new(), value: Vec::new() });
                }
                series[at].time.push(time);
                series[at].value.push(value);
            }
        }
        let mut keys: FxHashMap<(ProcessId, Option<TextId>, Scalar), u32> = FxHashMap::default();
        for one in &series {
            *keys.entry((one.key.0, one.key.1, one.key.2)).or_default() += 1;
        }
        for one in series {
            let is_only = keys[&(one.key.0, one.key.1, one.key.2)] == 1;
            self.add_counter(one, is_only);
        }
    }

    /// Adds a series; `is_only`: the only one of its events.
    fn add_counter(&mut self, series: Series, is_only: bool) {
        let (process, name, id, key) = series.key;
        let mut label = name.map_or("counter", |name| self.table.text(name)).to_owned();
        if let Some(id) = super::tracks::os_id(self.table, id) {
            label += &format!(" [{id}]");
        }
        if !is_only {
            label = format!("{label} {}", self.builder.tables().strings.get(key));
        }
        let category = series.category.map_or("", |category| self.table.text(category));
        let [name, category, empty] = [&label, category, ""].map(|text| self.builder.string(text));
        let mut last = 0.0;
        let delta = series.value.iter().map(|value| value - std::mem::replace(&mut last, *value)).collect();
        self.builder.add_counter(Counter {
            name,
            category,
            description: empty,
            process,
            main_thread: None,
            display: CounterDisplay {
                graph: CounterGraph::Accumulated,
                unit: empty,
                color: None,
                label: name,
                sort_weight: 0,
            },
            time: series.time,
            delta,
            operations: Vec::new(),
        });
    }
}
