//! What is carried along for the format: values that nothing here uses, as text without the white space of the file.

use rustc_hash::FxHashMap;

use super::super::extension as key;
use super::super::schema::{Fields, File, Str, Thread};
use super::rows::wrong;
use crate::format::ReadError;
use crate::model::{Kept, ProfileBuilder};

/// Where the version of a file is kept.
pub(in super::super) const VERSION_PATH: &str = "meta.preprocessedProfileVersion";

/// JSON text without white space between its values.
pub(in super::super) fn compact(text: &str) -> String {
    let mut compact = Vec::with_capacity(text.len());
    let (mut in_string, mut escaped) = (false, false);
    for byte in text.bytes() {
        if !in_string && byte.is_ascii_whitespace() {
            continue;
        }
        compact.push(byte);
        if in_string {
            in_string = escaped || byte != b'"';
            escaped = !escaped && byte == b'\\';
        } else {
            in_string = byte == b'"';
        }
    }
    String::from_utf8(compact).unwrap_or_else(|_| text.to_owned())
}

/// An object as compact JSON text.
pub(super) fn object(fields: &Fields<'_>) -> String {
    let mut text = String::from("{");
    for (index, (key, value)) in fields.0.iter().enumerate() {
        if index > 0 {
            text.push(',');
        }
        text.push_str(&serde_json::Value::from(&**key).to_string());
        text.push(':');
        text.push_str(&compact(value.get()));
    }
    text.push('}');
    text
}

/// What stands at the outermost level and in `meta`, in order.
fn of_file(file: &File<'_>) -> Vec<(String, String)> {
    let mut all = Vec::new();
    if let Some(pages) = &file.pages {
        let pages: Vec<String> = pages.iter().map(object).collect();
        all.push(("pages".to_owned(), format!("[{}]", pages.join(","))));
    }
    all.extend(file.kept.iter().map(|(key, value)| (key.to_string(), compact(value.get()))));
    let meta = file.meta.iter().flat_map(|meta| &meta.kept);
    all.extend(meta.map(|(key, value)| (format!("meta.{key}"), compact(value.get()))));
    all
}

/// Keeps what a file of another tool has.
pub(super) fn foreign(builder: &mut ProfileBuilder, file: &File<'_>, version: u32) {
    builder.keep(VERSION_PATH, &version.to_string());
    for (path, json) in of_file(file) {
        builder.keep(&path, &json);
    }
    let units = file.meta.as_ref().and_then(|meta| meta.sample_units.as_ref());
    for (key, unit) in units.into_iter().flat_map(|units| [("time", &units.time), ("eventDelay", &units.event_delay)]) {
        if let Some(Str(unit)) = unit
            && *unit != "ms"
        {
            builder.keep(&format!("meta.sampleUnits.{key}"), &serde_json::Value::from(&**unit).to_string());
        }
    }
}

/// Keeps what a file of our own says that it has.
pub(super) fn ours(builder: &mut ProfileBuilder, file: &File<'_>, kept: &[key::Kept]) -> Result<(), ReadError> {
    if kept.is_empty() {
        return Ok(());
    }
    let in_file = of_file(file);
    for entry in kept_of(kept, &in_file, "meta.traceview.kept")? {
        builder.keep(&entry.path, &entry.json);
    }
    Ok(())
}

/// What a thread and its tables have besides what is known.
pub(super) fn of_thread(thread: &Thread<'_>) -> Vec<(String, String)> {
    let kind = thread.process_type.map(|kind| ("processType".to_owned(), compact(kind.get())));
    let tables = [
        ("", Some(&thread.kept)),
        ("samples.", thread.samples.as_ref().map(|table| &table.kept)),
        ("markers.", thread.markers.as_ref().map(|table| &table.kept)),
    ];
    let kept = tables.into_iter().flat_map(|(prefix, kept)| {
        let values = kept.into_iter().flatten();
        values.map(move |(key, value)| (format!("{prefix}{key}"), compact(value.get())))
    });
    kind.into_iter().chain(kept).collect()
}

/// What `traceview` lists, with the values that stand in the file.
pub(super) fn kept_of(kept: &[key::Kept], in_file: &[(String, String)], at: &str) -> Result<Vec<Kept>, ReadError> {
    let mut by_path = FxHashMap::default();
    for (path, json) in in_file {
        by_path.entry(&**path).or_insert(&**json);
    }
    let one = |(row, entry): (usize, &key::Kept)| {
        let json = entry.json.as_deref().or_else(|| by_path.get(&*entry.path).copied());
        let missing = || wrong(format_args!("{at}[{row}]"), format_args!("the file has no {}", entry.path));
        Ok(Kept { path: entry.path.as_str().into(), json: json.ok_or_else(missing)?.into() })
    };
    kept.iter().enumerate().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_white_space_between_values_goes() {
        assert_eq!(compact("{ \"a b\" :\n[ 1, \"x \\\" y\\\\\" , null ] }"), "{\"a b\":[1,\"x \\\" y\\\\\",null]}");
        let deep = format!("{}{}", "[ ".repeat(1_000_000), "]".repeat(1_000_000));
        assert_eq!(compact(&deep).len(), 2_000_000);
    }
}
