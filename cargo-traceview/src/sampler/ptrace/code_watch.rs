//! Libraries that a program unloads make room for others, which can be anywhere in the code of the former: by addresses
//! alone nobody could tell them apart. So after each look at a thread the first bytes of its libraries are compared with
//! what they were, and when they changed the memory map is read again before the look is reported. The thread runs meanwhile.

use std::hash::Hasher as _;

use rustc_hash::FxHasher;

use super::super::event::Event;
use super::super::proc_fs::{self, MapEntry};
use super::Tracer;
use super::memory::MAP_RESTS;
use super::sys::{self, Tid};

/// No more libraries are watched, those that came last first.
const MOST: usize = 8;

/// The headers of a library and its build id lie within so many bytes.
const HEAD: usize = 1024;

/// After the map was read for such a change it is not read for another one for so many times as long: names of the former
/// library would be wrong for that time, but a program can change them as fast as it likes.
const CHANGE_RESTS: i64 = 3;

/// Libraries that programs do not unload.
const STAYING: [&str; 7] = ["ld-", "libc.", "libc-", "libm.", "libgcc_s.", "libstdc++.", "libpthread"];

/// The libraries of a process.
#[derive(Clone, Debug, Default)]
pub(crate) struct CodeWatch {
    /// Where each starts.
    starts: Vec<u64>,
    /// Those that are watched: where they start, and what their first bytes are once that was read.
    watched: Vec<(u64, Option<u64>)>,
    /// The map is not to be read again for a change before this moment.
    rests_until: i64,
}

impl CodeWatch {
    /// The memory map of the process is this.
    pub(super) fn note(&mut self, maps: &[MapEntry]) {
        let starts = library_starts(maps);
        let new = starts.iter().filter(|start| self.starts.binary_search(start).is_err()).copied();
        let old = self.watched.iter().map(|(start, _)| *start).filter(|start| starts.binary_search(start).is_ok());
        self.watched = new.chain(old).take(MOST).map(|start| (start, None)).collect();
        self.starts = starts;
    }

    /// Whether a library is not what it was. `read` gives what is at an address now.
    fn has_changed(&mut self, read: impl Fn(u64) -> u64) -> bool {
        self.watched.iter_mut().any(|(start, known)| {
            let now = read(*start);
            *known.get_or_insert(now) != now
        })
    }
}

/// Where files with code start in memory, in order, but for the program itself, which comes first, and those that stay.
fn library_starts(maps: &[MapEntry]) -> Vec<u64> {
    let mut starts = Vec::new();
    let mut start = None;
    let mut program = None;
    for map in maps.iter().filter(|map| map.inode != 0) {
        let file = (map.device, map.inode);
        if map.offset == 0 {
            start = Some((file, map.start));
        }
        let Some((_, first)) = start.filter(|(of, _)| *of == file && map.executable) else { continue };
        let name = map.path.rsplit('/').next().unwrap_or_default();
        let is_program = *program.get_or_insert(file) == file;
        if !is_program && !STAYING.iter().any(|staying| name.starts_with(staying)) {
            starts.push(first);
        }
    }
    starts.dedup();
    starts
}

/// What tells the library that starts at `start`.
fn head(tid: Tid, start: u64) -> u64 {
    let mut head = [0; HEAD];
    let len = sys::read_memory(tid, start, &mut head);
    let mut hasher = FxHasher::default();
    hasher.write(&head[..len]);
    hasher.finish()
}

impl Tracer<'_> {
    /// Sees whether the libraries of the thread's process are those that the unwinder knows of.
    pub(super) fn check_code(&mut self, tid: Tid) {
        let Some(thread) = self.table.get(tid) else { return };
        let (index, pid) = (thread.process, thread.pid);
        let process = self.table.process(index);
        if process.watch.has_changed(|start| head(tid, start)) && sys::monotonic_ns() >= process.watch.rests_until {
            self.see_code(tid, pid);
        }
    }

    /// Reads the memory map of a process for the unwinder. None of its threads is held for that.
    pub(super) fn see_code(&mut self, tid: Tid, pid: Tid) {
        let started = sys::monotonic_ns();
        let Ok(text) = proc_fs::read_thread_file(pid, tid, "maps") else { return };
        let maps = proc_fs::parse_maps(&text);
        let Some(thread) = self.table.get(tid) else { return };
        let index = thread.process;
        let time = sys::monotonic_ns();
        let process = self.table.process(index);
        process.watch.note(&maps);
        // At once: what takes a library's place before the next look must not pass for it.
        process.watch.has_changed(|start| head(tid, start));
        process.watch.rests_until = time + CHANGE_RESTS * (time - started);
        process.map_rests_until = time + MAP_RESTS * (time - started);
        self.send(Event::Maps { process: index, tid, time, maps });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAPS: &str = "\
55000000-55001000 r--p 00000000 08:01 11 /bin/program
55001000-55002000 r-xp 00001000 08:01 11 /bin/program
7f000000-7f001000 r--p 00000000 08:01 12 /lib/plugin.so
7f001000-7f002000 r-xp 00001000 08:01 12 /lib/plugin.so
7f100000-7f101000 r--p 00000000 08:01 13 /lib/data
7f200000-7f201000 r--p 00000000 08:01 14 /lib/libc.so.6
7f201000-7f202000 r-xp 00001000 08:01 14 /lib/libc.so.6
7f300000-7f302000 r-xp 00000000 08:01 15 /lib/other.so
7ffff000-80000000 r-xp 00000000 00:00 0 [vdso]
";

    #[test]
    fn libraries_that_can_be_unloaded_are_watched() {
        assert_eq!(library_starts(&proc_fs::parse_maps(MAPS)), [0x7f00_0000, 0x7f30_0000]);
    }

    #[test]
    fn another_library_at_the_same_address_is_a_change() {
        let mut watch = CodeWatch::default();
        let maps = proc_fs::parse_maps(MAPS);
        watch.note(&maps);
        assert!(!watch.has_changed(|start| start), "it is read for the first time");
        assert!(!watch.has_changed(|start| start));
        assert!(watch.has_changed(|start| start + u64::from(start == 0x7f30_0000)));
        watch.note(&maps[..4]);
        assert!(!watch.has_changed(|start| start + 5), "what was read before the map is of no moment");
        assert_eq!(watch.watched.len(), 1);
    }
}
