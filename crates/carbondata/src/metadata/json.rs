//! JSON metadata files, within a memory limit.

use orcish_core::{Error, Limits, Result};
use serde_json::Value;

/// Memory of a JSON value, and of an entry of a JSON object.
const VALUE_MEMORY: usize = 64;
const ENTRY_MEMORY: usize = 128;

/// Parses JSON.
///
/// # Errors
/// `Corrupt` for invalid JSON, `LimitExceeded` where the values would take more memory than is allowed.
pub(crate) fn parse(bytes: &[u8], limits: &Limits) -> Result<Value> {
    let memory = bytes.iter().fold(bytes.len(), |memory, byte| match byte {
        b',' | b'[' | b'{' => memory.saturating_add(VALUE_MEMORY),
        b':' => memory.saturating_add(ENTRY_MEMORY),
        _ => memory,
    });
    if u64::try_from(memory).map_or(true, |memory| memory > limits.memory) {
        return Err(Error::over(
            "memory",
            format!("JSON that takes {memory} bytes, of {} that are allowed", limits.memory),
        ));
    }
    serde_json::from_slice(bytes).map_err(|error| Error::corrupt(format!("it is no JSON: {error}")))
}

pub(crate) fn entries(bytes: &[u8], limits: &Limits) -> Result<Vec<Value>> {
    match parse(bytes, limits)? {
        Value::Array(entries) => Ok(entries),
        _ => Err(Error::corrupt("it is no list of JSON")),
    }
}

/// A field as a string; `None` where it is missing or empty.
pub(crate) fn text(entry: &Value, key: &str) -> Option<String> {
    let found = match entry.get(key)? {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        _ => return None,
    };
    Some(found).filter(|text| !text.is_empty())
}

/// A field as a number, which may be written as a string.
pub(crate) fn number<T: std::str::FromStr>(entry: &Value, key: &str) -> Option<T> {
    text(entry, key)?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_limited() {
        let limits = Limits::default().with_memory(1 << 20);
        assert!(parse(br#"[{"a": "b"}]"#, &limits).is_ok());
        let many = format!("[{}1]", "1,".repeat(100_000));
        assert!(parse(many.as_bytes(), &Limits::default()).is_ok());
        assert_eq!(parse(many.as_bytes(), &limits).unwrap_err().kind(), orcish_core::ErrorKind::LimitExceeded);
        assert_eq!(parse(b"[", &limits).unwrap_err().kind(), orcish_core::ErrorKind::Corrupt);
    }
}
