//! Row indexes (ORCv1, Row Group Index): the positions of row groups in the streams of a column, and their statistics.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use orcish_core::error::Result;
use orcish_core::statistics::ColumnStatistics;

use crate::layout::{Coding, ColumnLayout, PlacedStream};
use crate::memory::{Charge, Memory};
use crate::proto::{ROW_INDEX, decode_message, lazy, repeated_field};
use crate::stripe::{StreamRanges, Stripe};
use crate::tail::{FileTail, undecodable};

/// The row groups of a stripe. Each has `stride` rows, the last may have fewer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RowGroups {
    rows: u64,
    stride: u64,
}

impl RowGroups {
    /// The row groups of a stripe of `rows` rows; a single row group if `stride` is 0.
    pub(crate) fn new(rows: u64, stride: u32) -> Self {
        RowGroups { rows, stride: if stride == 0 { rows.max(1) } else { stride.into() } }
    }

    /// The stripe as a single row group.
    pub(crate) fn single(rows: u64) -> Self {
        Self::new(rows, 0)
    }

    /// Number of row groups.
    pub(crate) fn count(self) -> usize {
        usize::try_from(self.rows.div_ceil(self.stride)).unwrap_or(usize::MAX)
    }

    /// Rows of a row group in the stripe.
    pub(crate) fn rows(self, group: usize) -> Range<u64> {
        let start = (group as u64).saturating_mul(self.stride).min(self.rows);
        start..start.saturating_add(self.stride).min(self.rows)
    }

    /// The row group of a row of the stripe.
    pub(crate) fn group_of(self, row: u64) -> usize {
        usize::try_from(row / self.stride).unwrap_or(usize::MAX)
    }
}

/// The row index of a column in a stripe. It has an entry for each row group, or no entries.
#[derive(Debug)]
pub(crate) struct ColumnIndex {
    entries: Vec<lazy::RowIndexEntry>,
    /// Whether the number of stored entries is not the number of row groups.
    has_wrong_count: bool,
    /// Memory of the index.
    _charge: Charge,
}

impl ColumnIndex {
    /// Decodes a decompressed stream of kind `ROW_INDEX`, and charges it to `memory`. The entries are ignored where their
    /// number is not the number of row groups.
    ///
    /// # Errors
    /// `Corrupt` where the index cannot be decoded, `LimitExceeded` where `memory` is exhausted.
    pub(crate) fn parse(section: Bytes, groups: RowGroups, memory: &Arc<Memory>) -> Result<Self> {
        let (mut size, mut charge) = (section.len() as u64, memory.charge());
        charge.raise_to(size)?;
        let decode_entry =
            |entry| decode_message::<lazy::RowIndexEntry>(entry).map_err(|error| undecodable("row index", error));
        let is_empty = section.is_empty();
        let Some(entries) = repeated_field(section, groups.count(), &ROW_INDEX, memory.available())? else {
            return Ok(ColumnIndex { entries: Vec::new(), has_wrong_count: !is_empty, _charge: memory.charge() });
        };
        let entries = entries.into_iter().map(decode_entry).collect::<Result<Vec<_>>>()?;
        for entry in &entries {
            size += (size_of_val(entry) + entry.positions.capacity() * size_of::<u64>()) as u64;
        }
        charge.raise_to(size)?;
        Ok(ColumnIndex { entries, has_wrong_count: false, _charge: charge })
    }

    /// Whether the index has no entries.
    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Statistics of a row group; `None` where the writer recorded none.
    ///
    /// # Errors
    /// `Corrupt` where the statistics cannot be decoded.
    pub(crate) fn statistics(&self, column: u32, group: usize, tail: &FileTail) -> Result<Option<ColumnStatistics>> {
        let entry = self.entries.get(group).and_then(|entry| entry.statistics.as_ref());
        entry.map(|bytes| tail.parse_statistics(column, bytes)).transpose()
    }

    /// Positions of a row group in the streams of the column.
    pub(crate) fn positions(&self, group: usize) -> &[u64] {
        self.entries.get(group).map_or(&[], |entry| &entry.positions)
    }
}

/// The row indexes of columns, by column id.
pub(crate) type Indexes = BTreeMap<u32, ColumnIndex>;

/// The start of a row group.
pub(crate) struct GroupStart<'a> {
    pub(crate) indexes: &'a Indexes,
    pub(crate) groups: RowGroups,
    pub(crate) group: usize,
}

impl GroupStart<'_> {
    /// Positions of the row group in the streams of a column.
    /// Empty for a column without an index, which a column without streams does not need.
    pub(crate) fn positions(&self, column: u32) -> &[u64] {
        self.indexes.get(&column).map_or(&[], |index| index.positions(self.group))
    }

    /// First row of the row group in the stripe.
    pub(crate) fn first_row(&self) -> u64 {
        self.groups.rows(self.group).start
    }
}

/// The reason why an index cannot be used to seek to row groups.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum IndexDefect {
    /// The column has no index.
    Missing,
    /// The number of positions of a row group is wrong.
    PositionCount(usize),
    /// The number of entries is not the number of row groups.
    EntryCount,
    /// The positions of a row group are before the positions of the row group before, or beyond the size of a chunk or a
    /// run.
    InvalidPosition(usize),
}

impl IndexDefect {
    /// The row group and the description of the defect. `None` for an index or positions that other writers than orcish
    /// (`is_own`) omit.
    pub(crate) fn fault(self, is_own: bool) -> Option<(usize, &'static str)> {
        match self {
            IndexDefect::Missing | IndexDefect::PositionCount(_) if !is_own => None,
            IndexDefect::Missing => Some((0, "there is no row index")),
            IndexDefect::PositionCount(group) => {
                Some((group, "the row index has another number of positions than the streams need"))
            }
            IndexDefect::EntryCount => {
                Some((0, "the row index has another number of entries than there are row groups"))
            }
            IndexDefect::InvalidPosition(group) => {
                Some((group, "the positions of the row index lead to where no row group can begin"))
            }
        }
    }
}

/// The defect of the index of a column. `None` where the index has an entry for each row group with the positions of all
/// streams, and the positions are ascending and within a chunk and a run: any seek decodes at most one chunk and one run.
/// A column whose streams are not known, as its encoding is unknown, has the defect that there is no index.
pub(crate) fn find_defect(
    index: Option<&ColumnIndex>,
    stripe: &Stripe,
    column: u32,
    groups: RowGroups,
    tail: &FileTail,
) -> Option<IndexDefect> {
    let framing = stripe.framing();
    let chunk_size = (!framing.is_uncompressed()).then_some(framing.chunk_size as u64);
    // Maxima of a position: the byte in the stream, the byte in the decompressed chunk, and the value in the run.
    let maxima = |stream: PlacedStream| {
        let maxima = std::iter::once(u64::MAX).chain(chunk_size);
        maxima.chain(stream.layout.coding.run_position_maxima().iter().copied()).collect::<Vec<_>>()
    };
    let Ok(layout) = ColumnLayout::of_column(stripe, column, tail) else { return Some(IndexDefect::Missing) };
    let streams: Vec<Vec<u64>> = layout.streams().filter(|stream| stream.layout.is_indexed).map(maxima).collect();
    let position_count: usize = streams.iter().map(Vec::len).sum();
    if position_count == 0 {
        return None;
    }
    let Some(index) = index else { return Some(IndexDefect::Missing) };
    if index.entries.len() != groups.count() {
        return Some(if index.has_wrong_count { IndexDefect::EntryCount } else { IndexDefect::Missing });
    }
    let mut previous: &[u64] = &[];
    for (group, entry) in index.entries.iter().enumerate() {
        let (mut rest, mut previous_rest) = (&entry.positions[..], std::mem::replace(&mut previous, &entry.positions));
        if rest.len() != position_count {
            return Some(IndexDefect::PositionCount(group));
        }
        let is_valid = streams.iter().all(|maxima| {
            let position = rest.split_off(..maxima.len());
            let ascends = position >= previous_rest.split_off(..maxima.len());
            ascends && position.is_some_and(|position| position.iter().zip(maxima).all(|(number, max)| number <= max))
        });
        if !is_valid {
            return Some(IndexDefect::InvalidPosition(group));
        }
    }
    None
}

/// The ranges of a column's streams for the ranges of row groups `runs`. The ranges are complete streams without an `index`,
/// which has no defect. Streams that are needed for all rows, as dictionaries, are only included if `shared` is set.
///
/// # Errors
/// `Corrupt` where the encoding of the column is unknown.
pub(crate) fn stream_ranges(
    index: Option<&ColumnIndex>,
    stripe: &Stripe,
    column: u32,
    runs: &[Range<usize>],
    shared: bool,
    tail: &FileTail,
) -> Result<StreamRanges> {
    let layout = ColumnLayout::of_column(stripe, column, tail)?;
    let ranges = |(kind, length)| {
        let complete = std::iter::once(0..length).collect();
        let placed = layout.stream(kind).and_then(|stream| Some((stream.first_position?, stream.layout.coding)));
        let ranges = match (index, placed) {
            (Some(index), Some((first_position, coding))) => {
                let chunk_size = stripe.framing().max_stored_chunk_size();
                let mut stream = IndexedStream { index, first_position, coding, length, chunk_size };
                // The typical size is computed once: both runs and entries can be many.
                stream.chunk_size = stream.chunk_size.map(|max| max.min(stream.typical_chunk_size()));
                merge_adjacent(runs.iter().map(|run| stream.byte_range(run)))
            }
            // Dictionaries are needed completely.
            (Some(_), None) if !shared => return None,
            _ => complete,
        };
        Some(((column, kind), ranges))
    };
    Ok(stripe.streams(column).filter_map(ranges).collect())
}

/// Merges adjacent and overlapping ranges, which ascend.
fn merge_adjacent(ranges: impl Iterator<Item = Range<u64>>) -> Vec<Range<u64>> {
    let mut merged: Vec<Range<u64>> = Vec::new();
    for range in ranges.filter(|range| !range.is_empty()) {
        match merged.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => merged.push(range),
        }
    }
    merged
}

/// A stream with positions in the row index.
struct IndexedStream<'a> {
    index: &'a ColumnIndex,
    /// Index of the first number of the stream among the positions of the column.
    first_position: usize,
    coding: Coding,
    length: u64,
    /// The maximum or typical number of stored bytes of a chunk with its header; `None` where the stream has no chunks.
    chunk_size: Option<u64>,
}

impl IndexedStream<'_> {
    /// Offset of the chunk, or of the run, in which a row group begins.
    fn offset(&self, group: usize) -> Option<u64> {
        self.index.positions(group).get(self.first_position).copied()
    }

    /// Whether a row group begins at the start of a chunk or a run, which then is not needed for the row group before.
    fn is_aligned(&self, group: usize) -> bool {
        let count = usize::from(self.chunk_size.is_some()) + self.coding.run_position_maxima().len();
        let first = self.first_position + 1;
        self.index.positions(group).get(first..first + count).is_some_and(|rest| rest.iter().all(|&n| n == 0))
    }

    /// An estimate of the maximum stored bytes of a chunk, by the distances of the offsets of row groups.
    fn typical_chunk_size(&self) -> u64 {
        let offsets = (0..self.index.entries.len()).filter_map(|group| self.offset(group));
        let distances = offsets.clone().zip(offsets.skip(1)).map(|(offset, next)| next.saturating_sub(offset));
        let distances = distances.filter(|&distance| distance > 0);
        let min = distances.clone().min().unwrap_or(u64::MAX);
        // A distance of two chunks is about twice as long.
        let is_single_chunk = |&distance: &u64| distance < min.saturating_add(min / 2);
        distances.filter(is_single_chunk).max().map_or(u64::MAX, |max| max + max / 32)
    }

    /// The byte range that most likely has all row groups of `run`. Missing bytes are read when they are needed.
    fn byte_range(&self, run: &Range<usize>) -> Range<u64> {
        let (Some(start), Some(next)) = (self.offset(run.start), self.offset(run.end)) else {
            // The run ends at the end of the stripe.
            return self.offset(run.start).unwrap_or(0).min(self.length)..self.length;
        };
        let end = match self.chunk_size {
            _ if self.is_aligned(run.end) => next,
            None => next.saturating_add(self.coding.max_run_bytes()),
            // The chunk in which the next row group begins ends at the latest at the next greater offset of the index.
            Some(chunk_size) => {
                let is_before = |entry: &lazy::RowIndexEntry| {
                    entry.positions.get(self.first_position).is_some_and(|offset| *offset <= next)
                };
                let after = self.offset(self.index.entries.partition_point(is_before));
                after.unwrap_or(self.length).min(next.saturating_add(chunk_size))
            }
        };
        start.min(self.length)..end.min(self.length).max(start.min(self.length))
    }
}
