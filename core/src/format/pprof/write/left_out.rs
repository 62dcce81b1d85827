//! What a profile has and the file has no place for.

use super::columns::Columns;
use super::labels::Labels;
use super::sums::Changes;
use crate::format::omissions::Omissions;
use crate::model::{Profile, Warning};

const NO_PLACE: &str = "a pprof file has no place for them";

pub(super) fn warnings(profile: &Profile, columns: &Columns, labels: &Labels<'_>, changes: Changes) -> Vec<Warning> {
    let mut omissions = Omissions::of(profile);
    if columns.wall().is_none() {
        let why = "a pprof file holds CPU time, unless `export --off-cpu` makes it";
        omissions.of_threads("waits-left-out", ["waits are left out", why], |thread| thread.waits.len());
    }
    omissions.all_but_samples(NO_PLACE);
    let why = "others of the same name are in the file";
    omissions.add("values-left-out", ["columns of values are left out", why], columns.left_out, None);
    let why = "they are empty, or others of the same name are in the file";
    omissions.add("labels-left-out", ["labels are left out", why], labels.left_out, None);
    omissions.add("values-rounded", ["values are rounded", "a pprof file holds whole numbers"], changes.rounded, None);
    omissions.add(
        "values-not-finite",
        ["values are left out", "they are infinite or no numbers"],
        changes.not_finite,
        None,
    );
    let why = "they or their sums do not fit into 64 bits; the largest number stands for them";
    omissions.add("values-too-large", ["values are cut off", why], changes.too_large, None);
    omissions.into_warnings()
}
