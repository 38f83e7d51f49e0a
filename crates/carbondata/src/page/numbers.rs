//! Pages of numbers: elements of one width, from which the values are computed.

use std::sync::Arc;

use arrow_array::{ArrayRef, Float32Array, Float64Array, Int8Array, Int16Array, Int32Array, Int64Array};
use arrow_buffer::NullBuffer;
use orcish_core::{Error, Result};

use super::checks::{check_rows, check_whole, misfit};
use super::encoder_meta::{Max, PageMeta, Store};
use super::input::PageInput;
use super::integer::Whole;
use super::inverted_index::reorder;
use super::nulls::nulls;
use super::{arrays, decimals, rle_integral};
use crate::metadata::format::Encoding;
use crate::metadata::schema::Kind;

/// How values come from elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Plain,
    /// What the largest value is more than they are.
    Below,
    /// Multiplied by a power of ten.
    Scaled,
    /// What the largest value is more, both multiplied.
    ScaledBelow,
}

/// The values of a page of numbers.
pub(super) fn decode(input: &PageInput<'_>, encoder: Encoding, meta: &PageMeta) -> Result<ArrayRef> {
    let form = match encoder {
        Encoding::AdaptiveDeltaIntegral => Form::Below,
        Encoding::AdaptiveFloating => Form::Scaled,
        Encoding::AdaptiveDeltaFloating => Form::ScaledBelow,
        _ => Form::Plain,
    };
    let unpacked;
    let page = match encoder {
        Encoding::RleIntegral => {
            unpacked = rle_integral::unpack(input.data, meta.store, input.rows, meta.page_size)?;
            Page { data: &unpacked, input, form, meta }
        }
        _ => Page { data: input.data, input, form, meta },
    };
    match input.column.kind {
        Kind::Boolean => {
            let (values, nulls) = page.whole::<i64>()?;
            Ok(arrays::booleans(values.len(), |row| values.get(row).is_some_and(|&value| value != 0), nulls))
        }
        Kind::Byte => page.array(Int8Array::try_new),
        Kind::Short => page.array(Int16Array::try_new),
        Kind::Int => page.array(Int32Array::try_new),
        Kind::Long => page.array(Int64Array::try_new),
        Kind::Timestamp => {
            let (values, nulls) = page.whole::<i64>()?;
            arrays::timestamps(values, nulls)
        }
        Kind::Float => {
            // Apache's reader narrows floats within other columns at last, those of rows at first.
            let values = if input.rows.is_some() { page.floats()? } else { page.narrowed()? };
            let (values, nulls) = page.finish(values)?;
            Ok(Arc::new(Float32Array::try_new(values.into(), nulls).map_err(misfit)?))
        }
        Kind::Double => {
            let (values, nulls) = page.finish(page.doubles()?)?;
            Ok(Arc::new(Float64Array::try_new(values.into(), nulls).map_err(misfit)?))
        }
        Kind::Decimal { .. } => {
            let (values, nulls) = page.finish(page.decimals()?)?;
            let scale = i8::try_from(meta.scale).map_err(|_| Error::corrupt("a decimal's scale"))?;
            decimals::array(input.column.kind, values, scale, nulls)
        }
        kind => Err(Error::corrupt(format!("numbers in a column of type {kind:?}"))),
    }
}

struct Page<'a> {
    data: &'a [u8],
    input: &'a PageInput<'a>,
    form: Form,
    meta: &'a PageMeta,
}

impl Page<'_> {
    fn array<T: Whole, A: arrow_array::Array + 'static>(
        &self,
        array: impl Fn(arrow_buffer::ScalarBuffer<T>, Option<NullBuffer>) -> Result<A, arrow_schema::ArrowError>,
    ) -> Result<ArrayRef> {
        let (values, nulls) = self.whole::<T>()?;
        Ok(Arc::new(array(values.into(), nulls).map_err(misfit)?))
    }

    /// Puts values into the order of rows, and finds the nulls.
    fn finish<T: Copy + Default>(&self, values: Vec<T>) -> Result<(Vec<T>, Option<NullBuffer>)> {
        check_rows(values.len(), self.input.rows.unwrap_or(values.len()))?;
        let nulls = nulls(self.input.nulls, values.len());
        Ok((reorder(values, self.input.order), nulls))
    }

    fn whole<T: Whole>(&self) -> Result<(Vec<T>, Option<NullBuffer>)> {
        let mut is_lost = false;
        let mut narrow = |value: i64| {
            let narrowed = T::narrow(value);
            is_lost |= narrowed.widen() != value;
            narrowed
        };
        let max = self.max()?;
        let values = match self.form {
            Form::Plain => self.each(&mut narrow)?,
            Form::Below => self.each(|element| narrow(max.wrapping_sub(element)))?,
            _ => return Err(self.wrong()),
        };
        let (values, nulls) = self.finish(values)?;
        if is_lost {
            // What a null has for a value does not count.
            let wide = match self.form {
                Form::Plain => self.each(|element| element)?,
                _ => self.each(|element| max.wrapping_sub(element))?,
            };
            check_whole::<T>(&reorder(wide, self.input.order), nulls.as_ref())?;
        }
        Ok((values, nulls))
    }

    /// The largest value, where elements are given by it.
    fn max(&self) -> Result<i64> {
        #[expect(clippy::cast_possible_truncation, reason = "as the writer has made it a whole number")]
        match self.meta.max {
            _ if self.form == Form::Plain => Ok(0),
            Max::Integer(max) => Ok(max),
            Max::Float(max) => Ok(max as i64),
            Max::Double(max) => Ok(max as i64),
            Max::Decimal(max) => Ok(max as i64),
            Max::Nothing => Err(self.wrong()),
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "as the writer computes")]
    fn doubles(&self) -> Result<Vec<f64>> {
        let factor = self.factor();
        match (self.meta.store, self.form) {
            (Store::Double, Form::Plain) => le(self.data, f64::from_le_bytes),
            (Store::Float, Form::Plain) => le(self.data, |bytes| f32::from_le_bytes(bytes).into()),
            (_, Form::Plain) => self.each(|element| element as f64),
            (_, Form::Below) => {
                let max = self.max()?;
                self.each(|element| max.wrapping_sub(element) as f64)
            }
            (_, Form::Scaled) => self.each(|element| element as f64 / factor),
            (_, Form::ScaledBelow) => {
                let max = self.scaled_max()?;
                self.each(|element| max.wrapping_sub(element) as f64 / factor)
            }
        }
    }

    /// The power of ten that values were multiplied by.
    fn factor(&self) -> f64 {
        // Powers beyond 22 that are made by products are not those next to the true ones.
        format!("1e{}", self.meta.decimal_count).parse().unwrap_or(1.0)
    }

    /// The largest value, multiplied as the writer does it: by a power that 64 bits hold.
    #[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, reason = "as the writer computes")]
    fn scaled_max(&self) -> Result<i64> {
        let factor = self.factor() as i64;
        match self.meta.max {
            Max::Double(max) => Ok((factor as f64 * max) as i64),
            Max::Float(max) => Ok((factor as f32 * max) as i64),
            _ => Err(self.wrong()),
        }
    }

    /// Floats that are divided as doubles.
    #[expect(clippy::cast_possible_truncation, reason = "what a column of floats was given")]
    fn narrowed(&self) -> Result<Vec<f32>> {
        Ok(self.doubles()?.into_iter().map(|value| value as f32).collect())
    }

    #[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, reason = "as the writer computes")]
    fn floats(&self) -> Result<Vec<f32>> {
        let factor = self.factor() as f32;
        match (self.meta.store, self.form) {
            (Store::Float, Form::Plain) => le(self.data, f32::from_le_bytes),
            (_, Form::Plain) => self.each(|element| element as f32),
            (_, Form::Below) => {
                let max = self.max()?;
                self.each(|element| max.wrapping_sub(element) as f32)
            }
            (_, Form::Scaled) => self.each(|element| element as f32 / factor),
            (_, Form::ScaledBelow) => {
                let max = self.scaled_max()?;
                self.each(|element| max.wrapping_sub(element) as f32 / factor)
            }
        }
    }

    /// Digits of decimals.
    fn decimals(&self) -> Result<Vec<i128>> {
        match (self.meta.store, self.form) {
            (Store::Decimal, Form::Plain) => decimals::fixed(self.data, self.meta.precision),
            (_, Form::Plain) => self.each(i128::from),
            (_, Form::Below) => {
                let max = self.max()?;
                self.each(|element| max.wrapping_sub(element).into())
            }
            _ => Err(self.wrong()),
        }
    }

    /// Whole elements, made into values.
    #[inline]
    fn each<T>(&self, mut value: impl FnMut(i64) -> T) -> Result<Vec<T>> {
        match self.meta.store {
            Store::Byte => Ok(self.data.iter().map(|&byte| value(byte.cast_signed().into())).collect()),
            Store::Short => le(self.data, |bytes| value(i16::from_le_bytes(bytes).into())),
            // The highest byte first, and its sign for the fourth.
            Store::ShortInt => le(self.data, |[a, b, c]| value((i32::from_be_bytes([a, b, c, 0]) >> 8).into())),
            Store::Int => le(self.data, |bytes| value(i32::from_le_bytes(bytes).into())),
            Store::Long => le(self.data, |bytes| value(i64::from_le_bytes(bytes))),
            _ => Err(self.wrong()),
        }
    }

    fn wrong(&self) -> Error {
        let (kind, form) = (self.input.column.kind, self.form);
        Error::corrupt(format!("a {kind:?} in elements of {:?}, {form:?}", self.meta.store))
    }
}

/// Values of elements of `N` bytes.
#[inline]
fn le<const N: usize, T>(data: &[u8], mut value: impl FnMut([u8; N]) -> T) -> Result<Vec<T>> {
    let (elements, rest) = data.as_chunks::<N>();
    if !rest.is_empty() {
        return Err(Error::corrupt(format!("elements of {N} bytes end within one")));
    }
    Ok(elements.iter().map(|&bytes| value(bytes)).collect())
}
