//! Streaming files, whose rows are appended while the file is read.
//!
//! ```text
//! header │ sync marker, blocklet header, rows │ sync marker, blocklet header, rows │ … │ uncommitted bytes
//! ```

mod column_builder;
mod lengths;
mod rows;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use arrow_array::ArrayRef;
use bytes::Bytes;
use orcish_core::{Error, Limits, OrInternal as _, Result};
use orcish_io::ReadAt;
use rows::Field;

use crate::compress::Compressor;
use crate::file::read_header;
use crate::metadata::format::{BlockletHeader, MinMax};
use crate::metadata::schema::{self, Column};
use crate::metadata::thrift::ThriftReader;
use crate::page::Dictionaries;
use crate::tuning;

/// `MutationType::INSERT`, the only one that writers use.
const INSERT: i32 = 0;

/// An open streaming file. Clones share its metadata.
#[derive(Clone)]
pub(crate) struct StreamFile {
    metadata: Arc<StreamMetadata>,
    dictionaries: Option<Dictionaries>,
}

struct StreamMetadata {
    source: Arc<dyn ReadAt>,
    limits: Limits,
    columns: Vec<Column>,
    fields: Vec<Field>,
    compressor: Compressor,
    sync_marker: Vec<u8>,
    /// Start of the first blocklet, and end of the committed bytes.
    start: u64,
    end: u64,
}

impl StreamFile {
    /// Reads the header of a file with `committed` committed bytes.
    ///
    /// # Errors
    /// `Io` where the source fails, `Corrupt` where it is not a streaming file, `Unsupported` for unknown compressors.
    pub(crate) fn open(source: Arc<dyn ReadAt>, committed: u64, limits: &Limits) -> Result<Self> {
        let name = source.name().to_owned();
        let metadata = open(source, committed, limits).map_err(|error| error.in_file(&name))?;
        Ok(StreamFile { metadata: Arc::new(metadata), dictionaries: None })
    }

    /// Sets the global dictionaries of the table, which files of 1.x may need.
    pub(crate) fn with_dictionaries(self, dictionaries: Dictionaries) -> Self {
        StreamFile { dictionaries: Some(dictionaries), ..self }
    }

    /// The columns of the file, in the order of its schema.
    pub(crate) fn columns(&self) -> &[Column] {
        &self.metadata.columns
    }

    /// Index of a column in the min/max index of a blocklet. Complex columns have no bounds.
    pub(crate) fn bounds_of(&self, column: usize) -> Option<usize> {
        let mut bounded = self.metadata.fields.iter().filter(|field| field.has_bounds());
        bounded.position(|field| field.column == column)
    }

    /// The blocklets of the file.
    pub(crate) fn blocklets(&self) -> BlockletIter {
        let buffer = ReadBuffer { at: self.metadata.start, bytes: Bytes::new() };
        BlockletIter { file: Arc::clone(&self.metadata), buffer, next: 0, is_done: false }
    }

    /// Decodes some columns of a blocklet. `columns` must not have duplicates.
    ///
    /// # Errors
    /// `Corrupt` where the bytes are not such rows, `Unsupported` for types that streaming files do not have,
    /// `LimitExceeded` for large arrays.
    pub(crate) fn decode(&self, blocklet: &StreamBlocklet, columns: &[usize]) -> Result<Vec<ArrayRef>> {
        let StreamMetadata { limits, compressor, columns: all, .. } = &*self.metadata;
        let max_bytes = usize::try_from(limits.memory).unwrap_or(usize::MAX).min(blocklet.length);
        let decoded = compressor
            .decompress(&blocklet.bytes, max_bytes)
            .and_then(|bytes| rows::decode(&bytes, blocklet.rows, all, columns, self.dictionaries.as_ref(), limits));
        decoded.map_err(|error| self.metadata.in_blocklet(error, blocklet.at))
    }
}

fn open(source: Arc<dyn ReadAt>, committed: u64, limits: &Limits) -> Result<StreamMetadata> {
    let size = source.size()?;
    if committed > size {
        return Err(Error::corrupt(format!("a file of {size} bytes, of which {committed} were committed")));
    }
    let bytes = source.read_range(0..tuning::HEADER_READ_BYTES.wide().min(committed))?;
    let (header, start) = read_header(&*source, committed, bytes, limits)?;
    let sync_marker = header.sync_marker.filter(|sync_marker| !sync_marker.is_empty());
    let columns = schema::columns(&header.columns, limits)?;
    Ok(StreamMetadata {
        source,
        limits: limits.clone(),
        fields: rows::fields(&columns),
        columns,
        compressor: Compressor::named(header.compressor.as_deref())?,
        sync_marker: sync_marker.ok_or_else(|| Error::corrupt("a stream without the marker of its blocklets"))?,
        start,
        end: committed,
    })
}

impl StreamMetadata {
    fn in_blocklet(&self, error: Error, at: usize) -> Error {
        error.in_section("blocklet", at).in_file(self.source.name())
    }
}

/// An encoded blocklet.
pub(crate) struct StreamBlocklet {
    at: usize,
    rows: usize,
    min_max: Option<MinMax>,
    /// Decompressed length.
    length: usize,
    bytes: Bytes,
}

impl StreamBlocklet {
    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    /// Min/max index, see [`StreamFile::bounds_of`]. Blocklets of one row have none.
    pub(crate) fn min_max(&self) -> Option<&MinMax> {
        self.min_max.as_ref()
    }
}

/// The committed blocklets of a file.
pub(crate) struct BlockletIter {
    file: Arc<StreamMetadata>,
    buffer: ReadBuffer,
    next: usize,
    is_done: bool,
}

/// Bytes that were read ahead.
struct ReadBuffer {
    at: u64,
    bytes: Bytes,
}

impl ReadBuffer {
    /// The next `length` bytes.
    fn take(&mut self, length: usize, file: &StreamMetadata) -> Result<Bytes> {
        if length > self.bytes.len() {
            let length_needed = u64::try_from(length).unwrap_or(u64::MAX);
            let bytes_left = file.end.saturating_sub(self.at);
            if length_needed > bytes_left {
                return Err(Error::corrupt(format!(
                    "it ends too early: {length_needed} bytes are needed, {bytes_left} are there"
                )));
            }
            if length_needed > file.limits.memory {
                let max_bytes = file.limits.memory;
                return Err(Error::over(
                    "memory",
                    format!("{length_needed} bytes of a blocklet, of {max_bytes} that are allowed"),
                ));
            }
            let range = self.at..self.at + bytes_left.min(length_needed.max(tuning::STREAM_READ_BYTES.wide()));
            self.bytes = file.source.read_range(range)?;
        }
        self.at += u64::try_from(length).or_internal("a length has more than 64 bits")?;
        Ok(self.bytes.split_to(length))
    }

    /// Bytes behind their length.
    fn take_counted(&mut self, file: &StreamMetadata) -> Result<Bytes> {
        let length = crate::bytes::ByteReader::new(&self.take(4, file)?).length()?;
        self.take(length, file)
    }
}

impl BlockletIter {
    fn read(&mut self) -> Result<StreamBlocklet> {
        let (file, buffer) = (&*self.file, &mut self.buffer);
        if buffer.take(file.sync_marker.len(), file)? != file.sync_marker {
            return Err(Error::corrupt("the marker of the blocklet is missing"));
        }
        let header: BlockletHeader = ThriftReader::new(&buffer.take_counted(file)?, &file.limits).read_struct()?;
        if header.mutation != INSERT {
            return Err(Error::unsupported(format!("a blocklet of changes of kind {}", header.mutation)));
        }
        let invalid = |_| Error::corrupt(format!("{} rows in {} bytes", header.info.rows, header.length));
        let blocklet = StreamBlocklet {
            at: self.next,
            rows: usize::try_from(header.info.rows).map_err(invalid)?,
            length: usize::try_from(header.length).map_err(invalid)?,
            min_max: header.index.and_then(|index| index.min_max),
            bytes: buffer.take_counted(file)?,
        };
        self.next += 1;
        Ok(blocklet)
    }
}

impl Iterator for BlockletIter {
    type Item = Result<StreamBlocklet>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.is_done || self.buffer.at >= self.file.end {
            return None;
        }
        let blocklet = self.read().map_err(|error| self.file.in_blocklet(error, self.next));
        self.is_done = blocklet.is_err();
        Some(blocklet)
    }
}
