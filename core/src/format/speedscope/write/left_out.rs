//! What a profile has and the file has no place for.

use crate::format::WriteOptions;
use crate::format::omissions::Omissions;
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
        let mut omissions = Omissions::of(profile);
        omissions.all_but_samples(NO_PLACE);
        let labelled = |thread: &Thread| thread.samples.labels.iter().flatten().count();
        omissions.of_threads("labels-left-out", ["labels of samples are left out", NO_PLACE], labelled);
        let why = if options.off_cpu {
            "they stand only beside times of the thread's samples"
        } else {
            "a speedscope file holds CPU time, unless `export --off-cpu` makes it"
        };
        let first = omissions.first_thread(|thread| thread.waits.len());
        omissions.add("waits-left-out", ["waits are left out", why], self.waits, first);
        let columns: u64 = profile.threads.iter().map(|thread| thread.samples.values.len() as u64).sum();
        let first = omissions.first_thread(|thread| thread.samples.values.len());
        let columns = columns - self.columns_written;
        omissions.add("values-left-out", ["columns of further values are left out", NO_PLACE], columns, first);
        let why = "speedscope refuses weights that are negative or infinite";
        omissions.add("samples-left-out", ["samples are left out", why], self.refused, None);
        let why = "what is written of the others is not known of them";
        omissions.add("samples-not-counted", ["samples are left out", why], self.uncounted, None);
        omissions.into_warnings()
    }
}
