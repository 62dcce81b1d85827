//! What the tracer tells the unwinder, in the order in which it happened.

use super::proc_fs::MapEntry;
use super::ptrace::sys::Tid;
use crate::unwind::deep::HeldWalk;

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
    Exec {
        /// Which.
        process: ProcessIndex,
        /// Its new name.
        name: String,
        /// Its new arguments.
        command_line: Vec<String>,
    },
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
    },
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
    /// A thread's sleep is over.
    Wait(Wait),
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
    /// The thread's id, to read its maps by.
    pub(crate) tid: Tid,
    /// Program counter.
    pub(crate) pc: u64,
    /// Stack pointer.
    pub(crate) sp: u64,
    /// Frame pointer; `None` if the thread was not stopped for this.
    pub(crate) fp: Option<u64>,
    /// The system call it is in.
    pub(crate) syscall: Option<u64>,
    /// Its stack.
    pub(crate) stack: Stack,
}

/// The stack of a [`Snapshot`].
#[derive(Debug)]
pub(crate) enum Stack {
    /// To be walked.
    Copied {
        /// Memory from the stack pointer on.
        bytes: Vec<u8>,
        /// Whether the stack goes on behind it.
        has_more: bool,
    },
    /// Walked already, as it was too large to copy.
    Walked(HeldWalk),
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
    /// What that call's descriptor is.
    pub(crate) target: Option<String>,
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
