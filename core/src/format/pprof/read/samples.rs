//! The samples, one by one.

use super::super::super::ReadError;
use super::super::super::import_report::OUT_OF_RANGE;
use super::super::super::room::Room;
use super::super::schema;
use super::super::wire::{Field, Fields, Part};
use super::batch::Batch;
use super::code::Code;
use super::inlined::{self, Inlined};
use super::threads::Threads;
use super::values::Columns;
use super::{Maker, value_error};
use crate::model::LabelSetId;

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
    /// Rows of the locations of the sample at hand, the outermost first.
    locations: Vec<usize>,
    batch: Batch,
    inlined: Inlined,
    frames: Frames,
    room: Room,
    /// How many lost samples were counted.
    lost: i64,
}

/// How many frames the stacks of all samples can have. A few bytes can say that thousands of functions were inlined into one
/// another at a location, and that it is on a stack thousands of times. A true file has about one frame for three bytes.
struct Frames {
    left: usize,
}

impl Frames {
    fn of_file(bytes: usize) -> Self {
        Self { left: bytes.saturating_mul(4).saturating_add(4 << 20) }
    }

    /// Takes those of a stack; `false`: there are none left.
    fn take(&mut self, stack: usize) -> bool {
        let left = self.left.checked_sub(stack);
        self.left = left.unwrap_or_default();
        left.is_some()
    }
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
    /// Of a file of so many bytes, with so many samples.
    pub(super) fn new(code: Code<'a>, columns: Columns, threads: Threads, count: u64, bytes: usize) -> Self {
        let (sample, locations, batch, inlined) = Default::default();
        let (frames, room) = (Frames::of_file(bytes), Room::of_packed(bytes));
        Self { code, columns, threads, count, read: 0, sample, locations, batch, inlined, frames, room, lost: 0 }
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
        self.find_locations(maker).map_err(|error| match error {
            LocationError::Missing(id) => value_error(&name(), offset, format!("its location {id} is not in the file")),
            LocationError::Read(error) => error,
        })?;
        let place = || format!("{} at byte {offset}", name());
        if self.is_lost() {
            let weight = self.columns.weight().map_or(0, |column| self.sample.values[column]);
            self.lost = self.lost.checked_add(weight).unwrap_or_else(|| {
                maker.report.note(OUT_OF_RANGE, place);
                i64::MAX
            });
            return Ok(());
        }
        let depth = self.locations.iter().map(|location| self.code.frames(*location).len()).sum();
        if !self.frames.take(depth) {
            let message = format!("with its {depth} frames there are more than a file of this size can have");
            return Err(value_error(&name(), offset, message));
        }
        // What is known of labels takes its room, too: about as much as three nodes.
        self.room.check_stack(&maker.builder, depth + 3 * self.threads.known(), place)?;
        let owner = self.threads.owner(&self.sample.labels, &self.columns, maker, place);
        let table = &mut maker.builder.thread_mut(owner.thread).samples;
        if owner.labels.is_some() || !table.labels.is_empty() {
            // It has labels from here on.
            table.labels.resize(table.stack.len(), None::<LabelSetId>);
            table.labels.push(owner.labels);
        }
        table.stack.push(None);
        let row = table.stack.len() - 1;
        if !self.columns.push(&self.sample.values, table) {
            maker.report.note(OUT_OF_RANGE, place);
        }
        if self.locations.iter().any(|location| inlined::is_long(self.code.frames(*location))) {
            // Rows are made in the order of the samples.
            self.batch.make(&mut maker.builder);
            let stack = self.inlined.stack(&self.locations, &self.code, &mut maker.builder);
            maker.builder.thread_mut(owner.thread).samples.stack[row] = stack;
            return Ok(());
        }
        for location in &self.locations {
            self.batch.push(self.code.frames(*location));
        }
        self.batch.finish_sample(owner.thread, row);
        if self.batch.is_full() {
            self.batch.make(&mut maker.builder);
        }
        Ok(())
    }

    /// What is left to do behind the last sample.
    pub(super) fn finish(mut self, maker: &mut Maker<'a>) {
        self.batch.make(&mut maker.builder);
        self.threads.add_mappings(&mut self.code.libraries, maker);
        if let (Some(quality), true) = (&mut maker.builder.meta_mut().quality, self.lost > 0) {
            quality.lost_samples = self.lost.unsigned_abs();
        }
    }

    /// The locations of the sample at hand, with their frames made.
    #[inline]
    fn find_locations(&mut self, maker: &mut Maker<'a>) -> Result<(), LocationError> {
        self.locations.clear();
        for id in self.sample.locations.iter().rev() {
            let location = self.code.location(*id).ok_or(LocationError::Missing(*id))?;
            self.code.read(location, maker).map_err(LocationError::Read)?;
            self.locations.push(location);
        }
        Ok(())
    }

    /// Whether the sample at hand says how many others a recorder lost.
    fn is_lost(&self) -> bool {
        self.sample.labels.is_empty() && matches!(*self.locations, [location] if self.code.is_lost(location))
    }
}

enum LocationError {
    /// There is none with this id.
    Missing(u64),
    Read(ReadError),
}
