//! Files of versions 1 and 2. The schema is in the footer, and each blocklet has one page of each column.
//!
//! ```text
//! version 2: magic │ blocklet: (header │ values │ row ids │ runs) of each column │ … │ footer │ offset of the footer
//! version 1: blocklet: values of all columns │ row ids of all │ runs of all      │ … │ footer │ offset of the footer
//! ```

use std::sync::Arc;

use arrow_array::ArrayRef;
use bytes::Bytes;
use orcish_core::{Error, Limits, Result};
use orcish_io::ReadAt;

use super::chunk::{ColumnChunk, EncodedPage, PageContext, PageData};
use super::chunk_location::ChunkLocation;
use super::footer::{footer, required_num_rows};
use super::metadata::{BlockletMetadata, FileMetadata, first_chunks};
use crate::compress::Compressor;
use crate::metadata::format::{BlockletIndex, Compression, DataChunk, DataChunk2, Encoding, FileFooter, Presence};
use crate::metadata::schema;
use crate::metadata::thrift::ThriftReader;
use crate::page::{self, PageInput};

/// Maximum size of the null bitmap of a page, for more rows than writers put into a blocklet.
const MAX_NULL_BYTES: usize = 4 << 20;

/// Reads the footer of a file of version 1 or 2.
///
/// # Errors
/// `Corrupt` where there is no valid footer.
pub(super) fn open(
    source: Arc<dyn ReadAt>,
    size: u64,
    end: &Bytes,
    limits: &Limits,
    version: u8,
) -> Result<FileMetadata> {
    let (bytes, start) = footer(&*source, size, end, limits)?;
    let footer: FileFooter = ThriftReader::read_all(&bytes, limits)?;
    let columns = schema::columns(&footer.columns, limits)?;
    let blocklets = match version {
        2 => blocklets_v2(&footer, start)?,
        _ => blocklets_v1(&footer)?,
    };
    Ok(FileMetadata {
        source,
        limits: limits.clone(),
        version,
        has_unreliable_min_max: true,
        first_chunks: first_chunks(&columns),
        columns,
        rows: required_num_rows(footer.rows)?,
        extra_info: Vec::new(),
        cardinalities: footer.segment.cardinalities,
        blocklets,
    })
}

fn blocklet(rows: i32, index: Option<&BlockletIndex>, chunks: Vec<ChunkLocation>) -> Result<BlockletMetadata> {
    let page_rows = vec![usize::try_from(rows).map_err(|_| Error::corrupt(format!("a blocklet of {rows} rows")))?];
    let min_max = index.and_then(|index| index.min_max.clone());
    Ok(BlockletMetadata { rows: required_num_rows(Some(rows.into()))?, min_max, page_rows, chunks })
}

fn blocklets_v1(footer: &FileFooter) -> Result<Vec<BlockletMetadata>> {
    let all = footer.blocklets.iter().enumerate().map(|(at, info)| {
        let chunks = info.chunks.iter().map(|chunk| ChunkLocation::Separate(Box::new(chunk.clone())));
        blocklet(info.rows, footer.index.get(at), chunks.collect())
    });
    all.collect()
}

fn blocklets_v2(footer: &FileFooter, end: u64) -> Result<Vec<BlockletMetadata>> {
    let offset = |offset: i64| u64::try_from(offset).map_err(|_| Error::corrupt(format!("a chunk at {offset}")));
    let offsets = footer.blocklets2.iter().flat_map(|info| &info.offsets);
    let mut starts = offsets.map(|&at| offset(at)).collect::<Result<Vec<u64>>>()?;
    starts.push(end);
    starts.sort_unstable();
    let all = footer.blocklets2.iter().enumerate().map(|(at, info)| {
        let chunks = info.offsets.iter().zip(&info.lengths).map(|(&start, &length)| {
            let start = offset(start)?;
            // A chunk ends at the start of the next chunk or of the footer.
            let next = starts.get(starts.partition_point(|&other| other <= start)).filter(|_| start < end);
            let next = *next.ok_or_else(|| Error::corrupt(format!("a chunk at {start}, behind the footer")))?;
            let header_length =
                usize::try_from(length).map_err(|_| Error::corrupt(format!("a chunk head of {length} bytes")))?;
            Ok(ChunkLocation::Contiguous { range: start..next, header_length })
        });
        blocklet(info.rows, footer.index.get(at), chunks.collect::<Result<_>>()?)
    });
    all.collect()
}

/// Reads a chunk of version 2. The first `header_length` bytes are its header.
pub(super) fn read_chunk_v2(bytes: &Bytes, header_length: usize, limits: &Limits) -> Result<ColumnChunk> {
    let head_bytes =
        bytes.get(..header_length).ok_or_else(|| Error::corrupt("a chunk that is shorter than its head"))?;
    let mut page_head: DataChunk2 = ThriftReader::new(head_bytes, limits).read_struct()?;
    if let Some(presence) = page_head.presence.as_mut().filter(|presence| !presence.bits.is_empty()) {
        presence.bits = Compressor::Snappy.decompress(&presence.bits, MAX_NULL_BYTES)?;
    }
    let page = PageData::split(&page_head, &bytes.slice(header_length..))?;
    Ok(ColumnChunk::of(EncodedPage { header: page_head, bytes: Some(page) }))
}

/// A chunk of version 1, whose values, row ids and runs are `bytes`.
pub(super) fn read_chunk_v1(chunk: &DataChunk, bytes: &[Bytes]) -> Result<ColumnChunk> {
    let [data, row_ids, rle] = bytes else { return Err(Error::corrupt("a chunk without all its parts")) };
    let header = DataChunk2 {
        compression: Compression::default(),
        is_row_major: chunk.is_row_major,
        data_length: chunk.data.1,
        row_ids_length: chunk.row_ids.1,
        rle_length: chunk.rle.1,
        presence: chunk.presence.as_ref().map(|presence| Presence { bits: presence.bits.clone() }),
        encoders: chunk.encoders.clone(),
        encoder_meta: chunk.encoder_meta.clone(),
        min_max: None,
        rows: None,
    };
    let page = PageData { data: data.clone(), row_ids: row_ids.clone(), rle: rle.clone() };
    Ok(ColumnChunk::of(EncodedPage { header, bytes: Some(page) }))
}

/// Decodes a page.
pub(super) fn decode(context: &PageContext<'_>, header: &DataChunk2, page_data: &PageData) -> Result<ArrayRef> {
    let rows = context.rows.ok_or_else(|| Error::corrupt("a page within another column"))?;
    // The number of rows is not verified by the size of the data.
    if rows.saturating_mul(16) > context.max_bytes {
        return Err(Error::limit(format!("a page of {rows} rows")));
    }
    if header.is_row_major {
        return Err(Error::unsupported("a group of columns that are stored as one"));
    }
    let data = Compressor::Snappy.decompress(&page_data.data, context.max_bytes)?;
    let nulls = header.presence.as_ref().map_or(&[][..], |presence| &presence.bits);
    let has = |encoding, part: &Bytes| header.encoders.contains(&encoding) && !part.is_empty();
    let inverted_index =
        has(Encoding::InvertedIndex, &page_data.row_ids).then(|| page::bit_packed_row_ids(&page_data.row_ids, rows));
    let inverted_index = inverted_index.transpose()?;
    let runs = has(Encoding::Rle, &page_data.rle).then(|| page::bit_packed_runs(&page_data.rle, rows)).transpose()?;
    page::decode(&PageInput {
        column: context.column,
        rows: Some(rows),
        encoders: &header.encoders,
        meta: None,
        encoder_meta_bytes: header.encoder_meta.first().map_or(&[], Vec::as_slice),
        data: &data,
        inverted_index: inverted_index.as_deref(),
        runs: runs.as_deref(),
        nulls,
        dictionary: None,
        key_width: context.key_width,
        dictionaries: context.dictionaries,
        max_bytes: context.max_bytes,
    })
}
