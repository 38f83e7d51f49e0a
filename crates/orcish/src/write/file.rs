//! Writing a file batch by batch.

use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{Field, Fields, SchemaRef};
use orcish_core::cancel::{CancelCheck, Cancellation};
use orcish_core::error::{Error, OrInternal as _, Result};
use orcish_core::limits::Limits;
use orcish_core::parallel::threads_or_cores;
use orcish_core::process::OwnerProcess;
use orcish_core::type_names::TypeName;
use orcish_io::{Sink, StagedFile, Staging};

use super::append_error::AppendError;
use super::array_size::{array_size, written_size};
use super::column::child_writers;
use super::encode::{Encoder, RowGroupSlice};
use super::metadata::user_metadata;
use super::options::WriteOptions;
use super::plan::WritePlan;
use super::stripe::{RootColumn, StripeBytes, StripeEncryption, assemble};
use super::tail::{MAGIC, Tail};
use super::types::orc_types;
use super::verify::Verifier;
use crate::schema::Schema;
use crate::time::WriterZone;
use crate::tuning;

/// Size of a complete file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Written {
    /// Rows of the file.
    pub rows: u64,
    /// Length of the file in bytes.
    pub bytes: u64,
    /// Number of stripes.
    pub stripes: usize,
}

impl Written {
    /// Takes the staged file of the finished writer, with its rows and stripes. `None` if it has been taken.
    pub fn take_staged(&self, staging: &Staging) -> Option<StagedFile> {
        let mut file = staging.take()?;
        (file.rows, file.stripes) = (self.rows, self.stripes as u64);
        Some(file)
    }
}

/// Writes an ORC file from Arrow batches.
///
/// The memory is bounded by the stripe size, some row groups and a batch; it does not depend on the size of the file.
/// The file appears under its name when [`finish`](Self::finish) returns. Without `finish`, or after an error, no file
/// appears. In a child process of a fork every call is an error, and dropping the writer does not affect the file of
/// the parent.
///
/// [`OrcWriter`](super::OrcWriter) writes to any [`std::io::Write`].
///
/// ```
/// use std::sync::Arc;
///
/// use arrow_array::{ArrayRef, Int64Array, RecordBatch};
/// use orcish::io::{StorageOptions, create};
/// use orcish::{FileWriter, WriteOptions};
///
/// let ids: ArrayRef = Arc::new(Int64Array::from(vec![1, 2, 3]));
/// let batch = RecordBatch::try_from_iter([("id", ids)])?;
/// # let folder = std::env::temp_dir().join(format!("orcish-writer-example-{}", std::process::id()));
/// # std::fs::create_dir(&folder)?;
///
/// let path = folder.join("part-0.orc");
/// let sink = create(path.to_str().unwrap(), &StorageOptions::default())?;
/// let mut writer = FileWriter::try_new(sink, batch.schema(), &WriteOptions::default())?;
/// writer.write(&batch)?;
/// assert!(!path.exists());
/// let written = writer.finish()?;
/// assert_eq!((written.rows, written.bytes), (3, path.metadata()?.len()));
/// # std::fs::remove_dir_all(folder)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct FileWriter<S: Sink = Box<dyn Sink>> {
    /// Name of the file in error messages.
    name: String,
    /// `None` after the end or a failure. Dropping the sink discards an unfinished file.
    sink: Option<S>,
    arrow: SchemaRef,
    types: Schema,
    /// Whether the batches may have nulls, by column id.
    nullable: Vec<bool>,
    plan: WritePlan,
    timezone: String,
    encoder: Encoder,
    queue: Queue,
    /// Rows of the current row group, queued and encoded.
    row_group_rows: u64,
    /// Rows of the current stripe, queued and encoded.
    stripe_rows: u64,
    /// The tail, with the complete stripes.
    tail: Tail,
    /// Bytes written to the sink.
    offset: u64,
    state: WriterState,
    owner: OwnerProcess,
    /// Set with [`WriteOptions::verify`].
    verifier: Option<Verifier>,
    cancellation: Cancellation,
}

enum WriterState {
    Open,
    Finished,
    Failed,
}

/// The message of an internal error: calls of a file that is not open are refused.
const NO_SINK: &str = "an open file has no sink";

/// Rows that are not encoded yet.
#[derive(Default)]
struct Queue {
    slices: Vec<RowGroupSlice>,
    /// Bytes of memory of the rows.
    bytes: usize,
    /// Bytes that are written for the rows, at most.
    written: usize,
}

impl<S: Sink> std::fmt::Debug for FileWriter<S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FileWriter").field("name", &self.name).field("rows", &self.rows()).finish_non_exhaustive()
    }
}

impl<S: Sink> FileWriter<S> {
    /// Begins a file with the columns of `schema`.
    ///
    /// # Errors
    /// `InvalidArgument` for an invalid option or a type that cannot be stored; `UnknownColumn` for an option with a
    /// column name that does not exist; the errors of the sink.
    pub fn try_new(sink: S, schema: SchemaRef, options: &WriteOptions) -> Result<Self> {
        let name = sink.name().to_owned();
        Self::start(sink, schema, options).map_err(|error| error.in_file(&name))
    }

    fn start(mut sink: S, schema: SchemaRef, options: &WriteOptions) -> Result<Self> {
        let (types, nullable) = orc_types(&schema)?;
        let orc = Schema::from_proto(types.clone(), &Limits::UNLIMITED)?;
        let plan = WritePlan::try_new(options, &orc)?;
        let encoder = Encoder::new(child_writers(&plan, &orc, &nullable, 0)?, threads_or_cores(options.threads));
        let tail = Tail::new(types, user_metadata(&schema, options)?, &plan);
        let mut verifier = options.verify.then(|| Verifier::new(schema.clone(), tail.footer.types.clone()));
        if let Some(verifier) = &mut verifier {
            verifier.update_checksum(MAGIC.as_bytes());
        }
        sink.write(MAGIC.as_bytes())?;
        Ok(FileWriter {
            name: sink.name().to_owned(),
            sink: Some(sink),
            arrow: schema,
            types: orc,
            nullable,
            plan,
            timezone: options.timezone.clone(),
            encoder,
            queue: Queue::default(),
            row_group_rows: 0,
            stripe_rows: 0,
            tail,
            offset: MAGIC.len() as u64,
            state: WriterState::Open,
            owner: OwnerProcess::current(),
            verifier,
            cancellation: Cancellation::new(None),
        })
    }

    /// Sets a check that the calling thread polls while it writes, and once more before the file appears. An error of
    /// the check is returned by the call, and the file cannot be finished.
    pub fn set_cancel_check(&mut self, check: CancelCheck) {
        self.cancellation = Cancellation::new(Some(check.clone()));
        self.encoder.set_cancel_check(check);
    }

    /// Arrow schema of the batches.
    pub fn schema(&self) -> SchemaRef {
        self.arrow.clone()
    }

    /// ORC types of the columns.
    pub fn types(&self) -> &Schema {
        &self.types
    }

    /// Rows written so far.
    pub fn rows(&self) -> u64 {
        self.tail.num_rows() + self.stripe_rows
    }

    /// Bytes of the file so far, without the current stripe.
    pub fn bytes(&self) -> u64 {
        self.offset
    }

    /// Appends the rows of a batch.
    ///
    /// # Errors
    /// `InvalidArgument` with row and column for a value that cannot be stored; for a batch with another schema; after
    /// an error, after the end of the file, and in another process than the one that began the file. The errors of the
    /// sink and of the cancellation check. The file cannot be finished after an error.
    pub fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        self.guarded(|this| this.enqueue(batch))
    }

    /// Ends the stripe before it has reached the stripe size, and frees its memory.
    ///
    /// # Errors
    /// The errors of [`write`](Self::write).
    pub fn end_stripe(&mut self) -> Result<()> {
        self.guarded(Self::flush_stripe)?;
        self.encoder.release();
        Ok(())
    }

    /// Ends the stripe, unless it has the time zone of the writer `timezone`; see [`WriteOptions::timezone`]. The next
    /// stripes have it.
    ///
    /// # Errors
    /// `InvalidArgument` for an unknown time zone; the errors of [`write`](Self::write).
    pub fn set_timezone(&mut self, timezone: &str) -> Result<()> {
        self.guarded(|this| {
            if this.timezone == timezone {
                return Ok(());
            }
            this.flush_stripe()?;
            this.plan.zone = WriterZone::parse(timezone).map_err(|error| Error::invalid(error.message()))?;
            timezone.clone_into(&mut this.timezone);
            this.encoder.set_columns(child_writers(&this.plan, &this.types, &this.nullable, 0)?);
            Ok(())
        })
    }

    /// Bytes of memory of the current stripe, with queued rows, and those that are kept for verification.
    pub fn memory(&self) -> usize {
        let verified = self.verifier.as_ref().map_or(0, Verifier::memory_size);
        self.encoder.memory_size() + self.queue.bytes + verified
    }

    /// Writes the last stripe and the tail, and makes the file appear under its name.
    ///
    /// # Errors
    /// The errors of [`write`](Self::write); `Corrupt` if the verification of [`WriteOptions::verify`] fails.
    pub fn finish(&mut self) -> Result<Written> {
        Ok(self.finish_with_sink()?.0)
    }

    /// As [`finish`](Self::finish), with the finished sink.
    pub(super) fn finish_with_sink(&mut self) -> Result<(Written, S)> {
        let finished = self.guarded(Self::write_tail)?;
        self.state = WriterState::Finished;
        Ok(finished)
    }

    /// Discards the file. A finished file stays.
    pub fn abort(&mut self) {
        if !matches!(self.state, WriterState::Finished) {
            self.state = WriterState::Failed;
            self.sink = None;
        }
    }

    /// Calls `work` in the process that began the file, unless a call has failed before: an error leaves columns with
    /// different numbers of rows.
    fn guarded<T>(&mut self, work: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.owner.check().map_err(|error| error.in_file(&self.name))?;
        let refusal = match self.state {
            WriterState::Open => None,
            WriterState::Finished => Some("the file is finished"),
            WriterState::Failed => Some("writing the file has failed before"),
        };
        let result = match refusal {
            None => {
                // A panic of `work` leaves this state.
                self.state = WriterState::Failed;
                work(self)
            }
            Some(refusal) => Err(Error::invalid(refusal)),
        };
        match result {
            Ok(done) => {
                self.state = WriterState::Open;
                Ok(done)
            }
            Err(error) => {
                if matches!(self.state, WriterState::Failed) {
                    self.sink = None;
                }
                Err(error.in_file(&self.name))
            }
        }
    }

    /// Slices a batch at row groups. Encodes queued row groups, and ends full stripes.
    fn enqueue(&mut self, batch: &RecordBatch) -> Result<()> {
        self.check_schema(batch)?;
        let bytes: usize = batch.columns().iter().map(array_size).sum();
        let written = batch.columns().iter().map(written_size).fold(0, usize::saturating_add).max(bytes);
        let rows = batch.num_rows();
        let stride = u64::from(self.plan.row_index_stride);
        // Rows of many bytes are encoded in several parts, so that their stripe can end between them.
        let most_rows = (tuning::BYTES_QUEUED.get() / (written / rows.max(1)).max(1)).max(1);
        let mut offset = 0;
        while offset < rows {
            let remaining = usize::try_from(stride - self.row_group_rows).unwrap_or(usize::MAX);
            let count = remaining.min(rows - offset).min(most_rows);
            let columns: Vec<ArrayRef> = if count == rows {
                batch.columns().to_vec()
            } else {
                batch.columns().iter().map(|column| column.slice(offset, count)).collect()
            };
            let first_row = self.rows();
            let starts_row_group = self.row_group_rows == 0;
            self.row_group_rows = (self.row_group_rows + count as u64) % stride;
            self.stripe_rows += count as u64;
            let ends_row_group = self.row_group_rows == 0;
            self.queue.slices.push(RowGroupSlice { columns, first_row, starts_row_group, ends_row_group });
            let share = |bytes: usize| {
                let share = bytes as u128 * count as u128 / rows as u128;
                usize::try_from(share).or_internal("a part of a batch has more bytes than the batch")
            };
            self.queue.bytes += share(bytes)?;
            self.queue.written = self.queue.written.saturating_add(share(written)?);
            offset += count;
            let is_complete =
                ends_row_group && self.stripe_rows.is_multiple_of(stride * tuning::ROW_GROUPS_QUEUED.wide());
            if is_complete || self.queue.written >= tuning::BYTES_QUEUED.get() {
                self.encode_queue()?;
                self.end_stripe_if_full()?;
            }
        }
        Ok(())
    }

    fn check_schema(&self, batch: &RecordBatch) -> Result<()> {
        let (expected, actual) = (self.arrow.fields(), batch.schema_ref().fields());
        if expected.len() != actual.len() {
            let text = format!("a batch of {} columns, where the file has {}", actual.len(), expected.len());
            return Err(Error::invalid(text));
        }
        let names = |fields: &Fields| fields.iter().map(|field| field.name().clone()).collect::<Vec<_>>();
        let (expected_names, actual_names) = (names(expected), names(actual));
        let sorted = |mut names: Vec<String>| {
            names.sort_unstable();
            names
        };
        if expected_names != actual_names && sorted(expected_names.clone()) == sorted(actual_names.clone()) {
            let text = format!(
                "a batch whose columns are in the order {}, where the file has {}: select them in the order of the file",
                actual_names.join(", "),
                expected_names.join(", ")
            );
            return Err(Error::invalid(text));
        }
        for (expected, actual) in expected.iter().zip(actual) {
            if expected.name() != actual.name() || expected.data_type() != actual.data_type() {
                let of = |field: &Field| format!("{} of type {}", field.name(), TypeName(field.data_type()));
                let text = format!(
                    "a batch with column {}, where the file has {}: cast the rows to the types of the file",
                    of(actual),
                    of(expected)
                );
                return Err(Error::invalid(text).in_column(expected.name()));
            }
        }
        Ok(())
    }

    /// Encodes the queued rows.
    fn encode_queue(&mut self) -> Result<()> {
        self.cancellation.poll()?;
        let queue = std::mem::take(&mut self.queue);
        if let Some(verifier) = &mut self.verifier {
            verifier.add_rows(queue.slices.iter().map(|slice| slice.columns.clone()), queue.bytes);
        }
        self.encoder.append(queue.slices).map_err(|(error, first_row)| match error {
            AppendError::Value { index, column, message } => {
                let row = first_row + index as u64;
                Error::invalid(format!("row {row}: {message}")).in_column(&self.types.path(column))
            }
            AppendError::Other(error) => error,
        })
    }

    fn end_stripe_if_full(&mut self) -> Result<()> {
        let (size, stripe_size) = (self.encoder.size() as u64, self.plan.stripe_size);
        let max_memory = stripe_size.saturating_mul(tuning::STRIPE_MEMORY_FACTOR.wide());
        // The rows of a verified stripe are kept until it is complete.
        let max_verified = stripe_size.saturating_mul(tuning::VERIFIED_MEMORY_FACTOR.wide());
        let verified = self.verifier.as_ref().map_or(0, |verifier| verifier.memory_size() as u64);
        let memory = self.encoder.memory_size() as u64;
        let is_full = |times: u64| {
            let reaches = |bytes: u64, limit: u64| bytes >= limit.saturating_mul(times);
            reaches(size, stripe_size) || reaches(memory, max_memory) || reaches(verified, max_verified)
        };
        // Stripes end after the same rows for all batch sizes, unless rows are huge.
        let queue_rows = u64::from(self.plan.row_index_stride) * tuning::ROW_GROUPS_QUEUED.wide();
        let is_complete = self.row_group_rows == 0 && self.stripe_rows.is_multiple_of(queue_rows);
        if is_full(1) && (is_complete || is_full(tuning::STRIPE_OVERRUN_FACTOR.wide())) {
            self.flush_stripe()?;
        } else if memory >= max_memory {
            self.encoder.save_memory()?;
        }
        Ok(())
    }

    /// Ends the stripe and writes it, if it has rows.
    fn flush_stripe(&mut self) -> Result<()> {
        if self.stripe_rows == 0 {
            return Ok(());
        }
        if self.row_group_rows > 0 {
            match self.queue.slices.last_mut() {
                Some(last) => last.ends_row_group = true,
                None => self.queue.slices.push(RowGroupSlice::end_of_row_group(&self.arrow, self.rows())),
            }
        }
        self.encode_queue()?;
        self.cancellation.poll()?;
        let columns = self.encoder.end_stripe()?;
        let num_rows = std::mem::take(&mut self.stripe_rows);
        self.row_group_rows = 0;
        let timezone = self.plan.has_timestamps.then(|| self.timezone.clone()).filter(|name| !name.is_empty());
        let row_index_stride = self.plan.row_index_stride.into();
        let root = RootColumn { num_rows, row_index_stride, has_index: self.plan.has_index };
        let plan = self.plan.encryption.clone();
        let id = self.tail.footer.stripes.len() as u64 + 1;
        let encryption = plan.as_deref().map(|plan| StripeEncryption { plan, id });
        let (options, compressors) = (self.plan.stream_options(), self.encoder.compressors()?);
        let stripe = assemble(root, columns, timezone, options, encryption, compressors)?;
        if let Some(verifier) = &mut self.verifier {
            let first_row = self.tail.num_rows();
            let compressors = self.encoder.compressors()?;
            verifier.verify_stripe(&stripe, &self.plan, compressors, first_row, &mut self.cancellation)?;
        }
        let StripeBytes { sections, mut information, statistics, variant_statistics } = stripe;
        information.offset = Some(self.offset);
        for section in &sections {
            for bytes in section.iter() {
                self.cancellation.poll()?;
                self.write_bytes(bytes)?;
            }
        }
        self.encoder.reuse(sections);
        self.tail.add_stripe(information, &statistics, variant_statistics);
        Ok(())
    }

    /// Writes the last stripe and the tail, and finishes the sink.
    fn write_tail(&mut self) -> Result<(Written, S)> {
        self.flush_stripe()?;
        let bytes = self.tail.finish(self.offset, &self.plan, self.encoder.compressors()?)?;
        self.write_bytes(&bytes)?;
        if let Some(verifier) = &mut self.verifier {
            let sink = self.sink.as_mut().or_internal(NO_SINK)?;
            verifier.verify_file(sink, &self.tail, &mut self.cancellation)?;
        }
        let mut sink = self.sink.take().or_internal(NO_SINK)?;
        sink.sync()?;
        self.cancellation.poll_now()?;
        sink.finish()?;
        let stripes = self.tail.footer.stripes.len();
        Ok((Written { rows: self.tail.num_rows(), bytes: self.offset, stripes }, sink))
    }

    fn write_bytes(&mut self, bytes: &[u8]) -> Result<()> {
        self.offset += bytes.len() as u64;
        if let Some(verifier) = &mut self.verifier {
            verifier.update_checksum(bytes);
        }
        self.sink.as_mut().or_internal(NO_SINK)?.write(bytes)
    }
}

#[cfg(test)]
mod tests;
