//! File to model, in two walks over its fields: the first one finds the tables, wherever they stand, and the second one
//! takes the samples one by one. Tables are read where they stand as far as samples need them.
//!
//! What pprof itself refuses is refused; decoding alone finds none of it: concatenated files, samples with too many or too
//! few values, ids that are 0, missing or given twice, texts that are not there. A mapping that is not there is none, as in
//! pprof.

mod batch;
mod code;
mod head;
mod inlined;
mod libraries;
mod rows;
mod samples;
mod texts;
mod threads;
mod values;

use self::code::Code;
use self::head::Head;
use self::libraries::Libraries;
use self::rows::Rows;
use self::samples::Samples;
use self::texts::Texts;
use self::threads::Threads;
use self::values::Columns;
use super::super::ReadError;
use super::super::import_report::ImportReport;
use super::recognize::legacy;
use super::schema;
use super::wire::{Field, Fields, syntax};
use crate::model::{Profile, ProfileBuilder, StringId};

/// Reads a file.
///
/// # Errors
/// If it is none, or one that pprof refuses.
pub fn read(bytes: &[u8]) -> Result<Profile, ReadError> {
    if let Some(form) = legacy(bytes) {
        return Err(ReadError::OldForm { format: "pprof", form, converts: "pprof -proto FILE > FILE.pb.gz" });
    }
    let tables = Tables::of(bytes)?;
    let is_used = tables.check()?;
    let Tables { head, texts, mappings, locations, functions, samples } = tables;
    let mut maker =
        Maker { texts, builder: ProfileBuilder::with_standard_categories(), report: ImportReport::default() };
    let libraries = Libraries::of(&mappings, &is_used, &mut maker.texts, &mut maker.builder, &mut maker.report)?;
    let columns = Columns::of(&head.sample_types, &mut maker);
    head.read(samples, &mut maker);
    let code = Code::new(locations, functions, mappings, libraries);
    let program = maker.builder.tables().meta.name.clone();
    let threads = Threads::new(maker.builder.string(&program));
    let mut samples = Samples::new(code, columns, threads, samples, bytes.len());
    let mut fields = Fields::of_file(bytes);
    while let Some(field) = fields.next()? {
        if field.number == SAMPLE {
            samples.read(field, &mut maker)?;
        }
    }
    samples.finish(&mut maker);
    let Maker { mut builder, report, .. } = maker;
    builder.meta_mut().warnings = report.into_warnings();
    Ok(builder.finish()?)
}

const SAMPLE: u64 = 2;

/// The model in the making, and what goes into all of its parts.
struct Maker<'a> {
    texts: Texts<'a>,
    builder: ProfileBuilder,
    report: ImportReport,
}

impl Maker<'_> {
    /// The text of a row, which was checked, in the model.
    fn text(&mut self, row: i64) -> StringId {
        self.texts.id(row, &mut self.builder, &mut self.report)
    }
}

/// What the first walk finds.
struct Tables<'a> {
    head: Head,
    texts: Texts<'a>,
    mappings: Rows<'a>,
    locations: Rows<'a>,
    functions: Rows<'a>,
    /// How many samples there are.
    samples: u64,
}

impl<'a> Tables<'a> {
    fn of(file: &'a [u8]) -> Result<Self, ReadError> {
        let mut tables = Self {
            head: Head::default(),
            texts: Texts::new(file),
            mappings: Rows::new(file, "mapping"),
            locations: Rows::new(file, "location"),
            functions: Rows::new(file, "function"),
            samples: 0,
        };
        let mut fields = Fields::of_file(file);
        while let Some(field) = fields.next()? {
            match field.number {
                SAMPLE => {
                    field.bytes()?;
                    tables.samples += 1;
                }
                3 => tables.mappings.push(field)?,
                4 => tables.locations.push(field)?,
                5 => tables.functions.push(field)?,
                6 => tables.texts.push(field)?,
                _ => tables.head.take(field)?,
            }
        }
        Ok(tables)
    }

    /// That all that rows refer to is there. Says which mappings have locations.
    fn check(&self) -> Result<Vec<bool>, ReadError> {
        let texts = &self.texts;
        self.head.check(texts, self.samples)?;
        for row in 0..self.mappings.len() {
            let (mapping, offset) = self.mappings.decode::<schema::Mapping>(row)?;
            for text in [mapping.filename, mapping.build_id] {
                texts.check(text, offset, || format!("mapping {}", mapping.id))?;
            }
        }
        for row in 0..self.functions.len() {
            let (function, offset) = self.functions.decode::<schema::Function>(row)?;
            for text in [function.name, function.system_name, function.filename] {
                texts.check(text, offset, || format!("function {}", function.id))?;
            }
        }
        let mut is_used = vec![false; self.mappings.len()];
        for row in 0..self.locations.len() {
            let (location, offset) = self.locations.decode::<schema::Location>(row)?;
            for line in &location.line {
                if self.functions.row(line.function_id).is_none() {
                    let message = format!("its function {} is not in the file", line.function_id);
                    return Err(value_error(&format!("location {}", location.id), offset, message));
                }
            }
            if let Some(mapping) = self.mappings.row(location.mapping_id) {
                is_used[mapping] = true;
            }
        }
        Ok(is_used)
    }
}

/// Something is wrong with a part of the file that begins at a byte.
fn value_error(what: &str, offset: usize, message: String) -> ReadError {
    ReadError::Value { path: format!("{what} at byte {offset}"), message }
}

/// A message in the file that is decoded at once.
fn decode<M: prost::Message + Default>(field: Field<'_>) -> Result<M, ReadError> {
    let part = field.bytes()?;
    M::decode(part.bytes).map_err(|error| syntax(part.offset, error.to_string()))
}
