//! Readers of batches with the interface of Arrow.

use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, SchemaRef};

use crate::error::Result;

/// A reader of batches as a [`RecordBatchReader`], which other crates of the Arrow project take. Its errors are those of
/// Arrow; the [`Error`](crate::Error) is their source.
#[derive(Debug)]
pub struct ArrowReader<R> {
    schema: SchemaRef,
    reader: R,
}

impl<R> ArrowReader<R> {
    /// The batches of `reader`, which have the schema `schema`.
    pub fn new(schema: SchemaRef, reader: R) -> Self {
        ArrowReader { schema, reader }
    }

    /// The reader.
    pub fn into_inner(self) -> R {
        self.reader
    }
}

impl<R: Iterator<Item = Result<RecordBatch>>> Iterator for ArrowReader<R> {
    type Item = std::result::Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        Some(self.reader.next()?.map_err(ArrowError::from))
    }
}

impl<R: Iterator<Item = Result<RecordBatch>>> RecordBatchReader for ArrowReader<R> {
    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }
}
