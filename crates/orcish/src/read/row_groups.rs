//! What row indexes and bloom filters record of the row groups of a column.

use orcish_core::error::{Error, Result};
use orcish_core::limits::Limits;
use orcish_core::statistics::ColumnStatistics;

use super::file::OrcFile;
use super::indexes::{index_columns, read_bloom_filters};
use super::opener::Opener;
use crate::bloom::BloomFilters;
use crate::index::{Indexes, RowGroups};
use crate::stripe::IndexKind;

/// A row group of a column: an entry of its row index, and its bloom filter.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct RowGroup {
    /// Index of the stripe.
    pub stripe: usize,
    /// Number of the first row in the stripe.
    pub first_row: u64,
    /// Number of rows.
    pub rows: u64,
    /// Statistics. `None` if none are recorded.
    pub statistics: Option<ColumnStatistics>,
    /// Positions of the row group in the streams of the column (ORCv1, Row Group Index).
    pub positions: Vec<u64>,
    /// The bloom filter. `None` if there is none that can be read.
    pub bloom_filter: Option<BloomFilterInfo>,
}

/// The size of a bloom filter, and how full it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct BloomFilterInfo {
    /// The kind of its stream: `BLOOM_FILTER_UTF8` or `BLOOM_FILTER`.
    pub kind: &'static str,
    /// Number of hash functions.
    pub hash_functions: u32,
    /// Number of bits.
    pub bits: u32,
    /// Number of bits that are set.
    pub bits_set: u32,
}

impl OrcFile {
    /// The row groups of a column in some stripes, or in all, as its row index records them. The indexes and bloom filters
    /// of the column are read; of encrypted columns, they are those of the masks. Stripes without a row index, or with one
    /// that does not fit the stripe, have no row groups.
    ///
    /// # Errors
    /// `InvalidArgument` if a stripe or the column does not exist; `LimitExceeded`; `Io` and `Corrupt`.
    pub fn row_groups(&self, column: u32, stripes: Option<&[usize]>, limits: &Limits) -> Result<Vec<RowGroup>> {
        let tail = self.tail();
        let in_file = |error: Error| error.in_file(self.name());
        tail.schema
            .get(column)
            .map_err(|_| in_file(Error::invalid(format!("no column {column}, of {}", tail.schema.types().len()))))?;
        let opener = self.index_opener(limits)?;
        let mut row_groups = Vec::new();
        let mut cancellation = self.cancellation();
        for (stripe, _) in self.chosen_stripes(stripes).map_err(in_file)? {
            cancellation.poll()?;
            of_stripe(&opener, column, stripe, &mut row_groups)
                .map_err(|error| in_file(error.in_section("stripe", stripe)))?;
        }
        Ok(row_groups)
    }
}

/// Adds the row groups of a stripe.
fn of_stripe(opener: &Opener, column: u32, index: usize, row_groups: &mut Vec<RowGroup>) -> Result<()> {
    let stripe = opener.begin(index)?;
    let groups = RowGroups::new(stripe.rows, opener.tail().row_index_stride);
    let mut indexes = Indexes::new();
    index_columns(opener, &stripe, groups, &[column], &mut indexes)?;
    let Some(entries) = indexes.get(&column).filter(|index| !index.is_empty()) else { return Ok(()) };
    let filters = |kind: IndexKind| Ok::<_, Error>((kind, read_bloom_filters(opener, &stripe, groups, column, kind)?));
    let filters = [filters(IndexKind::BloomFilterUtf8)?, filters(IndexKind::BloomFilter)?];
    for group in 0..groups.count() {
        let rows = groups.rows(group);
        row_groups.push(RowGroup {
            stripe: index,
            first_row: rows.start,
            rows: rows.end - rows.start,
            statistics: entries.statistics(column, group, opener.tail())?,
            positions: entries.positions(group).to_vec(),
            bloom_filter: filters.iter().find_map(|(kind, filters)| info(*kind, filters.as_ref()?, group)),
        });
    }
    Ok(())
}

fn info(kind: IndexKind, filters: &BloomFilters, group: usize) -> Option<BloomFilterInfo> {
    let (hash_functions, bits, bits_set) = filters.fill(group)?;
    Some(BloomFilterInfo { kind: kind.name(), hash_functions, bits, bits_set })
}
