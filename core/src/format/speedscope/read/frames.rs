//! The table of frames.

use serde::Deserialize;

use super::super::super::ReadError;
use super::super::super::import_report::{ImportReport, Note};
use super::super::super::json_error::{placed_at, syntax_error};
use super::super::super::json_keys::top_level_keys;
use super::super::super::json_value::{Index, Number, Text};
use crate::model::{Frame, FrameId, Function, ProfileBuilder, Source, StandardCategory};

const WRONG_PLACE: Note =
    Note { code: "place-left-out", message: "lines and columns that are not positive whole numbers are left out" };

/// A frame of the file.
#[derive(Deserialize)]
struct Row {
    name: Text,
    #[serde(default)]
    file: Option<Text>,
    #[serde(default)]
    line: Option<Number>,
    #[serde(default)]
    col: Option<Number>,
}

#[derive(Deserialize)]
struct Shared {
    frames: Vec<Row>,
}

/// The frames, by their place in the file.
pub(super) struct Frames(Vec<FrameId>);

impl Frames {
    /// Reads the table, which `text` may have anywhere.
    pub(super) fn read(
        text: &[u8],
        builder: &mut ProfileBuilder,
        report: &mut ImportReport,
    ) -> Result<Self, ReadError> {
        let missing =
            || ReadError::Value { path: "shared".to_owned(), message: "the table of frames is missing".to_owned() };
        let (_, shared) = top_level_keys(text).find(|(key, _)| *key == b"shared").ok_or_else(missing)?;
        let start = text.len() - shared.len();
        let mut deserializer = serde_json::Deserializer::from_slice(shared);
        let shared = Shared::deserialize(&mut deserializer)
            .map_err(|error| placed_at(syntax_error(&text[start..], &error), start))?;
        let mut frames = Vec::new();
        for (index, row) in shared.frames.into_iter().enumerate() {
            let source = row.file.filter(|file| !file.0.is_empty()).map(|file| {
                let path = builder.string(&file.0);
                builder.source(Source::at(path))
            });
            let name = builder.string(&row.name.0);
            let function = builder.function(Function { source, ..Function::named(name) });
            let mut place = |number: Option<Number>, key: &str| {
                let number = number?;
                let place = positive(number);
                if place.is_none() {
                    report.note(WRONG_PLACE, || format!("shared.frames[{index}].{key}: {number}"));
                }
                place
            };
            let frame = Frame {
                category: Some(StandardCategory::Other.id()),
                line: place(row.line, "line"),
                column: place(row.col, "col"),
                ..Frame::of(function)
            };
            frames.push(builder.frame(frame));
        }
        Ok(Self(frames))
    }

    pub(super) fn get(&self, index: Index) -> Option<FrameId> {
        self.0.get(index.0? as usize).copied()
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the range is checked")]
fn positive(number: Number) -> Option<u32> {
    match number {
        Number::Integer(value) => u32::try_from(value).ok().filter(|value| *value > 0),
        Number::Float(value) => {
            (value.fract() == 0.0 && value >= 1.0 && value <= f64::from(u32::MAX)).then_some(value as u32)
        }
    }
}
