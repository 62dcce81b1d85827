//! What the reader of traces takes note of.

use crate::format::import_report::Note;

pub(super) const UNCLOSED: Note =
    Note { code: "not-closed", message: "the text ends before its list of events does; all events in it are whole" };
pub(super) const CUT_EVENT: Note =
    Note { code: "cut-event", message: "the text ends inside an event, which is left out" };
pub(super) const DAMAGED: Note =
    Note { code: "damaged-text", message: "the text is damaged: what stands here and behind it is left out" };
pub(super) const TRAILING: Note = Note { code: "text-behind-end", message: "what stands behind the end is left out" };
pub(super) const EXTRA_COMMA: Note = Note { code: "extra-comma", message: "commas that separate nothing are skipped" };
pub(super) const MISSING_COMMA: Note =
    Note { code: "missing-comma", message: "events follow each other without a comma" };
pub(super) const NO_OBJECT: Note = Note { code: "not-an-event", message: "values that are no events are left out" };
pub(super) const EMPTY_EVENT: Note =
    Note { code: "empty-event", message: "events without phase, name, time and thread are left out" };
