//! What older versions say in another way, said as the newest does.

use serde_json::{Map, Value};

use super::super::schema::{Category, Fields, List, Payload, Real, Row, Str};
use super::super::upgrade::{MARKER_CATEGORIES, USUAL_CATEGORIES, is_dom_call, usual_category};
use super::schema::Marker;

/// The name of markers about files whose name in the file is another.
pub(super) const FILE_IO: Row = Row(u32::MAX - 2);

/// Gives a file the categories that its version takes for granted.
pub(super) fn categories(version: u64, categories: &mut Option<List<Category<'_>>>) {
    if version >= 16 && categories.is_some() {
        return;
    }
    let categories = &mut categories.get_or_insert_default().0;
    if version < 11 {
        categories.clear();
    }
    for (name, color) in USUAL_CATEGORIES {
        if !categories.iter().any(|category| category.name.as_ref().is_some_and(|known| known.0 == name)) {
            categories.push(usual_category(name, color));
        }
    }
}

/// The category of a frame. Before version 11 it is one of some bits.
pub(super) fn frame_category(version: u64, category: Row) -> Row {
    let Some(bit) = category.get().filter(|_| version < 11) else { return category };
    let name = match bit {
        0x20 => "Layout",
        0x40 => "JavaScript",
        0x80 | 0x100 => "GC / CC",
        0x200 => "Network",
        0x400 => "Graphics",
        _ => "Other",
    };
    let row = USUAL_CATEGORIES.iter().position(|(known, _)| *known == name);
    row.and_then(|row| u32::try_from(row).ok()).map_or(Row::NONE, Row)
}

/// A frame's label and whether it is of interest to those who look at scripts alone; before version 14 the label tells.
pub(super) fn label<'a>(text: &Str<'a>, relevance: Option<bool>) -> (Str<'a>, bool) {
    match (relevance, text.0.strip_prefix("AutoEntryScript ")) {
        (Some(is_relevant), _) => (text.clone(), is_relevant),
        (None, Some(reason)) => (Str(reason.to_owned().into()), true),
        (None, None) => (text.clone(), is_dom_call(&text.0)),
    }
}

/// Brings a marker to the newest version. Gives the other one where one has become two.
pub(super) fn marker<'a>(version: u64, name: &str, marker: &mut Marker<'a>) -> Option<Marker<'a>> {
    if version >= 21 {
        return None;
    }
    let mut other = if version < 15 { up_to_15(version, name, marker) } else { None };
    for marker in std::iter::once(marker).chain(&mut other) {
        if version < 20 {
            phases(marker);
        }
        dom_event(marker);
    }
    other
}

/// Kinds and types of markers that changed in the first versions. Gives the end of an event that was one marker.
fn up_to_15<'a>(version: u64, name: &str, marker: &mut Marker<'a>) -> Option<Marker<'a>> {
    let mut other = None;
    if version < 10 && name == "DOMEvent" {
        let fields = marker.data.fields_mut()?;
        if version < 7 {
            fields.rename("type", "eventType");
        }
        if fields.str("type").as_deref() != Some("tracing") {
            let (start, end) = (fields.number("startTime"), fields.number("endTime"));
            other = Some(Marker {
                name: marker.name,
                time: Real(end.unwrap_or(f64::NAN)),
                category: marker.category,
                data: Payload::Fields(event(fields, "end")),
                row: marker.row,
                ..Marker::default()
            });
            marker.time.0 = start.unwrap_or(marker.time.0);
            marker.data = Payload::Fields(event(fields, "start"));
        }
        return other;
    }
    let fields = marker.data.fields_mut()?;
    if version < 13 && matches!(name, "VsyncTimestamp" | "LayerTranslation" | "CompositorScreenshot") {
        fields.set("type", name);
        fields.remove("category");
    }
    match fields.str("type").as_deref() {
        Some("DiskIO") => {
            fields.set("type", "FileIO");
            marker.name = FILE_IO;
        }
        Some("GCMajor") if version < 9 => gc_major(fields),
        Some("GCMinor") if version < 9 => gc_minor(fields),
        _ => {}
    }
    other
}

/// What an event's start or end is told by.
fn event<'a>(fields: &Fields<'a>, interval: &str) -> Fields<'a> {
    let mut event = Fields::default();
    event.set("type", "tracing");
    event.set("category", "DOMEvent");
    event.set("interval", interval);
    for (key, value) in &fields.0 {
        if matches!(&**key, "timeStamp" | "eventType" | "phase") {
            event.0.push((key.clone(), value.clone()));
        }
    }
    event
}

/// Times, which were one and what the data says.
fn phases(marker: &mut Marker<'_>) {
    let time = marker.time;
    let (mut start, mut end, mut phase) = (time, Real::default(), 0);
    if let Some(fields) = marker.data.fields_mut() {
        let kind = fields.str("type");
        match (kind.as_deref(), fields.str("interval").as_deref()) {
            (Some("tracing"), Some("start")) => phase = 2,
            (Some("tracing"), Some("end")) => (start, end, phase) = (Real::default(), time, 3),
            (Some("tracing"), _) => {}
            _ => {
                if let (Some(from), Some(to)) = (fields.number("startTime"), fields.number("endTime"))
                    && from.to_bits() != to.to_bits()
                {
                    (start, end, phase) = (Real(from), Real(to), 1);
                }
            }
        }
        if !matches!(kind.as_deref(), Some("IPC" | "Network")) {
            fields.remove("startTime");
            fields.remove("endTime");
        }
    }
    (marker.start_time, marker.end_time, marker.phase) = (start, end, Row(phase));
}

/// Events of documents have a type of their own and say how late they came.
fn dom_event(marker: &mut Marker<'_>) {
    let start = marker.start_time.0;
    if !marker.data.may_hold("DOMEvent") {
        return;
    }
    let Some(fields) = marker.data.fields_mut() else { return };
    if fields.str("type").as_deref() == Some("tracing") && fields.str("category").as_deref() == Some("DOMEvent") {
        fields.set("type", "DOMEvent");
        if let Some(at) = fields.number("timeStamp") {
            fields.remove("timeStamp");
            // Both markers of an event have its time stamp; only its start came late.
            if start.is_finite() {
                fields.set("latency", &(start - at));
            }
        }
    }
}

fn gc_major(fields: &mut Fields<'_>) {
    let Some(Value::Object(mut timings)) = fields.value("timings") else { return };
    if timings.contains_key("status") {
        return;
    }
    timings.insert("status".into(), "completed".into());
    if let Some(allocated) = timings.get("allocated").and_then(Value::as_f64) {
        timings.insert("allocated_bytes".into(), (allocated * 1024.0 * 1024.0).into());
    }
    fields.set("timings", &timings);
}

fn gc_minor(fields: &mut Fields<'_>) {
    let Some(Value::Object(mut nursery)) = fields.value("nursery") else { return };
    match nursery.get("status").and_then(Value::as_str) {
        Some("no collection") => drop(nursery.insert("status".into(), "nursery empty".into())),
        Some(_) => return,
        None => {
            nursery.insert("status".into(), "complete".into());
            for (old, new) in
                [("nursery_bytes", "bytes_used"), ("new_nursery_bytes", "new_capacity"), ("timings", "phase_times")]
            {
                rename(&mut nursery, old, new);
            }
        }
    }
    fields.set("nursery", &nursery);
}

fn rename(object: &mut Map<String, Value>, old: &str, new: &str) {
    if let Some(value) = object.remove(old) {
        object.insert(new.to_owned(), value);
    }
}

/// Finds the categories of markers whose file does not say them.
pub(super) struct MarkerCategories {
    /// By name.
    rows: Vec<(&'static str, Row)>,
}

impl MarkerCategories {
    pub(super) fn of(categories: &[Category<'_>]) -> Self {
        let row = |name: &str| {
            let found =
                categories.iter().position(|category| category.name.as_ref().is_some_and(|known| known.0 == name));
            found.and_then(|row| u32::try_from(row).ok()).map_or(Row(0), Row)
        };
        Self { rows: USUAL_CATEGORIES.iter().map(|(name, _)| (*name, row(name))).collect() }
    }

    pub(super) fn guess(&self, name: &str, data: &Payload<'_>) -> Row {
        let fields = data.fields();
        let word = |key: &str| fields.as_ref().and_then(|fields| fields.str(key));
        let told = match word("type") {
            Some(kind) if kind == "tracing" => Some(word("category").unwrap_or_default()),
            kind => kind,
        };
        let key = told.as_deref().unwrap_or(name);
        let category = MARKER_CATEGORIES.iter().find(|(known, _)| *known == key).map_or("Other", |(_, name)| *name);
        self.rows.iter().find(|(known, _)| *known == category).map_or(Row(0), |(_, row)| *row)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(version: u64, name: &'static str, time: f64, data: &'static str) -> Vec<(String, f64, f64, u32, String)> {
        let data = serde_json::from_str(data).expect("data");
        let mut one = Marker { name: Row(0), time: Real(time), data, ..Marker::default() };
        let other = marker(version, name, &mut one);
        let shown = |marker: Marker<'_>| {
            let fields = marker.data.fields().map(|fields| {
                let fields = fields.0.iter().map(|(key, value)| format!("{key}={}", value.get()));
                fields.collect::<Vec<_>>().join(" ")
            });
            let name = if marker.name == FILE_IO { "FileIO" } else { name };
            (name.to_owned(), marker.start_time.0, marker.end_time.0, marker.phase.0, fields.unwrap_or_default())
        };
        std::iter::once(one).chain(other).map(shown).collect()
    }

    #[test]
    fn one_time_becomes_phases() {
        let one = |data| {
            let (_, start, end, phase, fields) = read(19, "m", 5.0, data).remove(0);
            (start.to_string(), end.to_string(), phase, fields)
        };
        let expect = |start: &str, end: &str, phase, fields: &str| (start.into(), end.into(), phase, fields.into());
        assert_eq!(one("null"), expect("5", "NaN", 0, ""));
        assert_eq!(
            one(r#"{"type": "tracing", "interval": "start"}"#),
            expect("5", "NaN", 2, r#"type="tracing" interval="start""#)
        );
        assert_eq!(
            one(r#"{"type": "tracing", "interval": "end"}"#),
            expect("NaN", "5", 3, r#"type="tracing" interval="end""#)
        );
        assert_eq!(one(r#"{"startTime": 1, "endTime": 2.5}"#), expect("1", "2.5", 1, ""));
        assert_eq!(one(r#"{"startTime": 2, "endTime": 2}"#), expect("5", "NaN", 0, ""));
        let network = r#"{"type":"Network","startTime":1,"endTime":2}"#;
        assert_eq!(one(network), expect("1", "2", 1, r#"type="Network" startTime=1 endTime=2"#));
    }

    #[test]
    fn an_event_becomes_start_and_end() {
        let data = r#"{"startTime": 9, "endTime": 10, "type": "mouseout", "phase": 3, "timeStamp": 2}"#;
        let markers = read(3, "DOMEvent", 9.0, data);
        let (names, phases): (Vec<_>, Vec<_>) = markers.iter().map(|marker| (&*marker.0, marker.3)).unzip();
        assert_eq!((names, phases), (vec!["DOMEvent", "DOMEvent"], vec![2, 3]));
        assert_eq!((markers[0].1, markers[1].2), (9.0, 10.0));
        assert_eq!(
            markers[0].4,
            r#"type="DOMEvent" category="DOMEvent" interval="start" phase=3 eventType="mouseout" latency=7.0"#
        );
        assert_eq!(markers[1].4, r#"type="DOMEvent" category="DOMEvent" interval="end" phase=3 eventType="mouseout""#);
    }

    #[test]
    fn old_types_get_their_new_names() {
        assert_eq!(
            read(12, "VsyncTimestamp", 1.0, r#"{"category": "x", "vsync": 0}"#)[0].4,
            r#"vsync=0 type="VsyncTimestamp""#
        );
        let disk = read(14, "DiskIO", 1.0, r#"{"type": "DiskIO"}"#).remove(0);
        assert_eq!((&*disk.0, &*disk.4), ("FileIO", r#"type="FileIO""#));
        let gc = read(8, "GCMinor", 1.0, r#"{"type": "GCMinor", "nursery": {"nursery_bytes": 5, "timings": {}}}"#);
        assert!(gc[0].4.contains(r#""bytes_used":5"#) && gc[0].4.contains(r#""status":"complete""#), "{}", gc[0].4);
        let gc = read(8, "GCMajor", 1.0, r#"{"type": "GCMajor", "timings": {"allocated": 2}}"#);
        assert!(gc[0].4.contains(r#""allocated_bytes":2097152.0"#), "{}", gc[0].4);
    }

    #[test]
    fn old_frames_say_category_and_relevance_otherwise() {
        let categories = |version, bit| frame_category(version, Row(bit)).get();
        assert_eq!(
            [0x10, 0x20, 0x80, 0x200, 7].map(|bit| categories(10, bit)),
            [Some(1), Some(3), Some(6), Some(7), Some(1)]
        );
        assert_eq!(categories(11, 0x20), Some(0x20));
        assert_eq!(frame_category(3, Row::NONE), Row::NONE);
        let of = |text: &'static str| {
            let (label, is_relevant) = label(&Str(text.into()), None);
            (label.0.into_owned(), is_relevant)
        };
        assert_eq!(of("AutoEntryScript timer"), ("timer".to_owned(), true));
        for (text, is_relevant) in [
            ("get Element.scrollTop", true),
            ("Node.appendChild", true),
            ("Range constructor", true),
            ("(root)", false),
            ("a.b.c", false),
            ("get x", false),
        ] {
            assert_eq!(of(text), (text.to_owned(), is_relevant));
        }
    }

    #[test]
    fn missing_categories_are_added() {
        let names = |version, known: Option<Vec<Category<'static>>>| {
            let mut known = known.map(List::from);
            categories(version, &mut known);
            let names = known.expect("some").into_iter().map(|category| category.name.expect("a name").0.into_owned());
            names.collect::<Vec<_>>()
        };
        assert_eq!(names(10, None).len(), 8);
        let own = || Category { name: Some(Str("Other".into())), ..Category::default() };
        assert_eq!(names(12, Some(vec![own()]))[..3], ["Other", "Idle", "JavaScript"]);
        assert_eq!(names(16, Some(vec![own()])), ["Other"]);
    }
}
