//! Booleans, integers, floating point numbers and dates.

use std::sync::Arc;

use arrow_array::types::ArrowPrimitiveType;
use arrow_array::{ArrayRef, BooleanArray, PrimitiveArray};
use arrow_buffer::{BooleanBuffer, Buffer, NullBuffer, ScalarBuffer};
use orcish_core::error::Result;
use orcish_core::nulls::{spread, spread_bits};

use super::streams::StreamDecoder;
use super::validity::{Present, existing};
use super::{Budget, ColumnReader};
use crate::codec::Stream;
use crate::encoding::bool_rle::BoolRle;
use crate::encoding::byte_rle::ByteRle;
use crate::encoding::int_rle::{IntRle, Integer};
use crate::index::GroupStart;
use crate::source::{ByteSource as _, stream_ends};
use crate::time::calendar;

/// Appends dense values of a fixed width to a vector.
pub(super) trait Values: Send {
    type Native: Copy + Default;
    fn append(&mut self, n: usize, out: &mut Vec<Self::Native>) -> Result<()>;
    fn skip(&mut self, n: usize) -> Result<()>;
    fn seek(&mut self, positions: &[u64]) -> Result<()>;
}

/// A column of values of a fixed width.
pub(super) struct PrimitiveReader<A, V> {
    present: Present,
    values: V,
    arrow: std::marker::PhantomData<fn() -> A>,
}

impl<A: ArrowPrimitiveType, V: Values<Native = A::Native>> PrimitiveReader<A, V> {
    pub(super) fn new(present: Present, values: V) -> Self {
        PrimitiveReader { present, values, arrow: std::marker::PhantomData }
    }
}

impl<A, V> ColumnReader for PrimitiveReader<A, V>
where
    A: ArrowPrimitiveType,
    V: Values<Native = A::Native>,
{
    fn width(&self) -> usize {
        size_of::<A::Native>()
    }

    fn rows_that_fit(&mut self, rows: usize, budget: Budget) -> Result<usize> {
        Ok(budget.take_rows(rows, self.width()))
    }

    fn read(&mut self, slots: usize, parent: Option<&NullBuffer>) -> Result<ArrayRef> {
        let nulls = self.present.next_slots(slots, parent)?;
        let mut values = Vec::with_capacity(slots);
        self.values.append(existing(slots, nulls.as_ref()), &mut values)?;
        spread(&mut values, nulls.as_ref());
        Ok(Arc::new(PrimitiveArray::<A>::new(ScalarBuffer::from(values), nulls)))
    }

    fn skip(&mut self, rows: usize) -> Result<()> {
        let n = self.present.skip(rows)?;
        self.values.skip(n)
    }

    fn seek(&mut self, positions: &[u64], _to: &GroupStart<'_>) -> Result<()> {
        self.present.seek(positions)?;
        self.values.seek(positions)
    }
}

/// Integers of 16 to 64 bits (ORCv1, SmallInt, Int, and BigInt Columns).
pub(super) struct Integers<T> {
    pub(super) rle: StreamDecoder<IntRle<Stream>>,
    pub(super) native: std::marker::PhantomData<T>,
}

impl<T: Integer + Send> Values for Integers<T> {
    type Native = T;

    fn append(&mut self, n: usize, out: &mut Vec<T>) -> Result<()> {
        self.rle.with(|rle| rle.append(n, out))
    }

    fn skip(&mut self, n: usize) -> Result<()> {
        self.rle.with(|rle| rle.skip(n))
    }

    fn seek(&mut self, positions: &[u64]) -> Result<()> {
        self.rle.seek(positions)
    }
}

/// Masks of integers of 16 and 32 bits. ORC Java stores masks of more digits than the type has, and readers take their lowest
/// bits: a mask is no value of the column.
pub(super) struct MaskedIntegers<T> {
    pub(super) rle: StreamDecoder<IntRle<Stream>>,
    pub(super) wide: Vec<i64>,
    pub(super) native: std::marker::PhantomData<T>,
}

impl<T: Integer + Send> Values for MaskedIntegers<T> {
    type Native = T;

    fn append(&mut self, n: usize, out: &mut Vec<T>) -> Result<()> {
        self.wide.clear();
        self.rle.with(|rle| rle.append(n, &mut self.wide))?;
        out.extend(self.wide.iter().map(|&value| T::truncate(value).0));
        Ok(())
    }

    fn skip(&mut self, n: usize) -> Result<()> {
        self.rle.with(|rle| rle.skip(n))
    }

    fn seek(&mut self, positions: &[u64]) -> Result<()> {
        self.rle.seek(positions)
    }
}

/// Tinyint columns (ORCv1, TinyInt Columns).
pub(super) struct TinyInts(pub(super) StreamDecoder<ByteRle<Stream>>);

impl Values for TinyInts {
    type Native = i8;

    fn append(&mut self, n: usize, out: &mut Vec<i8>) -> Result<()> {
        let mut bytes = vec![0; n];
        self.0.with(|tinyints| tinyints.read(&mut bytes))?;
        out.extend(bytes.into_iter().map(u8::cast_signed));
        Ok(())
    }

    fn skip(&mut self, n: usize) -> Result<()> {
        self.0.with(|tinyints| tinyints.skip(n))
    }

    fn seek(&mut self, positions: &[u64]) -> Result<()> {
        self.0.seek(positions)
    }
}

/// A floating point number as it is stored: IEEE 754, little endian.
pub(super) trait Float: Copy + Default + Send {
    const WIDTH: usize;
    fn append(bytes: &[u8], out: &mut Vec<Self>);
}

impl Float for f32 {
    const WIDTH: usize = 4;

    fn append(bytes: &[u8], out: &mut Vec<Self>) {
        out.extend(bytes.as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes)));
    }
}

impl Float for f64 {
    const WIDTH: usize = 8;

    fn append(bytes: &[u8], out: &mut Vec<Self>) {
        out.extend(bytes.as_chunks::<8>().0.iter().map(|bytes| f64::from_le_bytes(*bytes)));
    }
}

/// Floats and doubles (ORCv1, Float and Double Columns).
pub(super) struct Floats<T> {
    pub(super) stream: StreamDecoder<Stream>,
    pub(super) native: std::marker::PhantomData<T>,
}

impl<T: Float> Values for Floats<T> {
    type Native = T;

    fn append(&mut self, n: usize, out: &mut Vec<T>) -> Result<()> {
        self.stream.with(|stream| {
            let mut remaining = n * T::WIDTH;
            while remaining > 0 {
                let bytes = stream.fill(T::WIDTH)?;
                let length = bytes.len().min(remaining) / T::WIDTH * T::WIDTH;
                if length == 0 {
                    return Err(stream.fault().unwrap_or_else(|| stream_ends(remaining)));
                }
                T::append(bytes.split_at(length).0, out);
                stream.consume(length);
                remaining -= length;
            }
            Ok(())
        })
    }

    fn skip(&mut self, n: usize) -> Result<()> {
        self.stream.with(|stream| stream.skip(n.saturating_mul(T::WIDTH)))
    }

    fn seek(&mut self, positions: &[u64]) -> Result<()> {
        self.stream.seek(positions)
    }
}

/// Dates (ORCv1, Date Columns), in the proleptic Gregorian calendar.
pub(super) struct Dates {
    pub(super) rle: StreamDecoder<IntRle<Stream>>,
    /// Whether days before 1582-10-15 are in the Julian calendar.
    pub(super) hybrid: bool,
}

impl Values for Dates {
    type Native = i32;

    fn append(&mut self, n: usize, out: &mut Vec<i32>) -> Result<()> {
        let from = out.len();
        self.rle.with(|rle| rle.append(n, out))?;
        if self.hybrid {
            let (_, days) = out.split_at_mut(from);
            if days.iter().fold(i32::MAX, |least, &day| least.min(day)) < calendar::GREGORIAN_START_DAY {
                days.iter_mut().for_each(|day| *day = calendar::days_to_proleptic(*day));
            }
        }
        Ok(())
    }

    fn skip(&mut self, n: usize) -> Result<()> {
        self.rle.with(|rle| rle.skip(n))
    }

    fn seek(&mut self, positions: &[u64]) -> Result<()> {
        self.rle.seek(positions)
    }
}

/// Boolean columns (ORCv1, Boolean Columns).
pub(super) struct BooleanReader {
    pub(super) present: Present,
    pub(super) bits: StreamDecoder<BoolRle<Stream>>,
}

impl ColumnReader for BooleanReader {
    fn width(&self) -> usize {
        1
    }

    fn rows_that_fit(&mut self, rows: usize, budget: Budget) -> Result<usize> {
        Ok(budget.take_rows(rows, self.width()))
    }

    fn read(&mut self, slots: usize, parent: Option<&NullBuffer>) -> Result<ArrayRef> {
        let nulls = self.present.next_slots(slots, parent)?;
        let rows = existing(slots, nulls.as_ref());
        let bits = self.bits.with(|bits| bits.read(rows))?;
        let bits = BooleanBuffer::new(Buffer::from_vec(bits), 0, rows);
        let bits = match &nulls {
            Some(nulls) => spread_bits(&bits, nulls),
            None => bits,
        };
        Ok(Arc::new(BooleanArray::new(bits, nulls)))
    }

    fn skip(&mut self, rows: usize) -> Result<()> {
        let n = self.present.skip(rows)?;
        self.bits.with(|bits| bits.skip(n))
    }

    fn seek(&mut self, positions: &[u64], _to: &GroupStart<'_>) -> Result<()> {
        self.present.seek(positions)?;
        self.bits.seek(positions)
    }
}
