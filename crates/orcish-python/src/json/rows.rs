//! The rows of JSON lines.

use std::collections::HashSet;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_json::ReaderBuilder;
use arrow_json::reader::Decoder;
use arrow_schema::{ArrowError, SchemaRef};
use orcish_core::{Error, Limits, Result};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use super::blocks::Blocks;
use super::decoders::Factory;
use super::error::{column_of, in_row, is_of_value};
use crate::capsule::read_schema;
use crate::stream::Batches;

/// Values of a batch, all columns together.
const MAX_VALUES: usize = 1 << 18;
/// How much smaller the batches are in which a wrong row is looked for.
const SMALLER: usize = 16;

/// The rows of JSON lines.
///
/// `read` is the method of a Python file. `cast` takes the capsules of an array of texts and of a schema of
/// one field, and gives those of the values of the field. Errors about columns of `inferred` end in `advice`.
#[pyfunction]
#[pyo3(signature = (read, schema, cast, *, inferred, advice, block_size))]
pub(crate) fn read_json(
    read: Py<PyAny>,
    schema: &Bound<'_, PyCapsule>,
    cast: Py<PyAny>,
    inferred: HashSet<String>,
    advice: String,
    block_size: usize,
) -> PyResult<Batches> {
    let schema = Arc::new(read_schema(schema)?);
    let batch_rows = (MAX_VALUES / schema.flattened_fields().len().max(1)).clamp(1, 1 << 15);
    let decoders = Decoders { schema: schema.clone(), factory: Arc::new(Factory::new(cast)) };
    let decoder = decoders.of(batch_rows).map_err(|error| PyValueError::new_err(error.to_string()))?;
    let blocks = Blocks::new(read, block_size);
    let rows = Rows { blocks, block: Vec::new(), at: 0, decoders, decoder, batch_rows, before: 0, inferred, advice };
    Ok(Batches::of(schema, rows, &Limits::UNLIMITED))
}

struct Decoders {
    schema: SchemaRef,
    factory: Arc<Factory>,
}

impl Decoders {
    fn of(&self, batch_rows: usize) -> std::result::Result<Decoder, ArrowError> {
        let factory = self.factory.clone();
        ReaderBuilder::new(self.schema.clone())
            .with_batch_size(batch_rows)
            .with_decoder_factory(factory)
            .build_decoder()
    }
}

/// Reads rows, batch by batch.
struct Rows {
    blocks: Blocks,
    block: Vec<u8>,
    /// The bytes of the block that are read.
    at: usize,
    decoders: Decoders,
    decoder: Decoder,
    batch_rows: usize,
    /// The number of rows before the next one.
    before: u64,
    /// The columns whose types are inferred.
    inferred: HashSet<String>,
    advice: String,
}

impl Rows {
    fn batch(&mut self) -> Result<Option<RecordBatch>> {
        loop {
            if self.at == self.block.len() {
                self.at = 0;
                self.block = match self.blocks.next()? {
                    Some(block) => block,
                    None => return Ok(None),
                };
            }
            match decoded(&mut self.decoder, &self.block, &mut self.at) {
                Ok(None) => {}
                Ok(Some(batch)) => {
                    self.before += batch.num_rows() as u64;
                    return Ok(Some(batch));
                }
                Err(error) => return Err(self.placed(error)),
            }
        }
    }

    /// The error of the first wrong row of the batch that begins at the place.
    fn placed(&self, error: ArrowError) -> Error {
        let (mut at, mut rows, mut size, mut found) = (self.at, self.before, self.batch_rows, error);
        while size > 1 && is_of_value(&found) {
            size = (size / SMALLER).max(1);
            let mut decoder = match self.decoders.of(size) {
                Ok(decoder) => decoder,
                Err(error) => return in_row(error, rows + 1, ""),
            };
            loop {
                match decoded(&mut decoder, &self.block, &mut at) {
                    Ok(Some(batch)) => rows += batch.num_rows() as u64,
                    Ok(None) => return in_row(found, rows + 1, ""),
                    Err(error) => {
                        found = error;
                        break;
                    }
                }
            }
        }
        let is_inferred = column_of(&found).is_some_and(|name| self.inferred.contains(name));
        in_row(found, rows + 1, if is_inferred { &self.advice } else { "" })
    }
}

/// The next batch of a block, which moves the place behind it; `None` at the end of the block.
fn decoded(
    decoder: &mut Decoder,
    block: &[u8],
    at: &mut usize,
) -> std::result::Result<Option<RecordBatch>, ArrowError> {
    let used = decoder.decode(block.get(*at..).unwrap_or_default())?;
    let batch = decoder.flush()?;
    *at += used;
    Ok(batch)
}

impl Iterator for Rows {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        self.batch().transpose()
    }
}
