//! Assembly of a stripe (ORCv1, Stripes): index streams, data streams, stripe footer.

use orcish_core::error::Result;
use orcish_core::statistics::ColumnStatistics;
use prost::Message as _;

use super::blocks::Blocks;
use super::column::EncodedColumn;
use super::compressors::Compressors;
use super::stream_options::{EncodedStream, StreamOptions};
use crate::proto::orc;
use crate::statistics::to_proto;

/// The root column of a stripe. It has no nulls, and no streams but its row index.
pub(super) struct RootColumn {
    pub(super) num_rows: u64,
    /// Rows of a row group.
    pub(super) row_index_stride: u64,
    pub(super) has_index: bool,
}

/// A stripe as it is stored.
pub(super) struct StripeBytes {
    /// The streams and the stripe footer, in order.
    pub(super) sections: Vec<Blocks>,
    /// The stripe information without the offset of the stripe.
    pub(super) information: orc::StripeInformation,
    /// Statistics by column id.
    pub(super) statistics: Vec<ColumnStatistics>,
}

/// Assembles a stripe from its columns without the root, which are in order of their ids.
pub(super) fn assemble(
    root: RootColumn,
    columns: Vec<EncodedColumn>,
    timezone: Option<String>,
    options: StreamOptions,
    compressors: &mut Compressors,
) -> Result<StripeBytes> {
    let mut compress = |message: Vec<u8>| options.compress_message(&message, compressors);
    let root_statistics = |num_rows| ColumnStatistics { values: Some(num_rows), ..ColumnStatistics::EMPTY };
    let mut index = Vec::new();
    if root.has_index {
        let stride = root.row_index_stride;
        let starts = (0..root.num_rows.div_ceil(stride)).map(|row_group| row_group * stride);
        let entry = starts.map(|start| {
            let statistics = root_statistics(stride.min(root.num_rows - start));
            let statistics = to_proto(&ColumnStatistics { bytes_on_disk: None, ..statistics });
            orc::RowIndexEntry { positions: Vec::new(), statistics: Some(statistics) }
        });
        let bytes = compress(orc::RowIndex { entry: entry.collect() }.encode_to_vec())?;
        index.push(EncodedStream { column: 0, kind: orc::stream::Kind::RowIndex, bytes });
    }
    let mut data = Vec::new();
    let mut encodings = vec![orc::ColumnEncoding {
        kind: Some(orc::column_encoding::Kind::Direct.into()),
        ..orc::ColumnEncoding::default()
    }];
    let mut statistics = vec![root_statistics(root.num_rows)];
    for column in columns {
        index.extend(column.index_streams);
        data.extend(column.data_streams);
        encodings.push(column.encoding);
        statistics.push(column.statistics);
    }
    let length = |streams: &[EncodedStream]| streams.iter().map(|stream| stream.bytes.len() as u64).sum::<u64>();
    let (index_length, data_length) = (length(&index), length(&data));
    let stream = |stream: &EncodedStream| orc::Stream {
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
    let footer = compress(footer.encode_to_vec())?;
    let information = orc::StripeInformation {
        index_length: Some(index_length),
        data_length: Some(data_length),
        footer_length: Some(footer.len() as u64),
        number_of_rows: Some(root.num_rows),
        ..orc::StripeInformation::default()
    };
    let sections = index.into_iter().chain(data).map(|stream| stream.bytes).chain([footer]).collect();
    Ok(StripeBytes { sections, information, statistics })
}
