//! Footers of data files.

use std::ops::Range;

use bytes::Bytes;
use orcish_core::{Error, ErrorKind, Limits, Result};
use orcish_io::{ReadAt, slice_range};

/// Length of the offset of the footer, at the end of the file.
pub(super) const FOOTER_OFFSET_LEN: u64 = 8;

/// The bytes of the footer, and its offset.
///
/// # Errors
/// `Corrupt` where the file does not end with a valid offset, `LimitExceeded` for a large footer.
pub(crate) fn footer(source: &dyn ReadAt, size: u64, end: &Bytes, limits: &Limits) -> Result<(Bytes, u64)> {
    let pointer = end.last_chunk::<8>().ok_or_else(|| Error::corrupt("the file is too short to have a footer"))?;
    let pointer = i64::from_be_bytes(*pointer);
    let last = size.saturating_sub(FOOTER_OFFSET_LEN);
    let start = u64::try_from(pointer).ok().filter(|&start| start < last);
    let start = start.ok_or_else(|| Error::corrupt(format!("a footer at byte {pointer} of {size}")))?;
    let length = last - start;
    if length > limits.tail {
        return Err(Error::over("tail", format!("a footer of {length} bytes, of {} that are allowed", limits.tail)));
    }
    Ok((read_range(source, size, end, start..last)?, start))
}

/// The number of rows of a footer, which is required.
pub(crate) fn required_num_rows(rows: Option<i64>) -> Result<u64> {
    let rows = rows.ok_or_else(|| Error::corrupt("a footer that does not say how many rows there are"))?;
    u64::try_from(rows).map_err(|_| Error::corrupt(format!("{rows} rows")))
}

/// A range of a file of `size` bytes, whose last bytes are `end`.
pub(crate) fn read_range(source: &dyn ReadAt, size: u64, end: &Bytes, range: Range<u64>) -> Result<Bytes> {
    let known = size.saturating_sub(u64::try_from(end.len()).unwrap_or(u64::MAX));
    if range.start >= known {
        let fewer = || Error::new(ErrorKind::Io, "the source gave fewer bytes than were asked for");
        return slice_range(end, known, &range).ok_or_else(fewer);
    }
    source.read_range(range)
}
