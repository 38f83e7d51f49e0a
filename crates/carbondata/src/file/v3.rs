//! Files of version 3, which all writers since 1.2 write.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use orcish_core::{Error, Limits, Result};
use orcish_io::{ReadAt, slice_range};

use super::chunk::{ColumnChunk, EncodedPage, PageContext, PageData};
use super::chunk_location::ChunkLocation;
use super::footer::{footer, required_num_rows};
use super::metadata::{BlockletMetadata, FileMetadata, first_chunks};
use crate::compress::Compressor;
use crate::metadata::format::{BlockletInfo3, DataChunk2, DataChunk3, Encoding, FileFooter3, FileHeader, MinMax};
use crate::metadata::schema::columns;
use crate::metadata::thrift::ThriftReader;
use crate::page::{self, EncoderMeta, PageInput, StoreDataType};

/// Reads the footer of a file with this header.
pub(super) fn open(
    source: Arc<dyn ReadAt>,
    size: u64,
    end: &Bytes,
    header: &FileHeader,
    limits: &Limits,
) -> Result<FileMetadata> {
    if header.has_footer == Some(false) {
        return Err(Error::unsupported("a file without a footer, as streams write them"));
    }
    let (bytes, footer_start) = footer(&*source, size, end, limits)?;
    let footer: FileFooter3 = ThriftReader::read_all(&bytes, limits)?;
    let columns = columns(&header.columns, limits)?;
    let mut index = footer.index.into_iter().map(|index| index.min_max);
    let blocklets = footer.blocklets.iter().map(|info| blocklet(info, index.next().flatten(), footer_start));
    let blocklets: Vec<BlockletMetadata> = blocklets.collect::<Result<_>>()?;
    Ok(FileMetadata {
        limits: limits.clone(),
        version: 3,
        has_unreliable_min_max: blocklets.iter().any(|blocklet| blocklet.page_rows.is_empty()),
        first_chunks: first_chunks(&columns),
        columns,
        rows: required_num_rows(footer.rows)?,
        extra_info: footer.extra_info,
        cardinalities: footer.segment.cardinalities,
        blocklets,
        source,
    })
}

/// The metadata of a blocklet. A chunk ends at the start of the next chunk.
pub(crate) fn blocklet(info: &BlockletInfo3, min_max: Option<MinMax>, footer_start: u64) -> Result<BlockletMetadata> {
    let number = |value: i64| u64::try_from(value).map_err(|_| Error::corrupt(format!("a chunk at byte {value}")));
    let starts: Vec<u64> = info.offsets.iter().map(|&at| number(at)).collect::<Result<_>>()?;
    if starts.len() != info.lengths.len() {
        let (starts, lengths) = (starts.len(), info.lengths.len());
        return Err(Error::corrupt(format!("{starts} chunks, of which {lengths} have a length")));
    }
    let mut boundaries = starts.clone();
    boundaries.push(footer_start);
    // End of the measures, or of the dimensions where there are no measures.
    boundaries.extend(u64::try_from(info.dimension_end.max(info.measure_end)).ok().filter(|&end| end > 0));
    boundaries.sort_unstable();
    let chunks = starts.iter().zip(&info.lengths).map(|(&start, &length)| {
        let end =
            boundaries.get(boundaries.partition_point(|&at| at <= start)).copied().unwrap_or(start).min(footer_start);
        let header_length = usize::try_from(length).ok();
        let fits = header_length.filter(|&header_length| {
            start < end && u64::try_from(header_length).is_ok_and(|header_length| header_length <= end - start)
        });
        let header_length =
            fits.ok_or_else(|| Error::corrupt(format!("a chunk of {length} bytes at {start}, up to {end}")))?;
        Ok(ChunkLocation::Contiguous { range: start..end, header_length })
    });
    let rows = required_num_rows(Some(info.rows.into()))?;
    let page_rows = info
        .page_rows
        .iter()
        .map(|&rows| usize::try_from(rows).map_err(|_| Error::corrupt(format!("a page of {rows} rows"))));
    Ok(BlockletMetadata {
        rows,
        min_max,
        page_rows: page_rows.collect::<Result<_>>()?,
        chunks: chunks.collect::<Result<_>>()?,
    })
}

/// Reads the header of the chunk at `chunk_range` of the file, and its pages where `bytes` include all of them.
pub(super) fn read_chunk(
    bytes: &Bytes,
    chunk_range: &Range<u64>,
    header_length: usize,
    limits: &Limits,
) -> Result<ColumnChunk> {
    let out_of_range = || Error::corrupt("a chunk whose pages lie outside of it");
    let chunk: DataChunk3 =
        ThriftReader::new(bytes.get(..header_length).ok_or_else(out_of_range)?, limits).read_struct()?;
    if chunk.pages.len() != chunk.offsets.len() || chunk.pages.len() != chunk.lengths.len() {
        let (pages, offsets) = (chunk.pages.len(), chunk.offsets.len());
        return Err(Error::corrupt(format!("a chunk of {pages} pages, {offsets} are placed")));
    }
    let start = chunk_range.start.checked_add(u64::try_from(header_length).unwrap_or(u64::MAX));
    let page_ranges = chunk.offsets.iter().zip(&chunk.lengths).map(|(&offset, &length)| {
        let at = start?.checked_add(u64::try_from(offset).ok()?)?;
        let end = at.checked_add(u64::try_from(length).ok()?).filter(|&end| end <= chunk_range.end)?;
        Some(at..end)
    });
    let page_ranges = page_ranges.collect::<Option<Vec<Range<u64>>>>().ok_or_else(out_of_range)?;
    let is_whole = u64::try_from(bytes.len()).ok() == chunk_range.end.checked_sub(chunk_range.start);
    let page = |(header, range): (DataChunk2, &Range<u64>)| {
        let bytes = is_whole.then(|| slice_range(bytes, chunk_range.start, range)).flatten();
        let bytes = bytes.map(|bytes| PageData::split(&header, &bytes)).transpose()?;
        Ok(EncodedPage { header, bytes })
    };
    let pages = chunk.pages.into_iter().zip(&page_ranges).map(page).collect::<Result<_>>()?;
    Ok(ColumnChunk { pages, page_ranges, dictionary: chunk.dictionary, decoded_dictionary: OnceLock::new() })
}

/// Decodes a page of a column without children.
pub(super) fn decode(context: &PageContext<'_>, header: &DataChunk2, page: &PageData) -> Result<arrow_array::ArrayRef> {
    let has = |encoder| header.encoders.contains(&encoder);
    let meta = match header.encoders.first() {
        Some(&first) if page::has_meta(first) => {
            header.encoder_meta.first().map(|meta| EncoderMeta::read(meta)).transpose()?
        }
        _ => None,
    };
    let rows = context.rows.unwrap_or(0);
    // The number of rows is not verified by the size of the data, which is small for run lengths.
    if rows.saturating_mul(16) > context.max_bytes {
        return Err(Error::limit(format!("a page of {rows} rows")));
    }
    let chunk_compressor = Compressor::named(header.compression.compressor.as_deref())?;
    let compressor = meta.as_ref().map_or(chunk_compressor, |meta| meta.compressor);
    let max_bytes =
        width(context, header, meta.as_ref()).zip(context.rows).map(|(width, rows)| rows.saturating_mul(width));
    let max_bytes = max_bytes.unwrap_or(context.max_bytes).min(context.max_bytes);
    let data = if header.encoders.first() == Some(&Encoding::RleIntegral) {
        page.data.to_vec()
    } else {
        decompress(compressor, &page.data, max_bytes)?
    };
    let count = context.rows.unwrap_or(data.len());
    let nulls = match &header.presence {
        Some(presence) => decompress(chunk_compressor, &presence.bits, count / 8 + 16)?,
        None => Vec::new(),
    };
    let inverted_index = match context.rows {
        Some(rows) if has(Encoding::InvertedIndex) && !page.row_ids.is_empty() => {
            let (ids, runs) = page::stored_ids(&page.row_ids)?;
            Some(page::inverse(&ids, &runs, rows)?)
        }
        _ => None,
    };
    let runs = (has(Encoding::Rle) && !page.rle.is_empty()).then(|| page::stored_runs(&page.rle)).transpose()?;
    page::decode(&PageInput {
        column: context.column,
        rows: context.rows,
        encoders: &header.encoders,
        meta: meta.as_ref(),
        encoder_meta_bytes: header.encoder_meta.first().map_or(&[], |meta| meta.as_slice()),
        data: &data,
        inverted_index: inverted_index.as_deref(),
        runs: runs.as_deref(),
        nulls: &nulls,
        dictionary: context.dictionary,
        key_width: context.key_width,
        dictionaries: context.dictionaries,
        max_bytes: context.max_bytes,
    })
}

/// Bytes of a stored value, for fixed-width types.
fn width(context: &PageContext<'_>, header: &DataChunk2, meta: Option<&EncoderMeta>) -> Option<usize> {
    match meta.map(|meta| meta.store_data_type) {
        Some(StoreDataType::Bytes) | None if context.dictionary.is_some() => Some(page::KEY_WIDTH),
        // At most 16 bytes. Old writers store decimals with any length.
        Some(StoreDataType::Decimal) => meta.is_some_and(|meta| meta.precision > 0).then_some(16),
        Some(store) => store.width(),
        None if header.encoders.contains(&Encoding::Dictionary) => Some(context.key_width),
        None => None,
    }
}

/// Decompresses the lengths of a page of arrays, maps or structs.
pub(super) fn decompress_nested(
    header: &DataChunk2,
    page: &PageData,
    rows: Option<usize>,
    (width, max_bytes): (usize, usize),
) -> Result<Vec<u8>> {
    let meta = header.encoder_meta.first().map(|meta| EncoderMeta::read(meta)).transpose()?;
    let compressor = match meta {
        Some(meta) => meta.compressor,
        None => Compressor::named(header.compression.compressor.as_deref())?,
    };
    decompress(compressor, &page.data, rows.map_or(max_bytes, |rows| rows.saturating_mul(width)).min(max_bytes))
}

fn decompress(compressor: Compressor, bytes: &[u8], max_bytes: usize) -> Result<Vec<u8>> {
    if bytes.is_empty() {
        return Ok(Vec::new());
    }
    compressor.decompress(bytes, max_bytes)
}
