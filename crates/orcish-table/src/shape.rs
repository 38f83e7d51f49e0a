//! The bounds of entries, which are checked before memory is used for what an entry has.

use orcish_core::{Error, Result};

/// Maximum number of values of an entry. The largest entry has that many names or parts of 32 bytes each.
const MAX_VALUES: usize = 2 << 20;
/// Maximum number of nested lists and objects, which is that of `serde_json`.
const MAX_DEPTH: usize = 128;

/// Checks the number of values of a JSON text, and how deep they are nested. Whether the text is JSON is not checked.
///
/// # Errors
/// `LimitExceeded` with the limit.
pub(crate) fn check_shape(text: &[u8]) -> Result<()> {
    // A comma is between two values. Memory is used for those, and not for lists and objects without any.
    let (mut values, mut depth, mut is_string, mut is_escaped) = (1, 0, false, false);
    for byte in text {
        if is_string {
            is_string = *byte != b'"' || is_escaped;
            is_escaped = *byte == b'\\' && !is_escaped;
            continue;
        }
        match byte {
            b'"' => is_string = true,
            b',' => values += 1,
            b'[' | b'{' => depth += 1,
            b']' | b'}' => depth = usize::saturating_sub(depth, 1),
            _ => {}
        }
        if values > MAX_VALUES || depth > MAX_DEPTH {
            let text = format!("an entry of the log has at most {MAX_VALUES} values, at most {MAX_DEPTH} deep");
            return Err(Error::limit(text));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_exact() {
        let list = |count: usize, value: &str| format!("[{}]", vec![value; count].join(","));
        for value in ["0", r#""a,b""#, r#""[\",[""#, r#""\\""#] {
            assert!(check_shape(list(MAX_VALUES, value).as_bytes()).is_ok(), "{value}");
            assert!(check_shape(list(MAX_VALUES + 1, value).as_bytes()).is_err(), "{value}");
        }
        let nested = |depth: usize| [b"[".repeat(depth), b"]".repeat(depth)].concat();
        assert!(check_shape(&nested(MAX_DEPTH)).is_ok() && check_shape(&nested(MAX_DEPTH + 1)).is_err());
        // Other texts are errors of the parser.
        for text in ["", "]", "}}}", "\"", "\\", "{,"] {
            assert!(check_shape(text.as_bytes()).is_ok(), "{text}");
        }
    }
}
