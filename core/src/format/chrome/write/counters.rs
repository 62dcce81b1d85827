//! Counters and waits.

use super::merge::Source;
use super::plan::Plan;
use super::text::{self, Text};
use crate::model::{Time, WaitReason};

/// A counter: its sum at each moment.
pub(super) struct CounterEvents<'a> {
    plan: &'a Plan<'a>,
    counter: usize,
    row: usize,
    sum: f64,
    category: Vec<u8>,
    /// What tells it from an earlier one of this name in its process.
    id: Option<u64>,
}

/// The waits of a thread, as the states of its scheduler.
pub(super) struct Waits<'a> {
    pub plan: &'a Plan<'a>,
    pub thread: usize,
    pub row: usize,
}

impl<'a> CounterEvents<'a> {
    pub(super) fn new(plan: &'a Plan<'a>, counter: usize, id: Option<u64>) -> Self {
        let name = plan.profile.string(plan.profile.counters[counter].category);
        let mut category = Vec::new();
        if !name.is_empty() {
            category.extend_from_slice(b",\"cat\":");
            text::string(&mut category, name);
        }
        Self { plan, counter, row: 0, sum: 0.0, category, id }
    }
}

impl Source for CounterEvents<'_> {
    fn time(&self) -> Option<Time> {
        self.plan.profile.counters[self.counter].time.get(self.row).copied()
    }

    fn write(&mut self, text: &mut Text<'_>) {
        let profile = self.plan.profile;
        let counter = &profile.counters[self.counter];
        let ids = &self.plan.process_ids[counter.process.index()];
        text.event(b'C', profile.string(counter.name), &self.category, ids);
        text.time(counter.time[self.row]);
        if let Some(id) = self.id {
            text.raw(",\"id\":");
            text::hexadecimal(&mut text.buffer, id);
        }
        self.sum += counter.delta[self.row];
        text.raw(",\"args\":{\"value\":");
        text::float(&mut text.buffer, self.sum);
        text.raw("}");
        text.end();
        self.row += 1;
    }
}

impl Source for Waits<'_> {
    fn time(&self) -> Option<Time> {
        self.plan.profile.threads[self.thread].waits.start.get(self.row).copied()
    }

    fn write(&mut self, text: &mut Text<'_>) {
        let profile = self.plan.profile;
        let wait = profile.threads[self.thread].waits.get(self.row);
        self.row += 1;
        let state = match wait.reason {
            WaitReason::Blocked => "S",
            WaitReason::Runnable => "R",
            WaitReason::Stopped => "T",
        };
        text.event(b'T', state, b"", &self.plan.ids[self.thread]);
        text.time(wait.start);
        text.raw(",\"dur\":");
        text::micros(&mut text.buffer, wait.duration.0);
        let parts = [("syscall", wait.syscall), ("target", wait.target)];
        text.raw(",\"args\":{");
        let mut is_first = true;
        for (key, value) in parts.into_iter().filter_map(|(key, value)| Some((key, value?))) {
            text.raw(if std::mem::take(&mut is_first) { "" } else { "," });
            text::string(&mut text.buffer, key);
            text.raw(":");
            text::string(&mut text.buffer, profile.string(value));
        }
        text.raw("}");
        text.end();
    }
}
