//! The last valid tail within a torn file.

use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use orcish_core::cancel::Cancellation;
use orcish_core::error::{Error, ErrorKind, Result};
use orcish_core::limits::Limits;
use orcish_io::ReadAt;

use super::super::tail::MAGIC;
use crate::tail::{FileTail, read_tail};
use crate::tuning;

/// The last field of a postscript: tag and length of the magic, and the magic (ORCv1, Postscript). The length of the
/// postscript follows.
const MAGIC_FIELD: [u8; 7] = [0x82, 0xF4, 0x03, 0x03, b'O', b'R', b'C'];

/// Places that look like the end of a tail, at most.
const MAX_CANDIDATES: usize = 10_000;

/// The beginning of a source, as a source of its own.
pub(super) struct Prefix {
    pub(super) source: Arc<dyn ReadAt>,
    pub(super) length: u64,
}

impl ReadAt for Prefix {
    fn name(&self) -> &str {
        self.source.name()
    }

    fn size(&self) -> Result<u64> {
        Ok(self.length)
    }

    fn read_ranges(&self, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        self.source.read_ranges(ranges)
    }
}

/// The last tail of a file.
pub(super) struct LastTail {
    /// The offset at which it ends.
    pub(super) end: u64,
    pub(super) tail: FileTail,
    /// Whether it follows the stripes that it lists. Otherwise it is damaged, or is part of a value.
    pub(super) is_sure: bool,
}

/// The offset at which the stripes of a file end whose tail ends at `end`.
pub(super) fn content_end(tail: &FileTail, end: u64) -> u64 {
    match &tail.stripe_statistics {
        range if range.is_empty() => end.saturating_sub(tail.tail_length),
        range => range.start,
    }
}

/// The last valid tail of a source, and the offset at which it ends. A writer that flushes, as those of streams do, leaves
/// tails within its file. `None` if there is none.
///
/// A value may be a whole ORC file. Its tail does not follow the stripes that it lists, as their offsets are those of
/// another file. Such a tail is returned only if there is no other one.
///
/// # Errors
/// Errors of the source, and of the cancellation check; `LimitExceeded` if too many places look like tails.
pub(super) fn last_tail(
    source: &Arc<dyn ReadAt>,
    size: u64,
    limits: &Limits,
    cancellation: &mut Cancellation,
) -> Result<Option<LastTail>> {
    let at_end = tail_at(source, size, limits)?;
    let mut other = match at_end {
        Some((end, tail)) if follows_stripes(source, (&tail, end), limits, cancellation)? => {
            return Ok(Some(LastTail { end, tail, is_sure: true }));
        }
        at_end => at_end,
    };
    let mut candidates = 0;
    // Windows overlap by the bytes that end behind them.
    let overlap = MAGIC_FIELD.len() as u64;
    let mut end = size;
    while end > overlap {
        cancellation.poll()?;
        let start = end.saturating_sub(tuning::MERGE_COPY_BYTES.wide());
        let range = start..end;
        let window = source.read_ranges(std::slice::from_ref(&range))?.pop().unwrap_or_default();
        for at in (0..window.len().saturating_sub(MAGIC_FIELD.len())).rev() {
            if !window.get(at..).is_some_and(|rest| rest.starts_with(&MAGIC_FIELD)) {
                continue;
            }
            candidates += 1;
            if candidates > MAX_CANDIDATES {
                return Err(Error::limit(format!("more than {MAX_CANDIDATES} places look like the end of a tail")));
            }
            cancellation.poll()?;
            let tail_end = start + (at + MAGIC_FIELD.len() + 1) as u64;
            if let Some((end, tail)) = tail_at(source, tail_end, limits)? {
                if follows_stripes(source, (&tail, end), limits, cancellation)? {
                    return Ok(Some(LastTail { end, tail, is_sure: true }));
                }
                other = other.or(Some((end, tail)));
            }
        }
        if start == 0 {
            break;
        }
        end = start + overlap;
    }
    Ok(other.map(|(end, tail)| LastTail { end, tail, is_sure: false }))
}

/// Whether a tail that ends at an offset begins where the last stripe ends that it lists, or behind tails that do.
///
/// # Errors
/// Errors of the source, and of the cancellation check.
fn follows_stripes(
    source: &Arc<dyn ReadAt>,
    (tail, end): (&FileTail, u64),
    limits: &Limits,
    cancellation: &mut Cancellation,
) -> Result<bool> {
    let last = tail.stripes.iter().map(|stripe| stripe.footer().end).max();
    let (mut at, begin) = (last.unwrap_or(MAGIC.len() as u64), content_end(tail, end));
    while at < begin {
        let Some(next) = tail_from(source, at..begin, limits, cancellation)? else { return Ok(false) };
        at = next;
    }
    Ok(at == begin)
}

/// The end of the first tail within `range` whose statistics of stripes or footer begin where the range begins, as a writer
/// leaves it that flushes and goes on. `None` if there is none.
///
/// # Errors
/// Errors of the source, and of the cancellation check.
pub(super) fn tail_from(
    source: &Arc<dyn ReadAt>,
    range: Range<u64>,
    limits: &Limits,
    cancellation: &mut Cancellation,
) -> Result<Option<u64>> {
    if range.end - range.start > limits.tail {
        return Ok(None);
    }
    let bytes = source.read_ranges(std::slice::from_ref(&range))?.pop().unwrap_or_default();
    let places = bytes.windows(MAGIC_FIELD.len()).enumerate().filter(|(_, window)| **window == MAGIC_FIELD);
    for (at, _) in places.take(MAX_CANDIDATES) {
        cancellation.poll()?;
        let end = range.start + (at + MAGIC_FIELD.len() + 1) as u64;
        if end <= range.end
            && let Some((end, tail)) = tail_at(source, end, limits)?
            && content_end(&tail, end) == range.start
        {
            return Ok(Some(end));
        }
    }
    Ok(None)
}

/// The tail that ends at an offset. `None` if there is none.
fn tail_at(source: &Arc<dyn ReadAt>, end: u64, limits: &Limits) -> Result<Option<(u64, FileTail)>> {
    match read_tail(&Prefix { source: source.clone(), length: end }, limits) {
        Ok(tail) => Ok(Some((end, tail))),
        Err(error) if matches!(error.kind(), ErrorKind::Io | ErrorKind::Interrupted) => Err(error),
        Err(_) => Ok(None),
    }
}
