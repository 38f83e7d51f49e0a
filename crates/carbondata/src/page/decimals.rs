//! Decimals of up to 128 bits.

use std::sync::Arc;

use arrow_array::{ArrayRef, Decimal128Array};
use arrow_buffer::NullBuffer;
use orcish_core::{Error, Result};

use super::checks::{check, invalid_array};
use crate::bytes::big_integer;
use crate::metadata::schema::CarbonType;

/// An array of decimals from unscaled values of the scale `from`.
///
/// # Errors
/// `Corrupt` where a value that is not null does not fit into the column.
pub(crate) fn array(
    carbon_type: CarbonType,
    mut values: Vec<i128>,
    from: i8,
    nulls: Option<NullBuffer>,
) -> Result<ArrayRef> {
    let CarbonType::Decimal { precision, scale } = carbon_type else {
        return Err(Error::corrupt(format!("decimals in a column of type {carbon_type:?}")));
    };
    if from != scale {
        check(&values, nulls.as_ref(), |value| {
            rescale(value, from, scale).map(|_| ()).ok_or_else(|| overflow_message(value))
        })?;
        for value in &mut values {
            // The value of a null may not fit.
            *value = rescale(*value, from, scale).unwrap_or(0);
        }
    }
    let end = 10i128.checked_pow(precision.into()).unwrap_or(i128::MAX);
    let mut is_over = false;
    for value in &values {
        is_over |= *value >= end || *value <= -end;
    }
    if is_over {
        check(&values, nulls.as_ref(), |value| {
            (value < end && value > -end).then_some(()).ok_or_else(|| overflow_message(value))
        })?;
    }
    let array = Decimal128Array::try_new(values.into(), nulls).map_err(invalid_array)?;
    Ok(Arc::new(array.with_precision_and_scale(precision, scale).map_err(invalid_array)?))
}

fn overflow_message(value: i128) -> String {
    format!("the decimal of digits {value} does not fit into the column")
}

/// An unscaled value in another scale; `None` where digits would be lost.
fn rescale(value: i128, from: i8, to: i8) -> Option<i128> {
    let power = |digits: i8| 10i128.checked_pow(u32::try_from(digits).ok()?);
    match to.checked_sub(from)? {
        more @ 0.. => value.checked_mul(power(more)?),
        fewer => {
            let power = power(fewer.checked_neg()?)?;
            (value % power == 0).then_some(value / power)
        }
    }
}

/// The unscaled value, in the scale `to`, of a decimal that is stored as its scale and its unscaled value.
pub(crate) fn scaled(bytes: &[u8], to: i8) -> Option<i128> {
    let (&from, digits) = bytes.split_first()?;
    rescale(big_integer(digits)?, from.cast_signed(), to)
}

/// Decodes unscaled big-endian values, whose width follows from the precision.
pub(super) fn decode_fixed(data: &[u8], precision: i32) -> Result<Vec<i128>> {
    match precision {
        1..=2 => each::<1>(data),
        3..=4 => each::<2>(data),
        5..=6 => each::<3>(data),
        7..=9 => each::<4>(data),
        10..=11 => each::<5>(data),
        12..=14 => each::<6>(data),
        15..=16 => each::<7>(data),
        17..=18 => each::<8>(data),
        19..=21 => each::<9>(data),
        22..=23 => each::<10>(data),
        24..=26 => each::<11>(data),
        27..=28 => each::<12>(data),
        29..=31 => each::<13>(data),
        32..=33 => each::<14>(data),
        34..=35 => each::<15>(data),
        36..=38 => each::<16>(data),
        precision => Err(Error::unsupported(format!("decimals of {precision} digits"))),
    }
}

fn each<const N: usize>(data: &[u8]) -> Result<Vec<i128>> {
    let (elements, rest) = data.as_chunks::<N>();
    if !rest.is_empty() {
        return Err(Error::corrupt(format!("decimals of {N} bytes end within one")));
    }
    let value = |bytes: &[u8; N]| {
        // The value is placed at the top, and shifted down with its sign.
        let mut wide = [0; 16];
        wide.iter_mut().zip(bytes).for_each(|(to, byte)| *to = *byte);
        i128::from_be_bytes(wide) >> (8 * (16 - N))
    };
    Ok(elements.iter().map(value).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn widths_follow_from_the_precision() {
        for precision in 1..=38u32 {
            let width = (1..=16).find(|width| 2f64.powi(8 * width - 1) >= 10f64.powi(precision.cast_signed()));
            let width = usize::try_from(width.unwrap()).unwrap();
            let minus_one = vec![0xff; width * 2];
            assert_eq!(decode_fixed(&minus_one, precision.cast_signed()).unwrap(), [-1, -1], "{precision}");
        }
        assert_eq!(decode_fixed(&[0, 0, 0, 0, 0, 0, 0, 1, 0], 19).unwrap(), [256]);
        assert!(decode_fixed(&[0; 8], 19).is_err() && decode_fixed(&[], 39).is_err());
    }

    #[test]
    fn rescaling_is_exact() {
        assert_eq!(rescale(12, 1, 3), Some(1200));
        assert_eq!(rescale(1200, 3, 1), Some(12));
        assert_eq!(rescale(1201, 3, 1), None);
        assert_eq!(rescale(i128::MAX, 0, 1), None);
        assert_eq!(scaled(&[2, 0xff], 2), Some(-1));
        assert_eq!(scaled(&[], 2), None);
    }

    #[test]
    fn precision_is_checked() {
        let carbon_type = CarbonType::Decimal { precision: 3, scale: 1 };
        assert!(array(carbon_type, vec![999, -999], 1, None).is_ok());
        assert!(array(carbon_type, vec![1000], 1, None).is_err());
        let nulls = super::super::nulls::nulls(&[1], 1);
        assert!(array(carbon_type, vec![1000], 1, nulls).is_ok());
    }
}
