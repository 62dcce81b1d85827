//! What data of markers holds: types, causes, ids, times.

use std::borrow::Cow;

use rustc_hash::FxHashMap;
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};

use super::super::read::Repairs;
use super::super::schema::{Fields, File, Payload, Thread};
use super::{fields_with, strings_of, text, threads_mut};

/// Whether a thread's process is the one that all times count from.
fn is_default_process(thread: &Thread<'_>) -> bool {
    thread.process_type.is_none_or(|kind| kind.get() == "\"default\"")
}

/// What times of a thread's process have to be moved by.
fn startup(thread: &Thread<'_>) -> f64 {
    thread.process_startup_time.unwrap_or(0.0)
}

/// The data of all markers that are called `name`.
fn fields_named<'f, 'a>(thread: &'f mut Thread<'a>, name: &'f str) -> impl Iterator<Item = &'f mut Fields<'a>> {
    let strings = strings_of(&thread.string_array);
    thread.markers.iter_mut().flat_map(move |markers| {
        let names = markers.name.as_deref().unwrap_or_default();
        let rows = markers.data.iter_mut().flatten().zip(names);
        rows.filter(move |(_, row)| text(strings, **row) == Some(name))
            .filter_map(|(data, _)| Payload::fields_mut(data))
    })
}

/// 6: the type of a DOM event had the key that now tells types of markers.
pub(super) fn rename_type_of_dom_events(file: &mut File<'_>, _repairs: &mut Repairs) {
    for fields in threads_mut(file).flat_map(|thread| fields_named(thread, "DOMEvent")) {
        if !fields.has("eventType") {
            fields.rename("type", "eventType");
        }
        fields.set("type", "DOMEvent");
    }
}

/// 8: time stamps of DOM events count from the start of the profile.
pub(super) fn shift_time_stamps(file: &mut File<'_>, _repairs: &mut Repairs) {
    for thread in threads_mut(file).filter(|thread| !is_default_process(thread)) {
        let startup = startup(thread);
        for fields in fields_named(thread, "DOMEvent") {
            if let Some(time) = fields.number("timeStamp") {
                fields.set("timeStamp", &(time + startup));
            }
        }
    }
}

/// 10 and 21: the stack that caused a marker was a small profile of its own.
pub(super) fn stacks_to_causes(file: &mut File<'_>, _repairs: &mut Repairs) {
    for thread in threads_mut(file) {
        let shift = if is_default_process(thread) { 0.0 } else { startup(thread) };
        for fields in fields_with(thread, "\"stack\"") {
            let Some(Value::Object(profile)) = fields.value("stack") else { continue };
            fields.remove("stack");
            let samples = profile.get("samples");
            let column = |name: &str| {
                let column = samples?.get("schema")?.get(name)?.as_u64()?;
                samples?.get("data")?.get(0)?.get(usize::try_from(column).ok()?)
            };
            if let Some(stack) = column("stack").and_then(Value::as_u64) {
                let time = column("time").and_then(Value::as_f64).map(|time| time + shift);
                fields.set("cause", &serde_json::json!({ "time": time, "stack": stack }));
            }
        }
    }
}

/// 16: all data has a type; some had it as a category, some not at all.
pub(super) fn type_by_name(file: &mut File<'_>, _repairs: &mut Repairs) {
    for thread in threads_mut(file) {
        for name in ["VsyncTimestamp", "LayerTranslation", "CompositorScreenshot"] {
            for fields in fields_named(thread, name) {
                fields.remove("category");
                fields.set("type", name);
            }
        }
    }
}

/// 19: the stages of a request count from the start of the profile.
pub(super) fn shift_network_times(file: &mut File<'_>, _repairs: &mut Repairs) {
    const STAGES: [&str; 9] = [
        "domainLookupStart",
        "domainLookupEnd",
        "connectStart",
        "tcpConnectEnd",
        "secureConnectionStart",
        "connectEnd",
        "requestStart",
        "responseStart",
        "responseEnd",
    ];
    for thread in threads_mut(file) {
        let startup = startup(thread);
        for fields in fields_with(thread, "\"Network\"").filter(|fields| is_type(fields, "Network")) {
            for stage in STAGES {
                if let Some(time) = fields.number(stage).filter(|time| *time != 0.0) {
                    fields.set(stage, &(time + startup));
                }
            }
        }
    }
}

fn is_type(fields: &Fields<'_>, kind: &str) -> bool {
    fields.str("type").as_deref() == Some(kind)
}

/// 22: `DiskIO` is `FileIO`.
pub(super) fn disk_io_to_file_io(file: &mut File<'_>, _repairs: &mut Repairs) {
    for thread in threads_mut(file) {
        let strings = thread.string_array.get_or_insert_default();
        let Some(markers) = &mut thread.markers else { continue };
        let mut renamed = None;
        for (row, data) in markers.data.iter_mut().flatten().enumerate().filter(|(_, data)| data.may_hold("\"DiskIO\""))
        {
            let Some(fields) = data.fields_mut().filter(|fields| is_type(fields, "DiskIO")) else { continue };
            fields.set("type", "FileIO");
            let name = *renamed.get_or_insert_with(|| super::add_text(strings, "FileIO"));
            if let Some(names) = markers.name.as_mut().and_then(|names| names.get_mut(row)) {
                *names = name;
            }
        }
    }
}

/// 25: documents have numbers, in place of two ids.
pub(super) fn number_windows(file: &mut File<'_>, _repairs: &mut Repairs) {
    let (mut windows, mut tabs) = (FxHashMap::default(), FxHashMap::default());
    for page in file.pages.iter_mut().flatten() {
        let id = |key: &str, page: &Fields<'_>| page.get(key).unwrap_or("null").to_owned();
        let (shell, history) = (id("docshellId", page), id("historyId", page));
        let number = windows.len() as u64 + 1;
        windows.insert((shell.clone(), history), number);
        let next_tab = tabs.len() as u64 + 1;
        let tab = *tabs.entry(shell).or_insert(next_tab);
        page.set("browsingContextID", &tab);
        page.set("innerWindowID", &number);
        page.set("embedderInnerWindowID", &0);
        for key in ["docshellId", "historyId", "isSubFrame"] {
            page.remove(key);
        }
    }
    if windows.is_empty() {
        return;
    }
    for fields in threads_mut(file).flat_map(|thread| fields_with(thread, "\"docShellId\"")) {
        if let (Some(shell), Some(history)) = (fields.get("docShellId"), fields.get("docshellHistoryId")) {
            let window = windows.get(&(shell.to_owned(), history.to_owned())).copied();
            if let Some(window) = window {
                fields.set("innerWindowID", &window);
            }
            fields.remove("docShellId");
            fields.remove("docshellHistoryId");
        }
    }
}

/// 34: causes count from the start of the profile; of some types they did already.
pub(super) fn shift_causes(file: &mut File<'_>, _repairs: &mut Repairs) {
    for thread in threads_mut(file) {
        let startup = startup(thread);
        if startup == 0.0 {
            continue;
        }
        for fields in fields_with(thread, "\"cause\"") {
            let shifted = is_type(fields, "tracing") || is_type(fields, "Styles");
            let Some(mut cause) = fields.value("cause").filter(|_| !shifted) else { continue };
            if let Some(time) = cause.get("time").and_then(Value::as_f64) {
                cause["time"] = (time + startup).into();
                fields.set("cause", &cause);
            }
        }
    }
}

/// 35: browsing contexts are tabs.
pub(super) fn rename_tabs(file: &mut File<'_>, _repairs: &mut Repairs) {
    for page in file.pages.iter_mut().flatten() {
        page.rename("browsingContextID", "tabID");
    }
    for (key, value) in file.meta.iter_mut().flat_map(|meta| &mut meta.kept) {
        if key == "configuration"
            && let Ok(mut configuration) = serde_json::from_str::<Fields<'_>>(value.get())
            && configuration.has("activeBrowsingContextID")
        {
            configuration.rename("activeBrowsingContextID", "activeTabID");
            if let Some(renamed) = raw(&configuration) {
                *value = renamed;
            }
        }
    }
}

fn raw<'a>(value: &impl serde::Serialize) -> Option<Cow<'a, RawValue>> {
    to_raw_value(value).ok().map(Cow::Owned)
}

/// 47: pids are text.
pub(super) fn other_pids_to_text(file: &mut File<'_>, _repairs: &mut Repairs) {
    for fields in threads_mut(file).flat_map(|thread| fields_with(thread, "\"IPC\"")) {
        if is_type(fields, "IPC")
            && let Some(Value::Number(pid)) = fields.value("otherPid")
        {
            fields.set("otherPid", &pid.to_string());
        }
    }
}

/// 59: threads list the documents that their frames and markers are of.
pub(super) fn list_windows(file: &mut File<'_>, _repairs: &mut Repairs) {
    for thread in threads_mut(file) {
        let frames = thread.frame_table.iter().flat_map(|frames| frames.inner_window_id.iter().flatten());
        let mut windows: Vec<u64> = frames.filter_map(|window| window.0).collect();
        for data in thread.markers.iter().flat_map(|markers| markers.data.iter().flatten()) {
            if data.may_hold("\"innerWindowID\"")
                && let Some(Value::Number(window)) = data.fields().and_then(|fields| fields.value("innerWindowID"))
            {
                windows.extend(window.as_u64());
            }
        }
        // In the order of their first use.
        let mut seen = rustc_hash::FxHashSet::default();
        windows.retain(|window| *window != 0 && seen.insert(*window));
        let known = thread.kept.iter().any(|(key, _)| key == "usedInnerWindowIDs");
        if !windows.is_empty() && !known {
            thread.kept.extend(raw(&windows).map(|windows| ("usedInnerWindowIDs".into(), windows)));
        }
    }
}
