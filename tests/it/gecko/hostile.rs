//! What is not a whole, sound file is refused with the place and the value; nothing panics.

use serde_json::{Value, json};
use traceview_core::format::{self, ReadError, WriteOptions};
use traceview_tests::rich_profile::rich_profile;

use super::{firefox, json as parsed, read, written};

/// The rich file with the value at `pointer` replaced.
fn with(pointer: &str, value: &Value) -> Vec<u8> {
    let mut file = parsed(&written(&rich_profile()));
    *file.pointer_mut(pointer).unwrap_or_else(|| panic!("{pointer} is in the file")) = value.clone();
    file.to_string().into_bytes()
}

#[test]
fn a_file_that_was_cut_anywhere_is_refused() {
    let plain = written(&rich_profile());
    let mut packed = Vec::new();
    format::write(&rich_profile(), firefox(true), &WriteOptions::default(), &mut packed).expect("memory does not fail");
    for whole in [plain, packed] {
        for part in 0..50 {
            let cut = &whole[..whole.len() * part / 50];
            let error = read(cut).expect_err("a cut file");
            match (part, &error) {
                (0, ReadError::Empty) => {}
                (_, ReadError::Truncated { .. } | ReadError::TruncatedCompression { .. }) => {}
                _ => panic!("{part}/50: {error}"),
            }
        }
        assert!(read(&whole[..whole.len() - 1]).is_err());
    }
}

/// Why a file is refused, or read as if it were of another tool.
fn complaint(bytes: &[u8]) -> String {
    match read(bytes) {
        Err(error) => error.to_string(),
        Ok(profile) => {
            let changed = profile.meta.warnings.iter().find(|warning| warning.code == "traceview-ignored");
            changed.and_then(|warning| warning.first.clone()).unwrap_or_else(|| "nothing".to_owned())
        }
    }
}

#[test]
fn values_that_are_not_what_they_have_to_be_are_told_with_their_place() {
    let max = json!(u32::MAX);
    let cases = [
        ("/shared/stackTable/frame/2", json!(9999), "shared.stackTable.frame[2]: references to rows that do not exist"),
        (
            "/shared/stackTable/prefix/1",
            json!(1),
            "shared.stackTable.prefix[1]: 1: stacks whose caller does not stand before them",
        ),
        ("/shared/stackTable/prefix/1", max.clone(), "shared.stackTable.prefix[1]: references to rows"),
        ("/shared/stackTable/frame", json!([0]), "shared.stackTable.frame: columns are longer or shorter"),
        ("/shared/frameTable/func/0", max.clone(), "shared.frameTable.func[0]: references to rows"),
        (
            "/shared/frameTable/address/0",
            json!(-2),
            "shared.frameTable.address[0]: values that are no numbers of their kind",
        ),
        ("/shared/frameTable/nativeSymbol/0", json!(77), "shared.frameTable.nativeSymbol[0]: references to rows"),
        (
            "/shared/frameTable/inlineDepth/0",
            json!(70000),
            "shared.frameTable.inlineDepth[0]: values that are no numbers",
        ),
        ("/shared/frameTable/line/0", json!("x"), "shared.frameTable.line[0]: values that are no numbers"),
        ("/shared/funcTable/name/0", json!(5000), "shared.funcTable.name[0]: references to rows"),
        ("/shared/funcTable/resource/0", json!(-7), "shared.funcTable.resource[0]: references to rows"),
        ("/shared/resourceTable/type/0", json!(9), "shared.resourceTable.type[0]: values that are no numbers"),
        ("/shared/nativeSymbols/libIndex/0", json!(9), "shared.nativeSymbols.libIndex[0]: references to rows"),
        ("/shared/sources/length", json!(9), "shared.sources.length: columns are longer or shorter"),
        ("/shared/stringArray", json!([]), "meta.traceview.rows.strings"),
        ("/threads/0/samples/time/1", json!(1e300), "threads[0].samples.time: these are not the times"),
        ("/threads/0/samples/time/1", json!(5e9), "threads[0].samples.time: these are not the times"),
        ("/threads/0/samples/time/1", json!(null), "threads[0].samples.time: these are not the times"),
        ("/threads/0/samples/stack/0", json!(1_000_000), "threads[0].samples.stack[0]: references to rows"),
        ("/threads/0/samples/weightType", json!("kg"), "threads[0].samples.weightType: \"kg\": weights in a unit"),
        ("/threads/2/samples/weight", json!(null), "threads[2].samples.weight: missing"),
        ("/threads/2/samples/weight/0", json!(0.5), "threads[2].samples.weight[0]: not a whole number"),
        (
            "/threads/0/samples/threadCPUDelta",
            json!([1]),
            "threads[0].samples.threadCPUDelta: columns are longer or shorter",
        ),
        ("/threads/1/markers/phase/0", json!(4), "threads[1].markers.phase[0]: a marker of phase Some(4)"),
        ("/threads/1/markers/startTime/0", json!(null), "threads[1].markers.phase[0]: a marker of phase Some(0) lacks"),
        (
            "/threads/1/markers/data/0/cause/stack",
            json!(-2),
            "threads[1].markers.data[0].cause.stack: references to rows",
        ),
        ("/threads/1/markers/category/0", json!(99), "threads[1].markers.category[0]: row 99"),
        ("/threads/1/traceview/markers/rows", json!(99), "threads[1].markers (traceview).rows: 99 rows"),
        ("/threads/1/traceview/markers/payload/0", json!(99), "threads[1].markers (traceview).payload[0]: row 99"),
        ("/threads/0/traceview", json!(null), "threads[0].traceview: missing"),
        ("/threads/0/traceview/process", max.clone(), "threads[0].traceview.process: row 4294967295"),
        ("/threads/0/traceview/samples/added", json!([3, 3]), "added[1]: row 3 is not between 4 and"),
        ("/threads/0/traceview/samples/added", json!([max]), "added[0]: row 4294967295"),
        ("/threads/0/traceview/samples/added", json!([]), "threads[0].samples.stack[3]: references to rows"),
        ("/threads/0/traceview/samples/flags", json!([0]), "columns are of one length"),
        ("/threads/0/traceview/samples/labels/0", json!(9), "labels[0]: row 9"),
        ("/threads/0/traceview/waits/reason/0", json!(9), "threads[0].traceview.waits.reason[0]: unknown reason 9"),
        ("/threads/0/traceview/waits/stack", json!([]), "threads[0].traceview.waits.stack: 0 rows instead of 5"),
        ("/threads/0/traceview/waits/duration/0", json!(-1), "its duration is not negative"),
        ("/threads/1/traceview/slices/parent/1", max.clone(), "threads[1].traceview.slices.parent[1]: row 4294967295"),
        ("/threads/1/traceview/slices/parent/1", json!(2), "a parent stands before its children"),
        ("/threads/1/traceview/slices/incomplete/0", json!(7), "threads[1].traceview.slices.incomplete: row 7 of 3"),
        ("/meta/traceview/functions/fileRow/0", json!(99), "meta.traceview.functions.fileRow[0]: row 99"),
        ("/meta/traceview/functions/kind/0", json!(99), "meta.traceview.functions.kind[0]: unknown kind 99"),
        ("/meta/traceview/frames/address/row/0", json!(99), "meta.traceview.frames.address.row[0]: row 99"),
        ("/meta/traceview/frames/address/value", json!([]), "meta.traceview.frames.address.value: 0 rows instead of"),
        ("/meta/traceview/frames/function/value/0", json!(99), "meta.traceview.frames.function.value[0]: row 99"),
        ("/meta/traceview/labelSets/first/1", json!(99), "meta.traceview.labelSets.first[0]: rows 0 to 99"),
        ("/meta/traceview/labelSets/unit/0", json!(-9), "meta.traceview.labelSets.unit[0]: -9 is not a string"),
        ("/meta/traceview/payloads/kind", json!("x"), "meta.traceview.payloads.kind: 1 rows instead of"),
        ("/meta/traceview/payloads/value/0", json!(-1), "meta.traceview.payloads.value[0]: -1 is not a row"),
        ("/meta/traceview/payloads/float", json!([]), "meta.traceview.payloads.value[1]: 0 is not a row"),
        ("/meta/traceview/processes/1/parent", json!(5), "meta.traceview.processes[1].parent: row 5"),
        ("/meta/traceview/mappings/end/0", json!(0), "mappings row 0: it is not empty"),
        ("/meta/traceview/flows/slice/0", max, "meta.traceview.flows.slice[0]: row 4294967295"),
        ("/meta/traceview/flows/slice/0", json!(9), "what its members are bound to is in the profile"),
        ("/meta/traceview/flows/phase/0", json!(9), "meta.traceview.flows.phase[0]: unknown phase 9"),
        ("/meta/traceview/flows/first/0", json!(1), "meta.traceview.flows.first: the first set does not begin"),
        ("/meta/traceview/categories/0/color", json!("pink"), "categories[0].color: unknown colour \"pink\""),
        ("/meta/traceview/symbolStatus", json!([]), "meta.traceview.symbolStatus: 0 rows instead of 2"),
        ("/meta/traceview/rows/frames", json!(99), "meta.traceview.rows.frames: 99 rows, but the file has only"),
        ("/meta/traceview/rows/stacks", json!(0), "threads[0].traceview.waits.stack[0]: row 3 does not exist"),
        ("/meta/traceview/counters", json!([]), "meta.traceview.counters: 0 rows instead of 3"),
        ("/meta/traceview/counters/2/lead", json!(true), "meta.traceview.counters[2].lead: the counter has no rows"),
        ("/counters/0/samples/count", json!([]), "counters[0].samples.count: columns are longer or shorter"),
        ("/counters/0/display/graphType", json!("pie"), "counters[0].display.graphType: \"pie\": counters with kinds"),
        ("/meta/preprocessedProfileVersion", json!(70), "version 70 of files with meta.traceview is not supported"),
        ("/meta/preprocessedProfileVersion", json!(71), "version 71 of Firefox profiles is not supported (0 to 70 is)"),
        ("/meta/preprocessedProfileVersion", json!("64"), "version \"64\" of Firefox profiles is not supported"),
        ("/meta/traceview/version", json!(2), "version 2 of meta.traceview is not supported (1 is)"),
        ("/threads", json!({}), "expected an array of objects, found an object"),
        ("/meta", json!(null), "not a profile in a known format"),
    ];
    for (pointer, value, message) in cases {
        let error = complaint(&with(pointer, &value));
        assert!(error.contains(message), "{pointer} = {value}: {error}");
    }
}

#[test]
fn missing_parts_are_missed_unless_traceview_has_them_too() {
    let whole = parsed(&written(&rich_profile()));
    for (parent, key) in [
        ("", "shared"),
        ("", "threads"),
        ("/meta", "interval"),
        ("/meta", "categories"),
        ("/meta", "markerSchema"),
        ("/shared", "stringArray"),
        ("/shared", "sources"),
        ("/shared/stackTable", "prefix"),
        ("/shared/stackTable", "length"),
        ("/shared/frameTable", "func"),
        ("/threads/0", "samples"),
        ("/threads/0", "pid"),
        ("/threads/0/samples", "stack"),
        ("/threads/0/markers", "data"),
        ("/meta/traceview", "payloads"),
    ] {
        let mut file = whole.clone();
        let object = file.pointer_mut(parent).and_then(Value::as_object_mut).expect("an object");
        object.remove(key).expect("the key is in the file");
        let bytes = file.to_string().into_bytes();
        let is_whole = read(&bytes).is_ok_and(|profile| profile == rich_profile());
        assert!(is_whole || complaint(&bytes) != "nothing", "{parent}/{key}");
    }
    let mut file = whole;
    file["threads"][0]["samples"].as_object_mut().expect("an object").remove("time");
    let error = complaint(file.to_string().as_bytes());
    assert_eq!(error, "threads[0].samples.time: these are not the times that were written with traceview");
}

#[test]
fn what_is_not_json_is_refused_with_its_offset() {
    let head = "{\"meta\":{\"preprocessedProfileVersion\":64,";
    for (tail, offset, message) in [
        ("\"interval\":NaN}}", 51, "expected a value"),
        ("\n\n \"interval\":1e999}}", 59, "number out of range"),
        ("}", 41, "trailing comma"),
        ("\"interval\":\"\u{1}\"}}", 53, "control character"),
    ] {
        let error = read(format!("{head}{tail}").as_bytes()).expect_err(tail);
        let ReadError::Syntax { offset: found, message: text } = &error else { panic!("{tail}: {error}") };
        assert!(text.contains(message), "{tail}: {error}");
        assert!(found.abs_diff(offset) <= 1, "{tail}: {error}, expected near {offset}");
    }
}

#[test]
fn deep_nesting_does_not_exhaust_the_stack() {
    let deep = format!("{}1{}", "[".repeat(1_000_000), "]".repeat(1_000_000));
    for (file, message) in [
        (format!("{{\"preprocessedProfileVersion\":{deep}}}"), "not a profile in a known format"),
        (format!("{{\"meta\":{{\"preprocessedProfileVersion\":64,\"interval\":{deep}}}}}"), "found an array"),
    ] {
        let error = read(file.as_bytes()).expect_err("too deep").to_string();
        assert!(error.contains(message), "{error}");
    }
    let mut data = parsed(&written(&rich_profile()))["threads"][1]["markers"]["data"][0].clone();
    data["x"] = json!("DEEP");
    let file = String::from_utf8(with("/threads/1/markers/data/0", &data)).expect("text").replace("\"DEEP\"", &deep);
    // Nobody has to look into it.
    assert_eq!(read(file.as_bytes()).expect("a sound file"), rich_profile());
}

#[test]
fn half_a_surrogate_pair_in_a_name_is_replaced() {
    let text = String::from_utf8(written(&rich_profile())).expect("text");
    let broken = text.replace("demo::Vec<u8>::push", "demo::Vec<\\ud83d>::push");
    assert_ne!(text, broken);
    let profile = read(broken.as_bytes()).expect("a readable file");
    assert!(profile.strings.iter().any(|name| name.starts_with("demo::Vec<\u{fffd}")));
}

#[test]
fn no_single_changed_byte_makes_reading_panic() {
    let bytes = written(&rich_profile());
    // Every digit becomes a 9, which reaches rows that do not exist; then other bytes, some of them not JSON.
    for (at, byte) in bytes.iter().enumerate().step_by(7) {
        let mut changed = bytes.clone();
        changed[at] = if byte.is_ascii_digit() { b'9' } else { [b'0', b'-', b'"', 0xff][at % 4] };
        drop(read(&changed));
    }
}
