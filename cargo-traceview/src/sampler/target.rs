//! What the call was made on that a thread sleeps in: what can be seen of that quickly. Names that need more work, such as
//! a socket's peer, are found by the unwinder.

use super::arch::{self, CallTarget};
use super::ptrace::sys::Tid;

/// Of longer lists only the length is told.
const MOST_POLLED: usize = 64;

/// The most descriptors that a set of `select` has room for.
const MOST_SELECTED: u64 = 1024;

/// Size of `struct pollfd`: the descriptor, and two masks of 16 bits.
const POLLFD: usize = 8;

/// What a sleeping thread's call was made on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Target {
    /// A descriptor, and what its link in `/proc` says.
    Descriptor(String),
    /// So many descriptors.
    Descriptors(u64),
    /// A word in memory.
    Word(u64),
}

impl Target {
    /// What thread `tid`, which sleeps in `syscall`, waits on. By its own id: a first thread that ended has no descriptors any
    /// more. `read` reads its memory.
    pub(crate) fn of(
        tid: Tid,
        syscall: u64,
        arguments: [u64; 3],
        mut read: impl FnMut(u64, &mut [u8]) -> usize,
    ) -> Option<Self> {
        let link = |fd: u64| {
            let target = std::fs::read_link(format!("/proc/{tid}/fd/{fd}")).ok()?;
            Some(Self::Descriptor(target.to_string_lossy().into_owned()))
        };
        let [first, second, third] = arguments;
        let several = match arch::call_target(syscall)? {
            CallTarget::Descriptor => return link(first),
            CallTarget::Word => return Some(Self::Word(first)),
            CallTarget::PollList => polled(first, second, &mut read)?,
            CallTarget::SelectSets => selected(first, [second, third], &mut read)?,
        };
        match several {
            Several::One(fd) => link(fd),
            Several::More(count) => Some(Self::Descriptors(count)),
        }
    }
}

/// What a list or set of descriptors holds, if it holds any.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Several {
    One(u64),
    More(u64),
}

/// The descriptors in the list of `poll` at `address`. Negative ones are not asked about.
fn polled(address: u64, count: u64, read: &mut impl FnMut(u64, &mut [u8]) -> usize) -> Option<Several> {
    let length = usize::try_from(count).unwrap_or(usize::MAX);
    if length > MOST_POLLED {
        return Some(Several::More(count));
    }
    let mut list = [0; MOST_POLLED * POLLFD];
    let list = &mut list[..length * POLLFD];
    if read(address, list) < list.len() {
        return None;
    }
    let descriptors =
        list.chunks_exact(POLLFD).map(|entry| i32::from_ne_bytes([entry[0], entry[1], entry[2], entry[3]]));
    one_or_more(descriptors.filter_map(|fd| u64::try_from(fd).ok()))
}

/// The descriptors below `end` in the sets at `addresses`; 0 is no set.
fn selected(end: u64, addresses: [u64; 2], read: &mut impl FnMut(u64, &mut [u8]) -> usize) -> Option<Several> {
    let end = end.min(MOST_SELECTED);
    let mut all = [0_u8; (MOST_SELECTED / 8) as usize];
    for address in addresses.into_iter().filter(|address| *address != 0) {
        let mut set = all;
        // The kernel reads whole words.
        let words = end.div_ceil(64) as usize * 8;
        if read(address, &mut set[..words]) < words {
            return None;
        }
        all.iter_mut().zip(&set[..words]).for_each(|(all, set)| *all |= *set);
    }
    one_or_more((0..end).filter(|fd| all[(fd / 8) as usize] & (1 << (fd % 8)) != 0))
}

fn one_or_more(mut descriptors: impl Iterator<Item = u64>) -> Option<Several> {
    let first = descriptors.next()?;
    match descriptors.count() as u64 {
        0 => Some(Several::One(first)),
        others => Some(Several::More(1 + others)),
    }
}

/// What the target of a `/proc/PID/fd` link is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum FdKind<'a> {
    /// A socket with this inode.
    Socket(u64),
    /// What people call it: `pipe`, `epoll`, a path.
    Named(&'a str),
}

impl<'a> FdKind<'a> {
    /// Reads a link's target.
    pub(crate) fn of(link: &'a str) -> Self {
        if let Some(kind) = link.strip_prefix("anon_inode:") {
            return Self::Named(match kind.trim_matches(['[', ']']) {
                "eventpoll" => "epoll",
                kind => kind,
            });
        }
        match link.split_once(":[") {
            Some(("socket", inode)) => match inode.trim_end_matches(']').parse() {
                Ok(inode) => Self::Socket(inode),
                Err(_) => Self::Named("socket"),
            },
            Some((kind @ ("pipe" | "pidfd"), _)) => Self::Named(kind),
            _ => Self::Named(link),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads `memory`, which begins at 0x1000.
    fn reader(memory: &[u8]) -> impl FnMut(u64, &mut [u8]) -> usize {
        |address, buffer| {
            let from = usize::try_from(address - 0x1000).unwrap();
            let length = buffer.len().min(memory.len().saturating_sub(from));
            buffer[..length].copy_from_slice(&memory[from..from + length]);
            length
        }
    }

    fn poll_list(descriptors: &[i32]) -> Vec<u8> {
        descriptors.iter().flat_map(|fd| [fd.to_ne_bytes(), [1, 0, 0, 0]].concat()).collect()
    }

    #[test]
    fn poll_lists_are_read() {
        let polled = |descriptors: &[i32], count| polled(0x1000, count, &mut reader(&poll_list(descriptors)));
        assert_eq!(polled(&[7], 1), Some(Several::One(7)));
        assert_eq!(polled(&[-1, 9], 2), Some(Several::One(9)), "negative ones are left out by the kernel");
        assert_eq!(polled(&[3, 4, 5], 3), Some(Several::More(3)));
        assert_eq!(polled(&[], 0), None);
        assert_eq!(polled(&[-1], 1), None);
        assert_eq!(polled(&[3], 2), None, "memory ends before the list does");
        assert_eq!(polled(&[], 1_000_000), Some(Several::More(1_000_000)));
    }

    #[test]
    fn select_sets_are_read() {
        let mut sets = vec![0; 32];
        sets[0] = 0b1000;
        sets[16 + 8] = 0b10;
        let selected = |end, sets_at: [u64; 2]| selected(end, sets_at, &mut reader(&sets));
        assert_eq!(selected(4, [0x1000, 0]), Some(Several::One(3)));
        assert_eq!(selected(66, [0x1000, 0x1010]), Some(Several::More(2)));
        assert_eq!(selected(66, [0, 0x1010]), Some(Several::One(65)));
        assert_eq!(selected(3, [0x1000, 0]), None, "only those below the end are asked for");
        assert_eq!(selected(0, [0, 0]), None);
        assert_eq!(selected(1024, [0x1000, 0]), None, "memory ends before the set does");
    }

    #[test]
    fn descriptors_are_told_apart() {
        for (link, kind) in [
            ("socket:[12345]", FdKind::Socket(12_345)),
            ("pipe:[12345]", FdKind::Named("pipe")),
            ("anon_inode:[eventpoll]", FdKind::Named("epoll")),
            ("anon_inode:[timerfd]", FdKind::Named("timerfd")),
            ("anon_inode:inotify", FdKind::Named("inotify")),
            ("pidfd:[77]", FdKind::Named("pidfd")),
            ("/dev/pts/3", FdKind::Named("/dev/pts/3")),
            ("/tmp/a:[b]", FdKind::Named("/tmp/a:[b]")),
            ("socket:[x]", FdKind::Named("socket")),
        ] {
            assert_eq!(FdKind::of(link), kind, "{link}");
        }
    }
}
