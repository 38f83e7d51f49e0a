//! Opens what a request reads: statistics of stripes, stripes, and readers of their columns.

use std::sync::Arc;

use orcish_core::cancel::Cancellation;
use orcish_core::error::{Error, Result};
use orcish_core::limits::Limits;
use orcish_core::parallel::ScanMemory;
use orcish_io::{ReadAt, Session, read_range_with_limits};

use super::column::{Context, build, build_root};
use super::request::ReadRequest;
use super::rows::{ColumnsReader, RowReader};
use super::schema::Mapping;
use super::stripe_plan::{Planning, StripePlan};
use crate::memory::Memory;
use crate::projection::{Projected, ROOT_COLUMN};
use crate::proto::orc;
use crate::stripe::Stripe;
use crate::tail::{FileTail, StoredStatistics};

/// A request with the source of its file, and the memory that its readers share.
pub(super) struct Opener {
    pub(super) request: ReadRequest,
    pub(super) source: Arc<dyn ReadAt>,
    /// Memory of decompressed chunks, dictionaries and indexes.
    pub(super) memory: Arc<Memory>,
    /// Keeps buffers of the source during the read.
    _session: Session,
}

impl Opener {
    /// Nothing is read yet.
    pub(super) fn new(request: ReadRequest, source: Arc<dyn ReadAt>, scan_memory: Arc<ScanMemory>) -> Self {
        let memory = Memory::with_scan(request.limits().memory, scan_memory);
        Opener { request, memory, _session: source.session(), source }
    }

    pub(super) fn source(&self) -> &dyn ReadAt {
        &*self.source
    }

    pub(super) fn limits(&self) -> &Limits {
        self.request.limits()
    }

    pub(super) fn tail(&self) -> &FileTail {
        self.request.tail()
    }

    /// Adds the file to an error.
    pub(super) fn in_file(&self, error: Error) -> Error {
        error.in_file(self.source.name())
    }

    /// The stripe plan. Statistics of the stripes are read if they decide something. Where nothing else is read, the source is
    /// checked to have the file of the tail.
    pub(super) fn plan_stripes(&self, cancellation: &mut Cancellation) -> Result<StripePlan> {
        let mut plan = || {
            let planning = Planning::try_new(&self.request)?;
            let columns = planning.statistics_needed();
            let statistics = if columns.is_empty() {
                Vec::new()
            } else {
                let wanted = |id| columns.contains(&id);
                let statistics = read_stripe_statistics(self.source(), self.tail(), &wanted, self.limits())?;
                self.tail().parse_stripe_statistics_of(statistics, &columns, self.limits(), cancellation)?
            };
            let plan = planning.finish(&statistics, cancellation)?;
            if plan.read.iter().all(|stripe| stripe.needs_rows_only(&self.request)) {
                self.source.check_version()?;
            }
            Ok(plan)
        };
        plan().map_err(|error| self.in_file(error))
    }

    /// Reads the footer of a stripe, for all payload and filter columns.
    pub(super) fn begin(&self, index: usize) -> Result<Stripe> {
        self.begin_with(index, &self.footer(index)?)
    }

    /// Reads the footer of a stripe.
    pub(super) fn footer(&self, index: usize) -> Result<orc::StripeFooter> {
        Stripe::read_footer(self.source(), self.tail(), index, self.limits())
    }

    /// As [`begin`](Self::begin), for a stripe whose `footer` has been read.
    pub(super) fn begin_with(&self, index: usize, footer: &orc::StripeFooter) -> Result<Stripe> {
        let is_read = |id: u32| self.request.reads(id);
        Stripe::with_footer(&self.source, self.tail(), (index, footer), self.limits(), &self.memory, &is_read)
    }

    /// Reads a stripe with the streams of all columns of the batches.
    pub(super) fn read_whole(&self, index: usize) -> Result<Stripe> {
        let projection = &self.request.projection;
        let wanted = |id| projection.contains(id);
        Stripe::open(&self.source, self.tail(), index, self.limits(), &self.memory, projection.all, &wanted)
    }

    pub(super) fn context<'a>(&'a self, stripe: &'a Stripe) -> Context<'a> {
        Context {
            tail: &self.request.tail,
            stripe,
            options: &self.request.options,
            reader_zone: self.request.reader_zone.as_ref(),
            bounds: self.request.filter.as_ref().map(|filter| &filter.bounds),
        }
    }

    /// The reader of `columns`, which are children of the root or the root itself.
    pub(super) fn row_reader(&self, stripe: &Stripe, columns: &[Projected]) -> Result<RowReader> {
        let mapping = Mapping { tail: self.tail(), options: &self.request.options };
        let (context, ids) = (self.context(stripe), self.ids_of(stripe, columns));
        let reader = match columns {
            [root] if !self.request.is_struct => {
                let field = mapping.field(ROOT_COLUMN, root)?;
                ColumnsReader::Root(build(&context, root, field.data_type())?)
            }
            columns => {
                let types = columns.iter().map(|column| mapping.data_type(column)).collect::<Result<Vec<_>>>()?;
                let typed: Vec<_> = columns.iter().zip(&types).collect();
                ColumnsReader::OfRoot(Box::new(build_root(&context, &typed)?))
            }
        };
        Ok(RowReader::new(reader, columns.len(), ids))
    }

    /// Ids of `columns` and of their descendants, and of the root if it has a stream of its own.
    pub(super) fn ids_of(&self, stripe: &Stripe, columns: &[Projected]) -> Vec<u32> {
        let mut ids = Vec::new();
        if self.request.is_struct && stripe.has_present(0) {
            ids.push(0);
        }
        columns.iter().for_each(|column| collect_ids(column, &mut ids));
        ids
    }
}

/// Ids of a column and of its descendants.
fn collect_ids(column: &Projected, ids: &mut Vec<u32>) {
    ids.push(column.id);
    column.children.iter().for_each(|child| collect_ids(child, ids));
}

/// The stripe statistics of a file as stored, with the decrypted ones of the columns of `wanted`.
pub(super) fn read_stripe_statistics(
    source: &dyn ReadAt,
    tail: &FileTail,
    wanted: &dyn Fn(u32) -> bool,
    limits: &Limits,
) -> Result<StoredStatistics> {
    let (range, encrypted) = (tail.stripe_statistics.clone(), tail.encrypted_statistics_length());
    if (range.end - range.start).max(encrypted) > limits.tail {
        return Err(Error::over("tail", "stripe statistics of more bytes than allowed"));
    }
    let start = range.start;
    let section = match tail.stored_stripe_statistics() {
        Some(section) => section,
        None => read_range_with_limits(source, range, limits)?,
    };
    let begin = start.checked_sub(encrypted);
    let begin = begin.ok_or_else(|| Error::corrupt("the encrypted statistics of stripes do not fit into the file"))?;
    let encrypted = read_range_with_limits(source, begin..start, limits)?;
    tail.stored_statistics_of_stripes(section, &encrypted, wanted, limits)
}
