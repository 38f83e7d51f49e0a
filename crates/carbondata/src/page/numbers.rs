//! Pages of numbers with fixed-width elements, in the direct, adaptive and RLE encodings.

use std::sync::Arc;

use arrow_array::{ArrayRef, Float32Array, Float64Array, Int8Array, Int16Array, Int32Array, Int64Array};
use arrow_buffer::NullBuffer;
use orcish_core::{Error, Result};

use super::checks::{check_integers, check_rows, invalid_array};
use super::encoder_meta::{EncoderMeta, MaxValue, StoreDataType};
use super::input::PageInput;
use super::integer::Integer;
use super::inverted_index::reorder;
use super::nulls::nulls;
use super::{arrays, decimals, rle_integral};
use crate::metadata::format::Encoding;
use crate::metadata::schema::CarbonType;

/// How values are computed from stored elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Transform {
    Identity,
    /// `max - element`
    Delta,
    /// `element / factor`
    Scaled,
    /// `(max * factor - element) / factor`
    ScaledDelta,
}

/// Decodes a page of numbers.
pub(super) fn decode(input: &PageInput<'_>, encoder: Encoding, meta: &EncoderMeta) -> Result<ArrayRef> {
    let transform = match encoder {
        Encoding::AdaptiveDeltaIntegral => Transform::Delta,
        Encoding::AdaptiveFloating => Transform::Scaled,
        Encoding::AdaptiveDeltaFloating => Transform::ScaledDelta,
        _ => Transform::Identity,
    };
    let unpacked;
    let page = match encoder {
        Encoding::RleIntegral => {
            unpacked = rle_integral::unpack(input.data, meta.store_data_type, input.rows, meta.page_size)?;
            NumberPage { data: &unpacked, input, transform, meta }
        }
        _ => NumberPage { data: input.data, input, transform, meta },
    };
    match input.column.carbon_type {
        CarbonType::Boolean => {
            let (values, nulls) = page.integers::<i64>()?;
            Ok(arrays::booleans(values.len(), |row| values.get(row).is_some_and(|&value| value != 0), nulls))
        }
        CarbonType::Byte => page.array(Int8Array::try_new),
        CarbonType::Short => page.array(Int16Array::try_new),
        CarbonType::Int => page.array(Int32Array::try_new),
        CarbonType::Long => page.array(Int64Array::try_new),
        CarbonType::Timestamp => {
            let (values, nulls) = page.integers::<i64>()?;
            arrays::timestamps(values, nulls)
        }
        CarbonType::Float => {
            // Apache's reader computes floats of child columns as doubles, and other floats as floats.
            let values = if input.rows.is_some() { page.floats()? } else { page.narrowed()? };
            let (values, nulls) = page.finish(values)?;
            Ok(Arc::new(Float32Array::try_new(values.into(), nulls).map_err(invalid_array)?))
        }
        CarbonType::Double => {
            let (values, nulls) = page.finish(page.doubles()?)?;
            Ok(Arc::new(Float64Array::try_new(values.into(), nulls).map_err(invalid_array)?))
        }
        CarbonType::Decimal { .. } => {
            let (values, nulls) = page.finish(page.decimals()?)?;
            let scale = i8::try_from(meta.scale).map_err(|_| Error::corrupt("a decimal's scale"))?;
            decimals::array(input.column.carbon_type, values, scale, nulls)
        }
        carbon_type => Err(Error::corrupt(format!("numbers in a column of type {carbon_type:?}"))),
    }
}

struct NumberPage<'a> {
    data: &'a [u8],
    input: &'a PageInput<'a>,
    transform: Transform,
    meta: &'a EncoderMeta,
}

impl NumberPage<'_> {
    fn array<T: Integer, A: arrow_array::Array + 'static>(
        &self,
        array: impl Fn(arrow_buffer::ScalarBuffer<T>, Option<NullBuffer>) -> Result<A, arrow_schema::ArrowError>,
    ) -> Result<ArrayRef> {
        let (values, nulls) = self.integers::<T>()?;
        Ok(Arc::new(array(values.into(), nulls).map_err(invalid_array)?))
    }

    /// Puts values into row order, with their nulls.
    fn finish<T: Copy>(&self, values: Vec<T>) -> Result<(Vec<T>, Option<NullBuffer>)> {
        check_rows(values.len(), self.input.rows.unwrap_or(values.len()))?;
        let nulls = nulls(self.input.nulls, values.len());
        Ok((reorder(values, self.input.inverted_index)?, nulls))
    }

    fn integers<T: Integer>(&self) -> Result<(Vec<T>, Option<NullBuffer>)> {
        let mut is_lossy = false;
        let mut narrow = |value: i64| {
            let narrowed = T::narrow(value);
            is_lossy |= narrowed.widen() != value;
            narrowed
        };
        let max = self.max()?;
        let values = match self.transform {
            Transform::Identity => self.map_elements(&mut narrow)?,
            Transform::Delta => self.map_elements(|element| narrow(max.wrapping_sub(element)))?,
            _ => return Err(self.mismatch()),
        };
        let (values, nulls) = self.finish(values)?;
        if is_lossy {
            // Values of nulls are not checked.
            let wide = match self.transform {
                Transform::Identity => self.map_elements(|element| element)?,
                _ => self.map_elements(|element| max.wrapping_sub(element))?,
            };
            check_integers::<T>(&reorder(wide, self.input.inverted_index)?, nulls.as_ref())?;
        }
        Ok((values, nulls))
    }

    /// The maximum of the page, for delta encodings.
    fn max(&self) -> Result<i64> {
        #[expect(clippy::cast_possible_truncation, reason = "the writer stores an integer")]
        match self.meta.max {
            _ if self.transform == Transform::Identity => Ok(0),
            MaxValue::Integer(max) => Ok(max),
            MaxValue::Float(max) => Ok(max as i64),
            MaxValue::Double(max) => Ok(max as i64),
            MaxValue::Decimal(max) => Ok(max as i64),
            MaxValue::Nothing => Err(self.mismatch()),
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "as the writer computes")]
    fn doubles(&self) -> Result<Vec<f64>> {
        let factor = self.factor();
        match (self.meta.store_data_type, self.transform) {
            (StoreDataType::Double, Transform::Identity) => map_le(self.data, f64::from_le_bytes),
            (StoreDataType::Float, Transform::Identity) => map_le(self.data, |bytes| f32::from_le_bytes(bytes).into()),
            (_, Transform::Identity) => self.map_elements(|element| element as f64),
            (_, Transform::Delta) => {
                let max = self.max()?;
                self.map_elements(|element| max.wrapping_sub(element) as f64)
            }
            (_, Transform::Scaled) => self.map_elements(|element| element as f64 / factor),
            (_, Transform::ScaledDelta) => {
                let max = self.scaled_max()?;
                self.map_elements(|element| max.wrapping_sub(element) as f64 / factor)
            }
        }
    }

    /// The power of ten that values were multiplied by.
    fn factor(&self) -> f64 {
        // Parsing gives the nearest double for powers beyond 22 too, which products do not.
        format!("1e{}", self.meta.decimal_count).parse().unwrap_or(1.0)
    }

    /// The maximum of the page, multiplied as the writer does it, by a factor of 64 bits.
    #[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, reason = "as the writer computes")]
    fn scaled_max(&self) -> Result<i64> {
        let factor = self.factor() as i64;
        match self.meta.max {
            MaxValue::Double(max) => Ok((factor as f64 * max) as i64),
            MaxValue::Float(max) => Ok((factor as f32 * max) as i64),
            _ => Err(self.mismatch()),
        }
    }

    /// Floats that are divided as doubles.
    #[expect(clippy::cast_possible_truncation, reason = "the values are floats")]
    fn narrowed(&self) -> Result<Vec<f32>> {
        Ok(self.doubles()?.into_iter().map(|value| value as f32).collect())
    }

    #[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, reason = "as the writer computes")]
    fn floats(&self) -> Result<Vec<f32>> {
        let factor = self.factor() as f32;
        match (self.meta.store_data_type, self.transform) {
            (StoreDataType::Float, Transform::Identity) => map_le(self.data, f32::from_le_bytes),
            (_, Transform::Identity) => self.map_elements(|element| element as f32),
            (_, Transform::Delta) => {
                let max = self.max()?;
                self.map_elements(|element| max.wrapping_sub(element) as f32)
            }
            (_, Transform::Scaled) => self.map_elements(|element| element as f32 / factor),
            (_, Transform::ScaledDelta) => {
                let max = self.scaled_max()?;
                self.map_elements(|element| max.wrapping_sub(element) as f32 / factor)
            }
        }
    }

    /// Unscaled values of decimals.
    fn decimals(&self) -> Result<Vec<i128>> {
        match (self.meta.store_data_type, self.transform) {
            (StoreDataType::Decimal, Transform::Identity) => decimals::decode_fixed(self.data, self.meta.precision),
            (_, Transform::Identity) => self.map_elements(i128::from),
            (_, Transform::Delta) => {
                let max = self.max()?;
                self.map_elements(|element| max.wrapping_sub(element).into())
            }
            _ => Err(self.mismatch()),
        }
    }

    /// Maps integer elements to values.
    #[inline]
    fn map_elements<T>(&self, mut value: impl FnMut(i64) -> T) -> Result<Vec<T>> {
        match self.meta.store_data_type {
            StoreDataType::Byte => Ok(self.data.iter().map(|&byte| value(byte.cast_signed().into())).collect()),
            StoreDataType::Short => map_le(self.data, |bytes| value(i16::from_le_bytes(bytes).into())),
            // Big-endian, with sign extension.
            StoreDataType::ShortInt => {
                map_le(self.data, |[a, b, c]| value((i32::from_be_bytes([a, b, c, 0]) >> 8).into()))
            }
            StoreDataType::Int => map_le(self.data, |bytes| value(i32::from_le_bytes(bytes).into())),
            StoreDataType::Long => map_le(self.data, |bytes| value(i64::from_le_bytes(bytes))),
            _ => Err(self.mismatch()),
        }
    }

    fn mismatch(&self) -> Error {
        let (carbon_type, transform) = (self.input.column.carbon_type, self.transform);
        Error::corrupt(format!("a {carbon_type:?} in elements of {:?}, {transform:?}", self.meta.store_data_type))
    }
}

/// Maps little-endian elements of `N` bytes to values.
#[inline]
fn map_le<const N: usize, T>(data: &[u8], mut value: impl FnMut([u8; N]) -> T) -> Result<Vec<T>> {
    let (elements, rest) = data.as_chunks::<N>();
    if !rest.is_empty() {
        return Err(Error::corrupt(format!("elements of {N} bytes end within one")));
    }
    Ok(elements.iter().map(|&bytes| value(bytes)).collect())
}
