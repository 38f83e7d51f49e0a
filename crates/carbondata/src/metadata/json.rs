//! JSON metadata files, within a memory limit.

use orcish_core::{Error, Limits, Result};
use serde::Deserializer as _;
use serde::de::{Error as _, SeqAccess, Visitor};
use serde_json::Value;

/// Memory of a JSON value, and of an entry of a JSON object.
const VALUE_MEMORY: usize = 64;
const ENTRY_MEMORY: usize = 128;

/// Checks that the values of JSON take no more memory than is allowed.
fn check_memory(bytes: &[u8], limits: &Limits) -> Result<()> {
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
    Ok(())
}

fn no_json(error: serde_json::Error) -> Error {
    Error::corrupt(format!("it is no JSON: {error}"))
}

/// Parses JSON.
///
/// # Errors
/// `Corrupt` for invalid JSON, `LimitExceeded` where the values would take more memory than is allowed.
pub(crate) fn parse(bytes: &[u8], limits: &Limits) -> Result<Value> {
    check_memory(bytes, limits)?;
    serde_json::from_slice(bytes).map_err(no_json)
}

/// Parses a list, of which one entry at a time is kept as JSON.
///
/// # Errors
/// As [`parse`]; `Corrupt` where it is no list; errors of `read`.
pub(crate) fn entries<T>(bytes: &[u8], limits: &Limits, read: impl FnMut(&Value) -> Result<T>) -> Result<Vec<T>> {
    check_memory(bytes, limits)?;
    if bytes.trim_ascii_start().first().is_some_and(|&first| first != b'[') {
        parse(bytes, limits)?;
        return Err(Error::corrupt("it is no list of JSON"));
    }
    let mut failure = None;
    let mut parser = serde_json::Deserializer::from_slice(bytes);
    let read = parser.deserialize_seq(Entries { read, failure: &mut failure });
    let list = read.and_then(|list| parser.end().map(|()| list));
    failure.map_or_else(|| list.map_err(no_json), Err)
}

/// Reads the entries of a list one by one.
struct Entries<'a, F> {
    read: F,
    /// The error of `read`.
    failure: &'a mut Option<Error>,
}

impl<'de, T, F: FnMut(&Value) -> Result<T>> Visitor<'de> for Entries<'_, F> {
    type Value = Vec<T>;

    fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut list: A) -> Result<Vec<T>, A::Error> {
        let mut all = Vec::new();
        while let Some(entry) = list.next_element::<Value>()? {
            match (self.read)(&entry) {
                Ok(read) => all.push(read),
                Err(error) => {
                    *self.failure = Some(error);
                    return Err(A::Error::custom("an entry cannot be read"));
                }
            }
        }
        Ok(all)
    }
}

fn wrong_type(key: &str, wanted: &str, value: &Value) -> Error {
    Error::corrupt(format!("{key} is no {wanted}: {value}"))
}

/// A string, or a number as one: writers put both in the same fields. `key` is for the error.
fn text_of(value: &Value, key: &str) -> Result<String> {
    match value {
        Value::String(text) => Ok(text.clone()),
        Value::Number(number) => Ok(number.to_string()),
        other => Err(wrong_type(key, "text", other)),
    }
}

/// A field as a string; `None` where it is missing, null or empty.
///
/// # Errors
/// `Corrupt` where it is neither a string nor a number.
pub(crate) fn text(entry: &Value, key: &str) -> Result<Option<String>> {
    let value = entry.get(key).filter(|value| !value.is_null());
    Ok(value.map(|value| text_of(value, key)).transpose()?.filter(|text| !text.is_empty()))
}

/// A field as a string that must be there.
///
/// # Errors
/// As [`text`]; `Corrupt` where it is missing or empty.
pub(crate) fn required_text(entry: &Value, key: &str) -> Result<String> {
    text(entry, key)?.ok_or_else(|| Error::corrupt(format!("{key} is missing")))
}

/// A field as a number, which may be written as a string.
///
/// # Errors
/// `Corrupt` where it is no number of the type.
pub(crate) fn number<T: std::str::FromStr>(entry: &Value, key: &str) -> Result<Option<T>> {
    let parse = |text: String| text.trim().parse().map_err(|_| wrong_type(key, "number", &Value::String(text)));
    text(entry, key)?.filter(|text| !text.trim().is_empty()).map(parse).transpose()
}

/// A field as a list; empty where it is missing or null.
///
/// # Errors
/// `Corrupt` where it is no list.
pub(crate) fn list<'a>(entry: &'a Value, key: &str) -> Result<&'a [Value]> {
    match entry.get(key) {
        None | Some(Value::Null) => Ok(&[]),
        Some(Value::Array(list)) => Ok(list),
        Some(other) => Err(wrong_type(key, "list", other)),
    }
}

/// A field as a list of strings, see [`list`].
///
/// # Errors
/// As [`list`]; `Corrupt` where an entry is neither a string nor a number.
pub(crate) fn texts(entry: &Value, key: &str) -> Result<Vec<String>> {
    list(entry, key)?.iter().map(|value| text_of(value, &format!("an entry of {key}"))).collect()
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
