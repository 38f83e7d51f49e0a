//! The cost of reading columns of a blocklet.

use std::ops::Range;

use orcish_core::Result;
use orcish_io::coalesce_ranges;

use super::blocklet::BlockletData;
use super::data_file::DataFile;

impl DataFile {
    /// Whether the writer is older than 1.5.1: its min/max indexes are not reliable.
    pub(crate) fn has_unreliable_min_max(&self) -> bool {
        self.metadata.has_unreliable_min_max
    }

    /// Whether the footer records the number of rows of each page.
    pub(crate) fn has_page_rows(&self, blocklet: usize) -> Result<bool> {
        Ok(self.num_pages(blocklet)? > 0)
    }

    /// Number of pages of a blocklet; 0 where the footer does not record it.
    pub(crate) fn num_pages(&self, blocklet: usize) -> Result<usize> {
        Ok(self.metadata.blocklet(blocklet)?.page_rows.len())
    }

    /// Bytes and requests for some columns of a blocklet. Close ranges are one request.
    ///
    /// # Errors
    /// `Corrupt` where the blocklet has no such chunks.
    pub(crate) fn read_cost(&self, blocklet: usize, columns: &[usize]) -> Result<(u64, usize)> {
        let ranges = self.metadata.ranges(blocklet, columns);
        let ranges = ranges.map_err(|error| error.in_section("blocklet", blocklet).in_file(self.name()))?;
        Ok(self.ranges_read_cost(&ranges))
    }

    /// Stored bytes of a blocklet, with those between chunks that are read rather than asked for apart. Chunks that are not
    /// within the file, which readers of their columns refuse, have none.
    pub(crate) fn stored_bytes(&self, blocklet: usize) -> Result<u64> {
        let chunks = self.metadata.blocklet(blocklet)?.chunks.iter();
        let ranges: Vec<Range<u64>> = chunks.filter_map(|chunk| chunk.ranges().ok()).flatten().collect();
        Ok(self.ranges_read_cost(&ranges).0)
    }

    /// Bytes and requests for selected pages of columns whose chunk headers are in `data`. The headers are not counted.
    pub(crate) fn page_read_cost(&self, data: &BlockletData, columns: &[usize], selected: &[bool]) -> (u64, usize) {
        let ranges: Vec<Range<u64>> = data.pages_of(columns, selected).map(|(_, _, _, range)| range.clone()).collect();
        self.ranges_read_cost(&ranges)
    }

    fn ranges_read_cost(&self, ranges: &[Range<u64>]) -> (u64, usize) {
        let joined = coalesce_ranges(ranges, self.metadata.source.coalesce_gap());
        (joined.iter().map(|range| range.end.saturating_sub(range.start)).sum(), joined.len())
    }
}
