//! What a thread waited for.

use std::borrow::Cow;

use crate::model::{Profile, StringId, Wait, WaitReason};

/// Waits of one kind: what they have in common but for their stacks. A leaf in trees of off-CPU and wall time.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct WaitKind {
    /// Why the thread was not running.
    pub reason: WaitReason,
    /// The system call.
    pub syscall: Option<StringId>,
    /// What the call's file descriptor is.
    pub target: Option<StringId>,
}

impl WaitKind {
    /// The kind of `wait`.
    pub const fn of(wait: &Wait) -> Self {
        // What a thread had called does not matter once it could run, or was stopped.
        match wait.reason {
            WaitReason::Blocked => Self { reason: wait.reason, syscall: wait.syscall, target: wait.target },
            WaitReason::Runnable | WaitReason::Stopped => Self { reason: wait.reason, syscall: None, target: None },
        }
    }

    /// What it is called on screen and in reports, for example `[wait] read → pipe`.
    pub fn label(self, profile: &Profile) -> Cow<'static, str> {
        match self.reason {
            WaitReason::Runnable => "[no CPU free]".into(),
            WaitReason::Stopped => "[stopped]".into(),
            WaitReason::Blocked => {
                let syscall = self.syscall.map_or("?", |syscall| profile.string(syscall));
                match self.target {
                    Some(target) => format!("[wait] {syscall} → {}", profile.string(target)).into(),
                    None => format!("[wait] {syscall}").into(),
                }
            }
        }
    }
}
