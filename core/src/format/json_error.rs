//! Faults of JSON text, placed by byte offset.

use super::ReadError;

/// What `error` says about `text`, which serde_json was given from its start.
pub(super) fn syntax_error(text: &[u8], error: &serde_json::Error) -> ReadError {
    let truncated = ReadError::Truncated { offset: text.len() };
    if error.is_eof() {
        return truncated;
    }
    // serde_json counts lines and columns from 1; files of one line make columns offsets.
    let lines = text.split_inclusive(|byte| *byte == b'\n');
    let before: usize = lines.take(error.line().saturating_sub(1)).map(<[u8]>::len).sum();
    let offset = (before + error.column()).saturating_sub(1).min(text.len());
    let message = error.to_string();
    let message = message.rsplit_once(" at line ").map_or(&*message, |(message, _)| message);
    // Of a number that was cut behind its sign or point it says no more than that.
    if message == "invalid number" && offset + 1 >= text.len() {
        return truncated;
    }
    ReadError::Syntax { offset, message: in_words_of_json(message) }
}

/// What serde says of a value, without the words for what it is in this program.
fn in_words_of_json(message: &str) -> String {
    let in_quotes = |rest: &str| rest.split('`').nth(1).unwrap_or_default().to_owned();
    if let Some(rest) = message.strip_prefix("missing field ") {
        return format!("the key {:?} is missing", in_quotes(rest));
    }
    if let Some(rest) = message.strip_prefix("duplicate field ") {
        return format!("the key {:?} is there twice", in_quotes(rest));
    }
    if let Some(rest) = message.strip_prefix("unknown variant ") {
        return format!("the unknown word {:?}", in_quotes(rest));
    }
    let wrong = ["invalid type: ", "invalid value: "].iter().find_map(|start| message.strip_prefix(start));
    if let Some((found, expected)) = wrong.and_then(|wrong| wrong.rsplit_once(", expected ")) {
        return format!("expected {}, found {}", expectation(expected), finding(found));
    }
    if let Some((length, expected)) = message.strip_prefix("invalid length ").and_then(|rest| rest.split_once(", ")) {
        let expected = expected.strip_prefix("expected ").unwrap_or(expected);
        return format!("expected {}, found {length} values", expectation(expected));
    }
    match message {
        "expected value" => "expected a value",
        "expected ident" => "expected null, true or false",
        "key must be a string" => "the key of an object must be a string",
        "trailing characters" => "something follows where the file should end",
        "recursion limit exceeded" => "values are nested too deep",
        other => other,
    }
    .to_owned()
}

/// What a value should be.
fn expectation(of_serde: &str) -> String {
    let words: Vec<&str> = of_serde.split(' ').collect();
    let known = match &words[..] {
        ["u8" | "u16" | "u32" | "u64" | "usize"] => "a whole number that is not negative",
        ["i8" | "i16" | "i32" | "i64" | "isize"] => "a whole number",
        ["f32" | "f64"] => "a number",
        ["struct" | "map", ..] | ["a", "map"] | ["an", "object", ..] => "an object",
        ["a", "sequence"] | ["tuple", ..] => "an array",
        ["a", "tuple", "of", "size", size]
        | ["an", "array", "of", "length", size]
        | [.., "with", size, "elements" | "element"] => {
            return format!("an array of {size} values");
        }
        ["a", "boolean"] => "true or false",
        ["a", "borrowed", "string"] | ["str" | "string"] | ["enum" | "variant", ..] => "a string",
        ["option"] | ["any", "valid", "JSON", "value"] | ["any", "value"] => "a value",
        ["unit"] => "null",
        _ => of_serde,
    };
    known.to_owned()
}

/// What a value is.
fn finding(of_serde: &str) -> String {
    match of_serde {
        "map" => return "an object".to_owned(),
        "sequence" => return "an array".to_owned(),
        "unit" | "unit value" | "null" | "Option value" => return "null".to_owned(),
        _ => {}
    }
    let value = of_serde.split_once(' ').map_or(of_serde, |(_, value)| value);
    match of_serde.split(' ').next() {
        Some("integer" | "floating") => format!("the number {}", value.trim_start_matches("point ").trim_matches('`')),
        Some("boolean") => value.trim_matches('`').to_owned(),
        Some("string" | "character") => {
            const ENOUGH: usize = 60;
            let end = value.char_indices().nth(ENOUGH).map_or(value.len(), |(end, _)| end);
            let rest = if end < value.len() { "…" } else { "" };
            format!("the string {}{rest}", &value[..end])
        }
        Some("byte") => "a string".to_owned(),
        _ => of_serde.to_owned(),
    }
}

/// `error` of a part of a file that begins at byte `start` of it.
pub(super) fn placed_at(error: ReadError, start: usize) -> ReadError {
    match error {
        ReadError::Syntax { offset, message } => ReadError::Syntax { offset: start + offset, message },
        ReadError::Truncated { offset } => ReadError::Truncated { offset: start + offset },
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_in_words_of_the_file() {
        use serde::Deserialize;
        #[derive(Deserialize, Debug)]
        #[expect(dead_code, reason = "only what cannot be read matters")]
        struct Row {
            size: usize,
            #[serde(default)]
            level: Option<i32>,
            #[serde(default)]
            share: f64,
            #[serde(default)]
            pair: (u8, u8),
            #[serde(default)]
            list: Vec<bool>,
            #[serde(default)]
            sort: Option<Sort>,
        }
        #[derive(Deserialize, Debug)]
        enum Sort {
            Known,
        }
        assert!(matches!(serde_json::from_str(r#""Known""#), Ok(Sort::Known)));
        for (text, expected) in [
            (r#""x""#, r#"expected an object, found the string "x""#),
            (r#"{"size": -1}"#, "expected a whole number that is not negative, found the number -1"),
            (r#"{"size": 1.5}"#, "expected a whole number that is not negative, found the number 1.5"),
            (r#"{"size": null}"#, "expected a whole number that is not negative, found null"),
            (r#"{"size": {}}"#, "expected a whole number that is not negative, found an object"),
            (r#"{"size": 1, "level": true}"#, "expected a whole number, found true"),
            (r#"{"size": 1, "share": "a, expected b"}"#, r#"expected a number, found the string "a, expected b""#),
            (r#"{"size": 1, "pair": [1]}"#, "expected an array of 2 values, found 1 values"),
            (r#"{"size": 1, "list": 7}"#, "expected an array, found the number 7"),
            (r#"{"size": 1, "list": ["no"]}"#, r#"expected true or false, found the string "no""#),
            (r#"{"size": 1, "sort": "Other"}"#, r#"the unknown word "Other""#),
            (r#"{"share": 1}"#, r#"the key "size" is missing"#),
            (r#"{"size": 1, "size": 2}"#, r#"the key "size" is there twice"#),
            (r#"{"size": x}"#, "expected a value"),
            (r#"{size: 1}"#, "the key of an object must be a string"),
            (r#"{"size": 1} 2"#, "something follows where the file should end"),
        ] {
            let error = serde_json::from_str::<Row>(text).expect_err("wrong");
            let ReadError::Syntax { message, .. } = syntax_error(text.as_bytes(), &error) else { panic!("{text}") };
            assert_eq!(message, expected, "{text}: {error}");
        }
        let long = format!("{:?}", "x".repeat(1000));
        let error = serde_json::from_str::<u32>(&long).expect_err("no number");
        assert!(syntax_error(long.as_bytes(), &error).to_string().len() < 150);
    }

    #[test]
    fn faults_are_placed_by_offset_on_any_line() {
        for (text, offset) in [("[1, x]", 4), ("[1,\n\n 2, x]", 9), ("{\n\"a\": tru}", 10)] {
            let error = serde_json::from_str::<serde::de::IgnoredAny>(text).expect_err("wrong");
            assert!(
                matches!(syntax_error(text.as_bytes(), &error), ReadError::Syntax { offset: at, .. } if at == offset),
                "{text:?}: {error}"
            );
        }
        for text in ["[1,\n 2", "[1,\n -", "[1,\n2.", "[1,\n2e"] {
            let error = serde_json::from_str::<serde::de::IgnoredAny>(text).expect_err("cut");
            let error = placed_at(syntax_error(text.as_bytes(), &error), 100);
            assert!(
                matches!(error, ReadError::Truncated { offset } if offset == 100 + text.len()),
                "{text:?}: {error:?}"
            );
        }
    }
}
