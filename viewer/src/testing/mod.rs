//! What tests of the window share.
//!
//! [`TestProfile`] makes small profiles of text and [`profiles`] are those that several tests look at; [`open`] shows one
//! in a window with one panel, for which there are the hands of a person; [`pictures`] are for the eyes of one.

mod hands;
pub(crate) mod pictures;
mod profile;
pub(crate) mod profiles;
mod window;

pub(crate) use hands::{click, click_with, double_click, drag, press, press_with, turn_wheel};
pub(crate) use profile::{MS, TestProfile, document};
pub(crate) use window::{Test, Window, act, harness, open, open_with_head};
