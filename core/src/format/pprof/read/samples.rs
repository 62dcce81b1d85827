//! The samples, one by one.

use super::super::super::ReadError;
use super::super::super::import_report::Note;
use super::super::schema;
use super::super::wire::{Field, Fields, Part};
use super::code::Code;
use super::threads::Threads;
use super::values::Columns;
use super::{Maker, value_error};
use crate::model::{LabelSetId, StackId};

const TIME_TOO_LONG: Note = Note {
    code: "value-out-of-range",
    message: "times do not fit into 64 bits of nanoseconds; the longest stands for them",
};

/// Reads samples into the model.
pub(super) struct Samples<'a> {
    code: Code<'a>,
    columns: Columns,
    threads: Threads,
    /// How many samples there are in all.
    count: u64,
    /// How many were read.
    read: u64,
    sample: Sample,
    /// The locations of the sample before and the stacks that end at them, the outermost first: samples that stand
    /// together begin alike.
    path: Vec<(usize, Option<StackId>)>,
    /// How many lost samples were counted.
    lost: i64,
}

/// A sample, decoded.
#[derive(Default)]
struct Sample {
    locations: Vec<u64>,
    values: Vec<i64>,
    labels: Vec<schema::Label>,
}

impl Sample {
    /// Takes what is in `message`. Keeps the room that it has.
    fn decode(&mut self, message: Part<'_>) -> Result<(), ReadError> {
        let Self { locations, values, labels } = self;
        locations.clear();
        values.clear();
        labels.clear();
        let mut fields = Fields::of(message);
        while let Some(field) = fields.next()? {
            match field.number {
                1 => field.numbers(|id| locations.push(id))?,
                2 => field.numbers(|value| values.push(value.cast_signed()))?,
                3 => labels.push(label(field)?),
                _ => {}
            }
        }
        Ok(())
    }
}

fn label(field: Field<'_>) -> Result<schema::Label, ReadError> {
    let mut label = schema::Label::default();
    let mut fields = Fields::of(field.bytes()?);
    while let Some(field) = fields.next()? {
        match field.number {
            1 => label.key = field.signed()?,
            2 => label.str = field.signed()?,
            3 => label.num = field.signed()?,
            4 => label.num_unit = field.signed()?,
            _ => {}
        }
    }
    Ok(label)
}

impl<'a> Samples<'a> {
    /// Of a file with so many samples.
    pub(super) fn new(code: Code<'a>, columns: Columns, threads: Threads, count: u64) -> Self {
        Self { code, columns, threads, count, read: 0, sample: Sample::default(), path: Vec::new(), lost: 0 }
    }

    /// Adds the sample of a field.
    pub(super) fn read(&mut self, field: Field<'a>, maker: &mut Maker<'a>) -> Result<(), ReadError> {
        self.read += 1;
        let message = field.bytes()?;
        self.sample.decode(message)?;
        let (read, count, offset) = (self.read, self.count, message.offset);
        let name = || format!("sample {read} of {count}");
        let (found, expected) = (self.sample.values.len(), self.columns.len());
        if found != expected {
            let message = format!("it has {found} values, and the file has {expected} sample types");
            return Err(value_error(&name(), offset, message));
        }
        for label in &self.sample.labels {
            for text in [label.key, label.str, label.num_unit] {
                maker.texts.check(text, offset, name)?;
            }
        }
        let stack = self.stack(maker).map_err(|message| match message {
            StackError::Missing(id) => value_error(&name(), offset, format!("its location {id} is not in the file")),
            StackError::Read(error) => error,
        })?;
        if self.is_lost() {
            let weight = self.columns.weight().map_or(0, |column| self.sample.values[column]);
            self.lost = self.lost.saturating_add(weight);
            return Ok(());
        }
        let place = || format!("{} at byte {offset}", name());
        let owner = self.threads.owner(&self.sample.labels, &self.columns, maker, place);
        let table = &mut maker.builder.thread_mut(owner.thread).samples;
        if owner.labels.is_some() || !table.labels.is_empty() {
            // It has labels from here on.
            table.labels.resize(table.stack.len(), None::<LabelSetId>);
            table.labels.push(owner.labels);
        }
        table.stack.push(stack);
        if !self.columns.push(&self.sample.values, table) {
            maker.report.note(TIME_TOO_LONG, place);
        }
        Ok(())
    }

    /// What is left to do behind the last sample.
    pub(super) fn finish(mut self, maker: &mut Maker<'a>) {
        self.threads.add_mappings(&mut self.code.libraries, maker);
        if let (Some(quality), true) = (&mut maker.builder.meta_mut().quality, self.lost > 0) {
            quality.lost_samples = self.lost.unsigned_abs();
        }
    }

    /// The stack of the sample at hand.
    #[inline]
    fn stack(&mut self, maker: &mut Maker<'a>) -> Result<Option<StackId>, StackError> {
        let mut same = true;
        let mut stack = None;
        for (depth, id) in self.sample.locations.iter().rev().enumerate() {
            let location = self.code.location(*id).ok_or(StackError::Missing(*id))?;
            if same {
                match self.path.get(depth) {
                    Some((known, ends_at)) if *known == location => {
                        stack = *ends_at;
                        continue;
                    }
                    _ => {
                        same = false;
                        self.path.truncate(depth);
                    }
                }
            }
            self.code.read(location, maker).map_err(StackError::Read)?;
            for frame in self.code.frames(location) {
                stack = Some(maker.builder.stack(stack, *frame));
            }
            self.path.push((location, stack));
        }
        self.path.truncate(self.sample.locations.len());
        Ok(stack)
    }

    /// Whether the sample at hand says how many others a recorder lost.
    fn is_lost(&self) -> bool {
        let is_alone = self.sample.labels.is_empty() && self.path.len() == 1;
        is_alone && self.code.is_lost(self.path[0].0)
    }
}

enum StackError {
    /// There is no location with this id.
    Missing(u64),
    Read(ReadError),
}
