//! What a profile has and the file has no place for.

use crate::format::WriteOptions;
use crate::model::{Profile, Thread, Warning};

const NO_PLACE: &str = "a speedscope file has no place for them";

/// What only the axes know.
#[derive(Default)]
pub(super) struct LeftOut {
    /// Samples that the format forbids.
    pub refused: u64,
    /// Samples of which it is not known what they count.
    pub uncounted: u64,
    /// How many threads have a column of values in the file.
    pub columns_written: u64,
    /// Waits that are on no axis.
    pub waits: u64,
}

impl LeftOut {
    pub(super) fn warnings(&self, profile: &Profile, options: &WriteOptions) -> Vec<Warning> {
        let mut warnings = Vec::new();
        let mut add = |code: &str, [what, why]: [&str; 2], count: u64, first: Option<String>| {
            if count > 0 {
                let message = format!("{what} ({count}): {why}");
                warnings.push(Warning { code: code.to_owned(), message, count, first });
            }
        };
        let mut of_threads = |code, texts, count: fn(&Thread) -> usize| {
            let mut with = profile.threads.iter().filter(|thread| count(thread) > 0).peekable();
            let first = with.peek().map(|thread| format!("thread {}", profile.string(thread.name)));
            add(code, texts, with.map(|thread| count(thread) as u64).sum(), first);
        };
        of_threads("slices-left-out", ["slices are left out", NO_PLACE], |thread| thread.slices.len());
        of_threads("markers-left-out", ["markers are left out", NO_PLACE], |thread| thread.markers.len());
        let labelled = |thread: &Thread| thread.samples.labels.iter().flatten().count();
        of_threads("labels-left-out", ["labels of samples are left out", NO_PLACE], labelled);
        let first_of = |has: fn(&Thread) -> usize| {
            let first = profile.threads.iter().find(|thread| has(thread) > 0);
            first.map(|thread| format!("thread {}", profile.string(thread.name)))
        };
        let why = if options.off_cpu {
            "they stand only beside times of the thread's samples"
        } else {
            "a speedscope file holds CPU time, unless `export --off-cpu` makes it"
        };
        add("waits-left-out", ["waits are left out", why], self.waits, first_of(|thread| thread.waits.len()));
        let columns: u64 = profile.threads.iter().map(|thread| thread.samples.values.len() as u64).sum();
        let first = first_of(|thread| thread.samples.values.len());
        let columns = columns - self.columns_written;
        add("values-left-out", ["columns of further values are left out", NO_PLACE], columns, first);
        let name = |id| profile.string(id).to_owned();
        let flow = (!profile.flows.is_empty()).then(|| name(profile.flows.name[0]));
        add("flows-left-out", ["flows are left out", NO_PLACE], profile.flows.len() as u64, flow);
        let counter = profile.counters.first().map(|counter| name(counter.name));
        add("counters-left-out", ["counters are left out", NO_PLACE], profile.counters.len() as u64, counter);
        let why = "speedscope refuses weights that are negative or infinite";
        add("samples-left-out", ["samples are left out", why], self.refused, None);
        let why = "what is written of the others is not known of them";
        add("samples-not-counted", ["samples are left out", why], self.uncounted, None);
        warnings
    }
}
