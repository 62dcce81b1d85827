//! What a profile has and the file has no place for.

use super::columns::Columns;
use super::labels::Labels;
use super::sums::Changes;
use crate::model::{Profile, Thread, Warning};

const NO_PLACE: &str = "a pprof file has no place for them";

pub(super) fn warnings(profile: &Profile, columns: &Columns, labels: &Labels<'_>, changes: Changes) -> Vec<Warning> {
    let mut warnings = Vec::new();
    let mut add = |code: &str, [what, why]: [&str; 2], count: u64, first: Option<String>| {
        if count > 0 {
            let message = format!("{what} ({count}): {why}");
            warnings.push(Warning { code: code.to_owned(), message, count, first });
        }
    };
    let mut of_threads = |code, what, why, count: fn(&Thread) -> usize| {
        let mut with = profile.threads.iter().filter(|thread| count(thread) > 0).peekable();
        let first = with.peek().map(|thread| format!("thread {}", profile.string(thread.name)));
        add(code, [what, why], with.map(|thread| count(thread) as u64).sum(), first);
    };
    if columns.wall().is_none() {
        let why = "a pprof file holds CPU time, unless `export --off-cpu` makes it";
        of_threads("waits-left-out", "waits are left out", why, |thread| thread.waits.len());
    }
    of_threads("slices-left-out", "slices are left out", NO_PLACE, |thread| thread.slices.len());
    of_threads("markers-left-out", "markers are left out", NO_PLACE, |thread| thread.markers.len());
    let name = |id| profile.string(id).to_owned();
    let flow = (!profile.flows.is_empty()).then(|| name(profile.flows.name[0]));
    add("flows-left-out", ["flows are left out", NO_PLACE], profile.flows.len() as u64, flow);
    let counter = profile.counters.first().map(|counter| name(counter.name));
    add("counters-left-out", ["counters are left out", NO_PLACE], profile.counters.len() as u64, counter);
    let why = "others of the same name are in the file";
    add("values-left-out", ["columns of values are left out", why], columns.left_out, None);
    let why = "they are empty, or others of the same name are in the file";
    add("labels-left-out", ["labels are left out", why], labels.left_out, None);
    add("values-rounded", ["values are rounded", "a pprof file holds whole numbers"], changes.rounded, None);
    add("values-not-finite", ["values are left out", "they are infinite or no numbers"], changes.not_finite, None);
    warnings
}
