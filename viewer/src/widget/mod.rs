//! Parts that several panels are made of.

mod keys;
mod table;
mod table_cell;
mod table_columns;
mod time_axis;
mod time_canvas;
mod time_view;

pub use keys::take_key;
pub use table::{BranchInput, Sort, Table, TableInput, TableRows, as_tsv};
pub use table_cell::{Cell, HEADER_HEIGHT, NameCell, ROW_HEIGHT, start_of_last_segment};
pub use table_columns::{ColumnKind, TableColumn};
pub use time_axis::{Tick, TimeAxis, label_width};
pub use time_canvas::{CanvasInput, TimeCanvas};
pub use time_view::TimeView;
