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
pub(super) const NO_TIME: Note = Note { code: "no-time", message: "events without a time are left out" };
pub(super) const BAD_TIME: Note = Note { code: "bad-time", message: "events whose time is no number are left out" };
pub(super) const BAD_DURATION: Note =
    Note { code: "bad-duration", message: "durations that are no numbers count as missing" };
pub(super) const NO_DURATION: Note = Note {
    code: "no-duration",
    message: "complete events without a duration are shown as unfinished ones of no length",
};
pub(super) const NEGATIVE_DURATION: Note =
    Note { code: "negative-duration", message: "negative durations count as none" };
pub(super) const END_WITHOUT_BEGIN: Note = Note {
    code: "end-without-begin",
    message: "ends of what began before the recording, or never did, are shown as instants",
};
pub(super) const OTHER_NAME: Note =
    Note { code: "end-of-other-name", message: "ends whose name no open slice has close the innermost one" };
pub(super) const NEVER_ENDED: Note = Note {
    code: "never-ended",
    message: "slices that never end reach to the end of the slice around them or of the recording, and are marked incomplete",
};
pub(super) const OVERLAP: Note = Note {
    code: "partial-overlap",
    message: "slices that overlap others of their thread without nesting in them are on lanes of their own",
};
pub(super) const ASYNC_WITHOUT_ID: Note =
    Note { code: "async-without-id", message: "asynchronous events without an id count as of one" };
pub(super) const UNKNOWN_PHASE: Note =
    Note { code: "unknown-phase", message: "events of unknown phases are shown as instants" };
pub(super) const METADATA: Note = Note { code: "metadata-left-out", message: "metadata that has no place is left out" };
pub(super) const KEYS_LEFT_OUT: Note = Note {
    code: "keys-left-out",
    message: "keys beside the list of events that are too many, too large or no JSON are left out",
};
pub(super) const THREAD_CLOCK: Note = Note {
    code: "thread-clock-left-out",
    message: "CPU clocks of threads (tts, tdur) are left out at events that are neither slices nor instants",
};
pub(super) const BAD_ARGS: Note =
    Note { code: "args-not-an-object", message: "arguments that are no object are kept as text" };
pub(super) const EMPTY_THREADS: Note =
    Note { code: "empty-threads", message: "threads that have a name but no events are left out" };
pub(super) const TOO_MANY_THREADS: Note =
    Note { code: "too-many-threads", message: "events of more threads than such a file can have are left out" };
pub(super) const TOO_MANY_COUNTERS: Note =
    Note { code: "too-many-counters", message: "more counters than such a file can have are left out" };
pub(super) const NO_NUMBER: Note =
    Note { code: "counter-not-a-number", message: "values of counters that are no numbers are left out" };
pub(super) const NO_FRAME: Note =
    Note { code: "no-such-frame", message: "stacks whose frame is not in the file are left out" };
pub(super) const SAMPLE_WITHOUT_STACK: Note =
    Note { code: "sample-without-stack", message: "samples that carry no stack are shown as instants" };
pub(super) const SAMPLE_WITHOUT_TIME: Note =
    Note { code: "sample-without-time", message: "samples without a time are left out" };
pub(super) const SYSTEM_TRACE: Note =
    Note { code: "system-trace", message: "the text of a system trace inside the file is not read" };
pub(super) const FLOW_NO_ID: Note =
    Note { code: "flow-no-id", message: "phases of flows that have no id are in no flow" };
pub(super) const FLOW_NO_START: Note =
    Note { code: "flow-no-start", message: "steps and ends of flows that did not start are in no flow" };
pub(super) const FLOW_NO_END: Note =
    Note { code: "flow-no-end", message: "starts of flows that have no other phase are in no flow" };
pub(super) const FLOW_NO_DIRECTION: Note = Note {
    code: "flow-no-direction",
    message: "events with a bind_id but neither flow_in nor flow_out are in no flow",
};
pub(super) const FLOW_NO_SLICE: Note =
    Note { code: "flow-no-slice", message: "phases of flows that lie in no slice are in no flow" };
pub(super) const FLOW_NO_NEXT_SLICE: Note =
    Note { code: "flow-no-next-slice", message: "ends of flows that no slice of their thread follows are in no flow" };
pub(super) const FLOW_NO_EVENT: Note = Note {
    code: "flow-no-event",
    message: "phases of flows that no event has the time, thread and category of are in no flow",
};
pub(super) const FLOW_ALONE: Note =
    Note { code: "flow-alone", message: "phases whose flow has no other that belongs to something are in no flow" };
pub(super) const BAD_DELTA: Note =
    Note { code: "bad-sample-time", message: "samples whose time is no number are at that of the one before" };
