//! Faults of JSON text, placed by byte offset.

use super::ReadError;

/// What `error` says about `text`, which serde_json was given from its start.
pub(super) fn syntax_error(text: &[u8], error: &serde_json::Error) -> ReadError {
    if error.is_eof() {
        return ReadError::Truncated { offset: text.len() };
    }
    // serde_json counts lines and columns from 1; files of one line make columns offsets.
    let lines = text.split_inclusive(|byte| *byte == b'\n');
    let before: usize = lines.take(error.line().saturating_sub(1)).map(<[u8]>::len).sum();
    let offset = (before + error.column()).saturating_sub(1).min(text.len());
    let message = error.to_string();
    let message = message.split(" at line ").next().unwrap_or_default().to_owned();
    ReadError::Syntax { offset, message }
}

/// `error` of a part of a file that begins at byte `start` of it.
pub(super) fn placed_at(error: ReadError, start: usize) -> ReadError {
    match error {
        ReadError::Syntax { offset, message } => ReadError::Syntax { offset: start + offset, message },
        ReadError::Truncated { offset } => ReadError::Truncated { offset: start + offset },
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_are_placed_by_offset_on_any_line() {
        for (text, offset) in [("[1, x]", 4), ("[1,\n\n 2, x]", 9), ("{\n\"a\": tru}", 10)] {
            let error = serde_json::from_str::<serde::de::IgnoredAny>(text).expect_err("wrong");
            assert!(
                matches!(syntax_error(text.as_bytes(), &error), ReadError::Syntax { offset: at, .. } if at == offset),
                "{text:?}: {error}"
            );
        }
        let error = serde_json::from_str::<serde::de::IgnoredAny>("[1,\n 2").expect_err("cut");
        let error = placed_at(syntax_error(b"[1,\n 2", &error), 100);
        assert!(matches!(error, ReadError::Truncated { offset: 106 }), "{error:?}");
    }
}
