//! wip
/// wip
#[expect(clippy::missing_errors_doc, reason = "wip")]
pub fn read(_: &[u8]) -> Result<crate::model::Profile, super::super::ReadError> {
    Err(super::super::ReadError::Empty)
}
