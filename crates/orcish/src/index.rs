//! Row indexes (ORCv1, Row Group Index): where row groups begin in the streams of a column, and their statistics.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use orcish_core::error::Result;
use orcish_core::statistics::ColumnStatistics;
use prost::Message as _;

use crate::encoding::MAX_RUN;
use crate::encoding::{byte_rle, int_rle};
use crate::memory::{Charge, Memory};
use crate::proto::{ROW_INDEX, lazy, repeated_field};
use crate::schema::Kind;
use crate::source::Positions;
use crate::stripe::{Encoding, Parts, StreamKind, Stripe};
use crate::tail::{FileTail, undecodable};

/// Row groups of a stripe: all of `stride` rows, but for the last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Groups {
    rows: u64,
    stride: u64,
}

impl Groups {
    /// The row groups of a stripe of `rows` rows; one, where the file has none.
    pub(crate) fn new(rows: u64, stride: u32) -> Self {
        Groups { rows, stride: if stride == 0 { rows.max(1) } else { stride.into() } }
    }

    /// The whole stripe as one.
    pub(crate) fn one(rows: u64) -> Self {
        Self::new(rows, 0)
    }

    pub(crate) fn count(self) -> usize {
        usize::try_from(self.rows.div_ceil(self.stride)).unwrap_or(usize::MAX)
    }

    /// Rows of a group within the stripe.
    pub(crate) fn rows(self, group: usize) -> Range<u64> {
        let start = (group as u64).saturating_mul(self.stride).min(self.rows);
        start..start.saturating_add(self.stride).min(self.rows)
    }

    /// The group that a row is in.
    pub(crate) fn of(self, row: u64) -> usize {
        usize::try_from(row / self.stride).unwrap_or(usize::MAX)
    }
}

/// The row index of one column of a stripe: an entry for each row group, or none.
#[derive(Debug)]
pub(crate) struct ColumnIndex {
    entries: Vec<lazy::RowIndexEntry>,
    /// Whether it has another number of entries than there are row groups.
    is_miscounted: bool,
    /// Bytes of memory that it takes.
    _charge: Charge,
}

impl ColumnIndex {
    /// Parses a stream of kind `ROW_INDEX`, decompressed, if `memory` has room for it. Where it has not as many entries
    /// as there are row groups, nobody knows which is whose, and it is as one without any.
    pub(crate) fn parse(section: Bytes, groups: Groups, memory: &Arc<Memory>) -> Result<Self> {
        let (mut size, mut charge) = (section.len() as u64, memory.part());
        charge.raise_to(size)?;
        let decode = |entry| lazy::RowIndexEntry::decode(entry).map_err(|error| undecodable("row index", error));
        let is_empty = section.is_empty();
        let Some(entries) = repeated_field(section, groups.count(), &ROW_INDEX, memory.left())? else {
            return Ok(ColumnIndex { entries: Vec::new(), is_miscounted: !is_empty, _charge: memory.part() });
        };
        let entries = entries.into_iter().map(decode).collect::<Result<Vec<_>>>()?;
        for entry in &entries {
            size += (size_of_val(entry) + entry.positions.capacity() * size_of::<u64>()) as u64;
        }
        charge.raise_to(size)?;
        Ok(ColumnIndex { entries, is_miscounted: false, _charge: charge })
    }

    /// Whether it has no entries, or none of which it is known whose they are.
    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Statistics of a row group; none where the writer kept none.
    pub(crate) fn statistics(&self, column: u32, group: usize, tail: &FileTail) -> Result<Option<ColumnStatistics>> {
        let entry = self.entries.get(group).and_then(|entry| entry.statistics.as_ref());
        entry.map(|bytes| tail.parse_statistics(column, bytes)).transpose()
    }

    fn positions(&self, group: usize) -> &[u64] {
        self.entries.get(group).map_or(&[], |entry| &entry.positions)
    }
}

/// The row indexes of columns, by column id.
pub(crate) type Indexes = BTreeMap<u32, ColumnIndex>;

/// The first row of a row group.
pub(crate) struct GroupStart<'a> {
    pub(crate) indexes: &'a Indexes,
    pub(crate) groups: Groups,
    pub(crate) group: usize,
}

impl GroupStart<'_> {
    /// Where the streams of a column are at this row.
    pub(crate) fn positions(&self, column: u32) -> Positions<'_> {
        Positions::new(self.indexes.get(&column).map_or(&[], |index| index.positions(self.group)))
    }

    /// The row within the stripe.
    pub(crate) fn first_row(&self) -> u64 {
        self.groups.rows(self.group).start
    }
}

/// How the values of a stream are stored, which decides what its positions are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Bytes,
    ByteRuns,
    BitRuns,
    IntegerRuns,
}

impl Form {
    /// Numbers of a position beyond that of the byte.
    fn extra(self) -> usize {
        match self {
            Form::Bytes => 0,
            Form::ByteRuns | Form::IntegerRuns => 1,
            Form::BitRuns => 2,
        }
    }

    /// The greatest numbers of a position beyond that of the byte: values of a run, and bits of a byte.
    fn greatest(self) -> &'static [u64] {
        match self {
            Form::Bytes => &[],
            Form::ByteRuns => &[byte_rle::MAX_RUN as u64],
            Form::BitRuns => &[byte_rle::MAX_RUN as u64, 8],
            Form::IntegerRuns => &[MAX_RUN as u64],
        }
    }

    /// Most bytes of a run.
    fn longest_run(self) -> u64 {
        match self {
            Form::Bytes => 0,
            Form::ByteRuns | Form::BitRuns => 1 + 128,
            Form::IntegerRuns => int_rle::MAX_RUN_BYTES as u64,
        }
    }
}

/// The streams of a column that have positions, in their order.
fn layout(stripe: &Stripe, column: u32, tail: &FileTail) -> Result<Vec<(StreamKind, Form)>> {
    let this = tail.schema.get(column)?;
    let encoding = || stripe.encoding(column);
    let mut layout = Vec::new();
    if stripe.streams(column).any(|(kind, _)| kind == StreamKind::Present) {
        layout.push((StreamKind::Present, Form::BitRuns));
    }
    use StreamKind::{Data, Length, Secondary};
    layout.extend_from_slice(match this.kind {
        Kind::Boolean => &[(Data, Form::BitRuns)],
        Kind::Byte | Kind::Union => &[(Data, Form::ByteRuns)],
        Kind::Short | Kind::Int | Kind::Long | Kind::Date => &[(Data, Form::IntegerRuns)],
        Kind::Float | Kind::Double => &[(Data, Form::Bytes)],
        Kind::Timestamp | Kind::TimestampInstant => &[(Data, Form::IntegerRuns), (Secondary, Form::IntegerRuns)],
        Kind::Decimal if tail.has_decimal64() && this.decimal().0 <= 18 => &[(Data, Form::IntegerRuns)],
        Kind::Decimal => &[(Data, Form::Bytes), (Secondary, Form::IntegerRuns)],
        Kind::String | Kind::Char | Kind::Varchar | Kind::Binary | Kind::Geometry | Kind::Geography => {
            match encoding()? {
                Encoding { is_dictionary: true, .. } => &[(Data, Form::IntegerRuns)],
                _ => &[(Data, Form::Bytes), (Length, Form::IntegerRuns)],
            }
        }
        Kind::List | Kind::Map => &[(Length, Form::IntegerRuns)],
        Kind::Struct | Kind::Unknown => &[],
    });
    Ok(layout)
}

/// Why an index cannot be used to go to row groups.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unfit {
    /// There is none.
    Absent,
    /// The entry of a row group has not as many positions as the streams need.
    Incomplete(usize),
    /// It has another number of entries than there are row groups.
    Miscounted,
    /// The positions of a row group are before those of the one before, or beyond what a chunk or a run has.
    Astray(usize),
}

impl Unfit {
    /// The row group at which it is to be seen, and what is wrong; none where other writers leave the index or positions
    /// out.
    pub(crate) fn fault(self, is_own: bool) -> Option<(usize, &'static str)> {
        match self {
            Unfit::Absent | Unfit::Incomplete(_) if !is_own => None,
            Unfit::Absent => Some((0, "there is no row index")),
            Unfit::Incomplete(group) => {
                Some((group, "the row index has another number of positions than the streams need"))
            }
            Unfit::Miscounted => Some((0, "the row index has another number of entries than there are row groups")),
            Unfit::Astray(group) => {
                Some((group, "the positions of the row index lead to where no row group can begin"))
            }
        }
    }
}

/// Why the index of a column cannot be used; none where it has an entry for each row group, with as many positions as
/// its streams need, and such as there can be: to go to any of them takes no more than a chunk and a run.
pub(crate) fn unfit(
    index: Option<&ColumnIndex>,
    stripe: &Stripe,
    column: u32,
    groups: Groups,
    tail: &FileTail,
) -> Result<Option<Unfit>> {
    let framing = stripe.framing();
    let chunk_size = (!framing.is_uncompressed()).then_some(framing.chunk_size as u64);
    // Where a chunk or a run begins, how far into the chunk, and how far into the run.
    let bounds = |(_, form): (StreamKind, Form)| {
        let bounds = std::iter::once(u64::MAX).chain(chunk_size).chain(form.greatest().iter().copied());
        bounds.collect::<Vec<_>>()
    };
    let streams: Vec<Vec<u64>> = layout(stripe, column, tail)?.into_iter().map(bounds).collect();
    let wanted: usize = streams.iter().map(Vec::len).sum();
    if wanted == 0 {
        return Ok(None);
    }
    let Some(index) = index else { return Ok(Some(Unfit::Absent)) };
    if index.entries.len() != groups.count() {
        return Ok(Some(if index.is_miscounted { Unfit::Miscounted } else { Unfit::Absent }));
    }
    let mut before: &[u64] = &[];
    for (group, entry) in index.entries.iter().enumerate() {
        let (mut rest, mut rest_before) = (&entry.positions[..], std::mem::replace(&mut before, &entry.positions));
        if rest.len() != wanted {
            return Ok(Some(Unfit::Incomplete(group)));
        }
        let fits = streams.iter().all(|bounds| {
            let position = rest.split_off(..bounds.len()).unwrap_or_default();
            let ascends = position >= rest_before.split_off(..bounds.len()).unwrap_or_default();
            ascends && position.iter().zip(bounds).all(|(number, most)| number <= most)
        });
        if !fits {
            return Ok(Some(Unfit::Astray(group)));
        }
    }
    Ok(None)
}

/// The parts of a column's streams that hold the row groups in `runs`: whole streams without an `index`, which has
/// to be one that can be used to seek. Streams that are needed for any row, as a whole, are left out unless `shared` ones
/// are asked for.
pub(crate) fn parts_of(
    index: Option<&ColumnIndex>,
    stripe: &Stripe,
    column: u32,
    runs: &[Range<usize>],
    shared: bool,
    tail: &FileTail,
) -> Result<Parts> {
    let of_byte = if stripe.framing().is_uncompressed() { 1 } else { 2 };
    let mut at = 0;
    let mut places = BTreeMap::new();
    for (kind, form) in layout(stripe, column, tail)? {
        places.insert(kind, (at, form));
        at += of_byte + form.extra();
    }
    let parts = |(kind, length)| {
        let whole = std::iter::once(0..length).collect();
        let ranges = match (index, places.get(&kind)) {
            (Some(index), Some(&(at, form))) => {
                let mut stream =
                    IndexedStream { index, at, form, length, chunk_size: stripe.framing().max_stored_chunk_size() };
                // Once for all runs: there may be as many of either as there are rows.
                stream.chunk_size = stream.chunk_size.map(|largest| largest.min(stream.usual_chunk()));
                joined(runs.iter().map(|run| stream.bytes_of(run)))
            }
            // Dictionaries are needed as a whole.
            (Some(_), None) if !shared => return None,
            _ => whole,
        };
        Some(((column, kind), ranges))
    };
    Ok(stripe.streams(column).filter_map(parts).collect())
}

/// Joins ranges, which ascend, where they touch.
fn joined(ranges: impl Iterator<Item = Range<u64>>) -> Vec<Range<u64>> {
    let mut all: Vec<Range<u64>> = Vec::new();
    for range in ranges.filter(|range| !range.is_empty()) {
        match all.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => all.push(range),
        }
    }
    all
}

/// A stream with its place among the positions of its column.
struct IndexedStream<'a> {
    index: &'a ColumnIndex,
    at: usize,
    form: Form,
    length: u64,
    /// Most bytes of a chunk as stored, its header included, or most likely so; none where there are no chunks.
    chunk_size: Option<u64>,
}

impl IndexedStream<'_> {
    /// Offset of the chunk, or of the run, in which a group begins.
    fn offset(&self, group: usize) -> Option<u64> {
        self.index.positions(group).get(self.at).copied()
    }

    /// Whether a group begins where a chunk or a run does, so that nothing of it is needed for the group before.
    fn is_clean(&self, group: usize) -> bool {
        let rest = if self.chunk_size.is_some() { 1 } else { 0 } + self.form.extra();
        let from = self.at + 1;
        self.index.positions(group).get(from..from + rest).is_some_and(|rest| rest.iter().all(|&n| n == 0))
    }

    /// Bytes of most chunks as stored, or more: the positions tell the distances of some.
    fn usual_chunk(&self) -> u64 {
        let offsets = (0..self.index.entries.len()).filter_map(|group| self.offset(group));
        let distances = offsets.clone().zip(offsets.skip(1)).map(|(offset, next)| next.saturating_sub(offset));
        let distances = distances.filter(|&distance| distance > 0);
        let least = distances.clone().min().unwrap_or(u64::MAX);
        // Two chunks are about twice as long as one.
        let single = |&distance: &u64| distance < least.saturating_add(least / 2);
        distances.filter(single).max().map_or(u64::MAX, |longest| longest + longest / 32)
    }

    /// The bytes that surely or most likely hold the groups in `run`. What turns out to be missing can be read then.
    fn bytes_of(&self, run: &Range<usize>) -> Range<u64> {
        let (Some(start), Some(next)) = (self.offset(run.start), self.offset(run.end)) else {
            // To the end of the stripe.
            return self.offset(run.start).unwrap_or(0).min(self.length)..self.length;
        };
        let end = match self.chunk_size {
            _ if self.is_clean(run.end) => next,
            None => next.saturating_add(self.form.longest_run()),
            // The chunk in which the next group begins ends where another one does, though not always the next that
            // is known of.
            Some(largest) => {
                let is_before =
                    |entry: &lazy::RowIndexEntry| entry.positions.get(self.at).is_some_and(|at| *at <= next);
                let after = self.offset(self.index.entries.partition_point(is_before));
                after.unwrap_or(self.length).min(next.saturating_add(largest))
            }
        };
        start.min(self.length)..end.min(self.length).max(start.min(self.length))
    }
}
