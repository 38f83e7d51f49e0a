//! Row groups one by one with their recorded statistics, for comparison.

use std::sync::Arc;

use arrow_array::{Array as _, ArrayRef};
use orcish_core::error::{Error, ErrorKind, OrInternal as _, Result};
use orcish_core::statistics::ColumnStatistics;
use orcish_io::read_range_with_limits;

use super::column::Budget;
use super::indexes::{index_columns, read_bloom_filters};
use super::opener::Opener;
use super::rows::RowReader;
use crate::bloom::BloomFilters;
use crate::codec::decompress_all;
use crate::index::{ColumnIndex, Indexes, RowGroups, find_defect};
use crate::options::{ColumnOptions, TimestampUnit};
use crate::proto::orc;
use crate::stripe::{IndexKind, Stripe};
use crate::tuning;
use crate::warnings::{warn, with_column};
use crate::writer::Writer;

/// The stripes of a file with all columns in their physical types, and timestamps in the unit in which they were written.
pub(crate) struct Inspector(Arc<Opener>);

impl Inspector {
    pub(super) fn new(opener: Opener) -> Self {
        Inspector(Arc::new(opener))
    }

    /// Nanoseconds of the unit of the timestamps of a column.
    pub(crate) fn ticks(&self, column: u32) -> i128 {
        match self.0.request.options.column_options.get(&column) {
            Some(ColumnOptions::Timestamp(Some(TimestampUnit::Second), _)) => 1_000_000_000,
            Some(ColumnOptions::Timestamp(Some(TimestampUnit::Millisecond), _)) => 1_000_000,
            Some(ColumnOptions::Timestamp(Some(TimestampUnit::Nanosecond), _)) => 1,
            _ => 1_000,
        }
    }

    /// Decompresses the footer of the file again, so that callers see the warnings of the decoder.
    pub(crate) fn decompress_footer(&self) -> Result<()> {
        let (opener, framing) = (&self.0, self.0.tail().framing());
        if framing.is_uncompressed() {
            return Ok(());
        }
        let stored_footer = read_range_with_limits(opener.source(), opener.tail().footer(), opener.limits());
        let footer = stored_footer.and_then(|bytes| {
            decompress_all(bytes, framing, opener.limits().tail)
                .map_err(|error| Error::new(error.kind(), "the footer cannot be decompressed").with_source(error))
        });
        footer.map(drop).map_err(|error| opener.in_file(error))
    }

    /// The footer of a stripe, decoded.
    pub(crate) fn footer(&self, stripe: usize) -> Result<orc::StripeFooter> {
        self.0.footer(stripe).map_err(|error| placed(&self.0, stripe, error))
    }

    /// The row groups of a stripe with this `footer`.
    pub(crate) fn stripe(&self, index: usize, footer: &orc::StripeFooter) -> Result<StripeInspector> {
        StripeInspector::open(&self.0, index, footer).map_err(|error| placed(&self.0, index, error))
    }
}

/// The row groups of a stripe.
pub(crate) struct StripeInspector {
    opener: Arc<Opener>,
    index: usize,
    stripe: Stripe,
    indexes: Indexes,
    groups: RowGroups,
    /// A reader of all row groups in order.
    all: RowReader,
    /// Readers that seek by the row index, one for each column: to even and to odd row groups, so that each is sought.
    sought: Vec<[At; 2]>,
    /// Row group, column and error of each faulty entry of the row index, the last row group first.
    faults: Vec<(usize, u32, &'static str)>,
    next: usize,
    /// Rows of the row group that have not been read.
    remaining_rows: usize,
}

/// A reader that seeks by the row index.
enum At {
    Row(Box<RowReader>),
    /// Whether an error of the index has been reported.
    Lost(Option<Error>),
}

/// Some rows of a row group.
pub(crate) struct Piece {
    /// The columns, read from the first row group on.
    pub(crate) columns: Vec<ArrayRef>,
    /// The same rows of each column, read by the row index; none if a column cannot seek. `None` if an error of the column has
    /// been reported; an error if its index is faulty.
    pub(crate) sought: Vec<Option<Result<Vec<ArrayRef>>>>,
}

/// Adds the stripe and the file to an error.
fn placed(opener: &Opener, stripe: usize, error: Error) -> Error {
    opener.in_file(error.in_section("stripe", stripe))
}

impl StripeInspector {
    fn open(opener: &Arc<Opener>, index: usize, footer: &orc::StripeFooter) -> Result<Self> {
        let tail = opener.tail();
        let stripe = opener.begin_with(index, footer)?;
        let first_row = tail.stripes.get(index).or_internal("an open stripe is none of the file")?.first_row;
        opener.request.check_rows(first_row.saturating_add(stripe.rows))?;
        let mut groups = RowGroups::new(stripe.rows, tail.row_index_stride);
        let mut indexes = Indexes::new();
        let mut all = opener.row_reader(&stripe, &opener.request.columns)?;
        let has_index = tail.row_index_stride > 0;
        let can_seek = has_index && index_columns(opener, &stripe, groups, &all.ids, &mut indexes)?;
        let mut faults = Vec::new();
        let is_own = tail.writer == Writer::Orcish;
        for &id in all.ids.iter().filter(|_| has_index && !can_seek) {
            let defect = find_defect(indexes.get(&id), &stripe, id, groups, tail);
            faults.extend(defect.and_then(|defect| defect.fault(is_own)).map(|(group, what)| (group, id, what)));
        }
        faults.sort_unstable_by(|a, b| b.cmp(a));
        // The number of row groups is only bounded by the entries of an index.
        if indexes.values().all(ColumnIndex::is_empty) {
            let rows = tuning::ROWS_WITHOUT_INDEX.get();
            groups = RowGroups::new(stripe.rows, u32::try_from(rows).unwrap_or(u32::MAX));
        }
        let whole = std::iter::once(0..groups.count()).collect::<Vec<_>>();
        let parts = all.parts(&stripe, &indexes, &whole, tail)?;
        stripe.load(&parts, opener.limits())?;
        let one = |column| {
            let mut reader = opener.row_reader(&stripe, std::slice::from_ref(column))?;
            reader.can_seek = true;
            Ok::<_, Error>(At::Row(Box::new(reader)))
        };
        let pair = |column| Ok::<_, Error>([one(column)?, one(column)?]);
        let sought =
            if can_seek { opener.request.columns.iter().map(pair).collect::<Result<_>>()? } else { Vec::new() };
        let opener = opener.clone();
        Ok(StripeInspector { opener, index, stripe, indexes, groups, all, sought, faults, next: 0, remaining_rows: 0 })
    }

    fn placed(&self, error: Error) -> Error {
        placed(&self.opener, self.index, error)
    }

    /// Goes to the next row group, and records errors of its row index. Returns `false` at the end. Without columns there are
    /// no row groups.
    pub(crate) fn next_group(&mut self) -> Result<bool> {
        if self.next >= self.groups.count() || self.all.is_empty() {
            return Ok(false);
        }
        let group = self.next;
        self.next += 1;
        while let Some((_, column, what)) = self.faults.pop_if(|(at, ..)| *at == group) {
            with_column(column, || warn(what));
        }
        let rows = self.groups.rows(group);
        self.remaining_rows = usize::try_from(rows.end - rows.start).unwrap_or(usize::MAX);
        self.all.go_to(rows.start, &self.groups, &self.indexes).map_err(|error| self.placed(error))?;
        for pair in &mut self.sought {
            let Some(slot) = pair.get_mut(group % 2) else { continue };
            if let At::Row(reader) = slot
                && let Err(error) = reader.go_to(rows.start, &self.groups, &self.indexes)
            {
                *slot = At::Lost(Some(of_index(&self.opener, self.index, error)?));
            }
        }
        Ok(true)
    }

    /// The next rows of the row group.
    pub(crate) fn next_piece(&mut self) -> Result<Option<Piece>> {
        if self.remaining_rows == 0 {
            return Ok(None);
        }
        let budget = self.opener.request.budget(1);
        let max_rows = self.remaining_rows.min(tuning::ROWS_INSPECTED.get());
        let columns = self.all.read(max_rows, budget).map_err(|error| self.placed(error))?;
        let rows = columns.first().map_or(0, |array| array.len());
        self.remaining_rows = if rows == 0 { 0 } else { self.remaining_rows.saturating_sub(rows) };
        let parity = (self.next + 1) % 2;
        let seek = |pair: &mut [At; 2]| {
            let Some(slot) = pair.get_mut(parity) else { return Ok(None) };
            let arrays = match slot {
                At::Row(reader) => read(reader, rows, budget),
                At::Lost(error) => return Ok(error.take().map(Err)),
            };
            match arrays {
                Ok(parts) => Ok(Some(Ok(parts))),
                Err(error) => {
                    let error = of_index(&self.opener, self.index, error)?;
                    // After an error the position of the reader is unknown.
                    *slot = At::Lost(None);
                    Ok(Some(Err(error)))
                }
            }
        };
        let sought = self.sought.iter_mut().map(seek).collect::<Result<_>>()?;
        Ok(Some(Piece { columns, sought }))
    }

    /// The recorded statistics of a row group of a column.
    pub(crate) fn recorded(&self, column: u32, group: usize) -> Result<Option<ColumnStatistics>> {
        let Some(index) = self.indexes.get(&column) else { return Ok(None) };
        index.statistics(column, group, self.opener.tail()).map_err(|error| self.placed(error))
    }

    /// The bloom filters of a column, of one of the two kinds of streams.
    pub(crate) fn bloom_filters(&self, column: u32, kind: IndexKind) -> Result<Option<BloomFilters>> {
        let filters = read_bloom_filters(&self.opener, &self.stripe, self.groups, column, kind);
        filters.map_err(|error| self.placed(error))
    }
}

/// The error of a reader that seeks by the row index, as an error of the index: the same rows have been read without the
/// index.
///
/// # Errors
/// Errors that say nothing of the index: of the source, cancellation, lack of memory.
fn of_index(opener: &Opener, stripe: usize, error: Error) -> Result<Error> {
    let is_of_index = match error.kind() {
        // A value that is read at a wrong position can exceed the maximum size of an array.
        ErrorKind::LimitExceeded => !opener.memory.was_exhausted(),
        kind => kind.is_of_file(),
    };
    if is_of_index { Ok(error) } else { Err(placed(opener, stripe, error)) }
}

/// The next `rows` rows of the only column of a reader, as one or more arrays.
fn read(reader: &mut RowReader, rows: usize, budget: Budget) -> Result<Vec<ArrayRef>> {
    let (mut parts, mut remaining_rows) = (Vec::new(), rows);
    while remaining_rows > 0 {
        let part = reader.read(remaining_rows, budget)?.into_iter().next();
        let part = part.filter(|part| !part.is_empty()).ok_or_else(|| Error::corrupt("there are no more rows"))?;
        remaining_rows -= part.len().min(remaining_rows);
        parts.push(part);
    }
    Ok(parts)
}
