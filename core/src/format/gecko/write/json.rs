//! JSON written as a stream: objects and columns go out as they are made, and nothing is kept.

use std::io::{self, Write};

use serde::{Serialize, Serializer};

/// A JSON text in the making.
pub(super) struct Json<W: Write> {
    out: W,
    /// Whether the next value needs a comma before it.
    comma: bool,
}

impl<W: Write> Json<W> {
    pub(super) fn new(out: W) -> Self {
        Self { out, comma: false }
    }

    pub(super) fn finish(mut self) -> io::Result<()> {
        self.out.flush()
    }

    /// An object; as the value of `key` when inside another one, without when in an array.
    pub(super) fn object(
        &mut self,
        key: Option<&str>,
        fill: impl FnOnce(&mut Self) -> io::Result<()>,
    ) -> io::Result<()> {
        self.enclosed(key, [b"{", b"}"], fill)
    }

    /// An array of values that `fill` writes.
    pub(super) fn array(&mut self, key: &str, fill: impl FnOnce(&mut Self) -> io::Result<()>) -> io::Result<()> {
        self.enclosed(Some(key), [b"[", b"]"], fill)
    }

    /// A field of an object.
    pub(super) fn field(&mut self, key: &str, value: &(impl Serialize + ?Sized)) -> io::Result<()> {
        self.separate(Some(key))?;
        serde_json::to_writer(&mut self.out, value)?;
        Ok(())
    }

    /// A field that is an array, one value after the other.
    pub(super) fn column<T: Serialize>(&mut self, key: &str, values: impl IntoIterator<Item = T>) -> io::Result<()> {
        self.separate(Some(key))?;
        serde_json::Serializer::new(&mut self.out).collect_seq(values)?;
        Ok(())
    }

    /// A field of an object whose value is JSON text.
    pub(super) fn raw(&mut self, key: &str, json: &str) -> io::Result<()> {
        self.separate(Some(key))?;
        self.out.write_all(json.as_bytes())
    }

    /// A value of an array.
    pub(super) fn element(&mut self, value: &(impl Serialize + ?Sized)) -> io::Result<()> {
        self.separate(None)?;
        serde_json::to_writer(&mut self.out, value)?;
        Ok(())
    }

    fn enclosed(
        &mut self,
        key: Option<&str>,
        [open, close]: [&[u8]; 2],
        fill: impl FnOnce(&mut Self) -> io::Result<()>,
    ) -> io::Result<()> {
        self.separate(key)?;
        self.out.write_all(open)?;
        self.comma = false;
        fill(self)?;
        self.out.write_all(close)?;
        self.comma = true;
        Ok(())
    }

    fn separate(&mut self, key: Option<&str>) -> io::Result<()> {
        if self.comma {
            self.out.write_all(b",")?;
        }
        self.comma = true;
        if let Some(key) = key {
            serde_json::to_writer(&mut self.out, key)?;
            self.out.write_all(b":")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commas_stand_between_values_only() {
        let mut out = Vec::new();
        let mut json = Json::new(&mut out);
        json.object(None, |json| {
            json.object(Some("empty"), |_| Ok(()))?;
            json.column("rows", [Some(1), None])?;
            json.array("list", |json| {
                json.object(None, |json| json.field("a \"b\"", "c\n"))?;
                json.object(None, |json| json.field("d", &1.5))?;
                json.element(&7)
            })?;
            json.column::<u8>("none", [])
        })
        .expect("memory does not fail");
        let text = String::from_utf8(out).expect("text");
        assert_eq!(text, r#"{"empty":{},"rows":[1,null],"list":[{"a \"b\"":"c\n"},{"d":1.5},7],"none":[]}"#);
    }
}
