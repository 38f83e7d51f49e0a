//! Pruning of blocklets and pages by their min/max indexes.

use orcish_core::cast::ColumnCast;
use orcish_core::predicate::{Bound, ColumnBounds, Outcome, Proof};
use orcish_core::{Error, Result};

use super::column_mapping::{ColumnMapping, map_columns};
use super::config::ScanConfig;
use super::open_files::OpenFile;
use super::snapshot::TableSnapshot;
use crate::file::{BlockletData, first_chunks};
use crate::metadata::bounds::column_bounds;
use crate::metadata::format::MinMax;
use crate::metadata::index_file::IndexedBlocklet;
use crate::table::FileEntry;

/// The min/max index of the blocklet.
pub(super) const BLOCKLET_MIN_MAX: Proof = Proof::new("index of the blocklet");
/// The min/max index of the page.
pub(super) const PAGE_MIN_MAX: Proof = Proof::new("bounds of the page");

/// The outcome of each blocklet in the index file, or of the data file; `None` where the index file has neither.
pub(super) fn prune_by_index(
    snapshot: &TableSnapshot,
    config: &ScanConfig,
    entry: &FileEntry,
) -> Result<Option<Vec<Outcome>>> {
    let (bounds, rows): (Vec<Option<&MinMax>>, Vec<u64>) = match &entry.blocklets {
        Some(blocklets) => blocklets.iter().map(|it| (it.min_max.as_ref(), it.rows.unwrap_or(u64::MAX))).unzip(),
        None => match &entry.file_min_max {
            Some(min_max) => (vec![Some(min_max)], vec![u64::MAX]),
            None => return Ok(None),
        },
    };
    let (Some(filter), Some(columns)) = (&config.filter, &entry.index_columns) else {
        let outcome = if config.filter.is_some() { Outcome::Read } else { Outcome::AllMatch };
        return Ok(Some(vec![outcome; bounds.len()]));
    };
    let mappings = map_columns(&snapshot.columns, columns, snapshot.is_transactional)?;
    let positions = first_chunks(columns);
    let has_unreliable_min_max = entry.has_unreliable_min_max();
    let prune = |(min_max, rows): (Option<&MinMax>, u64)| {
        let mut known = |path: &[usize]| {
            Ok(table_column_bounds(path, &mappings, &|at| {
                let column = columns.get(at)?;
                Some(column_bounds(min_max?, *positions.get(at)?, column, has_unreliable_min_max))
            }))
        };
        filter.prune(&mut known, rows, BLOCKLET_MIN_MAX)
    };
    bounds.into_iter().zip(rows).map(prune).collect::<Result<_>>().map(Some)
}

/// Bounds of a column of the table, from the bounds of the columns of the file. `path` leads from the column to its
/// child.
pub(super) fn table_column_bounds(
    path: &[usize],
    mappings: &[ColumnMapping],
    file_bounds: &dyn Fn(usize) -> Option<ColumnBounds>,
) -> ColumnBounds {
    // Child columns have no bounds.
    let [column] = path else { return ColumnBounds::default() };
    match mappings.get(*column) {
        Some(ColumnMapping::Stored(at, ColumnCast::Keep)) => file_bounds(*at).unwrap_or_default(),
        // Widening keeps the value of integers and decimals.
        Some(ColumnMapping::Stored(at, ColumnCast::Cast)) => file_bounds(*at).filter(is_exact).unwrap_or_default(),
        Some(ColumnMapping::Constant(value)) if value.null_count() > 0 => {
            ColumnBounds { values: Some(false), ..ColumnBounds::default() }
        }
        _ => ColumnBounds::default(),
    }
}

/// Whether the bounds are integers or decimals.
fn is_exact(known: &ColumnBounds) -> bool {
    let is_whole = |bound: &Option<Bound>| matches!(bound, None | Some(Bound::Integer(_) | Bound::Decimal { .. }));
    is_whole(&known.min) && is_whole(&known.max)
}

impl FileEntry {
    /// Whether the writer is older than 1.5.1, whose index files have no number of rows of pages.
    fn has_unreliable_min_max(&self) -> bool {
        let known = |blocklet: &IndexedBlocklet| blocklet.info.as_ref().is_some_and(|info| !info.page_rows.is_empty());
        !self.blocklets.as_ref().is_some_and(|blocklets| blocklets.iter().all(known))
    }
}

/// Judges a blocklet by its min/max index in the footer.
pub(super) fn prune_blocklet(open_file: &OpenFile, config: &ScanConfig, blocklet: usize) -> Result<Outcome> {
    let Some(filter) = &config.filter else { return Ok(Outcome::AllMatch) };
    let file = &open_file.file;
    let min_max = file.min_max(blocklet);
    let file_bounds = |at: usize| {
        Some(column_bounds(min_max?, file.first_chunk(at), file.columns().get(at)?, file.has_unreliable_min_max()))
    };
    let mut known = |path: &[usize]| Ok(table_column_bounds(path, &open_file.mappings, &file_bounds));
    filter.prune(&mut known, file.num_blocklet_rows(blocklet)?, BLOCKLET_MIN_MAX)
}

/// Judges the pages of a blocklet by the min/max indexes in its chunk headers.
pub(super) fn prune_pages(open_file: &OpenFile, config: &ScanConfig, data: &BlockletData) -> Result<Vec<Outcome>> {
    let Some(filter) = &config.filter else { return Ok(vec![Outcome::AllMatch; data.pages()]) };
    let file = &open_file.file;
    let prune_page = |page: usize| {
        // The min/max index of a page has one column.
        let file_bounds = |at: usize| {
            Some(column_bounds(data.page_min_max(at, page)?, 0, file.columns().get(at)?, file.has_unreliable_min_max()))
        };
        let mut known = |path: &[usize]| Ok(table_column_bounds(path, &open_file.mappings, &file_bounds));
        filter.prune(&mut known, u64::try_from(data.page_rows(page)?).unwrap_or(u64::MAX), PAGE_MIN_MAX)
    };
    (0..data.pages()).map(|page| prune_page(page).map_err(|error: Error| error.in_page(page))).collect()
}
