//! File to model: a file is parsed into its [structure](super::schema), brought to the newest version step by step, and its
//! tables go into the model; then what `traceview` says is applied.
//!
//! * A file that is no JSON, or of a version that is not known, is refused; what else is wrong in the file of another tool
//!   is repaired and noted (`repair`), as long as the rest can be trusted.
//! * What `traceview` says in a file of our own is believed only as a whole: if anything in the file is not as it was
//!   written, it is read as the file of another tool, and that is noted.
//! * Nothing that a file says can make this panic.

mod allocation;
mod code;
mod counter;
mod extension;
mod function;
mod kept;
mod marker;
mod marker_flows;
mod marker_schema;
mod meta;
mod parse;
mod payload;
mod repair;
mod rows;
mod samples;
mod stack;
mod thread;
mod times;

use self::code::Code;
use self::parse::Own;
use self::rows::Rows;
use super::super::ReadError;
use super::schema::File;
use super::{VERSION, extension as key, upgrade};
use crate::format::import_report::ImportReport;
use crate::format::room::Room;
use crate::model::{ProcessId, Profile, ProfileBuilder, Warning};

pub(super) use kept::{VERSION_PATH, compact};
pub(super) use parse::text;
pub(super) use repair::Repairs;
pub(super) use samples::VALUE_COLUMNS;

/// Reads a processed profile of any known version. The profile of a file that this program wrote is equal to what was
/// written. Gives the version of the file as well.
///
/// # Errors
/// If `bytes` are not a whole file of a known version, or contradict themselves so that nothing can be trusted.
pub(super) fn read(bytes: &[u8]) -> Result<(Profile, Option<u64>), ReadError> {
    let mut repairs = Repairs::default();
    let room = Room::of(bytes.len());
    let text = text(bytes, &mut repairs);
    let (mut file, version) = parse::file(&text)?;
    let has_own = file.meta.as_ref().is_some_and(|meta| meta.traceview.is_some());
    if has_own {
        let ours = if version == VERSION {
            parse::own(&file, &text).and_then(|own| convert(file, version, Some(&own), Repairs::default(), room))
        } else {
            let found = version.to_string();
            Err(ReadError::Version { format: "files with meta.traceview", found, supported: VERSION.to_string() })
        };
        match ours {
            Ok(profile) => return Ok((profile, Some(version.into()))),
            // A newer version of this program knows how to read it.
            Err(error @ ReadError::Version { format: key::FORMAT, .. }) => return Err(error),
            Err(error) => {
                let message = "the file was changed after it was written: what only traceview had said is left out";
                repairs.note("traceview-ignored", message, || error.to_string());
                file = parse::file(&text)?.0;
            }
        }
    }
    Ok((import(file, repairs.0, room)?, Some(version.into())))
}

/// The profile of a file that is there already, of the version that its `meta` says.
///
/// # Errors
/// If its version is not known, it breaks a rule that no repair brings back, or has more than there is room for.
pub(super) fn import(file: File<'_>, report: ImportReport, room: Room) -> Result<Profile, ReadError> {
    let version = parse::version(&file)?;
    convert(file, version, None, Repairs(report), room)
}

fn convert(
    mut file: File<'_>,
    version: u32,
    own: Option<&Own>,
    mut repairs: Repairs,
    room: Room,
) -> Result<Profile, ReadError> {
    upgrade::upgrade(&mut file, version, &mut repairs);
    let mut builder = ProfileBuilder::new();
    let extension = own.map(|own| &own.meta);
    let code = Code::read(&mut builder, &mut file, extension, &mut repairs)?;
    let mut by_pid = thread::Processes::default();
    let processes: Rows<ProcessId> = match extension {
        Some(extension) => extension::processes(&mut builder, &code, &extension.processes)?,
        None => by_pid.of_threads(&mut builder, &file, &mut repairs),
    };
    match extension {
        Some(extension) => kept::ours(&mut builder, &file, &extension.kept)?,
        None => kept::foreign(&mut builder, &file, version),
    }
    let mut meta = file.meta.take().unwrap_or_default();
    let markers = marker::Markers::read(
        &mut builder,
        &code,
        meta.marker_schema.take().map(|list| list.0),
        extension,
        &mut repairs,
    )?;
    let label_sets = extension::label_sets(&mut builder, &code, extension)?;
    let value_types = extension::value_types(&mut builder, &code, extension)?;
    let cpu_unit = meta.sample_units.as_ref().and_then(|units| units.thread_cpu_delta.as_ref());
    let cpu_unit = cpu_unit.map(|unit| unit.0.to_string());
    let context =
        thread::Context { code: &code, processes: &processes, markers: &markers, label_sets, value_types, cpu_unit };
    let mut threads = Rows::new("the threads");
    let mut libraries = thread::ThreadLibraries::default();
    for (index, in_file) in file.threads.take().into_iter().flatten().enumerate() {
        let own = own.map(|own| &own.threads[index]);
        let thread = context.read(&mut builder, &mut libraries, index, in_file, own, &mut repairs)?;
        threads.push(builder.add_thread(thread));
        room.check(&builder, || format!("threads[{index}]"))?;
    }
    let counters = file.counters.take().unwrap_or_default().0;
    counter::read(&mut builder, counters, extension, &processes, &threads, &mut by_pid, &mut repairs)?;
    *builder.meta_mut() = match extension {
        Some(extension) => {
            extension::mappings(&mut builder, &code, &processes, &extension.mappings)?;
            extension::flows(&mut builder, &code, &threads, &extension.flows)?;
            meta::ours(&extension.meta)
        }
        None => {
            marker_flows::add(&mut builder);
            meta::of_other_tool(&meta, &mut repairs)
        }
    };
    let warnings = repairs.0.into_warnings();
    match warnings.first() {
        // What had to be repaired is not what was written.
        Some(Warning { message, first, .. }) if own.is_some() => {
            let path = first.clone().unwrap_or_default();
            return Err(ReadError::Value { path, message: message.clone() });
        }
        _ => builder.meta_mut().warnings.extend(warnings),
    }
    Ok(builder.finish()?)
}
