//! Column chunks of a blocklet, decoded page by page.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::ArrayRef;
use orcish_core::{Error, OrInternal as _, Result};
use orcish_io::read_with_limits;

use super::chunk::{ColumnChunk, EncodedPage, PageContext, PageData};
use super::metadata::FileMetadata;
use super::{v1_v2, v3};
use crate::metadata::format::{DataChunk2, MinMax};
use crate::metadata::schema::{CarbonType, Column};
use crate::page::{self, Dictionaries};

/// Number of rows of all pages of a blocklet but the last, in files that do not record it.
const PAGE_ROWS: usize = 32_000;

/// Column chunks of a blocklet.
pub(crate) struct BlockletData {
    file: Arc<FileMetadata>,
    dictionaries: Option<Dictionaries>,
    index: usize,
    /// By the index of the chunk in the blocklet; `None` for columns that were not read.
    chunks: Vec<Option<ColumnChunk>>,
    page_rows: Vec<usize>,
}

impl BlockletData {
    pub(super) fn try_new(file: Arc<FileMetadata>, dictionaries: Option<Dictionaries>, at: usize) -> Result<Self> {
        let blocklet = file.blocklet(at)?;
        let chunks = std::iter::repeat_with(|| None).take(blocklet.chunks.len()).collect();
        Ok(BlockletData { chunks, page_rows: blocklet.page_rows.clone(), file, dictionaries, index: at })
    }

    pub(super) fn set_chunk(&mut self, at: usize, chunk: ColumnChunk) {
        if let Some(slot) = self.chunks.get_mut(at) {
            *slot = Some(chunk);
        }
    }

    /// Reads the selected pages of columns whose chunk headers were read, except pages that were read before.
    ///
    /// # Errors
    /// As [`DataFile::read_blocklet`](super::DataFile::read_blocklet).
    pub(crate) fn read_pages(&mut self, columns: &[usize], selected: &[bool]) -> Result<()> {
        let file = self.file.clone();
        self.read_missing(&file, columns, selected)
            .map_err(|error| error.in_section("blocklet", self.index).in_file(file.name()))
    }

    fn read_missing(&mut self, file: &FileMetadata, columns: &[usize], selected: &[bool]) -> Result<()> {
        let missing = self.pages_of(columns, selected).filter(|(_, _, page, _)| page.bytes.is_none());
        let (pages, ranges): (Vec<_>, Vec<_>) =
            missing.map(|(chunk, at, _, range)| ((chunk, at), range.clone())).unzip();
        let parts = read_with_limits(&*file.source, &ranges, &file.limits)?;
        for ((chunk, at), bytes) in pages.into_iter().zip(parts) {
            let chunk = self.chunks.get_mut(chunk).and_then(Option::as_mut);
            if let Some(page) = chunk.and_then(|chunk| chunk.pages.get_mut(at)) {
                page.bytes = Some(PageData::split(&page.header, &bytes)?);
            }
        }
        Ok(())
    }

    /// Selected pages of columns whose chunk headers were read: index of the chunk, index of the page, the page, and
    /// its range in the file.
    pub(super) fn pages_of<'a>(
        &'a self,
        columns: &'a [usize],
        selected: &'a [bool],
    ) -> impl Iterator<Item = (usize, usize, &'a EncodedPage, &'a Range<u64>)> {
        let chunks = columns.iter().flat_map(|&column| {
            let start = self.file.first_chunk(column);
            start..start.saturating_add(self.file.columns.get(column).map_or(0, Column::chunks))
        });
        let chunks = chunks.filter_map(|at| Some((at, self.chunks.get(at)?.as_ref()?)));
        chunks.flat_map(move |(at, chunk)| {
            let pages = chunk.pages.iter().zip(&chunk.page_ranges).enumerate();
            let pages = pages.filter(|(page, _)| selected.get(*page) == Some(&true));
            pages.map(move |(page, (encoded_page, range))| (at, page, encoded_page, range))
        })
    }

    /// Determines the number of rows of each page: by the footer, by the page headers, or by the fixed page size of old
    /// writers.
    pub(super) fn resolve_page_rows(&mut self) -> Result<()> {
        let rows = usize::try_from(self.file.blocklet(self.index)?.rows).unwrap_or(usize::MAX);
        if self.page_rows.is_empty() {
            let first_chunks = self.file.columns.iter().zip(&self.file.first_chunks);
            // The number of values of child columns differs from the number of rows.
            let mut chunks = first_chunks.filter_map(|(_, &start)| self.chunks.get(start)?.as_ref());
            let Some(chunk) = chunks.next() else {
                return Ok(());
            };
            let recorded = chunk.pages.iter().map(|page| usize::try_from(page.header.rows?).ok());
            let recorded: Option<Vec<usize>> = recorded.collect();
            let count = chunk.pages.len();
            let last = rows.saturating_sub(count.saturating_sub(1).saturating_mul(PAGE_ROWS));
            let standard = |page| if page + 1 < count { PAGE_ROWS } else { last };
            self.page_rows = recorded
                .filter(|recorded| recorded.iter().fold(0, |sum: usize, &rows| sum.saturating_add(rows)) == rows)
                .unwrap_or_else(|| (0..count).map(standard).collect());
        }
        let total = self.page_rows.iter().fold(0, |sum: usize, &rows| sum.saturating_add(rows));
        if total != rows {
            return Err(Error::corrupt(format!("pages of {total} rows in a blocklet of {rows}")));
        }
        Ok(())
    }

    pub(crate) fn pages(&self) -> usize {
        self.page_rows.len()
    }

    pub(crate) fn page_rows(&self, page: usize) -> Result<usize> {
        self.page_rows.get(page).copied().or_internal("a page has no number of rows")
    }

    /// Min/max index of a page, which has one column.
    pub(crate) fn page_min_max(&self, column: usize, page: usize) -> Option<&MinMax> {
        let chunk = self.chunks.get(self.file.first_chunk(column))?.as_ref()?;
        chunk.pages.get(page)?.header.min_max.as_ref()
    }

    /// Decodes a page of a column into the Arrow type of the column.
    ///
    /// # Errors
    /// `Corrupt` where the bytes are not such a page, `Unsupported` for unknown encodings, `NullMapKey` for maps with
    /// null keys, `LimitExceeded` for large arrays.
    pub(crate) fn decode(&self, column: usize, page: usize) -> Result<ArrayRef> {
        let mut chunk = self.file.first_chunk(column);
        let rows = Some(self.page_rows(page)?);
        let column = self.file.columns.get(column).ok_or_else(|| Error::invalid("no such column"))?;
        let locate = |error: Error| error.in_page(page).in_section("blocklet", self.index).in_file(self.file.name());
        self.decode_column(column, &column.name, &mut chunk, page, rows).map_err(locate)
    }

    /// Decodes the column whose chunk has index `next`, with its children, and moves `next` behind their chunks. `name`
    /// is the dotted name.
    fn decode_column(
        &self,
        column: &Column,
        name: &str,
        next: &mut usize,
        page: usize,
        rows: Option<usize>,
    ) -> Result<ArrayRef> {
        self.decode_parts(column, name, next, page, rows).map_err(|error| error.in_column(name))
    }

    fn decode_parts(
        &self,
        column: &Column,
        name: &str,
        next: &mut usize,
        page: usize,
        rows: Option<usize>,
    ) -> Result<ArrayRef> {
        let at = *next;
        *next += 1;
        if self.file.version < 3 && !column.children.is_empty() {
            return Err(Error::unsupported("columns within others, in files before version 3"));
        }
        match column.carbon_type {
            CarbonType::Struct => {
                let rows = self.struct_rows(at, page, rows)?;
                let children = self.children(column, name, next, page)?;
                page::structs(column, children, rows)
            }
            CarbonType::Array => {
                let list_offsets = self.list_offsets(at, page, rows)?;
                let mut children = self.children(column, name, next, page)?;
                let child = children.pop().ok_or_else(|| Error::corrupt("an array of nothing"))?;
                page::lists(column, &list_offsets, &child)
            }
            CarbonType::Map => {
                let list_offsets = self.list_offsets(at, page, rows)?;
                let entries = self.struct_rows(*next, page, None)?;
                *next += 1;
                let children = self.children(column, name, next, page)?;
                page::maps(column, &list_offsets, children, entries)
            }
            _ => {
                let (chunk, header, bytes) = self.encoded_page(at, page)?;
                let max_bytes = self.max_bytes();
                let context = PageContext {
                    column,
                    rows,
                    key_width: self.file.key_width(at),
                    dictionary: chunk.dictionary(column.carbon_type, max_bytes)?,
                    dictionaries: self.dictionaries.as_ref(),
                    max_bytes,
                };
                match self.file.version {
                    3 => v3::decode(&context, header, bytes),
                    _ => v1_v2::decode(&context, header, bytes),
                }
            }
        }
    }

    fn children(&self, column: &Column, name: &str, next: &mut usize, page: usize) -> Result<Vec<ArrayRef>> {
        let children = column.children.iter();
        children.map(|child| self.decode_column(child, &format!("{name}.{}", child.name), next, page, None)).collect()
    }

    fn encoded_page(&self, chunk: usize, page: usize) -> Result<(&ColumnChunk, &DataChunk2, &PageData)> {
        let unread = || Error::invalid("the column was not read");
        let chunk = self.chunks.get(chunk).and_then(Option::as_ref).ok_or_else(unread)?;
        let count = chunk.pages.len();
        let page = chunk.pages.get(page).ok_or_else(|| Error::corrupt(format!("a chunk has {count} pages only")))?;
        Ok((chunk, &page.header, page.bytes.as_ref().ok_or_else(unread)?))
    }

    fn list_offsets(&self, chunk: usize, page: usize, rows: Option<usize>) -> Result<page::ListOffsets> {
        let (_, header, bytes) = self.encoded_page(chunk, page)?;
        page::ListOffsets::read(&v3::decompress_nested(header, bytes, rows, (8, self.max_bytes()))?, rows)
    }

    fn struct_rows(&self, chunk: usize, page: usize, rows: Option<usize>) -> Result<usize> {
        let (_, header, bytes) = self.encoded_page(chunk, page)?;
        page::struct_rows(&v3::decompress_nested(header, bytes, rows, (2, self.max_bytes()))?, rows)
    }

    fn max_bytes(&self) -> usize {
        usize::try_from(self.file.limits.memory).unwrap_or(usize::MAX)
    }
}
