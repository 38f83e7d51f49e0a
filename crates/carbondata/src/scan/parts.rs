//! The parts of a scan that are read one by one: blocklets that the index names, and files that it does not.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use orcish_core::cancel::Check;
use orcish_core::cast::Adapt;
use orcish_core::predicate::{Bound, Known, Outcome};
use orcish_core::{Error, Limits, Result, parallel};

use super::evolve::{Way, ways};
use super::opened::OpenFiles;
use super::part::PartReader;
use super::proof::BLOCKLET_INDEX;
use super::{Source, What};
use crate::file::starts;
use crate::metadata::bounds::known;
use crate::metadata::format::MinMax;
use crate::metadata::index::IndexedBlocklet;
use crate::table::{FileEntry, FileFormat};

/// Some of a file.
#[derive(Debug, Clone)]
pub(super) struct Part {
    /// Index of the file.
    pub(super) file: usize,
    /// Its blocklets; all where no index names them.
    pub(super) blocklets: Option<Vec<usize>>,
}

/// The parts of a scan, and the files that they are in.
pub(super) struct Parts {
    pub(super) of: Arc<Source>,
    pub(super) what: Arc<What>,
    pub(super) open: OpenFiles,
    parts: Vec<Part>,
    /// Parts of each file that have not been read.
    left: Mutex<HashMap<usize, usize>>,
}

impl Parts {
    /// The parts that may have wanted rows, by what the index knows.
    pub(super) fn new(of: Arc<Source>, what: Arc<What>) -> Result<Self> {
        let mut parts = Vec::new();
        let mut left = HashMap::new();
        let mut patience = of.storage.of_table().patience();
        for (file, entry) in of.files.iter().enumerate() {
            patience.look()?;
            let of_file = parts_of(&of, &what, file, entry)?;
            left.insert(file, of_file.len());
            parts.extend(of_file);
        }
        Ok(Parts { of, what, open: OpenFiles::default(), parts, left: Mutex::new(left) })
    }

    /// Rows of all files, where indexes and deletes know them.
    pub(super) fn count(of: &Source) -> Result<Option<u64>> {
        let mut rows = 0u64;
        for file in &of.files {
            let Some(blocklets) = file.blocklets.as_ref().filter(|_| file.deletes.is_empty()) else { return Ok(None) };
            for blocklet in blocklets {
                let Some(of_blocklet) = blocklet.rows else { return Ok(None) };
                rows = rows.saturating_add(of_blocklet);
            }
        }
        Ok(Some(rows))
    }
}

/// What of a file may have wanted rows.
fn parts_of(of: &Source, what: &What, file: usize, entry: &FileEntry) -> Result<Vec<Part>> {
    if what.filter.as_ref().is_some_and(orcish_core::predicate::BatchFilter::is_never) {
        return Ok(Vec::new());
    }
    match &entry.format {
        FileFormat::Columnar => {}
        FileFormat::Stream | FileFormat::Orc => return Ok(vec![Part { file, blocklets: None }]),
        FileFormat::Foreign(_) => return of.check_format(entry).map(|()| Vec::new()),
    }
    let Some(outcomes) = by_index(of, what, entry)? else { return Ok(vec![Part { file, blocklets: None }]) };
    let is_read = |(at, outcome): (usize, Outcome)| (!outcome.is_skipped()).then_some(at);
    let Some(blocklets) = &entry.blocklets else {
        let is_read = !outcomes.iter().all(Outcome::is_skipped);
        return Ok(is_read.then_some(Part { file, blocklets: None }).into_iter().collect());
    };
    let kept = outcomes.into_iter().enumerate().filter_map(is_read).filter_map(|at| blocklets.get(at));
    Ok(kept.map(|blocklet| Part { file, blocklets: Some(vec![blocklet.id]) }).collect())
}

/// What the index says of each blocklet that it names, or of the whole file; none where it says nothing.
pub(super) fn by_index(of: &Source, what: &What, entry: &FileEntry) -> Result<Option<Vec<Outcome>>> {
    let (bounds, rows): (Vec<Option<&MinMax>>, Vec<u64>) = match &entry.blocklets {
        Some(blocklets) => blocklets.iter().map(|it| (it.min_max.as_ref(), it.rows.unwrap_or(u64::MAX))).unzip(),
        None => match &entry.file_min_max {
            Some(min_max) => (vec![Some(min_max)], vec![u64::MAX]),
            None => return Ok(None),
        },
    };
    let (Some(filter), Some(columns)) = (&what.filter, &entry.index_columns) else {
        let outcome = if what.filter.is_some() { Outcome::Read } else { Outcome::AllWanted };
        return Ok(Some(vec![outcome; bounds.len()]));
    };
    let ways = ways(&of.columns, columns, of.is_transactional)?;
    let positions = starts(columns);
    let is_old = entry.is_old();
    let judge = |(min_max, rows): (Option<&MinMax>, u64)| {
        let mut known = |way: &[usize]| {
            Ok(known_of(way, &ways, &|at| {
                let column = columns.get(at)?;
                Some(known(min_max?, *positions.get(at)?, column, is_old))
            }))
        };
        filter.judge(&mut known, rows, BLOCKLET_INDEX)
    };
    bounds.into_iter().zip(rows).map(judge).collect::<Result<_>>().map(Some)
}

/// What is known of a column of the table at the end of a way, given what `stored` says of the columns of the file.
pub(super) fn known_of(way: &[usize], ways: &[Way], stored: &dyn Fn(usize) -> Option<Known>) -> Known {
    // Bounds of what is within columns are not written.
    let [column] = way else { return Known::default() };
    match ways.get(*column) {
        Some(Way::Stored(at, Adapt::Keep)) => stored(*at).unwrap_or_default(),
        // Numbers stay what they are.
        Some(Way::Stored(at, Adapt::Cast)) => stored(*at).filter(is_of_whole_numbers).unwrap_or_default(),
        Some(Way::Constant(value)) if value.null_count() > 0 => Known { values: Some(false), ..Known::default() },
        _ => Known::default(),
    }
}

/// Whether bounds are those of integers or decimals, which stay what they are in wider columns.
fn is_of_whole_numbers(known: &Known) -> bool {
    let is_whole = |bound: &Option<Bound>| matches!(bound, None | Some(Bound::Integer(_) | Bound::Decimal { .. }));
    is_whole(&known.min) && is_whole(&known.max)
}

impl FileEntry {
    /// Whether its writer was one before 1.5.1, whose bounds are not believed: it has no rows of pages in the index.
    fn is_old(&self) -> bool {
        let known = |blocklet: &IndexedBlocklet| blocklet.info.as_ref().is_some_and(|info| !info.page_rows.is_empty());
        !self.blocklets.as_ref().is_some_and(|blocklets| blocklets.iter().all(known))
    }
}

impl Source {
    pub(super) fn file(&self, at: usize) -> Result<&Arc<FileEntry>> {
        self.files.get(at).ok_or_else(|| Error::invalid(format!("no file {at}")))
    }

    /// # Errors
    /// `Unsupported` where a segment is of files that are not read.
    pub(super) fn check_format(&self, entry: &FileEntry) -> Result<()> {
        let FileFormat::Foreign(format) = &entry.format else { return Ok(()) };
        let segment = entry.segment.and_then(|at| self.segments.get(at)).map_or("", String::as_str);
        let text = format!("segment {segment} is of files of {format}, which are not read");
        Err(Error::unsupported(text).in_file(&orcish_io::display_name(&self.location)))
    }

    pub(super) fn limits(&self) -> &Limits {
        &self.limits
    }
}

impl parallel::Parts for Parts {
    type Reader = PartReader;

    fn count(&self) -> usize {
        self.parts.len()
    }

    fn open(&self, at: usize, threads: usize, _beside: usize) -> Result<Option<PartReader>> {
        let part = self.parts.get(at).ok_or_else(|| Error::invalid(format!("no part {at}")))?;
        let entry = self.of.file(part.file)?;
        PartReader::open(self, part, threads)
            .map(Some)
            .map_err(|error| error.in_file(&orcish_io::display_name(&entry.location)))
    }

    fn close(&self, at: usize) {
        let Some(part) = self.parts.get(at) else { return };
        let mut left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        let count = left.entry(part.file).or_default();
        *count = count.saturating_sub(1);
        if *count == 0 {
            self.open.close(part.file);
        }
    }

    fn while_waiting(reader: &mut PartReader, check: Check) {
        reader.while_waiting(check);
    }
}
