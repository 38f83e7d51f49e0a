//! Undecoded fields of messages, as slices of the message.

use bytes::Bytes;
use orcish_core::error::Result;

use super::decoded_size::{MessageType, check_decoded_size};
use super::wire::{Field, FieldReader, count_fields};

/// Text of a file as a string. Invalid UTF-8 is replaced by U+FFFD, as in Java.
pub(crate) fn to_string_lossy(text: &[u8]) -> String {
    String::from_utf8_lossy(text).into_owned()
}

/// An undecoded field of a message.
pub(crate) struct RawField {
    pub(crate) tag: u32,
    /// Content of a length-delimited field; `None` for numbers.
    pub(crate) body: Option<Bytes>,
}

/// Reads the next field from the front of `message`, and skips groups before it; `None` at the end of the message.
///
/// # Errors
/// `Corrupt` where the bytes are not a message.
pub(crate) fn next_field(message: &mut Bytes) -> Result<Option<RawField>> {
    let mut fields = FieldReader(message);
    let field = fields.next()?;
    let field = field.map(|Field { tag, body, is_delimited, .. }| {
        let body = is_delimited.then(|| message.slice_ref(body));
        RawField { tag, body }
    });
    _ = message.split_to(message.len() - fields.0.len());
    Ok(field)
}

/// The elements of the repeated field 1 of `message`; `None` where they are not `count` elements.
///
/// # Errors
/// `Corrupt` where the bytes are not a message, `LimitExceeded` where the decoded size of the message is larger than
/// `max_size` bytes.
pub(crate) fn repeated_field(
    message: Bytes,
    count: usize,
    message_type: &MessageType,
    max_size: u64,
) -> Result<Option<Vec<Bytes>>> {
    if count_fields(&message, 1)? != count {
        return Ok(None);
    }
    check_decoded_size(&message, message_type, max_size)?;
    first_of_repeated_field(message, count).map(Some)
}

/// The elements of the repeated field 1 of `message`, at most the first `max`.
///
/// # Errors
/// `Corrupt` where the bytes are not a message.
pub(crate) fn first_of_repeated_field(message: Bytes, max: usize) -> Result<Vec<Bytes>> {
    let (mut elements, mut rest) = (Vec::new(), message);
    while elements.len() < max {
        match next_field(&mut rest)? {
            Some(RawField { tag: 1, body: Some(body) }) => elements.push(body),
            Some(_) => {}
            None => break,
        }
    }
    Ok(elements)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_read_in_order() {
        // A number, a text, a group with a text, a fixed number, an empty text, and a group.
        let group = [9 << 3 | 3, 1 << 3 | 2, 1, b'g', 9 << 3 | 4];
        let parts: [&[u8]; 6] =
            [&[6 << 3, 5], &[1 << 3 | 2, 2, b'a', b'b'], &group, &[14 << 3 | 5, 1, 2, 3, 4], &[1 << 3 | 2, 0], &group];
        let message = Bytes::from(parts.concat());
        let (mut rest, mut found) = (message.clone(), Vec::new());
        while let Some(RawField { tag, body }) = next_field(&mut rest).unwrap() {
            found.push((tag, body, rest.len()));
        }
        let text = Bytes::from_static;
        assert_eq!(
            found,
            [(6, None, 21), (1, Some(text(b"ab")), 17), (14, None, 7), (1, Some(text(b"")), 5)],
            "fields of groups are skipped"
        );
        assert!(rest.is_empty());
        assert_eq!(first_of_repeated_field(message.clone(), 9).unwrap(), [text(b"ab"), text(b"")]);
        assert_eq!(first_of_repeated_field(message.clone(), 1).unwrap(), [text(b"ab")]);
        for length in [1, 3, 5, 15] {
            assert!(first_of_repeated_field(message.slice(..length), 9).is_err(), "{length}");
        }
    }
}
