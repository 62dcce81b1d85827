//! What the tracer tells the unwinder, in the order in which it happened.

use super::kinship::EndedCall;
use super::proc_fs::MapEntry;
use super::ptrace::sys::Tid;
use super::target::Target;
use crate::unwind::deep::HeldWalk;
use crate::unwind::registers::RegisterFile;

/// A process of the recording, numbered from 0 in order of appearance.
pub(crate) type ProcessIndex = usize;

/// A thread of the recording, numbered from 0 in order of appearance.
pub(crate) type ThreadIndex = usize;

/// Something that happened. Times are CLOCK_MONOTONIC ns.
#[derive(Debug)]
pub(crate) enum Event {
    /// A process appeared.
    ProcessStart {
        /// Its id in the system.
        pid: Tid,
        /// The process that forked it; it starts with a copy of that one's memory.
        parent: Option<ProcessIndex>,
        /// When.
        time: i64,
    },
    /// A process runs another program from now on.
    Exec(Exec),
    /// The memory map of a process as it is now.
    Maps {
        /// Whose.
        process: ProcessIndex,
        /// The thread that it was read by: the first thread of the process can have ended.
        tid: Tid,
        /// When it was read.
        time: i64,
        /// Its lines.
        maps: Vec<MapEntry>,
    },
    /// A process ended.
    ProcessEnd {
        /// Which.
        process: ProcessIndex,
        /// When.
        time: i64,
        /// How.
        exit: traceview_core::model::ExitStatus,
    },
    /// A thread appeared.
    ThreadStart {
        /// Its process.
        process: ProcessIndex,
        /// Its id in the system.
        tid: Tid,
        /// When.
        time: i64,
        /// Whether another thread of the recording started it.
        created: bool,
    },
    /// What a new thread was at when it first reported.
    FirstStop {
        /// Which.
        thread: ThreadIndex,
        /// Its stack.
        snapshot: Snapshot,
    },
    /// A thread started another thread or process.
    Spawn(Spawn),
    /// A thread is about to end.
    Exit(Exit),
    /// A thread was found asleep until another's end; its stack is that of the [`Event::CallEnd`] that follows and says it
    /// was seen.
    Blocked {
        /// Which.
        thread: ThreadIndex,
        /// Where it sleeps.
        snapshot: Snapshot,
    },
    /// A thread came out of a call that waits for another's end.
    CallEnd {
        /// Which.
        thread: ThreadIndex,
        /// The call.
        call: EndedCall,
    },
    /// What a process used so far.
    Usage(Usage),
    /// A thread has this name.
    ThreadName {
        /// Which.
        thread: ThreadIndex,
        /// Its name.
        name: String,
    },
    /// A thread ended, or recording did while it ran.
    ThreadEnd(ThreadEnd),
    /// A thread was running and was looked at.
    Sample(Sample),
    /// A thread was found asleep; its stack is that of the [`Event::Wait`]s that follow and say so.
    Asleep {
        /// Which.
        thread: ThreadIndex,
        /// Where it sleeps.
        snapshot: Snapshot,
    },
    /// What a sleeping thread waits on; it is that of the [`Event::Wait`]s that follow and say so.
    Target {
        /// Which.
        thread: ThreadIndex,
        /// Its id.
        tid: Tid,
        /// What.
        target: Target,
    },
    /// A thread's sleep is over.
    Wait(Wait),
    /// A thread of this process was there, but could not be looked at.
    Hidden {
        /// Which.
        process: ProcessIndex,
    },
}

/// The start of another program.
#[derive(Debug)]
pub(crate) struct Exec {
    /// Which process starts it.
    pub(crate) process: ProcessIndex,
    /// When.
    pub(crate) time: i64,
    /// Its name.
    pub(crate) name: String,
    /// Its arguments.
    pub(crate) command_line: Vec<String>,
    /// The thread that the program starts with.
    pub(crate) thread: ThreadIndex,
    /// What that thread was before, if it was not the first thread of its process.
    pub(crate) former: Option<ThreadIndex>,
    /// Where the program starts. The stack of the thread that asked for it is gone by then.
    pub(crate) snapshot: Option<Snapshot>,
}

/// The start of a thread or process, as its creator reports it.
#[derive(Debug)]
pub(crate) struct Spawn {
    /// Who.
    pub(crate) thread: ThreadIndex,
    /// When it was reported; what was started can have reported before.
    pub(crate) time: i64,
    /// The id of what was started.
    pub(crate) child: Tid,
    /// How.
    pub(crate) how: SpawnKind,
    /// What the creator was at, if it could be seen.
    pub(crate) snapshot: Option<Snapshot>,
}

/// How a thread or process was started.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SpawnKind {
    /// In the way of threads.
    Clone,
    /// As a process that its parent can wait for.
    Fork,
    /// As a process, while its creator waits until it runs another program or ends.
    Vfork,
}

/// The end of a thread, before it.
#[derive(Debug)]
pub(crate) struct Exit {
    /// Whose.
    pub(crate) thread: ThreadIndex,
    /// The system call that it ends by; `None` if it was made to end.
    pub(crate) call: Option<u64>,
    /// Where its descriptor is.
    pub(crate) thread_pointer: u64,
    /// The process group that its process is in.
    pub(crate) group: Option<Tid>,
    /// What it was at, if that could be seen.
    pub(crate) snapshot: Option<Snapshot>,
}

/// What a process used from its start up to a moment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Usage {
    /// Which.
    pub(crate) process: ProcessIndex,
    /// When.
    pub(crate) time: i64,
    /// CPU time of all its threads, if it could be read.
    pub(crate) cpu_ns: Option<i64>,
    /// Memory that it has now, if that could be read.
    pub(crate) resident_bytes: Option<u64>,
}

/// The end of a thread, or what was accounted to it when recording ended.
#[derive(Debug)]
pub(crate) struct ThreadEnd {
    /// Which.
    pub(crate) thread: ThreadIndex,
    /// When; `None` if it runs on.
    pub(crate) time: Option<i64>,
    /// CPU time since its last sample.
    pub(crate) unsampled_ns: i64,
    /// What the kernel accounted to it; `None` if it was gone before that could be read.
    pub(crate) usage: Option<traceview_core::model::ThreadUsage>,
}

/// One look at a running thread.
#[derive(Debug)]
pub(crate) struct Sample {
    /// Which.
    pub(crate) thread: ThreadIndex,
    /// When, while it was stopped.
    pub(crate) time: i64,
    /// CPU time since its last sample; `None` if its clock could not be read.
    pub(crate) cpu_ns: Option<i64>,
    /// What it was doing.
    pub(crate) snapshot: Snapshot,
}

/// What a thread was doing: registers, and the part of its stack that is in use.
#[derive(Debug)]
pub(crate) struct Snapshot {
    /// Which tracer took it.
    pub(crate) seat: usize,
    /// The thread's id, to read its maps by.
    pub(crate) tid: Tid,
    /// Its registers, as far as they are known.
    pub(crate) registers: RegisterFile,
    /// Whether the thread was held for this; else it slept, and maybe still does.
    pub(crate) was_held: bool,
    /// The system call it is in.
    pub(crate) syscall: Option<u64>,
    /// Its stack.
    pub(crate) stack: Stack,
}

/// The stack of a [`Snapshot`].
#[derive(Debug)]
pub(crate) enum Stack {
    /// To be walked.
    Copied(Copied),
    /// Walked already, as it was too large to copy.
    Walked(HeldWalk),
}

/// A copy of a stack.
#[derive(Debug)]
pub(crate) struct Copied {
    /// Its parts, one behind the other.
    pub(crate) bytes: Vec<u8>,
    /// How many of them are the memory from the stack pointer on.
    pub(crate) len: usize,
    /// First address behind the memory that the stack pointer is in, as far as that is known.
    pub(crate) end: u64,
    /// Where other parts start, and their lengths: memory that the stack goes on in.
    pub(crate) others: Vec<(u64, usize)>,
}

/// A sleep, from when it was first seen to when it was over.
#[derive(PartialEq, Eq, Debug)]
pub(crate) struct Wait {
    /// Which thread.
    pub(crate) thread: ThreadIndex,
    /// When it was first seen asleep.
    pub(crate) start: i64,
    /// When it was seen to have moved.
    pub(crate) end: i64,
    /// Why it did not run.
    pub(crate) reason: traceview_core::model::WaitReason,
    /// The system call it slept in.
    pub(crate) syscall: Option<u64>,
    /// Whether what the call waits on is that of the thread's last [`Event::Target`].
    pub(crate) has_target: bool,
    /// What its stack is.
    pub(crate) stack: WaitStack,
}

/// Where the stack of a [`Wait`] is to be had.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum WaitStack {
    /// It was not seen.
    Unseen,
    /// It is that of the thread's last [`Event::Asleep`].
    Asleep,
    /// It is that of the thread's last [`Event::Sample`], which was taken where it lost its CPU, or shortly before.
    Sample,
}
