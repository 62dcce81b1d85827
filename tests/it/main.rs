//! One test binary for all tests from outside.

mod gecko;
