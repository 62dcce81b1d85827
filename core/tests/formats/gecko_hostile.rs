//! Firefox profiles that are cut, wrong or made to do harm: refused with a place, or read with notes of what was repaired.
//! Whatever is read can be written, and is read back equal.

use serde_json::{Value, json};
use traceview_core::format::{self, ReadError, ReadOptions, WriteOptions};
use traceview_core::model::{Field, FieldValue, MarkerTiming, Profile, Time, Values};

use crate::fixtures;

fn read(bytes: &[u8]) -> Result<Profile, ReadError> {
    format::read(bytes, &ReadOptions::default()).map(|contents| contents.profile)
}

fn read_value(file: &Value) -> Profile {
    read(file.to_string().as_bytes()).expect("a readable file")
}

/// The file with one value replaced or, where the pointer says a new key, added.
fn with(name: &str, pointer: &str, value: Value) -> Value {
    let mut file = fixtures::json(&format!("gecko/{name}"));
    let (parent, key) = pointer.rsplit_once('/').expect("a pointer");
    let parent = file.pointer_mut(parent).unwrap_or_else(|| panic!("{pointer} in {name}"));
    match parent {
        Value::Object(object) => _ = object.insert(key.to_owned(), value),
        Value::Array(array) => array[key.parse::<usize>().expect("a row")] = value,
        _ => panic!("{pointer} in {name}"),
    }
    file
}

fn warnings(profile: &Profile) -> Vec<(&str, &str)> {
    let warnings = profile.meta.warnings.iter();
    warnings.map(|warning| (&*warning.code, warning.first.as_deref().unwrap_or_default())).collect()
}

fn assert_survives(bytes: &[u8], what: &str) {
    let Ok(profile) = read(bytes) else { return };
    let mut written = Vec::new();
    let firefox = format::Target { gzip: false, ..format::by_name("firefox").expect("a format").target() };
    match format::write(&profile, firefox, &WriteOptions::default(), &mut written) {
        Ok(_) => {}
        Err(_) if profile.threads.is_empty() => return,
        Err(error) => panic!("{what}: {error}"),
    }
    let again = read(&written).unwrap_or_else(|error| panic!("{what}: {error}"));
    assert!(again == profile, "{what}: not read back as it was");
}

#[test]
fn what_is_wrong_in_one_place_is_noted_and_the_rest_read() {
    let rich = "v70-rich.json";
    for (pointer, value, code, place) in [
        ("/shared/stackTable/frame/2", json!(9999), "row-missing", "shared.stackTable.frame[2]"),
        ("/shared/stackTable/prefixOffset/2", json!(7), "row-missing", "shared.stackTable.prefix[2]"),
        ("/shared/stackTable/length", json!(1e18), "column-length", "shared.stackTable.length"),
        ("/shared/frameTable/func/0", json!(null), "no-number", "shared.frameTable.func[0]"),
        ("/shared/frameTable/func/0", json!(77), "row-missing", "shared.frameTable.func[0]"),
        ("/shared/frameTable/address/0", json!(-2), "no-number", "shared.frameTable.address[0]"),
        ("/shared/frameTable/inlineDepth/0", json!(70_000), "no-number", "shared.frameTable.inlineDepth[0]"),
        ("/shared/frameTable/subcategory/1", json!(9), "row-missing", "shared.frameTable.subcategory[1]"),
        ("/shared/frameTable/line/0", json!("x"), "no-number", "shared.frameTable.line[0]"),
        ("/shared/frameTable/more", json!([]), "column-unknown", "shared.frameTable.more"),
        ("/shared/funcTable/name/0", json!(5000), "row-missing", "shared.funcTable.name[0]"),
        ("/shared/funcTable/name", json!(null), "column-missing", "shared.funcTable.name"),
        ("/shared/resourceTable/type/0", json!(9), "no-number", "shared.resourceTable.type[0]"),
        ("/meta/categories/1/color", json!("pink"), "colour-unknown", "meta.categories[1].color: \"pink\""),
        ("/meta/categories/0/color", json!("red"), "no-default-category", "meta.categories"),
        ("/meta/interval", json!(0), "no-interval", "meta.interval"),
        (
            "/meta/sampleUnits/threadCPUDelta",
            json!("s"),
            "cpu-unit-unknown",
            "meta.sampleUnits.threadCPUDelta: Some(\"s\")",
        ),
        ("/meta/markerSchema/0/name", json!("Graphed"), "schema-twice", "meta.markerSchema[1].name"),
        ("/threads/0/samples/time/1", json!(null), "time-impossible", "threads[0].samples.time[1]"),
        ("/threads/0/samples/time/1", json!(1e300), "time-impossible", "threads[0].samples.time[1]"),
        ("/threads/0/samples/time/1", json!(5.5), "row-order", "threads[0].samples.time[2]"),
        ("/threads/0/samples/stack/0", json!(-3), "row-missing", "threads[0].samples.stack[0]"),
        ("/threads/0/samples/weightType", json!("kg"), "weight-type-unknown", "threads[0].samples.weightType: \"kg\""),
        ("/threads/0/samples", json!(null), "column-missing", "threads[0].samples"),
        ("/threads/0/markers/phase/0", json!(4), "marker-phase", "threads[0].markers.phase[0]"),
        ("/threads/0/markers/category/0", json!(99), "row-missing", "threads[0].markers.category[0]"),
        ("/threads/0/markers/data/0", json!(5), "marker-data-odd", "threads[0].markers.data[0]"),
        ("/threads/0/unregisterTime", json!(-1), "end-before-start", "threads[0].unregisterTime"),
        ("/threads/1/isMainThread", json!(true), "main-thread-twice", "threads[1].isMainThread"),
        ("/threads/1/tid", json!(77), "thread-id-twice", "threads[1].tid"),
        ("/counters/0/pid", json!("9"), "counter-without-thread", "counters[0].pid"),
        ("/counters/0/mainThreadIndex", json!(9), "row-missing", "counters[0].mainThreadIndex"),
        ("/counters/0/samples/count/1", json!(null), "no-number", "counters[0].samples.count[1]"),
        ("/counters/0/display/graphType", json!("pie"), "graph-unknown", "counters[0].display.graphType: \"pie\""),
    ] {
        let file = with(rich, pointer, value.clone());
        let profile = read_value(&file);
        assert_eq!(profile.threads.len(), 2, "{pointer}");
        assert!(warnings(&profile).contains(&(code, place)), "{pointer} = {value}: {:?}", warnings(&profile));
        assert_survives(file.to_string().as_bytes(), pointer);
    }
    assert_eq!(warnings(&read_value(&fixtures::json("gecko/v70-rich.json"))), []);
}

#[test]
fn repairs_leave_what_can_be_trusted() {
    let profile = read_value(&with("v70-rich.json", "/threads/0/samples/time/1", json!(null)));
    assert_eq!(profile.threads[0].samples.len(), 7, "the sample without a time");
    let profile = read_value(&with("v70-rich.json", "/threads/0/samples/time/0", json!(2.5)));
    assert_eq!(profile.threads[0].samples.time[..3], [1_000_000, 2_000_000, 2_500_000].map(Time));
    let profile =
        read_value(&with("v70-rich.json", "/threads/0/samples/weight", json!([0.5, null, -2, 1, 1, 1, 1, 1])));
    assert_eq!(profile.threads[0].samples.weight, Values::Float(vec![0.5, 0.0, -2.0, 1.0, 1.0, 1.0, 1.0, 1.0]));
    let mut file = with("v70-rich.json", "/threads/0/markers/startTime/0", json!(null));
    file["threads"][0]["markers"]["endTime"][0] = json!(7.0);
    let profile = read_value(&file);
    assert_eq!(profile.threads[0].markers.timing[0], MarkerTiming::Instant(Time(7_000_000)));
}

#[test]
fn stacks_in_a_ring_are_cut() {
    let mut file = with("samply-v49-unsymbolicated.json", "/threads/0/stackTable/prefix", json!([3, 0, 1, 2]));
    let profile = read_value(&file);
    assert!(warnings(&profile).contains(&("stack-cut", "threads[0].stackTable.prefix[0]: 3")));
    file["threads"][0]["stackTable"]["prefix"] = json!([0, 1, 2, 3]);
    read_value(&file);
    // Deep, not recursive.
    let depth = 1_000_000;
    let mut file = fixtures::json("gecko/v70-rich.json");
    file["shared"]["stackTable"]["frame"] = vec![0; depth].into();
    let offsets: Vec<u8> = std::iter::once(0).chain(std::iter::repeat_n(1, depth - 1)).collect();
    file["shared"]["stackTable"]["prefixOffset"] = offsets.into();
    file["shared"]["stackTable"]["length"] = depth.into();
    file["threads"][0]["samples"]["stack"][0] = (depth - 1).into();
    let profile = read_value(&file);
    assert_eq!(profile.stacks.ancestors(profile.threads[0].samples.stack[0].expect("a stack")).count(), depth);
}

#[test]
fn what_cannot_be_read_is_refused_with_its_place() {
    for (file, message) in [
        (json!({"meta": {"preprocessedProfileVersion": 71}, "threads": []}), "version 71 of Firefox profiles"),
        (json!({"meta": {"preprocessedProfileVersion": 0.5}, "threads": []}), "version 0.5 of Firefox profiles"),
        (json!({"meta": {"preprocessedProfileVersion": 70}}), "threads: missing"),
        (
            json!({"meta": {"preprocessedProfileVersion": 70}, "threads": [], "shared": 5}),
            "byte 51: expected an object, found the number 5",
        ),
    ] {
        let error = read(file.to_string().as_bytes()).expect_err(message).to_string();
        assert!(error.contains(message), "{error}");
    }
    let text = fixtures::bytes("gecko/v70-rich.json");
    for part in 1..60 {
        let cut = &text[..text.len() * part / 60];
        match read(cut).expect_err("a cut file") {
            ReadError::Truncated { offset } => assert_eq!(offset, cut.len()),
            // Nothing that tells the format is there yet.
            ReadError::UnknownFormat { .. } => assert!(part < 15, "{part}"),
            error => panic!("{error}"),
        }
    }
}

#[test]
fn nesting_without_end_does_not_exhaust_the_stack() {
    let deep = format!("{}1{}", "[".repeat(1_000_000), "]".repeat(1_000_000));
    for pointer in ["/more", "/meta/more", "/threads/0/more", "/threads/0/markers/data/0/more", "/counters/0/more"] {
        let file = with("v70-rich.json", pointer, json!("DEEP")).to_string().replace("\"DEEP\"", &deep);
        assert_survives(file.as_bytes(), pointer);
        read(file.as_bytes()).unwrap_or_else(|error| panic!("{pointer}: {error}"));
    }
    for pointer in ["/shared/frameTable/line/0", "/threads/0/samples/time/0", "/threads/0/samples/argumentValues"] {
        let file = with("v70-rich.json", pointer, json!("DEEP")).to_string().replace("\"DEEP\"", &deep);
        assert_survives(file.as_bytes(), pointer);
    }
    for pointer in ["/threads/0/pid", "/meta/interval", "/threads/0/name"] {
        let file = with("v70-rich.json", pointer, json!("DEEP")).to_string().replace("\"DEEP\"", &deep);
        let error = read(file.as_bytes()).expect_err(pointer).to_string();
        assert!(error.contains("nested too deep") || error.contains("expected "), "{pointer}: {error}");
    }
}

#[test]
fn any_value_in_any_place_is_borne() {
    let odd =
        [json!(null), json!(-1), json!(4_294_967_295_u32), json!(0.5), json!("x"), json!([]), json!({}), json!(true)];
    for name in ["v70-rich.json", "processed-3.json", "processed-1.json", "v70-native-allocations-balanced.json"] {
        let file = fixtures::json(&format!("gecko/{name}"));
        let mut pointers = Vec::new();
        collect(&file, String::new(), &mut pointers);
        // One odd value for each place, another one for the next.
        for (index, pointer) in pointers.iter().enumerate().step_by(3) {
            let mut file = file.clone();
            *file.pointer_mut(pointer).expect("in the file") = odd[index / 3 % odd.len()].clone();
            assert_survives(file.to_string().as_bytes(), pointer);
        }
    }
}

fn collect(value: &Value, at: String, pointers: &mut Vec<String>) {
    match value {
        Value::Array(array) => {
            array.iter().enumerate().for_each(|(row, value)| collect(value, format!("{at}/{row}"), pointers));
        }
        Value::Object(object) => object.iter().for_each(|(key, value)| {
            let key = key.replace('~', "~0").replace('/', "~1");
            collect(value, format!("{at}/{key}"), pointers);
        }),
        _ => {}
    }
    pointers.push(at);
}

#[test]
fn keys_that_are_there_twice_are_kept_as_they_are() {
    let text = fixtures::json("gecko/v70-rich.json").to_string();
    for (key, again) in [("\"stackwalk\":", "\"stackwalk\":7,"), ("\"pages\":", "\"more\":1,\"more\":2,")] {
        assert!(text.contains(key), "{key}");
        assert_survives(text.replacen(key, &format!("{again}{key}"), 1).as_bytes(), key);
    }
}

#[test]
fn any_changed_byte_is_borne() {
    let bytes = fixtures::bytes("gecko/v70-rich.json");
    for at in (0..bytes.len()).step_by(5) {
        let mut changed = bytes.clone();
        changed[at] = if bytes[at].is_ascii_digit() { b'9' } else { [b'0', b'-', b'"', 0xff][at % 4] };
        assert_survives(&changed, &format!("byte {at}"));
    }
}

#[test]
fn fields_without_end_take_linear_time() {
    // A search for each of them would take minutes.
    const FIELDS: usize = 20_000;
    let mut file = fixtures::json("gecko/v70-rich.json");
    let fields: Vec<Value> =
        (0..FIELDS).map(|field| json!({"key": format!("k{field}"), "format": "unique-string"})).collect();
    let schema = json!({"name": "Many", "display": ["marker-chart"], "fields": fields});
    file["meta"]["markerSchema"].as_array_mut().expect("schemas").push(schema);
    let mut data = json!({"type": "Many"});
    for field in 0..FIELDS {
        data[format!("k{field}")] = json!(0);
    }
    let markers = &mut file["threads"][0]["markers"];
    let rows = 50;
    for (column, value) in [
        ("data", data),
        ("name", json!(0)),
        ("startTime", json!(1.0)),
        ("endTime", json!(null)),
        ("phase", json!(0)),
        ("category", json!(0)),
    ] {
        markers[column] = vec![value; rows].into();
    }
    markers["length"] = rows.into();
    let bytes = file.to_string().into_bytes();
    let profile = read(&bytes).expect("a readable file");
    let markers = &profile.threads[0].markers;
    assert_eq!(markers.len(), rows);
    let payload = markers.payload[rows - 1].expect("fields");
    assert_eq!(profile.payloads.get(payload).len(), FIELDS);
    let is_text = |field: &Field| matches!(field.value, FieldValue::Text(_));
    assert!(profile.payloads.get(payload).iter().all(is_text), "rows of the string table");
    let firefox = format::Target { gzip: false, ..format::by_name("firefox").expect("a format").target() };
    format::write(&profile, firefox, &WriteOptions::default(), &mut Vec::new()).expect("it can be written");
}
