//! Numbers of the distinct values of a column.

use std::hash::Hash;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, UInt32Array};
use hashbrown::HashMap;
use orcish_core::OrInternal as _;
use orcish_core::error::{Error, Result};

use crate::partition::bytes_of_text;

/// A column as numbers of its distinct values, in the order in which they appear. Null is a value.
#[derive(Clone)]
pub(super) struct Codes {
    /// The number of the value of each row.
    pub(super) codes: Vec<u32>,
    /// The first row of each value.
    pub(super) firsts: Vec<u32>,
}

impl Codes {
    /// Numbers the values of a column, which has no dictionary. Floats are compared by their bits.
    ///
    /// # Errors
    /// `Unsupported` for nested types, and for more than 2^32 - 1 rows.
    pub(super) fn of(column: &ArrayRef) -> Result<Self> {
        let rows = column.len();
        if u32::try_from(rows).is_err() {
            return Err(Error::unsupported("a batch has at most 4,294,967,295 rows"));
        }
        if let Some(bytes) = bytes_of_text(column) {
            return Ok(Self::of_bytes(&bytes));
        }
        if let Some(booleans) = column.as_boolean_opt() {
            return Ok(Self::number(booleans.iter()));
        }
        let kind = column.data_type();
        if kind.is_null() {
            return Ok(Self::number((0..rows).map(|_| ())));
        }
        let unsupported = || Error::unsupported(format!("values of {kind} cannot be names of folders"));
        let width = kind.primitive_width().filter(|width| *width > 0).ok_or_else(unsupported)?;
        let data = column.to_data();
        let buffer = data.buffers().first().ok_or_else(unsupported)?;
        let bytes = buffer.as_slice().get(data.offset() * width..).or_internal("an array begins behind its buffer")?;
        let values = bytes.chunks_exact(width).take(rows).enumerate();
        Ok(match width {
            ..=8 => Self::number(values.map(|(row, value)| column.is_valid(row).then(|| word(value)))),
            _ => Self::number(values.map(|(row, value)| column.is_valid(row).then_some(value))),
        })
    }

    fn of_bytes(bytes: &ArrayRef) -> Self {
        if let Some(bytes) = bytes.as_binary_opt::<i32>() {
            Self::number(bytes.iter())
        } else if let Some(bytes) = bytes.as_binary_opt::<i64>() {
            Self::number(bytes.iter())
        } else if let Some(bytes) = bytes.as_binary_view_opt() {
            Self::number(bytes.iter())
        } else {
            Self::number(bytes.as_fixed_size_binary().iter())
        }
    }

    /// Numbers values, of which there are fewer than 2^32.
    fn number<T: Hash + Eq + Copy>(values: impl Iterator<Item = T>) -> Self {
        let mut known: HashMap<T, u32, foldhash::fast::RandomState> = HashMap::default();
        let (mut codes, mut firsts) = (Vec::with_capacity(values.size_hint().0), Vec::new());
        let mut last: Option<(T, u32)> = None;
        let mut next = 0;
        for (row, value) in (0_u32..).zip(values) {
            let code = match last {
                Some((before, code)) if before == value => code,
                _ => *known.entry(value).or_insert_with(|| {
                    firsts.push(row);
                    next += 1;
                    next - 1
                }),
            };
            last = Some((value, code));
            codes.push(code);
        }
        Codes { codes, firsts }
    }

    /// Gives values of equal labels the same number.
    ///
    /// # Errors
    /// `Internal` for a value without a label.
    pub(super) fn merge<T: Hash + Eq>(self, labels: impl Iterator<Item = T>) -> Result<Self> {
        let mut known: HashMap<T, u32, foldhash::fast::RandomState> = HashMap::default();
        let merged: Vec<u32> = (0_u32..).zip(labels).map(|(code, label)| *known.entry(label).or_insert(code)).collect();
        if known.len() == merged.len() {
            return Ok(self);
        }
        let codes = self.codes.into_iter().map(|code| merged.get(code as usize).copied());
        let codes = codes.collect::<Option<Vec<_>>>().or_internal("a value has no label")?;
        Ok(Self::number(codes.into_iter()))
    }

    /// Numbers pairs of values of two columns of the same rows.
    pub(super) fn combine(&self, other: &Codes) -> Self {
        let pairs = self.codes.iter().zip(&other.codes);
        Self::number(pairs.map(|(a, b)| (u64::from(*a) << 32) | u64::from(*b)))
    }

    /// The number of values.
    pub(super) fn len(&self) -> usize {
        self.firsts.len()
    }

    /// The rows sorted by their value, in the order that they have among those of their value, and the end of each value
    /// in them.
    #[expect(
        clippy::indexing_slicing,
        reason = "numbers are less than the count of values, and each row has one place"
    )]
    pub(super) fn sort(&self) -> (UInt32Array, Vec<usize>) {
        let mut starts = vec![0; self.len() + 1];
        for code in &self.codes {
            starts[*code as usize + 1] += 1;
        }
        let mut total = 0;
        for start in &mut starts {
            total += *start;
            *start = total;
        }
        let mut order = vec![0; self.codes.len()];
        for (row, code) in (0_u32..).zip(&self.codes) {
            let next = &mut starts[*code as usize];
            order[*next] = row;
            *next += 1;
        }
        // Each start is now the end of its value.
        starts.pop();
        (order.into(), starts)
    }
}

/// A value of at most eight bytes as a number.
fn word(value: &[u8]) -> u64 {
    value.iter().fold(0, |word, byte| (word << 8) | u64::from(*byte))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::{BooleanArray, Decimal128Array, Float64Array, Int16Array, NullArray, StringArray};

    use super::*;

    #[test]
    fn values_are_numbered_as_they_appear() {
        let numbered = |array: ArrayRef| {
            let Codes { codes, firsts } = Codes::of(&array.slice(1, array.len() - 1)).unwrap();
            (codes, firsts)
        };
        let want = (vec![0, 1, 0, 2, 2, 1], vec![0, 1, 3]);
        let texts = StringArray::from(vec![Some("x"), Some("b"), None, Some("b"), Some(""), Some(""), None]);
        assert_eq!(numbered(Arc::new(texts)), want);
        let numbers = Int16Array::from(vec![Some(9), Some(-5), None, Some(-5), Some(0), Some(0), None]);
        assert_eq!(numbered(Arc::new(numbers)), want);
        let wide = Decimal128Array::from(vec![Some(9), Some(5), None, Some(5), Some(0), Some(0), None]);
        assert_eq!(numbered(Arc::new(wide)), want);
        let flags = BooleanArray::from(vec![None, Some(true), None, Some(true), Some(false), Some(false), None]);
        assert_eq!(numbered(Arc::new(flags)), want);
        assert_eq!(numbered(Arc::new(NullArray::new(3))), (vec![0, 0], vec![0]));
        let floats = Float64Array::from(vec![1.0, 0.0, -0.0, f64::NAN, 0.0]);
        assert_eq!(numbered(Arc::new(floats)), (vec![0, 1, 2, 0], vec![0, 1, 2]));
    }

    #[test]
    fn rows_are_sorted_by_value() {
        let codes = Codes { codes: vec![1, 0, 1, 2, 0], firsts: vec![1, 0, 3] };
        let (order, ends) = codes.sort();
        assert_eq!((order.values().to_vec(), ends), (vec![1, 4, 0, 2, 3], vec![2, 4, 5]));
        let merged = codes.merge(["a", "b", "a"].into_iter()).unwrap();
        assert_eq!((merged.codes, merged.firsts), (vec![0, 1, 0, 1, 1], vec![0, 1]));
    }
}
