//! What only the format of a profile's file knows, carried along for it.

/// A value of the file that nothing here uses: a format that has a place for it writes it back.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Kept {
    /// Where it stands, in the terms of Firefox profiles: `pages`, `meta.extensions`, `counters[0].display.tooltipRows`; of a
    /// thread from the thread on.
    pub path: Box<str>,
    /// The value as JSON text.
    pub json: Box<str>,
}
