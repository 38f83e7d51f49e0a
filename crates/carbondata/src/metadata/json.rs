//! JSON of a table's metadata, in memory that is limited.

use orcish_core::{Error, Limits, Result};
use serde_json::Value;

/// Bytes of memory for what a sign of JSON begins: a value, or a name and a value in a map.
const OF_VALUE: usize = 64;
const OF_NAME: usize = 128;

/// The value that these bytes are.
///
/// # Errors
/// `Corrupt` where they are no JSON, `LimitExceeded` where it would take more memory than is allowed.
pub(crate) fn parse(bytes: &[u8], limits: &Limits) -> Result<Value> {
    let room = bytes.iter().fold(bytes.len(), |room, byte| match byte {
        b',' | b'[' | b'{' => room.saturating_add(OF_VALUE),
        b':' => room.saturating_add(OF_NAME),
        _ => room,
    });
    if u64::try_from(room).map_or(true, |room| room > limits.memory) {
        return Err(Error::over(
            "memory",
            format!("JSON that takes {room} bytes, of {} that are allowed", limits.memory),
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

/// A text that is not empty.
pub(crate) fn text(entry: &Value, key: &str) -> Option<String> {
    let found = match entry.get(key)? {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        _ => return None,
    };
    Some(found).filter(|text| !text.is_empty())
}

/// A number, also one that is written as text.
pub(crate) fn number<T: std::str::FromStr>(entry: &Value, key: &str) -> Option<T> {
    text(entry, key)?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_have_room() {
        let limits = Limits { memory: 1 << 20, ..Limits::default() };
        assert!(parse(br#"[{"a": "b"}]"#, &limits).is_ok());
        let many = format!("[{}1]", "1,".repeat(100_000));
        assert!(parse(many.as_bytes(), &Limits::default()).is_ok());
        assert_eq!(parse(many.as_bytes(), &limits).unwrap_err().kind(), orcish_core::ErrorKind::LimitExceeded);
        assert_eq!(parse(b"[", &limits).unwrap_err().kind(), orcish_core::ErrorKind::Corrupt);
    }
}
