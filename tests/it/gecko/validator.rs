//! The validator reports each rule that is broken: otherwise its silence would say nothing.

use serde_json::{Value, json};
use traceview_tests::gecko_validator::violations;
use traceview_tests::rich_profile::rich_profile;

use super::{json as parsed, written};

fn valid() -> Value {
    let file = parsed(&written(&rich_profile()));
    assert_eq!(violations(&file), [""; 0]);
    file
}

#[test]
fn every_field_that_is_taken_away_is_missed() {
    let file = valid();
    let groups: [(&str, &str); 15] = [
        ("", "meta libs threads shared"),
        (
            "/meta",
            "preprocessedProfileVersion interval startTime processType version product stackwalk symbolicated \
             profilingStartTime profilingEndTime markerSchema categories sampleUnits usesOnlyOneStackType \
             sourceCodeIsNotOnSearchfox keepProfileThreadOrder",
        ),
        ("/meta/categories/1", "name color subcategories"),
        ("/meta/markerSchema/0", "name display fields"),
        ("/meta/markerSchema/0/fields/0", "key format"),
        ("/libs/0", "arch name path debugName debugPath breakpadId codeId"),
        (
            "/shared",
            "stackTable frameTable funcTable resourceTable nativeSymbols sources sourceLocationTable stringArray",
        ),
        ("/shared/stackTable", "frame prefix length"),
        (
            "/shared/frameTable",
            "func address inlineDepth category subcategory nativeSymbol innerWindowID line column originalLocation \
             length",
        ),
        (
            "/shared/funcTable",
            "name isJS relevantForJS resource source lineNumber columnNumber originalLocation length",
        ),
        ("/shared/nativeSymbols", "libIndex address name functionSize length"),
        (
            "/threads/0",
            "name pid tid isMainThread processName processType processStartupTime processShutdownTime registerTime \
             unregisterTime pausedRanges showMarkersInTimeline samples markers",
        ),
        ("/threads/0/samples", "stack time weight weightType length"),
        ("/threads/1/markers", "data name startTime endTime phase category length"),
        ("/counters/0", "name category description pid mainThreadIndex samples display"),
    ];
    let more = [
        ("/shared/resourceTable", "lib name host type length"),
        ("/shared/sources", "filename id startLine startColumn sourceMapURL content length"),
        ("/shared/sourceLocationTable", "source line column length"),
        ("/counters/0/samples", "time count length"),
        ("/counters/0/display", "graphType unit color markerSchemaLocation sortWeight label tooltipRows"),
        ("/threads/1/markers/data/0", "type"),
        ("/threads/1/markers/data/0/cause", "stack"),
    ];
    for (parent, keys) in groups.into_iter().chain(more) {
        for key in keys.split_whitespace() {
            let mut file = file.clone();
            let object = file.pointer_mut(parent).and_then(Value::as_object_mut).expect(parent);
            object.remove(key).unwrap_or_else(|| panic!("{parent}/{key} is in the file"));
            assert_ne!(violations(&file), [""; 0], "without {parent}/{key}");
        }
    }
}

#[test]
fn every_broken_rule_is_reported_at_its_place() {
    let file = valid();
    let cases = [
        ("/meta/preprocessedProfileVersion", json!(63), "meta.preprocessedProfileVersion: 63 is not"),
        ("/meta/interval", json!(0), "meta.interval: 0 is not"),
        ("/meta/symbolicated", json!(false), "meta.symbolicated: false is not"),
        ("/meta/profilingEndTime", json!(-1e9), "meta.profilingEndTime: before"),
        ("/meta/profilingEndTime", json!(0), "threads[1].markers[1]: outside profilingStartTime"),
        ("/meta/sampleUnits", json!(null), "meta.sampleUnits: missing"),
        ("/meta/sampleUnits/threadCPUDelta", json!("\u{3bc}s"), "meta.sampleUnits.threadCPUDelta"),
        ("/meta/sampleUnits/threadCPUDelta", json!("us"), "meta.sampleUnits.threadCPUDelta"),
        ("/meta/categories/0/color", json!("blue"), "meta.categories: no grey"),
        ("/meta/categories/1/color", json!("pink"), "meta.categories[1].color"),
        ("/meta/categories/1/subcategories", json!([]), "meta.categories[1].subcategories"),
        ("/meta/categories/1/subcategories", json!(["Else"]), "meta.categories[1].subcategories"),
        ("/meta/markerSchema/0/name", json!("Network"), "meta.markerSchema[0].name"),
        ("/meta/markerSchema/1/name", json!("tv-Lock.1"), "meta.markerSchema[2].name: the same name"),
        ("/meta/markerSchema/0/display/0", json!("stack"), "meta.markerSchema[0].display"),
        ("/meta/markerSchema/0/fields/0/format", json!("text"), "meta.markerSchema[0].fields[0].format"),
        ("/meta/markerSchema/0/fields/0/key", json!("size"), "meta.markerSchema[0].fields[1].key: the same key"),
        ("/meta/markerSchema/0/graphs/0/type", json!("pie"), "meta.markerSchema[0].graphs[0].type"),
        ("/meta/markerSchema/0/graphs/0/color", json!("brown"), "meta.markerSchema[0].graphs[0].color"),
        ("/meta/extra/0/entries/0/format", json!("word"), "meta.extra[0].entries[0].format"),
        ("/libs/0/codeId", json!(5), "libs[0].codeId: 5 is not"),
        ("/shared/stringArray/1", json!("Other"), "shared.stringArray[1]: \"Other\" again"),
        ("/shared/stackTable/prefix/1", json!(1), "shared.stackTable.prefix[1]: 1 is not"),
        ("/shared/stackTable/frame/0", json!(999), "shared.stackTable.frame[0]: 999 is not"),
        ("/shared/stackTable/frame/0", json!(null), "shared.stackTable.frame[0]: null is not"),
        ("/shared/frameTable/func/0", json!(null), "shared.frameTable.func[0]: null is not"),
        ("/shared/frameTable/address/3", json!(1_i64 << 31), "shared.frameTable.address[3]: 2147483648 is not"),
        ("/shared/frameTable/address/3", json!(-2), "shared.frameTable.address[3]: -2 is not"),
        ("/shared/frameTable/inlineDepth/3", json!(256), "shared.frameTable.inlineDepth[3]: 256 is not"),
        ("/shared/frameTable/inlineDepth/1", json!(2), "shared.stackTable[1]: the caller of an inlined frame"),
        ("/shared/frameTable/address/1", json!(7), "shared.stackTable[1]: the caller of an inlined frame"),
        ("/shared/frameTable/nativeSymbol/1", json!(null), "shared.stackTable[1]: the caller of an inlined frame"),
        ("/shared/frameTable/category/0", json!(99), "shared.frameTable.category[0]: 99 is not"),
        ("/shared/frameTable/subcategory/0", json!(2), "shared.frameTable.subcategory[0]: 2 is not"),
        ("/shared/frameTable/line/0", json!(0), "shared.frameTable.line[0]: 0 is not"),
        ("/shared/frameTable/line", json!([1]), "shared.frameTable.line: 1 rows, but length"),
        ("/shared/funcTable/isJS/0", json!(0), "shared.funcTable.isJS[0]: 0 is not"),
        ("/shared/funcTable/resource/0", json!(null), "shared.funcTable.resource[0]: null is not"),
        ("/shared/funcTable/source/0", json!(-1), "shared.funcTable.source[0]: -1 is not"),
        ("/shared/resourceTable/type/0", json!(6), "shared.resourceTable.type[0]: 6 is not"),
        ("/shared/resourceTable/lib/0", json!(9), "shared.resourceTable.lib[0]: 9 is not"),
        ("/shared/nativeSymbols/libIndex/0", json!(9), "shared.nativeSymbols.libIndex[0]: 9 is not"),
        ("/shared/sources/content/0", json!(9), "shared.sources.content[0]: 9 is not"),
        ("/threads", json!([]), "threads: [] is not"),
        ("/threads/0/pid", json!(4242), "threads[0].pid: 4242 is not"),
        ("/threads/1/isMainThread", json!(true), "threads: pid \"4242\" has 2 main threads"),
        ("/threads/0/isMainThread", json!(false), "threads: pid \"4242\" has 0 main threads"),
        ("/threads/0/showMarkersInTimeline", json!(false), "threads[0].showMarkersInTimeline"),
        ("/threads/0/samples/stack/0", json!(999), "threads[0].samples.stack[0]: 999 is not"),
        ("/threads/0/samples/time/1", json!(0), "threads[0].samples.time[1]: before"),
        ("/threads/0/samples/time/1", json!(null), "threads[0].samples.time[1]: null is not"),
        ("/threads/0/samples/weight/0", json!(null), "threads[0].samples.weight[0]: null is not"),
        ("/threads/0/samples/weightType", json!("ms"), "threads[0].samples.weightType"),
        ("/threads/0/samples/threadCPUDelta/1", json!(-1), "threads[0].samples.threadCPUDelta[1]: -1 is not"),
        ("/threads/0/samples/threadCPUDelta", json!([1]), "threads[0].samples.threadCPUDelta: 1 rows"),
        ("/threads/1/markers/phase/0", json!(4), "threads[1].markers.phase[0]: 4 is not"),
        ("/threads/1/markers/startTime/0", json!(null), "threads[1].markers.startTime[0]: null is not"),
        ("/threads/1/markers/endTime/3", json!(null), "threads[1].markers.endTime[3]: null is not"),
        ("/threads/1/markers/endTime/1", json!(-81), "threads[1].markers[1]: ends before"),
        ("/threads/1/markers/name/0", json!("x"), "threads[1].markers.name[0]: \"x\" is not"),
        ("/threads/1/markers/category/0", json!(99), "threads[1].markers.category[0]: 99 is not"),
        ("/threads/1/markers/data/0/type", json!("none"), "threads[1].markers.data[0].type: no schema"),
        ("/threads/1/markers/data/0/size", json!("5"), "threads[1].markers.data[0].size: \"5\" is not"),
        ("/threads/1/markers/data/0/flow", json!("0x5"), "threads[1].markers.data[0].flow: \"0x5\" is not"),
        ("/threads/1/markers/data/0/list", json!("a"), "threads[1].markers.data[0].list: \"a\" is not"),
        ("/threads/1/markers/data/0/what", json!(5), "threads[1].markers.data[0].what: 5 is not"),
        ("/threads/1/markers/data/0/cause/stack", json!(999), "threads[1].markers.data[0].cause.stack: 999 is not"),
        ("/counters/0/samples/count/0", json!(1), "counters[0].samples.count[0]: 1 is not"),
        ("/counters/0/samples/number/0", json!(1), "counters[0].samples.number[0]: 1 is not"),
        ("/counters/0/samples/time/1", json!(-1), "counters[0].samples.time[1]: before"),
        ("/counters/0/pid", json!(1), "counters[0].pid: 1 is not"),
        ("/counters/0/mainThreadIndex", json!(9), "counters[0].mainThreadIndex: 9 is not"),
        ("/counters/0/display/graphType", json!("pie"), "counters[0].display.graphType"),
        ("/counters/0/display/color", json!("brown"), "counters[0].display.color"),
        ("/counters/0/display/tooltipRows/0/source", json!("x"), "counters[0].display.tooltipRows[0].source"),
        ("/counters/0/display/tooltipRows/0/format/unit", json!("x"), "counters[0].display.tooltipRows[0].format"),
    ];
    for (pointer, value, message) in cases {
        let mut file = file.clone();
        *file.pointer_mut(pointer).unwrap_or_else(|| panic!("{pointer} is in the file")) = value.clone();
        let found = violations(&file);
        assert!(found.iter().any(|violation| violation.contains(message)), "{pointer} = {value}: {found:?}");
    }
}

#[test]
fn rules_over_several_values_are_reported_too() {
    let file = valid();
    let mut twice = file.clone();
    for column in ["name", "resource", "source", "lineNumber"] {
        twice["shared"]["funcTable"][column][1] = twice["shared"]["funcTable"][column][0].clone();
    }
    assert!(violations(&twice)[0].contains("shared.funcTable[1]: the same name"));

    let mut nulls = file.clone();
    let rows = nulls["threads"][0]["samples"]["length"].as_u64().expect("rows");
    nulls["threads"][0]["samples"]["threadCPUDelta"] = (0..rows).map(|_| Value::Null).collect();
    assert!(violations(&nulls)[0].contains("nothing but nulls"));

    let mut many = file.clone();
    let category = many["meta"]["categories"][0].clone();
    many["meta"]["categories"].as_array_mut().expect("categories").extend(vec![category; 256]);
    assert!(violations(&many)[0].contains("meta.categories: 2"));

    let mut missing = file.clone();
    missing["meta"]["initialVisibleThreads"] = json!([4]);
    assert!(violations(&missing)[0].contains("meta.initialVisibleThreads: 4 is not a thread"));

    let mut root = file;
    let samples = json!({"stack": [0], "time": [0], "weight": null, "weightType": "samples", "length": 1});
    root["threads"][3]["samples"] = samples;
    let frame = root["shared"]["stackTable"]["frame"][0].as_u64().expect("a frame");
    let function = root["shared"]["frameTable"]["func"][frame as usize].as_u64().expect("a function");
    let name = root["shared"]["funcTable"]["name"][function as usize].as_u64().expect("a name");
    root["shared"]["stringArray"][name as usize] = json!("(root)");
    assert!(violations(&root)[0].contains("counts as no samples"));
}

#[test]
fn nonsense_is_reported_and_does_not_panic() {
    for file in [json!(null), json!([]), json!({}), json!({"meta": [], "threads": {}, "shared": 5, "libs": "x"})] {
        assert_ne!(violations(&file), [""; 0]);
    }
}
