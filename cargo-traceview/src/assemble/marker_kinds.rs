//! The kinds of markers that a recording has, and how they are shown.

use rustc_hash::FxHashMap;
use traceview_core::model::{MarkerField, MarkerSchema, MarkerSchemaId, ProfileBuilder, StringId};

/// What a marker is of. Each has a schema of its own.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) enum Kind {
    /// It started a thread.
    SpawnThread,
    /// It started a process.
    Fork,
    /// It started a process, and waited for its exec or end.
    Vfork,
    /// It is new.
    ThreadStart,
    /// It is new, and so is its process.
    ProcessStart,
    /// It made its process run another program.
    Exec,
    /// It ended.
    ThreadExit,
    /// It ended its process.
    ProcessExit,
    /// It waited for a thread.
    Join,
    /// It waited for a process.
    Wait,
}

/// How a kind is shown.
pub(super) struct Look {
    /// The marker's name.
    pub(super) name: &'static str,
    schema: &'static str,
    label: &'static str,
    description: &'static str,
    /// Key, label and format of each field; the last is the flow.
    pub(super) fields: &'static [(&'static str, &'static str, &'static str)],
}

const FLOW_OUT: (&str, &str, &str) = ("flow", "Flow", "flow-id");
const FLOW_IN: (&str, &str, &str) = ("flow", "Flow", "terminating-flow-id");

impl Kind {
    const ALL: [Self; 10] = [
        Self::SpawnThread,
        Self::Fork,
        Self::Vfork,
        Self::ThreadStart,
        Self::ProcessStart,
        Self::Exec,
        Self::ThreadExit,
        Self::ProcessExit,
        Self::Join,
        Self::Wait,
    ];

    /// How it is shown.
    pub(super) const fn look(self) -> Look {
        let (name, schema, label, description, fields): (_, _, _, _, &'static [_]) = match self {
            Self::SpawnThread => (
                "Spawn thread",
                "SpawnThread",
                "Spawn thread {marker.data.tid} {marker.data.name}",
                "The thread started another thread",
                &[("tid", "Thread", "tid"), ("name", "Name", "string"), FLOW_OUT],
            ),
            Self::Fork => (
                "Fork",
                "Fork",
                "Fork {marker.data.pid} {marker.data.name}",
                "The thread started a process",
                &[("pid", "Process", "pid"), ("name", "Name", "string"), FLOW_OUT],
            ),
            Self::Vfork => (
                "Vfork",
                "Vfork",
                "Vfork {marker.data.pid} {marker.data.name}",
                "The thread started a process, and waited until that ran another program or ended (vfork, posix_spawn)",
                &[("pid", "Process", "pid"), ("name", "Name", "string"), FLOW_OUT],
            ),
            Self::ThreadStart => (
                "Thread start",
                "ThreadStart",
                "Started by {marker.data.by}",
                "The thread started",
                &[("by", "Started by", "string"), FLOW_IN],
            ),
            Self::ProcessStart => (
                "Process start",
                "ProcessStart",
                "Started by {marker.data.by}",
                "The process started, as a copy of its parent",
                &[("by", "Started by", "string"), FLOW_IN],
            ),
            Self::Exec => (
                "Exec",
                "Exec",
                "Exec {marker.data.command}",
                "The process runs another program from here on; its stack is where that begins",
                &[("command", "Command", "string"), FLOW_IN],
            ),
            Self::ThreadExit => (
                "Thread exit",
                "ThreadExit",
                "Thread exit",
                "The thread ended",
                &[("how", "How", "string"), ("waiter", "Waiter", "string"), FLOW_OUT],
            ),
            Self::ProcessExit => (
                "Process exit",
                "ProcessExit",
                "Process exit: {marker.data.status}",
                "The process ended; the marker is on the thread that ended it, or was its last",
                &[("status", "Status", "string"), ("waiter", "Waiter", "string"), FLOW_OUT],
            ),
            Self::Join => (
                "Join",
                "Join",
                "Join thread {marker.data.tid} {marker.data.name}",
                "The thread waited for another to end",
                &[("tid", "Thread", "tid"), ("name", "Name", "string"), ("waited", "Waited", "nanoseconds"), FLOW_IN],
            ),
            Self::Wait => (
                "Wait",
                "Wait",
                "Wait for process {marker.data.pid}: {marker.data.status}",
                "The thread waited for a process to end",
                &[
                    ("pid", "Process", "pid"),
                    ("status", "Status", "string"),
                    ("waited", "Waited", "nanoseconds"),
                    FLOW_IN,
                ],
            ),
        };
        Look { name, schema, label, description, fields }
    }
}

/// Adds the schemas of the kinds that there are.
pub(super) fn add_schemas(
    is_used: impl Fn(Kind) -> bool,
    builder: &mut ProfileBuilder,
) -> FxHashMap<Kind, MarkerSchemaId> {
    let mut schemas = FxHashMap::default();
    for kind in Kind::ALL.into_iter().filter(|kind| is_used(*kind)) {
        let look = kind.look();
        let mut string = |text: &str| builder.string(text);
        let fields = look.fields.iter().map(|(key, label, format)| MarkerField {
            key: string(key),
            label: Some(string(label)),
            format: string(format),
            hidden: false,
        });
        let fields = fields.collect();
        let label: Option<StringId> = Some(string(look.label));
        let schema = MarkerSchema {
            name: string(look.schema),
            display: ["marker-chart", "marker-table", "timeline-overview"].map(&mut string).into(),
            chart_label: label,
            tooltip_label: Some(string("{marker.name}")),
            table_label: label,
            description: Some(string(look.description)),
            fields,
            graphs: Vec::new(),
            color_field: None,
            stack_based: false,
        };
        schemas.insert(kind, builder.add_marker_schema(schema));
    }
    schemas
}
