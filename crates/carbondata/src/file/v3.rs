//! Files of version 3, which all writers since 1.2 write.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use orcish_core::{Error, Limits, Result};
use orcish_io::{ReadAt, slice_range};

use super::chunk::{Chunk, PageBytes, PageContext, StoredPage};
use super::chunk_location::Place;
use super::footer::{footer, rows_of};
use super::metadata::{Blocklet, Inner, starts};
use crate::compress::Compressor;
use crate::metadata::format::{BlockletInfo3, DataChunk2, DataChunk3, Encoding, FileFooter3, FileHeader};
use crate::metadata::schema::columns;
use crate::metadata::thrift::Reader;
use crate::page::{self, PageInput, PageMeta, Store};

/// Reads the footer of a file whose header has been read.
pub(super) fn open(
    source: Arc<dyn ReadAt>,
    size: u64,
    end: &Bytes,
    header: &FileHeader,
    limits: &Limits,
) -> Result<Inner> {
    if header.has_footer == Some(false) {
        return Err(Error::unsupported("a file without a footer, as streams write them"));
    }
    let (bytes, footer_at) = footer(&*source, size, end, limits)?;
    let footer: FileFooter3 = Reader::whole(&bytes, limits)?;
    let columns = columns(&header.columns, limits)?;
    let mut index = footer.index.into_iter().map(|index| index.min_max);
    let blocklets = footer.blocklets.iter().map(|info| blocklet(info, index.next().flatten(), footer_at));
    let blocklets: Vec<Blocklet> = blocklets.collect::<Result<_>>()?;
    Ok(Inner {
        limits: limits.clone(),
        version: 3,
        is_old: blocklets.iter().any(|blocklet| blocklet.page_rows.is_empty()),
        starts: starts(&columns),
        columns,
        rows: rows_of(footer.rows)?,
        extra: footer.extra,
        cardinalities: footer.segment.cardinalities,
        blocklets,
        source,
    })
}

/// Where the chunks of a blocklet are: each ends where the next one begins.
pub(crate) fn blocklet(
    info: &BlockletInfo3,
    min_max: Option<crate::metadata::format::MinMax>,
    footer_at: u64,
) -> Result<Blocklet> {
    let number = |value: i64| u64::try_from(value).map_err(|_| Error::corrupt(format!("a chunk at byte {value}")));
    let starts: Vec<u64> = info.offsets.iter().map(|&at| number(at)).collect::<Result<_>>()?;
    if starts.len() != info.lengths.len() {
        let (starts, lengths) = (starts.len(), info.lengths.len());
        return Err(Error::corrupt(format!("{starts} chunks, of which {lengths} have a length")));
    }
    let mut sorted = starts.clone();
    sorted.push(footer_at);
    // Where measures end, or dimensions where there are none.
    sorted.extend(u64::try_from(info.dimension_end.max(info.measure_end)).ok().filter(|&end| end > 0));
    sorted.sort_unstable();
    let chunks = starts.iter().zip(&info.lengths).map(|(&start, &length)| {
        let end = sorted.get(sorted.partition_point(|&at| at <= start)).copied().unwrap_or(start).min(footer_at);
        let head = usize::try_from(length).ok();
        let fits = head.filter(|&head| start < end && u64::try_from(head).is_ok_and(|head| head <= end - start));
        let head = fits.ok_or_else(|| Error::corrupt(format!("a chunk of {length} bytes at {start}, up to {end}")))?;
        Ok(Place::Whole { bytes: start..end, head })
    });
    let rows = rows_of(Some(info.rows.into()))?;
    let page_rows = info
        .page_rows
        .iter()
        .map(|&rows| usize::try_from(rows).map_err(|_| Error::corrupt(format!("a page of {rows} rows"))));
    Ok(Blocklet { rows, min_max, page_rows: page_rows.collect::<Result<_>>()?, chunks: chunks.collect::<Result<_>>()? })
}

/// Reads the head of a chunk that is at `place` in the file, and the pages that `bytes` have behind it: all, or none.
pub(super) fn chunk(bytes: &Bytes, place: &Range<u64>, head: usize, limits: &Limits) -> Result<Chunk> {
    let misfit = || Error::corrupt("a chunk whose pages lie outside of it");
    let chunk: DataChunk3 = Reader::new(bytes.get(..head).ok_or_else(misfit)?, limits).structure()?;
    if chunk.pages.len() != chunk.offsets.len() || chunk.pages.len() != chunk.lengths.len() {
        let (pages, places) = (chunk.pages.len(), chunk.offsets.len());
        return Err(Error::corrupt(format!("a chunk of {pages} pages, {places} are placed")));
    }
    let start = place.start.checked_add(u64::try_from(head).unwrap_or(u64::MAX));
    let places = chunk.offsets.iter().zip(&chunk.lengths).map(|(&offset, &length)| {
        let at = start?.checked_add(u64::try_from(offset).ok()?)?;
        let end = at.checked_add(u64::try_from(length).ok()?).filter(|&end| end <= place.end)?;
        Some(at..end)
    });
    let places = places.collect::<Option<Vec<Range<u64>>>>().ok_or_else(misfit)?;
    let is_whole = u64::try_from(bytes.len()).ok() == place.end.checked_sub(place.start);
    let page = |(head, range): (DataChunk2, &Range<u64>)| {
        let bytes = is_whole.then(|| slice_range(bytes, place.start, range)).flatten();
        let bytes = bytes.map(|bytes| PageBytes::cut(&head, &bytes)).transpose()?;
        Ok(StoredPage { head, bytes })
    };
    let pages = chunk.pages.into_iter().zip(&places).map(page).collect::<Result<_>>()?;
    Ok(Chunk { pages, places, dictionary: chunk.dictionary, decoded: OnceLock::new() })
}

/// The values of a page of a column that has none within it.
pub(super) fn decode(context: &PageContext<'_>, head: &DataChunk2, page: &PageBytes) -> Result<arrow_array::ArrayRef> {
    let has = |encoder| head.encoders.contains(&encoder);
    let meta = match head.encoders.first() {
        Some(&first) if page::has_meta(first) => {
            head.encoder_meta.first().map(|meta| PageMeta::read(meta)).transpose()?
        }
        _ => None,
    };
    let rows = context.rows.unwrap_or(0);
    // The number of rows is the file's own word: pages of runs have few bytes for many.
    if rows.saturating_mul(16) > context.most {
        return Err(Error::limit(format!("a page of {rows} rows")));
    }
    let chunk_compressor = Compressor::named(head.compression.compressor.as_deref())?;
    let compressor = meta.as_ref().map_or(chunk_compressor, |meta| meta.compressor);
    let most = width(context, head, meta.as_ref()).zip(context.rows).map(|(width, rows)| rows.saturating_mul(width));
    let most = most.unwrap_or(context.most).min(context.most);
    let data = if head.encoders.first() == Some(&Encoding::RleIntegral) {
        page.data.to_vec()
    } else {
        decompress(compressor, &page.data, most)?
    };
    let count = context.rows.unwrap_or(data.len());
    let nulls = match &head.presence {
        Some(presence) => decompress(chunk_compressor, &presence.bits, count / 8 + 16)?,
        None => Vec::new(),
    };
    let order = match context.rows {
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
        encoders: &head.encoders,
        meta: meta.as_ref(),
        raw_meta: head.encoder_meta.first().map_or(&[], |meta| meta.as_slice()),
        data: &data,
        order: order.as_deref(),
        runs: runs.as_deref(),
        nulls: &nulls,
        dictionary: context.dictionary,
        key_width: context.key_width,
        dictionaries: context.dictionaries,
        most: context.most,
    })
}

/// Bytes of a value, where all have the same.
fn width(context: &PageContext<'_>, head: &DataChunk2, meta: Option<&PageMeta>) -> Option<usize> {
    match meta.map(|meta| meta.store) {
        Some(Store::Bytes) | None if context.dictionary.is_some() => Some(page::KEY_WIDTH),
        // Up to 16 bytes; of any length in pages of old writers.
        Some(Store::Decimal) => meta.is_some_and(|meta| meta.precision > 0).then_some(16),
        Some(store) => store.width(),
        None if head.encoders.contains(&Encoding::Dictionary) => Some(context.key_width),
        None => None,
    }
}

/// The counts of a page of arrays, maps or structs.
pub(super) fn decompress_nested(
    head: &DataChunk2,
    page: &PageBytes,
    rows: Option<usize>,
    (width, most): (usize, usize),
) -> Result<Vec<u8>> {
    let meta = head.encoder_meta.first().map(|meta| PageMeta::read(meta)).transpose()?;
    let compressor = match meta {
        Some(meta) => meta.compressor,
        None => Compressor::named(head.compression.compressor.as_deref())?,
    };
    decompress(compressor, &page.data, rows.map_or(most, |rows| rows.saturating_mul(width)).min(most))
}

fn decompress(compressor: Compressor, bytes: &[u8], most: usize) -> Result<Vec<u8>> {
    if bytes.is_empty() {
        return Ok(Vec::new());
    }
    compressor.decompress(bytes, most)
}
