//! Offsets, views and binary arrays of values of given lengths.

use std::sync::Arc;

use arrow_array::types::ByteArrayType;
use arrow_array::{ArrayRef, GenericByteArray, OffsetSizeTrait};
use arrow_buffer::{Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::ArrowError;

use crate::error::{Error, Result};

pub(super) type ArrowResult = std::result::Result<ArrayRef, ArrowError>;

/// The adjacent values of these lengths in `bytes`.
///
/// # Panics
/// Where the sum of the lengths is larger than the number of bytes. The constructors of values check that it is not.
pub(super) fn slices<'a>(lengths: &'a [u32], bytes: &'a [u8]) -> impl Iterator<Item = &'a [u8]> {
    let mut rest = bytes;
    lengths.iter().map(move |&length| {
        let (value, after) = rest.split_at(length as usize);
        rest = after;
        value
    })
}

/// Offsets of values, or lists, of these lengths.
///
/// # Errors
/// `LimitExceeded` where the sum of the lengths overflows an offset.
pub fn offsets<O: OffsetSizeTrait>(lengths: &[u32]) -> Result<OffsetBuffer<O>> {
    let mut offsets = Offsets::with_capacity(lengths.len());
    offsets.extend(lengths);
    offsets.finish()
}

/// Builds offsets from lengths.
pub(super) struct Offsets<O> {
    /// Sums of lengths, truncated to offsets: none of them is smaller than the one before, if the last one is not truncated.
    offsets: Vec<O>,
    /// The sum of all lengths.
    sum: u64,
}

impl<O: OffsetSizeTrait> Offsets<O> {
    /// A builder with capacity for `count` lengths.
    pub(super) fn with_capacity(count: usize) -> Self {
        let mut offsets = Vec::with_capacity(count + 1);
        offsets.push(O::usize_as(0));
        Offsets { offsets, sum: 0 }
    }

    /// Appends the ends of values of these lengths.
    #[inline]
    pub(super) fn extend(&mut self, lengths: &[u32]) {
        let mut sum = self.sum;
        self.offsets.extend(lengths.iter().map(|&length| {
            sum += u64::from(length);
            #[expect(clippy::cast_possible_truncation, reason = "`finish` checks the largest")]
            O::usize_as(sum as usize)
        }));
        self.sum = sum;
    }

    /// The offsets.
    ///
    /// # Errors
    /// `LimitExceeded` where the sum of the lengths overflows an offset.
    #[expect(unsafe_code, reason = "a check of all offsets takes longer than their computation")]
    pub(super) fn finish(self) -> Result<OffsetBuffer<O>> {
        let Offsets { offsets, sum } = self;
        if usize::try_from(sum).ok().and_then(O::from_usize).is_none() {
            return Err(Error::limit(format!("{sum} bytes or elements in one array, more than its offsets reach")));
        }
        // SAFETY: there is at least one offset. The first is 0. The offsets are sums of lengths, so they are non-decreasing,
        // and the last sum fits into an offset.
        Ok(unsafe { OffsetBuffer::new_unchecked(ScalarBuffer::from(offsets)) })
    }
}

pub(super) fn binary<T: ByteArrayType>(
    offsets: OffsetBuffer<T::Offset>,
    bytes: Buffer,
    nulls: Option<NullBuffer>,
) -> ArrowResult {
    Ok(Arc::new(GenericByteArray::<T>::try_new(offsets, bytes, nulls)?))
}
