//! Booleans, integers, floating point numbers and dates.

use std::sync::Arc;

use arrow_array::types::ArrowPrimitiveType;
use arrow_array::{ArrayRef, BooleanArray, PrimitiveArray};
use arrow_buffer::{BooleanBuffer, Buffer, NullBuffer, ScalarBuffer};
use orcish_core::error::Result;
use orcish_core::nulls::{spread, spread_bits};

use super::validity::{Present, existing};
use super::{Budget, ColumnReader};
use crate::codec::Stream;
use crate::encoding::bool_rle::BoolRle;
use crate::encoding::byte_rle::ByteRle;
use crate::encoding::int_rle::{IntRle, Integer};
use crate::index::GroupStart;
use crate::source::{ByteSource, Positions, SeekSource as _, stream_ends};
use crate::time::calendar;

/// Appends dense values of a fixed width to a vector.
pub(super) trait Values: Send {
    type Native: Copy + Default;
    fn append(&mut self, n: usize, out: &mut Vec<Self::Native>) -> Result<()>;
    fn skip(&mut self, n: usize) -> Result<()>;
    fn seek(&mut self, own: &mut Positions<'_>) -> Result<()>;
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

    fn plan(&mut self, rows: usize, budget: Budget) -> Result<usize> {
        Ok(budget.take_rows(rows, self.width()))
    }

    fn read(&mut self, slots: usize, parent: Option<&NullBuffer>) -> Result<ArrayRef> {
        let nulls = self.present.next_slots(slots, parent)?;
        let mut values = Vec::with_capacity(slots);
        self.values.append(existing(slots, nulls.as_ref()), &mut values).map_err(|error| error.in_stream("DATA"))?;
        spread(&mut values, nulls.as_ref());
        Ok(Arc::new(PrimitiveArray::<A>::new(ScalarBuffer::from(values), nulls)))
    }

    fn skip(&mut self, rows: usize) -> Result<()> {
        let n = self.present.skip(rows)?;
        self.values.skip(n).map_err(|error| error.in_stream("DATA"))
    }

    fn seek(&mut self, own: &mut Positions<'_>, _to: &GroupStart<'_>) -> Result<()> {
        self.present.seek(own)?;
        self.values.seek(own).map_err(|error| error.in_stream("DATA"))
    }
}

/// Integers of 16 to 64 bits (ORCv1, SmallInt, Int, and BigInt Columns).
pub(super) struct Integers<T> {
    pub(super) rle: IntRle<Stream>,
    pub(super) native: std::marker::PhantomData<T>,
}

impl<T: Integer + Send> Values for Integers<T> {
    type Native = T;

    fn append(&mut self, n: usize, out: &mut Vec<T>) -> Result<()> {
        self.rle.append(n, out)
    }

    fn skip(&mut self, n: usize) -> Result<()> {
        self.rle.skip(n)
    }

    fn seek(&mut self, own: &mut Positions<'_>) -> Result<()> {
        self.rle.seek(own)
    }
}

/// Tinyint columns (ORCv1, TinyInt Columns).
pub(super) struct Bytes(pub(super) ByteRle<Stream>);

impl Values for Bytes {
    type Native = i8;

    fn append(&mut self, n: usize, out: &mut Vec<i8>) -> Result<()> {
        let mut bytes = vec![0; n];
        self.0.read(&mut bytes)?;
        out.extend(bytes.into_iter().map(u8::cast_signed));
        Ok(())
    }

    fn skip(&mut self, n: usize) -> Result<()> {
        self.0.skip(n)
    }

    fn seek(&mut self, own: &mut Positions<'_>) -> Result<()> {
        self.0.seek(own)
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
    pub(super) stream: Stream,
    pub(super) native: std::marker::PhantomData<T>,
}

impl<T: Float> Values for Floats<T> {
    type Native = T;

    fn append(&mut self, n: usize, out: &mut Vec<T>) -> Result<()> {
        let mut left = n * T::WIDTH;
        while left > 0 {
            let bytes = self.stream.fill(T::WIDTH)?;
            let length = bytes.len().min(left) / T::WIDTH * T::WIDTH;
            if length == 0 {
                return Err(self.stream.fault().unwrap_or_else(|| stream_ends(left)));
            }
            T::append(bytes.get(..length).unwrap_or_default(), out);
            self.stream.consume(length);
            left -= length;
        }
        Ok(())
    }

    fn skip(&mut self, n: usize) -> Result<()> {
        self.stream.skip(n.saturating_mul(T::WIDTH))
    }

    fn seek(&mut self, own: &mut Positions<'_>) -> Result<()> {
        self.stream.seek(own)
    }
}

/// Dates (ORCv1, Date Columns), in the proleptic Gregorian calendar.
pub(super) struct Dates {
    pub(super) rle: IntRle<Stream>,
    /// Whether days before 1582-10-15 are in the Julian calendar.
    pub(super) hybrid: bool,
}

impl Values for Dates {
    type Native = i32;

    fn append(&mut self, n: usize, out: &mut Vec<i32>) -> Result<()> {
        let from = out.len();
        self.rle.append(n, out)?;
        if self.hybrid {
            let days = out.get_mut(from..).unwrap_or_default();
            if days.iter().fold(i32::MAX, |least, &day| least.min(day)) < calendar::GREGORIAN_START_DAY {
                days.iter_mut().for_each(|day| *day = calendar::days_to_proleptic(*day));
            }
        }
        Ok(())
    }

    fn skip(&mut self, n: usize) -> Result<()> {
        self.rle.skip(n)
    }

    fn seek(&mut self, own: &mut Positions<'_>) -> Result<()> {
        self.rle.seek(own)
    }
}

/// Boolean columns (ORCv1, Boolean Columns).
pub(super) struct BooleanReader {
    pub(super) present: Present,
    pub(super) bits: BoolRle<Stream>,
}

impl ColumnReader for BooleanReader {
    fn width(&self) -> usize {
        1
    }

    fn plan(&mut self, rows: usize, budget: Budget) -> Result<usize> {
        Ok(budget.take_rows(rows, self.width()))
    }

    fn read(&mut self, slots: usize, parent: Option<&NullBuffer>) -> Result<ArrayRef> {
        let nulls = self.present.next_slots(slots, parent)?;
        let rows = existing(slots, nulls.as_ref());
        let bits = self.bits.read(rows).map_err(|error| error.in_stream("DATA"))?;
        let bits = BooleanBuffer::new(Buffer::from_vec(bits), 0, rows);
        let bits = match &nulls {
            Some(nulls) => spread_bits(&bits, nulls),
            None => bits,
        };
        Ok(Arc::new(BooleanArray::new(bits, nulls)))
    }

    fn skip(&mut self, rows: usize) -> Result<()> {
        let n = self.present.skip(rows)?;
        self.bits.skip(n).map_err(|error| error.in_stream("DATA"))
    }

    fn seek(&mut self, own: &mut Positions<'_>, _to: &GroupStart<'_>) -> Result<()> {
        self.present.seek(own)?;
        self.bits.seek(own).map_err(|error| error.in_stream("DATA"))
    }
}
