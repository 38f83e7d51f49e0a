//! What reading columns of a blocklet takes, and what the heads of their chunks say, without their pages.

use std::ops::Range;

use orcish::{Result, coalesce};

use super::{BlockletData, DataFile, Place, v3};

impl DataFile {
    /// Whether the file was written before 1.5.1: bounds of such files are not believed.
    pub(crate) fn is_old(&self) -> bool {
        self.inner.version < 3 || (0..self.blocklets()).any(|blocklet| !self.knows_pages(blocklet))
    }

    /// Whether the footer says how many rows each page of a blocklet has.
    pub(crate) fn knows_pages(&self, blocklet: usize) -> bool {
        self.known_pages(blocklet) > 0
    }

    /// Pages of a blocklet, or 0 where the footer does not say it.
    pub(crate) fn known_pages(&self, blocklet: usize) -> usize {
        self.inner.blocklets.get(blocklet).map_or(0, |blocklet| blocklet.page_rows.len())
    }

    /// Bytes that are read for some columns of a blocklet, and requests for them, where neighbouring ranges are one.
    pub(crate) fn weigh(&self, blocklet: usize, columns: &[usize]) -> (u64, usize) {
        let places = columns.iter().flat_map(|&column| self.inner.places(blocklet, column).unwrap_or_default());
        let ranges: Vec<Range<u64>> = places.flat_map(|place| place.ranges().unwrap_or_default()).collect();
        let joined = coalesce(&ranges, self.inner.source.gap());
        (joined.iter().map(|range| range.end.saturating_sub(range.start)).sum(), joined.len())
    }

    /// Reads the heads of the chunks of some columns, which have the bounds of pages, of a file that is not old;
    /// none of their pages can be decoded.
    ///
    /// # Errors
    /// As [`read_blocklet`](Self::read_blocklet).
    pub(crate) fn read_heads(&self, at: usize, columns: &[usize]) -> Result<BlockletData> {
        self.heads(at, columns).map_err(|error| error.in_blocklet(at).in_file(self.name()))
    }

    fn heads(&self, at: usize, columns: &[usize]) -> Result<BlockletData> {
        let mut data = BlockletData::new(self.clone(), at);
        for &column in columns {
            // Chunks of columns within others have no bounds that count.
            let Some(Place::Whole { bytes, head }) = self.inner.places(at, column)?.first() else { continue };
            let end = bytes.start.saturating_add(u64::try_from(*head).unwrap_or(u64::MAX)).min(bytes.end);
            let read = self.inner.source.read_ranges(std::slice::from_ref(&(bytes.start..end)))?;
            data.put(self.chunk_of(column), v3::head(read.first().map_or(&[], |bytes| &bytes[..]))?);
        }
        data.find_rows()?;
        Ok(data)
    }
}
