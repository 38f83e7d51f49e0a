//! Decoding of pages, by their encodings.

use arrow_array::ArrayRef;
use orcish_core::{Error, Result};

use super::encoder_meta::{EncoderMeta, StoreDataType};
use super::global_dictionary::Dictionaries;
use super::input::PageInput;
use super::length_prefixed::LengthWidth;
use super::local_dictionary::{KEY_WIDTH, LocalDictionary};
use super::{arrays, delta, dictionary_keys, numbers, strings};
use crate::metadata::format::Encoding;
use crate::metadata::schema::{CarbonType, Column};

/// Decodes a page of a column without children.
///
/// # Errors
/// `Corrupt` where the bytes are not such a page, `Unsupported` for unknown encodings.
pub(crate) fn decode(input: &PageInput<'_>) -> Result<ArrayRef> {
    match (input.encoders.first(), input.meta) {
        (Some(&encoder), Some(meta)) if has_meta(encoder) => decode_with_meta(input, encoder, meta),
        (Some(&encoder), None) if has_meta(encoder) => {
            Err(Error::corrupt(format!("a page of encoding {encoder:?} without its meta")))
        }
        (Some(Encoding::Delta), _) => delta::decode(input),
        _ if input.encoders.contains(&Encoding::Dictionary) => decode_dictionary_keys(input),
        _ => decode_without_meta(input),
    }
}

/// Whether pages whose first encoding this is have a `ColumnPageEncoderMeta`.
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

fn decode_with_meta(input: &PageInput<'_>, encoder: Encoding, meta: &EncoderMeta) -> Result<ArrayRef> {
    let is_counted = meta.store_data_type == StoreDataType::Decimal && meta.precision < 0;
    if is_counted {
        return strings::decode(input, LengthWidth::Int);
    }
    if meta.store_data_type != StoreDataType::Bytes {
        return numbers::decode(input, encoder, meta);
    }
    if let Some(dictionary) = input.dictionary {
        return decode_local(input, dictionary);
    }
    let is_int = input.encoders.contains(&Encoding::IntLengthComplexChild);
    strings::decode(input, if is_int { LengthWidth::Int } else { LengthWidth::Short })
}

/// Decodes a page without `ColumnPageEncoderMeta`: keys of the local dictionary, or length-prefixed values.
fn decode_without_meta(input: &PageInput<'_>) -> Result<ArrayRef> {
    if let Some(dictionary) = input.dictionary {
        return decode_local(input, dictionary);
    }
    let is_long = input.encoders.contains(&Encoding::DirectCompressVarchar);
    strings::decode(input, if is_long { LengthWidth::Int } else { LengthWidth::Short })
}

/// Decodes a page of keys of the local dictionary.
fn decode_local(input: &PageInput<'_>, dictionary: &LocalDictionary) -> Result<ArrayRef> {
    dictionary.decode(&dictionary_keys::read_keys(input, KEY_WIDTH)?, input.column, input.max_bytes)
}

/// Decodes a page of keys of a direct or a global dictionary.
fn decode_dictionary_keys(input: &PageInput<'_>) -> Result<ArrayRef> {
    decode_keys(input.column, &dictionary_keys::read_keys(input, input.key_width)?, input.dictionaries)
}

/// Looks up the keys of a direct or a global dictionary.
pub(crate) fn decode_keys(column: &Column, keys: &[u32], dictionaries: Option<&Dictionaries>) -> Result<ArrayRef> {
    match column.carbon_type {
        CarbonType::Date => arrays::dates(keys),
        // Direct dictionaries of timestamps are in files of 1.x.
        CarbonType::Timestamp if !column.has_global_dictionary() => arrays::times(keys),
        _ => {
            let dictionaries = dictionaries.ok_or_else(|| {
                Error::unsupported("the column has a dictionary in the table's folder, which was not looked for")
            })?;
            arrays::take_keys(&dictionaries(column)?, keys)
        }
    }
}
