//! Verification of a file before it appears: stripes are read and compared with the rows that were written.

use std::collections::VecDeque;
use std::sync::Arc;

use arrow_array::{Array as _, ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field, SchemaRef};
use orcish_core::cancel::Cancellation;
use orcish_core::error::{Error, OrInternal as _, Result};
use orcish_core::limits::Limits;
use orcish_core::types::{is_text, item_of, value_type};
use orcish_io::{MemorySource, Sink};

use super::check::differing_row;
use super::compressors::Compressors;
use super::metadata::schema_item;
use super::plan::WritePlan;
use super::stripe::StripeBytes;
use super::tail::{MAGIC, Tail};
use crate::options::ReadOptions;
use crate::proto::orc;
use crate::read::{OrcFile, TYPE_KEY};
use crate::tuning;

/// The rows of the current stripe, and the checksum of the bytes of the file.
pub(super) struct Verifier {
    schema: SchemaRef,
    types: Vec<orc::Type>,
    /// Slices of the rows of the stripe, by column.
    slices: Vec<Vec<ArrayRef>>,
    /// Bytes of the slices.
    memory: usize,
    /// Checksum of the bytes of the file.
    crc: flate2::Crc,
    /// Number of the bytes of the file.
    num_bytes: u64,
}

impl std::fmt::Debug for Verifier {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Verifier").finish_non_exhaustive()
    }
}

impl Verifier {
    pub(super) fn new(schema: SchemaRef, types: Vec<orc::Type>) -> Self {
        Verifier { schema, types, slices: Vec::new(), memory: 0, crc: flate2::Crc::new(), num_bytes: 0 }
    }

    /// Adds rows of the current stripe, by their columns. `bytes` is their memory.
    pub(super) fn add_rows(&mut self, slices: impl Iterator<Item = Vec<ArrayRef>>, bytes: usize) {
        self.slices.extend(slices);
        self.memory += bytes;
    }

    /// Bytes of the rows of the current stripe.
    pub(super) fn memory_size(&self) -> usize {
        self.memory
    }

    /// Adds bytes of the file to the checksum.
    pub(super) fn update_checksum(&mut self, bytes: &[u8]) {
        self.crc.update(bytes);
        self.num_bytes += bytes.len() as u64;
    }

    /// Makes a file of the stripe, checks it, reads it, and compares its rows with the rows that were added.
    ///
    /// # Errors
    /// `Corrupt` with the first difference; the error of the cancellation check.
    pub(super) fn verify_stripe(
        &mut self,
        stripe: &StripeBytes,
        plan: &WritePlan,
        compressors: &mut Compressors,
        first_row: u64,
        cancellation: &mut Cancellation,
    ) -> Result<()> {
        let slices = std::mem::take(&mut self.slices);
        self.memory = 0;
        let mut bytes = MAGIC.as_bytes().to_vec();
        let blocks = stripe.sections.iter().flat_map(|section| section.iter());
        blocks.for_each(|block| bytes.extend_from_slice(block));
        let metadata = schema_item(&self.schema)?.into_iter().collect();
        let mut tail = Tail::new(self.types.clone(), metadata, plan);
        let offset = Some(MAGIC.len() as u64);
        let information = orc::StripeInformation { offset, ..stripe.information.clone() };
        tail.add_stripe(information, &stripe.statistics, stripe.variant_statistics.clone());
        let content_length = bytes.len() as u64;
        bytes.extend(tail.finish(content_length, plan, compressors)?);
        let verify = || {
            let file = OrcFile::try_new(Arc::new(MemorySource::new(bytes)), &Limits::UNLIMITED)?;
            let file = match &plan.encryption {
                Some(encryption) => file.with_keys(&encryption.local_keys())?,
                None => file,
            };
            if let Some(finding) = file.check(&Limits::UNLIMITED, cancellation.check(), None)?.first() {
                return Err(Error::corrupt(finding.to_string()));
            }
            self.compare_rows(&file, &slices, first_row, cancellation)
        };
        verify().map_err(|error| verification_error(&error))
    }

    /// Compares the rows of a file with the rows of `slices`. `first_row` is the number of the first row in error
    /// messages.
    fn compare_rows(
        &self,
        file: &OrcFile,
        slices: &[Vec<ArrayRef>],
        first_row: u64,
        cancellation: &mut Cancellation,
    ) -> Result<()> {
        let options = ReadOptions { limits: Limits::UNLIMITED, threads: 1, ..ReadOptions::default() };
        let read_schema = file.schema(&options)?;
        let is_same_type = |(a, b): (&Arc<Field>, &Arc<Field>)| a.data_type() == b.data_type();
        let (read, given) = (read_schema.fields().len(), self.schema.fields().len());
        if read != given {
            return Err(Error::corrupt(format!("{read} columns are read, and {given} were given")));
        }
        if !read_schema.fields().iter().zip(self.schema.fields()).all(is_same_type) {
            // The schema is nested too deeply to be stored, so that other Arrow types are read. The check has compared
            // statistics.
            return Ok(());
        }
        if read_schema.fields().is_empty() {
            // Rows without columns have no values to compare.
            return Ok(());
        }
        let mut row = first_row;
        let mut remaining: VecDeque<_> = slices.iter().map(|columns| (columns, 0)).collect();
        for batch in file.read(options)? {
            let batch = batch?;
            cancellation.poll()?;
            let mut offset = 0;
            while offset < batch.num_rows() {
                let Some((columns, start)) = remaining.pop_front() else {
                    return Err(Error::corrupt(format!("row {row}: there are more rows than were given")));
                };
                let length = columns.first().or_internal("rows with columns have none")?.len();
                let count = (length - start).min(batch.num_rows() - offset);
                self.compare_columns(columns, start, &batch, offset, count, row)?;
                (offset, row) = (offset + count, row + count as u64);
                if start + count < length {
                    remaining.push_front((columns, start + count));
                }
            }
        }
        let mut remaining = remaining.iter();
        let has_rows = remaining.any(|(columns, start)| columns.first().is_some_and(|column| column.len() > *start));
        if has_rows { Err(Error::corrupt(format!("row {row}: there are fewer rows than were given"))) } else { Ok(()) }
    }

    /// Compares `count` rows of `written` from `start` on with rows of `batch` from `offset` on.
    fn compare_columns(
        &self,
        written: &[ArrayRef],
        start: usize,
        batch: &RecordBatch,
        offset: usize,
        count: usize,
        row: u64,
    ) -> Result<()> {
        for ((written, read), field) in written.iter().zip(batch.columns()).zip(self.schema.fields()) {
            let (written, read) = (written.slice(start, count), read.slice(offset, count));
            let Some((written, read)) = without_padding(&written, &read, field)? else {
                continue;
            };
            if let Some(differing) = differing_row(&written, &read) {
                let text =
                    format!("row {}: the value that is read is not that which was given", row + differing as u64);
                return Err(Error::corrupt(text).in_column(field.name()));
            }
        }
        Ok(())
    }

    /// Reads the complete file back from the sink, if the sink supports it, and compares checksum and number of rows.
    ///
    /// # Errors
    /// `Corrupt` for a difference; the errors of the sink and of the cancellation check.
    pub(super) fn verify_file(
        &mut self,
        sink: &mut impl Sink,
        tail: &Tail,
        cancellation: &mut Cancellation,
    ) -> Result<()> {
        let Some(source) = sink.reopen()? else { return Ok(()) };
        let size = source.size()?;
        let mut crc = flate2::Crc::new();
        let mut offset = 0;
        while offset < size {
            cancellation.poll()?;
            let range = offset..size.min(offset + tuning::VERIFY_READ_BYTES.wide());
            offset = range.end;
            crc.update(&source.read_range(range)?);
        }
        if size != self.num_bytes || crc.sum() != self.crc.sum() {
            return Err(verification_error(&Error::corrupt("the bytes on disk are not those that were written")));
        }
        let file = OrcFile::try_new(source, &Limits::UNLIMITED).map_err(|error| verification_error(&error))?;
        if file.tail().rows != tail.num_rows() {
            return Err(verification_error(&Error::corrupt("the footer states another number of rows")));
        }
        Ok(())
    }
}

/// The error of a failed verification. Errors of the source and of the cancellation check stay as they are.
fn verification_error(error: &Error) -> Error {
    if error.kind().is_of_file() {
        Error::corrupt(format!("what was written does not come back: {error}"))
    } else {
        error.clone()
    }
}

/// Two arrays of a column without the padding of `char` values. `None` for a column with nested `char` columns, whose
/// statistics the check has compared.
fn without_padding(written: &ArrayRef, read: &ArrayRef, field: &Field) -> Result<Option<(ArrayRef, ArrayRef)>> {
    if !has_char(field) {
        return Ok(Some((written.clone(), read.clone())));
    }
    if !is_text(value_type(field.data_type())) {
        return Ok(None);
    }
    Ok(Some((trim_end(written)?, trim_end(read)?)))
}

fn trim_end(array: &ArrayRef) -> Result<ArrayRef> {
    use arrow_array::cast::AsArray as _;
    let text = arrow_cast::cast(array, &DataType::LargeUtf8).or_internal("text is not cast to text")?;
    let text = text.as_string::<i64>().iter().map(|value| value.map(|value| value.trim_end_matches(' ')));
    Ok(Arc::new(text.collect::<arrow_array::LargeStringArray>()))
}

/// Whether a field, or a field below it, is stored as `char`.
fn has_char(field: &Field) -> bool {
    let is_char = field.metadata().get(TYPE_KEY).is_some_and(|name| name.starts_with("char("));
    is_char
        || match value_type(field.data_type()) {
            DataType::Struct(fields) => fields.iter().any(|field| has_char(field)),
            DataType::Map(entries, _) => has_char(entries),
            DataType::Union(fields, _) => fields.iter().any(|(_, field)| has_char(field)),
            list => item_of(list).is_some_and(|item| has_char(item)),
        }
}
