//! Programs that cannot be recorded, or not with all that they can do, and the processes that ran them.

use std::ffi::CString;
use std::fmt::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use object::elf::FileHeader64;
use object::read::elf::ElfFile;
use object::{LittleEndian, Object as _, ObjectSymbol as _};
use rustc_hash::FxHashMap;
use traceview_core::model::Warning;

use super::code::file_name;
use crate::image::Image;
use crate::sampler::proc_fs::{self, Privileges};
use crate::sampler::ptrace::sys;
use crate::unwind::{ImageIndex, MappingRecord, Recording};

/// A thread that ends can hide for a moment; a process with more of this hides its memory.
const HIDDEN_LOOKS: u64 = 20;

/// How many processes a warning names before it only counts them.
const MOST_NAMED: usize = 8;

/// Processes that keep others from looking into them.
pub(super) fn about_hidden(recording: &Recording) -> Option<Warning> {
    let hidden: Vec<usize> =
        (0..recording.processes.len()).filter(|row| recording.processes[*row].hidden_looks > HIDDEN_LOOKS).collect();
    let first = named(recording, *hidden.first()?);
    Some(Warning {
        code: "hidden-threads".to_owned(),
        message: format!(
            "{} could not be looked at, so {} CPU time has no samples: {} memory is hidden (PR_SET_DUMPABLE, a program file \
             that may not be read, or a changed user); as root it can be recorded",
            list(recording, &hidden),
            if hidden.len() == 1 { "its" } else { "their" },
            if hidden.len() == 1 { "its" } else { "their" },
        ),
        count: hidden.len() as u64,
        first: Some(first),
    })
}

/// Programs that trace others cannot do so while they are traced themselves.
pub(super) fn about_tracers(recording: &Recording) -> Option<Warning> {
    let is_tracer =
        |index: ImageIndex| recording.images[index].image.as_ref().is_ok_and(|image| imports(image, b"ptrace"));
    let (program, processes) = running(recording, is_tracer)?;
    Some(Warning {
        code: "tracer".to_owned(),
        message: format!(
            "`{}` can trace other programs, which the kernel forbids while it is recorded with its children: {}; if it failed, \
             record it with --no-children",
            file_name(&recording.images[program]),
            list(recording, &processes),
        ),
        count: processes.len() as u64,
        first: Some(recording.images[program].path.display().to_string()),
    })
}

/// Programs that an ordinary user gets more rights by, but not while they are traced by one.
pub(super) fn about_lost_privileges(recording: &Recording) -> Option<Warning> {
    let own = proc_fs::read_own_privileges()?;
    let (program, processes) = running(recording, |index| {
        let path = &recording.images[index].path;
        FileRights::of(path).is_some_and(|rights| rights.are_lost(&own))
    })?;
    // Children alone: the program itself would be traced all the same.
    let advice = if processes.contains(&0) { "record it as root" } else { "record it as root, or with --no-children" };
    Some(Warning {
        code: "set-uid".to_owned(),
        message: format!(
            "`{}` ran without the rights that its file gives (set-uid, set-gid or capabilities), because the kernel \
             gives none to a program that an ordinary user traces: {}; {advice}",
            file_name(&recording.images[program]),
            list(recording, &processes),
        ),
        count: processes.len() as u64,
        first: Some(recording.images[program].path.display().to_string()),
    })
}

/// The rights that a program's file gives to whoever runs it.
#[derive(Clone, Copy, Debug)]
struct FileRights {
    user: Option<u32>,
    group: Option<u32>,
    has_capabilities: bool,
}

impl FileRights {
    /// `None` if the file is gone.
    fn of(path: &Path) -> Option<Self> {
        let file = std::fs::metadata(path).ok()?;
        let has = |bit: u32| file.mode() & bit != 0;
        // Set-gid without the group's right to execute is a mark for locks.
        let is_set_group = has(libc::S_ISGID) && has(libc::S_IXGRP);
        let has_capabilities = CString::new(path.as_os_str().as_bytes()).is_ok_and(|path| sys::has_capabilities(&path));
        Some(Self {
            user: has(libc::S_ISUID).then(|| file.uid()),
            group: is_set_group.then(|| file.gid()),
            has_capabilities,
        })
    }

    /// Whether whoever has the rights `own` and traces the program keeps it from getting more by its file.
    fn are_lost(self, own: &Privileges) -> bool {
        // Without these the file would give nothing to anybody whom we start.
        let would_give = !own.no_new_privileges
            && (self.user.is_some_and(|user| user != own.user)
                || self.group.is_some_and(|group| group != own.group)
                || (self.has_capabilities && own.user != 0));
        would_give && !own.may_trace_all
    }
}

/// The first program that `is_wanted`, and the processes that ran any such.
fn running(recording: &Recording, is_wanted: impl Fn(ImageIndex) -> bool) -> Option<(ImageIndex, Vec<usize>)> {
    let mut judged: FxHashMap<ImageIndex, bool> = FxHashMap::default();
    let mut wanted =
        programs(recording).into_iter().filter(|(_, image)| *judged.entry(*image).or_insert_with(|| is_wanted(*image)));
    let (first, program) = wanted.next()?;
    let mut processes = vec![first];
    processes.extend(wanted.map(|(process, _)| process));
    processes.sort_unstable();
    processes.dedup();
    Some((program, processes))
}

/// Each process with each program that it was seen to run: what it had lowest in memory after an exec, by the kernel's
/// layout.
fn programs(recording: &Recording) -> Vec<(usize, ImageIndex)> {
    let mut execs: Vec<(usize, i64)> = recording
        .threads
        .iter()
        .flat_map(|thread| thread.execs.iter().map(|exec| (thread.process, exec.time)))
        .collect();
    execs.sort_unstable();
    let mut mappings: Vec<Vec<&MappingRecord>> = vec![Vec::new(); recording.processes.len()];
    recording.mappings.iter().for_each(|mapping| mappings[mapping.process].push(mapping));
    let end = |row: usize| match execs.get(row + 1) {
        Some((process, time)) if *process == execs[row].0 => *time,
        _ => i64::MAX,
    };
    let program = |(row, (process, from)): (usize, &(usize, i64))| {
        let span = *from..end(row);
        let lowest = mappings[*process].iter().find(|mapping| span.contains(&mapping.from))?;
        Some((*process, lowest.image))
    };
    execs.iter().enumerate().filter_map(program).collect()
}

/// `name (pid 12)`.
fn named(recording: &Recording, process: usize) -> String {
    let process = &recording.processes[process];
    format!("{} (pid {})", process.name, process.pid)
}

/// Processes by name, but for those that are too many.
fn list(recording: &Recording, processes: &[usize]) -> String {
    let names: Vec<String> = processes.iter().take(MOST_NAMED).map(|process| named(recording, *process)).collect();
    let mut text = names.join(", ");
    let more = processes.len().saturating_sub(MOST_NAMED);
    if more > 0 {
        // Writing to a string cannot fail.
        let _infallible = write!(text, " and {more} more");
    }
    text
}

/// Whether a program calls a function of a library by this name.
fn imports(image: &Image, name: &[u8]) -> bool {
    let Ok(file) = ElfFile::<FileHeader64<LittleEndian>>::parse(image.data()) else { return false };
    file.dynamic_symbols().any(|symbol| symbol.is_undefined() && symbol.name_bytes().is_ok_and(|bytes| bytes == name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn imports_are_told_from_what_is_not_called() {
        let this = Image::open(&std::env::current_exe().unwrap()).unwrap();
        assert!(imports(&this, b"__libc_start_main"), "every program does");
        assert!(!imports(&this, b"no_such_function"));
    }

    #[test]
    fn rights_are_lost_only_where_a_file_would_give_some() {
        let user = Privileges { user: 1000, group: 1000, no_new_privileges: false, may_trace_all: false };
        let nothing = FileRights { user: None, group: None, has_capabilities: false };
        let set_uid = FileRights { user: Some(0), ..nothing };
        assert!(!nothing.are_lost(&user) && set_uid.are_lost(&user));
        assert!(FileRights { group: Some(0), ..nothing }.are_lost(&user));
        assert!(FileRights { has_capabilities: true, ..nothing }.are_lost(&user));
        assert!(
            !FileRights { user: Some(1000), group: Some(1000), ..nothing }.are_lost(&user),
            "they are ours already"
        );
        assert!(!set_uid.are_lost(&Privileges { no_new_privileges: true, ..user }), "not by us");
        assert!(!set_uid.are_lost(&Privileges { may_trace_all: true, ..user }));
        let weak_root = Privileges { user: 0, group: 0, ..user };
        assert!(!set_uid.are_lost(&weak_root));
        assert!(
            !FileRights { has_capabilities: true, ..nothing }.are_lost(&weak_root),
            "root has all that it may have"
        );
    }
}
