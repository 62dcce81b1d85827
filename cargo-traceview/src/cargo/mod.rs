//! cargo.
