//! Frames: a function at a place in the code.

use super::ids::{CategoryId, FrameId, FunctionId, LibraryId, NativeSymbolId, ScriptFrameId, SourceLocationId};

/// Frames, one a row.
///
/// A function that was inlined has a frame of its own with the address of the function around it and
/// `inline_depth` one larger; see [`StackTable`](super::StackTable).
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct FrameTable {
    /// The function.
    pub function: Vec<FunctionId>,
    /// The library that the address is in.
    pub library: Vec<Option<LibraryId>>,
    /// Address relative to the library's base (without a library: an AVMA). For every frame but a stack's innermost
    /// it lies inside the call instruction (return address − 1).
    pub address: Vec<Option<u64>>,
    /// 0 for the function that the symbol table knows, 1 for what was inlined into it, and so on.
    pub inline_depth: Vec<u16>,
    /// Its category; `None` inherits that of the calling frame.
    pub category: Vec<Option<CategoryId>>,
    /// Index into the category's subcategories; 0 is "Other".
    pub subcategory: Vec<u16>,
    /// The symbol around the address.
    pub native_symbol: Vec<Option<NativeSymbolId>>,
    /// Line, 1-based.
    pub line: Vec<Option<u32>>,
    /// Column, 1-based.
    pub column: Vec<Option<u32>>,
    /// What only frames of scripts have.
    pub script: Vec<Option<ScriptFrameId>>,
}

/// One row of [`FrameTable`]; also the key by which the builder finds it again.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Frame {
    /// See [`FrameTable::function`].
    pub function: FunctionId,
    /// See [`FrameTable::library`].
    pub library: Option<LibraryId>,
    /// See [`FrameTable::address`].
    pub address: Option<u64>,
    /// See [`FrameTable::inline_depth`].
    pub inline_depth: u16,
    /// See [`FrameTable::category`].
    pub category: Option<CategoryId>,
    /// See [`FrameTable::subcategory`].
    pub subcategory: u16,
    /// See [`FrameTable::native_symbol`].
    pub native_symbol: Option<NativeSymbolId>,
    /// See [`FrameTable::line`].
    pub line: Option<u32>,
    /// See [`FrameTable::column`].
    pub column: Option<u32>,
    /// See [`FrameTable::script`].
    pub script: Option<ScriptFrameId>,
}

/// What a frame of a script in a browser's profile has besides.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ScriptFrame {
    /// The browser's id of the document that it ran in, 0 if none.
    pub inner_window: u64,
    /// The place in the source that the script was made from, by its source map.
    pub original_location: Option<SourceLocationId>,
}

impl Frame {
    /// A frame of which only the function is known.
    pub const fn of(function: FunctionId) -> Self {
        Self {
            function,
            library: None,
            address: None,
            inline_depth: 0,
            category: None,
            subcategory: 0,
            native_symbol: None,
            line: None,
            column: None,
            script: None,
        }
    }
}

impl FrameTable {
    /// How many frames there are.
    pub fn len(&self) -> usize {
        self.function.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.function.is_empty()
    }

    /// The row `id`.
    ///
    /// # Panics
    /// If `id` belongs to another profile.
    pub fn get(&self, id: FrameId) -> Frame {
        let row = id.index();
        Frame {
            function: self.function[row],
            library: self.library[row],
            address: self.address[row],
            inline_depth: self.inline_depth[row],
            category: self.category[row],
            subcategory: self.subcategory[row],
            native_symbol: self.native_symbol[row],
            line: self.line[row],
            column: self.column[row],
            script: self.script[row],
        }
    }

    pub(super) fn push(&mut self, row: Frame) -> FrameId {
        let id = FrameId::new(self.len());
        self.function.push(row.function);
        self.library.push(row.library);
        self.address.push(row.address);
        self.inline_depth.push(row.inline_depth);
        self.category.push(row.category);
        self.subcategory.push(row.subcategory);
        self.native_symbol.push(row.native_symbol);
        self.line.push(row.line);
        self.column.push(row.column);
        self.script.push(row.script);
        id
    }
}
