pub fn read(_: &[u8]) -> Result<crate::model::Profile, super::super::ReadError> { Err(super::super::ReadError::Empty) }
