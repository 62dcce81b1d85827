//! Slices: complete events on threads, pairs of events on tracks of asynchronous work.
//!
//! What is unfinished when the profile ends begins and has no end in the file.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::flows::Binds;
use super::merge::Source;
use super::plan::Plan;
use super::text::{self, Text};
use crate::model::{FlowAnchor, SliceId, SliceTable, Time};

/// The slices of a thread.
pub(super) struct ThreadSlices<'a> {
    pub plan: &'a Plan<'a>,
    pub binds: &'a Binds,
    pub thread: usize,
    pub row: usize,
}

/// The slices of a track.
pub(super) struct AsyncSlices<'a> {
    plan: &'a Plan<'a>,
    binds: &'a Binds,
    thread: usize,
    row: usize,
    /// For each slice the number of what it belongs to: one for all that lie in an outermost slice.
    pub numbers: Vec<u64>,
    /// The ends to come: of those at one moment the innermost first.
    open: BinaryHeap<Reverse<(Time, Reverse<usize>)>>,
}

/// Whether a slice has no end in a file that ends at `end`.
pub(super) fn is_open(slices: &SliceTable, row: usize, end: Time) -> bool {
    slices.incomplete[row] && slices.start[row] + slices.duration[row] == end
}

impl Source for ThreadSlices<'_> {
    fn time(&self) -> Option<Time> {
        self.plan.profile.threads[self.thread].slices.start.get(self.row).copied()
    }

    fn write(&mut self, text: &mut Text<'_>) {
        let (plan, row) = (self.plan, self.row);
        self.row += 1;
        let slices = &plan.profile.threads[self.thread].slices;
        let is_open = is_open(slices, row, plan.end);
        let name = plan.profile.string(slices.name[row]);
        let phase = if is_open { b'B' } else { b'X' };
        text.event(phase, name, plan.category(slices.category[row]), &plan.ids[self.thread]);
        text.time(slices.start[row]);
        if !is_open {
            text.raw(",\"dur\":");
            text::micros(&mut text.buffer, slices.duration[row].0);
        }
        let cpu = slices.cpu_of(row);
        text.thread_clock(cpu.start(), cpu.duration());
        self.binds.write_slice(text, self.thread, row);
        plan.args(text, slices.args[row], |_| false);
        text.end();
    }
}

impl<'a> AsyncSlices<'a> {
    /// `next` is the next number that nothing has.
    pub(super) fn new(plan: &'a Plan<'a>, binds: &'a Binds, thread: usize, next: &mut u64) -> Self {
        let slices = &plan.profile.threads[thread].slices;
        let mut numbers: Vec<u64> = Vec::with_capacity(slices.len());
        for parent in &slices.parent {
            let number = parent.map_or(*next, |parent| numbers[parent.index()]);
            *next += u64::from(parent.is_none());
            numbers.push(number);
        }
        Self { plan, binds, thread, row: 0, numbers, open: BinaryHeap::new() }
    }

    fn slices(&self) -> &'a SliceTable {
        &self.plan.profile.threads[self.thread].slices
    }

    fn event(&self, phase: u8, row: usize, time: Time, text: &mut Text<'_>) {
        let slices = self.slices();
        let name = self.plan.profile.string(slices.name[row]);
        let ids = self.binds.ids(self.plan, self.thread, || FlowAnchor::Slice(SliceId::new(row)));
        text.event(phase, name, self.plan.category(slices.category[row]), ids);
        text.time(time);
        text.raw(",\"id\":");
        text::hexadecimal(&mut text.buffer, self.numbers[row]);
    }
}

impl Source for AsyncSlices<'_> {
    fn time(&self) -> Option<Time> {
        let start = self.slices().start.get(self.row).copied();
        let end = self.open.peek().map(|Reverse((end, _))| *end);
        match (start, end) {
            (Some(start), Some(end)) => Some(start.min(end)),
            (start, end) => start.or(end),
        }
    }

    fn write(&mut self, text: &mut Text<'_>) {
        let slices = self.slices();
        let start = slices.start.get(self.row).copied();
        if let Some(Reverse((end, Reverse(row)))) = self.open.peek().copied()
            && start.is_none_or(|start| end <= start)
        {
            self.open.pop();
            self.event(b'e', row, end, text);
            self.plan.args(text, None, |_| false);
            text.end();
            return;
        }
        let Some(start) = start else { return };
        let row = self.row;
        self.row += 1;
        self.event(b'b', row, start, text);
        let cpu = slices.cpu_of(row);
        text.thread_clock(cpu.start(), cpu.duration());
        self.binds.write_slice(text, self.thread, row);
        self.plan.args(text, slices.args[row], |_| false);
        text.end();
        if !is_open(slices, row, self.plan.end) {
            self.open.push(Reverse((start + slices.duration[row], Reverse(row))));
        }
    }
}
