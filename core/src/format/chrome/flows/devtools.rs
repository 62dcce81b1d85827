//! Flows as Chrome DevTools binds them, with all that follows from how it does:
//!
//! * phases are taken in the order of the file, so an end before its start ends nothing;
//! * category, name and id, joined to one string, say whether a step or end is of something that has started;
//! * what a flow *is* says the bare id of the start: whatever starts with an id is one flow, whatever it is called;
//! * a phase belongs to the first other event (of any sort) with its time, process, thread and category;
//! * a flow has one event of a time: a later one takes the place of the first;
//! * events of a flow are in the order of the file, flows in the order of their first events, and those of one event are none.
//!
//! Values are compared as JavaScript compares them: times as doubles, and no number equals a string.

use std::borrow::Cow;
use std::fmt::Write as _;

use rustc_hash::{FxHashMap, FxHashSet};

use super::Unbound;
use crate::format::chrome::events::{EventFlags, EventTable, Scalar, TextId};
use crate::format::chrome::scan::Value;

/// The flows of a trace, as DevTools binds them.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct DevToolsFlows {
    /// In the order of their first events.
    pub flows: Vec<DevToolsFlow>,
    /// The phases that are in no flow, by their rows.
    pub unbound: Vec<(u32, Unbound)>,
}

/// A flow, by rows of the table.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DevToolsFlow {
    /// The phase that started it first.
    pub start: u32,
    /// The events that it connects, in the order of the file.
    pub events: Vec<u32>,
}

/// A value as a key of JavaScript's maps.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Key {
    Missing,
    /// The bits of a double that is not -0.
    Number(u64),
    Text(TextId),
    Word(TextId),
    /// A time that is no number.
    Written(u32),
    /// An object, by the row that has it: it equals nothing but itself.
    Object(u32),
}

/// Time, process, thread, category.
type Tuple = (Key, Key, Key, Option<TextId>);

/// What the phases of one tuple bind to.
#[derive(Debug, Default)]
struct Place {
    /// In the order in which they came.
    flows: Vec<u32>,
    phases: Vec<u32>,
    is_taken: bool,
}

/// A flow while events are found.
struct Growing {
    start: u32,
    /// Time and row.
    events: Vec<(Key, u32)>,
    places: FxHashMap<Key, usize>,
    /// Its place among the flows with events.
    rank: Option<usize>,
}

/// The flows of `table`.
pub fn devtools(table: &EventTable<'_>) -> DevToolsFlows {
    let phases: Vec<u32> = (0..).take(table.len()).filter(|row| is_phase(table, *row as usize)).collect();
    if phases.is_empty() {
        return DevToolsFlows::default();
    }
    let mut found = DevToolsFlows::default();
    let mut places: Vec<Place> = Vec::new();
    let mut by_tuple: FxHashMap<Tuple, u32> = FxHashMap::default();
    let mut seen: FxHashSet<(u32, u32)> = FxHashSet::default();
    let mut times = Times::of(table, &phases);
    let mut flows = open_flows(table, &phases, &mut found, |row, flow| {
        let next = u32::try_from(places.len()).expect("fewer places than events");
        let place = *by_tuple.entry(times.tuple(table, row as usize)).or_insert(next);
        if place == next {
            places.push(Place::default());
        }
        if seen.insert((flow, place)) {
            places[place as usize].flows.push(flow);
        }
        places[place as usize].phases.push(row);
    });
    let mut order: Vec<u32> = Vec::new();
    for row in (0..).take(table.len()).filter(|row| !is_phase(table, *row as usize)) {
        if !times.is_near(table, row as usize) {
            continue;
        }
        let tuple = times.tuple(table, row as usize);
        let Some(place) = by_tuple.get(&tuple).map(|place| &mut places[*place as usize]) else { continue };
        if std::mem::replace(&mut place.is_taken, true) {
            continue;
        }
        for flow in &place.flows {
            let growing = &mut flows[*flow as usize];
            if growing.rank.is_none() {
                growing.rank = Some(order.len());
                order.push(*flow);
            }
            let next = growing.events.len();
            match *growing.places.entry(tuple.0).or_insert(next) {
                at if at == next => growing.events.push((tuple.0, row)),
                at => growing.events[at].1 = row,
            }
        }
    }
    let is_flow = |flow: u32| flows[flow as usize].events.len() > 1;
    for place in &places {
        // In several flows it is bound if one of them is one.
        let why = match place {
            Place { is_taken: false, .. } => Unbound::NoEvent,
            Place { flows, .. } if flows.iter().any(|flow| is_flow(*flow)) => continue,
            _ => Unbound::Alone,
        };
        found.unbound.extend(place.phases.iter().map(|row| (*row, why)));
    }
    found.unbound.sort_unstable();
    found.flows = order
        .into_iter()
        .map(|flow| &flows[flow as usize])
        .filter(|flow| flow.events.len() > 1)
        .map(|flow| DevToolsFlow { start: flow.start, events: flow.events.iter().map(|(_, row)| *row).collect() })
        .collect();
    found
}

/// Finds which phases count, and gives each with its flow to `bind`.
fn open_flows(
    table: &EventTable<'_>,
    phases: &[u32],
    found: &mut DevToolsFlows,
    mut bind: impl FnMut(u32, u32),
) -> Vec<Growing> {
    let mut flows: Vec<Growing> = Vec::new();
    let mut by_id: FxHashMap<Key, u32> = FxHashMap::default();
    // What has started, by its token. A start without an id starts nothing that could go on.
    let mut open: FxHashMap<String, Option<u32>> = FxHashMap::default();
    let mut token = String::new();
    for row in phases.iter().copied() {
        let id = table.link(row as usize).map_or(Scalar::Missing, |link| link.id);
        write_token(table, row as usize, id, &mut token);
        let phase = table.phase[row as usize];
        if phase == b's' {
            let next = u32::try_from(flows.len()).expect("fewer flows than events");
            let flow = *by_id.entry(key(table, id, row)).or_insert(next);
            if flow == next {
                flows.push(Growing { start: row, events: Vec::new(), places: FxHashMap::default(), rank: None });
            }
            let known = (id != Scalar::Missing).then_some(flow);
            match open.get_mut(&token) {
                Some(open) => *open = known,
                None => drop(open.insert(token.clone(), known)),
            }
            bind(row, flow);
            continue;
        }
        let Some(flow) = open.get(&token).copied().flatten() else {
            let why = if id == Scalar::Missing { Unbound::NoId } else { Unbound::NoStart };
            found.unbound.push((row, why));
            continue;
        };
        bind(row, flow);
        if phase == b'f' {
            open.remove(&token);
        }
    }
    flows
}

fn is_phase(table: &EventTable<'_>, row: usize) -> bool {
    matches!(table.phase[row], b's' | b't' | b'f') && !table.flags(row).has(EventFlags::LONG_PHASE)
}

fn key(table: &EventTable<'_>, value: Scalar, row: u32) -> Key {
    match value {
        Scalar::Missing => Key::Missing,
        #[expect(clippy::cast_precision_loss, reason = "JavaScript's numbers are doubles")]
        Scalar::Integer(number) => number_key(number as f64),
        Scalar::Number(text) => table.text(text).parse().map_or(Key::Word(text), number_key),
        Scalar::Text(text) => Key::Text(text),
        Scalar::Other(text) if table.text(text).starts_with(['{', '[']) => Key::Object(row),
        Scalar::Other(text) => Key::Word(text),
    }
}

fn number_key(number: f64) -> Key {
    // Adding 0 makes 0 of -0.
    Key::Number((number + 0.0).to_bits())
}

/// Times as keys.
#[derive(Default)]
struct Times<'a> {
    /// What is no number, and whether it is a string.
    others: FxHashMap<(Cow<'a, str>, bool), u32>,
    /// When there are phases, roughly: most other events need no closer look.
    micros: FxHashSet<i64>,
}

impl<'a> Times<'a> {
    fn of(table: &EventTable<'a>, phases: &[u32]) -> Self {
        let micros = phases.iter().map(|row| micros(table, *row as usize)).collect();
        Self { others: FxHashMap::default(), micros }
    }

    /// Whether a phase can have the time of event `row`. Doubles that are equal are less than 2 µs apart as decimals.
    fn is_near(&self, table: &EventTable<'a>, row: usize) -> bool {
        let micros = micros(table, row);
        (-2..=2).any(|near| self.micros.contains(&micros.saturating_add(near)))
    }

    fn tuple(&mut self, table: &EventTable<'a>, row: usize) -> Tuple {
        let own = u32::try_from(row).expect("fewer events than 2^32");
        let ids = table.ids(row);
        (self.key(table, row, own), key(table, ids.pid, own), key(table, ids.tid, own), table.category[row])
    }

    fn key(&mut self, table: &EventTable<'a>, row: usize, own: u32) -> Key {
        let value = match table.value(row, "ts") {
            None => return Key::Missing,
            Some(Value::Object(_) | Value::Array(_)) => return Key::Object(own),
            Some(value) => value,
        };
        if let Value::Number(number) = value
            && let Some(number) = std::str::from_utf8(number).ok().and_then(|text| text.parse().ok())
        {
            return number_key(number);
        }
        let (text, is_text) = match value {
            Value::Text(text) => (text.decode(), true),
            other => (String::from_utf8_lossy(other.written()), false),
        };
        let next = u32::try_from(self.others.len()).expect("fewer times than events");
        Key::Written(*self.others.entry((text, is_text)).or_insert(next))
    }
}

fn micros(table: &EventTable<'_>, row: usize) -> i64 {
    table.time[row].div_euclid(1000)
}

/// The string that DevTools makes of category, name and id.
fn write_token(table: &EventTable<'_>, row: usize, id: Scalar, token: &mut String) {
    token.clear();
    for part in [table.category[row], table.name[row]] {
        token.push_str(part.map_or("undefined", |part| table.text(part)));
        token.push_str("-$-");
    }
    let written = match id {
        Scalar::Missing => write!(token, "undefined"),
        Scalar::Integer(number) => write!(token, "{number}"),
        Scalar::Number(text) => match table.text(text).parse::<f64>() {
            Ok(number) => write!(token, "{number}"),
            Err(_) => write!(token, "{}", table.text(text)),
        },
        Scalar::Text(text) => write!(token, "{}", table.text(text)),
        Scalar::Other(text) if table.text(text).starts_with('{') => write!(token, "[object Object]"),
        Scalar::Other(text) => write!(token, "{}", table.text(text)),
    };
    written.expect("a String takes any text");
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Names of the events of each flow, and why which phases are in none.
    fn found(events: &str) -> (Vec<String>, Vec<(u32, Unbound)>) {
        let table = EventTable::read(events.as_bytes()).unwrap();
        let found = devtools(&table);
        let name = |row: &u32| table.name[*row as usize].map_or("?", |name| table.text(name)).to_owned();
        (found.flows.iter().map(|flow| flow.events.iter().map(name).collect()).collect(), found.unbound)
    }

    #[test]
    fn an_id_is_one_flow_whatever_it_is_called_and_each_phase_is_accounted_for() {
        let (flows, unbound) = found(
            r#"[{"name":"A","ph":"X","ts":1,"cat":"c"},{"name":"B","ph":"n","ts":2,"cat":"c"},{"name":"C","ph":"X","ts":3,"cat":"d"},
            {"name":"late","ph":"X","ts":3,"cat":"d"},{"name":"D","ph":"X","ts":5},
            {"name":"f","ph":"f","ts":2,"cat":"c","id":1},{"name":"f","ph":"s","ts":1,"cat":"c","id":1},
            {"name":"f","ph":"f","ts":2,"cat":"c","id":1},{"name":"g","ph":"s","ts":3,"cat":"d","id":1},
            {"name":"g","ph":"t","ts":4,"cat":"d","id":1},{"name":"h","ph":"s","ts":5,"id":2},{"name":"h","ph":"t","ts":5}]"#,
        );
        assert_eq!(flows, ["ABC"]);
        let expected = [(5, Unbound::NoStart), (9, Unbound::NoEvent), (10, Unbound::Alone), (11, Unbound::NoId)];
        assert_eq!(unbound, expected);
    }

    #[test]
    fn times_are_doubles_and_objects_equal_nothing() {
        // Both are the same double; as decimals they are 100 ns apart.
        let (flows, _) = found(
            r#"[{"name":"A","ph":"X","ts":1732561094000123.4},{"name":"B","ph":"X","ts":1e3},
            {"ph":"s","ts":1732561094000123.5,"id":0},{"ph":"f","ts":1000,"id":-0},
            {"name":"C","ph":"X","ts":"7"},{"name":"D","ph":"X"},{"ph":"s","ts":"7","id":{}},{"ph":"t","id":{}},
            {"name":"E","ph":"X","ts":8,"pid":[]},{"name":"F","ph":"X","ts":9},
            {"ph":"s","ts":8,"pid":[],"id":"x"},{"ph":"f","ts":9,"id":"x"}]"#,
        );
        assert_eq!(flows, ["AB", "CD"]);
    }
}
