//! Values without dictionary, stored as bytes: numbers, timestamps and decimals of old writers, of child columns, and
//! of streaming files.

use std::sync::Arc;

use arrow_array::{ArrayRef, Float32Array};
use orcish_core::{Error, Result};

use super::checks::invalid_array;
use super::nulls::nulls_where;
use super::{arrays, decimals};
use crate::metadata::format::{EPOCH_KEY, NULL_TEXT};
use crate::metadata::schema::{CarbonType, Column};

/// A null date: surrogate key 1 with its sign bit flipped.
const NULL_DATE: [u8; 4] = [0x80, 0, 0, 1];

/// An array of values. Empty values are null; dates with the surrogate key of null are null too, as writers of child
/// columns use either.
///
/// # Errors
/// `Corrupt` for a value whose length does not fit its type.
pub(crate) fn array(column: &Column, values: &[&[u8]]) -> Result<ArrayRef> {
    let is_date = column.carbon_type == CarbonType::Date;
    let is_null = |value: &[u8]| value.is_empty() || value == NULL_TEXT || (is_date && value == NULL_DATE);
    let nulls = nulls_where(values.len(), |row| values.get(row).is_none_or(|value| is_null(value)));
    let each = |value: &dyn Fn(&[u8]) -> Option<i64>| decode_each(column, values, is_null, value);
    match column.carbon_type {
        CarbonType::Boolean => {
            let values = each(&|bytes| <[u8; 1]>::try_from(bytes).ok().map(|[byte]| i64::from(byte != 0)))?;
            arrays::integers(column, values, nulls)
        }
        CarbonType::Byte | CarbonType::Short | CarbonType::Int | CarbonType::Long | CarbonType::Timestamp => {
            arrays::integers(column, each(&decode_sign_flipped)?, nulls)
        }
        CarbonType::Date => {
            let day = |bytes: &[u8]| decode_sign_flipped(bytes).map(|key| key - i64::from(EPOCH_KEY));
            arrays::integers(column, each(&day)?, nulls)
        }
        CarbonType::Double => {
            let values = each(&|bytes| decode_sign_flipped(bytes).filter(|_| bytes.len() == 8))?;
            let values = values.into_iter().map(|bits| f64::from_bits(bits.cast_unsigned()));
            arrays::doubles(column, values.collect(), nulls)
        }
        CarbonType::Float => {
            let float = |bytes: &[u8]| {
                let bits = u32::from_be_bytes(<[u8; 4]>::try_from(bytes).ok()?) ^ 1 << 31;
                Some(f32::from_bits(bits))
            };
            let values = decode_each(column, values, is_null, float)?;
            Ok(Arc::new(Float32Array::try_new(values.into(), nulls).map_err(invalid_array)?))
        }
        CarbonType::Decimal { scale, .. } => {
            let values = decode_each(column, values, is_null, |bytes| decimals::scaled(bytes, scale))?;
            decimals::array(column.carbon_type, values, scale, nulls)
        }
        carbon_type => Err(Error::corrupt(format!("values of bytes in a column of type {carbon_type:?}"))),
    }
}

/// An integer whose sign bit is flipped, so that bytes sort as numbers.
fn decode_sign_flipped(bytes: &[u8]) -> Option<i64> {
    let sign = 1u64.checked_shl(u32::try_from(bytes.len()).ok()?.checked_mul(8)?.checked_sub(1)?)?;
    let value = bytes.iter().try_fold(0u64, |value, &byte| Some(value.checked_mul(256)? | u64::from(byte)))?;
    // Subtraction of the sign bit flips it back and extends the sign.
    Some(value.wrapping_sub(sign).cast_signed())
}

/// Decodes values. Nulls have the default of the type.
fn decode_each<T: Default>(
    column: &Column,
    values: &[&[u8]],
    is_null: impl Fn(&[u8]) -> bool,
    value: impl Fn(&[u8]) -> Option<T>,
) -> Result<Vec<T>> {
    let values = values.iter().enumerate().map(|(row, bytes)| {
        if is_null(bytes) { Ok(T::default()) } else { value(bytes).ok_or_else(|| invalid_value(column, bytes, row)) }
    });
    values.collect()
}

fn invalid_value(column: &Column, bytes: &[u8], row: usize) -> Error {
    let error = Error::corrupt(format!("{} bytes are no value of type {:?}", bytes.len(), column.carbon_type));
    error.at_row(u64::try_from(row).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use arrow_array::Date32Array;
    use arrow_array::cast::AsArray as _;

    use super::*;

    #[test]
    fn null_dates() {
        let column = Column::sample("c", CarbonType::Date);
        let found = array(&column, &[&[], &NULL_DATE, &[0xbf, 0xff, 0xff, 0xff], &[0x80, 0, 0, 2]]).unwrap();
        let days: Date32Array = vec![None, None, Some(0), Some(2 - EPOCH_KEY)].into();
        assert_eq!(found.as_primitive(), &days);
        // In other types these bytes are a number.
        let found = array(&Column::sample("c", CarbonType::Int), &[&NULL_DATE]).unwrap();
        assert_eq!(found.as_primitive::<arrow_array::types::Int32Type>().values(), &[1]);
    }

    #[test]
    fn sign_bits_are_flipped() {
        assert_eq!(decode_sign_flipped(&[0x80]), Some(0));
        assert_eq!(decode_sign_flipped(&[0x7f, 0xff]), Some(-1));
        assert_eq!(decode_sign_flipped(&[0x80, 0, 1, 0]), Some(256));
        assert_eq!(decode_sign_flipped(&[0; 8]), Some(i64::MIN));
        assert_eq!(decode_sign_flipped(&[0xff; 8]), Some(i64::MAX));
        assert_eq!(decode_sign_flipped(&[0; 9]), None);
        assert_eq!(decode_sign_flipped(&[]), None);
    }
}
