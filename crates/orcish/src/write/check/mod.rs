//! Checks a file against itself: its rows are read and encoded again, and the recorded statistics, positions and bloom
//! filters are compared with the result.

mod compare;
mod conformance;
mod values;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use arrow_array::Array as _;

pub(super) use values::differing_row;

use compare::{CompareOptions, compare_statistics};
use orcish_core::cancel::{CancelCheck, Cancellation};
use orcish_core::error::{Error, ErrorKind, OrInternal as _, Result};
use orcish_core::limits::Limits;
use orcish_core::statistics::ColumnStatistics;
use values::differing_row_of_slices;

use super::append_error::AppendError;
use super::column::{ColumnWriter, column_writer};
use super::compressors::Compressors;
use super::plan::WritePlan;
use crate::bloom::{BloomBuilder, BloomFilters};
use crate::options::NullMapKeys;
use crate::proto::orc;
use crate::read::{Inspector, OrcFile, Piece, StripeInspector};
use crate::schema::{Kind, Schema};
use crate::stripe::IndexKind;
use crate::tuning;
use crate::writer::Writer;

/// A part of a file that contradicts its rows or the specification.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// Index of the stripe. `None` for a finding about the file.
    pub stripe: Option<usize>,
    /// Number of the row group in the stripe. `None` for a finding about the stripe or the file.
    pub group: Option<usize>,
    /// Dotted name of the column. Empty for the root.
    pub column: String,
    /// What is wrong.
    pub message: String,
    /// Whether the finding contradicts the rows, so that they may be damaged. Other findings are deviations from the
    /// specification that change no value.
    pub contradicts_rows: bool,
}

impl std::fmt::Display for Finding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if let Some(stripe) = self.stripe {
            write!(f, "stripe {stripe}, ")?;
        }
        if let Some(group) = self.group {
            write!(f, "row group {group}, ")?;
        }
        let column = if self.column.is_empty() { "the root" } else { &self.column };
        write!(f, "column {column}: {}", self.message)
    }
}

/// The message of an internal error.
const NO_COLUMN: &str = "statistics are of a column that the file has not";

impl OrcFile {
    /// Reads the whole file, and compares its rows with the statistics of row groups, stripes and file, with the
    /// positions of the row index, and, in files of orcish, with the bloom filters.
    ///
    /// Statistics of writers with known faults are ignored, as in reading.
    ///
    /// `limits.memory` must be enough for three times the dictionaries and chunks of each column, because one reader
    /// reads all rows in order and two readers seek by the row index, and for the bloom filters of a stripe.
    ///
    /// The rows that are done are counted in `progress`, which the cancellation check or another thread may load.
    ///
    /// # Errors
    /// The errors of reading: a file that cannot be read has no findings. `LimitExceeded` when the memory is not
    /// enough, or when the file states more rows without stored values than `limits.memory` has bytes. The error of the
    /// cancellation check.
    pub fn check(
        &self,
        limits: &Limits,
        check: Option<&CancelCheck>,
        progress: Option<&AtomicU64>,
    ) -> Result<Vec<Finding>> {
        checked(|keys| {
            if let Some(rows) = progress {
                rows.store(0, Ordering::Relaxed);
            }
            Checker { progress, ..Checker::try_new(self, limits, check, keys)? }.run()
        })
    }

    /// Compares the rows of a stripe with its indexes and with `recorded` statistics of the stripe, as [`check`](Self::check)
    /// does.
    ///
    /// # Errors
    /// As of [`check`](Self::check).
    pub(super) fn check_stripe(
        &self,
        stripe: usize,
        recorded: Option<&[ColumnStatistics]>,
        limits: &Limits,
        check: Option<&CancelCheck>,
    ) -> Result<Vec<Finding>> {
        checked(|keys| {
            let mut checker = Checker::try_new(self, limits, check, keys)?;
            checker.check_stripe(stripe, recorded)?;
            Ok(checker.findings)
        })
    }
}

/// The findings of a check. Null map keys need dictionary arrays, which are slower. They are read only where there are null
/// keys.
fn checked(check: impl Fn(NullMapKeys) -> Result<Vec<Finding>>) -> Result<Vec<Finding>> {
    match check(NullMapKeys::Error) {
        Err(error) if error.kind() == ErrorKind::NullMapKey => check(NullMapKeys::Dictionary),
        done => done,
    }
}

struct Checker<'a> {
    file: &'a OrcFile,
    limits: &'a Limits,
    inspector: Arc<Inspector>,
    types: &'a Schema,
    /// Number of types in the footer, including types that are not reachable from the root.
    listed_types: usize,
    plan: WritePlan,
    findings: Vec<Finding>,
    /// Bytes of the column names in the findings.
    name_bytes: u64,
    /// Whether orcish wrote the file. It records all statistics that can be recorded.
    is_orcish: bool,
    compressors: Compressors,
    cancellation: Cancellation,
    /// Number of rows that are done.
    progress: Option<&'a AtomicU64>,
}

impl<'a> Checker<'a> {
    fn try_new(file: &'a OrcFile, limits: &'a Limits, check: Option<&CancelCheck>, keys: NullMapKeys) -> Result<Self> {
        let tail = file.tail();
        let plan = WritePlan::for_statistics(&tail.schema, tail.records_parent_nulls())?;
        Ok(Checker {
            file,
            limits,
            inspector: Arc::new(file.inspect(limits, keys)?),
            types: &tail.schema,
            listed_types: tail.listed_types()?,
            plan,
            findings: Vec::new(),
            name_bytes: 0,
            is_orcish: tail.writer == Writer::Orcish,
            compressors: Compressors::default(),
            cancellation: Cancellation::new(check.cloned()),
            progress: None,
        })
    }

    /// Compares the recorded statistics of column `id` with statistics that were computed from its rows. Returns a
    /// message for each difference.
    fn compare(&self, id: u32, recorded: &ColumnStatistics, computed: &ColumnStatistics) -> Result<Vec<String>> {
        let orc_type = self.types.get(id)?;
        let options = CompareOptions {
            is_orcish: self.is_orcish,
            exact_bounds: self.file.tail().bounds_are_exact(id),
            timestamp_unit_nanos: self.inspector.ticks(id),
            scale: orc_type.decimal().1,
        };
        let parent = orc_type.parent.map(|parent| self.types.get(parent)).transpose()?;
        let is_in_union = [Some(orc_type), parent].into_iter().flatten().any(|this| this.kind == Kind::Union);
        if !self.is_orcish && is_in_union {
            // Arrow unions have no validity. Nulls of a union are read as nulls of its first variant.
            let recorded = ColumnStatistics { values: None, has_null: None, ..recorded.clone() };
            return Ok(compare_statistics(&recorded, computed, &CompareOptions { is_orcish: false, ..options }));
        }
        Ok(compare_statistics(recorded, computed, &options))
    }

    /// Adds a finding that contradicts the rows.
    fn add_finding(&mut self, stripe: Option<usize>, group: Option<usize>, column: u32, message: String) {
        self.push_finding((stripe, group), column, message, true);
    }

    /// Adds a deviation from the specification.
    fn add_deviation(&mut self, stripe: Option<usize>, group: Option<usize>, column: u32, message: String) {
        self.push_finding((stripe, group), column, message, false);
    }

    /// Adds a finding, unless there are too many.
    fn push_finding(
        &mut self,
        (stripe, group): (Option<usize>, Option<usize>),
        column: u32,
        message: String,
        contradicts_rows: bool,
    ) {
        // The bytes of names are limited, because many findings may have the same long name.
        if self.findings.len() < tuning::MAX_FINDINGS.get() && self.name_bytes <= self.limits.tail {
            let column = self.types.path(column);
            self.name_bytes += column.len() as u64;
            self.findings.push(Finding { stripe, group, column, message, contradicts_rows });
        }
    }

    /// Checks the tail, and stripe by stripe.
    fn run(mut self) -> Result<Vec<Finding>> {
        let (file, limits, inspector) = (self.file, self.limits, self.inspector.clone());
        let tail = file.tail();
        self.check_tail()?;
        self.collect_warnings((None, None), Some("the footer"), || inspector.decompress_footer())?;
        let read_statistics = || file.stripe_statistics(limits);
        let stripe_statistics = self.collect_warnings((None, None), Some("the stripe statistics"), read_statistics)?;
        let mut file_statistics = vec![ColumnStatistics::EMPTY; self.types.types().len()];
        for stripe in 0..tail.stripes.len() {
            let computed = self.check_stripe(stripe, stripe_statistics.get(stripe).map(Vec::as_slice))?;
            file_statistics.iter_mut().zip(&computed).for_each(|(file, stripe)| file.merge(stripe));
        }
        for (id, computed) in (0u32..).zip(&file_statistics) {
            let recorded =
                self.collect_warnings((None, None), Some("its statistics"), || tail.column_statistics(id))?;
            if let Some(recorded) = recorded {
                for message in self.compare(id, &recorded, computed)? {
                    self.add_finding(None, None, id, message);
                }
            }
        }
        Ok(self.findings)
    }

    /// Checks a stripe, and compares `recorded` statistics of it with those of its rows, which are returned.
    fn check_stripe(&mut self, stripe: usize, recorded: Option<&[ColumnStatistics]>) -> Result<Vec<ColumnStatistics>> {
        self.cancellation.poll()?;
        let inspector = self.inspector.clone();
        let place = (Some(stripe), None);
        let footer = self.collect_warnings(place, Some("the stripe footer"), || inspector.footer(stripe))?;
        self.check_stripe_footer(stripe, &footer);
        let open = || inspector.stripe(stripe, &footer);
        let mut inspected = self.collect_warnings(place, Some("its row index"), open)?;
        drop(footer);
        let computed = self.check_row_groups(stripe, &mut inspected)?;
        for ((id, computed), recorded) in (0u32..).zip(&computed).zip(recorded.into_iter().flatten()) {
            for message in self.compare(id, recorded, computed)? {
                self.add_finding(Some(stripe), None, id, message);
            }
        }
        Ok(computed)
    }

    /// New writers of the columns that can be read.
    fn column_writers(&self) -> Result<Vec<ColumnWriter>> {
        let nullable = vec![true; self.types.types().len()];
        match self.types.get(0)?.kind {
            Kind::Struct => readable_columns(&self.plan, self.types, &nullable),
            _ => Ok(vec![column_writer(&self.plan, self.types, &nullable, 0)?]),
        }
    }

    /// Checks the row groups of a stripe. Returns the computed statistics of its columns.
    fn check_row_groups(&mut self, stripe: usize, inspected: &mut StripeInspector) -> Result<Vec<ColumnStatistics>> {
        let filters = self.bloom_filters(stripe, inspected)?;
        let mut computed = vec![ColumnStatistics::EMPTY; self.types.types().len()];
        if let (Kind::Struct, Some(root)) = (self.types.get(0)?.kind, computed.first_mut()) {
            let information =
                self.file.tail().stripes.get(stripe).or_internal("a stripe that is checked is missing")?;
            root.values = Some(information.rows);
        }
        // The statistics of columns that cannot be read are unknown.
        for unread in self.types.get(0)?.children.iter().filter(|&&id| self.types.fault(id).is_some()) {
            let last = self.types.get(*unread)?.last;
            let unread = computed.get_mut(*unread as usize..=last as usize).or_internal(NO_COLUMN)?;
            unread.fill(ColumnStatistics::UNKNOWN);
        }
        let mut group = 0;
        while self.collect_warnings((Some(stripe), Some(group)), None, || inspected.next_group())? {
            self.cancellation.poll()?;
            // Each row group has new writers, because only its statistics are needed.
            let mut columns = self.column_writers()?;
            let are_complete = self.encode_row_group(&mut columns, inspected, &filters, (stripe, group))?;
            let mut results = Vec::new();
            for (column, is_complete) in columns.iter_mut().zip(are_complete) {
                if !is_complete {
                    column.visit(&mut |column| results.push((column.id(), ColumnStatistics::UNKNOWN, None)));
                    continue;
                }
                column.end_row_group(&mut self.compressors)?;
                let mut encoded = Vec::new();
                column.visit(&mut |column| {
                    encoded.push((column.id(), column.last_row_group().cloned(), column.last_bloom_filter().cloned()));
                });
                for (id, statistics, filter) in encoded {
                    results.push((id, statistics.or_internal("a row group that ended has no statistics")?, filter));
                }
            }
            for (id, statistics, filter) in results {
                self.compare_row_group(inspected, &filters, (stripe, group), id, &statistics, filter.as_ref())?;
                let stripe = computed.get_mut(id as usize).or_internal(NO_COLUMN)?;
                stripe.merge(&ColumnStatistics { bytes_on_disk: Some(0), ..statistics });
            }
            group += 1;
        }
        Ok(computed)
    }

    /// Encodes the rows of a row group, and compares them with the rows that are read by the row index. Returns for
    /// each column whether all rows were encoded.
    fn encode_row_group(
        &mut self,
        columns: &mut [ColumnWriter],
        inspected: &mut StripeInspector,
        filters: &[Option<BloomFilters>],
        (stripe, group): (usize, usize),
    ) -> Result<Vec<bool>> {
        let mut are_complete = vec![true; columns.len()];
        for column in columns.iter_mut() {
            column.visit(&mut |column| {
                let recorded = filter_of(filters, column.id(), group);
                if let Some(filter) = recorded.and_then(BloomBuilder::with_size_of) {
                    column.set_bloom_filter(filter);
                }
            });
            column.begin_row_group();
        }
        let mut first_row = 0;
        loop {
            let rows = self.collect_warnings((Some(stripe), Some(group)), None, || inspected.next_piece())?;
            let Some(Piece { columns: arrays, sought }) = rows else { break };
            self.cancellation.poll()?;
            for ((column, array), sought) in columns.iter().zip(&arrays).zip(sought) {
                let message = match sought {
                    None => None,
                    Some(Ok(slices)) => differing_row_of_slices(array, &slices).map(|row| {
                        format!("row {} of it is another one when it is found by the row index", first_row + row)
                    }),
                    Some(Err(error)) => Some(format!("it cannot be read by the row index: {}", error.message())),
                };
                if let Some(message) = message {
                    self.add_finding(Some(stripe), Some(group), column.id(), message);
                }
            }
            for ((column, array), is_complete) in columns.iter_mut().zip(&arrays).zip(&mut are_complete) {
                match column.append(array, &mut self.compressors) {
                    Ok(()) => {}
                    Err(AppendError::Value { index, column, message }) => {
                        *is_complete = false;
                        let row = first_row + index;
                        self.add_finding(Some(stripe), Some(group), column, format!("row {row} of it: {message}"));
                    }
                    Err(AppendError::Other(error)) => return Err(error),
                }
            }
            let memory: usize = columns.iter().map(ColumnWriter::memory_size).sum();
            if memory as u64 > self.limits.memory {
                let max = self.limits.memory;
                let text = format!("a row group that takes more than the {max} bytes of memory allowed");
                return Err(Error::over("memory", text).in_section("stripe", stripe).in_file(self.file.name()));
            }
            let rows = arrays.first().map_or(0, |array| array.len());
            first_row += rows;
            if let Some(done) = self.progress {
                done.fetch_add(rows as u64, Ordering::Relaxed);
            }
        }
        Ok(are_complete)
    }

    /// Decodes the bloom filters of all columns. Returns those of files of orcish: other writers may hash values differently.
    fn bloom_filters(&mut self, stripe: usize, inspected: &StripeInspector) -> Result<Vec<Option<BloomFilters>>> {
        let (types, is_orcish) = (self.types, self.is_orcish);
        self.collect_warnings((Some(stripe), None), Some("its bloom filters"), || {
            let mut kept = Vec::new();
            for (id, _) in (0u32..).zip(types.types()) {
                inspected.bloom_filters(id, IndexKind::BloomFilter)?;
                let filters = inspected.bloom_filters(id, IndexKind::BloomFilterUtf8)?;
                if is_orcish {
                    kept.push(filters);
                }
            }
            Ok(kept)
        })
    }

    /// Compares recorded and computed statistics and bloom filter of a column in a row group.
    fn compare_row_group(
        &mut self,
        inspected: &StripeInspector,
        filters: &[Option<BloomFilters>],
        (stripe, group): (usize, usize),
        id: u32,
        computed: &ColumnStatistics,
        filter: Option<&orc::BloomFilter>,
    ) -> Result<()> {
        let read = || inspected.recorded(id, group);
        if let Some(recorded) = self.collect_warnings((Some(stripe), Some(group)), Some("its statistics"), read)? {
            for message in self.compare(id, &recorded, computed)? {
                self.add_finding(Some(stripe), Some(group), id, message);
            }
        }
        if let (Some(recorded), Some(computed)) = (filter_of(filters, id, group), filter) {
            let mut bytes = computed.utf8bitset().iter().zip(recorded.utf8bitset());
            if bytes.any(|(computed, recorded)| computed & !recorded != 0) {
                self.add_finding(Some(stripe), Some(group), id, "a value is not in the bloom filter".to_owned());
            }
        }
        Ok(())
    }
}

/// New writers of the children of the root whose types are known.
fn readable_columns(plan: &WritePlan, types: &Schema, nullable: &[bool]) -> Result<Vec<ColumnWriter>> {
    let readable = types.get(0)?.children.iter().filter(|&&id| types.fault(id).is_none());
    readable.map(|&id| column_writer(plan, types, nullable, id)).collect()
}

/// The recorded bloom filter of a column in a row group.
fn filter_of(filters: &[Option<BloomFilters>], id: u32, group: usize) -> Option<&orc::BloomFilter> {
    filters.get(id as usize).and_then(|filters| filters.as_ref()?.filter(group))
}
