//! What threads waited for, by kind.

use std::borrow::Cow;

use crate::model::{Profile, StringId, Wait, WaitReason};

/// Waits of one kind: what they have in common but for their stacks. A leaf in trees of off-CPU and wall time.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct WaitKind {
    /// Why the thread was not running.
    pub reason: WaitReason,
    /// The system call.
    pub syscall: Option<StringId>,
    /// What the call was made on.
    pub target: Option<TargetKind>,
}

/// What waits of one kind were for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum TargetKind {
    /// This one: a file, a listening socket, or a thing that has no name of its own, such as a pipe.
    Named(StringId),
    /// Any of a kind that a program has hundreds of, one for each peer for example.
    Any(&'static str),
}

impl TargetKind {
    /// The kind of a [wait's target](crate::model::WaitTable::target). A futex has none: each lock is at an address of its
    /// own, which says nothing.
    fn of(profile: &Profile, target: StringId) -> Option<Self> {
        let text = profile.string(target);
        if text.starts_with("0x") {
            return None;
        }
        let is_listening = || text.contains(" listening on ");
        let any = ["socket tcp", "socket udp"].into_iter().find(|kind| text.starts_with(kind) && !is_listening());
        let several = || text.strip_suffix(" descriptors").is_some_and(|count| count.parse::<u64>().is_ok());
        Some(match any.or_else(|| several().then_some("descriptors")) {
            Some(any) => Self::Any(any),
            None => Self::Named(target),
        })
    }

    fn text(self, profile: &Profile) -> &str {
        match self {
            Self::Named(name) => profile.string(name),
            Self::Any(kind) => kind,
        }
    }
}

impl WaitKind {
    /// The kind of `wait`, a row of `profile`.
    pub fn of(profile: &Profile, wait: &Wait) -> Self {
        // What a thread had called does not matter once it could run, or was stopped.
        match wait.reason {
            WaitReason::Blocked => {
                let target = wait.target.and_then(|target| TargetKind::of(profile, target));
                Self { reason: wait.reason, syscall: wait.syscall, target }
            }
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
                    Some(target) => format!("[wait] {syscall} → {}", target.text(profile)).into(),
                    None => format!("[wait] {syscall}").into(),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::fixture::Fixture;
    use crate::model::{Nanos, Time};

    #[test]
    fn locks_and_peers_are_counted_together_and_what_has_a_name_alone() {
        let mut fixture = Fixture::new();
        let cases = [
            ("0x7f0012345678", "[wait] call"),
            ("socket tcp 10.0.0.1:443", "[wait] call → socket tcp"),
            ("socket tcp", "[wait] call → socket tcp"),
            ("socket tcp listening on 0.0.0.0:80", "[wait] call → socket tcp listening on 0.0.0.0:80"),
            ("socket udp on 0.0.0.0:53", "[wait] call → socket udp"),
            ("socket unix /run/x.sock", "[wait] call → socket unix /run/x.sock"),
            ("17 descriptors", "[wait] call → descriptors"),
            ("/my descriptors", "[wait] call → /my descriptors"),
            ("pipe", "[wait] call → pipe"),
        ];
        let syscall = fixture.builder.string("call");
        let targets = cases.map(|(target, _)| fixture.builder.string(target));
        let profile = fixture.finish();
        for (target, (text, label)) in targets.into_iter().zip(cases) {
            let wait = Wait {
                start: Time(0),
                duration: Nanos(1),
                stack: None,
                reason: WaitReason::Blocked,
                syscall: Some(syscall),
                target: Some(target),
                inferred: false,
            };
            assert_eq!(WaitKind::of(&profile, &wait).label(&profile), label, "{text}");
        }
    }
}
