//! Shared pieces of the tests.

pub mod gecko_validator;
pub mod rich_profile;
