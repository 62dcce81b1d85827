//! Samples and weights of a `sampled` profile.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, SeqAccess, Visitor};

use super::super::super::import_report::Note;
use super::super::super::json_scan::{Scan, Scanner};
use super::super::super::json_value::{Index, Number};
use super::Context;
use super::axis::Column;
use super::path::Path;
use crate::model::StackId;

pub(super) const NO_FRAME: Note =
    Note { code: "frames-missing", message: "frames that are not in the table of frames are left out" };
const NO_WEIGHT: Note = Note { code: "weights-missing", message: "weights that are no numbers count as 0" };

/// The array of stacks.
pub(super) struct Samples<'a>(pub &'a mut Context);

impl<'de> DeserializeSeed<'de> for Samples<'_> {
    type Value = Vec<Option<StackId>>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Samples<'_> {
    type Value = Vec<Option<StackId>>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array of stacks")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        let mut path = Path::default();
        let mut stacks = Vec::new();
        while let Some(stack) =
            seq.next_element_seed(Stack { context: self.0, path: &mut path, sample: stacks.len() })?
        {
            stacks.push(stack);
        }
        Ok(stacks)
    }
}

/// One stack, the outermost frame first. It may be as deep as the file is long.
struct Stack<'a> {
    context: &'a mut Context,
    path: &'a mut Path,
    sample: usize,
}

impl<'de> DeserializeSeed<'de> for Stack<'_> {
    type Value = Option<StackId>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Stack<'_> {
    type Value = Option<StackId>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array of indices of frames")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        self.path.start();
        let mut depth = 0_usize;
        while let Some(index) = seq.next_element()? {
            self.context.check_room()?;
            let Context { builder, report, frames, profiles, .. } = &mut *self.context;
            if !self.path.follow(builder, frames, index) {
                report.note(NO_FRAME, || format!("profiles[{profiles}].samples[{}][{depth}]", self.sample));
            }
            depth += 1;
        }
        Ok(self.path.finish())
    }
}

/// The array of weights.
pub(super) struct Weights<'a>(pub &'a mut Context);

impl<'de> DeserializeSeed<'de> for Weights<'_> {
    type Value = Column;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Column, D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Weights<'_> {
    type Value = Column;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array of weights")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Column, A::Error> {
        let mut weights = Column::default();
        while let Some(weight) = seq.next_element()? {
            self.0.add_weight(&mut weights, weight);
        }
        Ok(weights)
    }
}

impl Context {
    pub(super) fn scan_samples(&mut self, scanner: &mut Scanner<'_>) -> Option<Vec<Option<StackId>>> {
        /// How many frames there are from one look at the room to the next.
        const OFTEN: usize = 1024;
        let Self { builder, report, frames, profiles, room, .. } = self;
        let mut path = Path::default();
        let mut stacks = Vec::new();
        scanner.array(|scanner| {
            path.start();
            let mut depth = 0_usize;
            scanner.array(|scanner| {
                if !path.follow(builder, frames, Index::scan(scanner)?) {
                    report.note(NO_FRAME, || format!("profiles[{profiles}].samples[{}][{depth}]", stacks.len()));
                }
                depth += 1;
                // What is refused is read again, and told, by serde_json's way.
                (!depth.is_multiple_of(OFTEN) || room.check(builder, String::new).is_ok()).then_some(())
            })?;
            stacks.push(path.finish());
            room.check(builder, String::new).is_ok().then_some(())
        })?;
        Some(stacks)
    }

    pub(super) fn scan_weights(&mut self, scanner: &mut Scanner<'_>) -> Option<Column> {
        let mut weights = Column::default();
        scanner.array(|scanner| {
            self.add_weight(&mut weights, Scan::scan(scanner)?);
            Some(())
        })?;
        Some(weights)
    }

    fn add_weight(&mut self, weights: &mut Column, weight: Option<Number>) {
        if weight.is_none() {
            let profile = self.profiles;
            self.report.note(NO_WEIGHT, || format!("profiles[{profile}].weights[{}]", weights.len()));
        }
        weights.push(weight.unwrap_or(Number::Integer(0)));
    }
}
