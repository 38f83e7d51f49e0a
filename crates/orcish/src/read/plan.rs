//! The plan of a read: what is read of a file, by how many threads, and how far ahead.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_schema::SchemaRef;
use orcish_core::error::{Error, Result};
use orcish_core::limits::Limits;
use orcish_core::parallel::{ScanMemory, threads_or_cores};
use orcish_core::predicate::{Node, PruneResult, Truth};
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
pub(crate) struct ScanContext {
    /// Number of readers that run at a time. They share the requests that may be under way.
    pub(crate) readers: usize,
    pub(crate) memory: Arc<ScanMemory>,
}

impl ScanContext {
    /// The context of a reader that reads alone.
    pub(crate) fn of_one_reader(limits: &Limits) -> Self {
        ScanContext { readers: 1, memory: ScanMemory::new(limits.memory) }
    }
}

/// What is read of a file, and how. Plain data: nothing is read to make it.
pub(super) struct Plan {
    pub(super) source: Arc<dyn ReadAt>,
    pub(super) tail: Arc<FileTail>,
    pub(super) projection: Projection,
    /// The zone of the reader, where one was named.
    pub(super) reader: Option<WriterZone>,
    pub(super) options: ReadOptions,
    /// Indexes of the stripes.
    pub(super) stripes: Vec<usize>,
    /// Which rows are wanted; all without it.
    pub(super) filter: Option<Filter>,
    /// What statistics say of the stripes, by their indexes.
    pub(super) verdicts: BTreeMap<usize, PruneResult>,
    /// Columns of the batches: the children of a struct root, or the root itself.
    pub(super) columns: Vec<Projected>,
    /// Schema of what is decoded.
    pub(super) physical: SchemaRef,
    /// Schema of the batches that are made of it.
    pub(super) logical: SchemaRef,
    pub(super) is_struct: bool,
    pub(super) threads: usize,
    /// Stripes that threads open ahead which do nothing else but wait for their bytes.
    pub(super) fetched_ahead: usize,
    /// Stored bytes that they may have, roughly.
    pub(super) bytes_ahead: u64,
    pub(super) batch_size: usize,
    /// Most rows that are given: where nothing is stored for any row, a file of a few bytes may state any number.
    most_rows: u64,
    /// What is decompressed, dictionaries and indexes are charged to this.
    pub(super) memory: Arc<Memory>,
    /// Memory of all readers of the scan.
    pub(super) scan_memory: Arc<ScanMemory>,
    /// Buffers of the source are kept for the read.
    _session: Session,
}

impl Plan {
    /// The plan of reading a selection. `verdicts` has what statistics say of each selected stripe; it is empty where there
    /// is no condition.
    pub(super) fn new(selection: Selection, verdicts: Vec<PruneResult>, scan: &ScanContext) -> Result<Self> {
        let Selection {
            source,
            tail,
            projection,
            condition,
            filter_projection,
            reader,
            options,
            mut stripes,
            physical,
            logical,
        } = selection;
        let sharers = scan.readers.max(1);
        let verdicts: BTreeMap<usize, PruneResult> = stripes.iter().copied().zip(verdicts).collect();
        stripes.retain(|stripe| verdicts.get(stripe).is_none_or(|verdict| verdict.truth != Truth::Never));
        let is_struct = tail.schema.get(0)?.kind == Kind::Struct;
        let columns = columns_of(&projection.root, is_struct);
        // A condition that is the same for all rows needs no column.
        let filter = condition.zip(filter_projection).filter(|(condition, _)| condition.root != Node::Constant(true));
        let filter = filter.map(|(condition, asked)| new_filter(condition, asked, is_struct, &columns, &tail));
        let filter = filter.transpose()?;
        let left = options.limit.unwrap_or(u64::MAX);
        if filter.is_none() {
            // No more stripes than the rows are in.
            let mut rows = 0u64;
            stripes.retain(|&stripe| {
                let is_wanted = rows < left;
                rows = rows.saturating_add(tail.stripes.get(stripe).map_or(0, |stripe| stripe.rows));
                is_wanted
            });
        }
        if left == 0 {
            stripes.clear();
        }
        let stored = stripes.iter().filter_map(|&at| tail.stripes.get(at)).map(|stripe| stripe.data_length);
        let bytes = stored.fold(0, u64::saturating_add);
        let threads = if bytes < tuning::BYTES_WORTH_A_THREAD.wide() { 1 } else { threads_or_cores(options.threads) };
        // With a limit nobody knows how many stripes a filter will need.
        let is_known = filter.is_none() || options.limit.is_none();
        let requests = if is_known { source.concurrency().div_ceil(sharers) } else { 1 };
        let fetched_ahead = if requests > 1 && stripes.len() > 1 { requests.min(stripes.len()) } else { 0 };
        // Rows of no column need no bound: nothing is there for any of them.
        let is_bare = columns.is_empty() && filter.is_none() && options.row_number.is_none();
        let batch_size = if is_bare { usize::MAX } else { options.batch_size };
        let asked = filter.as_ref().map_or(&[][..], |filter| &filter.asked);
        let has_bytes = match columns.is_empty() {
            true => tail.schema.types().iter().any(|this| this.kind != Kind::Struct),
            false => columns.iter().chain(asked).any(|column| !is_weightless(&tail, column)),
        };
        let most_rows = if is_bare || has_bytes { u64::MAX } else { options.limits.memory };
        // Under a filter nobody knows how many rows have to be looked at for those that are left.
        let most = if filter.is_some() { usize::MAX } else { usize::try_from(left).unwrap_or(usize::MAX) };
        let batch_size = batch_size.min(most).max(1);
        let memory = Memory::with_scan(options.limits.memory, scan.memory.clone());
        Ok(Plan {
            memory,
            scan_memory: scan.memory.clone(),
            _session: source.session(),
            most_rows,
            source,
            tail,
            projection,
            reader,
            options,
            stripes,
            filter,
            verdicts,
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

    /// Stored bytes of a stripe that are read, if all columns have as many.
    pub(super) fn share_of(&self, stripe: usize) -> u64 {
        let (read, all) = (self.projection.count() as u64, self.tail.schema.types().len() as u64);
        self.bytes_of(stripe) / all.max(1) * read
    }

    /// Stored bytes of a stripe, all columns.
    pub(super) fn bytes_of(&self, stripe: usize) -> u64 {
        self.tail.stripes.get(stripe).map_or(0, |stripe| stripe.data_length.min(self.tail.file_length))
    }

    pub(super) fn tail(&self) -> &FileTail {
        &self.tail
    }

    pub(super) fn source(&self) -> &dyn ReadAt {
        &*self.source
    }

    pub(super) fn budget(&self) -> Budget<'static> {
        Budget::new(self.limits(), self.projection.count())
    }

    /// Looks whether so many rows may be gone through.
    pub(super) fn check_rows(&self, rows: u64) -> Result<()> {
        let most = self.most_rows;
        match rows > most {
            true => {
                let message = format!("rows for which nothing is stored are more than the {most} bytes allowed");
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

    /// What statistics say of a stripe.
    pub(super) fn verdict_of(&self, stripe: usize) -> PruneResult {
        self.verdicts.get(&stripe).cloned().unwrap_or(PruneResult::MAYBE)
    }

    /// Whether nothing of a stripe has to be read, as all of its rows are wanted and no column.
    pub(super) fn needs_rows_only(&self, index: usize) -> bool {
        let is_filtered = self.is_filtered() && self.verdict_of(index).truth != Truth::Always;
        // Numbers of filtered rows come with the columns.
        let is_numbered = self.is_filtered() && self.options.row_number.is_some();
        self.columns.is_empty() && !is_filtered && !is_numbered
    }
}

/// Whether a column holds nothing but structs without fields.
fn is_weightless(tail: &FileTail, column: &Projected) -> bool {
    let is_struct = tail.schema.get(column.id).is_ok_and(|this| this.kind == Kind::Struct);
    is_struct && column.children.iter().all(|child| is_weightless(tail, child))
}
