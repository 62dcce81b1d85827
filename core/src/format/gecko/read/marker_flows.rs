//! What markers of Firefox say of flows.
//!
//! * Markers with the same value in fields of the formats `flow-id` and `terminating-flow-id` are of one flow, in order of
//!   time. A terminating one ends it, and a later marker with that id begins another.
//! * Markers of the type `IPC` are the way of a message from one process to another: sent, through the pipe, received.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::model::{
    CategoryId, Field, FieldValue, FlowAnchor, FlowMember, FlowPhase, MarkerId, MarkerSchemaId, MarkerTiming,
    ProfileBuilder, StringId, Tables, ThreadId, Time,
};

/// A marker that says something of a flow.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Station {
    /// The flow's number.
    flow: u32,
    time: Time,
    /// What comes first of what happens at one time.
    rank: u8,
    thread: ThreadId,
    marker: MarkerId,
    ends: bool,
}

/// What the markers of one flow have in common.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
enum Key {
    Id(StringId),
    /// Sender, receiver, number, type.
    Message(Box<str>, Box<str>, i64, StringId),
}

/// Adds the flows that the markers of `builder` say there are.
pub(super) fn add(builder: &mut ProfileBuilder) {
    let (mut stations, keys) = stations(builder.tables());
    stations.sort_unstable();
    let mut flows: Vec<(Vec<Station>, &Key)> = Vec::new();
    for of_key in stations.chunk_by(|a, b| a.flow == b.flow) {
        for members in of_key.split_inclusive(|station| station.ends).filter(|members| members.len() > 1) {
            flows.push((members.to_vec(), &keys[members[0].flow as usize]));
        }
    }
    flows.sort_by_key(|(members, _)| members[0].time);
    for (members, key) in flows {
        let (name, category) = head(builder.tables(), &members[0]);
        let category = builder.tables().categories[category.index()].name;
        let id = match key {
            Key::Id(id) => *id,
            Key::Message(_, _, number, _) => builder.string(&number.to_string()),
        };
        let member = |(at, station): (usize, &Station)| FlowMember {
            thread: station.thread,
            time: station.time,
            phase: match (at, station.ends) {
                (0, _) => FlowPhase::Start,
                (_, true) => FlowPhase::End,
                (_, false) => FlowPhase::Step,
            },
            anchor: FlowAnchor::Marker(station.marker),
        };
        let members: Vec<FlowMember> = members.iter().enumerate().map(member).collect();
        builder.add_flow(name, category, id, &members);
    }
}

/// All markers that say something of flows, and what the flows are.
fn stations(tables: &Tables) -> (Vec<Station>, Vec<Key>) {
    let flow_fields = flow_fields(tables);
    let mut numbers: FxHashMap<Key, u32> = FxHashMap::default();
    let mut keys = Vec::new();
    let mut number = |key: Key| {
        let next = u32::try_from(numbers.len()).expect("fewer flows than markers have fields");
        *numbers.entry(key).or_insert_with_key(|key| {
            keys.push(key.clone());
            next
        })
    };
    let mut stations = Vec::new();
    let mut seen: FxHashSet<(u32, u8)> = FxHashSet::default();
    for (thread, id) in tables.threads.iter().zip((0..).map(ThreadId::new)) {
        let pid = tables.processes[thread.process.index()].pid.to_string();
        for row in 0..thread.markers.len() {
            let marker = thread.markers.get(row);
            let Some(payload) = marker.payload else { continue };
            let fields = tables.payloads.get(payload);
            let (MarkerTiming::Instant(time)
            | MarkerTiming::Interval(time, _)
            | MarkerTiming::Start(time)
            | MarkerTiming::End(time)) = marker.timing;
            let mut add = |key: Key, rank: u8, ends: bool| {
                let flow = number(key);
                stations.push(Station { flow, time, rank, thread: id, marker: MarkerId::new(row), ends });
                flow
            };
            for field in fields {
                let FieldValue::Text(text) = field.value else { continue };
                let key = marker.schema.and_then(|schema| flow_fields.get(&(schema, field.key)));
                if let Some(ends) = key.filter(|_| !tables.strings.get(text).is_empty()) {
                    add(Key::Id(text), u8::from(*ends), *ends);
                }
            }
            if let Some((key, rank)) = message(tables, marker.schema, fields, &pid) {
                let flow = add(key, rank, rank == RECEIVED);
                // Of two alike the first counts, as in the Firefox Profiler.
                if !seen.insert((flow, rank)) {
                    stations.pop();
                }
            }
        }
    }
    (stations, keys)
}

/// The fields that are ids of flows, and whether they end them.
fn flow_fields(tables: &Tables) -> FxHashMap<(MarkerSchemaId, StringId), bool> {
    let mut found = FxHashMap::default();
    for (schema, id) in tables.marker_schemas.iter().zip((0..).map(MarkerSchemaId::new)) {
        for field in &schema.fields {
            match tables.strings.get(field.format) {
                "flow-id" => drop(found.insert((id, field.key), false)),
                "terminating-flow-id" => drop(found.insert((id, field.key), true)),
                _ => {}
            }
        }
    }
    found
}

/// The last station of a message.
const RECEIVED: u8 = 4;

/// Which message a marker is of, and which station of its way.
fn message(tables: &Tables, schema: Option<MarkerSchemaId>, fields: &[Field], pid: &str) -> Option<(Key, u8)> {
    let text = |id: StringId| tables.strings.get(id);
    let field = |key: &str| fields.iter().find(|field| text(field.key) == key).map(|field| field.value);
    let word = |key: &str| match field(key) {
        Some(FieldValue::Text(value)) => Some(text(value)),
        _ => None,
    };
    let kind = schema.map(|schema| text(tables.marker_schemas[schema.index()].name)).or_else(|| word("type"));
    if kind != Some("IPC") {
        return None;
    }
    let (Some(FieldValue::Integer(number)), Some(FieldValue::Text(kind))) =
        (field("messageSeqno"), field("messageType"))
    else {
        return None;
    };
    let other = match field("otherPid")? {
        FieldValue::Integer(pid) => pid.to_string(),
        FieldValue::Text(pid) => text(pid).to_owned(),
        FieldValue::Float(_) | FieldValue::Bool(_) | FieldValue::Json(_) => return None,
    };
    let is_sent = word("direction")? == "sending";
    let rank = match (is_sent, word("phase").unwrap_or("endpoint")) {
        (true, "endpoint") => 0,
        (true, "transferStart") => 1,
        (true, "transferEnd") => 2,
        (false, "transferEnd") => 3,
        (false, "endpoint") => RECEIVED,
        _ => return None,
    };
    let (from, to) = if is_sent { (pid, &*other) } else { (&*other, pid) };
    Some((Key::Message(from.into(), to.into(), number, kind), rank))
}

/// What a flow that begins at a marker is called, and its category.
fn head(tables: &Tables, station: &Station) -> (StringId, CategoryId) {
    let marker = tables.threads[station.thread.index()].markers.get(station.marker.index());
    (marker.name, marker.category)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Category, Color, Marker, MarkerField, MarkerSchema, OsId, Process, Profile, Thread};

    /// Two processes, 1 and 2, with a thread each.
    fn builder() -> (ProfileBuilder, [ThreadId; 2]) {
        let mut builder = ProfileBuilder::new();
        let name = builder.string("Other");
        builder.add_category(Category { name, color: Color::Grey, subcategories: vec![name] });
        let threads = [1, 2].map(|pid| {
            let process = builder.add_process(Process::new(OsId::Number(pid), name));
            builder.add_thread(Thread::new(process, OsId::Number(pid), name))
        });
        (builder, threads)
    }

    fn schema(builder: &mut ProfileBuilder, name: &str, fields: &[(&str, &str)]) -> MarkerSchemaId {
        let name = builder.string(name);
        let field = |(key, format): &(&str, &str)| {
            let (key, format) = (builder.string(key), builder.string(format));
            MarkerField { key, label: None, format, hidden: false }
        };
        let fields = fields.iter().map(field).collect();
        builder.add_marker_schema(MarkerSchema {
            name,
            display: Vec::new(),
            chart_label: None,
            tooltip_label: None,
            table_label: None,
            description: None,
            fields,
            graphs: Vec::new(),
            color_field: None,
            stack_based: false,
        })
    }

    fn marker(
        builder: &mut ProfileBuilder,
        thread: ThreadId,
        (name, time): (&str, i64),
        schema: MarkerSchemaId,
        fields: &[(&str, &str)],
    ) {
        let name = builder.string(name);
        let fields: Vec<Field> = fields
            .iter()
            .map(|(key, value)| {
                let key = builder.string(key);
                let value = match value.parse() {
                    Ok(number) => FieldValue::Integer(number),
                    Err(_) => FieldValue::Text(builder.string(value)),
                };
                Field { key, value }
            })
            .collect();
        let payload = Some(builder.add_payload(fields));
        let timing = MarkerTiming::Interval(Time(time), Time(time + 5));
        let marker = Marker { name, timing, category: CategoryId::new(0), schema: Some(schema), payload, stack: None };
        builder.thread_mut(thread).markers.push(marker);
    }

    fn flows(profile: &Profile) -> Vec<String> {
        let of_flow = |flow: usize| {
            let members = profile.flows.members_of(flow).iter().map(|member| {
                let FlowAnchor::Marker(marker) = member.anchor else { panic!("a marker") };
                let name = profile.threads[member.thread.index()].markers.name[marker.index()];
                format!("{}{:?}", profile.string(name), member.phase)
            });
            members.collect::<Vec<_>>().join(" ")
        };
        (0..profile.flows.len()).map(of_flow).collect()
    }

    #[test]
    fn markers_of_one_id_are_a_flow_until_one_ends_it() {
        let (mut builder, [one, two]) = builder();
        let kind =
            schema(&mut builder, "Task", &[("flow", "flow-id"), ("end", "terminating-flow-id"), ("x", "string")]);
        let rows: [(_, _, &[(&str, &str)]); 7] = [
            (one, ("a", 0), &[("flow", "f1"), ("x", "f2")]),
            (two, ("c", 20), &[("end", "f1")]),
            (two, ("b", 10), &[("flow", "f1")]),
            (one, ("d", 30), &[("flow", "f1")]),
            (two, ("e", 40), &[("end", "f1")]),
            (one, ("f", 50), &[("end", "f1")]),
            (one, ("g", 60), &[("flow", "f2")]),
        ];
        for (thread, head, fields) in rows {
            marker(&mut builder, thread, head, kind, fields);
        }
        add(&mut builder);
        let profile = builder.finish().unwrap();
        assert_eq!(flows(&profile), ["aStart bStep cEnd", "dStart eEnd"]);
    }

    #[test]
    fn a_message_goes_from_its_sender_to_its_receiver() {
        let (mut builder, [one, two]) = builder();
        let kind = schema(&mut builder, "IPC", &[]);
        let mut ipc = |thread, head, other, number, direction, phase| {
            let fields = [
                ("otherPid", other),
                ("messageSeqno", number),
                ("messageType", "PContent::Msg"),
                ("direction", direction),
                ("phase", phase),
            ];
            marker(&mut builder, thread, head, kind, &fields);
        };
        ipc(two, ("in", 20), "1", "7", "receiving", "endpoint");
        ipc(one, ("out", 20), "2", "7", "sending", "endpoint");
        ipc(one, ("pipe", 20), "2", "7", "sending", "transferStart");
        ipc(one, ("again", 25), "2", "7", "sending", "endpoint");
        ipc(two, ("reply", 30), "1", "7", "sending", "endpoint");
        ipc(one, ("lost", 40), "2", "8", "sending", "endpoint");
        add(&mut builder);
        let profile = builder.finish().unwrap();
        assert_eq!(flows(&profile), ["outStart pipeStep inEnd"]);
        assert_eq!(profile.string(profile.flows.id[0]), "7");
    }
}
