//! Decoding of messages as the libraries of protobuf do it in Java and C++: fields of another form than the message declares are
//! unknown fields, and of several values of an enumeration the last known one counts. prost refuses the first, and takes the
//! last of the second.

use bytes::Bytes;
use prost::encoding::{WireType, encode_key, encode_varint};
use prost::{DecodeError, Message, Name};

use super::decoded_size::MAX_DEPTH;
use super::messages::{lazy, orc};
use super::wire::{Field, FieldReader};
use crate::warnings::warn;

/// The warning of a message with fields of another form.
pub(crate) const ODD_FIELDS: &str = "fields of a message have another form than the format says, or are there twice";

/// The form of a field.
#[derive(Debug, Clone, Copy)]
pub(super) enum Form {
    /// A varint.
    Varint,
    /// A fixed number of 64 bits.
    Fixed64,
    /// Varints, packed or not.
    Varints,
    /// Fixed numbers of 64 bits, packed or not.
    Fixed64s,
    /// Text or bytes.
    Bytes,
    /// A message of this name.
    Message(&'static str),
    /// An enumeration with these numbers.
    Enumeration(&'static [i32]),
}

impl Form {
    fn has(self, wire_type: u64) -> bool {
        match self {
            Form::Varint | Form::Enumeration(_) => wire_type == 0,
            Form::Fixed64 => wire_type == 1,
            Form::Varints => matches!(wire_type, 0 | 2),
            Form::Fixed64s => matches!(wire_type, 1 | 2),
            Form::Bytes | Form::Message(_) => wire_type == 2,
        }
    }
}

/// The table of the fields of messages, which is generated.
#[rustfmt::skip]
mod fields {
    use super::Form::{self, Bytes, Enumeration, Fixed64, Fixed64s, Message, Varint, Varints};

    include!("generated/fields.rs");
}

/// A message that is decoded as by the libraries of protobuf in Java and C++.
pub(crate) trait Decoded: Message + Name + Default {
    /// Whether an enumeration has an unknown number.
    fn has_unknown(&self) -> bool {
        false
    }
}

impl Decoded for orc::ColumnStatistics {}
impl Decoded for orc::UserMetadataItem {}
impl Decoded for lazy::RowIndexEntry {}

impl Decoded for orc::PostScript {
    fn has_unknown(&self) -> bool {
        is_unknown::<orc::CompressionKind>(self.compression)
    }
}

impl Decoded for lazy::Footer {
    fn has_unknown(&self) -> bool {
        is_unknown::<orc::CalendarKind>(self.calendar) || has_unknown_type(&self.types)
    }
}

impl Decoded for orc::Footer {
    fn has_unknown(&self) -> bool {
        is_unknown::<orc::CalendarKind>(self.calendar) || has_unknown_type(&self.types)
    }
}

impl Decoded for orc::StripeFooter {
    fn has_unknown(&self) -> bool {
        self.streams.iter().any(|stream| is_unknown::<orc::stream::Kind>(stream.kind))
            || self.columns.iter().any(|column| is_unknown::<orc::column_encoding::Kind>(column.kind))
    }
}

fn is_unknown<E: TryFrom<i32>>(number: Option<i32>) -> bool {
    number.is_some_and(|number| E::try_from(number).is_err())
}

fn has_unknown_type(types: &[orc::Type]) -> bool {
    types.iter().any(|each| is_unknown::<orc::r#type::Kind>(each.kind))
}

/// Decodes a message.
///
/// # Errors
/// The bytes are not a message.
pub(crate) fn decode_message<M: Decoded>(message: Bytes) -> Result<M, DecodeError> {
    match M::decode(message.clone()) {
        Ok(decoded) if !decoded.has_unknown() => Ok(decoded),
        decoded => match without_odd_fields::<M>(&message) {
            Some(kept) => {
                warn(ODD_FIELDS);
                M::decode(Bytes::from(kept))
            }
            None => decoded,
        },
    }
}

/// The message without the fields that have another form than the message declares, and without values of enumerations that
/// do not count. `None` where there are none, or the bytes are not a message.
pub(crate) fn without_odd_fields<M: Name>(message: &[u8]) -> Option<Vec<u8>> {
    kept(message, &M::full_name(), 0)
}

/// The fields of a message, by its name.
fn fields_of(name: &str) -> Option<&'static [(u32, Form)]> {
    fields::MESSAGES.iter().find(|(of, _)| *of == name).map(|(_, fields)| *fields)
}

fn form_of(fields: &[(u32, Form)], tag: u32) -> Option<Form> {
    fields.iter().find(|(of, _)| *of == tag).map(|(_, form)| *form)
}

/// Whether a message has fields of another form, or enumerations of several values. `None` where it is not a message.
fn is_odd(message: &[u8], name: &str, depth: usize) -> Option<bool> {
    let fields = fields_of(name).filter(|_| depth <= MAX_DEPTH)?;
    let mut seen: Vec<u32> = Vec::new();
    let (mut reader, mut is_any_odd) = (FieldReader(message), false);
    while let Some(Field { tag, wire_type, body, .. }) = reader.next().ok()? {
        is_any_odd |= match form_of(fields, tag) {
            Some(form) if !form.has(wire_type) => true,
            Some(Form::Message(inner)) => is_odd(body, inner, depth + 1)?,
            Some(Form::Enumeration(_)) => {
                let is_seen = seen.contains(&tag);
                seen.extend((!is_seen).then_some(tag));
                is_seen
            }
            _ => false,
        };
    }
    Some(is_any_odd)
}

fn kept(message: &[u8], name: &str, depth: usize) -> Option<Vec<u8>> {
    // Most messages are not copied.
    if !is_odd(message, name, depth)? {
        return None;
    }
    let fields = fields_of(name)?;
    let mut out = Vec::with_capacity(message.len());
    // The value of each enumeration that counts, and whether its number is known.
    let mut enumerations: Vec<(u32, &[u8], bool)> = Vec::new();
    let mut reader = FieldReader(message);
    loop {
        let before = reader.0;
        let Some(Field { tag, wire_type, body, number, .. }) = reader.next().ok()? else { break };
        let field_bytes = before.get(..before.len() - reader.0.len())?;
        match form_of(fields, tag) {
            Some(form) if !form.has(wire_type) => {}
            Some(Form::Message(inner)) => match kept(body, inner, depth + 1) {
                Some(body) => {
                    encode_key(tag, WireType::LengthDelimited, &mut out);
                    encode_varint(body.len() as u64, &mut out);
                    out.extend(body);
                }
                None => out.extend_from_slice(field_bytes),
            },
            Some(Form::Enumeration(numbers)) => {
                // Enumerations have 32 bits.
                let is_known = numbers.iter().any(|known| u64::from(known.cast_unsigned()) == number & 0xffff_ffff);
                match enumerations.iter_mut().find(|(of, _, _)| *of == tag) {
                    None => enumerations.push((tag, field_bytes, is_known)),
                    Some((_, last, last_is_known)) if is_known || !*last_is_known => {
                        (*last, *last_is_known) = (field_bytes, is_known);
                    }
                    Some(_) => {}
                }
            }
            _ => out.extend_from_slice(field_bytes),
        }
    }
    enumerations.iter().for_each(|(_, field_bytes, _)| out.extend_from_slice(field_bytes));
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A field of a form.
    fn field(tag: u32, wire_type: u8) -> Vec<u8> {
        let mut stored = Vec::new();
        encode_varint(u64::from(tag) << 3 | u64::from(wire_type), &mut stored);
        let body: &[u8] = match wire_type {
            0 => &[3],
            1 => &[1, 2, 3, 4, 5, 6, 7, 8],
            2 => &[2, 0x7d, 0],
            _ => &[1, 2, 3, 4],
        };
        stored.extend_from_slice(body);
        stored
    }

    fn check_odd_fields<M: Decoded + PartialEq + std::fmt::Debug>() {
        let (_, fields) = fields::MESSAGES.iter().find(|(name, _)| *name == M::full_name()).unwrap();
        for &(tag, form) in *fields {
            for wire_type in [0, 1, 2, 5].into_iter().filter(|&each| !form.has(u64::from(each))) {
                let odd = field(tag, wire_type);
                assert!(M::decode(&*odd).is_err(), "prost refuses field {tag} of wire type {wire_type}");
                assert_eq!(decode_message::<M>(odd.clone().into()), Ok(M::default()), "{tag} {wire_type}");
                // So are other fields kept, on both sides.
                let unknown = field(999, 0);
                let message = [unknown.clone(), odd, unknown.clone()].concat();
                assert_eq!(without_odd_fields::<M>(&message), Some(unknown.repeat(2)));
            }
        }
    }

    #[test]
    fn fields_of_another_form_are_unknown_fields() {
        check_odd_fields::<orc::PostScript>();
        check_odd_fields::<orc::Footer>();
        check_odd_fields::<lazy::Footer>();
        check_odd_fields::<orc::StripeFooter>();
        check_odd_fields::<orc::ColumnStatistics>();
        check_odd_fields::<orc::UserMetadataItem>();
        check_odd_fields::<lazy::RowIndexEntry>();
    }

    #[test]
    fn messages_in_messages_are_decoded_alike() {
        let stripe = orc::StripeInformation { offset: Some(3), number_of_rows: Some(5), ..Default::default() };
        let footer =
            orc::Footer { stripes: vec![stripe.clone(), stripe], number_of_rows: Some(10), ..Default::default() };
        let mut message = footer.encode_to_vec();
        assert_eq!(without_odd_fields::<orc::Footer>(&message), None);
        // A second stripe whose length of data is text.
        let odd = [field(1, 0), field(3, 2), field(5, 0)].concat();
        encode_key(3, WireType::LengthDelimited, &mut message);
        encode_varint(odd.len() as u64, &mut message);
        message.extend(odd);
        assert!(orc::Footer::decode(&*message).is_err());
        let decoded = decode_message::<orc::Footer>(message.into()).unwrap();
        let third = orc::StripeInformation { offset: Some(3), number_of_rows: Some(3), ..Default::default() };
        assert_eq!(decoded.stripes[..2], footer.stripes);
        assert_eq!(decoded.stripes[2], third);
    }

    #[test]
    fn the_last_known_value_of_an_enumeration_counts() {
        let kind_of = |kinds: &[u8]| {
            let this: Vec<u8> = kinds.iter().flat_map(|&kind| [1 << 3, kind]).collect();
            let message = [vec![4 << 3 | 2, u8::try_from(this.len()).unwrap()], this].concat();
            decode_message::<lazy::Footer>(message.into()).unwrap().types[0].kind
        };
        assert_eq!(kind_of(&[3]), Some(3));
        assert_eq!(kind_of(&[3, 4]), Some(4));
        assert_eq!(kind_of(&[3, 99]), Some(3));
        assert_eq!(kind_of(&[99, 3, 100, 101]), Some(3));
        assert_eq!(kind_of(&[3, 99, 4, 100]), Some(4));
        assert_eq!(kind_of(&[99, 100]), Some(100));
        assert_eq!(kind_of(&[99]), Some(99));
    }

    #[test]
    fn broken_messages_are_errors() {
        for message in [&[0x22, 5, 1][..], &[0x80], &[7], &[1, 2], &[0]] {
            assert!(decode_message::<lazy::Footer>(Bytes::copy_from_slice(message)).is_err(), "{message:?}");
        }
    }
}
