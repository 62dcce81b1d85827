//! Call trees of Chrome traces and CPU profiles as text, against those of DevTools.

use serde_json::Value;
use traceview_core::format::chrome::calltree::{
    CallTreeError, CallTreeQuery, CallTreeSource, EventChoice, ThreadChoice, call_tree,
};
use traceview_core::format::chrome::events::EventTable;

use super::fixtures;

const FOLDER: &str = "trace/expected/calltree";

fn query(row: &Value) -> CallTreeQuery {
    let [pid, tid] = ["pid", "tid"].map(|key| row[key].to_string());
    let thread = ThreadChoice { pid, tid };
    let number = |key: &str| row[key].as_f64().expect("a number");
    if row["kind"] == "range" {
        return CallTreeQuery::Range { thread, start: number("min"), end: number("max") };
    }
    let nth = row["nthAtSameTs"].as_u64().and_then(|nth| usize::try_from(nth).ok()).expect("a number");
    let name = row["name"].as_str().expect("a name").to_owned();
    CallTreeQuery::Event(EventChoice { thread, time: number("ts"), name, nth })
}

/// Both texts with a line between, or why there is no tree.
fn found(source: CallTreeSource<'_>, row: &Value) -> Result<String, CallTreeError> {
    let tree = call_tree(source, &query(row))?;
    Ok(format!("{}\n{}\n{}\n", tree.serialize(), "=".repeat(20), tree.compressed()))
}

#[test]
fn each_text_is_the_one_of_devtools() {
    let index = String::from_utf8(fixtures::bytes(&format!("{FOLDER}/index.jsonl"))).expect("text");
    let rows: Vec<Value> = index.lines().map(|line| serde_json::from_str(line).expect(line)).collect();
    let (mut trees, mut nothing) = (0, 0);
    for of_file in rows.chunk_by(|one, other| one["file"] == other["file"]) {
        let path = of_file[0]["file"].as_str().expect("a path");
        let text = fixtures::text(&format!("trace/{path}"));
        let table;
        let source = if path.contains(".cpuprofile") {
            CallTreeSource::CpuProfile(&text)
        } else {
            table = EventTable::read(&text).expect(path);
            CallTreeSource::Trace(&table)
        };
        for row in of_file {
            let found = found(source, row);
            if let Some(out) = row["out"].as_str() {
                let expected = String::from_utf8(fixtures::bytes(&format!("{FOLDER}/{out}"))).expect(out);
                assert_eq!(found.unwrap_or_else(|error| panic!("{row}: {error}")), expected, "{row}");
                trees += 1;
            } else {
                assert_eq!(row.get("result"), Some(&Value::Null), "{row}");
                let error = found.expect_err(path);
                let is_known = matches!(error, CallTreeError::Invisible { .. } | CallTreeError::NotMainThread { .. });
                assert!(is_known && error.is_no_answer(), "{row}: {error}");
                nothing += 1;
            }
        }
    }
    assert_eq!((trees, nothing), (109, 32));
}

#[test]
fn titles_are_those_of_devtools() {
    let titles = fixtures::json("trace/expected/devtools_visible_types.json");
    let titles = titles.as_object().expect("an object");
    assert_eq!(titles.len(), 96);
    // These are called by what is in them.
    let named = ["EventDispatch", "WebSocketCreate", "WebSocketDestroy"];
    for (name, style) in titles.iter().filter(|(name, _)| !named.contains(&name.as_str())) {
        let thread = r#""pid":1,"tid":1"#;
        let text = format!(
            r#"[{{"name":"thread_name","ph":"M",{thread},"args":{{"name":"CrRendererMain"}}}},
            {{"name":{},"ph":"X","cat":"c","ts":5,"dur":1,{thread}}}]"#,
            Value::from(name.as_str())
        );
        let row = serde_json::json!({"name": name, "ts": 5, "pid": 1, "tid": 1, "nthAtSameTs": 0});
        let table = EventTable::read(text.as_bytes()).expect(name);
        let tree = call_tree(CallTreeSource::Trace(&table), &query(&row)).expect(name);
        let title = style["title"].as_str().expect(name);
        assert_eq!(tree.compressed(), format!("\n\n# Call tree:\n\n1;{title};0;0;;;S"));
    }
}
