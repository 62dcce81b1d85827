//! Where a thread's stack goes on beyond the memory that its stack pointer is in: handlers on alternate stacks and code
//! that grows its stack return to another one. What unwinding lacked there is copied from then on.
//!
//! That memory stands still while the thread is on its other stack, and a thread that comes back to it is usually at
//! about the same depth.

/// So much is copied below an address that was needed: the next handler may come a few calls later.
const BELOW: u64 = 8 << 10;

/// And above it.
const ABOVE: u64 = 56 << 10;

/// An address that is so near to a window belongs to it.
const NEAR: u64 = 64 << 10;

/// No window grows larger.
const LARGEST: u64 = 192 << 10;

/// A handler on an alternate stack, over a coroutine, over the thread's own stack: more stacks than that are rare.
const MOST: usize = 3;

/// The windows of a thread, the one that was needed first coming first.
#[derive(Clone, Debug, Default)]
pub(crate) struct StackWindows(Vec<(u64, u64)>);

impl StackWindows {
    /// Unwinding needed the word at `address`.
    pub(crate) fn need(&mut self, address: u64) {
        let (low, high) = (address.saturating_sub(BELOW) & !7, address.saturating_add(ABOVE) & !7);
        let is_near = |window: &&mut (u64, u64)| {
            (window.0.saturating_sub(NEAR)..window.1.saturating_add(NEAR)).contains(&address)
        };
        let Some(window) = self.0.iter_mut().find(is_near) else {
            if self.0.len() == MOST {
                self.0.remove(0);
            }
            self.0.push((low, high));
            return;
        };
        let grown = (window.0.min(low), window.1.max(high));
        *window = if grown.1 - grown.0 <= LARGEST { grown } else { (low, high) };
    }

    /// Start and length of each window that has nothing of the memory `(low, high)`, which the thread is in now.
    pub(crate) fn apart_from(&self, (low, high): (u64, u64)) -> impl Iterator<Item = (u64, usize)> {
        let apart = self.0.iter().filter(move |window| window.1 <= low || high <= window.0);
        apart.map(|(start, end)| (*start, usize::try_from(end - start).unwrap_or(0)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_grow_with_what_is_needed_and_are_few() {
        let mut windows = StackWindows::default();
        windows.need(0x10_0000);
        let (low, high) = (0x10_0000 - BELOW, 0x10_0000 + ABOVE);
        assert_eq!(windows.0, [(low, high)]);
        windows.need(high + 8);
        assert_eq!(windows.0, [(low, high + 8 + ABOVE)]);
        windows.need(low - 8);
        assert_eq!(windows.0, [(low - 8 - BELOW, high + 8 + ABOVE)]);
        let below = low - 8 - BELOW - NEAR;
        windows.need(below);
        assert_eq!(windows.0, [(below - BELOW, below + ABOVE)], "it would grow too large");
        for address in [0x5000_0000, 0x6000_0000, 0x7000_0000] {
            windows.need(address);
        }
        assert_eq!(windows.0.len(), MOST);
        windows.need(u64::MAX);
    }

    #[test]
    fn what_is_copied_anyway_is_not_copied_twice() {
        let mut windows = StackWindows::default();
        windows.need(0x10_0000);
        let apart = |range| windows.apart_from(range).count();
        assert_eq!(apart((0x10_0000, 0x20_0000)), 0);
        assert_eq!(apart((0x50_0000, 0x60_0000)), 1);
        assert_eq!(apart((0, 0x1000)), 1);
    }
}
