//! Waits: when a thread was not running, and why.

use super::ids::{StackId, StringId};
use super::sample::retain_rows;
use super::time::{Nanos, Time};

/// The off-CPU spans of one thread, one a row, in order of their starts. They are no samples.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct WaitTable {
    /// When it began.
    pub start: Vec<Time>,
    /// How long it lasted (or was seen to last, at a profile's end).
    pub duration: Vec<Nanos>,
    /// What the thread had called; `None` when that could not be seen.
    pub stack: Vec<Option<StackId>>,
    /// Why it was not running.
    pub reason: Vec<WaitReason>,
    /// The system call that it slept in, for example `futex`.
    pub syscall: Vec<Option<StringId>>,
    /// What the call was made on: a path, `pipe`, `epoll` and the like, `socket tcp 10.0.0.1:443` (with its peer),
    /// `socket tcp listening on 0.0.0.0:80`, `17 descriptors`, or the address of a futex as `0x7f0012345678`.
    pub target: Vec<Option<StringId>>,
    /// Whether the stack was put together from what lay in memory, because the thread was not stopped to look at it.
    pub inferred: Vec<bool>,
}

/// One row of [`WaitTable`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Wait {
    /// See [`WaitTable::start`].
    pub start: Time,
    /// See [`WaitTable::duration`].
    pub duration: Nanos,
    /// See [`WaitTable::stack`].
    pub stack: Option<StackId>,
    /// See [`WaitTable::reason`].
    pub reason: WaitReason,
    /// See [`WaitTable::syscall`].
    pub syscall: Option<StringId>,
    /// See [`WaitTable::target`].
    pub target: Option<StringId>,
    /// See [`WaitTable::inferred`].
    pub inferred: bool,
}

/// Why a thread was not running.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum WaitReason {
    /// It waited for something.
    Blocked,
    /// It could have run, but no CPU was free.
    Runnable,
    /// It was stopped by job control (`SIGSTOP`, Ctrl-Z).
    Stopped,
}

impl WaitTable {
    /// How many waits there are.
    pub fn len(&self) -> usize {
        self.start.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.start.is_empty()
    }

    /// Row `row`.
    pub fn get(&self, row: usize) -> Wait {
        Wait {
            start: self.start[row],
            duration: self.duration[row],
            stack: self.stack[row],
            reason: self.reason[row],
            syscall: self.syscall[row],
            target: self.target[row],
            inferred: self.inferred[row],
        }
    }

    /// All rows.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Wait> {
        (0..self.len()).map(|row| self.get(row))
    }

    /// Keeps the waits of which `keep` is true.
    pub fn retain(&mut self, keep: impl Fn(Wait) -> bool) {
        let kept: Vec<bool> = self.iter().map(keep).collect();
        let Self { start, duration, stack, reason, syscall, target, inferred } = self;
        retain_rows(start, &kept);
        retain_rows(duration, &kept);
        retain_rows(stack, &kept);
        retain_rows(reason, &kept);
        retain_rows(syscall, &kept);
        retain_rows(target, &kept);
        retain_rows(inferred, &kept);
    }

    /// Adds a row at the end.
    pub fn push(&mut self, wait: Wait) {
        self.start.push(wait.start);
        self.duration.push(wait.duration);
        self.stack.push(wait.stack);
        self.reason.push(wait.reason);
        self.syscall.push(wait.syscall);
        self.target.push(wait.target);
        self.inferred.push(wait.inferred);
    }
}
