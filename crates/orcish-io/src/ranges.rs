//! Reads of many byte ranges with few requests.

use std::ops::Range;

use bytes::Bytes;
use orcish_core::{Error, ErrorKind, Limits, Result};

use crate::source::ReadAt;

/// Sorts ranges by their offsets, and merges ranges that overlap, touch, or are at most `gap` bytes apart. Empty ranges
/// are dropped.
///
/// ```
/// # #![allow(clippy::single_range_in_vec_init)]
/// assert_eq!(orcish_io::coalesce_ranges(&[10..20, 0..5, 22..30], 2), [0..5, 10..30]);
/// ```
pub fn coalesce_ranges(ranges: &[Range<u64>], gap: u64) -> Vec<Range<u64>> {
    let mut sorted: Vec<_> = ranges.iter().filter(|range| !range.is_empty()).cloned().collect();
    sorted.sort_by_key(|range| range.start);
    let mut merged: Vec<Range<u64>> = Vec::new();
    for range in sorted {
        match merged.last_mut() {
            Some(last) if range.start <= last.end.saturating_add(gap) => last.end = last.end.max(range.end),
            _ => merged.push(range),
        }
    }
    merged
}

/// Reads `ranges` after [`coalesce_ranges`]; the bytes of gaps are read and dropped.
///
/// # Errors
/// `Io` if the source fails or returns fewer bytes than requested.
pub fn read_coalesced(source: &dyn ReadAt, ranges: &[Range<u64>], gap: u64) -> Result<Vec<Bytes>> {
    let merged = coalesce_ranges(ranges, gap);
    let buffers = source.read_ranges(&merged)?;
    let slice = |range: &Range<u64>| {
        if range.is_empty() {
            return Some(Bytes::new());
        }
        let index = merged.partition_point(|candidate| candidate.end <= range.start);
        slice_range(buffers.get(index)?, merged.get(index)?.start, range)
    };
    let short_read = || Error::new(ErrorKind::Io, "the source gave fewer bytes than were asked for");
    ranges.iter().map(|range| slice(range).ok_or_else(short_read)).collect()
}

/// The bytes of the file range `range` within `bytes`, whose first byte has the file offset `offset`; `None` if the
/// range is not contained in `bytes`.
pub fn slice_range(bytes: &Bytes, offset: u64, range: &Range<u64>) -> Option<Bytes> {
    let start = usize::try_from(range.start.checked_sub(offset)?).ok()?;
    let end = usize::try_from(range.end.checked_sub(offset)?).ok()?;
    (start <= end && end <= bytes.len()).then(|| bytes.slice(start..end))
}

/// Reads `ranges` with the [`coalesce_gap`](ReadAt::coalesce_gap) of the source, or without gaps if the gaps would
/// exceed [`Limits::memory`].
///
/// # Errors
/// `LimitExceeded` if the ranges themselves exceed the limit, `Io` if the source fails.
pub fn read_with_limits(source: &dyn ReadAt, ranges: &[Range<u64>], limits: &Limits) -> Result<Vec<Bytes>> {
    let gap = source.coalesce_gap();
    let total = |gap| coalesce_ranges(ranges, gap).iter().map(|range| range.end - range.start).sum();
    check_memory_limit(total(0), limits)?;
    read_coalesced(source, ranges, if total(gap) <= limits.memory { gap } else { 0 })
}

/// As [`read_with_limits`], for one range.
///
/// # Errors
/// As [`read_with_limits`].
pub fn read_range_with_limits(source: &dyn ReadAt, range: Range<u64>, limits: &Limits) -> Result<Bytes> {
    check_memory_limit(range.end - range.start, limits)?;
    source.read_range(range)
}

/// Checks that a read of `bytes` bytes does not exceed [`Limits::memory`].
///
/// # Errors
/// `LimitExceeded` if it does.
pub fn check_memory_limit(bytes: u64, limits: &Limits) -> Result<()> {
    if bytes <= limits.memory {
        return Ok(());
    }
    Err(Error::over("memory", format!("{bytes} bytes to be read at once, more than the {} allowed", limits.memory)))
}
