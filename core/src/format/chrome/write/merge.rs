//! Events of many sources in one order of time: what reads a file from its beginning sees causes before effects, whatever
//! threads they are on.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io;

use super::text::Text;
use crate::model::Time;

/// Some of the events of a file, in order of time.
pub(super) trait Source {
    /// When the next one is; `None` behind the last.
    fn time(&self) -> Option<Time>;

    /// Writes it.
    fn write(&mut self, text: &mut Text<'_>);
}

/// Writes all events; of those at one moment the ones of the earlier source come first.
pub(super) fn write(sources: &mut [Box<dyn Source + '_>], text: &mut Text<'_>) -> io::Result<()> {
    let mut next: BinaryHeap<Reverse<(Time, usize)>> = BinaryHeap::with_capacity(sources.len());
    next.extend(sources.iter().enumerate().filter_map(|(at, source)| Some(Reverse((source.time()?, at)))));
    while let Some(Reverse((_, at))) = next.pop() {
        let source = &mut sources[at];
        let other = next.peek().copied();
        loop {
            source.write(text);
            text.flush_full()?;
            let Some(time) = source.time() else { break };
            if other.is_some_and(|Reverse(other)| other < (time, at)) {
                next.push(Reverse((time, at)));
                break;
            }
        }
    }
    Ok(())
}
