//! What a reader dropped, repaired or doubts: counted by reason, each with the place where it came up first. It becomes
//! the profile's [warnings](crate::model::Meta::warnings).

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
        report.count(Note { code: "none", message: "" }, 0, || unreachable!("there is none"));
        let warnings = report.into_warnings();
        assert_eq!(warnings.len(), 1);
        assert_eq!((warnings[0].count, warnings[0].first.as_deref()), (3, Some("samples[4]")));
    }
}
