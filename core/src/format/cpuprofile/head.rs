//! Nodes inside each other, as files had them before 2016: parsed with a stack on the heap, because the text is nested as
//! deeply as the program's calls.

use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::Deserializer;

use super::node::{Node, Tick};
use crate::format::ReadError;
use crate::format::import_report::ImportReport;
use crate::format::json_error::{placed_at, syntax_error};
use crate::format::json_value::Text;
use crate::format::v8_profile::{Row, V8Profile};
use crate::model::ProfileBuilder;

/// Reads the node that `text` begins with, and all below it. What follows is not looked at.
pub(super) fn read(
    text: &[u8],
    v8: &mut V8Profile,
    builder: &mut ProfileBuilder,
    report: &mut ImportReport,
) -> Result<(), ReadError> {
    let mut scanner = Scanner { text, at: 0 };
    scanner.expect(b'{', "a node")?;
    let mut open = vec![Open { row: v8.announce(None), node: None, has_keys: false }];
    while let Some(node) = open.last_mut() {
        // Inside an object, where a key may follow.
        if scanner.take(b'}') {
            let Open { row, node, .. } = open.pop().expect("a node is open");
            node.map_or_else(empty, |node| *node)
                .fill(row, v8, builder, report, || format!("head: node {}", row.index()));
            // Behind it the array that it stood in goes on or ends.
            if open.is_empty() {
                break;
            }
            if scanner.take(b',') {
                scanner.expect(b'{', "a node")?;
                let parent = open.last().map(|node| node.row);
                open.push(Open { row: v8.announce(parent), node: None, has_keys: false });
            } else {
                scanner.expect(b']', "the end of the array of nodes")?;
            }
            continue;
        }
        if node.has_keys {
            scanner.expect(b',', "a comma or the end of the node")?;
        }
        node.has_keys = true;
        let Text(key) = scanner.value()?;
        scanner.expect(b':', "a colon")?;
        if key == "children" && scanner.take(b'[') {
            if scanner.take(b']') {
                continue;
            }
            scanner.expect(b'{', "a node")?;
            let parent = node.row;
            open.push(Open { row: v8.announce(Some(parent)), node: None, has_keys: false });
        } else {
            scanner.field(&key, node.node.get_or_insert_with(|| Box::new(empty())))?;
        }
    }
    Ok(())
}

/// A node whose end was not reached yet.
struct Open {
    row: Row,
    /// What is known of it so far; nothing, for most of the nodes that are open at a time in files whose keys stand behind
    /// the children.
    node: Option<Box<Node>>,
    has_keys: bool,
}

fn empty() -> Node {
    Node { is_one_based: true, ..Node::default() }
}

/// Steps through JSON text.
struct Scanner<'a> {
    text: &'a [u8],
    at: usize,
}

impl Scanner<'_> {
    /// Steps over `byte`, if that is next.
    fn take(&mut self, byte: u8) -> bool {
        let rest = self.text[self.at..].trim_ascii_start();
        self.at = self.text.len() - rest.len();
        let is_next = rest.first() == Some(&byte);
        self.at += usize::from(is_next);
        is_next
    }

    fn expect(&mut self, byte: u8, what: &str) -> Result<(), ReadError> {
        if self.take(byte) {
            return Ok(());
        }
        Err(match self.text.get(self.at) {
            Some(found) => ReadError::Syntax {
                offset: self.at,
                message: format!("expected {what}, found {:?}", char::from(*found)),
            },
            None => ReadError::Truncated { offset: self.at },
        })
    }

    /// The value that is next.
    fn value<T: DeserializeOwned>(&mut self) -> Result<T, ReadError> {
        let rest = &self.text[self.at..];
        let mut values = Deserializer::from_slice(rest).into_iter::<T>();
        let value = values.next().ok_or(ReadError::Truncated { offset: self.text.len() })?;
        let value = value.map_err(|error| placed_at(syntax_error(rest, &error), self.at))?;
        self.at += values.byte_offset();
        Ok(value)
    }

    /// The value of `key` of a node.
    fn field(&mut self, key: &str, node: &mut Node) -> Result<(), ReadError> {
        match key {
            "id" => node.id = self.value()?,
            "hitCount" => node.hits = self.value()?,
            "functionName" => node.call.function_name = self.value()?,
            "url" => node.call.url = self.value()?,
            "lineNumber" => node.call.line_number = self.value()?,
            "columnNumber" => node.call.column_number = self.value()?,
            "positionTicks" => node.ticks = self.value::<Option<Vec<Tick>>>()?.unwrap_or_default(),
            "callFrame" => (node.call, node.is_one_based) = (self.value()?, false),
            _ => {
                self.value::<IgnoredAny>()?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(text: &str) -> Result<usize, ReadError> {
        let mut v8 = V8Profile::default();
        let (mut builder, mut report) = (ProfileBuilder::with_standard_categories(), ImportReport::default());
        read(text.as_bytes(), &mut v8, &mut builder, &mut report).map(|()| v8.announce(None).index())
    }

    #[test]
    fn nodes_are_found_in_any_order_of_keys() {
        assert_eq!(
            rows(r#"{"id":1,"children":[{"children":[],"id":2},{"id":3,"x":[[{}]],"children":[{}]}]} , "#).unwrap(),
            4
        );
        assert_eq!(rows("{}").unwrap(), 1);
        assert_eq!(rows(r#" { "children" : null , "id" : 7 }"#).unwrap(), 1);
        let deep = 1_000_000;
        let text = format!("{}{{}}{}", "{\"children\":[".repeat(deep), "]}".repeat(deep));
        assert_eq!(rows(&text).unwrap(), deep + 1);
    }

    #[test]
    fn faults_are_named_with_their_offset() {
        for (text, message) in [
            (r#"{"id":1 "x":2}"#, "byte 8: expected a comma or the end of the node, found '\"'"),
            (r#"{"children":[{}{}]}"#, "byte 15: expected the end of the array of nodes, found '{'"),
            (r#"{"children":[1]}"#, "byte 13: expected a node, found '1'"),
            (r#"{"id":"1"}"#, "byte 8: expected an index, found the string \"1\""),
            (r#"{"children":[{"#, "the file ends too early, at byte 14: it is incomplete, copy or record it again"),
        ] {
            assert_eq!(rows(text).unwrap_err().to_string(), message, "{text}");
        }
    }
}
