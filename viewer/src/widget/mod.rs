//! Parts that several panels are made of.

mod time_axis;
mod time_canvas;
mod time_view;

pub use time_axis::{Tick, TimeAxis, label_width};
pub use time_canvas::{CanvasInput, TimeCanvas};
pub use time_view::TimeView;
