//! Typed indices into the tables of a [`Profile`](super::Profile).
//!
//! An index is a `u32` of its own type, stored as "index + 1" so that `Option<Id>` takes four bytes too.

use std::num::NonZeroU32;

/// What all index types have in common.
pub trait Id: Copy {
    /// The index of row `index`.
    ///
    /// # Panics
    /// If a table grows beyond `u32::MAX - 1` rows, which no format here can describe.
    fn new(index: usize) -> Self;

    /// The row this points to.
    fn index(self) -> usize;
}

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(NonZeroU32);

        impl $name {
            /// The index of row `index`.
            ///
            /// # Panics
            /// If `index` does not fit into a table of `u32::MAX - 1` rows.
            pub fn new(index: usize) -> Self {
                let raw = u32::try_from(index).ok().and_then(|raw| NonZeroU32::new(raw.wrapping_add(1)));
                Self(raw.expect("tables have fewer than u32::MAX rows"))
            }

            /// The row this points to.
            pub const fn index(self) -> usize {
                (self.0.get() - 1) as usize
            }
        }

        impl Id for $name {
            fn new(index: usize) -> Self {
                Self::new(index)
            }

            fn index(self) -> usize {
                self.index()
            }
        }

        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, "{}({})", stringify!($name), self.index())
            }
        }
    )*};
}

ids! {
    /// A string of [`StringTable`](super::StringTable).
    StringId;
    /// A row of [`CategoryTable`](super::CategoryTable).
    CategoryId;
    /// A [`Library`](super::Library).
    LibraryId;
    /// A [`Resource`](super::Resource).
    ResourceId;
    /// A [`Source`](super::Source).
    SourceId;
    /// A [`SourceLocation`](super::SourceLocation).
    SourceLocationId;
    /// A [`ScriptFrame`](super::ScriptFrame).
    ScriptFrameId;
    /// A [`Crate`](super::Crate).
    CrateId;
    /// A [`NativeSymbol`](super::NativeSymbol).
    NativeSymbolId;
    /// A row of [`FunctionTable`](super::FunctionTable).
    FunctionId;
    /// A row of [`FrameTable`](super::FrameTable).
    FrameId;
    /// A row of [`StackTable`](super::StackTable): the innermost node of a stack.
    StackId;
    /// A [`Process`](super::Process).
    ProcessId;
    /// A [`Thread`](super::Thread).
    ThreadId;
    /// A [`MarkerSchema`](super::MarkerSchema).
    MarkerSchemaId;
    /// A set of fields in [`Payloads`](super::Payloads).
    PayloadId;
    /// A set of labels in [`LabelSets`](super::LabelSets).
    LabelSetId;
    /// A [`ValueType`](super::ValueType).
    ValueTypeId;
    /// A row of a thread's [`SliceTable`](super::SliceTable).
    SliceId;
    /// A row of a thread's [`MarkerTable`](super::MarkerTable).
    MarkerId;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn optional_ids_are_four_bytes_and_round_trip() {
        assert_eq!(size_of::<Option<StackId>>(), 4);
        for index in [0, 1, 77, u32::MAX as usize - 1] {
            assert_eq!(StackId::new(index).index(), index);
        }
    }

    #[test]
    #[should_panic(expected = "fewer than u32::MAX rows")]
    fn the_row_that_does_not_fit_is_refused() {
        StackId::new(u32::MAX as usize);
    }
}
