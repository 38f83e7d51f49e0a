//! The size in memory of a message, computed before the message is decoded.
//!
//! A field of two bytes can become two hundred bytes in memory, and a compressed section of a few kilobytes can have millions
//! of fields. [`check_decoded_size`] reads the fields of a message without allocating, and adds up their decoded sizes.

use orcish_core::error::{Error, Result};

use super::wire::{Field, FieldReader};
use crate::proto::{arrow, lazy, orc};

/// Factor for the growth of a vector: the old and the new buffer exist at the same time, and the new one has up to twice the
/// needed capacity.
const VECTOR_GROWTH: u64 = 3;
/// Minimum size of an allocation, approximately.
const MIN_ALLOCATION: u64 = 32;
/// Upper bound of the decoded size of a byte of a message. Messages that are small by this bound are not read.
const MAX_EXPANSION: u64 = 512;
/// Maximum nesting of messages, which is also the maximum of prost.
pub(super) const MAX_DEPTH: usize = 100;

/// The decoded type of a field.
#[derive(Debug, Clone, Copy)]
pub(crate) enum FieldType {
    /// A message with these fields. The number is the size of its struct, or 0 if the field is not repeated.
    Message(usize, &'static MessageType),
    /// Text, which is copied.
    Text(usize),
    /// A slice of the message: bytes, or a message that is decoded later.
    Slice(usize),
    /// Varints, packed or not, that become integers of this size.
    Varints(usize),
    /// Integers of this size, packed or not, which have the same size in the message.
    Fixed(usize),
}

/// The fields of a message that take memory outside of its struct, by their tags: repeated fields, fields of variable length,
/// and messages with such fields. Other fields are in the struct, or are skipped by the decoder.
#[derive(Debug)]
pub(crate) struct MessageType(&'static [(u32, FieldType)]);

use FieldType::{Fixed, Message, Slice, Text, Varints};

const BYTES: FieldType = Slice(size_of::<prost::bytes::Bytes>());
/// A repeated text, which is a slice of the message until it is copied.
const TEXT: FieldType = Text(size_of::<prost::bytes::Bytes>());
/// A text or message that is not repeated: its struct is part of the struct of the message.
const ONE_TEXT: FieldType = Text(0);

static TYPE: MessageType = MessageType(&[
    (2, Varints(size_of::<u32>())),
    (3, TEXT),
    (7, Message(size_of::<orc::StringPair>(), &PAIR)),
    (8, ONE_TEXT),
]);
static PAIR: MessageType = MessageType(&[(1, ONE_TEXT), (2, ONE_TEXT)]);
static STRIPE: MessageType = MessageType(&[(7, BYTES)]);
static ITEM: MessageType = MessageType(&[(1, ONE_TEXT)]);
static NO_FIELDS: MessageType = MessageType(&[]);
static MASK: MessageType = MessageType(&[(1, ONE_TEXT), (2, TEXT), (3, Varints(size_of::<u32>()))]);
static KEY: MessageType = MessageType(&[(1, ONE_TEXT)]);
static VARIANT: MessageType = MessageType(&[(4, Message(size_of::<orc::Stream>(), &NO_FIELDS))]);
static ENCRYPTION: MessageType = MessageType(&[
    (1, Message(size_of::<orc::DataMask>(), &MASK)),
    (2, Message(size_of::<orc::EncryptionKey>(), &KEY)),
    (3, Message(size_of::<orc::EncryptionVariant>(), &VARIANT)),
]);
static BUCKETS: MessageType = MessageType(&[(1, Varints(size_of::<u64>()))]);
static GEOSPATIAL: MessageType = MessageType(&[(2, Varints(size_of::<i32>()))]);
static STRIPE_VARIANT: MessageType = MessageType(&[
    (1, Message(size_of::<orc::Stream>(), &NO_FIELDS)),
    (2, Message(size_of::<orc::ColumnEncoding>(), &NO_FIELDS)),
]);
static ROW_INDEX_ENTRY: MessageType = MessageType(&[(1, Varints(size_of::<u64>()))]);
static BLOOM_FILTER: MessageType = MessageType(&[(2, Fixed(size_of::<u64>()))]);
static ARROW_FIELD: MessageType = MessageType(&[
    (1, ONE_TEXT),
    (2, ONE_TEXT),
    (6, Message(size_of::<arrow::Pair>(), &PAIR)),
    (7, Message(size_of::<arrow::ArrowField>(), &ARROW_FIELD)),
    (8, Message(size_of::<arrow::ArrowField>(), &ARROW_FIELD)),
]);

/// [`lazy::Footer`].
pub(crate) static FOOTER: MessageType = MessageType(&[
    (3, Message(size_of::<orc::StripeInformation>(), &STRIPE)),
    (4, Message(size_of::<orc::Type>(), &TYPE)),
    (5, Message(size_of::<orc::UserMetadataItem>(), &ITEM)),
    (7, BYTES),
    (10, Message(size_of::<orc::Encryption>(), &ENCRYPTION)),
    (12, ONE_TEXT),
]);
/// [`orc::StripeFooter`].
pub(crate) static STRIPE_FOOTER: MessageType = MessageType(&[
    (1, Message(size_of::<orc::Stream>(), &NO_FIELDS)),
    (2, Message(size_of::<orc::ColumnEncoding>(), &NO_FIELDS)),
    (3, ONE_TEXT),
    (4, Message(size_of::<orc::StripeEncryptionVariant>(), &STRIPE_VARIANT)),
]);
/// [`orc::ColumnStatistics`].
pub(crate) static STATISTICS: MessageType = MessageType(&[(5, Message(0, &BUCKETS)), (13, Message(0, &GEOSPATIAL))]);
/// [`orc::RowIndex`], of which each entry is a slice first, and then a [`lazy::RowIndexEntry`].
pub(crate) static ROW_INDEX: MessageType =
    MessageType(&[(1, Message(size_of::<prost::bytes::Bytes>() + size_of::<lazy::RowIndexEntry>(), &ROW_INDEX_ENTRY))]);
/// [`orc::BloomFilterIndex`], of which each filter is a slice first, and then an [`orc::BloomFilter`].
pub(crate) static BLOOM_FILTERS: MessageType =
    MessageType(&[(1, Message(size_of::<prost::bytes::Bytes>() + size_of::<orc::BloomFilter>(), &BLOOM_FILTER))]);
/// [`arrow::ArrowSchema`].
pub(crate) static ARROW_SCHEMA: MessageType = MessageType(&[
    (1, Message(size_of::<arrow::ArrowField>(), &ARROW_FIELD)),
    (2, Message(size_of::<arrow::Pair>(), &PAIR)),
]);

/// Checks that the decoded size of a message is at most `max` bytes.
///
/// # Errors
/// `LimitExceeded` where it is larger, `Corrupt` where the bytes are not a message.
pub(crate) fn check_decoded_size(message: &[u8], message_type: &MessageType, max: u64) -> Result<()> {
    if (message.len() as u64).saturating_mul(MAX_EXPANSION) <= max {
        return Ok(());
    }
    decoded_size(message, message_type, max).map(|_| ())
}

/// The decoded size of a message in bytes, without its struct.
///
/// # Errors
/// `LimitExceeded` where it is larger than `max`, `Corrupt` where the bytes are not a message.
pub(crate) fn decoded_size(message: &[u8], message_type: &MessageType, max: u64) -> Result<u64> {
    let mut remaining = max;
    if subtract_decoded_size(message, message_type, &mut remaining, 0)? {
        return Ok(max - remaining);
    }
    let length = message.len();
    Err(Error::limit(format!("its {length} bytes take more than the {max} bytes allowed once they are decoded")))
}

/// Subtracts the decoded size of a message from `remaining`; returns `false` where it is larger.
fn subtract_decoded_size(
    message: &[u8],
    message_type: &MessageType,
    remaining: &mut u64,
    depth: usize,
) -> Result<bool> {
    if depth > MAX_DEPTH {
        return Err(Error::corrupt("messages are nested too deeply"));
    }
    let mut fields = FieldReader(message);
    while let Some(Field { tag, body, is_delimited, .. }) = fields.next()? {
        let Some((_, field_type)) = message_type.0.iter().find(|(field_tag, _)| *field_tag == tag) else { continue };
        let length = body.len() as u64;
        let element = |size: usize| (size as u64) * VECTOR_GROWTH;
        let bytes = match *field_type {
            Message(size, _) => element(size),
            Text(size) if length > 0 => element(size) + length.max(MIN_ALLOCATION),
            Text(size) | Slice(size) => element(size),
            Varints(size) if is_delimited => element(size).saturating_mul(count_varints(body)),
            Fixed(size) if is_delimited => element(size).saturating_mul(length.div_ceil(size.max(1) as u64)),
            Varints(size) | Fixed(size) => element(size),
        };
        let Some(rest) = remaining.checked_sub(bytes) else { return Ok(false) };
        *remaining = rest;
        if let Message(_, message_type) = field_type
            && is_delimited
            && !message_type.0.is_empty()
            && !subtract_decoded_size(body, message_type, remaining, depth + 1)?
        {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Number of varints of a packed field: the last byte of a varint is below 0x80.
fn count_varints(packed: &[u8]) -> u64 {
    packed.iter().filter(|&&byte| byte < 0x80).count() as u64
}

#[cfg(test)]
mod tests {
    use prost::Message as _;

    use super::*;

    fn size_of_message(message: &[u8], message_type: &MessageType) -> u64 {
        decoded_size(message, message_type, u64::MAX).unwrap()
    }

    fn repeated(tag: u8, body: &[u8], count: usize) -> Vec<u8> {
        let mut field = vec![tag << 3 | 2, u8::try_from(body.len()).unwrap()];
        field.extend_from_slice(body);
        field.repeat(count)
    }

    #[test]
    fn sizes_of_fields() {
        let of_types = size_of_message(&repeated(4, &[], 1000), &FOOTER);
        assert_eq!(of_types, 3000 * size_of::<orc::Type>() as u64);
        assert_eq!(size_of_message(&repeated(7, &[], 1000), &FOOTER), 3000 * size_of::<prost::bytes::Bytes>() as u64);
        // Two names, one of them empty, and three packed children within a type.
        let fields = [repeated(3, b"a", 1), repeated(3, b"", 1), repeated(2, &[1, 2, 0x80, 1], 1)].concat();
        let of_fields = 6 * size_of::<prost::bytes::Bytes>() as u64 + MIN_ALLOCATION + 9 * size_of::<u32>() as u64;
        assert_eq!(size_of_message(&repeated(4, &fields, 1), &FOOTER), 3 * size_of::<orc::Type>() as u64 + of_fields);
        // Numbers that are not packed.
        assert_eq!(size_of_message(&[1 << 3, 5, 1 << 3, 6], &ROW_INDEX_ENTRY), 48);
        assert_eq!(size_of_message(&[2 << 3 | 1, 0, 1, 2, 3, 4, 5, 6, 7], &BLOOM_FILTER), 24);
        // Unknown fields of any wire type are skipped.
        let unknown = [99 << 3 & 0x7f | 0x80, 6, 5, 13 << 3 | 1, 1, 2, 3, 4, 5, 6, 7, 8, 14 << 3 | 5, 1, 2, 3, 4];
        assert_eq!(size_of_message(&unknown, &FOOTER), 0);
        assert_eq!(
            size_of_message(&[15 << 3 | 3, 4 << 3 | 2, 0, 15 << 3 | 4, 4 << 3 | 2, 0], &FOOTER),
            of_types / 1000
        );
    }

    #[test]
    fn sizes_of_fixed_numbers() {
        for byte in [0, 0x7f, 0x80, 0xff] {
            let filter = repeated(2, &[byte; 80], 3);
            assert_eq!(size_of_message(&filter, &BLOOM_FILTER), 30 * VECTOR_GROWTH * size_of::<u64>() as u64, "{byte}");
            let filter = orc::BloomFilter::decode(&*filter).unwrap();
            assert_eq!(filter.bitset, [u64::from_le_bytes([byte; 8]); 30]);
        }
        // The decoder rejects an incomplete number, which is counted as one number.
        assert_eq!(size_of_message(&repeated(2, &[0xff; 9], 1), &BLOOM_FILTER), 48);
        let filters = repeated(1, &repeated(2, &[0xff; 80], 1), 2);
        let size_of_filters = 2 * (size_of::<prost::bytes::Bytes>() + size_of::<orc::BloomFilter>()) as u64;
        assert_eq!(
            size_of_message(&filters, &BLOOM_FILTERS),
            VECTOR_GROWTH * (size_of_filters + 20 * size_of::<u64>() as u64)
        );
    }

    #[test]
    fn malformed_messages_are_errors() {
        for bytes in [&[0x22, 5, 1][..], &[0x80], &[7], &[1, 2], &[5, 1], &[4]] {
            assert!(subtract_decoded_size(bytes, &FOOTER, &mut 100, 0).is_err(), "{bytes:?}");
        }
        // Nested fields of an Arrow schema.
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
        assert!(subtract_decoded_size(&nested(MAX_DEPTH - 1), &ARROW_SCHEMA, &mut u64::MAX.clone(), 0).unwrap());
        assert!(subtract_decoded_size(&nested(MAX_DEPTH), &ARROW_SCHEMA, &mut u64::MAX.clone(), 0).is_err());
    }

    #[test]
    fn large_messages_are_rejected_before_they_are_decoded() {
        let message = repeated(4, &[], 100_000);
        let error = check_decoded_size(&message, &FOOTER, 1 << 20).unwrap_err();
        assert_eq!(error.kind(), orcish_core::ErrorKind::LimitExceeded);
        assert_eq!(error.message(), "its 200000 bytes take more than the 1048576 bytes allowed once they are decoded");
        check_decoded_size(&message, &FOOTER, 1 << 30).unwrap();
    }

    /// Small messages are not read, by the maximum expansion.
    #[test]
    fn no_field_exceeds_the_maximum_expansion() {
        fn visit(message_type: &'static MessageType, visited: &mut Vec<&'static MessageType>) {
            if visited.iter().any(|other| std::ptr::eq(*other, message_type)) {
                return;
            }
            visited.push(message_type);
            for (_, field_type) in message_type.0 {
                let (size, min_len) = match *field_type {
                    Message(size, inner) => {
                        visit(inner, visited);
                        (size, 2)
                    }
                    Text(size) => (size, 2),
                    Slice(size) => (size, 2),
                    // The least length of a packed varint is a byte.
                    Varints(size) => (size, 1),
                    Fixed(size) => (size, size as u64),
                };
                assert!(size as u64 * VECTOR_GROWTH / min_len <= MAX_EXPANSION / 2, "{field_type:?}");
            }
        }
        let mut visited = Vec::new();
        let all = [&FOOTER, &STRIPE_FOOTER, &STATISTICS, &ROW_INDEX, &BLOOM_FILTERS, &ARROW_SCHEMA];
        all.into_iter().for_each(|message_type| visit(message_type, &mut visited));
        assert!(visited.len() > 15);
    }

    #[test]
    fn the_size_of_a_footer_includes_its_texts_and_structs() {
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
        assert!(size_of_message(&footer.encode_to_vec(), &FOOTER) >= (texts + structs) as u64);
    }
}
