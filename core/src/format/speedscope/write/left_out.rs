//! What a profile has and the file has no place for.

use crate::format::WriteOptions;
use crate::model::{Profile, Thread, Warning};

const NO_PLACE: &str = "a speedscope file has no place for them";

pub(super) fn warnings(profile: &Profile, options: &WriteOptions, refused: u64) -> Vec<Warning> {
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
    if !options.off_cpu {
        let why = "a speedscope file holds CPU time, unless `export --off-cpu` makes it";
        of_threads("waits-left-out", ["waits are left out", why], |thread| thread.waits.len());
    }
    of_threads("slices-left-out", ["slices are left out", NO_PLACE], |thread| thread.slices.len());
    of_threads("markers-left-out", ["markers are left out", NO_PLACE], |thread| thread.markers.len());
    let values = |thread: &Thread| thread.samples.values.len();
    of_threads("values-left-out", ["columns of further values are left out", NO_PLACE], values);
    let labelled = |thread: &Thread| thread.samples.labels.iter().flatten().count();
    of_threads("labels-left-out", ["labels of samples are left out", NO_PLACE], labelled);
    let name = |id| profile.string(id).to_owned();
    let flow = (!profile.flows.is_empty()).then(|| name(profile.flows.name[0]));
    add("flows-left-out", ["flows are left out", NO_PLACE], profile.flows.len() as u64, flow);
    let counter = profile.counters.first().map(|counter| name(counter.name));
    add("counters-left-out", ["counters are left out", NO_PLACE], profile.counters.len() as u64, counter);
    let why = "speedscope refuses weights that are negative or infinite";
    add("samples-left-out", ["samples are left out", why], refused, None);
    warnings
}
