//! Faults of JSON text, placed by byte offset.

use super::ReadError;

/// What `error` says about `text`, which serde_json was given from its start.
pub(super) fn syntax_error(text: &[u8], error: &serde_json::Error) -> ReadError {
    let truncated = ReadError::Truncated { offset: text.len() };
    if error.is_eof() {
        return truncated;
    }
    // serde_json counts lines and columns from 1; files of one line make columns offsets.
    let lines = text.split_inclusive(|byte| *byte == b'\n');
    let before: usize = lines.take(error.line().saturating_sub(1)).map(<[u8]>::len).sum();
    let offset = (before + error.column()).saturating_sub(1).min(text.len());
    let message = error.to_string();
    let message = message.split(" at line ").next().unwrap_or_default().to_owned();
    // Of a number that was cut behind its sign or point it says no more than that.
    if message == "invalid number" && offset + 1 >= text.len() {
        return truncated;
    }
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
        for text in ["[1,\n 2", "[1,\n -", "[1,\n2.", "[1,\n2e"] {
            let error = serde_json::from_str::<serde::de::IgnoredAny>(text).expect_err("cut");
            let error = placed_at(syntax_error(text.as_bytes(), &error), 100);
            assert!(
                matches!(error, ReadError::Truncated { offset } if offset == 100 + text.len()),
                "{text:?}: {error:?}"
            );
        }
    }
}
