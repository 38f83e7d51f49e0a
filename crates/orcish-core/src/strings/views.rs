//! Arrays of views.

use std::sync::Arc;

use arrow_array::types::ByteViewType;
use arrow_array::{GenericByteViewArray, builder::make_view};
use arrow_buffer::{Buffer, NullBuffer, ScalarBuffer};

use super::array::ArrowResult;
use crate::error::{Error, OrInternal as _, Result};

/// Views of values in one buffer. Each view was made of the bytes that it refers to, and none is changed.
#[derive(Debug)]
pub(super) struct Views {
    views: Vec<u128>,
    bytes: Buffer,
}

impl Views {
    /// The views of the values at `ranges` of `bytes`, as offset and length.
    ///
    /// # Errors
    /// `Internal` where a value ends behind `bytes`.
    pub(super) fn of_ranges(ranges: impl Iterator<Item = (u32, u32)>, bytes: Buffer) -> Result<Self> {
        let view = |(start, length): (u32, u32)| {
            let value = bytes.get(start as usize..).and_then(|rest| rest.get(..length as usize));
            Ok(make_view(value.or_internal("a value ends behind the bytes")?, 0, start))
        };
        Ok(Views { views: ranges.map(view).collect::<Result<_>>()?, bytes })
    }

    /// The views of adjacent values of these lengths.
    ///
    /// # Errors
    /// `LimitExceeded` where the offset of a value overflows a view.
    pub(super) fn of_lengths(lengths: &[u32], bytes: Buffer) -> Result<Self> {
        let total: u64 = lengths.iter().map(|&length| u64::from(length)).sum();
        if u32::try_from(total).is_err() {
            return Err(Error::limit("4 GiB or more in one array, which views do not reach"));
        }
        let mut end = 0;
        let range = |&length: &u32| {
            let start = end;
            end += length;
            (start, length)
        };
        Self::of_ranges(lengths.iter().map(range), bytes)
    }

    /// The views at `keys`, in their order.
    ///
    /// # Panics
    /// Where a key is not less than the number of views.
    #[expect(clippy::indexing_slicing, reason = "callers have checked the keys, which come from a file")]
    pub(super) fn gather(&self, keys: &[u32]) -> Self {
        let views = keys.iter().map(|&key| self.views[key as usize]).collect();
        Views { views, bytes: self.bytes.clone() }
    }

    /// An array of the values. Arrow validates each view and each text, unless they are known to be valid.
    #[expect(unsafe_code, reason = "gathering strings of a dictionary takes ten times as long with the checks")]
    pub(super) fn into_array<T: ByteViewType>(self, nulls: Option<NullBuffer>, is_utf8: bool) -> ArrowResult {
        let Views { views, bytes } = self;
        let as_long = nulls.as_ref().is_none_or(|nulls| nulls.len() == views.len());
        let is_valid = !T::IS_UTF8 || is_utf8 || bytes.is_ascii();
        let (views, buffers): (_, Arc<[Buffer]>) = (ScalarBuffer::from(views), Arc::new([bytes]));
        if as_long && is_valid {
            // SAFETY: `make_view` made each view of bytes of the only buffer, at the offset in the view. There are as many slots
            // as views. Each value of a string array is valid UTF-8: it was checked, or all bytes are ASCII.
            return Ok(Arc::new(unsafe { GenericByteViewArray::<T>::new_unchecked(views, buffers, nulls) }));
        }
        Ok(Arc::new(GenericByteViewArray::<T>::try_new(views, buffers, nulls)?))
    }
}
