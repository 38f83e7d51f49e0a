//! Whether a file is as it says: its rows are read, and encoded once more, and what is recorded of them is compared with
//! what comes out.

mod compare;
mod form;
mod values;

use std::sync::Arc;

use arrow_array::Array as _;

pub(super) use values::differing_row;

use compare::{Strictness, differences};
use orcish_core::cancel::{CancelCheck, Cancellation};
use orcish_core::error::{Error, ErrorKind, Result};
use orcish_core::limits::Limits;
use orcish_core::statistics::ColumnStatistics;
use values::differing_row_of;

use super::column::{Column, column};
use super::compressors::Compressors;
use super::fault::Fault;
use super::plan::WritePlan;
use crate::bloom::{BloomBuilder, BloomFilters};
use crate::options::NullMapKeys;
use crate::proto::orc;
use crate::read::{Inspector, OrcFile, Piece, StripeInspector};
use crate::schema::{Kind, Schema};
use crate::tuning;
use crate::writer::Writer;

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

impl OrcFile {
    /// Reads the whole file, and compares what is recorded of the rows with the rows: the statistics of row groups, of
    /// stripes and of the file, the positions of the row index, and, in files of orcish, the bloom filters.
    ///
    /// What is recorded by writers that are known to record it wrongly is not looked at, as it is not when a file is
    /// read.
    ///
    /// The memory of `limits` has to have room for the dictionaries and chunks of each column three times, as each is
    /// read through and by two readers that go by the row index, and for the bloom filters of a stripe.
    ///
    /// # Errors
    /// Those of reading: a file that cannot be read has no findings. `LimitExceeded` when memory is short, or rows for
    /// which nothing is stored are more than its bytes. `Interrupted` when `check` says so.
    pub fn check(&self, limits: &Limits, check: Option<&CancelCheck>) -> Result<Vec<Finding>> {
        // Keys that may be null come as dictionaries, which costs what others need not pay.
        let run = |keys| Checker::new(self, limits, check, keys)?.run();
        match run(NullMapKeys::Error) {
            Err(error) if error.kind() == ErrorKind::NullMapKey => run(NullMapKeys::Dictionary),
            done => done,
        }
    }
}

struct Checker<'a> {
    file: &'a OrcFile,
    limits: &'a Limits,
    inspector: Arc<Inspector>,
    types: &'a Schema,
    /// How many types the footer lists.
    listed_types: usize,
    plan: WritePlan,
    findings: Vec<Finding>,
    /// Bytes of the names of columns in them.
    named: u64,
    /// Whether it is a file of ours, in which all is recorded that can be.
    is_own: bool,
    compressors: Compressors,
    cancellation: Cancellation,
}

impl<'a> Checker<'a> {
    fn new(file: &'a OrcFile, limits: &'a Limits, check: Option<&CancelCheck>, keys: NullMapKeys) -> Result<Self> {
        let tail = file.tail();
        let plan = WritePlan::of_statistics(&tail.schema)?;
        Ok(Checker {
            file,
            limits,
            inspector: Arc::new(file.inspect(limits, keys)?),
            types: &tail.schema,
            listed_types: tail.listed_types()?,
            plan,
            findings: Vec::new(),
            named: 0,
            is_own: tail.writer == Writer::Orcish,
            compressors: Compressors::default(),
            cancellation: Cancellation::new(check.cloned()),
        })
    }

    /// What of `recorded` is not true of the rows of column `id`, which have the statistics `own`.
    fn differences(&self, id: u32, recorded: &ColumnStatistics, own: &ColumnStatistics) -> Vec<String> {
        let strictness = Strictness {
            is_own: self.is_own,
            is_exact: self.file.tail().bounds_are_values(id),
            ticks: self.inspector.ticks(id),
            scale: self.types.get(id).map_or(0, |this| this.decimal().1),
        };
        let is_union = |id: u32| self.types.get(id).is_ok_and(|this| this.kind == Kind::Union);
        let above = self.types.get(id).ok().and_then(|this| this.parent);
        if !self.is_own && (is_union(id) || above.is_some_and(is_union)) {
            // Arrow has no nulls of unions: they are read as nulls of the first variant.
            let recorded = ColumnStatistics { values: None, has_null: None, ..recorded.clone() };
            return differences(&recorded, own, &Strictness { is_own: false, ..strictness });
        }
        differences(recorded, own, &strictness)
    }

    fn find(&mut self, stripe: Option<usize>, group: Option<usize>, column: u32, message: String) {
        // A name may be long, and be that of a column in many findings.
        if self.findings.len() < tuning::FINDINGS.get() && self.named <= self.limits.tail {
            let column = self.types.path(column);
            self.named += column.len() as u64;
            self.findings.push(Finding { stripe, group, column, message });
        }
    }

    fn run(mut self) -> Result<Vec<Finding>> {
        let (file, limits, inspector) = (self.file, self.limits, self.inspector.clone());
        let tail = file.tail();
        self.form_of_tail();
        self.heard((None, None), Some("the footer"), || inspector.decompress_footer())?;
        let of_stripes = self.heard((None, None), Some("the stripe statistics"), || file.stripe_statistics(limits))?;
        let mut whole = vec![ColumnStatistics::EMPTY; self.types.types().len()];
        for stripe in 0..tail.stripes.len() {
            self.cancellation.poll()?;
            let place = (Some(stripe), None);
            let footer = self.heard(place, Some("the stripe footer"), || inspector.footer(stripe))?;
            self.form_of_stripe(stripe, &footer);
            let mut inspected = self.heard(place, Some("its row index"), || inspector.stripe(stripe, &footer))?;
            drop(footer);
            let own = self.stripe(stripe, &mut inspected)?;
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

    /// Writers of the columns that are read, which take the rows of a row group.
    fn columns(&self) -> Result<Vec<Column>> {
        let nullable = vec![true; self.types.types().len()];
        match self.types.get(0)?.kind {
            Kind::Struct => readable_columns(&self.plan, self.types, &nullable),
            _ => Ok(vec![column(&self.plan, self.types, &nullable, 0)?]),
        }
    }

    /// Looks at the row groups of a stripe; gives the statistics of its columns.
    fn stripe(&mut self, stripe: usize, inspected: &mut StripeInspector) -> Result<Vec<ColumnStatistics>> {
        let filters = self.bloom_filters(stripe, inspected)?;
        let mut own = vec![ColumnStatistics::EMPTY; self.types.types().len()];
        if self.types.get(0)?.kind == Kind::Struct {
            let rows = self.file.tail().stripes.get(stripe).map(|stripe| stripe.rows);
            own.iter_mut().take(1).for_each(|root| root.values = rows);
        }
        // Of columns that cannot be read nothing is known.
        for unread in self.types.get(0)?.children.iter().filter(|&&id| self.types.fault(id).is_some()) {
            let last = self.types.get(*unread)?.last;
            let unread = own.get_mut(*unread as usize..=last as usize).into_iter().flatten();
            unread.for_each(|own| *own = ColumnStatistics::UNKNOWN);
        }
        let mut group = 0;
        while self.heard((Some(stripe), Some(group)), None, || inspected.next_group())? {
            self.cancellation.poll()?;
            // New ones for each row group, as what is encoded is of no use.
            let mut columns = self.columns()?;
            let are_whole = self.rows(&mut columns, inspected, &filters, (stripe, group))?;
            let mut done = Vec::new();
            for (column, is_whole) in columns.iter_mut().zip(are_whole) {
                if !is_whole {
                    column.each(&mut |column| done.push((column.id(), ColumnStatistics::UNKNOWN, None)));
                    continue;
                }
                column.end_group(&mut self.compressors)?;
                column.each(&mut |column| {
                    if let Some(statistics) = column.last_group() {
                        done.push((column.id(), statistics.clone(), column.last_bloom().cloned()));
                    }
                });
            }
            for (id, statistics, bloom) in done {
                self.group(inspected, &filters, (stripe, group), id, &statistics, bloom.as_ref())?;
                if let Some(own) = own.get_mut(id as usize) {
                    own.merge(&ColumnStatistics { bytes_on_disk: Some(0), ..statistics });
                }
            }
            group += 1;
        }
        Ok(own)
    }

    /// Has the rows of a row group encoded, and compares them with what is found by the row index. Says of which columns
    /// all rows were encoded.
    fn rows(
        &mut self,
        columns: &mut [Column],
        inspected: &mut StripeInspector,
        filters: &[Option<BloomFilters>],
        (stripe, group): (usize, usize),
    ) -> Result<Vec<bool>> {
        let mut are_whole = vec![true; columns.len()];
        for column in columns.iter_mut() {
            column.each(&mut |column| {
                if let Some(like) = filter_of(filters, column.id(), group).and_then(BloomBuilder::like) {
                    column.set_bloom(like);
                }
            });
            column.begin_group();
        }
        let mut first = 0;
        loop {
            let found = self.heard((Some(stripe), Some(group)), None, || inspected.next_piece())?;
            let Some(Piece { columns: arrays, sought }) = found else { break };
            self.cancellation.poll()?;
            for ((column, array), sought) in columns.iter().zip(&arrays).zip(sought) {
                let message = match sought {
                    None => None,
                    Some(Ok(parts)) => differing_row_of(array, &parts).map(|row| {
                        format!("row {} of it is another one when it is found by the row index", first + row)
                    }),
                    Some(Err(error)) => Some(format!("it cannot be read by the row index: {}", error.message())),
                };
                if let Some(message) = message {
                    self.find(Some(stripe), Some(group), column.id(), message);
                }
            }
            for ((column, array), is_whole) in columns.iter_mut().zip(&arrays).zip(&mut are_whole) {
                match column.append(array, &mut self.compressors) {
                    Ok(()) => {}
                    Err(Fault::Value { index, column, message }) => {
                        *is_whole = false;
                        let row = first + index;
                        self.find(Some(stripe), Some(group), column, format!("row {row} of it: {message}"));
                    }
                    Err(Fault::Error(error)) => return Err(error),
                }
            }
            let held: usize = columns.iter_mut().map(Column::memory).sum();
            if held as u64 > self.limits.memory {
                let most = self.limits.memory;
                let text = format!("a row group that takes more than the {most} bytes of memory allowed");
                return Err(Error::over("memory", text).in_section("stripe", stripe).in_file(self.file.name()));
            }
            first += arrays.first().map_or(0, |array| array.len());
        }
        Ok(are_whole)
    }

    /// The bloom filters of all columns, where their writer is one whose hashes are ours.
    fn bloom_filters(&mut self, stripe: usize, inspected: &StripeInspector) -> Result<Vec<Option<BloomFilters>>> {
        if !self.is_own {
            return Ok(Vec::new());
        }
        let types = (0u32..).zip(self.types.types());
        self.heard((Some(stripe), None), Some("its bloom filters"), || {
            types.map(|(id, _)| inspected.bloom_filters(id)).collect()
        })
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

/// The writers of the columns below the root whose types are known.
fn readable_columns(plan: &WritePlan, types: &Schema, nullable: &[bool]) -> Result<Vec<Column>> {
    let readable = types.get(0)?.children.iter().filter(|&&id| types.fault(id).is_none());
    readable.map(|&id| column(plan, types, nullable, id)).collect()
}

/// The bloom filter of a row group of a column.
fn filter_of(filters: &[Option<BloomFilters>], id: u32, group: usize) -> Option<&orc::BloomFilter> {
    filters.get(id as usize).and_then(|filters| filters.as_ref()?.filter(group))
}
