//! One part of a scan: its rows, in batches of the table.

use std::collections::VecDeque;
use std::sync::Arc;

use arrow_array::{ArrayRef, BooleanArray, RecordBatch, RecordBatchOptions};
use arrow_select::concat::concat_batches;
use arrow_select::filter::filter;
use orcish_core::cancel::{Check, Patience};
use orcish_core::cast::cut;
use orcish_core::{Error, Result};
use orcish_io::display_name;

use super::columnar::Columnar;
use super::orc::{self, OrcRows};
use super::parts::{Part, Parts};
use super::streams::Stream;
use super::{Source, What};
use crate::table::FileFormat;
use crate::tuning;

/// Batches of the table from a part of it.
pub(super) struct PartReader {
    of: Arc<Source>,
    what: Arc<What>,
    name: String,
    rows: Rows,
    /// Wanted rows of some pages that had few.
    waiting: Vec<RecordBatch>,
    ready: VecDeque<RecordBatch>,
    patience: Patience,
    is_done: bool,
}

/// Where rows are from.
enum Rows {
    Columnar(Columnar),
    Stream(Stream),
    Orc(OrcRows),
}

impl PartReader {
    pub(super) fn open(parts: &Parts, part: &Part, threads: usize) -> Result<Self> {
        let entry = parts.of.file(part.file)?;
        let rows = match &entry.format {
            FileFormat::Stream => {
                let dictionaries = parts.open.dictionaries(&parts.of, entry);
                Rows::Stream(Stream::open(&parts.of, &parts.what, entry, dictionaries)?)
            }
            FileFormat::Orc => Rows::Orc(orc::open(&parts.of, &parts.what, entry, threads)?),
            _ => Rows::Columnar(Columnar::new(parts.open.get(&parts.of, part.file)?, part.blocklets.clone())),
        };
        Ok(PartReader {
            of: parts.of.clone(),
            what: parts.what.clone(),
            name: display_name(&entry.location),
            rows,
            waiting: Vec::new(),
            ready: VecDeque::new(),
            patience: Patience::new(None),
            is_done: false,
        })
    }

    pub(super) fn while_waiting(&mut self, check: Check) {
        self.patience = Patience::new(Some(check));
    }

    fn next_batch(&mut self) -> Result<Option<RecordBatch>> {
        loop {
            if let Some(batch) = self.ready.pop_front() {
                return Ok(Some(batch));
            }
            if self.is_done {
                return Ok(None);
            }
            self.patience.look()?;
            let found = match &mut self.rows {
                Rows::Columnar(columnar) => columnar.next(&self.of, &self.what)?,
                Rows::Stream(stream) => stream.next(&self.of, &self.what)?,
                Rows::Orc(rows) => rows.next(&self.of, &self.what)?,
            };
            match found {
                Some(batch) if batch.num_rows() == 0 => {}
                Some(batch) => self.add(batch)?,
                None => {
                    self.is_done = true;
                    self.put_together()?;
                }
            }
        }
    }

    /// Has a batch given out, cut to what is allowed, or put together with others of few rows.
    fn add(&mut self, batch: RecordBatch) -> Result<()> {
        let most = self.what.options.batch_size.max(1);
        // Pages with few wanted rows are put together.
        let few = tuning::FEW_ROWS_OF_PAGE.get().min(most);
        if batch.num_rows() < few {
            self.waiting.push(batch);
            let rows: usize = self.waiting.iter().map(RecordBatch::num_rows).sum();
            return if rows >= few { self.put_together() } else { Ok(()) };
        }
        self.put_together()?;
        self.give(&batch, most);
        Ok(())
    }

    fn put_together(&mut self) -> Result<()> {
        let most = self.what.options.batch_size.max(1);
        match &self.waiting[..] {
            [] => return Ok(()),
            [one] => self.give(&one.clone(), most),
            several => {
                let misfit = |error| Error::limit("rows of a batch").with_source(error);
                let rows = several.iter().map(RecordBatch::num_rows).sum();
                let batch = match self.what.chosen.is_empty() {
                    true => batch(&self.what, Vec::new(), rows)?,
                    false => concat_batches(&self.what.output, several).map_err(misfit)?,
                };
                self.give(&batch, most);
            }
        }
        self.waiting.clear();
        Ok(())
    }

    fn give(&mut self, batch: &RecordBatch, most: usize) {
        for start in (0..batch.num_rows()).step_by(most) {
            self.ready.push_back(batch.slice(start, most.min(batch.num_rows() - start)));
        }
    }
}

impl Iterator for PartReader {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        let next = self.next_batch().map_err(|error| error.in_file(&self.name)).transpose();
        if matches!(next, Some(Err(_))) {
            self.is_done = true;
            self.ready.clear();
            self.waiting.clear();
        }
        next
    }
}

impl What {
    /// Places of all columns of the table that are read.
    pub(super) fn needed(&self) -> impl Iterator<Item = usize> {
        self.chosen.iter().map(|(at, _)| *at).chain(self.asked.iter().copied())
    }
}

/// A batch of the columns that were asked for.
pub(super) fn batch(what: &What, arrays: Vec<ArrayRef>, rows: usize) -> Result<RecordBatch> {
    if rows == 0 {
        return Ok(RecordBatch::new_empty(what.output.clone()));
    }
    let options = RecordBatchOptions::new().with_row_count(Some(rows));
    RecordBatch::try_new_with_options(what.output.clone(), arrays, &options)
        .map_err(|error| Error::corrupt("the columns do not fit together").with_source(error))
}

/// The wanted rows, given all columns of the table.
pub(super) fn filtered(what: &What, rows: usize, column: &dyn Fn(usize) -> Result<ArrayRef>) -> Result<RecordBatch> {
    let wanted = what.filter.as_ref().map(|filter| filter.evaluate(column, rows)).transpose()?;
    let count = wanted.as_ref().map_or(rows, BooleanArray::true_count);
    let wanted = wanted.filter(|_| count < rows);
    if count == 0 {
        return batch(what, Vec::new(), 0);
    }
    let array = |(at, field): &(usize, arrow_schema::FieldRef)| {
        let array = cut(&column(*at)?, field)?;
        match &wanted {
            None => Ok(array),
            Some(wanted) => filter(&array, wanted).map_err(|error| Error::limit("wanted rows").with_source(error)),
        }
    };
    batch(what, what.chosen.iter().map(array).collect::<Result<_>>()?, count)
}
