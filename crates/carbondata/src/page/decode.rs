//! Decoders of pages, by their encodings.

use arrow_array::ArrayRef;
use orcish_core::{Error, Result};

use super::encoder_meta::{PageMeta, Store};
use super::global_dictionary::Dictionaries;
use super::input::PageInput;
use super::length_prefixed::Prefix;
use super::local_dictionary::{KEY_WIDTH, LocalDictionary};
use super::{arrays, delta, dictionary_keys, numbers, strings};
use crate::metadata::format::Encoding;
use crate::metadata::schema::{Column, Kind};

/// The values of a page of a column that has none within it.
///
/// # Errors
/// `Corrupt` where the bytes are no such values, `Unsupported` for encodings that are not known.
pub(crate) fn decode(input: &PageInput<'_>) -> Result<ArrayRef> {
    match (input.encoders.first(), input.meta) {
        (Some(&encoder), Some(meta)) if has_meta(encoder) => with_meta(input, encoder, meta),
        (Some(&encoder), None) if has_meta(encoder) => {
            Err(Error::corrupt(format!("a page of encoding {encoder:?} without its meta")))
        }
        (Some(Encoding::Delta), _) => delta::decode(input),
        _ if input.encoders.contains(&Encoding::Dictionary) => keys(input),
        _ => plain(input),
    }
}

/// Whether pages that begin with this encoding say more in a meta.
pub(crate) fn has_meta(encoder: Encoding) -> bool {
    matches!(
        encoder,
        Encoding::DirectCompress
            | Encoding::AdaptiveIntegral
            | Encoding::AdaptiveDeltaIntegral
            | Encoding::AdaptiveFloating
            | Encoding::AdaptiveDeltaFloating
            | Encoding::RleIntegral
            | Encoding::BoolByte
    )
}

fn with_meta(input: &PageInput<'_>, encoder: Encoding, meta: &PageMeta) -> Result<ArrayRef> {
    let is_counted = meta.store == Store::Decimal && meta.precision < 0;
    if is_counted {
        return strings::decode(input, Prefix::Int);
    }
    if meta.store != Store::Bytes {
        return numbers::decode(input, encoder, meta);
    }
    if let Some(dictionary) = input.dictionary {
        return decode_local(input, dictionary);
    }
    let is_int = input.encoders.contains(&Encoding::IntLengthComplexChild);
    strings::decode(input, if is_int { Prefix::Int } else { Prefix::Short })
}

/// Pages without a meta: keys of the chunk's dictionary, or each value behind its length.
fn plain(input: &PageInput<'_>) -> Result<ArrayRef> {
    if let Some(dictionary) = input.dictionary {
        return decode_local(input, dictionary);
    }
    let is_long = input.encoders.contains(&Encoding::DirectCompressVarchar);
    strings::decode(input, if is_long { Prefix::Int } else { Prefix::Short })
}

/// Decodes the keys of a page by the dictionary of its column chunk.
fn decode_local(input: &PageInput<'_>, dictionary: &LocalDictionary) -> Result<ArrayRef> {
    dictionary.decode(&dictionary_keys::keys_of(input, KEY_WIDTH)?, input.column, input.most)
}

/// Pages of keys of dictionaries that are not in the chunk.
fn keys(input: &PageInput<'_>) -> Result<ArrayRef> {
    keyed(input.column, &dictionary_keys::keys_of(input, input.key_width)?, input.dictionaries)
}

/// The values of keys of a direct dictionary, or of one of the table.
pub(crate) fn keyed(column: &Column, keys: &[u32], dictionaries: Option<&Dictionaries>) -> Result<ArrayRef> {
    match column.kind {
        Kind::Date => arrays::dates(keys),
        // The other direct dictionary is of times, in files of 1.x.
        Kind::Timestamp if !column.has_global_dictionary() => arrays::times(keys),
        _ => {
            let dictionaries = dictionaries.ok_or_else(|| {
                Error::unsupported("the column has a dictionary in the table's folder, which was not looked for")
            })?;
            arrays::take_keys(&dictionaries(column)?, keys)
        }
    }
}
