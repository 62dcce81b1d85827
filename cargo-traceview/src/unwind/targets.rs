//! What sleeping threads wait on, in words.

use std::sync::Arc;

use super::sockets::Sockets;
use crate::sampler::event::ThreadIndex;
use crate::sampler::ptrace::sys::Tid;
use crate::sampler::target::{FdKind, Target};

/// What each thread's current (or last) sleep is on.
#[derive(Default)]
pub(super) struct Targets {
    of_thread: Vec<Option<Known>>,
    sockets: Sockets,
}

/// What is known of a target.
enum Known {
    Text(Arc<str>),
    /// A socket that was not found yet: its inode, and a thread that has it.
    Socket(u64, Tid),
}

impl Targets {
    /// Takes note of what `thread`, whose id is `tid`, sleeps on.
    pub(super) fn note(&mut self, thread: ThreadIndex, tid: Tid, target: &Target) {
        let known = match target {
            Target::Word(address) => Known::Text(format!("{address:#x}").into()),
            Target::Descriptors(count) => Known::Text(format!("{count} descriptors").into()),
            Target::Descriptor(link) => match FdKind::of(link) {
                FdKind::Named(name) => Known::Text(name.into()),
                // At once: it can be closed soon.
                FdKind::Socket(inode) => match self.sockets.name(inode, tid) {
                    Some(name) => Known::Text(name.into()),
                    None => Known::Socket(inode, tid),
                },
            },
        };
        if self.of_thread.len() <= thread {
            self.of_thread.resize_with(thread + 1, || None);
        }
        self.of_thread[thread] = Some(known);
    }

    /// What `thread` sleeps or slept on.
    pub(super) fn text(&mut self, thread: ThreadIndex) -> Option<Arc<str>> {
        let known = self.of_thread.get_mut(thread)?.as_mut()?;
        if let Known::Socket(inode, tid) = *known {
            *known = Known::Text(self.sockets.name(inode, tid).map_or_else(|| "socket".into(), Arc::from));
        }
        match known {
            Known::Text(text) => Some(Arc::clone(text)),
            Known::Socket(..) => None,
        }
    }
}
