//! Whether a file is as it says: its rows are read, and encoded once more, and what is recorded of them is compared with
//! what comes out.

mod compare;
mod values;

use arrow_array::ArrayRef;

pub(super) use values::differing_row;

use super::column::{Column, columns};
use super::compressors::Compressors;
use super::fault::Fault;
use super::plan::WritePlan;
use crate::arrow::{OrcFile, RowGroup, StripeInspector};
use crate::bloom::{BloomBuilder, BloomFilters};
use crate::error::{ErrorKind, Result};
use crate::options::Limits;
use crate::patience::{Check, Patience};
use crate::proto::orc;
use crate::schema::{Kind, Schema};
use crate::statistics::ColumnStatistics;
use crate::writer::Writer;
use compare::differences;

/// Something that is not as the file says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// Index of the stripe; none where it is about the file.
    pub stripe: Option<usize>,
    /// Number of the row group within the stripe; none where it is about the stripe or the file.
    pub group: Option<usize>,
    /// Dotted name of the column; empty for the root.
    pub column: String,
    /// What is wrong.
    pub message: String,
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

/// Most findings that are kept: a file that is wrong throughout has as many as it has row groups.
const MOST_FINDINGS: usize = 1000;

impl OrcFile {
    /// Reads the whole file, and compares what is recorded of the rows with the rows: the statistics of row groups, of
    /// stripes and of the file, the positions of the row index, and, in files of orcish, the bloom filters.
    ///
    /// What is recorded by writers that are known to record it wrongly is not looked at, as it is not when a file is
    /// read.
    ///
    /// # Errors
    /// Those of reading: a file that cannot be read has no findings. `Interrupted` when `check` says so.
    pub fn check(&self, limits: &Limits, check: Option<&Check>) -> Result<Vec<Finding>> {
        Checker::new(self, limits, check)?.run()
    }
}

struct Checker<'a> {
    file: &'a OrcFile,
    limits: &'a Limits,
    types: &'a Schema,
    plan: WritePlan,
    findings: Vec<Finding>,
    /// Whether it is a file of ours, in which all is recorded that can be.
    is_own: bool,
    compressors: Compressors,
    patience: Patience,
}

impl<'a> Checker<'a> {
    fn new(file: &'a OrcFile, limits: &'a Limits, check: Option<&Check>) -> Result<Self> {
        let tail = file.tail();
        let plan = WritePlan::of_statistics(&tail.schema)?;
        Ok(Checker {
            file,
            limits,
            types: &tail.schema,
            plan,
            findings: Vec::new(),
            is_own: tail.writer == Writer::Orcish,
            compressors: Compressors::default(),
            patience: Patience::new(check.cloned()),
        })
    }

    /// What of `recorded` is not true of the rows of column `id`, which have the statistics `own`.
    fn differences(&self, id: u32, recorded: &ColumnStatistics, own: &ColumnStatistics) -> Vec<String> {
        let is_union = |id: u32| self.types.get(id).is_ok_and(|this| this.kind == Kind::Union);
        let above = self.types.get(id).ok().and_then(|this| this.parent);
        if !self.is_own && (is_union(id) || above.is_some_and(is_union)) {
            // Arrow has no nulls of unions: they are read as nulls of the first variant.
            let recorded = ColumnStatistics { values: None, has_null: None, ..recorded.clone() };
            return differences(&recorded, own, false);
        }
        differences(recorded, own, self.is_own)
    }

    fn find(&mut self, stripe: Option<usize>, group: Option<usize>, column: u32, message: String) {
        if self.findings.len() < MOST_FINDINGS {
            self.findings.push(Finding { stripe, group, column: self.types.path(column), message });
        }
    }

    fn run(mut self) -> Result<Vec<Finding>> {
        let tail = self.file.tail();
        let inspector = self.file.inspect(self.limits)?;
        let of_stripes = self.file.stripe_statistics(self.limits)?;
        let mut whole = vec![ColumnStatistics::EMPTY; self.types.types().len()];
        for stripe in 0..tail.stripes.len() {
            let own = self.stripe(stripe, &mut inspector.stripe(stripe)?)?;
            // Java, told to write no index, counts nothing and records that.
            let recorded =
                of_stripes.get(stripe).filter(|columns| columns.first().is_some_and(|root| root.values != Some(0)));
            for ((id, own), recorded) in (0u32..).zip(&own).zip(recorded.into_iter().flatten()) {
                for message in self.differences(id, recorded, own) {
                    self.find(Some(stripe), None, id, message);
                }
            }
            whole.iter_mut().zip(&own).for_each(|(whole, own)| whole.merge(own));
        }
        for (id, own) in (0u32..).zip(&whole) {
            if let Some(recorded) = tail.column_statistics(id)? {
                for message in self.differences(id, &recorded, own) {
                    self.find(None, None, id, message);
                }
            }
        }
        Ok(self.findings)
    }

    /// Looks at the row groups of a stripe; gives the statistics of its columns.
    fn stripe(&mut self, stripe: usize, inspected: &mut StripeInspector) -> Result<Vec<ColumnStatistics>> {
        let is_struct = self.types.get(0)?.kind == Kind::Struct;
        let nullable = vec![true; self.types.types().len()];
        let mut columns = match is_struct {
            true => columns(&self.plan, self.types, &nullable, 0)?,
            false => vec![super::column::column(&self.plan, self.types, &nullable, 0)?],
        };
        let filters = self.bloom_filters(inspected)?;
        let mut group = 0;
        while let Some(RowGroup { columns: arrays, sought }) = inspected.next_group()? {
            self.patience.look()?;
            if let Some(sought) = sought {
                for ((column, array), sought) in columns.iter().zip(&arrays).zip(sought) {
                    let message = match sought {
                        Ok(sought) => differing_row(array, &sought)
                            .map(|row| format!("row {row} of it is another one when it is found by the row index")),
                        Err(error) if error.kind() == ErrorKind::Io => return Err(error),
                        Err(error) => Some(format!("it cannot be read by the row index: {}", error.message())),
                    };
                    if let Some(message) = message {
                        self.find(Some(stripe), Some(group), column.id(), message);
                    }
                }
            }
            for (column, array) in columns.iter_mut().zip(&arrays) {
                self.column(column, array, &filters, (stripe, group))?;
                let mut done = Vec::new();
                column.each(&mut |column| {
                    if let Some(statistics) = column.last_group() {
                        let bloom = column.last_bloom().cloned();
                        done.push((column.id(), statistics.clone(), bloom));
                    }
                });
                for (id, statistics, bloom) in done {
                    self.group(inspected, &filters, (stripe, group), id, &statistics, bloom.as_ref())?;
                }
            }
            group += 1;
        }
        let rows = self.file.tail().stripes.get(stripe).map(|stripe| stripe.rows);
        let mut own = Vec::new();
        own.extend(is_struct.then_some(ColumnStatistics { values: rows, ..ColumnStatistics::EMPTY }));
        // In the order of their ids.
        columns.iter_mut().for_each(|column| column.each(&mut |column| own.push(column.stripe_statistics().clone())));
        Ok(own)
    }

    /// The bloom filters of all columns, where their writer is one whose hashes are ours.
    fn bloom_filters(&self, inspected: &StripeInspector) -> Result<Vec<Option<BloomFilters>>> {
        if !self.is_own {
            return Ok(Vec::new());
        }
        (0u32..).zip(self.types.types()).map(|(id, _)| inspected.bloom_filters(id)).collect()
    }

    /// Encodes a row group of a column.
    fn column(
        &mut self,
        column: &mut Column,
        array: &ArrayRef,
        filters: &[Option<BloomFilters>],
        (stripe, group): (usize, usize),
    ) -> Result<()> {
        column.each(&mut |column| {
            if let Some(like) = filter_of(filters, column.id(), group).and_then(BloomBuilder::like) {
                column.set_bloom(like);
            }
        });
        column.begin_group();
        match column.append(array, &mut self.compressors) {
            Ok(()) => {}
            Err(Fault::Value { index, column, message }) => {
                self.find(Some(stripe), Some(group), column, format!("row {index} of it: {message}"));
            }
            Err(Fault::Error(error)) => return Err(error),
        }
        column.end_group(&mut self.compressors)
    }

    /// Compares what is recorded of a row group of a column.
    fn group(
        &mut self,
        inspected: &StripeInspector,
        filters: &[Option<BloomFilters>],
        (stripe, group): (usize, usize),
        id: u32,
        own: &ColumnStatistics,
        bloom: Option<&orc::BloomFilter>,
    ) -> Result<()> {
        if let Some(recorded) = inspected.recorded(id, group)? {
            for message in self.differences(id, &recorded, own) {
                self.find(Some(stripe), Some(group), id, message);
            }
        }
        if let (Some(recorded), Some(own)) = (filter_of(filters, id, group), bloom) {
            let bits = |filter: &orc::BloomFilter| filter.utf8bitset.clone().unwrap_or_default();
            let is_missing = bits(own).iter().zip(bits(recorded)).any(|(own, recorded)| own & !recorded != 0);
            if is_missing {
                self.find(Some(stripe), Some(group), id, "a value is not in the bloom filter".to_owned());
            }
        }
        Ok(())
    }
}

/// The bloom filter of a row group of a column.
fn filter_of(filters: &[Option<BloomFilters>], id: u32, group: usize) -> Option<&orc::BloomFilter> {
    filters.get(id as usize).and_then(|filters| filters.as_ref()?.filter(group))
}
