//! The tails within a torn file.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use orcish_core::cancel::Cancellation;
use orcish_core::error::{Error, Result};
use orcish_core::limits::Limits;
use orcish_io::ReadAt;

use super::super::tail::MAGIC;
use crate::tail::{FileTail, read_tail};
use crate::tuning;

/// The last field of a postscript: tag and length of the magic, and the magic (ORCv1, Postscript). The length of the
/// postscript follows.
const MAGIC_FIELD: [u8; 7] = [0x82, 0xF4, 0x03, 0x03, b'O', b'R', b'C'];

/// Places of a file that look like the end of a tail and are read as one, at most. Tails beyond them are not found.
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

/// The tails of a source. A writer that flushes, as those of streams do, leaves tails within its file.
///
/// Each byte is looked at once, and a place is read a few times at most, however often tails are asked for.
pub(super) struct Tails<'a> {
    source: &'a Arc<dyn ReadAt>,
    size: u64,
    limits: &'a Limits,
    /// Bytes of a window.
    window: u64,
    /// The offsets at which something ends that looks like a tail, in ascending order, by the number of the window in which
    /// its magic begins.
    places: HashMap<u64, Arc<[u64]>>,
    /// The content end of the tail that ends at an offset. `None` if there is no tail.
    read: HashMap<u64, Option<u64>>,
}

impl<'a> Tails<'a> {
    pub(super) fn new(source: &'a Arc<dyn ReadAt>, size: u64, limits: &'a Limits) -> Self {
        Tails {
            source,
            size,
            limits,
            window: tuning::MERGE_COPY_BYTES.wide(),
            places: HashMap::new(),
            read: HashMap::new(),
        }
    }

    /// Length of the source in bytes.
    pub(super) fn size(&self) -> u64 {
        self.size
    }

    /// The last valid tail, and the offset at which it ends. `None` if there is none.
    ///
    /// A value may be a whole ORC file. Its tail does not follow the stripes that it lists, as their offsets are those of
    /// another file. Such a tail is returned only if there is no other one.
    ///
    /// # Errors
    /// Errors of the source, and of the cancellation check; `LimitExceeded` if too many places look like tails.
    pub(super) fn last(&mut self, cancellation: &mut Cancellation) -> Result<Option<LastTail>> {
        let mut other = None;
        if let Some(tail) = self.tail_at(self.size)? {
            let is_sure = self.follows_stripes(&tail, self.size, cancellation)?;
            let candidate = LastTail { end: self.size, tail, is_sure };
            if is_sure {
                return Ok(Some(candidate));
            }
            other = Some(candidate);
        }
        for window in (0..self.size.div_ceil(self.window)).rev() {
            for &end in self.places_in(window, cancellation)?.iter().rev() {
                cancellation.poll()?;
                if self.read.get(&end).is_some_and(Option::is_none) {
                    continue;
                }
                if self.is_full() {
                    return Err(Error::limit(format!("more than {MAX_CANDIDATES} places look like the end of a tail")));
                }
                let Some(tail) = self.tail_at(end)? else { continue };
                let is_sure = self.follows_stripes(&tail, end, cancellation)?;
                let candidate = LastTail { end, tail, is_sure };
                if is_sure {
                    return Ok(Some(candidate));
                }
                other = other.or(Some(candidate));
            }
        }
        Ok(other)
    }

    /// The end of the first tail within `range` whose statistics of stripes or footer begin where the range begins, as a
    /// writer leaves it that flushes and goes on. `None` if there is none, or if too many places look like tails.
    ///
    /// # Errors
    /// Errors of the source, and of the cancellation check.
    pub(super) fn first_of(&mut self, range: &Range<u64>, cancellation: &mut Cancellation) -> Result<Option<u64>> {
        let end = range.end.min(range.start.saturating_add(self.limits.tail));
        for window in range.start / self.window..end.div_ceil(self.window) {
            for &place in self.places_in(window, cancellation)?.iter() {
                if place <= range.start || place > end {
                    continue;
                }
                cancellation.poll()?;
                if !self.read.contains_key(&place) {
                    if self.is_full() {
                        return Ok(None);
                    }
                    self.tail_at(place)?;
                }
                if self.read.get(&place) == Some(&Some(range.start)) {
                    return Ok(Some(place));
                }
            }
        }
        Ok(None)
    }

    /// Whether a tail that ends at an offset begins where the last stripe ends that it lists, or behind tails that do.
    fn follows_stripes(&mut self, tail: &FileTail, end: u64, cancellation: &mut Cancellation) -> Result<bool> {
        let last = tail.stripes.iter().map(|stripe| stripe.footer().end).max();
        let (mut at, begin) = (last.unwrap_or(MAGIC.len() as u64), content_end(tail, end));
        while at < begin && begin - at <= self.limits.tail {
            let Some(next) = self.first_of(&(at..begin), cancellation)? else { return Ok(false) };
            at = next;
        }
        Ok(at == begin)
    }

    fn is_full(&self) -> bool {
        self.read.len() >= MAX_CANDIDATES
    }

    /// The tail that ends at an offset. `None` if there is none.
    fn tail_at(&mut self, end: u64) -> Result<Option<FileTail>> {
        let tail = match read_tail(&Prefix { source: self.source.clone(), length: end }, self.limits) {
            Ok(tail) => Some(tail),
            Err(error) if !error.kind().is_of_file() => return Err(error),
            Err(_) => None,
        };
        self.read.insert(end, tail.as_ref().map(|tail| content_end(tail, end)));
        Ok(tail)
    }

    /// The offsets at which something ends that looks like a tail, and whose magic begins in a window.
    fn places_in(&mut self, window: u64, cancellation: &mut Cancellation) -> Result<Arc<[u64]>> {
        if let Some(places) = self.places.get(&window) {
            return Ok(places.clone());
        }
        cancellation.poll()?;
        let start = window * self.window;
        // The magic may end in the next window, where the length of the postscript follows it.
        let range = start..self.size.min(start + self.window + MAGIC_FIELD.len() as u64);
        let bytes = self.source.read_range(range)?;
        let looks_like_end = |(at, window): (usize, &[u8])| {
            window.starts_with(&MAGIC_FIELD).then_some(start + (at + window.len()) as u64)
        };
        let places = bytes.windows(MAGIC_FIELD.len() + 1).enumerate().filter_map(looks_like_end);
        let places: Arc<[u64]> = places.take(MAX_CANDIDATES + 1).collect();
        self.places.insert(window, places.clone());
        Ok(places)
    }
}
