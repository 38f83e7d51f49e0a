//! Ranges of bytes: few requests for many ranges.

use std::ops::Range;

use bytes::Bytes;
use orcish_core::{Error, ErrorKind, Limits, Result};

use crate::source::ReadAt;

/// Joins ranges that overlap, touch, or have at most `gap` bytes between them, in order of their offsets.
pub fn coalesce(ranges: &[Range<u64>], gap: u64) -> Vec<Range<u64>> {
    let mut sorted: Vec<_> = ranges.iter().filter(|range| !range.is_empty()).cloned().collect();
    sorted.sort_by_key(|range| range.start);
    let mut joined: Vec<Range<u64>> = Vec::new();
    for range in sorted {
        match joined.last_mut() {
            Some(last) if range.start <= last.end.saturating_add(gap) => last.end = last.end.max(range.end),
            _ => joined.push(range),
        }
    }
    joined
}

/// Reads `ranges` through as few requests as their neighbourhood allows: gaps of `gap` bytes are read too.
pub fn read_coalesced(source: &dyn ReadAt, ranges: &[Range<u64>], gap: u64) -> Result<Vec<Bytes>> {
    let joined = coalesce(ranges, gap);
    let parts = source.read_ranges(&joined)?;
    let slice = |range: &Range<u64>| {
        if range.is_empty() {
            return Some(Bytes::new());
        }
        let at = joined.partition_point(|whole| whole.end <= range.start);
        let (whole, bytes) = (joined.get(at)?, parts.get(at)?);
        part_of(bytes, whole.start, range)
    };
    let missing = || Error::new(ErrorKind::Io, "the source gave fewer bytes than were asked for");
    ranges.iter().map(|range| slice(range).ok_or_else(missing)).collect()
}

/// The bytes of `range`, if they are in `bytes`, which begin at `start`.
pub fn part_of(bytes: &Bytes, start: u64, range: &Range<u64>) -> Option<Bytes> {
    let from = usize::try_from(range.start.checked_sub(start)?).ok()?;
    let to = usize::try_from(range.end.checked_sub(start)?).ok()?;
    (from <= to && to <= bytes.len()).then(|| bytes.slice(from..to))
}

/// Reads ranges, with the gaps between them where that saves requests and memory has room for it.
///
/// # Errors
/// `LimitExceeded` for more bytes than `limits` allow, `Io` where the source fails.
pub fn read_within(source: &dyn ReadAt, ranges: &[Range<u64>], limits: &Limits) -> Result<Vec<Bytes>> {
    let gap = source.gap();
    let length = |gap| coalesce(ranges, gap).iter().map(|range| range.end - range.start).sum();
    check_memory(length(0), limits)?;
    read_coalesced(source, ranges, if length(gap) <= limits.memory { gap } else { 0 })
}

/// Checks that a read of so many bytes is within [`Limits::memory`].
///
/// # Errors
/// `LimitExceeded`.
pub fn check_memory(bytes: u64, limits: &Limits) -> Result<()> {
    if bytes <= limits.memory {
        return Ok(());
    }
    Err(Error::over("memory", format!("{bytes} bytes to be read at once, more than the {} allowed", limits.memory)))
}
