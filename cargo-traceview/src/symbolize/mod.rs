//! symbolize.
