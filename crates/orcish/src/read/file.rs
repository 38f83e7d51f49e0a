//! An open file: its tail and its source.

use std::path::Path;
use std::sync::Arc;

use arrow_schema::{Schema, SchemaRef};
use once_cell::race::OnceBox;
use orcish_core::cancel::{CancelCheck, Cancellation};
use orcish_core::error::{Error, Result};
use orcish_core::explain::Explanation;
use orcish_core::limits::Limits;
use orcish_core::predicate::{Condition, Domain, FilterColumn, Truth};
use orcish_core::statistics::ColumnStatistics;
use orcish_core::types::is_null_type;
use orcish_io::{FileSource, ReadAt};

use super::explain::explain;
use super::inspect::Inspector;
use super::opener::{Opener, read_stripe_statistics};
use super::reader::BatchReader;
use super::request::ReadRequest;
use super::restore::{StoredSchema, max_rows};
use super::scheduler::ScanContext;
use super::schema::{Mapping, filter_column, push_row_number};
use super::stripe_plan::PlannedStripe;
use crate::encryption::Keys;
use crate::options::{ColumnOptions, Masked, NullMapKeys, ReadOptions};
use crate::predicate::bind;
use crate::projection::{Projection, ROOT_COLUMN, readable_columns};
use crate::schema::Kind;
use crate::tail::{Calendar, FileTail, read_tail};

/// An ORC file whose tail has been read.
///
/// ```
/// use orcish::{OrcFile, ReadOptions};
///
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data/spark.zlib.orc");
/// let file = OrcFile::open(path)?;
/// assert_eq!((file.tail().rows, file.tail().stripes.len()), (20, 1));
/// assert_eq!(file.schema(&ReadOptions::default().with_columns(["nest.x"]))?.field(0).name(), "nest");
/// for batch in file.read(ReadOptions::default().with_columns(["int", "nest.x"]).with_batch_size(8))? {
///     assert!(batch?.num_rows() <= 8);
/// }
/// # Ok::<(), orcish::Error>(())
/// ```
#[derive(Clone)]
pub struct OrcFile {
    source: Arc<dyn ReadAt>,
    tail: Arc<FileTail>,
    /// The Arrow schema in the metadata of the file, once it has been asked for.
    stored_schema: Arc<OnceBox<Option<StoredSchema>>>,
    check: Option<CancelCheck>,
}

impl std::fmt::Debug for OrcFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OrcFile").field("source", &self.source.name()).finish_non_exhaustive()
    }
}

impl OrcFile {
    /// Opens the file at a path. For URLs see [`open`](crate::io::open), whose source [`try_new`](Self::try_new) takes.
    ///
    /// # Errors
    /// `Io` if the file cannot be read; as [`try_new`](Self::try_new).
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::try_new(Arc::new(FileSource::open(path)?), &Limits::default())
    }

    /// Reads the tail of a source.
    ///
    /// # Errors
    /// `Corrupt` if the source is not an ORC file, `LimitExceeded` if the tail is larger than allowed.
    pub fn try_new(source: Arc<dyn ReadAt>, limits: &Limits) -> Result<Self> {
        Ok(Self::of_parts(source.clone(), read_tail(&*source, limits)?))
    }

    /// A file with a known tail, from this process or another. Nothing is read. Reads of another file, which has replaced
    /// the one of the tail, are errors.
    ///
    /// # Errors
    /// `Io` if the source is known to be another file. Remote sources know it with their first read.
    pub fn try_with_tail(source: Arc<dyn ReadAt>, tail: FileTail) -> Result<Self> {
        source.expect_version(&tail.expected_version()).map_err(|error| error.in_file(source.name()))?;
        Ok(Self::of_parts(source, tail))
    }

    /// A file with a tail that is known to be its own, or is to be taken for it.
    pub(crate) fn of_parts(source: Arc<dyn ReadAt>, tail: FileTail) -> Self {
        OrcFile { source, tail: Arc::new(tail), stored_schema: Arc::default(), check: None }
    }

    /// Sets the check that long calls without a reader make regularly, on the calling thread: plans, explanations, statistics
    /// and stripe footers. For readers see [`set_cancel_check`](BatchReader::set_cancel_check).
    #[must_use]
    pub fn with_cancel_check(mut self, check: CancelCheck) -> Self {
        self.check = Some(check);
        self
    }

    /// The file with dates and timestamps of another calendar than its footer has. Writers that have only one calendar may
    /// not name it.
    #[must_use]
    pub fn with_calendar(mut self, calendar: Calendar) -> Self {
        // A copy has no cached statistics, which depend on the calendar.
        let mut tail = FileTail::clone(&self.tail);
        tail.calendar = calendar;
        self.tail = Arc::new(tail);
        self
    }

    /// The file with its encrypted columns decrypted, as far as a provider has their keys. Other encrypted columns have their
    /// masks, see [`ReadOptions::masked`].
    ///
    /// # Errors
    /// `Corrupt` where the keys do not fit the file; errors of the provider.
    ///
    /// [`ReadOptions::keys`] does the same for one read, and for the files of a scan.
    pub fn with_keys(mut self, keys: &Keys) -> Result<Self> {
        self.tail = Arc::new(self.tail.unlock(keys.provider()).map_err(|error| self.in_file(error))?);
        Ok(self)
    }

    /// The cancellation of a call.
    pub(super) fn cancellation(&self) -> Cancellation {
        Cancellation::new(self.check.clone())
    }

    /// Name of the source in messages: a path, or a URL without credentials.
    pub fn name(&self) -> &str {
        self.source.name()
    }

    pub(crate) fn source(&self) -> &Arc<dyn ReadAt> {
        &self.source
    }

    /// The tail.
    pub fn tail(&self) -> &FileTail {
        &self.tail
    }

    /// Number of rows. The file is that of the tail.
    pub(crate) fn rows(&self, stripes: Option<&[usize]>) -> Result<u64> {
        self.source.check_version().map_err(|error| self.in_file(error))?;
        let Some(chosen) = stripes else { return Ok(self.tail.rows) };
        chosen.iter().map(|&stripe| Ok(self.tail.stripe(stripe)?.rows)).sum()
    }

    /// The Arrow schema of the file under options.
    ///
    /// # Errors
    /// `UnknownColumn` if the options name a column that the file does not have.
    pub fn schema(&self, options: &ReadOptions) -> Result<SchemaRef> {
        let make = || {
            let projection = Projection::try_new(&self.tail.schema, &options.columns)?;
            let options = self.with_column_options(options.clone())?;
            let physical = self.physical_schema(&projection, &options)?;
            self.logical_schema(&projection, &options, physical)
        };
        make().map_err(|error| self.in_file(error))
    }

    /// The Arrow schema that the file was written with, if the file has kept it.
    pub(crate) fn stored(&self) -> Option<&StoredSchema> {
        self.stored_schema.get_or_init(|| Box::new(StoredSchema::of(&self.tail))).as_ref()
    }

    /// Whether the file has the columns of another one, with the same types and the same stored Arrow schema.
    pub(crate) fn has_schema_of(&self, other: &Self) -> bool {
        let arrow_schema = self.stored().map(|stored_schema| &stored_schema.schema);
        let other_arrow_schema = other.stored().map(|stored_schema| &stored_schema.schema);
        self.tail.schema == other.tail.schema && arrow_schema == other_arrow_schema
    }

    /// The options, completed by the stored schema.
    fn with_column_options(&self, options: ReadOptions) -> Result<ReadOptions> {
        match self.stored().filter(|_| options.arrow_schema) {
            Some(stored_schema) => stored_schema.options(&self.tail.schema, options),
            None => Ok(options),
        }
    }

    /// The schema of the batches for a schema of decoded columns.
    fn logical_schema(&self, projection: &Projection, options: &ReadOptions, physical: SchemaRef) -> Result<SchemaRef> {
        match self.stored().filter(|_| options.arrow_schema) {
            Some(stored_schema) => {
                stored_schema.logical_schema(&Mapping { tail: &self.tail, options }, &projection.root, &physical)
            }
            None => Ok(physical),
        }
    }

    fn in_file(&self, error: Error) -> Error {
        error.in_file(self.source.name())
    }

    /// The schema of the decoded columns.
    fn physical_schema(&self, projection: &Projection, options: &ReadOptions) -> Result<SchemaRef> {
        let mapping = Mapping { tail: &self.tail, options };
        let mut fields = match self.tail.schema.get(0)?.kind {
            Kind::Struct => mapping.fields(&projection.root)?.to_vec(),
            _ => vec![mapping.field(ROOT_COLUMN, &projection.root)?],
        };
        if let Some(name) = options.shown_row_number() {
            push_row_number(&mut fields, name)?;
        }
        Ok(Arc::new(Schema::new(fields)))
    }

    /// Reads the file batch by batch.
    ///
    /// # Errors
    /// `UnknownColumn` and `InvalidArgument` if the options do not fit the file; `Unsupported` if columns are encrypted and
    /// masks are not allowed. Errors in the data are errors of the reader.
    pub fn read(&self, options: ReadOptions) -> Result<BatchReader> {
        let scan = ScanContext::of_one_reader(&options.limits);
        self.read_request(self.request(options)?, &scan)
    }

    /// The plan of [`read`](Self::read): the stripes and row groups that it skips and why, and how much it reads. Stripe
    /// footers, and row indexes and bloom filters of the filter columns, are read.
    ///
    /// # Errors
    /// As [`read`](Self::read); as reading of stripe footers and indexes.
    pub fn explain(&self, options: ReadOptions) -> Result<Explanation> {
        self.explain_request(self.request(options)?)
    }

    /// The row groups of the stripes with their recorded statistics, for all columns of known types.
    pub(crate) fn inspect(&self, limits: &Limits, null_map_keys: NullMapKeys) -> Result<Inspector> {
        let columns = readable_columns(&self.tail.schema)?;
        let options = ReadOptions { columns, limits: limits.clone(), null_map_keys, ..ReadOptions::default() };
        // Timestamps of a coarse unit may exceed 64 bits in a finer unit, and timestamps in nanoseconds are read as such.
        // Recorded statistics are local times.
        let unit_only = |options: ColumnOptions| match options {
            ColumnOptions::Timestamp(unit @ Some(_), _) => Some(ColumnOptions::Timestamp(unit, None)),
            _ => None,
        };
        let column_options = self.with_column_options(options.clone())?.column_options;
        let column_options = column_options.into_iter().filter_map(|(id, options)| Some((id, unit_only(options)?)));
        let column_options = column_options.collect();
        let request = self.request(ReadOptions { arrow_schema: false, column_options, ..options })?;
        Ok(Inspector::new(self.checked_opener(request)?))
    }

    /// As [`read`](Self::read), for a request.
    pub(crate) fn read_request(&self, request: ReadRequest, scan: &ScanContext) -> Result<BatchReader> {
        let opener = self.opener(request, scan);
        let plan = opener.plan_stripes(&mut self.cancellation())?;
        Ok(BatchReader::new(opener, plan.read, scan))
    }

    /// As [`explain`](Self::explain), for a request.
    pub(crate) fn explain_request(&self, request: ReadRequest) -> Result<Explanation> {
        explain(&self.opener_alone(request), &mut self.cancellation())
    }

    /// Statistics of column `id` over all stripes whose rows all match, and the indexes of the other stripes that are read.
    /// Bounds are values of the column.
    pub(crate) fn exact_statistics(&self, id: u32, request: ReadRequest) -> Result<(ColumnStatistics, Vec<usize>)> {
        let (mut statistics, others) = self.recorded_statistics(id, request)?;
        // Without a number of values, the bounds may be of no values.
        if statistics.values.is_none() || !self.tail.bounds_are_exact(id) || !statistics.detail.has_all_digits() {
            statistics.detail = statistics.detail.without_bounds();
        }
        Ok((statistics, others))
    }

    fn recorded_statistics(&self, id: u32, request: ReadRequest) -> Result<(ColumnStatistics, Vec<usize>)> {
        let opener = self.opener_alone(request);
        let plan = opener.plan_stripes(&mut self.cancellation())?;
        self.source.check_version().map_err(|error| self.in_file(error))?;
        let is_wanted =
            |stripe: &PlannedStripe| !opener.request.is_filtered() || stripe.pruning.truth() == Truth::Always;
        let (wanted, others): (Vec<_>, Vec<_>) = plan.read.into_iter().partition(is_wanted);
        let others = others.into_iter().map(|stripe| stripe.index).collect();
        let of_file = |id| self.tail.column_statistics(id).map_err(|error| self.in_file(error));
        if wanted.len() == self.tail.stripes.len()
            && let Some(statistics) = of_file(id)?
            && !counts_more(of_file(0)?.as_ref(), self.tail.rows)
        {
            return Ok((statistics, others));
        }
        let mut all = ColumnStatistics::EMPTY;
        if !wanted.is_empty() {
            let limits = opener.limits();
            let read = || {
                let statistics = read_stripe_statistics(&*self.source, &self.tail, &|column| column == id, limits)?;
                self.tail.parse_stripe_statistics_of(statistics, &[0, id], limits, &mut self.cancellation())
            };
            let of_stripes = read().map_err(|error| self.in_file(error))?;
            for stripe in wanted {
                // A file need not have statistics of its stripes.
                let of_stripe = match of_stripes.get(stripe.index).map(Vec::as_slice) {
                    Some([root, Some(of_column)]) if !counts_more(root.as_ref(), stripe.rows) => of_column,
                    _ => &ColumnStatistics::UNKNOWN,
                };
                all.merge(of_stripe);
            }
        }
        Ok((all, others))
    }

    /// Indexes of the stripes that are read.
    pub(crate) fn stripes_read(&self, request: ReadRequest) -> Result<Vec<usize>> {
        let plan = self.opener_alone(request).plan_stripes(&mut self.cancellation())?;
        Ok(plan.read.into_iter().map(|stripe| stripe.index).collect())
    }

    /// Checks options against the file.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub(super) fn request(&self, options: ReadOptions) -> Result<ReadRequest> {
        if let (Some(keys), None) = (&options.keys, self.tail.unlocked()) {
            return self.clone().with_keys(keys)?.request(ReadOptions { keys: None, ..options });
        }
        let make = || {
            let options = self.with_column_options(options)?;
            let projection = Projection::try_new(&self.tail.schema, &options.columns)?;
            let condition = self.condition(&options)?;
            self.bound_request(projection, options, condition)
        };
        make().map_err(|error| self.in_file(error))
    }

    /// Checks that the filter of options fits the file.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub(crate) fn check_filter(&self, options: &ReadOptions) -> Result<()> {
        let check = || self.condition(&self.with_column_options(options.clone())?);
        check().map(drop).map_err(|error| self.in_file(error))
    }

    /// The filter of options, bound to the columns of the file.
    fn condition(&self, options: &ReadOptions) -> Result<Option<Condition>> {
        let bind_filter = |filter| {
            let mapping = Mapping { tail: &self.tail, options };
            let stored_schema = self.stored().filter(|_| options.arrow_schema);
            bind(filter, &self.tail.schema, options.row_number.as_deref(), &|id| {
                let column = filter_column(&mapping, id)?;
                let logical_type = stored_schema.and_then(|schema| schema.data_type(&self.tail.schema, id));
                // Values of type null are stored as booleans.
                let is_null = logical_type.is_some_and(is_null_type);
                Ok(if is_null { FilterColumn { domain: Domain::Null, ..column } } else { column })
            })
        };
        options.filter.as_ref().map(bind_filter).transpose()
    }

    /// The request for a projection and a condition that are those of the file, as a scan makes them.
    pub(crate) fn bound_request(
        &self,
        projection: Projection,
        options: ReadOptions,
        condition: Option<Condition>,
    ) -> Result<ReadRequest> {
        let make = || {
            let physical = self.physical_schema(&projection, &options)?;
            let logical = self.logical_schema(&projection, &options, physical.clone())?;
            let options = ReadOptions { batch_size: options.batch_size.min(max_rows(&logical)), ..options };
            ReadRequest::try_new(self.tail.clone(), projection, (physical, logical), options, condition)
        };
        make().map_err(|error| self.in_file(error))
    }

    fn opener(&self, request: ReadRequest, scan: &ScanContext) -> Opener {
        Opener::new(request, self.source.clone(), scan.memory.clone())
    }

    /// The opener of a reader that is not part of a scan.
    fn opener_alone(&self, request: ReadRequest) -> Opener {
        let scan = ScanContext::of_one_reader(request.limits());
        self.opener(request, &scan)
    }

    /// As [`opener_alone`](Self::opener_alone). A file of which only rows are counted is checked to be that of the tail.
    fn checked_opener(&self, request: ReadRequest) -> Result<Opener> {
        let opener = self.opener_alone(request);
        opener.plan_stripes(&mut self.cancellation())?;
        Ok(opener)
    }

    /// The opener for row indexes and bloom filters of all columns of known types. Of encrypted columns, they are those of
    /// the masks.
    pub(super) fn index_opener(&self, limits: &Limits) -> Result<Opener> {
        let columns = readable_columns(&self.tail.schema)?;
        let options = ReadOptions {
            columns,
            limits: limits.clone(),
            masked: Masked::Allow,
            arrow_schema: false,
            ..ReadOptions::default()
        };
        self.checked_opener(self.request(options)?)
    }

    /// Statistics of each stripe, one entry for each column, read from the source.
    ///
    /// # Errors
    /// `Io` and `Corrupt`.
    pub fn stripe_statistics(&self, limits: &Limits) -> Result<Vec<Vec<ColumnStatistics>>> {
        let read = || {
            let statistics = read_stripe_statistics(&*self.source, &self.tail, &|_| true, limits)?;
            self.tail.parse_stripe_statistics_cancellable(statistics, limits, &mut self.cancellation())
        };
        read().map_err(|error| self.in_file(error))
    }
}

/// Whether the statistics of the root count more rows than there are, so that they are of other rows.
fn counts_more(root: Option<&ColumnStatistics>, rows: u64) -> bool {
    root.and_then(|root| root.values).is_some_and(|values| values > rows)
}
