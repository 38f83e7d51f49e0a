//! What decoding a message takes, found out before it is decoded.
//!
//! A field of two bytes may become two hundred in memory, and a compressed section of a few kilobytes hold millions of
//! them. [`weigh`] walks over the bytes of a message without allocating, and adds up what its fields become.

use orcish_core::error::{Error, Result};
use prost::DecodeError;

use crate::proto::{arrow, lazy, orc};

/// A vector that grows is there twice for a moment, once of up to twice the length that is needed.
const GROWTH: u64 = 3;
/// What the allocator takes for a piece of memory, roughly.
const PIECE: u64 = 32;
/// Bytes of memory that a byte of a message becomes at most. What is small enough by that is not walked over.
const MAX_GROWTH: u64 = 512;
/// Deepest nesting of messages; prost takes as many levels.
const MAX_DEPTH: usize = 100;

/// What becomes of a field.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Item {
    /// A message, of so many bytes where it is repeated, with these fields.
    Message(usize, &'static Shape),
    /// Text, which is copied.
    Text(usize),
    /// Bytes that stay a slice of the message, or a message that is decoded later.
    Slice(usize),
    /// Varints that become numbers of so many bytes, packed or one by one.
    Numbers(usize),
    /// Numbers of so many bytes, which they have on the wire too, packed or one by one.
    Fixed(usize),
}

/// The fields of a message that take memory, by their tags: repeated ones, those of changing length, and those that have
/// such. All others are in the message itself, or are passed over by the decoder.
#[derive(Debug)]
pub(crate) struct Shape(&'static [(u32, Item)]);

use Item::{Fixed, Message, Numbers, Slice, Text};

const BYTES: Item = Slice(size_of::<prost::bytes::Bytes>());
/// Text, which is a slice of the message until it is copied.
const TEXT: Item = Text(size_of::<prost::bytes::Bytes>());
/// A text or a message that is there once: its place is in the message that it is of.
const ONE_TEXT: Item = Text(0);

static TYPE: Shape = Shape(&[
    (2, Numbers(size_of::<u32>())),
    (3, TEXT),
    (7, Message(size_of::<orc::StringPair>(), &PAIR)),
    (8, ONE_TEXT),
]);
static PAIR: Shape = Shape(&[(1, ONE_TEXT), (2, ONE_TEXT)]);
static STRIPE: Shape = Shape(&[(7, BYTES)]);
static ITEM: Shape = Shape(&[(1, ONE_TEXT)]);
static NO_FIELDS: Shape = Shape(&[]);
static MASK: Shape = Shape(&[(1, ONE_TEXT), (2, TEXT), (3, Numbers(size_of::<u32>()))]);
static KEY: Shape = Shape(&[(1, ONE_TEXT)]);
static VARIANT: Shape = Shape(&[(4, Message(size_of::<orc::Stream>(), &NO_FIELDS))]);
static ENCRYPTION: Shape = Shape(&[
    (1, Message(size_of::<orc::DataMask>(), &MASK)),
    (2, Message(size_of::<orc::EncryptionKey>(), &KEY)),
    (3, Message(size_of::<orc::EncryptionVariant>(), &VARIANT)),
]);
static BUCKETS: Shape = Shape(&[(1, Numbers(size_of::<u64>()))]);
static GEOSPATIAL: Shape = Shape(&[(2, Numbers(size_of::<i32>()))]);
static STRIPE_VARIANT: Shape = Shape(&[
    (1, Message(size_of::<orc::Stream>(), &NO_FIELDS)),
    (2, Message(size_of::<orc::ColumnEncoding>(), &NO_FIELDS)),
]);
static ROW_INDEX_ENTRY: Shape = Shape(&[(1, Numbers(size_of::<u64>()))]);
static BLOOM_FILTER: Shape = Shape(&[(2, Fixed(size_of::<u64>()))]);
static ARROW_FIELD: Shape = Shape(&[
    (1, ONE_TEXT),
    (2, ONE_TEXT),
    (6, Message(size_of::<arrow::Pair>(), &PAIR)),
    (7, Message(size_of::<arrow::ArrowField>(), &ARROW_FIELD)),
    (8, Message(size_of::<arrow::ArrowField>(), &ARROW_FIELD)),
]);

/// [`lazy::Footer`].
pub(crate) static FOOTER: Shape = Shape(&[
    (3, Message(size_of::<orc::StripeInformation>(), &STRIPE)),
    (4, Message(size_of::<orc::Type>(), &TYPE)),
    (5, Message(size_of::<orc::UserMetadataItem>(), &ITEM)),
    (7, BYTES),
    (10, Message(size_of::<orc::Encryption>(), &ENCRYPTION)),
    (12, ONE_TEXT),
]);
/// [`orc::StripeFooter`].
pub(crate) static STRIPE_FOOTER: Shape = Shape(&[
    (1, Message(size_of::<orc::Stream>(), &NO_FIELDS)),
    (2, Message(size_of::<orc::ColumnEncoding>(), &NO_FIELDS)),
    (3, ONE_TEXT),
    (4, Message(size_of::<orc::StripeEncryptionVariant>(), &STRIPE_VARIANT)),
]);
/// [`orc::ColumnStatistics`].
pub(crate) static STATISTICS: Shape = Shape(&[(5, Message(0, &BUCKETS)), (13, Message(0, &GEOSPATIAL))]);
/// [`orc::RowIndex`] as its entries are kept: slices at first, then [`lazy::RowIndexEntry`].
pub(crate) static ROW_INDEX: Shape =
    Shape(&[(1, Message(size_of::<prost::bytes::Bytes>() + size_of::<lazy::RowIndexEntry>(), &ROW_INDEX_ENTRY))]);
/// [`orc::BloomFilterIndex`] as its filters are kept: slices at first, then [`orc::BloomFilter`].
pub(crate) static BLOOM_FILTERS: Shape =
    Shape(&[(1, Message(size_of::<prost::bytes::Bytes>() + size_of::<orc::BloomFilter>(), &BLOOM_FILTER))]);
/// [`arrow::ArrowSchema`].
pub(crate) static ARROW_SCHEMA: Shape =
    Shape(&[(1, Message(size_of::<arrow::ArrowField>(), &ARROW_FIELD)), (2, Message(size_of::<arrow::Pair>(), &PAIR))]);

/// Checks that decoding a `message` of this `shape` takes no more than `most` bytes of memory.
///
/// # Errors
/// `LimitExceeded` when it takes more, `Corrupt` when it is no message.
pub(crate) fn weigh(message: &[u8], shape: &Shape, most: u64) -> Result<()> {
    if (message.len() as u64).saturating_mul(MAX_GROWTH) <= most {
        return Ok(());
    }
    weighed(message, shape, most).map(|_| ())
}

/// Bytes of memory that decoding a `message` of this `shape` takes beside the message and its struct.
///
/// # Errors
/// `LimitExceeded` when it takes more than `most`, `Corrupt` when it is no message.
pub(crate) fn weighed(message: &[u8], shape: &Shape, most: u64) -> Result<u64> {
    let mut left = most;
    if take(message, shape, &mut left, 0)? {
        return Ok(most - left);
    }
    let length = message.len();
    Err(Error::limit(format!("its {length} bytes take more than the {most} bytes allowed once they are decoded")))
}

/// How often a field of this tag that has a length is in a message itself.
///
/// # Errors
/// `Corrupt` when it is no message.
pub(crate) fn count(message: &[u8], tag: u32) -> Result<usize> {
    let mut fields = Fields(message);
    let mut found = 0;
    while let Some(field) = fields.next()? {
        found += usize::from(field.tag == tag && field.is_delimited);
    }
    Ok(found)
}

/// Takes what a message becomes off what is `left`; false where that is too little.
fn take(message: &[u8], shape: &Shape, left: &mut u64, depth: usize) -> Result<bool> {
    if depth > MAX_DEPTH {
        return Err(Error::corrupt("messages are nested too deeply"));
    }
    let mut fields = Fields(message);
    while let Some(Field { tag, body, is_delimited }) = fields.next()? {
        let Some((_, item)) = shape.0.iter().find(|(of, _)| *of == tag) else { continue };
        let length = body.len() as u64;
        let entry = |size: usize| (size as u64) * GROWTH;
        let bytes = match *item {
            Message(size, _) => entry(size),
            Text(size) if length > 0 => entry(size) + length.max(PIECE),
            Text(size) | Slice(size) => entry(size),
            Numbers(size) if is_delimited => entry(size).saturating_mul(varints(body)),
            Fixed(size) if is_delimited => entry(size).saturating_mul(length.div_ceil(size.max(1) as u64)),
            Numbers(size) | Fixed(size) => entry(size),
        };
        let Some(rest) = left.checked_sub(bytes) else { return Ok(false) };
        *left = rest;
        if let Message(_, shape) = item
            && is_delimited
            && !shape.0.is_empty()
            && !take(body, shape, left, depth + 1)?
        {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Varints in a packed field: each has one byte that none follows.
fn varints(packed: &[u8]) -> u64 {
    packed.iter().filter(|&&byte| byte < 0x80).count() as u64
}

/// A field as it is on the wire.
pub(super) struct Field<'a> {
    pub(super) tag: u32,
    /// What has a length; empty for numbers.
    pub(super) body: &'a [u8],
    pub(super) is_delimited: bool,
}

/// The fields of a message, one after the other.
pub(super) struct Fields<'a>(pub(super) &'a [u8]);

impl<'a> Fields<'a> {
    fn number(&mut self) -> Result<u64> {
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

    /// The next field. Groups, which no message has, are left out.
    pub(super) fn next(&mut self) -> Result<Option<Field<'a>>> {
        let mut groups = 0usize;
        while !self.0.is_empty() {
            let key = self.number()?;
            let (mut body, mut is_delimited) = (&[][..], false);
            match key & 7 {
                0 => _ = self.number()?,
                1 => _ = self.split(8)?,
                2 => {
                    let length = self.number()?;
                    (body, is_delimited) = (self.split(length)?, true);
                }
                3 => groups += 1,
                4 => groups = groups.checked_sub(1).ok_or_else(|| Error::corrupt("a group ends that has not begun"))?,
                5 => _ = self.split(4)?,
                _ => return Err(Error::corrupt("a message has a field of unknown form")),
            }
            if groups == 0 && key & 7 != 4 {
                return Ok(Some(Field { tag: u32::try_from(key >> 3).unwrap_or(0), body, is_delimited }));
            }
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use prost::Message as _;

    use super::*;

    /// What weighing says that decoding takes.
    fn weight(message: &[u8], shape: &Shape) -> u64 {
        let mut left = u64::MAX;
        assert!(take(message, shape, &mut left, 0).unwrap());
        u64::MAX - left
    }

    fn repeated(tag: u8, body: &[u8], count: usize) -> Vec<u8> {
        let mut field = vec![tag << 3 | 2, u8::try_from(body.len()).unwrap()];
        field.extend_from_slice(body);
        field.repeat(count)
    }

    #[test]
    fn empty_fields_weigh_what_they_become() {
        let of_types = weight(&repeated(4, &[], 1000), &FOOTER);
        assert_eq!(of_types, 3000 * size_of::<orc::Type>() as u64);
        assert_eq!(weight(&repeated(7, &[], 1000), &FOOTER), 3000 * size_of::<prost::bytes::Bytes>() as u64);
        // Two names, one of them empty, and three packed children within a type.
        let fields = [repeated(3, b"a", 1), repeated(3, b"", 1), repeated(2, &[1, 2, 0x80, 1], 1)].concat();
        let of_fields = 6 * size_of::<prost::bytes::Bytes>() as u64 + PIECE + 9 * size_of::<u32>() as u64;
        assert_eq!(weight(&repeated(4, &fields, 1), &FOOTER), 3 * size_of::<orc::Type>() as u64 + of_fields);
        // Numbers one by one.
        assert_eq!(weight(&[1 << 3, 5, 1 << 3, 6], &ROW_INDEX_ENTRY), 48);
        assert_eq!(weight(&[2 << 3 | 1, 0, 1, 2, 3, 4, 5, 6, 7], &BLOOM_FILTER), 24);
        // Unknown fields, of any form, are passed over.
        let unknown = [99 << 3 & 0x7f | 0x80, 6, 5, 13 << 3 | 1, 1, 2, 3, 4, 5, 6, 7, 8, 14 << 3 | 5, 1, 2, 3, 4];
        assert_eq!(weight(&unknown, &FOOTER), 0);
        assert_eq!(weight(&[15 << 3 | 3, 4 << 3 | 2, 0, 15 << 3 | 4, 4 << 3 | 2, 0], &FOOTER), of_types / 1000);
    }

    /// The weight of numbers of fixed length is that of their count, whatever their bytes are.
    #[test]
    fn numbers_of_fixed_length_weigh_what_they_become() {
        for byte in [0, 0x7f, 0x80, 0xff] {
            let filter = repeated(2, &[byte; 80], 3);
            assert_eq!(weight(&filter, &BLOOM_FILTER), 30 * GROWTH * size_of::<u64>() as u64, "{byte}");
            let filter = orc::BloomFilter::decode(&*filter).unwrap();
            assert_eq!(filter.bitset, [u64::from_le_bytes([byte; 8]); 30]);
        }
        // The decoder refuses a number that is not whole; it is counted as one.
        assert_eq!(weight(&repeated(2, &[0xff; 9], 1), &BLOOM_FILTER), 48);
        let filters = repeated(1, &repeated(2, &[0xff; 80], 1), 2);
        let own = 2 * (size_of::<prost::bytes::Bytes>() + size_of::<orc::BloomFilter>()) as u64;
        assert_eq!(weight(&filters, &BLOOM_FILTERS), GROWTH * (own + 20 * size_of::<u64>() as u64));
    }

    #[test]
    fn fields_are_counted() {
        let message = [repeated(4, &[], 7), repeated(3, b"abc", 2), vec![6 << 3, 1]].concat();
        assert_eq!((count(&message, 4).unwrap(), count(&message, 3).unwrap(), count(&message, 6).unwrap()), (7, 2, 0));
        assert!(count(&message[..message.len() - 1], 4).is_err());
    }

    #[test]
    fn what_is_no_message_is_an_error() {
        for bytes in [&[0x22, 5, 1][..], &[0x80], &[7], &[1, 2], &[5, 1], &[4]] {
            assert!(take(bytes, &FOOTER, &mut 100, 0).is_err(), "{bytes:?}");
        }
        // Fields within fields of a schema.
        let nested = |depth: usize| {
            let field = |field, _| {
                let mut outer = Vec::new();
                prost::encoding::bytes::encode(7, &prost::bytes::Bytes::from(field), &mut outer);
                outer
            };
            let mut schema = Vec::new();
            let fields = (0..depth).fold(Vec::new(), field);
            prost::encoding::bytes::encode(1, &prost::bytes::Bytes::from(fields), &mut schema);
            schema
        };
        assert!(take(&nested(MAX_DEPTH - 1), &ARROW_SCHEMA, &mut u64::MAX.clone(), 0).unwrap());
        assert!(take(&nested(MAX_DEPTH), &ARROW_SCHEMA, &mut u64::MAX.clone(), 0).is_err());
    }

    #[test]
    fn too_much_is_refused_before_it_is_decoded() {
        let message = repeated(4, &[], 100_000);
        let error = weigh(&message, &FOOTER, 1 << 20).unwrap_err();
        assert_eq!(error.kind(), orcish_core::ErrorKind::LimitExceeded);
        assert_eq!(error.message(), "its 200000 bytes take more than the 1048576 bytes allowed once they are decoded");
        weigh(&message, &FOOTER, 1 << 30).unwrap();
    }

    /// Fields of the shortest form become no more than the growth that small messages are passed for.
    #[test]
    fn nothing_grows_more_than_is_known() {
        fn look(shape: &'static Shape, seen: &mut Vec<&'static Shape>) {
            if seen.iter().any(|found| std::ptr::eq(*found, shape)) {
                return;
            }
            seen.push(shape);
            for (_, item) in shape.0 {
                let (size, shortest) = match *item {
                    Message(size, inner) => {
                        look(inner, seen);
                        (size, 2)
                    }
                    Text(size) => (size, 2),
                    Slice(size) => (size, 2),
                    // A packed varint is a byte.
                    Numbers(size) => (size, 1),
                    Fixed(size) => (size, size as u64),
                };
                assert!(size as u64 * GROWTH / shortest <= MAX_GROWTH / 2, "{item:?}");
            }
        }
        let mut seen = Vec::new();
        let all = [&FOOTER, &STRIPE_FOOTER, &STATISTICS, &ROW_INDEX, &BLOOM_FILTERS, &ARROW_SCHEMA];
        all.into_iter().for_each(|shape| look(shape, &mut seen));
        assert!(seen.len() > 15);
    }

    /// What has repeated or long fields in the messages that are decoded is in the shapes.
    #[test]
    fn a_footer_weighs_more_than_it_takes() {
        let pair = orc::StringPair { key: Some("k".repeat(50).into()), value: Some("v".repeat(60).into()) };
        let kind = orc::Type { field_names: vec!["n".repeat(70).into()], attributes: vec![pair], ..Default::default() };
        let item = orc::UserMetadataItem { name: Some("u".repeat(80).into()), value: Some(vec![1; 90].into()) };
        let mask = orc::DataMask { mask_parameters: vec!["m".repeat(40).into()], ..Default::default() };
        let key = orc::EncryptionKey { key_name: Some("e".repeat(30).into()), ..Default::default() };
        let encryption = orc::Encryption { mask: vec![mask], key: vec![key], ..Default::default() };
        let footer = orc::Footer {
            types: vec![kind; 10],
            metadata: vec![item; 10],
            encryption: Some(encryption),
            software_version: Some("s".repeat(100).into()),
            ..Default::default()
        };
        let texts = 10 * (50 + 60 + 70 + 80) + 40 + 30 + 100;
        let structs = 10 * (size_of::<orc::Type>() + size_of::<orc::StringPair>() + size_of::<orc::UserMetadataItem>());
        assert!(weight(&footer.encode_to_vec(), &FOOTER) >= (texts + structs) as u64);
    }
}
