//! JSON files with a checksum: a changed bit is an error, and not another commit.

use flate2::Crc;
use orcish_core::{Error, Result};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::names::shown;

/// The last field of a file: the CRC-32 of all bytes before it.
const FIELD: &[u8] = b",\"crc32\":";

/// The JSON object of a value, with its checksum as the last field.
pub(crate) fn to_sealed(value: &impl Serialize) -> Result<Vec<u8>> {
    let fault = |error| Error::invalid("a file of the log").with_source(error);
    let mut bytes = serde_json::to_vec(value).map_err(fault)?;
    bytes.pop();
    let sum = checksum(&bytes);
    bytes.extend_from_slice(FIELD);
    bytes.extend_from_slice(format!("{sum}}}").as_bytes());
    Ok(bytes)
}

/// The value of a file, whose checksum is compared.
///
/// # Errors
/// `Corrupt` with the given text if the file has another checksum, or no such value.
pub(crate) fn from_sealed<T: DeserializeOwned>(bytes: &[u8], fault: &str) -> Result<T> {
    let corrupt = |reason: &str| Error::corrupt(format!("{fault}: {reason}"));
    // A checksum has at most ten digits.
    let (_, end) = bytes.split_at(bytes.len().saturating_sub(FIELD.len() + 11));
    let Some(at) = end.windows(FIELD.len()).rposition(|window| window == FIELD) else {
        return Err(corrupt("it has no checksum"));
    };
    let (content, rest) = bytes.split_at(bytes.len() - end.len() + at);
    let (_, sum) = rest.split_at(FIELD.len());
    let sum = sum.strip_suffix(b"}").map(std::str::from_utf8);
    if !matches!(sum, Some(Ok(digits)) if digits.parse() == Ok(checksum(content))) {
        return Err(corrupt("its checksum is another one"));
    }
    let mut object = Vec::with_capacity(content.len() + 1);
    object.extend_from_slice(content);
    object.push(b'}');
    serde_json::from_slice(&object).map_err(|error| corrupt(&shown(&error.to_string())))
}

fn checksum(bytes: &[u8]) -> u32 {
    let mut crc = Crc::new();
    crc.update(bytes);
    crc.sum()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn damage_is_found() {
        let value: BTreeMap<String, Vec<String>> =
            [("a".to_owned(), vec!["x,\"crc32\":7}".to_owned(), "é".to_owned()]), ("b".to_owned(), Vec::new())].into();
        let bytes = to_sealed(&value).unwrap();
        let read = |bytes: &[u8]| from_sealed::<BTreeMap<String, Vec<String>>>(bytes, "no value");
        assert_eq!(read(&bytes).unwrap(), value);
        assert!(serde_json::from_slice::<serde_json::Value>(&bytes).is_ok());
        for at in 0..bytes.len() {
            assert!(read(&bytes[..at]).is_err(), "{at}");
            for bit in 0..8 {
                let mut damaged = bytes.clone();
                damaged[at] ^= 1 << bit;
                assert!(read(&damaged).is_err(), "{at} {bit}");
            }
        }
        for other in ["", "}", "{}", "{,\"crc32\":0}", ",\"crc32\":0}", "{\"a\":[]}", ",\"crc32\":99999999999}"] {
            assert!(read(other.as_bytes()).unwrap_err().message().starts_with("no value: "), "{other}");
        }
    }
}
