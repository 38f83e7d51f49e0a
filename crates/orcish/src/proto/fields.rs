//! Messages taken apart field by field, without decoding what is in the fields.

use bytes::Bytes;
use orcish_core::error::Result;

use super::weigh::{Field, Fields, Shape, count, weigh};

/// Text as people read it: what is not UTF-8 becomes U+FFFD, as it does for readers in Java.
pub(crate) fn lossy(text: &[u8]) -> String {
    String::from_utf8_lossy(text).into_owned()
}

/// A field of a message.
pub(crate) struct Entry {
    pub(crate) tag: u32,
    /// What is in it, where that has a length.
    pub(crate) body: Option<Bytes>,
}

/// Takes the next field off `rest`, and the groups before it, which no message has; none where there is no more.
///
/// # Errors
/// `Corrupt` when it is no message.
pub(crate) fn entry(rest: &mut Bytes) -> Result<Option<Entry>> {
    let mut fields = Fields(rest);
    let field = fields.next()?;
    let entry = field.map(|Field { tag, body, is_delimited }| {
        let body = is_delimited.then(|| rest.slice_ref(body));
        Entry { tag, body }
    });
    _ = rest.split_to(rest.len() - fields.0.len());
    Ok(entry)
}

/// What is in field 1 of `message`, if that is there `wanted` times, where decoding all of it takes no more than `most`
/// bytes of memory.
///
/// # Errors
/// `Corrupt` when it is no message, `LimitExceeded` when it takes more.
pub(crate) fn listed(message: Bytes, wanted: usize, shape: &Shape, most: u64) -> Result<Option<Vec<Bytes>>> {
    if count(&message, 1)? != wanted {
        return Ok(None);
    }
    weigh(&message, shape, most)?;
    first_listed(message, wanted).map(Some)
}

/// What is in field 1 of `message`, the first `most` times that it is there.
///
/// # Errors
/// `Corrupt` when it is no message.
pub(crate) fn first_listed(message: Bytes, most: usize) -> Result<Vec<Bytes>> {
    let (mut found, mut rest) = (Vec::new(), message);
    while found.len() < most {
        match entry(&mut rest)? {
            Some(Entry { tag: 1, body: Some(body) }) => found.push(body),
            Some(_) => {}
            None => break,
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_taken_off_one_after_the_other() {
        // A number, a text, a group with a text in it, a fixed number, an empty text, and a group.
        let group = [9 << 3 | 3, 1 << 3 | 2, 1, b'g', 9 << 3 | 4];
        let parts: [&[u8]; 6] =
            [&[6 << 3, 5], &[1 << 3 | 2, 2, b'a', b'b'], &group, &[14 << 3 | 5, 1, 2, 3, 4], &[1 << 3 | 2, 0], &group];
        let message = Bytes::from(parts.concat());
        let (mut rest, mut found) = (message.clone(), Vec::new());
        while let Some(Entry { tag, body }) = entry(&mut rest).unwrap() {
            found.push((tag, body, rest.len()));
        }
        let text = Bytes::from_static;
        assert_eq!(
            found,
            [(6, None, 21), (1, Some(text(b"ab")), 17), (14, None, 7), (1, Some(text(b"")), 5)],
            "those of groups are in no message"
        );
        assert!(rest.is_empty());
        assert_eq!(first_listed(message.clone(), 9).unwrap(), [text(b"ab"), text(b"")]);
        assert_eq!(first_listed(message.clone(), 1).unwrap(), [text(b"ab")]);
        for length in [1, 3, 5, 15] {
            assert!(first_listed(message.slice(..length), 9).is_err(), "{length}");
        }
    }
}
