//! A read request: options that were checked against the tail of a file. Making it reads nothing.

use std::collections::BTreeSet;
use std::sync::Arc;

use arrow_schema::SchemaRef;
use orcish_core::error::{Error, Result};
use orcish_core::limits::Limits;
use orcish_core::predicate::Condition;

use super::column::Budget;
use super::filter::Filter;
use crate::options::{Masked, ReadOptions};
use crate::projection::{Projected, Projection};
use crate::schema::Kind;
use crate::tail::FileTail;
use crate::time::WriterZone;

/// Approximate bytes of a column reader, without values.
const READER_BYTES: u64 = 8 << 10;

/// Maximum number of columns in an error message.
const MAX_NAMED: usize = 10;

/// What is read of a file, and how. A request has no source.
pub(crate) struct ReadRequest {
    pub(super) tail: Arc<FileTail>,
    pub(super) options: ReadOptions,
    /// Columns of the batches.
    pub(super) projection: Projection,
    /// The columns of the batches: the children of a struct root, or the root itself.
    pub(super) columns: Vec<Projected>,
    /// The filter. `None` selects all rows.
    pub(super) filter: Option<Filter>,
    /// The time zone of the reader, if one is given.
    pub(super) reader_zone: Option<WriterZone>,
    /// Indexes of the selected stripes, all of which the file has.
    pub(super) stripes: Vec<usize>,
    /// Schema of the decoded columns.
    pub(super) physical: SchemaRef,
    /// Schema of the batches.
    pub(super) logical: SchemaRef,
    /// Whether the root is a struct.
    pub(super) is_struct: bool,
    /// Maximum number of rows of a batch.
    pub(super) batch_size: usize,
    /// Maximum number of rows that are returned. A file of a few bytes may state any number of rows without columns.
    max_weightless_rows: u64,
}

impl ReadRequest {
    /// Checks `options` against the file. `physical` is the schema of the decoded columns, `logical` that of the batches.
    ///
    /// # Errors
    /// `InvalidArgument` if the options do not fit the file; `Unsupported` for encrypted columns; `LimitExceeded` for more
    /// columns than memory allows.
    pub(super) fn try_new(
        tail: Arc<FileTail>,
        projection: Projection,
        (physical, logical): (SchemaRef, SchemaRef),
        options: ReadOptions,
        condition: Option<Condition>,
    ) -> Result<Self> {
        let reader_zone = options.timezone.as_deref().map(WriterZone::parse_reader_zone).transpose()?;
        if options.batch_size == 0 {
            return Err(Error::invalid("batch_size is 0 rows; the least is 1"));
        }
        let is_struct = tail.schema.get(0)?.kind == Kind::Struct;
        let columns = projection.columns(is_struct);
        // A condition that is true for all rows needs no column.
        let condition = condition.filter(|condition| condition.constant() != Some(true));
        let filter = condition.map(|condition| Filter::try_new(condition, &tail.schema, is_struct, &columns));
        let filter = filter.transpose()?;
        let filter_projection = filter.as_ref().map(|filter| &filter.projection);
        let is_read = |id: &u32| {
            projection.contains(*id)
                || filter_projection.is_some_and(|filter_projection| filter_projection.contains(*id))
        };
        let masked: Vec<u32> = tail.masked_columns().filter(is_read).collect();
        if !masked.is_empty() && options.masked == Masked::Error {
            return Err(masked_columns(&masked, &tail));
        }
        let readers = (projection.count() + filter_projection.map_or(0, Projection::count)) as u64;
        if readers.saturating_mul(READER_BYTES) > options.limits.memory {
            let limit = options.limits.memory;
            let message = format!("{readers} columns at once need more than the {limit} bytes allowed");
            return Err(Error::over("memory", message));
        }
        let count = tail.stripes.len();
        let stripes = options.stripes.clone().unwrap_or_else(|| (0..count).collect());
        if let Some(stripe) = stripes.iter().find(|&&stripe| stripe >= count) {
            return Err(Error::invalid(format!("no stripe {stripe}: stripes has to be below {count}")));
        }
        // Rows without columns need no memory, and no limit.
        let is_bare = columns.is_empty() && filter.is_none() && options.shown_row_number().is_none();
        let is_weightless = !is_bare && are_weightless(&columns, filter.as_ref(), &tail)?;
        // With a filter, the number of rows to be evaluated for the limit is unknown.
        let row_limit = options.limit.filter(|_| filter.is_none()).unwrap_or(u64::MAX);
        let batch_size = if is_bare { usize::MAX } else { options.batch_size };
        Ok(ReadRequest {
            batch_size: batch_size.min(usize::try_from(row_limit).unwrap_or(usize::MAX)).max(1),
            max_weightless_rows: if is_weightless { options.limits.memory } else { u64::MAX },
            tail,
            options,
            projection,
            columns,
            filter,
            reader_zone,
            stripes,
            physical,
            logical,
            is_struct,
        })
    }

    /// The request with another number of decoding threads.
    pub(crate) fn with_threads(mut self, threads: usize) -> Self {
        self.options.threads = threads;
        self
    }

    /// The options, completed by what the file says of its columns.
    pub(crate) fn options(&self) -> &ReadOptions {
        &self.options
    }

    /// Columns of the batches.
    pub(crate) fn projection(&self) -> &Projection {
        &self.projection
    }

    pub(super) fn limits(&self) -> &Limits {
        &self.options.limits
    }

    pub(super) fn tail(&self) -> &FileTail {
        &self.tail
    }

    pub(super) fn is_filtered(&self) -> bool {
        self.filter.is_some()
    }

    /// Whether batches have row numbers.
    pub(super) fn is_numbered(&self) -> bool {
        self.options.shown_row_number().is_some()
    }

    /// Whether the streams of a column are read, for a batch or for the filter.
    pub(super) fn reads(&self, id: u32) -> bool {
        let is_filtered = || self.filter.as_ref().is_some_and(|filter| filter.projection.contains(id));
        id == 0 || self.projection.contains(id) || is_filtered()
    }

    /// The part of the stored bytes of a stripe that are read, if all columns have the same size.
    pub(super) fn share_of(&self, stored_bytes: u64) -> u64 {
        let (read, all) = (self.projection.count() as u64, self.tail.schema.types().len() as u64);
        stored_bytes / all.max(1) * read
    }

    /// The budget of a batch whose arrays are decoded in so many groups.
    pub(super) fn budget(&self, groups: usize) -> Budget<'static> {
        Budget::new(self.limits(), self.projection.count(), groups)
    }

    /// Checks that a number of rows may be processed.
    pub(super) fn check_rows(&self, rows: u64) -> Result<()> {
        let max_rows = self.max_weightless_rows;
        if rows > max_rows {
            let message = format!("rows for which nothing is stored are more than the {max_rows} bytes allowed");
            return Err(Error::over("memory", message));
        }
        Ok(())
    }
}

/// The error of encrypted columns, of which only the masks can be read.
fn masked_columns(ids: &[u32], tail: &FileTail) -> Error {
    let named = ids.get(..MAX_NAMED).unwrap_or(ids);
    let names: Vec<_> = named.iter().map(|&id| tail.schema.path(id)).collect();
    let keys: BTreeSet<_> = named.iter().filter_map(|&id| tail.key_of(id)).collect();
    let keys: Vec<_> = keys.into_iter().collect();
    let more = ids.len() - names.len();
    let (columns, are) = if ids.len() == 1 { ("column", "is") } else { ("columns", "are") };
    let (of_keys, which) = match &*keys {
        [] => (String::new(), "which cannot be decrypted"),
        [key] => (format!(" with key {key}"), "which is missing"),
        keys => (format!(" with keys {}", keys.join(", ")), "which are missing"),
    };
    Error::unsupported(format!(
        "{columns} {}{} {are} encrypted{of_keys}, {which}: without keys only their masks can be read, with the option masked=\"allow\"",
        names.join(", "),
        if more > 0 { format!(" and {more} more") } else { String::new() }
    ))
}

/// Whether no bytes are stored for the rows of the columns. Rows without columns have the weight of all columns of the file.
fn are_weightless(columns: &[Projected], filter: Option<&Filter>, tail: &FileTail) -> Result<bool> {
    if columns.is_empty() {
        return Ok(tail.schema.types().iter().all(|column| column.kind == Kind::Struct));
    }
    let filter_columns = filter.map_or(&[][..], |filter| &filter.columns);
    for column in columns.iter().chain(filter_columns) {
        if !is_weightless(tail, column)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Whether a column consists of structs without fields.
fn is_weightless(tail: &FileTail, column: &Projected) -> Result<bool> {
    if tail.schema.get(column.id)?.kind != Kind::Struct {
        return Ok(false);
    }
    for child in &column.children {
        if !is_weightless(tail, child)? {
            return Ok(false);
        }
    }
    Ok(true)
}
