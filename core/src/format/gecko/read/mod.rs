//! File to model. A file is parsed into its [schema](super::schema), each number in it checked, and what
//! `traceview` says applied. Nothing that a file says can make this panic.

mod code;
mod counter;
mod extension;
mod function;
mod marker;
mod marker_flows;
mod meta;
mod rows;
mod stack;
mod thread;

use self::code::Code;
use self::rows::Rows;
use super::super::ReadError;
use super::super::import_report::ImportReport;
use super::super::json_error::syntax_error;
use super::schema::{File, Head};
use super::{FORMAT, VERSION, extension as key};
use crate::model::{ProcessId, Profile, ProfileBuilder};

/// Reads a file of version 64. The profile of a file that this program wrote is equal to what was written.
///
/// # Errors
/// If `bytes` are not a whole file of that version, or a value in it is not what it has to be.
pub fn read(bytes: &[u8]) -> Result<Profile, ReadError> {
    let file = parse(bytes)?;
    let mut builder = ProfileBuilder::new();
    let extension = file.meta.traceview.as_ref();
    let code = Code::read(&mut builder, &file)?;
    let mut report = ImportReport::default();
    let processes: Rows<ProcessId> = match extension {
        Some(extension) => extension::processes(&mut builder, &code, &extension.processes)?,
        None => thread::processes(&mut builder, &file.threads)?,
    };
    let markers = marker::Markers::read(&mut builder, &code, &file)?;
    let label_sets = extension::label_sets(&mut builder, &code, extension)?;
    let value_types = extension::value_types(&mut builder, &code, extension)?;
    let context = thread::Context { code: &code, processes: &processes, markers: &markers, label_sets, value_types };
    let mut threads = Rows::new("the threads");
    for (index, thread) in file.threads.iter().enumerate() {
        let thread = context.read(&mut builder, &file.meta, index, thread, &mut report)?;
        threads.push(builder.add_thread(thread));
    }
    counter::read(&mut builder, &file, &processes, &threads)?;
    match extension {
        Some(extension) => {
            extension::mappings(&mut builder, &code, &processes, &extension.mappings)?;
            extension::flows(&mut builder, &code, &threads, &extension.flows)?;
            *builder.meta_mut() = meta::ours(&extension.meta);
        }
        None => {
            marker_flows::add(&mut builder);
            *builder.meta_mut() = meta::of_other_tool(&file.meta, report.into_warnings())?;
        }
    }
    Ok(builder.finish()?)
}

fn parse(bytes: &[u8]) -> Result<File, ReadError> {
    let text = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let file: File = serde_json::from_slice(text).map_err(|error| {
        // Of a version with another structure the version is what has to be said.
        let head = serde_json::from_slice::<Head>(text).ok();
        head.and_then(|head| unsupported(&head)).unwrap_or_else(|| syntax_error(text, &error))
    })?;
    let found = file.meta.preprocessed_profile_version;
    if found.as_f64() != f64::from(VERSION) {
        return Err(version_error(found.to_string()));
    }
    match &file.meta.traceview {
        Some(extension) if extension.version != key::EXTENSION_VERSION => {
            Err(extension_error(extension.version.to_string()))
        }
        _ => Ok(file),
    }
}

fn unsupported(head: &Head) -> Option<ReadError> {
    let version = &head.meta.preprocessed_profile_version;
    if version.as_f64() != Some(f64::from(VERSION)) {
        return Some(version_error(version.to_string()));
    }
    let extension = head.meta.traceview.as_ref()?;
    let known = extension.version.as_u64() == Some(key::EXTENSION_VERSION.into());
    (!known).then(|| extension_error(extension.version.to_string()))
}

fn version_error(found: String) -> ReadError {
    ReadError::Version { format: FORMAT, found, supported: VERSION.to_string() }
}

fn extension_error(found: String) -> ReadError {
    ReadError::Version { format: "meta.traceview", found, supported: key::EXTENSION_VERSION.to_string() }
}
