//! What can be wrong with a raw file without making it worthless.

use crate::format::import_report::Note;

pub(super) const FRAME_WITHOUT_LOCATION: Note = Note {
    code: "raw-frame-location",
    message: "frames whose location is no string of their thread are shown as \"(unknown)\"",
};

pub(super) const LIB_WITHOUT_OFFSET: Note = Note {
    code: "raw-library-offset",
    message: "libraries do not say which part of their file was mapped; it is taken to be the beginning",
};

pub(super) const DEEP_PROCESS: Note =
    Note { code: "raw-process-depth", message: "processes inside of too many others are left out" };

pub(super) const MARKER_WITHOUT_TIME: Note =
    Note { code: "raw-marker-time", message: "markers without any time are left out" };

pub(super) const MARKER_WITHOUT_NAME: Note = Note {
    code: "raw-marker-name",
    message: "markers whose name is no string of their thread are shown as \"(unknown)\"",
};

pub(super) const ALLOCATION_WITHOUT_TIME: Note =
    Note { code: "raw-allocation-time", message: "allocations without a time are left out" };

pub(super) const STRING_FIELD: Note = Note {
    code: "raw-marker-string",
    message: "fields of markers that name no string of their thread are kept as numbers",
};

pub(super) const COUNTERS_WITHOUT_THREAD: Note =
    Note { code: "raw-counter-thread", message: "counters of processes without a main thread are left out" };

pub(super) const OVERHEAD_WITHOUT_THREAD: Note = Note {
    code: "raw-overhead-thread",
    message: "the profiler's own costs in processes without a main thread are left out",
};

pub(super) const TRACER_EVENT: Note =
    Note { code: "raw-tracer-event", message: "events of the JavaScript tracer name no string of its dictionary" };

pub(super) const SCHEMA_TWICE: Note = Note {
    code: "raw-schema-twice",
    message: "marker schemas of processes that have the name of another are left out",
};

pub(super) const TOO_MANY_PAUSES: Note =
    Note { code: "raw-pauses", message: "pauses are left out of threads where a process has too many of both" };
pub(super) const TOO_MANY_THREADS: Note =
    Note { code: "too-many-threads", message: "more threads than such a file can have are left out" };
