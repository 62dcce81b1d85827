//! What writers say of what their format has no place for.

use crate::model::{Profile, Thread, Warning};

/// The warnings of a writer, in order.
pub(super) struct Omissions<'a> {
    profile: &'a Profile,
    warnings: Vec<Warning>,
}

impl<'a> Omissions<'a> {
    /// None so far.
    pub(super) fn of(profile: &'a Profile) -> Self {
        Self { profile, warnings: Vec::new() }
    }

    /// Adds what happened to how many of what, and why; nothing if there are none.
    pub(super) fn add(&mut self, code: &str, [what, why]: [&str; 2], count: u64, first: Option<String>) {
        if count > 0 {
            let message = format!("{what} ({count}): {why}");
            self.warnings.push(Warning { code: code.to_owned(), message, count, first });
        }
    }

    /// Adds what all threads have of something.
    pub(super) fn of_threads(&mut self, code: &str, texts: [&str; 2], count: impl Fn(&Thread) -> usize) {
        let sum = self.profile.threads.iter().map(|thread| count(thread) as u64).sum();
        let first = self.first_thread(count);
        self.add(code, texts, sum, first);
    }

    /// The first thread that has some of something.
    pub(super) fn first_thread(&self, count: impl Fn(&Thread) -> usize) -> Option<String> {
        let first = self.profile.threads.iter().find(|thread| count(thread) > 0)?;
        Some(format!("thread {}", self.profile.string(first.name)))
    }

    /// Adds slices, markers, flows and counters, none of which the format has a place for, as `why` says.
    pub(super) fn all_but_samples(&mut self, why: &str) {
        let profile = self.profile;
        self.of_threads("slices-left-out", ["slices are left out", why], |thread| thread.slices.len());
        self.of_threads("markers-left-out", ["markers are left out", why], |thread| thread.markers.len());
        let name = |id| profile.string(id).to_owned();
        let flow = profile.flows.name.first().map(|id| name(*id));
        self.add("flows-left-out", ["flows are left out", why], profile.flows.len() as u64, flow);
        let counter = profile.counters.first().map(|counter| name(counter.name));
        self.add("counters-left-out", ["counters are left out", why], profile.counters.len() as u64, counter);
    }

    /// All of them.
    pub(super) fn into_warnings(self) -> Vec<Warning> {
        self.warnings
    }
}
