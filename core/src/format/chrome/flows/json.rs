//! The flows that DevTools finds, as JSON, with the values of the file as they are written.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::DevToolsFlows;
use crate::format::chrome::events::{EventTable, TextId};
use crate::format::chrome::scan::Value;

/// `{flows:[[{name,cat,ph,ts,pid,tid},…],…], unbound:{reason:count}}`. What an event does not have is `null`.
pub fn devtools_json(table: &EventTable<'_>, found: &DevToolsFlows) -> String {
    let mut out = String::from("{\"flows\":[");
    for (flow, at) in found.flows.iter().zip(0..) {
        out.push_str(if at == 0 { "\n[" } else { ",\n[" });
        for (row, at) in flow.events.iter().zip(0..) {
            out.push_str(if at == 0 { "" } else { "," });
            write_event(table, *row as usize, &mut out);
        }
        out.push(']');
    }
    out.push_str("],\n\"unbound\":{");
    let mut unbound: BTreeMap<&str, usize> = BTreeMap::new();
    found.unbound.iter().for_each(|(_, why)| *unbound.entry(why.note().code).or_default() += 1);
    for ((why, count), at) in unbound.iter().zip(0..) {
        out.push_str(if at == 0 { "" } else { "," });
        write!(out, "\"{why}\":{count}").expect("a String takes any text");
    }
    out.push_str("}}\n");
    out
}

fn write_event(table: &EventTable<'_>, row: usize, out: &mut String) {
    let text = |text: Option<TextId>| text.map_or_else(|| "null".to_owned(), |text| quoted(table.text(text)));
    let value = |key| table.value(row, key).map_or_else(|| "null".to_owned(), sound);
    let (name, category) = (text(table.name[row]), text(table.category[row]));
    let [phase, time, pid, tid] = ["ph", "ts", "pid", "tid"].map(value);
    write!(out, "{{\"name\":{name},\"cat\":{category},\"ph\":{phase},\"ts\":{time},\"pid\":{pid},\"tid\":{tid}}}")
        .expect("a String takes any text");
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// A value as written, or as a string where that is no JSON.
fn sound(value: Value<'_>) -> String {
    if let Value::Text(text) = value {
        return quoted(&text.decode());
    }
    let text = String::from_utf8_lossy(value.written());
    match serde_json::from_str::<serde_json::Value>(&text) {
        Ok(_) => text.into_owned(),
        Err(_) => quoted(&text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::chrome::flows::devtools;

    #[test]
    fn values_are_as_in_the_file_and_the_text_is_json() {
        let text = "[{\"name\":\"a\\u0022\",\"ph\":\"X\",\"ts\":1.50,\"pid\":\"1\",\"tid\":-7},
            {\"ph\":\"C\",\"ts\":2e1,\"pid\":\"1\",\"tid\":-7},
            {\"ph\":\"s\",\"ts\":1.5,\"pid\":\"1\",\"tid\":-7,\"id\":1},{\"ph\":\"f\",\"ts\":20,\"pid\":\"1\",\"tid\":-7,\"id\":1},
            {\"ph\":\"t\",\"ts\":20,\"pid\":\"1\",\"tid\":-7,\"id\":1}]";
        let table = EventTable::read(text.as_bytes()).unwrap();
        let json = devtools_json(&table, &devtools(&table));
        let expected = r#"{"flows":[
[{"name":"a\"","cat":null,"ph":"X","ts":1.50,"pid":"1","tid":-7},{"name":null,"cat":null,"ph":"C","ts":2e1,"pid":"1","tid":-7}]],
"unbound":{"flow-no-start":1}}
"#;
        assert_eq!(json, expected);
        serde_json::from_str::<serde_json::Value>(&json).unwrap();
    }
}
