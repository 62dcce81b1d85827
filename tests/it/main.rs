//! One test binary for all tests from outside.

#[cfg(test)]
mod cargo_build;
