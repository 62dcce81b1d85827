//! What `/proc` says: parsers over text, and the few functions that read the files.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::PathBuf;

use super::ptrace::sys::Tid;

/// Where a thread is, from `/proc/PID/task/TID/syscall`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Whereabouts {
    /// On a CPU, or ready for one.
    Running,
    /// Asleep in system call `number` (`None`: in the kernel for another reason, for example a page fault).
    Asleep {
        /// The call.
        number: Option<u64>,
        /// Its first three arguments; for most calls on a file the first is the descriptor.
        arguments: [u64; 3],
        /// Stack pointer.
        sp: u64,
        /// Program counter.
        pc: u64,
    },
}

/// Parses `/proc/PID/task/TID/syscall`.
pub(crate) fn parse_syscall(text: &str) -> Option<Whereabouts> {
    let text = text.trim_end();
    if text == "running" {
        return Some(Whereabouts::Running);
    }
    let mut words = text.split(' ');
    let number = words.next()?.parse::<i64>().ok()?;
    let mut rest = words.map(|word| u64::from_str_radix(word.strip_prefix("0x")?, 16).ok());
    let mut arguments = [0; 3];
    if number >= 0 {
        for argument in &mut arguments {
            *argument = rest.next()??;
        }
    }
    let mut last_two = [0; 2];
    for value in rest {
        last_two = [last_two[1], value?];
    }
    let [sp, pc] = last_two;
    Some(Whereabouts::Asleep { number: u64::try_from(number).ok(), arguments, sp, pc })
}

/// What the scheduler counted of a thread, from `schedstat`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct SchedStat {
    /// ns on a CPU. Exact while the thread is stopped or asleep; up to a scheduler tick old while it runs.
    pub(crate) cpu_ns: i64,
    /// ns ready to run, but without a CPU.
    pub(crate) wait_ns: i64,
    /// How often it was put on a CPU.
    pub(crate) runs: u64,
}

/// Parses `/proc/PID/task/TID/schedstat`.
pub(crate) fn parse_schedstat(text: &str) -> Option<SchedStat> {
    let mut words = text.split_ascii_whitespace();
    Some(SchedStat {
        cpu_ns: words.next()?.parse().ok()?,
        wait_ns: words.next()?.parse().ok()?,
        runs: words.next()?.parse().ok()?,
    })
}

/// The fields of `stat` that we use.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Stat {
    /// Page faults served from memory.
    pub(crate) minor_faults: u64,
    /// Page faults that read from a disk.
    pub(crate) major_faults: u64,
    /// User CPU time in clock ticks.
    pub(crate) user_ticks: u64,
    /// Kernel CPU time in clock ticks.
    pub(crate) system_ticks: u64,
}

/// Parses `/proc/PID/stat` or `/proc/PID/task/TID/stat`. The name in parentheses can hold anything, so everything is
/// counted from the last closing one.
pub(crate) fn parse_stat(text: &str) -> Option<Stat> {
    let rest = &text[text.rfind(')')? + 1..];
    let words: Vec<&str> = rest.split_ascii_whitespace().collect();
    // `words[0]` is field 3 of proc(5).
    let field = |number: usize| words.get(number - 3).and_then(|word| word.parse::<u64>().ok());
    Some(Stat { minor_faults: field(10)?, major_faults: field(12)?, user_ticks: field(14)?, system_ticks: field(15)? })
}

/// How many bytes a process and the children that it waited for have written, to whatever; `None` when that cannot be
/// read.
pub(crate) fn read_written_bytes(pid: Tid) -> Option<u64> {
    parse_written_bytes(&std::fs::read_to_string(format!("/proc/{pid}/io")).ok()?)
}

fn parse_written_bytes(text: &str) -> Option<u64> {
    text.lines().find_map(|line| line.strip_prefix("wchar:"))?.trim().parse().ok()
}

/// The numbers of `status` that we use.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Status {
    /// Whether the thread runs or is ready to.
    pub(crate) is_ready: bool,
    /// Signals waiting for the thread or its process, bit (n − 1) for signal n.
    pub(crate) pending: u64,
    /// Signals that the thread does not want now.
    pub(crate) blocked: u64,
    /// Signals that the process ignores.
    pub(crate) ignored: u64,
    /// Signals that the process has a handler for.
    pub(crate) caught: u64,
    /// How often the thread gave up its CPU.
    pub(crate) voluntary_switches: u64,
    /// How often its CPU was taken from it.
    pub(crate) involuntary_switches: u64,
    /// The process that the thread belongs to.
    pub(crate) process: Tid,
    /// The process that started its process.
    pub(crate) parent: Tid,
    /// Whether its system calls go through a filter of its own.
    pub(crate) is_filtered: bool,
    /// How many threads its process has.
    pub(crate) threads: usize,
}

impl Status {
    /// Whether `signal` means nothing to the process: it says so, or it has no handler for one that does nothing by
    /// default. (SIGCONT does something even when it is ignored.)
    pub(crate) fn ignores(&self, signal: i32) -> bool {
        self.ignored_in_effect() & bit(signal) != 0
    }

    /// Whether the process has a handler for `signal`.
    pub(crate) const fn catches(&self, signal: i32) -> bool {
        self.caught & bit(signal) != 0
    }

    /// Whether a signal waits that the thread will be interrupted by.
    pub(crate) fn has_signal_waiting(&self) -> bool {
        self.pending & !self.blocked & !self.ignored_in_effect() != 0
    }

    /// Whether the thread has a CPU, if it was put on one `runs` times: it has left it once less then.
    pub(crate) const fn has_cpu(&self, runs: u64) -> bool {
        runs > self.voluntary_switches + self.involuntary_switches
    }

    fn ignored_in_effect(&self) -> u64 {
        let by_default = bit(libc::SIGCHLD) | bit(libc::SIGURG) | bit(libc::SIGWINCH);
        self.ignored | (by_default & !self.caught)
    }
}

/// The bit of `signal` in a mask.
const fn bit(signal: i32) -> u64 {
    if signal >= 1 && signal <= 64 { 1 << (signal - 1) } else { 0 }
}

/// Parses `/proc/PID/task/TID/status`.
pub(crate) fn parse_status(text: &str) -> Status {
    let mut status = Status::default();
    for line in text.lines() {
        let Some((key, value)) = line.split_once(':') else { continue };
        let value = value.trim();
        let signals = || u64::from_str_radix(value, 16).unwrap_or(0);
        let number = || value.parse().unwrap_or(0);
        match key {
            "State" => status.is_ready = value.starts_with('R'),
            "SigPnd" | "ShdPnd" => status.pending |= signals(),
            "SigBlk" => status.blocked = signals(),
            "SigIgn" => status.ignored = signals(),
            "SigCgt" => status.caught = signals(),
            "voluntary_ctxt_switches" => status.voluntary_switches = number(),
            "nonvoluntary_ctxt_switches" => status.involuntary_switches = number(),
            "Tgid" => status.process = value.parse().unwrap_or(0),
            "Seccomp" => status.is_filtered = value != "0",
            "Threads" => status.threads = value.parse().unwrap_or(0),
            "PPid" => status.parent = value.parse().unwrap_or(0),
            _ => {}
        }
    }
    status
}

/// What the profiler itself may do, and with it what it starts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Privileges {
    /// Its effective user.
    pub(crate) user: u32,
    /// Its effective group.
    pub(crate) group: u32,
    /// Whether no program may give more rights to it.
    pub(crate) no_new_privileges: bool,
    /// Whether it may trace programs with more rights (`CAP_SYS_PTRACE`).
    pub(crate) may_trace_all: bool,
}

/// The number of `CAP_SYS_PTRACE`.
const CAP_SYS_PTRACE: u32 = 19;

/// What this process may do; `None` when that cannot be read.
pub(crate) fn read_own_privileges() -> Option<Privileges> {
    parse_privileges(&std::fs::read_to_string("/proc/self/status").ok()?)
}

/// Whether this process may begin to trace only what descends from it, and not what became init's child (Yama).
pub(crate) fn may_seize_descendants_only() -> bool {
    let is_restricted =
        std::fs::read_to_string("/proc/sys/kernel/yama/ptrace_scope").is_ok_and(|scope| scope.trim() != "0");
    is_restricted && !read_own_privileges().is_some_and(|own| own.may_trace_all)
}

/// The threads of a process; none if it is gone.
pub(crate) fn threads_of(pid: Tid) -> Vec<Tid> {
    let Ok(entries) = std::fs::read_dir(format!("/proc/{pid}/task")) else { return Vec::new() };
    entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok()).collect()
}

fn parse_privileges(status: &str) -> Option<Privileges> {
    let value = |key: &str| status.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(':')).map(str::trim);
    // Real, effective, saved, of the file system.
    let effective = |key: &str| value(key)?.split_ascii_whitespace().nth(1)?.parse().ok();
    let capabilities = u64::from_str_radix(value("CapEff")?, 16).ok()?;
    Some(Privileges {
        user: effective("Uid")?,
        group: effective("Gid")?,
        no_new_privileges: value("NoNewPrivs").is_some_and(|value| value != "0"),
        may_trace_all: capabilities & (1 << CAP_SYS_PTRACE) != 0,
    })
}

/// A line of `/proc/PID/maps`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct MapEntry {
    /// First address.
    pub(crate) start: u64,
    /// First address behind it.
    pub(crate) end: u64,
    /// Whether it can be read.
    pub(crate) readable: bool,
    /// Whether it can be written.
    pub(crate) writable: bool,
    /// Whether it holds code.
    pub(crate) executable: bool,
    /// Where in the file it starts.
    pub(crate) offset: u64,
    /// Device of the file, as `(major, minor)`.
    pub(crate) device: (u32, u32),
    /// The file's inode; 0 without a file.
    pub(crate) inode: u64,
    /// The file's path, or a name such as `[stack]`; empty for anonymous memory.
    pub(crate) path: String,
}

/// Parses `/proc/PID/maps`. Lines that do not parse are left out; the kernel writes none.
pub(crate) fn parse_maps(text: &str) -> Vec<MapEntry> {
    text.lines().filter_map(parse_maps_line).collect()
}

fn parse_maps_line(line: &str) -> Option<MapEntry> {
    let mut words = line.splitn(6, ' ');
    let (start, end) = words.next()?.split_once('-')?;
    let flags = words.next()?.as_bytes();
    let offset = words.next()?;
    let (major, minor) = words.next()?.split_once(':')?;
    let inode = words.next()?;
    let hex = |word: &str| u64::from_str_radix(word, 16).ok();
    Some(MapEntry {
        start: hex(start)?,
        end: hex(end)?,
        readable: flags.first() == Some(&b'r'),
        writable: flags.get(1) == Some(&b'w'),
        executable: flags.get(2) == Some(&b'x'),
        offset: hex(offset)?,
        device: (u32::from_str_radix(major, 16).ok()?, u32::from_str_radix(minor, 16).ok()?),
        inode: inode.parse().ok()?,
        // Only line breaks are escaped in paths.
        path: words.next().unwrap_or("").trim_start().replace("\\012", "\n"),
    })
}

/// The directory of a thread in `/proc`.
pub(crate) fn thread_dir(pid: Tid, tid: Tid) -> PathBuf {
    PathBuf::from(format!("/proc/{pid}/task/{tid}"))
}

/// A file of `/proc` that is read again and again.
#[derive(Debug)]
pub(crate) struct ProcFile(File);

impl ProcFile {
    /// Opens `name` of a thread.
    pub(crate) fn open(pid: Tid, tid: Tid, name: &str) -> io::Result<Self> {
        File::open(thread_dir(pid, tid).join(name)).map(Self)
    }

    /// Reads it from the start into `buffer`: all of it, if it fits.
    pub(crate) fn read<'a>(&self, buffer: &'a mut [u8]) -> Option<&'a str> {
        let len = self.0.read_at(buffer, 0).ok()?;
        std::str::from_utf8(&buffer[..len]).ok()
    }
}

/// The text of a file of a thread; lossy where it is not UTF-8 (names can be anything).
pub(crate) fn read_thread_file(pid: Tid, tid: Tid, name: &str) -> io::Result<String> {
    std::fs::read(thread_dir(pid, tid).join(name)).map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
}

/// The status of a thread.
pub(crate) fn read_status(tid: Tid) -> io::Result<Status> {
    read_thread_file(tid, tid, "status").map(|text| parse_status(&text))
}

/// A thread's name.
pub(crate) fn read_comm(pid: Tid, tid: Tid) -> Option<String> {
    let mut name = read_thread_file(pid, tid, "comm").ok()?;
    if name.ends_with('\n') {
        name.pop();
    }
    Some(name)
}

/// A process's arguments, read through one of its threads.
pub(crate) fn read_command_line(pid: Tid, tid: Tid) -> Vec<String> {
    let text = read_thread_file(pid, tid, "cmdline").unwrap_or_default();
    let text = text.strip_suffix('\0').unwrap_or(&text);
    if text.is_empty() { Vec::new() } else { text.split('\0').map(str::to_owned).collect() }
}

/// The process that descriptor `fd` of a thread refers to, if it is one of a process (`pidfd_open`).
pub(crate) fn process_of_fd(tid: Tid, fd: u64) -> Option<Tid> {
    parse_process_of_fd(&std::fs::read_to_string(format!("/proc/{tid}/fdinfo/{fd}")).ok()?)
}

/// −1 in that file is a process that has ended and was waited for.
fn parse_process_of_fd(text: &str) -> Option<Tid> {
    let pid: Tid = text.lines().find_map(|line| line.strip_prefix("Pid:"))?.trim().parse().ok()?;
    (pid > 0).then_some(pid)
}

/// Resident memory in pages, from `/proc/PID/statm`; 0 of a process that has ended.
pub(crate) fn parse_resident_pages(text: &str) -> Option<u64> {
    text.split_ascii_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn written_bytes_are_read() {
        assert_eq!(parse_written_bytes("rchar: 7\nwchar: 42\nsyscr: 1\nwrite_bytes: 9\n"), Some(42));
        assert_eq!(parse_written_bytes("rchar: 7\n"), None);
    }

    #[test]
    fn privileges_are_read() {
        let status = |caps: &str| {
            format!("Name:\tUid\nUid:\t1000\t1001\t0\t0\nGid:\t5\t6\t7\t8\nCapEff:\t{caps}\nNoNewPrivs:\t1\n")
        };
        let user = Privileges { user: 1001, group: 6, no_new_privileges: true, may_trace_all: false };
        assert_eq!(parse_privileges(&status("0000000000000000")), Some(user));
        let tracer = Privileges { may_trace_all: true, ..user };
        assert_eq!(parse_privileges(&status("0000000000080000")), Some(tracer));
        assert_eq!(parse_privileges("Uid:\t1\n"), None);
    }

    #[test]
    fn syscall_lines() {
        assert_eq!(parse_syscall("running\n"), Some(Whereabouts::Running));
        assert_eq!(
            parse_syscall("202 0x55aa 0x80 0x1 0x0 0x0 0x0 0x7ffd10 0x7f1234\n"),
            Some(Whereabouts::Asleep { number: Some(202), arguments: [0x55aa, 0x80, 1], sp: 0x7ffd10, pc: 0x7f1234 })
        );
        assert_eq!(
            parse_syscall("-1 0x7ffd10 0x7f1234\n"),
            Some(Whereabouts::Asleep { number: None, arguments: [0; 3], sp: 0x7ffd10, pc: 0x7f1234 })
        );
        for odd in ["", "\n", "202", "202 xyz", "x 0x1 0x2", "-1"] {
            assert!(parse_syscall(odd).is_none_or(|at| at != Whereabouts::Running), "{odd:?}");
        }
    }

    #[test]
    fn a_thread_name_cannot_forge_the_fields_behind_it() {
        let text = "77 (x) S 1 2 3 (y) R 42 42 42 0 -1 4194304 11 0 3 0 7 5 0 0 20 0 1 0 100 0 0";
        let stat = parse_stat(text).expect("a stat line");
        assert_eq!((stat.minor_faults, stat.major_faults), (11, 3));
        assert_eq!((stat.user_ticks, stat.system_ticks), (7, 5));
        assert_eq!(parse_stat("77 (x"), None);
        assert_eq!(parse_stat("77 (x) S"), None);
    }

    #[test]
    fn signals_that_mean_nothing_are_told_from_those_that_do() {
        let status = |ignored: u64, caught: u64| Status { ignored, caught, ..Status::default() };
        assert!(status(0, 0).ignores(libc::SIGCHLD), "by default");
        assert!(!status(0, bit(libc::SIGCHLD)).ignores(libc::SIGCHLD), "it has a handler");
        assert!(status(bit(libc::SIGUSR1), 0).ignores(libc::SIGUSR1));
        assert!(!status(0, 0).ignores(libc::SIGUSR1) && !status(0, 0).ignores(libc::SIGCONT));
        assert!(!status(!0, 0).ignores(0) && status(bit(64), 0).ignores(64), "no signal, and the last one");
        let waiting = |pending: u64| Status { pending, ..status(0, 0) }.has_signal_waiting();
        assert!(waiting(bit(libc::SIGTERM)) && !waiting(bit(libc::SIGWINCH)) && !waiting(0));
        let blocked = Status { pending: bit(10), blocked: bit(10), ..Status::default() };
        assert!(!blocked.has_signal_waiting());
    }

    #[test]
    fn processes_behind_descriptors_are_read() {
        let info = |pid: &str| format!("pos:\t0\nflags:\t02000002\nmnt_id:\t15\nPid:\t{pid}\nNSpid:\t{pid}\n");
        assert_eq!(parse_process_of_fd(&info("4711")), Some(4711));
        assert_eq!(parse_process_of_fd(&info("-1")), None);
        assert_eq!(parse_process_of_fd("pos:\t0\n"), None);
    }

    #[test]
    fn resident_memory_is_read() {
        assert_eq!(parse_resident_pages("1500 300 200 10 0 90 0\n"), Some(300));
        assert_eq!(parse_resident_pages("1500"), None);
    }

    #[test]
    fn maps_lines() {
        let maps = parse_maps(
            "55d0c0000000-55d0c0001000 r-xp 00017700 fd:01 123  /a dir/with blanks (deleted)\n\
             7ffc0000000-7ffc0021000 rw-p 00000000 00:00 0          [stack]\n\
             7f0000000000-7f0000001000 ---p 00000000 00:00 0\n",
        );
        assert_eq!(maps.len(), 3);
        assert!(maps[0].executable && maps[0].readable);
        assert_eq!((maps[0].offset, maps[0].inode, maps[0].device), (0x17700, 123, (0xfd, 1)));
        assert_eq!(maps[0].path, "/a dir/with blanks (deleted)");
        assert_eq!(maps[1].path, "[stack]");
        assert!(maps[1].writable && !maps[0].writable);
        assert!(!maps[2].readable && maps[2].path.is_empty());
    }

    #[test]
    fn our_own_proc_files_parse() {
        let pid = Tid::try_from(std::process::id()).unwrap();
        assert!(parse_stat(&read_thread_file(pid, pid, "stat").unwrap()).is_some());
        assert!(parse_schedstat(&read_thread_file(pid, pid, "schedstat").unwrap()).is_some());
        let status = parse_status(&read_thread_file(pid, pid, "status").unwrap());
        assert_eq!(status.process, pid);
        // The test's own thread and the one that started it.
        assert!(status.threads >= 2 && threads_of(pid).len() >= 2 && threads_of(pid).contains(&pid));
        assert!(status.voluntary_switches + status.involuntary_switches > 0);
        assert!(parse_maps(&read_thread_file(pid, pid, "maps").unwrap()).iter().any(|map| map.executable));
        assert!(!read_command_line(pid, pid).is_empty());
    }
}
