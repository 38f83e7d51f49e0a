//! Data files: what is in them, and the bytes of their columns.
//!
//! ```text
//! header │ blocklet 0: chunk of column 0, chunk of column 1, … │ blocklet 1 │ … │ footer │ where it begins
//!                      └─ head │ page 0 │ page 1 │ …
//! ```

mod begin;
mod blocklet;
mod chunk;
mod old;
#[cfg(test)]
mod old_tests;
#[cfg(test)]
mod same;
#[cfg(test)]
mod tests;
mod v3;
mod weigh;

use std::ops::Range;
use std::sync::Arc;

use orcish_core::{Error, Limits, Result};
use orcish_io::ReadAt;
use orcish_io::read_with_limits;

use crate::metadata::format::{DataChunk, MinMax};
use crate::metadata::schema::Column;
use crate::page::Dictionaries;

pub(crate) use begin::{footer, read_header, rows_of};
pub(crate) use blocklet::BlockletData;
pub(crate) use chunk::{Chunk, PageBytes, PageContext, StoredPage};

/// A data file that is open; clones share what is known of it.
#[derive(Clone)]
pub(crate) struct DataFile {
    inner: Arc<Inner>,
    dictionaries: Option<Dictionaries>,
}

/// What the header and the footer say.
pub(crate) struct Inner {
    pub(crate) source: Arc<dyn ReadAt>,
    pub(crate) limits: Limits,
    pub(crate) version: u8,
    /// Of a writer before 1.5.1.
    pub(crate) is_old: bool,
    pub(crate) columns: Vec<Column>,
    /// Where the chunks of each column begin among those of a blocklet.
    pub(crate) starts: Vec<usize>,
    pub(crate) rows: u64,
    pub(crate) extra: Vec<(String, String)>,
    /// Numbers of different values of dimensions, by their chunks; files since 2.0 have none.
    pub(crate) cardinalities: Vec<i32>,
    pub(crate) blocklets: Vec<Blocklet>,
}

/// Where a blocklet is.
pub(crate) struct Blocklet {
    pub(crate) rows: u64,
    pub(crate) min_max: Option<MinMax>,
    /// Rows of each page, where the footer has them.
    pub(crate) page_rows: Vec<usize>,
    pub(crate) chunks: Vec<Place>,
}

/// Where a chunk is.
pub(crate) enum Place {
    /// In one piece that begins with a struct, whose length the footer says.
    Whole { bytes: Range<u64>, head: usize },
    /// In up to three, which the footer describes.
    Parts(Box<DataChunk>),
}

impl Place {
    /// The bytes of its head, or all where pages cannot be read by themselves, or take no more than `gap`.
    fn head_ranges(&self, version: u8, gap: u64) -> Result<Vec<Range<u64>>> {
        match self {
            Place::Whole { bytes, head } if version == 3 => {
                let end = bytes.start.saturating_add(u64::try_from(*head).unwrap_or(u64::MAX)).min(bytes.end);
                let read = if bytes.end - end <= gap { bytes.clone() } else { bytes.start..end };
                Ok(vec![read])
            }
            _ => self.ranges(),
        }
    }

    /// The ranges of bytes it has.
    fn ranges(&self) -> Result<Vec<Range<u64>>> {
        match self {
            Place::Whole { bytes, .. } => Ok(vec![bytes.clone()]),
            Place::Parts(chunk) => [chunk.data, chunk.row_ids, chunk.rle]
                .into_iter()
                .map(|(start, length)| {
                    let range = u64::try_from(start).ok().zip(u64::try_from(length).ok());
                    let range = range.and_then(|(start, length)| Some(start..start.checked_add(length)?));
                    range.ok_or_else(|| Error::corrupt(format!("{length} bytes at {start}")))
                })
                .collect(),
        }
    }
}

impl DataFile {
    /// Reads what the file says of itself.
    ///
    /// # Errors
    /// `Io` where the source fails, `Corrupt` for what is no data file, `LimitExceeded` for large footers.
    pub(crate) fn open(source: Arc<dyn ReadAt>, limits: &Limits) -> Result<Self> {
        let name = source.name().to_owned();
        let inner = begin::open(source, limits).map_err(|error| error.in_file(&name))?;
        Ok(DataFile { inner: Arc::new(inner), dictionaries: None })
    }

    /// With the dictionaries of the table, which files of 1.x need.
    pub(crate) fn with_dictionaries(self, dictionaries: Dictionaries) -> Self {
        DataFile { dictionaries: Some(dictionaries), ..self }
    }

    pub(crate) fn name(&self) -> &str {
        self.inner.source.name()
    }

    /// The file's own columns, in the order of its list.
    pub(crate) fn columns(&self) -> &[Column] {
        &self.inner.columns
    }

    pub(crate) fn rows(&self) -> u64 {
        self.inner.rows
    }

    /// The version of the format: 1, 2 or 3.
    pub(crate) fn version(&self) -> u8 {
        self.inner.version
    }

    /// What the writer said of itself.
    pub(crate) fn written_by(&self) -> &[(String, String)] {
        &self.inner.extra
    }

    pub(crate) fn blocklets(&self) -> usize {
        self.inner.blocklets.len()
    }

    pub(crate) fn blocklet_rows(&self, at: usize) -> u64 {
        self.inner.blocklets.get(at).map_or(0, |blocklet| blocklet.rows)
    }

    /// Bounds of all chunks of a blocklet, see [`DataFile::chunk_of`].
    pub(crate) fn min_max(&self, at: usize) -> Option<&MinMax> {
        self.inner.blocklets.get(at)?.min_max.as_ref()
    }

    /// Where the first chunk of a column is among those of a blocklet: those of dimensions come first, each before
    /// those of the columns within it, then those of measures.
    pub(crate) fn chunk_of(&self, column: usize) -> usize {
        self.inner.starts.get(column).copied().unwrap_or(usize::MAX)
    }

    /// Reads the chunks of some columns of a blocklet, by as few requests as the source wants.
    ///
    /// # Errors
    /// `Io` where the source fails, `Corrupt` where chunks are not where they should be.
    pub(crate) fn read_blocklet(&self, at: usize, columns: &[usize]) -> Result<BlockletData> {
        self.read_chunks(at, columns, Place::ranges)
            .map_err(|error| error.in_section("blocklet", at).in_file(self.name()))
    }

    /// Reads the heads of the chunks of some columns, which have the bounds of pages, and the pages only where they are
    /// so few bytes that to ask for them again would take longer; see [`BlockletData::read_pages`].
    ///
    /// # Errors
    /// As [`read_blocklet`](Self::read_blocklet).
    pub(crate) fn read_heads(&self, at: usize, columns: &[usize]) -> Result<BlockletData> {
        let heads = |place: &Place| place.head_ranges(self.inner.version, self.inner.source.coalesce_gap());
        self.read_chunks(at, columns, heads).map_err(|error| error.in_section("blocklet", at).in_file(self.name()))
    }

    fn read_chunks(
        &self,
        at: usize,
        columns: &[usize],
        ranges_of: impl Fn(&Place) -> Result<Vec<Range<u64>>>,
    ) -> Result<BlockletData> {
        let mut chunks = Vec::new();
        for &column in columns {
            for (chunk, place) in self.inner.places(at, column)?.iter().enumerate() {
                chunks.push((self.chunk_of(column) + chunk, place, ranges_of(place)?));
            }
        }
        let ranges: Vec<Range<u64>> = chunks.iter().flat_map(|(_, _, ranges)| ranges.iter().cloned()).collect();
        let mut parts = read_with_limits(&*self.inner.source, &ranges, &self.inner.limits)?.into_iter();
        let mut data = BlockletData::new(self.clone(), at);
        for (chunk, place, ranges) in chunks {
            let bytes: Vec<bytes::Bytes> = parts.by_ref().take(ranges.len()).collect();
            data.put(chunk, chunk::read(place, &bytes, self.inner.version, &self.inner.limits)?);
        }
        data.find_rows()?;
        Ok(data)
    }
}

impl Inner {
    /// Where the chunks of a column are, those of the columns within it included.
    fn places(&self, blocklet: usize, column: usize) -> Result<&[Place]> {
        let blocklet = self.blocklets.get(blocklet).ok_or_else(|| Error::invalid("no such blocklet"))?;
        let start = self.starts.get(column).copied();
        let places = start.zip(self.columns.get(column)).and_then(|(start, column)| {
            let end = start.checked_add(column.chunks())?;
            blocklet.chunks.get(start..end)
        });
        places.ok_or_else(|| Error::corrupt(format!("a blocklet lacks chunks of column {column}")))
    }

    /// Bytes of the keys of a chunk: as many as its number of different values needs.
    fn key_width(&self, chunk: usize) -> usize {
        match self.cardinalities.get(chunk) {
            Some(&cardinality) if cardinality > 0 => {
                let bits = u32::BITS - cardinality.cast_unsigned().leading_zeros();
                usize::try_from(bits.div_ceil(8)).unwrap_or(4)
            }
            _ => 4,
        }
    }
}

/// Where the chunks of each column begin.
pub(crate) fn starts(columns: &[Column]) -> Vec<usize> {
    let mut starts = vec![0; columns.len()];
    let mut next = 0;
    for is_dimension in [true, false] {
        for (column, start) in columns.iter().zip(&mut starts) {
            if column.is_dimension == is_dimension {
                *start = next;
                next += column.chunks();
            }
        }
    }
    starts
}
