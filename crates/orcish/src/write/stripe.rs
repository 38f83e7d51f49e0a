//! A stripe put together (ORCv1, Stripes): index streams, data streams, footer.

use orcish_core::error::Result;
use orcish_core::statistics::ColumnStatistics;
use prost::Message as _;

use super::blocks::Blocks;
use super::column::StripeColumn;
use super::compressors::Compressors;
use super::streams::{Finished, Layout};
use crate::proto::orc;
use crate::statistics::to_proto;

/// What the root column of a stripe has: rows, none of which is null.
pub(super) struct Root {
    pub(super) rows: u64,
    /// Rows of a row group.
    pub(super) stride: u64,
    pub(super) has_index: bool,
}

/// A stripe as it is stored.
pub(super) struct StripeBytes {
    /// One behind the other.
    pub(super) parts: Vec<Blocks>,
    /// All but the offset.
    pub(super) information: orc::StripeInformation,
    /// By column id.
    pub(super) statistics: Vec<ColumnStatistics>,
}

/// Puts a stripe together of its columns, which come in the order of their ids, without the root.
pub(super) fn assemble(
    root: Root,
    columns: Vec<StripeColumn>,
    timezone: Option<String>,
    layout: Layout,
    compressors: &mut Compressors,
) -> Result<StripeBytes> {
    let mut section = |message: Vec<u8>| layout.section(&message, compressors);
    let of_rows = |rows| ColumnStatistics { values: Some(rows), ..ColumnStatistics::EMPTY };
    let mut index = Vec::new();
    if root.has_index {
        let starts = (0..root.rows.div_ceil(root.stride)).map(|group| group * root.stride);
        let entry = starts.map(|start| {
            let statistics = of_rows(root.stride.min(root.rows - start));
            let statistics = to_proto(&ColumnStatistics { bytes_on_disk: None, ..statistics });
            orc::RowIndexEntry { positions: Vec::new(), statistics: Some(statistics) }
        });
        let bytes = section(orc::RowIndex { entry: entry.collect() }.encode_to_vec())?;
        index.push(Finished { column: 0, kind: orc::stream::Kind::RowIndex, bytes });
    }
    let mut data = Vec::new();
    let mut encodings = vec![orc::ColumnEncoding {
        kind: Some(orc::column_encoding::Kind::Direct.into()),
        ..orc::ColumnEncoding::default()
    }];
    let mut statistics = vec![of_rows(root.rows)];
    for column in columns {
        index.extend(column.index);
        data.extend(column.data);
        encodings.push(column.encoding);
        statistics.push(column.statistics);
    }
    let length = |streams: &[Finished]| streams.iter().map(|stream| stream.bytes.len() as u64).sum::<u64>();
    let (index_length, data_length) = (length(&index), length(&data));
    let stream = |stream: &Finished| orc::Stream {
        kind: Some(stream.kind.into()),
        column: Some(stream.column),
        length: Some(stream.bytes.len() as u64),
    };
    let footer = orc::StripeFooter {
        streams: index.iter().chain(&data).map(stream).collect(),
        columns: encodings,
        writer_timezone: timezone.map(Into::into),
        encryption: Vec::new(),
    };
    let footer = section(footer.encode_to_vec())?;
    let information = orc::StripeInformation {
        index_length: Some(index_length),
        data_length: Some(data_length),
        footer_length: Some(footer.len() as u64),
        number_of_rows: Some(root.rows),
        ..orc::StripeInformation::default()
    };
    let parts = index.into_iter().chain(data).map(|stream| stream.bytes).chain([footer]).collect();
    Ok(StripeBytes { parts, information, statistics })
}
