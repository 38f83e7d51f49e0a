//! The part of a file that is read: options that were checked against the file.

use std::sync::Arc;

use arrow_schema::SchemaRef;
use orcish_core::error::{Error, Result};
use orcish_core::predicate::Condition;
use orcish_io::ReadAt;

use crate::options::{Masked, ReadOptions};
use crate::projection::Projection;
use crate::tail::FileTail;
use crate::time::WriterZone;

/// Approximate bytes of a column reader, without values.
const READER_BYTES: u64 = 8 << 10;

/// Maximum number of columns in an error message.
const MAX_NAMED: usize = 10;

/// The part of a file that is read. Nothing is read to make a selection.
pub(super) struct Selection {
    pub(super) source: Arc<dyn ReadAt>,
    pub(super) tail: Arc<FileTail>,
    /// Columns of the batches.
    pub(super) projection: Projection,
    /// The filter. `None` selects all rows.
    pub(super) condition: Option<Condition>,
    /// Columns that the condition reads.
    pub(super) filter_projection: Option<Projection>,
    /// The time zone of the reader, if one is given.
    pub(super) reader_zone: Option<WriterZone>,
    pub(super) options: ReadOptions,
    /// Indexes of the selected stripes.
    pub(super) stripes: Vec<usize>,
    /// Schema of the decoded columns.
    pub(super) physical: SchemaRef,
    /// Schema of the batches.
    pub(super) logical: SchemaRef,
}

impl Selection {
    /// Checks `options` against the file.
    ///
    /// # Errors
    /// `InvalidArgument` if the options do not fit the file; `Unsupported` for encrypted columns; `LimitExceeded` for more
    /// columns than memory allows.
    pub(super) fn new(
        source: Arc<dyn ReadAt>,
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
        let filter_projection =
            condition.as_ref().map(|condition| Projection::for_filter(&tail.schema, &condition.columns()));
        let filter_projection = filter_projection.transpose()?;
        let reads = |id: u32| {
            projection.contains(id)
                || filter_projection.as_ref().is_some_and(|filter_projection| filter_projection.contains(id))
        };
        let masked: Vec<u32> = tail.encrypted_columns.iter().copied().filter(|&id| reads(id)).collect();
        if !masked.is_empty() && options.masked == Masked::Error {
            return Err(masked_columns(&masked, &tail));
        }
        let readers = (projection.count() + filter_projection.as_ref().map_or(0, Projection::count)) as u64;
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
        Ok(Selection {
            source,
            tail,
            projection,
            condition,
            filter_projection,
            reader_zone,
            options,
            stripes,
            physical,
            logical,
        })
    }
}

/// The error of encrypted columns, of which only the masks can be read.
fn masked_columns(ids: &[u32], tail: &FileTail) -> Error {
    let names: Vec<_> = ids.iter().take(MAX_NAMED).map(|&id| tail.schema.path(id)).collect();
    let more = ids.len() - names.len();
    Error::unsupported(format!(
        "columns {}{} are encrypted: without keys only their masks can be read, with the option masked=\"allow\"",
        names.join(", "),
        if more > 0 { format!(" and {more} more") } else { String::new() }
    ))
}
