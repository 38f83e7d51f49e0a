//! Reading a file batch by batch: what is decoded, in which order, and how it becomes batches.
//!
//! The columns of a stripe are dealt out to groups, each of which is decoded by one thread at a time,
//! batch after batch. Groups may run ahead of each other, and of the caller, by a few batches; the
//! caller takes what is the front of all of them. See [`super::workers`] for who does the work.

use std::collections::VecDeque;
use std::sync::Arc;

use arrow_array::{Array, ArrayRef, RecordBatch, RecordBatchOptions};
use arrow_schema::SchemaRef;

use super::read::{Budget, Column, ColumnReader as _, Context, StructReader, build, build_root};
use super::workers::Workers;
use crate::error::{Error, Result};
use crate::io::ReadAt;
use crate::options::{Limits, ReadOptions};
use crate::projection::{Projected, Projection};
use crate::schema::Kind;
use crate::stripe::Stripe;
use crate::tail::FileTail;

/// Groups for each thread: enough that none waits long for the slowest.
const GROUPS_PER_THREAD: usize = 4;
/// Bytes that the reader of a column holds beside its values, roughly.
const READER_BYTES: u64 = 8 << 10;
/// Stored bytes below which a stripe is not worth a second thread.
const WORTH_A_THREAD: u64 = 256 << 10;

/// Batches of a file, in order. An error ends it.
///
/// Threads are started when the first batch is asked for, and stopped when it is dropped.
pub struct BatchReader {
    schema: SchemaRef,
    plan: Arc<Plan>,
    workers: Workers,
}

impl std::fmt::Debug for BatchReader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BatchReader").field("schema", &self.schema).finish_non_exhaustive()
    }
}

/// What is to be read, and from where.
pub(super) struct Plan {
    source: Arc<dyn ReadAt>,
    tail: Arc<FileTail>,
    projection: Projection,
    pub(super) options: ReadOptions,
    /// Indexes of the stripes.
    pub(super) stripes: Vec<usize>,
    /// Columns of the batches: the children of a struct root, or the root itself.
    columns: Vec<Projected>,
    schema: SchemaRef,
    is_struct: bool,
    pub(super) threads: usize,
    batch_size: usize,
}

impl BatchReader {
    pub(super) fn new(
        source: Arc<dyn ReadAt>,
        tail: Arc<FileTail>,
        projection: Projection,
        schema: SchemaRef,
        options: ReadOptions,
    ) -> Result<Self> {
        if options.batch_size == 0 {
            return Err(Error::invalid("batch_size is 0 rows; the least is 1"));
        }
        let masked: Vec<_> = tail.encrypted_columns.iter().filter(|&&id| projection.wants(id)).collect();
        if !masked.is_empty() && !options.allow_masked {
            let names: Vec<_> = masked.iter().map(|&&id| tail.schema.path(id)).collect();
            return Err(Error::unsupported(format!(
                "columns {} are encrypted; without keys only their masks can be read, which has to be asked for",
                names.join(", ")
            )));
        }
        let readers = projection.count() as u64;
        if readers.saturating_mul(READER_BYTES) > options.limits.memory {
            let most = options.limits.memory;
            return Err(Error::limit(format!("{readers} columns at once need more than the {most} bytes allowed")));
        }
        let count = tail.stripes.len();
        let stripes = options.stripes.clone().unwrap_or_else(|| (0..count).collect());
        if let Some(stripe) = stripes.iter().find(|&&stripe| stripe >= count) {
            return Err(Error::invalid(format!("no stripe {stripe}: stripes has to be below {count}")));
        }
        let is_struct = tail.schema.get(0)?.kind == Kind::Struct;
        let columns = if is_struct { projection.root.children.clone() } else { vec![projection.root.clone()] };
        let bytes: u64 = stripes.iter().filter_map(|&at| tail.stripes.get(at)).map(|stripe| stripe.data_length).sum();
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let threads = match options.threads {
            _ if bytes < WORTH_A_THREAD => 1,
            0 => cores,
            threads => threads,
        };
        // Where nothing is stored for a row, batches need no bound.
        let weightless = columns.iter().all(|column| is_weightless(&tail, column));
        let batch_size = if weightless { usize::MAX } else { options.batch_size };
        let plan = Plan { source, tail, projection, options, stripes, columns, schema, is_struct, threads, batch_size };
        let plan = Arc::new(plan);
        Ok(BatchReader { schema: plan.schema.clone(), workers: Workers::new(plan.clone()), plan })
    }

    /// Schema of the batches.
    pub fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }

    /// Has `check` called now and then while the caller waits for other threads. Its error ends the reading,
    /// and what they are at, such as a slow read, is not waited for.
    pub fn while_waiting(&mut self, check: impl FnMut() -> Result<()> + Send + 'static) {
        self.workers.while_waiting(Box::new(check));
    }

    fn batch(&self, (columns, rows): (Vec<ArrayRef>, usize)) -> Result<RecordBatch> {
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        let batch = RecordBatch::try_new_with_options(self.schema.clone(), columns, &options);
        batch.map_err(|error| Error::corrupt("the columns do not fit together").with_source(error))
    }
}

impl Iterator for BatchReader {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        let batch = self.workers.next()?.and_then(|batch| self.batch(batch));
        if batch.is_err() {
            self.workers.stop();
        }
        Some(batch.map_err(|error| error.in_file(self.plan.source.name())))
    }
}

/// Whether a column holds nothing but structs without fields.
fn is_weightless(tail: &FileTail, column: &Projected) -> bool {
    let is_struct = tail.schema.get(column.id).is_ok_and(|this| this.kind == Kind::Struct);
    is_struct && column.children.iter().all(|child| is_weightless(tail, child))
}

impl Plan {
    pub(super) fn limits(&self) -> &Limits {
        &self.options.limits
    }

    pub(super) fn rows_of(&self, stripe: usize) -> u64 {
        self.tail.stripes.get(stripe).map_or(0, |stripe| stripe.rows)
    }

    /// Stored bytes of a stripe, all columns.
    pub(super) fn bytes_of(&self, stripe: usize) -> u64 {
        self.tail.stripes.get(stripe).map_or(0, |stripe| stripe.data_length)
    }

    /// Reads a stripe and makes the readers of its columns.
    pub(super) fn open(&self, index: usize) -> Result<OpenStripe> {
        let open = || {
            let wanted = |id| self.projection.wants(id);
            let (limits, all) = (self.limits(), self.projection.all);
            let stripe = Stripe::open(&*self.source, &self.tail, index, limits, all, &wanted)?;
            let context = Context { tail: &self.tail, stripe: &stripe, options: &self.options };
            let groups = if self.is_struct { self.root_groups(&context)? } else { self.single_group(&context)? };
            Ok(OpenStripe { rows: stripe.rows, groups })
        };
        open().map_err(|error: Error| error.in_stripe(index))
    }

    fn single_group(&self, context: &Context<'_>) -> Result<Vec<Group>> {
        let columns = self.columns.iter().zip(self.schema.fields());
        let columns = columns.map(|(column, field)| build(context, column, field.data_type()));
        let columns = columns.collect::<Result<Vec<_>>>()?;
        Ok(columns.into_iter().map(|column| Group { columns: vec![0], reader: GroupReader::Root(column) }).collect())
    }

    /// Deals the columns out, the largest first, each to the group that has least.
    fn root_groups(&self, context: &Context<'_>) -> Result<Vec<Group>> {
        let count =
            if self.threads == 1 { 1 } else { (self.threads * GROUPS_PER_THREAD).min(self.columns.len()).max(1) };
        let bytes = |column: &Projected| {
            let last = self.tail.schema.get(column.id).map_or(column.id, |this| this.last);
            context.stripe.stored_bytes(column.id..=last)
        };
        let mut sizes: Vec<_> = self.columns.iter().map(bytes).enumerate().collect();
        if count > 1 {
            sizes.sort_by_key(|&(_, size)| std::cmp::Reverse(size));
        }
        let mut dealt: Vec<(u64, Vec<usize>)> = vec![(0, Vec::new()); count];
        for (index, size) in sizes {
            if let Some((sum, indexes)) = dealt.iter_mut().min_by_key(|(sum, indexes)| (*sum, indexes.len())) {
                *sum += size;
                indexes.push(index);
            }
        }
        let group = |(_, columns): (u64, Vec<usize>)| {
            let typed = |&index: &usize| Some((self.columns.get(index)?, self.schema.fields().get(index)?.data_type()));
            let projected: Vec<_> = columns.iter().filter_map(typed).collect();
            Ok(Group { reader: GroupReader::Columns(build_root(context, &projected)?), columns })
        };
        dealt.into_iter().map(group).collect()
    }
}

/// A stripe whose readers are made.
pub(super) struct OpenStripe {
    pub(super) rows: u64,
    pub(super) groups: Vec<Group>,
}

/// Columns that one thread decodes at a time.
pub(super) struct Group {
    /// Where the columns go in the batch.
    pub(super) columns: Vec<usize>,
    reader: GroupReader,
}

enum GroupReader {
    Columns(StructReader),
    Root(Column),
}

/// Arrays of the columns of a group, of the same rows.
pub(super) struct Part {
    pub(super) arrays: Vec<ArrayRef>,
    pub(super) rows: usize,
    pub(super) bytes: u64,
}

impl Group {
    /// Decodes at most `left` rows.
    pub(super) fn decode(&mut self, left: u64, plan: &Plan) -> Result<Part> {
        let rows = usize::try_from(left).unwrap_or(usize::MAX).min(plan.batch_size);
        let budget = Budget::new(plan.limits(), plan.projection.count());
        let rows = match self.plan(rows, budget)? {
            // A row that needs more than its part has a batch of its own.
            0 => self.plan(1, budget.of_one_row())?,
            rows => rows,
        };
        let arrays = match &mut self.reader {
            GroupReader::Columns(reader) => reader.read_children(rows, None)?.0,
            GroupReader::Root(column) => vec![column.read(rows, None)?],
        };
        let bytes = arrays.iter().map(|array| array.get_buffer_memory_size() as u64).sum();
        Ok(Part { arrays, rows, bytes })
    }

    /// How many of the next `rows` rows can be decoded at once.
    fn plan(&mut self, rows: usize, budget: Budget) -> Result<usize> {
        match &mut self.reader {
            GroupReader::Columns(reader) => reader.plan(rows, budget),
            GroupReader::Root(column) => column.plan(rows, budget),
        }
    }
}

/// Parts that a group has decoded and nobody has taken.
#[derive(Default)]
pub(super) struct Ready {
    parts: VecDeque<Part>,
    /// Rows of the first part that are taken.
    taken: usize,
}

impl Ready {
    pub(super) fn push(&mut self, part: Part) {
        self.parts.push_back(part);
    }

    pub(super) fn len(&self) -> usize {
        self.parts.len()
    }

    /// Rows that are left of the first part.
    pub(super) fn front_rows(&self) -> Option<usize> {
        self.parts.front().map(|part| part.rows - self.taken)
    }

    /// Takes `rows` rows of the first part; also says how many bytes are no longer held here.
    pub(super) fn take(&mut self, rows: usize) -> (Vec<ArrayRef>, u64) {
        let Some(part) = self.parts.front() else { return (Vec::new(), 0) };
        let all = self.taken == 0 && rows == part.rows;
        let slice = |array: &ArrayRef| if all { array.clone() } else { array.slice(self.taken, rows) };
        let arrays = part.arrays.iter().map(slice).collect();
        let (end, bytes) = (self.taken + rows >= part.rows, part.bytes);
        self.taken = if end { 0 } else { self.taken + rows };
        if end {
            self.parts.pop_front();
        }
        (arrays, if end { bytes } else { 0 })
    }
}
