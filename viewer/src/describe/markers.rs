//! What markers are and what flows link, in words.

use std::borrow::Cow;

use traceview_core::model::{Field, MarkerId, Nanos, StackId, ThreadId};
use traceview_core::report::format_duration;

use super::{Facts, fields, name};
use crate::document::Document;
use crate::flows::{self, Link, Way};

/// What is known of a marker besides its time and its stack: its category, and its data as its schema says.
pub fn marker_facts(document: &Document, thread: ThreadId, marker: MarkerId) -> Facts {
    let profile = &document.profile;
    let row = profile.threads[thread.index()].markers.get(marker.index());
    let category = profile.string(profile.categories[row.category.index()].name);
    let mut facts: Facts = vec![("Category".into(), category.to_owned())];
    let schema = row.schema.map(|schema| &profile.marker_schemas[schema.index()]);
    for field in row.payload.map(|payload| profile.payloads.get(payload)).unwrap_or_default() {
        let known = schema.and_then(|schema| schema.fields.iter().find(|known| known.key == field.key));
        if known.is_some_and(|known| known.hidden) {
            continue;
        }
        let label = profile.string(known.and_then(|known| known.label).unwrap_or(field.key));
        let format = known.map_or("", |known| profile.string(known.format));
        facts.push((Cow::from(label.to_owned()), fields::formatted(profile, &field.value, format)));
    }
    if let Some(description) = schema.and_then(|schema| schema.description) {
        facts.push(("Meaning".into(), profile.string(description).to_owned()));
    }
    facts
}

/// A marker's data in one line, as its schema has it for tables; else all fields with their names.
pub fn marker_line(document: &Document, thread: ThreadId, marker: MarkerId) -> String {
    let profile = &document.profile;
    let row = profile.threads[thread.index()].markers.get(marker.index());
    let schema = row.schema.map(|schema| &profile.marker_schemas[schema.index()]);
    let fields = row.payload.map(|payload| profile.payloads.get(payload)).unwrap_or_default();
    let known = |field: &Field| schema.and_then(|schema| schema.fields.iter().find(|known| known.key == field.key));
    let value = |field: &Field| {
        let format = known(field).map_or("", |known| profile.string(known.format));
        fields::formatted(profile, &field.value, format)
    };
    let of_key = |key: &str| match key.strip_prefix("marker.data.") {
        Some(key) => fields.iter().find(|field| profile.string(field.key) == key).map(value).unwrap_or_default(),
        None if key == "marker.name" => profile.string(row.name).to_owned(),
        // Times have columns of their own.
        None => String::new(),
    };
    let template = schema.and_then(|schema| schema.table_label.or(schema.chart_label));
    let line = template.map(|template| fields::filled_in(profile.string(template), of_key)).unwrap_or_default();
    if !line.trim().is_empty() && line != profile.string(row.name) {
        return line;
    }
    let shown = fields.iter().filter(|field| !known(field).is_some_and(|known| known.hidden));
    let named = shown.map(|field| {
        let label = known(field).and_then(|known| known.label).unwrap_or(field.key);
        format!("{}: {}", profile.string(label), value(field))
    });
    named.collect::<Vec<_>>().join(", ")
}

/// What the flow of a member is called.
pub fn flow_name(document: &Document, member: u32) -> &str {
    let flows = &document.profile.flows;
    document.profile.string(flows.name[flows::flow_of(flows, member)])
}

/// The functions of a stack's innermost frames, at most so many, the innermost first.
pub fn innermost_functions(document: &Document, innermost: StackId, most: usize) -> Vec<&str> {
    let nodes = document.profile.stacks.ancestors(innermost).take(most);
    nodes.map(|node| document.function_name(document.function(node))).collect()
}

/// Where a link leads this way: `thread start in worker-3, 120 µs later`.
pub fn link_text(document: &Document, link: Link, way: Way) -> String {
    let members = &document.profile.flows.members;
    let [from, to] = [link.from, link.to].map(|member| members[member as usize]);
    let Nanos(later) = to.time - from.time;
    let there = flows::pick(document, link.end(way));
    // An end may be stamped before its start: then what came of it is earlier.
    let is_later = (way == Way::Forward) == (later >= 0);
    let apart = format_duration(Nanos(later.saturating_abs()));
    let when = if later == 0 {
        "at the same time".to_owned()
    } else {
        format!("{apart} {}", if is_later { "later" } else { "earlier" })
    };
    format!("{} in {}, {when}", name(document, &there), short_thread(document, there.thread))
}

/// A thread's name; its id, if it has none.
pub fn short_thread(document: &Document, thread: ThreadId) -> String {
    match document.thread_name(thread) {
        "" => format!("thread {}", document.profile.threads[thread.index()].tid),
        name => name.to_owned(),
    }
}
