//! The calls of a CPU profile that is a file of its own: a call begins with the first sample that is in it, and ends with the
//! first one that is not.

use super::CallTreeError;
use super::entries::{Entry, What};
use super::profile::{CpuProfile, Node};
use super::steps::Steps;

/// The calls of `profile` in the order in which they began; times in µs.
pub(super) fn calls_of(profile: &CpuProfile<'_>) -> Result<Vec<Entry>, CallTreeError> {
    let mut calls = Calls { profile, entries: Vec::new(), open: Vec::new(), steps: Steps::default() };
    if !profile.nodes.is_empty() {
        calls.read()?;
    }
    Ok(calls.entries)
}

/// Calls while they are found.
struct Calls<'p, 'a> {
    profile: &'p CpuProfile<'a>,
    entries: Vec<Entry>,
    /// Which have no end yet, with their beginnings in ms; the innermost last.
    open: Vec<(usize, f64)>,
    steps: Steps,
}

impl Calls<'_, '_> {
    fn read(&mut self) -> Result<(), CallTreeError> {
        let (profile, collector) = (self.profile, self.profile.garbage_collector);
        let count = profile.samples.len();
        let first = profile.times.partition_point(|time| *time < 0.0).min(count);
        let mut last: Option<u32> = Some(0);
        // What ran before the garbage collector did; its samples have no stack.
        let mut interrupted: Option<u32> = None;
        let mut opening: Vec<u32> = Vec::new();
        for (sample, time) in profile.samples[first..].iter().zip(&profile.times[first..]) {
            let (sample, time) = (*sample, *time);
            let Some(mut before) = last.filter(|_| sample != last) else { continue };
            if let Some(node) = sample.filter(|_| sample == collector) {
                interrupted = Some(before);
                self.begin(node, time)?;
                last = sample;
                continue;
            }
            if let Some(node) = interrupted.filter(|_| Some(before) == collector) {
                self.end(time);
                before = node;
                interrupted = None;
            }
            let mut node = sample;
            while let Some(inner) = node.filter(|node| self.depth(*node) > self.depth(before)) {
                opening.push(inner);
                node = self.node(inner).parent;
            }
            let mut leaving = Some(before);
            while let Some(inner) = leaving.filter(|_| leaving != node) {
                self.end(time);
                if let Some(outer) = node.filter(|node| self.depth(*node) == self.depth(inner)) {
                    opening.push(outer);
                    node = self.node(outer).parent;
                }
                leaving = self.node(inner).parent;
                self.steps.take(1)?;
            }
            while let Some(node) = opening.pop() {
                self.begin(node, time)?;
            }
            last = sample;
        }
        self.close(last, interrupted)
    }

    /// Ends what is open with the profile.
    fn close(&mut self, last: Option<u32>, interrupted: Option<u32>) -> Result<(), CallTreeError> {
        let profile = self.profile;
        let time = profile.times.get(profile.samples.len()).copied().unwrap_or(0.0);
        let time = if time.is_nan() || time == 0.0 { profile.end } else { time };
        let mut node = last;
        if let Some(interrupted) = interrupted.filter(|_| last.is_some() && last == profile.garbage_collector) {
            self.end(time);
            node = Some(interrupted);
        }
        while let Some(inner) = node {
            let Some(parent) = self.node(inner).parent else { break };
            self.end(time);
            node = Some(parent);
            self.steps.take(1)?;
        }
        Ok(())
    }

    fn begin(&mut self, node: u32, time: f64) -> Result<(), CallTreeError> {
        self.steps.take_call(self.entries.len())?;
        self.open.push((self.entries.len(), time));
        self.entries.push(Entry { start: time * 1000.0, duration: Some(0.0), what: What::Call(node) });
        Ok(())
    }

    fn end(&mut self, time: f64) {
        if let Some((call, start)) = self.open.pop() {
            self.entries[call].duration = Some((time - start) * 1000.0);
        }
    }

    fn node(&self, node: u32) -> &Node<'_> {
        &self.profile.nodes[node as usize]
    }

    fn depth(&self, node: u32) -> i64 {
        self.node(node).depth
    }
}
