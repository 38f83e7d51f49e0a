//! Writing a file to a writer of the standard library.

use std::fmt;
use std::io::Write;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use orcish_core::error::{Error, Result};
use orcish_io::Sink;

use super::file::{FileWriter, Written};
use super::options::WriteOptions;

/// Name of the file in messages.
const NAME: &str = "<writer>";

/// Writes an ORC file to a [`Write`], such as a `Vec<u8>`, a `File` or a `Cursor`. The methods have the names of those of
/// `ArrowWriter` of the crate `parquet`.
///
/// Bytes are written when a stripe ends, in blocks of many kilobytes, so that no `BufWriter` is needed. What has been
/// written is no ORC file without [`finish`](Self::finish), [`close`](Self::close) or [`into_inner`](Self::into_inner).
/// [`FileWriter`] writes files that appear as a whole, to disks and object stores.
///
/// ```
/// use std::sync::Arc;
///
/// use arrow_array::{ArrayRef, Int64Array, RecordBatch};
/// use orcish::{OrcReaderBuilder, OrcWriter, WriteOptions};
///
/// let ids: ArrayRef = Arc::new(Int64Array::from(vec![1, 2, 3]));
/// let batch = RecordBatch::try_from_iter([("id", ids)])?;
/// let mut writer = OrcWriter::try_new(Vec::new(), batch.schema(), &WriteOptions::default())?;
/// writer.write(&batch)?;
/// let bytes = writer.into_inner()?;
///
/// let batches: Vec<_> = OrcReaderBuilder::try_new(bytes)?.build()?.collect::<Result<_, _>>()?;
/// assert_eq!(batches, [batch]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct OrcWriter<W: Write + Send> {
    writer: FileWriter<WriteSink<W>>,
    /// The writer of the bytes, once the file is finished.
    finished: Option<(Written, W)>,
}

impl<W: Write + Send> fmt::Debug for OrcWriter<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OrcWriter").field("rows", &self.rows()).finish_non_exhaustive()
    }
}

impl<W: Write + Send> OrcWriter<W> {
    /// Begins a file with the columns of `schema`.
    ///
    /// # Errors
    /// As [`FileWriter::try_new`]; `Io` if the bytes cannot be written.
    pub fn try_new(writer: W, schema: SchemaRef, options: &WriteOptions) -> Result<Self> {
        Ok(OrcWriter { writer: FileWriter::try_new(WriteSink { writer }, schema, options)?, finished: None })
    }

    /// Appends the rows of a batch.
    ///
    /// # Errors
    /// As [`FileWriter::write`]. The file cannot be finished after an error.
    pub fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        self.writer.write(batch)
    }

    /// Ends the stripe before it has reached its size, and writes it.
    ///
    /// # Errors
    /// As [`FileWriter::write`].
    pub fn flush(&mut self) -> Result<()> {
        self.writer.end_stripe()
    }

    /// Arrow schema of the batches.
    pub fn schema(&self) -> SchemaRef {
        self.writer.schema()
    }

    /// Rows written so far.
    pub fn rows(&self) -> u64 {
        self.writer.rows()
    }

    /// Bytes written so far, without the current stripe.
    pub fn bytes_written(&self) -> u64 {
        self.writer.bytes()
    }

    /// Bytes of memory of the current stripe.
    pub fn memory_size(&self) -> usize {
        self.writer.memory()
    }

    /// Writes the last stripe and the tail. Nothing can be written afterwards.
    ///
    /// # Errors
    /// As [`FileWriter::finish`].
    pub fn finish(&mut self) -> Result<Written> {
        let (written, sink) = self.writer.finish_with_sink()?;
        self.finished = Some((written, sink.writer));
        Ok(written)
    }

    /// As [`finish`](Self::finish), for a file that may be finished already.
    ///
    /// # Errors
    /// As [`finish`](Self::finish).
    pub fn close(self) -> Result<Written> {
        Ok(self.into_parts()?.0)
    }

    /// Finishes the file unless that has been done, and returns the writer of its bytes.
    ///
    /// # Errors
    /// As [`finish`](Self::finish).
    pub fn into_inner(self) -> Result<W> {
        Ok(self.into_parts()?.1)
    }

    fn into_parts(mut self) -> Result<(Written, W)> {
        if let Some(finished) = self.finished {
            return Ok(finished);
        }
        let (written, sink) = self.writer.finish_with_sink()?;
        Ok((written, sink.writer))
    }
}

/// A writer of the standard library as a sink.
struct WriteSink<W> {
    writer: W,
}

fn cannot_write(error: std::io::Error) -> Error {
    Error::io("cannot be written", error)
}

impl<W: Write + Send> Sink for WriteSink<W> {
    fn name(&self) -> &str {
        NAME
    }

    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.writer.write_all(bytes).map_err(cannot_write)
    }

    fn finish(&mut self) -> Result<()> {
        self.writer.flush().map_err(cannot_write)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;
    use std::sync::Arc;

    use arrow_array::{ArrayRef, Int64Array};
    use orcish_core::error::ErrorKind;

    use super::*;
    use crate::read::OrcReaderBuilder;

    fn batch() -> RecordBatch {
        let ids: ArrayRef = Arc::new(Int64Array::from(vec![1, 2, 3]));
        RecordBatch::try_from_iter([("id", ids)]).unwrap()
    }

    fn rows(bytes: Vec<u8>) -> usize {
        OrcReaderBuilder::try_new(bytes).unwrap().build().unwrap().map(|batch| batch.unwrap().num_rows()).sum()
    }

    #[test]
    fn all_writers_are_taken() {
        let options = WriteOptions::default().with_verify(true);
        let mut bytes = Vec::new();
        let mut writer = OrcWriter::try_new(&mut bytes, batch().schema(), &options).unwrap();
        writer.write(&batch()).unwrap();
        writer.flush().unwrap();
        assert!(writer.bytes_written() > 3);
        writer.write(&batch()).unwrap();
        let written = writer.finish().unwrap();
        assert_eq!((written.rows, written.stripes), (6, 2));
        assert_eq!(writer.write(&batch()).unwrap_err().kind(), ErrorKind::InvalidArgument);
        assert_eq!(writer.close().unwrap(), written);
        assert_eq!((rows(bytes.clone()), bytes.len() as u64), (6, written.bytes));

        let mut writer = OrcWriter::try_new(Cursor::new(Vec::new()), batch().schema(), &options).unwrap();
        writer.write(&batch()).unwrap();
        assert_eq!(rows(writer.into_inner().unwrap().into_inner()), 3);
    }

    #[test]
    fn errors_of_the_writer_are_returned() {
        // It has room for the magic only.
        let mut full = [0; 3];
        let mut writer = OrcWriter::try_new(&mut full[..], batch().schema(), &WriteOptions::default()).unwrap();
        writer.write(&batch()).unwrap();
        let error = writer.flush().unwrap_err();
        assert!(error.to_string().starts_with("<writer>: cannot be written: "), "{error}");
        assert_eq!((error.kind(), error.io_kind()), (ErrorKind::Io, Some(std::io::ErrorKind::WriteZero)));
        assert_eq!(writer.into_inner().unwrap_err().kind(), ErrorKind::InvalidArgument);
    }
}
