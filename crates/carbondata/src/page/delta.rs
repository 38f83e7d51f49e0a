//! Pages of measures with the encoding `DELTA`, in files up to version 1.1.
//!
//! The layout of the values is not stored: it follows from their range in the [`ValueEncoderMeta`].

use std::cmp::Ordering;

use arrow_array::ArrayRef;
use orcish_core::{Error, Result};

use super::input::PageInput;
use super::length_prefixed::{LengthWidth, slices};
use super::nulls::nulls;
use super::value_encoder_meta::{ValueEncoderMeta, ValueRange};
use super::{arrays, decimals};
use crate::metadata::schema::CarbonType;

/// The greatest power of ten that is exact as a double.
const MAX_EXACT_DECIMALS: i32 = 22;
/// Integers of at most this magnitude are exact as doubles.
const MAX_EXACT: u128 = 1 << 53;

/// Type of the stored elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ElementType {
    I8,
    I16,
    I32,
    I64,
    F32,
    F64,
}

/// How values are computed from stored elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Transform {
    Identity,
    /// `max - element`
    Delta,
    /// `element / 10^decimals`
    Scaled,
    /// `max - element / 10^decimals`
    ScaledDelta,
}

impl ElementType {
    fn size(self) -> usize {
        match self {
            ElementType::I8 => 1,
            ElementType::I16 => 2,
            ElementType::I32 | ElementType::F32 => 4,
            ElementType::I64 | ElementType::F64 => 8,
        }
    }

    /// The smallest type that holds `value`, as the writer chooses it.
    fn of(value: f64, decimals: i32, is_float: bool) -> Self {
        if decimals != 0 {
            #[allow(clippy::cast_possible_truncation)] // The rounding error is checked.
            let is_exact = f64::from(value as f32) == value;
            // Java's `Float.MIN_VALUE` is the smallest positive float, so that numbers below it are stored as doubles.
            let is_within = value <= f64::from(f32::MAX) && value >= f64::from(f32::from_bits(1));
            return if is_float && is_within && is_exact { ElementType::F32 } else { ElementType::F64 };
        }
        let within = |min: f64, max: f64| value >= min && value <= max;
        if within(i8::MIN.into(), i8::MAX.into()) {
            ElementType::I8
        } else if within(i16::MIN.into(), i16::MAX.into()) {
            ElementType::I16
        } else if within(i32::MIN.into(), i32::MAX.into()) {
            ElementType::I32
        } else if within(-TWO_63, TWO_63) {
            ElementType::I64
        } else {
            ElementType::F64
        }
    }

    fn integers(self, data: &[u8], rows: usize) -> Result<Vec<i64>> {
        Ok(match self {
            ElementType::I8 => elements(data, rows, |bytes| i64::from(i8::from_le_bytes(bytes)))?,
            ElementType::I16 => elements(data, rows, |bytes| i64::from(i16::from_le_bytes(bytes)))?,
            ElementType::I32 => elements(data, rows, |bytes| i64::from(i32::from_le_bytes(bytes)))?,
            ElementType::I64 => elements(data, rows, i64::from_le_bytes)?,
            ElementType::F32 | ElementType::F64 => {
                return Err(Error::corrupt("bounds of whole numbers that have a fraction"));
            }
        })
    }

    fn doubles(self, data: &[u8], rows: usize) -> Result<Vec<f64>> {
        Ok(match self {
            ElementType::I8 => elements(data, rows, |bytes| f64::from(i8::from_le_bytes(bytes)))?,
            ElementType::I16 => elements(data, rows, |bytes| f64::from(i16::from_le_bytes(bytes)))?,
            ElementType::I32 => elements(data, rows, |bytes| f64::from(i32::from_le_bytes(bytes)))?,
            ElementType::I64 => elements(data, rows, |bytes| i64::from_le_bytes(bytes) as f64)?,
            ElementType::F32 => elements(data, rows, |bytes| f64::from(f32::from_le_bytes(bytes)))?,
            ElementType::F64 => elements(data, rows, f64::from_le_bytes)?,
        })
    }
}

const TWO_63: f64 = 9_223_372_036_854_775_808.0;

fn elements<const N: usize, T>(data: &[u8], rows: usize, from: impl Fn([u8; N]) -> T) -> Result<Vec<T>> {
    let (all, rest) = data.as_chunks::<N>();
    if all.len() != rows || !rest.is_empty() {
        return Err(Error::corrupt(format!("{} bytes are not {rows} values of {N} bytes", data.len())));
    }
    Ok(all.iter().map(|&bytes| from(bytes)).collect())
}

/// Decodes a page of a measure.
///
/// # Errors
/// `Corrupt` where the bytes are not such a page.
pub(super) fn decode(input: &PageInput<'_>) -> Result<ArrayRef> {
    let rows = input.rows.ok_or_else(|| Error::corrupt("a measure within another column"))?;
    ValueEncoderMeta::read(input.encoder_meta_bytes)?.decode(input, rows)
}

impl ValueEncoderMeta {
    /// Decodes a page.
    fn decode(&self, input: &PageInput<'_>, rows: usize) -> Result<ArrayRef> {
        let (column, data) = (input.column, input.data);
        let nulls = nulls(input.nulls, rows);
        match self.range {
            ValueRange::BigInt => arrays::integers(column, ElementType::I64.integers(data, rows)?, nulls),
            ValueRange::Long { max, min } => {
                let (transform, element_type) = self.long_layout(max, min);
                let mut values = element_type.integers(data, rows)?;
                if transform == Transform::Delta {
                    values.iter_mut().for_each(|value| *value = max.wrapping_sub(*value));
                }
                arrays::integers(column, values, nulls)
            }
            ValueRange::Double { max, min } => {
                let (transform, element_type) = self.double_layout(max, min);
                arrays::doubles(column, self.doubles(transform, element_type, max, data, rows)?, nulls)
            }
            ValueRange::Decimal => {
                let CarbonType::Decimal { scale, .. } = column.carbon_type else {
                    return Err(Error::corrupt(format!("decimals in a column of type {:?}", column.carbon_type)));
                };
                let values = slices(data, LengthWidth::Int, Some(rows), usize::MAX)?.into_iter().enumerate().map(
                    |(row, bytes)| {
                        let is_null = nulls.as_ref().is_some_and(|nulls| nulls.is_null(row));
                        let value = if is_null { Some(0) } else { decimals::scaled(bytes, scale) };
                        value.ok_or_else(|| Error::corrupt(format!("{} bytes are no such decimal", bytes.len())))
                    },
                );
                decimals::array(column.carbon_type, values.collect::<Result<_>>()?, scale, nulls)
            }
        }
    }

    /// The layout of integers of this range.
    fn long_layout(&self, max: i64, min: i64) -> (Transform, ElementType) {
        let plain = ElementType::of(max as f64, self.decimals, self.is_float);
        let difference = match plain {
            ElementType::I64 => ElementType::I64,
            _ => ElementType::of(max.wrapping_sub(min) as f64, self.decimals, self.is_float),
        };
        choose_smaller(plain, difference)
    }

    /// The layout of doubles of this range.
    fn double_layout(&self, max: f64, min: f64) -> (Transform, ElementType) {
        let max_abs = if max.abs() >= min.abs() { max } else { min };
        let element_type = |value, decimals| ElementType::of(value, decimals, self.is_float);
        if self.decimals == 0 {
            return choose_smaller(element_type(max_abs, 0), element_type(max - min, 0));
        }
        let factor = 10f64.powi(self.decimals);
        let mut layout = (Transform::Identity, element_type(max_abs, self.decimals));
        for candidate in [
            (Transform::Delta, element_type(max - min, self.decimals)),
            (Transform::Scaled, element_type(factor * max_abs, 0)),
            (Transform::ScaledDelta, element_type(factor * (max - min), 0)),
        ] {
            if candidate.1.size() < layout.1.size() {
                layout = candidate;
            }
        }
        layout
    }

    fn doubles(
        &self,
        transform: Transform,
        element_type: ElementType,
        max: f64,
        data: &[u8],
        rows: usize,
    ) -> Result<Vec<f64>> {
        let factor = 10f64.powi(self.decimals);
        if transform == Transform::ScaledDelta
            && let Some(scaled_max) = unscaled(max, self.decimals)
        {
            // The difference is computed with integers: doubles would have rounding errors after the last decimal
            // place.
            let integers = element_type.integers(data, rows)?;
            return Ok(integers
                .into_iter()
                .map(|element| scaled(scaled_max.saturating_sub(element.into()), self.decimals, factor))
                .collect());
        }
        let mut values = element_type.doubles(data, rows)?;
        match transform {
            Transform::Identity => {}
            Transform::Delta => values.iter_mut().for_each(|value| *value = max - *value),
            Transform::Scaled => values.iter_mut().for_each(|value| *value /= factor),
            Transform::ScaledDelta => values.iter_mut().for_each(|value| *value = max - *value / factor),
        }
        Ok(values)
    }
}

fn choose_smaller(plain: ElementType, difference: ElementType) -> (Transform, ElementType) {
    match plain.size().cmp(&difference.size()) {
        Ordering::Greater => (Transform::Delta, difference),
        Ordering::Less => (Transform::Identity, difference),
        Ordering::Equal => (Transform::Identity, plain),
    }
}

/// The unscaled value of a double with `decimals` decimal places; `None` where it has more.
fn unscaled(value: f64, decimals: i32) -> Option<i128> {
    let decimals = usize::try_from(decimals).ok().filter(|_| decimals <= MAX_EXACT_DECIMALS)?;
    let text = value.to_string();
    let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
    if fraction.len() > decimals || whole.len() > 20 {
        return None;
    }
    format!("{whole}{fraction:0<decimals$}").parse().ok()
}

/// The double nearest to `unscaled / factor`, where `factor` is 10^`decimals`.
fn scaled(unscaled: i128, decimals: i32, factor: f64) -> f64 {
    if unscaled.unsigned_abs() <= MAX_EXACT {
        return unscaled as f64 / factor;
    }
    format!("{unscaled}e-{decimals}").parse().unwrap_or(unscaled as f64 / factor)
}

#[cfg(test)]
mod tests {
    use arrow_array::cast::AsArray as _;
    use arrow_array::types::{Float64Type, Int64Type};

    use super::*;
    use crate::metadata::schema::Column;

    fn array_of(meta: ValueEncoderMeta, data: &[u8], rows: usize, carbon_type: CarbonType) -> Result<ArrayRef> {
        let column = Column::sample("m", carbon_type);
        meta.decode(&PageInput::sample(&column, rows, &[], data), rows)
    }

    fn long(max: i64, min: i64) -> ValueEncoderMeta {
        ValueEncoderMeta { range: ValueRange::Long { max, min }, decimals: 0, is_float: false }
    }

    fn double(max: f64, min: f64, decimals: i32) -> ValueEncoderMeta {
        ValueEncoderMeta { range: ValueRange::Double { max, min }, decimals, is_float: false }
    }

    #[test]
    fn integers_have_the_width_of_their_range() {
        let decode = |meta: ValueEncoderMeta, data: &[u8], rows| {
            array_of(meta, data, rows, CarbonType::Long).map(|all| all.as_primitive::<Int64Type>().values().to_vec())
        };
        assert_eq!(decode(long(100, -20), &[100, 0xec], 2).unwrap(), [100, -20]);
        assert_eq!(decode(long(100, -100), &[100, 0, 0x9c, 0xff], 2).unwrap(), [100, -100]);
        assert_eq!(decode(long(1000, 990), &[0, 10], 2).unwrap(), [1000, 990]);
        assert_eq!(decode(long(1 << 40, (1 << 40) - 1), &(1i64 << 40).to_le_bytes(), 1).unwrap(), [1 << 40]);
        assert!(decode(long(100, -20), &[100], 2).is_err());
        assert!(array_of(long(i64::MAX, i64::MIN), &i64::MAX.to_le_bytes(), 1, CarbonType::Int).is_err());
    }

    #[test]
    fn doubles_of_all_transforms() {
        let decode = |meta: ValueEncoderMeta, data: &[u8], rows| {
            array_of(meta, data, rows, CarbonType::Double)
                .map(|all| all.as_primitive::<Float64Type>().values().to_vec())
        };
        assert_eq!(decode(double(3.0, -100.0, 0), &[3, 0x9c], 2).unwrap(), [3.0, -100.0]);
        assert_eq!(decode(double(1.5, -2.5, 1), &[15, 0xe7], 2).unwrap(), [1.5, -2.5]);
        assert_eq!(decode(double(1000.3, 1000.1, 1), &[2, 0], 2).unwrap(), [1000.1, 1000.3]);
    }

    #[test]
    fn decimals_are_exact() {
        assert_eq!(unscaled(-12.5, 2), Some(-1250));
        assert_eq!(unscaled(-0.25, 2), Some(-25));
        assert_eq!(unscaled(0.125, 2), None);
        assert_eq!(scaled(123_456_789_012_345_678, 3, 1000.0), "123456789012345.678".parse::<f64>().unwrap());
    }

    #[test]
    fn meta_of_version_3() {
        let mut bytes = vec![0, b'd'];
        for value in [7i64, -7, 0] {
            bytes.extend(value.to_be_bytes());
        }
        bytes.extend([0; 5]);
        assert_eq!(ValueEncoderMeta::read_v3(&bytes).unwrap(), long(7, -7));
        assert!(ValueEncoderMeta::read_v3(&bytes[..20]).is_err());
    }
}
