//! Length-prefixed values.

use arrow_array::ArrayRef;
use arrow_buffer::NullBuffer;
use arrow_schema::DataType;
use orcish_core::strings::Values;
use orcish_core::{Error, OrInternal as _, Result};

use super::checks::check_rows;
use super::nulls;
use crate::metadata::format::NULL_TEXT;

/// Values of at most this length are copied with a fixed-size copy, whose excess the next value overwrites. It is
/// faster than a copy of the exact length.
const SHORT: usize = 32;

/// Width of a length prefix: two or four bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LengthWidth {
    Short,
    Int,
}

/// Concatenated values.
pub(crate) struct StringValues {
    lengths: Vec<u32>,
    /// The first `end` bytes belong to values.
    data: Vec<u8>,
    end: usize,
    null_rows: Vec<usize>,
}

impl StringValues {
    /// Reserves memory for `rows` values of `bytes` bytes together.
    fn new(rows: usize, bytes: usize) -> Self {
        StringValues { lengths: Vec::with_capacity(rows), data: vec![0; bytes + SHORT], end: 0, null_rows: Vec::new() }
    }

    /// Appends the first `length` bytes of `source`. Bytes behind them may be copied too.
    #[inline]
    fn push(&mut self, source: &[u8], length: usize) -> Result<()> {
        copy(self.data.get_mut(self.end..).or_internal("texts are longer than their page")?, source, length)?;
        self.end += length;
        self.lengths.push(u32::try_from(length).map_err(|_| too_long())?);
        Ok(())
    }

    fn push_null(&mut self) {
        self.null_rows.push(self.lengths.len());
        self.lengths.push(0);
    }

    /// Reads the values of a page.
    ///
    /// # Errors
    /// `Corrupt` where a value ends behind the page, `LimitExceeded` for a value of 4 GiB or more.
    pub(super) fn read(data: &[u8], rows: Option<usize>, length_width: LengthWidth) -> Result<Self> {
        match length_width {
            LengthWidth::Short => Self::read_with(data, rows, short),
            LengthWidth::Int => Self::read_with(data, rows, int),
        }
    }

    /// Number of values.
    pub(super) fn len(&self) -> usize {
        self.lengths.len()
    }

    /// Reads values; `prefix` splits bytes into a length and the bytes behind it.
    fn read_with(data: &[u8], rows: Option<usize>, prefix: impl Fn(&[u8]) -> Option<(usize, &[u8])>) -> Result<Self> {
        // A value takes at least two bytes.
        let mut strings = StringValues::new(rows.unwrap_or(0).min(data.len() / 2), data.len());
        let mut rest = data;
        while !rest.is_empty() {
            let (length, tail) = prefix(rest).ok_or_else(truncated)?;
            rest = tail.get(length..).ok_or_else(truncated)?;
            if length == NULL_TEXT.len() && tail.starts_with(NULL_TEXT) {
                strings.push_null();
            } else {
                strings.push(tail, length)?;
            }
        }
        Ok(strings)
    }

    /// Concatenates values.
    pub(crate) fn of(values: &[&[u8]]) -> Result<Self> {
        let bytes = values.iter().fold(0, |sum: usize, value| sum.saturating_add(value.len()));
        let mut strings = StringValues::new(values.len(), bytes);
        for value in values {
            if *value == NULL_TEXT { strings.push_null() } else { strings.push(value, value.len())? }
        }
        Ok(strings)
    }

    fn nulls(&self) -> Result<Option<NullBuffer>> {
        if self.null_rows.is_empty() {
            return Ok(None);
        }
        let mut bits = vec![0u8; self.lengths.len().div_ceil(8)];
        for row in &self.null_rows {
            *bits.get_mut(row / 8).or_internal("a null is behind the last row")? |= 1 << (row % 8);
        }
        Ok(nulls::nulls(&bits, self.lengths.len()))
    }

    /// The values as an array.
    ///
    /// # Errors
    /// `Corrupt` for strings that are not valid UTF-8.
    pub(crate) fn array(mut self, data_type: &DataType) -> Result<ArrayRef> {
        let nulls = self.nulls()?;
        self.data.truncate(self.end);
        Values::try_new(self.lengths, self.data)?.into_slots(data_type, nulls)
    }
}

/// Copies the first `length` bytes. Short copies have a fixed size.
#[inline]
fn copy(target: &mut [u8], source: &[u8], length: usize) -> Result<()> {
    if length <= SHORT
        && let (Some(target), Some(source)) = (target.first_chunk_mut::<SHORT>(), source.first_chunk::<SHORT>())
    {
        *target = *source;
        return Ok(());
    }
    copy_long(target, source, length)
}

#[inline(never)]
fn copy_long(target: &mut [u8], source: &[u8], length: usize) -> Result<()> {
    let (target, source) =
        target.get_mut(..length).zip(source.get(..length)).ok_or_else(|| Error::corrupt("a text beyond its page"))?;
    target.copy_from_slice(source);
    Ok(())
}

/// A length of two bytes, unsigned, as Java reads it.
#[inline]
fn short(bytes: &[u8]) -> Option<(usize, &[u8])> {
    let (length, rest) = bytes.split_first_chunk()?;
    Some((u16::from_be_bytes(*length).into(), rest))
}

#[inline]
fn int(bytes: &[u8]) -> Option<(usize, &[u8])> {
    let (length, rest) = bytes.split_first_chunk()?;
    Some((usize::try_from(i32::from_be_bytes(*length)).ok()?, rest))
}

#[cold]
fn too_long() -> Error {
    Error::limit("texts of a page of more than 2 GiB")
}

#[cold]
fn truncated() -> Error {
    Error::corrupt("a page ends within a value")
}

/// The values of a page: `rows` of them, or, in child columns, as many as fit into `max_bytes`.
pub(crate) fn slices(
    data: &[u8],
    length_width: LengthWidth,
    rows: Option<usize>,
    max_bytes: usize,
) -> Result<Vec<&[u8]>> {
    let max_values = rows.unwrap_or(max_bytes / (2 * size_of::<&[u8]>()));
    let mut values = Vec::with_capacity(rows.unwrap_or(0).min(data.len() / 2));
    let mut rest = data;
    while !rest.is_empty() {
        let (length, tail) =
            if length_width == LengthWidth::Short { short(rest) } else { int(rest) }.ok_or_else(truncated)?;
        let (value, tail) = tail.split_at_checked(length).ok_or_else(truncated)?;
        if values.len() >= max_values {
            return Err(match rows {
                Some(rows) => Error::corrupt(format!("a page of more than {rows} values for as many rows")),
                None => Error::limit(format!("a page of more than {max_values} values within others")),
            });
        }
        values.push(value);
        rest = tail;
    }
    check_rows(values.len(), rows.unwrap_or(values.len()))?;
    Ok(values)
}
