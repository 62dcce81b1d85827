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

/// A window that so many copies in a row were made of in vain is given up: what looked like a stack, such as a number in
/// the register of the frame pointer, must not hold the thread for longer ever after.
const IDLE: u8 = 64;

/// The windows of a thread, the one that was needed first coming first.
#[derive(Clone, Debug, Default)]
pub(crate) struct StackWindows(Vec<Window>);

#[derive(Clone, Copy, Debug)]
struct Window {
    low: u64,
    high: u64,
    /// How many of the last copies were of no use.
    idle: u8,
}

impl StackWindows {
    /// Unwinding needed the word at `address`.
    pub(crate) fn need(&mut self, address: u64) {
        let (low, high) = (address.saturating_sub(BELOW) & !7, address.saturating_add(ABOVE) & !7);
        let is_near = |window: &&mut Window| {
            (window.low.saturating_sub(NEAR)..window.high.saturating_add(NEAR)).contains(&address)
        };
        let Some(window) = self.0.iter_mut().find(is_near) else {
            if self.0.len() == MOST {
                self.0.remove(0);
            }
            self.0.push(Window { low, high, idle: 0 });
            return;
        };
        let (lowest, highest) = (window.low.min(low), window.high.max(high));
        let (low, high) = if highest - lowest <= LARGEST { (lowest, highest) } else { (low, high) };
        *window = Window { low, high, idle: 0 };
    }

    /// Unwinding had copies of the windows that start there, and did or did not read them.
    pub(crate) fn note_use(&mut self, copies: &[(u64, bool)]) {
        for (start, was_used) in copies {
            if let Some(window) = self.0.iter_mut().find(|window| window.low == *start) {
                window.idle = if *was_used { 0 } else { window.idle + 1 };
            }
        }
        self.0.retain(|window| window.idle < IDLE);
    }

    /// Start and length of each window that has nothing of the memory `(low, high)`, which the thread is in now.
    pub(crate) fn apart_from(&self, (low, high): (u64, u64)) -> impl Iterator<Item = (u64, usize)> {
        let apart = self.0.iter().filter(move |window| window.high <= low || high <= window.low);
        apart.map(|window| (window.low, usize::try_from(window.high - window.low).unwrap_or(0)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_grow_with_what_is_needed_and_are_few() {
        let mut windows = StackWindows::default();
        let ranges =
            |windows: &StackWindows| windows.0.iter().map(|window| (window.low, window.high)).collect::<Vec<_>>();
        windows.need(0x10_0000);
        let (low, high) = (0x10_0000 - BELOW, 0x10_0000 + ABOVE);
        assert_eq!(ranges(&windows), [(low, high)]);
        windows.need(high + 8);
        assert_eq!(ranges(&windows), [(low, high + 8 + ABOVE)]);
        windows.need(low - 8);
        assert_eq!(ranges(&windows), [(low - 8 - BELOW, high + 8 + ABOVE)]);
        let below = low - 8 - BELOW - NEAR;
        windows.need(below);
        assert_eq!(ranges(&windows), [(below - BELOW, below + ABOVE)], "it would grow too large");
        for address in [0x5000_0000, 0x6000_0000, 0x7000_0000] {
            windows.need(address);
        }
        assert_eq!(windows.0.len(), MOST);
        windows.need(u64::MAX);
    }

    #[test]
    fn windows_that_nobody_reads_are_given_up() {
        let mut windows = StackWindows::default();
        windows.need(0x10_0000);
        windows.need(0x50_0000);
        let (used, other) = (0x10_0000 - BELOW, 0x50_0000 - BELOW);
        for round in 0..2 * u32::from(IDLE) {
            windows.note_use(&[(used, round % 32 == 0), (other, false)]);
        }
        assert_eq!(windows.apart_from((0, 8)).map(|(start, _)| start).collect::<Vec<_>>(), [used]);
        windows.note_use(&[(other, false)]);
        windows.need(0x50_0000);
        assert_eq!(windows.apart_from((0, 8)).count(), 2, "it is needed again");
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
