//! Small files and what becomes of them.

use super::super::schema::{Id, Row, Thread};
use super::*;
use crate::model::Warning;

/// A thread with a stack of three frames: a label, an address, an address.
const THREAD: &str = r#"{"name": "GeckoMain", "processType": "default", "pid": 7, "tid": 8, "registerTime": 1,
    "unregisterTime": null, "stringTable": ["(root)", "0x1010", "0x1020", "m", "f (https://x.org/a.js:1:2)[0]"],
    "frameTable": {"schema": {"location": 0, "relevantForJS": 1, "line": 2, "category": 3},
        "data": [[0, true], [1], [2, false, 5, 0], [4]]},
    "stackTable": {"schema": {"prefix": 0, "frame": 1}, "data": [[null, 0], [0, 1], [1, 2], [0, 3]]},
    "samples": {"schema": {"stack": 0, "time": 1, "eventDelay": 2, "threadCPUDelta": 3}, "data": SAMPLES},
    "markers": {"schema": {"name": 0, "startTime": 1, "endTime": 2, "phase": 3, "category": 4, "data": 5}, "data": MARKERS}}"#;

const LIBS: &str = r#"[{"start": 4096, "end": 8192, "offset": 0, "name": "x", "debugName": "x", "breakpadId": "B"}]"#;

fn thread(samples: &str, markers: &str) -> String {
    THREAD.replace("SAMPLES", samples).replace("MARKERS", markers)
}

fn file(threads: &str, more: &str) -> String {
    format!(
        r#"{{"meta": {{"version": 36, "startTime": 1000, "interval": 1, "categories": [], "markerSchema":
            [{{"name": "U", "display": [], "data": [{{"key": "s", "format": "unique-string"}},
                {{"label": "Marker", "value": "U"}}, {{"label": "Description", "value": "of all"}}]}}]}},
            "libs": {LIBS}, "threads": [{threads}], "sources": {{"schema": {{"id": 0, "filename": 1}}, "data": [["i", "a.js"]]}}
            {more}}}"#
    )
}

fn converted<T>(text: &str, look: impl FnOnce(&File<'_>) -> T) -> (T, Vec<Warning>) {
    let mut report = ImportReport::default();
    let embedded = OnceCell::new();
    let version = version(text).unwrap_or_else(|error| panic!("{error}"));
    let file = convert(text, version, &embedded, &mut report).unwrap_or_else(|error| panic!("{error}"));
    (look(&file), report.into_warnings())
}

fn refused(text: &str) -> String {
    read(text.as_bytes()).expect_err("no raw file").to_string()
}

fn threads<'f, 'a>(file: &'f File<'a>) -> &'f [Thread<'a>] {
    file.threads.as_ref().expect("threads")
}

fn string(file: &File<'_>, row: Row) -> String {
    let strings = file.shared.as_ref().and_then(|shared| shared.string_array.as_ref()).expect("strings");
    strings[row.0 as usize].as_ref().expect("a string").0.clone().into_owned()
}

/// A stack, outermost first: names and addresses.
fn stack(file: &File<'_>, mut row: Row) -> Vec<(String, i64)> {
    let shared = file.shared.as_ref().expect("tables");
    let (stacks, frames) = (shared.stack_table.as_ref().expect("stacks"), shared.frame_table.as_ref().expect("frames"));
    let names = shared.func_table.as_ref().and_then(|table| table.name.as_ref()).expect("names");
    let mut found = Vec::new();
    while let Some(index) = row.get() {
        let frame = stacks.frame.as_ref().expect("frames")[index as usize].0 as usize;
        let function = frames.func.as_ref().expect("functions")[frame].0 as usize;
        found.push((string(file, names[function]), frames.address.as_ref().expect("addresses")[frame].0));
        row = stacks.prefix.as_ref().expect("prefixes")[index as usize];
    }
    found.reverse();
    found
}

fn payload(thread: &Thread<'_>, row: usize) -> String {
    let data = &thread.markers.as_ref().and_then(|markers| markers.data.as_ref()).expect("data")[row];
    let fields = data.fields().expect("fields");
    fields.0.iter().map(|(key, value)| format!("{key}={}", value.get())).collect::<Vec<_>>().join(" ")
}

#[test]
fn callers_are_one_byte_before_their_return_address() {
    let text = file(&thread("[[2, 0.5, 3, 10], [1, 1, 0], [null, 2, 0]]", "[]"), "");
    let (stacks, warnings) = converted(&text, |file| {
        let samples = threads(file)[0].samples.as_ref().expect("samples");
        samples.stack.as_ref().expect("stacks").iter().map(|row| stack(file, *row)).collect::<Vec<_>>()
    });
    let frame = |name: &str, address| (name.to_owned(), address);
    assert_eq!(stacks[0], [frame("(root)", -1), frame("0x1010", 0xf), frame("0x1020", 0x20)]);
    assert_eq!(stacks[1], [frame("(root)", -1), frame("0x1010", 0x10)]);
    assert_eq!(stacks[2], []);
    assert_eq!(warnings, []);
}

#[test]
fn frames_tell_functions_resources_and_sources() {
    let text = file(&thread("[[3, 0, 0]]", "[]"), "");
    converted(&text, |file| {
        let shared = file.shared.as_ref().expect("tables");
        let functions = shared.func_table.as_ref().expect("functions");
        let resources = shared.resource_table.as_ref().expect("resources");
        let flags = |column: &Option<Vec<super::super::schema::Flag>>| {
            column.as_ref().expect("flags").iter().map(|flag| flag.0).collect::<Vec<_>>()
        };
        assert_eq!(flags(&functions.relevant_for_js), [true, false, false, false]);
        assert_eq!(flags(&functions.is_js), [false, false, false, true]);
        assert_eq!(functions.resource.as_ref().expect("resources"), &[Row::NONE, Row(0), Row(0), Row(1)]);
        assert_eq!(functions.line_number.as_ref().expect("lines")[3], Row(1));
        assert_eq!(functions.source.as_ref().expect("sources")[3], Row(0));
        let names = resources.name.as_ref().expect("names").iter().map(|row| string(file, *row)).collect::<Vec<_>>();
        assert_eq!(names, ["x", "https://x.org"]);
        assert_eq!(resources.kind.as_ref().expect("kinds"), &[Row(1), Row(3)]);
        let ids = shared.sources.as_ref().and_then(|sources| sources.id.as_ref()).expect("ids");
        assert_eq!(ids[0].as_ref().expect("an id").0, "i");
    });
}

#[test]
fn other_processes_are_moved_by_their_start() {
    let marker =
        r#"[3, 1, 2, 1, 0, {"type": "Network", "startTime": 1, "endTime": 2, "responseEnd": 1.5, "other": 9}]"#;
    let inner = thread("[[2, 0.5, 3, 10]]", &format!("[{marker}]")).replace("\"pid\": 7", "\"pid\": 9");
    let counter = r#"[{"name": "c", "category": "Memory", "description": "", "samples":
        {"schema": {"time": 0, "count": 1}, "data": [[1, 5]]}}, {"name": "never", "samples": {"schema": {}, "data": []}}]"#;
    let process = |inside: &str, start: u32| {
        format!(
            r#"{{"meta": {{"version": 36, "startTime": {start}, "shutdownTime": 50}}, "libs": [], "threads": [{inner}],
                "counters": {counter}, "processes": [{inside}]}}"#
        )
    };
    let more = format!(r#", "processes": [{}]"#, process(&process("", 1250), 1200));
    let ((), warnings) = converted(&file(&thread("[]", "[]"), &more), |file| {
        let [first, second, third] = threads(file) else { panic!("three threads") };
        assert_eq!((first.process_startup_time, first.process_shutdown_time), (Some(0.0), None));
        assert_eq!((second.process_startup_time, second.process_shutdown_time), (Some(200.0), Some(250.0)));
        assert_eq!((second.register_time, second.unregister_time), (Some(201.0), None));
        assert_eq!(third.process_startup_time, Some(250.0));
        assert_eq!(second.pid, Id::Text("9".to_owned()));
        assert_eq!(second.samples.as_ref().and_then(|samples| samples.time.as_ref()).expect("times")[0].0, 200.5);
        let markers = second.markers.as_ref().expect("markers");
        assert_eq!(markers.end_time.as_ref().expect("ends")[0].0, 202.0);
        assert_eq!(payload(second, 0), r#"type="Network" startTime=201.0 endTime=202.0 responseEnd=201.5 other=9"#);
        let [counter, _] = &file.counters.as_ref().expect("counters")[..] else { panic!("two counters") };
        assert_eq!((counter.main_thread_index, &counter.pid), (Row(1), &second.pid));
        let samples = counter.samples.as_ref().expect("samples");
        assert_eq!(samples.time.as_ref().expect("times")[0].0, 201.0);
    });
    assert_eq!(warnings, []);
}

#[test]
fn backtraces_become_causes_and_allocations_tables() {
    let backtrace = r#""stack": {"tid": 8, "samples": {"schema": {"stack": 0, "time": 1}, "data": [[2, 0.25]]}}"#;
    let markers = format!(
        r#"[[3, 9, null, 0, 0, {{"type": "U", "s": 3, {backtrace}}}], [3, 2, null, 0, 0, {{"type": "T", "stack": "text"}}],
            [3, 1, null, 0, 0, {{"type": "JS allocation", "className": "C", "size": 5, "inNursery": true, {backtrace}}}],
            [3, 1, null, 0, 0, {{"type": "Native allocation", "size": -6, "memoryAddress": 70, "threadId": 8}}],
            [3, null, null, 0, 0], [99, 10, null, 0, 0], [3, 11, null, 0, 0, {{"type": "U", "s": 50}}]]"#
    );
    let ((), warnings) = converted(&file(&thread("[[2, 0, 0]]", &markers), ""), |file| {
        let thread = &threads(file)[0];
        let names = thread.markers.as_ref().and_then(|markers| markers.name.as_ref()).expect("names");
        let names: Vec<_> = names.iter().map(|row| string(file, *row)).collect();
        assert_eq!(names, ["m", "m", "(unknown)", "m"]);
        assert_eq!(payload(thread, 0), r#"type="T" stack="text""#);
        let changed = payload(thread, 1);
        let (text, cause) = changed.split_once(" cause=").expect("a cause");
        let row: u32 = text.strip_prefix("type=\"U\" s=").and_then(|row| row.parse().ok()).expect("a string");
        assert_eq!(string(file, Row(row)), "m");
        let cause: Value = serde_json::from_str(cause).expect("JSON");
        assert_eq!((&cause["tid"], &cause["time"]), (&Value::from(8), &Value::from(0.25)));
        let row = u32::try_from(cause["stack"].as_u64().expect("a row")).expect("small");
        assert_eq!(stack(file, Row(row)).last().expect("a frame"), &("0x1020".to_owned(), 0x1f));
        let js = thread.js_allocations.as_ref().expect("allocations");
        assert_eq!(js.weight, Some(Numbers::Whole(vec![5])));
        assert_eq!(stack(file, js.stack.as_ref().expect("stacks")[0]).len(), 3);
        let native = thread.native_allocations.as_ref().expect("allocations");
        assert_eq!(native.weight, Some(Numbers::Whole(vec![-6])));
        assert_eq!(native.memory_address.as_ref().expect("addresses")[0].0, Some(70));
        assert_eq!(native.stack.as_ref().expect("stacks")[0], Row::NONE);
    });
    let codes: Vec<_> = warnings.iter().map(|warning| (&*warning.code, warning.count)).collect();
    assert_eq!(codes, [("raw-marker-time", 1), ("raw-marker-name", 1), ("raw-marker-string", 1)]);
    assert_eq!(warnings[0].first.as_deref(), Some("threads[0].markers.data[4]"));
}

#[test]
fn rows_that_do_not_exist_are_marked() {
    let broken =
        thread("[[9, 0, 0], [-1, 1, 0], [1.5, 2, 0]]", "[]").replace("[0, 3]]", "[0, 3], [9, 1], [5, 2], [1, 99]]");
    let broken = broken
        .replace("[[9, 0, 0]", "[[9, 0, 0], [4, 0, 0], [5, 0, 0], [6, 0, 0]")
        .replace("[[0, true]", "[[77, true]");
    let ((), warnings) = converted(&file(&broken, ""), |file| {
        let shared = file.shared.as_ref().expect("tables");
        let stacks = shared.stack_table.as_ref().expect("stacks");
        let samples = threads(file)[0].samples.as_ref().and_then(|samples| samples.stack.as_ref()).expect("stacks");
        assert_eq!([samples[0], samples[4], samples[5]], [Row::BAD, Row::NONE, Row::BAD]);
        // A caller that is no row, one that is the stack itself, a frame that is none.
        for (sample, column) in [(1, &stacks.prefix), (2, &stacks.prefix), (3, &stacks.frame)] {
            assert_eq!(column.as_ref().expect("rows")[samples[sample].0 as usize], Row::BAD, "{sample}");
        }
    });
    let codes: Vec<_> = warnings.iter().map(|warning| &*warning.code).collect();
    assert_eq!(codes, ["raw-frame-location"]);
}

#[test]
fn old_processes_are_text_in_text() {
    let old = |threads: &str, version: u32| {
        let libs = Value::from(r#"[{"breakpadId": "B", "name": "/lib/x", "start": 4096, "end": 8192}]"#);
        format!(
            r#"{{"meta": {{"version": {version}, "startTime": 0, "interval": 1, "abi": "x86_64-gcc3"}}, "libs": {libs}, "threads": [{threads}]}}"#
        )
    };
    let thread =
        thread("[[2, 0, 0]]", "[]").replace("GeckoMain", "Content").replace(r#""processType": "default","#, "");
    let thread = thread.replace(r#""pid": 7,"#, "");
    let text = old(&format!("{thread}, {}", Value::from(old(&thread, 3))), 3);
    let ((), warnings) = converted(&text, |file| {
        let pids: Vec<_> = threads(file).iter().map(|thread| thread.pid.clone()).collect();
        assert_eq!(pids, [1, 2].map(|number| Id::Text(format!("Unknown Process {number}"))));
        assert_eq!(threads(file)[1].process_type.expect("a type").get(), "\"tab\"");
        let libs = file.libs.as_ref().expect("libraries");
        assert_eq!((libs.len(), &*libs[0].name.as_ref().expect("a name").0), (1, "x"));
        assert_eq!(file.meta.as_ref().and_then(|meta| meta.categories.as_ref()).expect("categories").len(), 8);
    });
    assert_eq!(
        warnings.iter().map(|warning| (&*warning.code, warning.count)).collect::<Vec<_>>(),
        [("raw-library-offset", 2)]
    );
    let broken = old(r#""{\"meta\": {}, \"threads\": 5}""#, 4).replace(r#""libs": ""#, r#""no": ""#);
    let error = refused(&broken);
    assert!(
        error.starts_with("threads[0]: in the text of the string: byte 24: threads[0].threads: expected "),
        "{error}"
    );
}

#[test]
fn other_versions_are_refused_by_name() {
    for (version, shown) in [("2", "2"), ("37", "37"), ("3.5", "3.5"), ("\"36\"", "\"36\""), ("null", "null")] {
        let text = file("", "").replace("\"version\": 36", &format!("\"version\": {version}")).replace("threads", "x");
        let expected = format!("version {shown} of raw Firefox profiles is not supported (3 to 36 is)");
        assert_eq!(refused(&text), expected, "{version}");
    }
}

#[test]
fn mistakes_have_their_byte() {
    let good = file(&thread("[[2, 0, 0]]", "[]"), "");
    let bad = good.replace("[[2, 0, 0]]", "[[2, 0, 0], {}]");
    // Found out by the byte before it.
    let at = bad.find("{}]").expect("the mistake") - 1;
    let error = refused(&bad);
    assert!(
        error.starts_with(&format!("byte {at}: threads[0]: expected a row of a table, found an object")),
        "{error}, expected {at}"
    );
    assert!(refused(&good[..good.len() - 5]).starts_with("the file ends too early"));
    for cut in 0..good.len() {
        refused(&good[..cut]);
    }
}

#[test]
fn deep_and_many_processes_are_borne() {
    let mut nested = String::new();
    for depth in (0..12).rev() {
        nested = format!(r#"{{"meta": {{"startTime": {depth}}}, "threads": [], "processes": [{nested}]}}"#);
    }
    let (count, warnings) = converted(&file("", &format!(r#", "processes": [{nested}]"#)), |file| threads(file).len());
    assert_eq!(count, 0);
    assert_eq!((&*warnings[0].code, warnings[0].count), ("raw-process-depth", 1));
    let deep = "[".repeat(1_000_000) + &"]".repeat(1_000_000);
    converted(&file("", &format!(r#", "unknown": {deep}"#)), |file| assert!(file.kept.is_empty()));
    let processes = r#"{"meta":{},"threads":[]},"#.repeat(10_000);
    let text = file("", &format!(r#", "processes": [{}]"#, processes.trim_end_matches(',')));
    converted(&text, |file| assert!(threads(file).is_empty()));
}

#[test]
fn raw_files_are_known_by_version_and_threads() {
    assert!(sniff(file("", "").as_bytes()));
    assert!(sniff(format!(r#"{{"profile": {}}}"#, file("", "")).as_bytes()));
    assert!(!sniff(br#"{"meta": {"version": "4"}, "threads": []}"#));
    assert!(!sniff(br#"{"meta": {"version": 4}}"#));
    assert!(!sniff(br#"{"threads": [{"meta": {"version": 4}}]}"#));
    converted(&format!(r#"{{"profile": {}}}"#, file("", "")), |file| assert!(threads(file).is_empty()));
}
