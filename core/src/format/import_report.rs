//! What a reader dropped, repaired or doubts: counted by reason, each with the place where it came up first. It becomes
//! the profile's [warnings](crate::model::Meta::warnings).

use super::json_value::Number;
use crate::model::Warning;

/// The notes that a reader takes while it reads.
#[derive(Debug, Default)]
pub(super) struct ImportReport {
    /// In order of first use; a file has few kinds of fault, however often each comes up.
    warnings: Vec<Warning>,
}

/// A kind of note.
#[derive(Clone, Copy, Debug)]
pub(super) struct Note {
    /// Its [code](Warning::code).
    pub code: &'static str,
    /// What happened to what was found, as a sentence without a full stop.
    pub message: &'static str,
}

/// What every reader does with numbers that are too large, and says of it.
pub(super) const OUT_OF_RANGE: Note = Note {
    code: "value-out-of-range",
    message: "numbers do not fit into 64 bits (times: of nanoseconds); the largest stands for them",
};

impl ImportReport {
    /// Notes something at a place of the file: a byte offset or a path into its structure.
    pub(super) fn note(&mut self, note: Note, place: impl FnOnce() -> String) {
        self.count(note, 1, place);
    }

    /// Notes something that came up `count` times, the first time at `place`.
    pub(super) fn count(&mut self, note: Note, count: u64, place: impl FnOnce() -> String) {
        if count == 0 {
            return;
        }
        match self.warnings.iter_mut().find(|warning| warning.code == note.code) {
            Some(warning) => warning.count = warning.count.saturating_add(count),
            None => self.warnings.push(Warning {
                code: note.code.to_owned(),
                message: note.message.to_owned(),
                count,
                first: Some(place()),
            }),
        }
    }

    /// `value` times `scale` nanoseconds.
    pub(super) fn nanos(&mut self, value: Number, scale: i64, place: impl FnOnce() -> String) -> i64 {
        self.later(0, value, scale, place)
    }

    /// The moment `value` times `scale` nanoseconds after `time`.
    pub(super) fn later(&mut self, time: i64, value: Number, scale: i64, place: impl FnOnce() -> String) -> i64 {
        let (nanos, fits) = value.scaled_if_fits(scale);
        time.checked_add(nanos).filter(|_| fits).unwrap_or_else(|| {
            self.note(OUT_OF_RANGE, place);
            time.saturating_add(nanos)
        })
    }

    /// The notes, those of the first kind first.
    pub(super) fn into_warnings(self) -> Vec<Warning> {
        self.warnings
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_is_counted_with_its_first_place() {
        let mut report = ImportReport::default();
        let dropped = Note { code: "sample-dropped", message: "samples without a stack are left out" };
        report.note(dropped, || "samples[4]".to_owned());
        report.count(dropped, 2, || unreachable!("not the first"));
        assert_eq!(report.nanos(Number::Integer(-5), 1_000, || unreachable!("it fits")), -5_000);
        report.count(Note { code: "none", message: "" }, 0, || unreachable!("there is none"));
        let warnings = report.into_warnings();
        assert_eq!(warnings.len(), 1);
        assert_eq!((warnings[0].count, warnings[0].first.as_deref()), (3, Some("samples[4]")));
    }

    #[test]
    fn what_does_not_fit_is_the_largest_number_and_counted() {
        let mut report = ImportReport::default();
        let mut nanos = |value| report.nanos(value, 1_000, || "times[1]".to_owned());
        assert_eq!(nanos(Number::Integer(9_223_372_036_854_775)), 9_223_372_036_854_775_000);
        assert_eq!(nanos(Number::Float(2.0625)), 2_062);
        assert_eq!(nanos(Number::Integer(9_223_372_036_854_776)), i64::MAX);
        assert_eq!(nanos(Number::Float(-1e300)), i64::MIN);
        assert_eq!(report.later(i64::MAX - 1, Number::Integer(1), 1, || unreachable!("it fits")), i64::MAX);
        assert_eq!(report.later(i64::MIN, Number::Integer(-1), 1, || unreachable!("not the first")), i64::MIN);
        let warnings = report.into_warnings();
        assert_eq!((warnings[0].count, warnings[0].first.as_deref()), (3, Some("times[1]")));
    }
}
