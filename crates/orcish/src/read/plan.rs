//! The plan of a read: what is read of a file, the number of threads, and how far they prefetch.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_schema::SchemaRef;
use orcish_core::error::{Error, Result};
use orcish_core::limits::Limits;
use orcish_core::parallel::{ScanMemory, threads_or_cores};
use orcish_core::predicate::{Pruning, Truth};
use orcish_io::{ReadAt, Session};

use super::column::Budget;
use super::filter::{Filter, columns_of, new_filter};
use super::selection::Selection;
use crate::memory::Memory;
use crate::options::ReadOptions;
use crate::projection::{Projected, Projection};
use crate::schema::Kind;
use crate::tail::FileTail;
use crate::time::WriterZone;
use crate::tuning;

/// What the readers of a scan share.
#[derive(Debug, Clone)]
pub struct ScanContext {
    /// Number of readers that run at a time. They share the maximum number of concurrent requests.
    pub readers: usize,
    /// Memory of all readers of the scan.
    pub memory: Arc<ScanMemory>,
}

impl ScanContext {
    /// The context of a reader that is not part of a scan.
    pub(crate) fn of_one_reader(limits: &Limits) -> Self {
        ScanContext { readers: 1, memory: ScanMemory::new(limits.memory) }
    }
}

/// What is read of a file, and how. A plan is plain data: making it reads nothing.
pub(super) struct Plan {
    pub(super) source: Arc<dyn ReadAt>,
    pub(super) tail: Arc<FileTail>,
    pub(super) projection: Projection,
    /// The zone of the reader, if one is given.
    pub(super) reader_zone: Option<WriterZone>,
    pub(super) options: ReadOptions,
    /// Indexes of the stripes.
    pub(super) stripes: Vec<usize>,
    /// The filter. `None` selects all rows.
    pub(super) filter: Option<Filter>,
    /// What statistics prove of the stripes, by index.
    prunings: BTreeMap<usize, Pruning>,
    /// Columns of the batches: the children of a struct root, or the root itself.
    pub(super) columns: Vec<Projected>,
    /// Schema of the decoded columns.
    pub(super) physical: SchemaRef,
    /// Schema of the batches.
    pub(super) logical: SchemaRef,
    pub(super) is_struct: bool,
    pub(super) threads: usize,
    /// Number of stripes that are opened ahead by threads that decode nothing.
    pub(super) fetched_ahead: usize,
    /// Approximate limit of their stored bytes.
    pub(super) bytes_ahead: u64,
    pub(super) batch_size: usize,
    /// Maximum number of rows that are returned. A file of a few bytes may state any number of rows without columns.
    max_rows: u64,
    /// Memory of decompressed chunks, dictionaries and indexes.
    pub(super) memory: Arc<Memory>,
    /// Memory of all readers of the scan.
    pub(super) scan_memory: Arc<ScanMemory>,
    /// Keeps buffers of the source during the read.
    _session: Session,
}

impl Plan {
    /// The plan of reading a selection. `prunings` has what statistics prove of each selected stripe; it is empty without a
    /// condition.
    pub(super) fn new(selection: Selection, prunings: Vec<Pruning>, scan: &ScanContext) -> Result<Self> {
        let Selection {
            source,
            tail,
            projection,
            condition,
            filter_projection,
            reader_zone,
            options,
            mut stripes,
            physical,
            logical,
        } = selection;
        let sharers = scan.readers.max(1);
        let prunings: BTreeMap<usize, Pruning> = stripes.iter().copied().zip(prunings).collect();
        let may_match = |stripe: &usize| prunings.get(stripe).is_none_or(|pruning| pruning.truth() != Truth::Never);
        stripes.retain(may_match);
        let is_struct = tail.schema.get(0)?.kind == Kind::Struct;
        let columns = columns_of(&projection.root, is_struct);
        // A condition that is the same for all rows needs no column.
        let filter = condition.zip(filter_projection).filter(|(condition, _)| condition.constant() != Some(true));
        let filter = filter.map(|(condition, projection)| new_filter(condition, projection, is_struct, &columns));
        let filter = filter.transpose()?;
        if let Some(limit) = options.limit
            && (filter.is_none() || limit == 0)
        {
            retain_rows(&mut stripes, limit, &tail);
        }
        let stored = stripes.iter().filter_map(|&at| tail.stripes.get(at)).map(|stripe| stripe.data_length);
        let bytes = stored.fold(0, u64::saturating_add);
        let threads = if bytes < tuning::BYTES_WORTH_A_THREAD.wide() { 1 } else { threads_or_cores(options.threads) };
        // With a limit, the number of stripes that a filter needs is unknown.
        let is_known = filter.is_none() || options.limit.is_none();
        let requests = if is_known { source.concurrency().div_ceil(sharers) } else { 1 };
        let fetched_ahead = if requests > 1 && stripes.len() > 1 { requests.min(stripes.len()) } else { 0 };
        // Rows without columns need no memory, and no limit.
        let is_bare = columns.is_empty() && filter.is_none() && options.shown_row_number().is_none();
        let batch_size = if is_bare { usize::MAX } else { options.batch_size };
        let is_weightless = !is_bare && are_weightless(&columns, filter.as_ref(), &tail);
        let max_rows = if is_weightless { options.limits.memory } else { u64::MAX };
        // With a filter, the number of rows to be evaluated for the limit is unknown.
        let row_limit = options.limit.filter(|_| filter.is_none()).unwrap_or(u64::MAX);
        let batch_size = batch_size.min(usize::try_from(row_limit).unwrap_or(usize::MAX)).max(1);
        let memory = Memory::with_scan(options.limits.memory, scan.memory.clone());
        Ok(Plan {
            memory,
            scan_memory: scan.memory.clone(),
            _session: source.session(),
            max_rows,
            source,
            tail,
            projection,
            reader_zone,
            options,
            stripes,
            filter,
            prunings,
            columns,
            physical,
            logical,
            is_struct,
            threads,
            fetched_ahead,
            bytes_ahead: tuning::BYTES_AHEAD.wide() / sharers as u64,
            batch_size,
        })
    }

    pub(super) fn limits(&self) -> &Limits {
        &self.options.limits
    }

    pub(super) fn rows_of(&self, stripe: usize) -> u64 {
        self.tail.stripes.get(stripe).map_or(0, |stripe| stripe.rows)
    }

    /// Stored bytes of a stripe that are read, if all columns have the same size.
    pub(super) fn share_of(&self, stripe: usize) -> u64 {
        let (read, all) = (self.projection.count() as u64, self.tail.schema.types().len() as u64);
        self.bytes_of(stripe) / all.max(1) * read
    }

    /// Stored bytes of all columns of a stripe.
    pub(super) fn bytes_of(&self, stripe: usize) -> u64 {
        self.tail.stripes.get(stripe).map_or(0, |stripe| stripe.data_length.min(self.tail.file_length))
    }

    pub(super) fn tail(&self) -> &FileTail {
        &self.tail
    }

    pub(super) fn source(&self) -> &dyn ReadAt {
        &*self.source
    }

    /// The budget of a batch whose arrays are decoded in so many groups.
    pub(super) fn budget(&self, groups: usize) -> Budget<'static> {
        Budget::new(self.limits(), self.projection.count(), groups)
    }

    /// Checks that a number of rows may be processed.
    pub(super) fn check_rows(&self, rows: u64) -> Result<()> {
        let max_rows = self.max_rows;
        match rows > max_rows {
            true => {
                let message = format!("rows for which nothing is stored are more than the {max_rows} bytes allowed");
                Err(Error::over("memory", message))
            }
            false => Ok(()),
        }
    }

    pub(super) fn first_row_of(&self, stripe: usize) -> u64 {
        self.tail.stripes.get(stripe).map_or(0, |stripe| stripe.first_row)
    }

    pub(super) fn is_filtered(&self) -> bool {
        self.filter.is_some()
    }

    /// What statistics prove of a stripe.
    pub(super) fn pruning(&self, stripe: usize) -> Pruning {
        // Without a condition there is nothing to prove.
        self.prunings.get(&stripe).cloned().unwrap_or(Pruning::UNKNOWN)
    }

    /// What statistics prove of all selected stripes, also of those that are not read.
    pub(super) fn prunings(&self) -> impl Iterator<Item = (usize, &Pruning)> {
        self.prunings.iter().map(|(&stripe, pruning)| (stripe, pruning))
    }

    /// Whether nothing of a stripe has to be read: all rows match, and there is no column.
    pub(super) fn needs_rows_only(&self, index: usize) -> bool {
        let is_filtered = self.is_filtered() && self.pruning(index).truth() != Truth::Always;
        // Row numbers of a filtered stripe are made with its columns.
        let is_numbered = self.is_filtered() && self.options.shown_row_number().is_some();
        self.columns.is_empty() && !is_filtered && !is_numbered
    }
}

/// Removes the stripes after the first `limit` rows.
fn retain_rows(stripes: &mut Vec<usize>, limit: u64, tail: &FileTail) {
    let mut rows = 0u64;
    stripes.retain(|&stripe| {
        let is_wanted = rows < limit;
        rows = rows.saturating_add(tail.stripes.get(stripe).map_or(0, |stripe| stripe.rows));
        is_wanted
    });
}

/// Whether no bytes are stored for the rows of the columns. Rows without columns have the weight of all columns of the file.
fn are_weightless(columns: &[Projected], filter: Option<&Filter>, tail: &FileTail) -> bool {
    let filter_columns = filter.map_or(&[][..], |filter| &filter.columns);
    match columns.is_empty() {
        true => tail.schema.types().iter().all(|this| this.kind == Kind::Struct),
        false => columns.iter().chain(filter_columns).all(|column| is_weightless(tail, column)),
    }
}

/// Whether a column consists of structs without fields.
fn is_weightless(tail: &FileTail, column: &Projected) -> bool {
    let is_struct = tail.schema.get(column.id).is_ok_and(|this| this.kind == Kind::Struct);
    is_struct && column.children.iter().all(|child| is_weightless(tail, child))
}
