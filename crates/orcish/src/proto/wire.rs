//! The wire format of protobuf messages: fields, without decoding their content.

use orcish_core::error::{Error, Result};
use prost::DecodeError;

/// A field of a message.
pub(super) struct Field<'a> {
    pub(super) tag: u32,
    /// The wire type: 0 for a varint, 1 for 64 bits, 2 for a delimited field, 5 for 32 bits.
    pub(super) wire_type: u64,
    /// The number of a varint; 0 for other fields.
    pub(super) number: u64,
    /// Content of a length-delimited field; empty for numbers.
    pub(super) body: &'a [u8],
    pub(super) is_delimited: bool,
}

/// Reads the fields of a message from its front.
pub(super) struct FieldReader<'a>(pub(super) &'a [u8]);

impl<'a> FieldReader<'a> {
    fn read_varint(&mut self) -> Result<u64> {
        let undecodable = |error: DecodeError| Error::corrupt("a message cannot be decoded").with_source(error);
        prost::encoding::decode_varint(&mut self.0).map_err(undecodable)
    }

    fn split(&mut self, length: u64) -> Result<&'a [u8]> {
        let length = usize::try_from(length).ok();
        let (body, rest) = length
            .and_then(|length| self.0.split_at_checked(length))
            .ok_or_else(|| Error::corrupt("a message ends within a field"))?;
        self.0 = rest;
        Ok(body)
    }

    /// Reads the next field; `None` at the end of the message. Groups, which no message of ORC has, are skipped.
    ///
    /// # Errors
    /// `Corrupt` where the bytes are not a message.
    pub(super) fn next(&mut self) -> Result<Option<Field<'a>>> {
        let mut groups = 0usize;
        while !self.0.is_empty() {
            let key = self.read_varint()?;
            let (mut body, mut number, mut is_delimited) = (&[][..], 0, false);
            match key & 7 {
                0 => number = self.read_varint()?,
                1 => _ = self.split(8)?,
                2 => {
                    let length = self.read_varint()?;
                    (body, is_delimited) = (self.split(length)?, true);
                }
                3 => groups += 1,
                4 => groups = groups.checked_sub(1).ok_or_else(|| Error::corrupt("a group ends that has not begun"))?,
                5 => _ = self.split(4)?,
                _ => return Err(Error::corrupt("a message has a field of unknown form")),
            }
            if groups == 0 && key & 7 != 4 {
                return Ok(Some(Field {
                    tag: u32::try_from(key >> 3).unwrap_or(0),
                    wire_type: key & 7,
                    number,
                    body,
                    is_delimited,
                }));
            }
        }
        Ok(None)
    }
}

/// Number of length-delimited fields of `message` with a tag.
///
/// # Errors
/// `Corrupt` where the bytes are not a message.
pub(crate) fn count_fields(message: &[u8], tag: u32) -> Result<usize> {
    let mut fields = FieldReader(message);
    let mut count = 0;
    while let Some(field) = fields.next()? {
        count += usize::from(field.tag == tag && field.is_delimited);
    }
    Ok(count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_counted() {
        let message = [[4 << 3 | 2, 0].repeat(7), [3 << 3 | 2, 1, b'a'].repeat(2), vec![6 << 3, 1]].concat();
        assert_eq!([4, 3, 6].map(|tag| count_fields(&message, tag).unwrap()), [7, 2, 0]);
        assert!(count_fields(&message[..message.len() - 1], 4).is_err());
    }
}
