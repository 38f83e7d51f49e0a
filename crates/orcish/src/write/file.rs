//! Writing a file batch by batch.

use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::SchemaRef;
use orcish_core::cancel::{CancelCheck, Cancellation};
use orcish_core::error::{Error, Result};
use orcish_core::limits::Limits;
use orcish_core::parallel::threads_or_cores;
use orcish_core::process::OwnerProcess;
use orcish_io::Sink;

use super::bytes_of::bytes_of;
use super::column::columns;
use super::encode::{Encoder, Piece};
use super::fault::Fault;
use super::metadata::user_metadata;
use super::options::WriteOptions;
use super::plan::WritePlan;
use super::stripe::{Root, StripeBytes, assemble};
use super::tail::{MAGIC, Tail};
use super::types::orc_types;
use super::verify::Verifier;
use crate::schema::Schema;
use crate::tuning;

/// What has been written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Written {
    /// Rows of the file.
    pub rows: u64,
    /// Length of the file in bytes.
    pub bytes: u64,
    /// Number of stripes.
    pub stripes: usize,
}

/// Writes an ORC file from Arrow batches.
///
/// Memory: the stripe that is being built, some row groups, and a batch, however long the file is. The file appears
/// under its name by [`finish`](Self::finish); without it, or after an error, nothing does. A child of a fork cannot go on
/// with it, nor drop what its parent writes.
///
/// ```no_run
/// use orcish::io::{StorageOptions, create};
/// use orcish::{FileWriter, WriteOptions};
/// # fn batches() -> Vec<arrow_array::RecordBatch> { Vec::new() }
///
/// let batches = batches();
/// let sink = create("part-0.orc", &StorageOptions::default())?;
/// let mut writer = FileWriter::new(sink, batches[0].schema(), &WriteOptions::default())?;
/// for batch in &batches {
///     writer.write(batch)?;
/// }
/// println!("{} bytes", writer.finish()?.bytes);
/// # Ok::<(), orcish::Error>(())
/// ```
pub struct FileWriter {
    /// What messages call the file.
    name: String,
    /// None once it is finished, or has failed: what was written is gone then.
    sink: Option<Box<dyn Sink>>,
    arrow: SchemaRef,
    types: Schema,
    plan: WritePlan,
    timezone: String,
    encoder: Encoder,
    queue: Queue,
    /// Rows of the row group and of the stripe that are queued or encoded, and of the stripes before.
    group_rows: u64,
    stripe_rows: u64,
    tail: Tail,
    /// Bytes that the sink has been given.
    offset: u64,
    state: State,
    owner: OwnerProcess,
    /// What is compared with what was written, where that is asked for.
    verifier: Option<Verifier>,
    /// Whether the caller wants to go on.
    cancellation: Cancellation,
}

enum State {
    Open,
    Finished,
    Failed,
}

#[derive(Default)]
struct Queue {
    pieces: Vec<Piece>,
    bytes: usize,
}

impl std::fmt::Debug for FileWriter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FileWriter").field("name", &self.name).field("rows", &self.rows()).finish_non_exhaustive()
    }
}

impl FileWriter {
    /// A writer of batches of this schema.
    ///
    /// # Errors
    /// `InvalidArgument` when an option is wrong, or a type cannot be stored; `UnknownColumn` when an option names a
    /// column that there is not; those of the sink.
    pub fn new(sink: Box<dyn Sink>, schema: SchemaRef, options: &WriteOptions) -> Result<Self> {
        let name = sink.name().to_owned();
        Self::start(sink, schema, options).map_err(|error| error.in_file(&name))
    }

    fn start(mut sink: Box<dyn Sink>, schema: SchemaRef, options: &WriteOptions) -> Result<Self> {
        let (types, nullable) = orc_types(&schema)?;
        let orc = Schema::from_proto(types.clone(), &Limits::OF_OURSELVES)?;
        let plan = WritePlan::new(options, &orc)?;
        let encoder = Encoder::new(columns(&plan, &orc, &nullable, 0)?, threads_or_cores(options.threads));
        let tail = Tail::new(types, user_metadata(&schema, options)?, &plan);
        let mut verifier = options.verify.then(|| Verifier::new(schema.clone(), tail.footer.types.clone()));
        verifier.iter_mut().for_each(|verifier| verifier.wrote(MAGIC.as_bytes()));
        sink.write(MAGIC.as_bytes())?;
        Ok(FileWriter {
            name: sink.name().to_owned(),
            sink: Some(sink),
            arrow: schema,
            types: orc,
            plan,
            timezone: options.timezone.clone(),
            encoder,
            queue: Queue::default(),
            group_rows: 0,
            stripe_rows: 0,
            tail,
            offset: MAGIC.len() as u64,
            state: State::Open,
            owner: OwnerProcess::current(),
            verifier,
            cancellation: Cancellation::new(None),
        })
    }

    /// Has the thread that writes call `check` now and then, and last of all before the file appears. Its error ends the
    /// call, and the file cannot be finished.
    pub fn set_cancel_check(&mut self, check: CancelCheck) {
        self.cancellation = Cancellation::new(Some(check.clone()));
        self.encoder.set_cancel_check(check);
    }

    /// Schema of the batches.
    pub fn schema(&self) -> SchemaRef {
        self.arrow.clone()
    }

    /// The ORC types of the columns.
    pub fn types(&self) -> &Schema {
        &self.types
    }

    /// Rows that it has been given.
    pub fn rows(&self) -> u64 {
        self.tail.rows() + self.stripe_rows
    }

    /// Bytes of the stripes that are written.
    pub fn bytes(&self) -> u64 {
        self.offset
    }

    /// Takes the rows of a batch.
    ///
    /// # Errors
    /// `InvalidArgument` that names row and column where a value cannot be stored, or when the batch is of another
    /// schema, or in another process than that which began the file; those of the sink. After an error the file cannot
    /// be finished.
    pub fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        self.guarded(|this| this.take(batch))
    }

    /// Writes what there is as a stripe, sooner than it would have ended: to free memory, or where rows of a kind end.
    ///
    /// # Errors
    /// Those of [`write`](Self::write).
    pub fn end_stripe(&mut self) -> Result<()> {
        self.guarded(Self::flush_stripe)?;
        self.encoder.release();
        Ok(())
    }

    /// Bytes of memory that the stripe takes which is being built, with what is queued for it.
    pub fn memory(&mut self) -> usize {
        self.encoder.memory() + self.queue.bytes
    }

    /// Writes what is left, and makes the file appear under its name.
    ///
    /// # Errors
    /// Those of [`write`](Self::write).
    pub fn finish(&mut self) -> Result<Written> {
        let written = self.guarded(Self::end)?;
        self.state = State::Finished;
        Ok(written)
    }

    /// Gives the file up: nothing appears under its name. What has been finished stays.
    pub fn abort(&mut self) {
        if !matches!(self.state, State::Finished) {
            self.state = State::Failed;
            self.sink = None;
        }
    }

    /// Does some work; what fails leaves columns with unlike numbers of rows, so that nothing can follow.
    fn guarded<T>(&mut self, work: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.owner.check().map_err(|error| error.in_file(&self.name))?;
        let refusal = match self.state {
            State::Open => None,
            State::Finished => Some("the file is finished"),
            State::Failed => Some("writing the file has failed before"),
        };
        let result = match refusal {
            None => {
                // Of panics too.
                self.state = State::Failed;
                work(self)
            }
            Some(refusal) => Err(Error::invalid(refusal)),
        };
        match result {
            Ok(done) => {
                self.state = State::Open;
                Ok(done)
            }
            Err(error) => {
                if matches!(self.state, State::Failed) {
                    self.sink = None;
                }
                Err(error.in_file(&self.name))
            }
        }
    }

    fn take(&mut self, batch: &RecordBatch) -> Result<()> {
        self.check_types(batch)?;
        let bytes: usize = batch.columns().iter().map(bytes_of).sum();
        let rows = batch.num_rows();
        let stride = u64::from(self.plan.stride);
        let mut at = 0;
        while at < rows {
            let left = usize::try_from(stride - self.group_rows).unwrap_or(usize::MAX);
            let count = left.min(rows - at);
            let columns: Vec<ArrayRef> = match count == rows {
                true => batch.columns().to_vec(),
                false => batch.columns().iter().map(|column| column.slice(at, count)).collect(),
            };
            let first_row = self.rows();
            let starts_group = self.group_rows == 0;
            self.group_rows = (self.group_rows + count as u64) % stride;
            self.stripe_rows += count as u64;
            let ends_group = self.group_rows == 0;
            self.queue.pieces.push(Piece { columns, first_row, starts_group, ends_group });
            self.queue.bytes += usize::try_from(bytes as u128 * count as u128 / rows as u128).unwrap_or(bytes);
            at += count;
            let is_usual = ends_group && self.stripe_rows.is_multiple_of(stride * tuning::GROUPS_QUEUED.wide());
            if is_usual || self.queue.bytes >= tuning::BYTES_QUEUED.get() {
                self.encode_queue()?;
                self.end_stripe_if_full()?;
            }
        }
        Ok(())
    }

    fn check_types(&self, batch: &RecordBatch) -> Result<()> {
        let (expected, found) = (self.arrow.fields(), batch.schema_ref().fields());
        if expected.len() != found.len() {
            let text = format!("a batch of {} columns, where the file has {}", found.len(), expected.len());
            return Err(Error::invalid(text));
        }
        for (expected, found) in expected.iter().zip(found) {
            if expected.name() != found.name() || expected.data_type() != found.data_type() {
                let text = format!("a batch with {found}, where the file has {expected}");
                return Err(Error::invalid(text).in_column(expected.name()));
            }
        }
        Ok(())
    }

    /// Encodes what is queued.
    fn encode_queue(&mut self) -> Result<()> {
        self.cancellation.poll()?;
        let queue = std::mem::take(&mut self.queue);
        if let Some(verifier) = &mut self.verifier {
            queue.pieces.iter().for_each(|piece| verifier.keep(&piece.columns));
        }
        self.encoder.append(queue.pieces).map_err(|(fault, first_row)| match fault {
            Fault::Value { index, column, message } => {
                let row = first_row + index as u64;
                Error::invalid(format!("row {row}: {message}")).in_column(&self.types.path(column))
            }
            Fault::Error(error) => error,
        })
    }

    fn end_stripe_if_full(&mut self) -> Result<()> {
        let (size, most) = (self.encoder.size() as u64, self.plan.stripe_size);
        let is_full = size >= most || self.encoder.memory() as u64 >= most.saturating_mul(tuning::STRIPE_MEMORY.wide());
        // It ends where it would however rows are handed over, unless they are huge.
        let rows_queued = u64::from(self.plan.stride) * tuning::GROUPS_QUEUED.wide();
        let is_usual = self.group_rows == 0 && self.stripe_rows.is_multiple_of(rows_queued);
        if is_full && (is_usual || size >= most.saturating_mul(tuning::STRIPE_OVERRUN.wide())) {
            self.flush_stripe()?;
        }
        Ok(())
    }

    /// Writes the stripe, if it has rows.
    fn flush_stripe(&mut self) -> Result<()> {
        if self.stripe_rows == 0 {
            return Ok(());
        }
        if self.group_rows > 0 {
            match self.queue.pieces.last_mut() {
                Some(last) => last.ends_group = true,
                None => self.queue.pieces.push(Piece::end_of_group(&self.arrow, self.rows())),
            }
        }
        self.encode_queue()?;
        self.cancellation.poll()?;
        let columns = self.encoder.end_stripe()?;
        let rows = std::mem::take(&mut self.stripe_rows);
        self.group_rows = 0;
        let timezone = self.plan.has_timestamps.then(|| self.timezone.clone());
        let root = Root { rows, stride: self.plan.stride.into(), has_index: self.plan.has_index };
        let StripeBytes { parts, mut information, statistics } =
            assemble(root, columns, timezone, self.plan.layout(), self.encoder.compressors()?)?;
        if let Some(verifier) = &mut self.verifier {
            let first_row = self.tail.rows();
            let compressors = self.encoder.compressors()?;
            let stripe = (&parts[..], &information, &statistics[..]);
            verifier.stripe(stripe, &self.plan, compressors, first_row, &mut self.cancellation)?;
        }
        information.offset = Some(self.offset);
        for part in &parts {
            for bytes in part.parts() {
                self.cancellation.poll()?;
                self.put(bytes)?;
            }
        }
        self.encoder.reuse(parts);
        self.tail.add_stripe(information, &statistics);
        Ok(())
    }

    fn end(&mut self) -> Result<Written> {
        self.flush_stripe()?;
        let bytes = self.tail.make_bytes(self.offset, &self.plan, self.encoder.compressors()?)?;
        self.put(&bytes)?;
        if let Some(verifier) = &mut self.verifier {
            let sink = self.sink.as_deref_mut().ok_or_else(no_sink)?;
            verifier.file(sink, &self.tail, &mut self.cancellation)?;
        }
        let sink = self.sink.as_deref_mut().ok_or_else(no_sink)?;
        sink.sync()?;
        self.cancellation.poll_now()?;
        sink.finish()?;
        self.sink = None;
        Ok(Written { rows: self.tail.rows(), bytes: self.offset, stripes: self.tail.footer.stripes.len() })
    }

    fn put(&mut self, bytes: &[u8]) -> Result<()> {
        self.offset += bytes.len() as u64;
        self.verifier.iter_mut().for_each(|verifier| verifier.wrote(bytes));
        self.sink.as_deref_mut().ok_or_else(no_sink)?.write(bytes)
    }
}

fn no_sink() -> Error {
    Error::invalid("the file is finished, or has failed before")
}

#[cfg(test)]
mod tests;
