//! Offsets, views and binary arrays of values of given lengths.

use std::sync::Arc;

use arrow_array::types::{ByteArrayType, ByteViewType};
use arrow_array::{ArrayRef, GenericByteArray, GenericByteViewArray, OffsetSizeTrait, builder::make_view};
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

/// A view array of values of these lengths.
///
/// # Errors
/// `LimitExceeded` where the offset of a value overflows a view.
pub(super) fn views<T: ByteViewType>(lengths: &[u32], bytes: Buffer, nulls: Option<NullBuffer>) -> Result<ArrowResult> {
    let mut views = Vec::with_capacity(lengths.len());
    let mut start = 0u32;
    for (value, &length) in slices(lengths, &bytes).zip(lengths) {
        views.push(make_view(value, 0, start));
        let end = start.checked_add(length);
        start = end.ok_or_else(|| Error::limit("4 GiB or more in one array, which views do not reach"))?;
    }
    let array = GenericByteViewArray::<T>::try_new(ScalarBuffer::from(views), vec![bytes], nulls);
    Ok(array.map(|array| Arc::new(array) as ArrayRef))
}
