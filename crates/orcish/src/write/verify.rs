//! What was written, read again before the file appears, and compared with what was given.

use std::sync::Arc;

use arrow_array::{Array as _, ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field, SchemaRef};
use orcish_core::cancel::Cancellation;
use orcish_core::error::{Error, ErrorKind, Result};
use orcish_core::limits::Limits;
use orcish_core::statistics::ColumnStatistics;
use orcish_core::types::{is_text, item_of, values_of};
use orcish_io::{MemorySource, Sink};

use super::blocks::Blocks;
use super::check::differing_row;
use super::compressors::Compressors;
use super::plan::WritePlan;
use super::tail::{MAGIC, Tail};
use crate::options::ReadOptions;
use crate::proto::orc;
use crate::read::{ARROW_SCHEMA_KEY, OrcFile, TYPE_KEY, encode_schema};
use crate::tuning;

/// What has been given and written.
pub(super) struct Verifier {
    schema: SchemaRef,
    types: Vec<orc::Type>,
    /// Rows of the stripe.
    kept: Vec<Vec<ArrayRef>>,
    /// Checksum of all bytes.
    crc: libdeflater::Crc,
    bytes: u64,
}

impl std::fmt::Debug for Verifier {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Verifier").finish_non_exhaustive()
    }
}

impl Verifier {
    pub(super) fn new(schema: SchemaRef, types: Vec<orc::Type>) -> Self {
        Verifier { schema, types, kept: Vec::new(), crc: libdeflater::Crc::new(), bytes: 0 }
    }

    /// Keeps rows of the stripe.
    pub(super) fn keep(&mut self, columns: &[ArrayRef]) {
        self.kept.push(columns.to_vec());
    }

    /// Bytes have been written.
    pub(super) fn wrote(&mut self, bytes: &[u8]) {
        self.crc.update(bytes);
        self.bytes += bytes.len() as u64;
    }

    /// Reads a stripe as a file of its own, and compares it with the rows that were kept.
    ///
    /// # Errors
    /// `Corrupt` that says what is wrong; that of the caller who does not want to go on.
    pub(super) fn stripe(
        &mut self,
        (parts, information, statistics): (&[Blocks], &orc::StripeInformation, &[ColumnStatistics]),
        plan: &WritePlan,
        compressors: &mut Compressors,
        first_row: u64,
        cancellation: &mut Cancellation,
    ) -> Result<()> {
        let kept = std::mem::take(&mut self.kept);
        let mut bytes = MAGIC.as_bytes().to_vec();
        parts.iter().flat_map(Blocks::parts).for_each(|part| bytes.extend_from_slice(part));
        let metadata = match encode_schema(&self.schema) {
            Ok(schema) => vec![(ARROW_SCHEMA_KEY.to_owned(), schema.into())],
            Err(_) => Vec::new(),
        };
        let mut tail = Tail::new(self.types.clone(), metadata, plan);
        let offset = Some(MAGIC.len() as u64);
        tail.add_stripe(orc::StripeInformation { offset, ..information.clone() }, statistics);
        let end = bytes.len() as u64;
        bytes.extend(tail.make_bytes(end, plan, compressors)?);
        let verified = || {
            let file = OrcFile::new(Arc::new(MemorySource::new(bytes)), &Limits::OF_OURSELVES)?;
            if let Some(finding) = file.check(&Limits::OF_OURSELVES, cancellation.check())?.first() {
                return Err(Error::corrupt(finding.to_string()));
            }
            self.compare(&file, &kept, first_row, cancellation)
        };
        verified().map_err(|error| failed(&error))
    }

    fn compare(
        &self,
        file: &OrcFile,
        kept: &[Vec<ArrayRef>],
        first_row: u64,
        cancellation: &mut Cancellation,
    ) -> Result<()> {
        let options = ReadOptions { limits: Limits::OF_OURSELVES, threads: 1, ..ReadOptions::default() };
        let restored = file.schema(&options)?;
        let is_same = |(a, b): (&Arc<Field>, &Arc<Field>)| a.data_type() == b.data_type();
        if !restored.fields().iter().zip(self.schema.fields()).all(is_same) {
            // Nested too deeply for the schema to be kept: rows come in other types, and their statistics were compared.
            return Ok(());
        }
        if restored.fields().is_empty() {
            // Batches without columns have rows, and nothing else to compare.
            return Ok(());
        }
        let mut row = first_row;
        let mut pieces = kept.iter().map(|columns| (columns, 0)).collect::<std::collections::VecDeque<_>>();
        for batch in file.read(options)? {
            let batch = batch?;
            cancellation.poll()?;
            let mut at = 0;
            while at < batch.num_rows() {
                let Some((columns, from)) = pieces.pop_front() else {
                    return Err(Error::corrupt(format!("row {row}: there are more rows than were given")));
                };
                let length = columns.first().map_or(0, |column| column.len());
                let count = (length - from).min(batch.num_rows() - at);
                self.compare_columns(columns, from, &batch, at, count, row)?;
                (at, row) = (at + count, row + count as u64);
                if from + count < length {
                    pieces.push_front((columns, from + count));
                }
            }
        }
        let is_left = pieces.iter().any(|(columns, from)| columns.first().is_some_and(|column| column.len() > *from));
        if is_left { Err(Error::corrupt(format!("row {row}: there are fewer rows than were given"))) } else { Ok(()) }
    }

    fn compare_columns(
        &self,
        given: &[ArrayRef],
        from: usize,
        batch: &RecordBatch,
        at: usize,
        count: usize,
        row: u64,
    ) -> Result<()> {
        for ((given, read), field) in given.iter().zip(batch.columns()).zip(self.schema.fields()) {
            let Some((given, read)) = comparable(&given.slice(from, count), &read.slice(at, count), field)? else {
                continue;
            };
            if let Some(differing) = differing_row(&given, &read) {
                let text =
                    format!("row {}: the value that is read is not that which was given", row + differing as u64);
                return Err(Error::corrupt(text).in_column(field.name()));
            }
        }
        Ok(())
    }

    /// Compares the file so far with what was written, and its number of rows, where it can be read.
    ///
    /// # Errors
    /// `Corrupt` where it is another; that of the caller who does not want to go on.
    pub(super) fn file(&mut self, sink: &mut dyn Sink, tail: &Tail, cancellation: &mut Cancellation) -> Result<()> {
        let Some(source) = sink.reopen()? else { return Ok(()) };
        let size = source.size()?;
        let mut crc = libdeflater::Crc::new();
        let mut at = 0;
        while at < size {
            cancellation.poll()?;
            let range = at..size.min(at + tuning::BYTES_VERIFIED.wide());
            at = range.end;
            let bytes = source.read_ranges(std::slice::from_ref(&range))?.pop().unwrap_or_default();
            crc.update(&bytes);
        }
        if size != self.bytes || crc.sum() != self.crc.sum() {
            return Err(failed(&Error::corrupt("the bytes on disk are not those that were written")));
        }
        let file = OrcFile::new(source, &Limits::OF_OURSELVES).map_err(|error| failed(&error))?;
        if file.tail().rows != tail.rows() {
            return Err(failed(&Error::corrupt("the footer states another number of rows")));
        }
        Ok(())
    }
}

fn failed(error: &Error) -> Error {
    match error.kind() {
        ErrorKind::Io | ErrorKind::Interrupted => error.clone(),
        _ => Error::corrupt(format!("what was written does not come back: {error}")),
    }
}

/// Values as they are to be compared: text of a `char` without the blanks that it was filled up with. None where it has
/// such columns below it, of which the statistics were compared.
fn comparable(given: &ArrayRef, read: &ArrayRef, field: &Field) -> Result<Option<(ArrayRef, ArrayRef)>> {
    if !has_char(field) {
        return Ok(Some((given.clone(), read.clone())));
    }
    if !is_text(values_of(field.data_type())) {
        return Ok(None);
    }
    Ok(Some((trimmed(given)?, trimmed(read)?)))
}

fn trimmed(array: &ArrayRef) -> Result<ArrayRef> {
    use arrow_array::cast::AsArray as _;
    let text = arrow_cast::cast(array, &DataType::LargeUtf8);
    let text = text.map_err(|error| Error::invalid("text that is none").with_source(error))?;
    let text = text.as_string::<i64>().iter().map(|value| value.map(|value| value.trim_end_matches(' ')));
    Ok(Arc::new(text.collect::<arrow_array::LargeStringArray>()))
}

fn has_char(field: &Field) -> bool {
    let is_char = field.metadata().get(TYPE_KEY).is_some_and(|name| name.starts_with("char("));
    is_char
        || match values_of(field.data_type()) {
            DataType::Struct(fields) => fields.iter().any(|field| has_char(field)),
            DataType::Map(entries, _) => has_char(entries),
            DataType::Union(fields, _) => fields.iter().any(|(_, field)| has_char(field)),
            list => item_of(list).is_some_and(|item| has_char(item)),
        }
}
