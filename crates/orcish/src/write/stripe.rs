//! Assembly of a stripe (ORCv1, Stripes): index streams, data streams, stripe footer.

use orcish_core::error::{Error, OrInternal as _, Result};
use orcish_core::statistics::ColumnStatistics;
use prost::Message as _;

use super::blocks::Blocks;
use super::column::{EncodedColumn, EncodedColumns};
use super::compressors::Compressors;
use super::encryption::EncryptionPlan;
use super::stream_options::{EncodedStream, StreamOptions};
use crate::encryption::Iv;
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
    /// Statistics of the values of the encrypted columns, by variant.
    pub(super) variant_statistics: Vec<Vec<ColumnStatistics>>,
}

/// How the variants of a stripe are encrypted.
#[derive(Clone, Copy)]
pub(super) struct StripeEncryption<'a> {
    pub(super) plan: &'a EncryptionPlan,
    /// The number of the stripe in initialization vectors, from 1.
    pub(super) id: u64,
}

/// The encrypted columns of a stripe.
#[derive(Default)]
struct EncryptedColumns {
    index: Vec<EncodedStream>,
    data: Vec<EncodedStream>,
    /// The entries of the stripe footer, by variant.
    variants: Vec<orc::StripeEncryptionVariant>,
    statistics: Vec<Vec<ColumnStatistics>>,
}

/// Encrypts the streams of the variants of a stripe. Each stream has a vector of its own.
fn encrypted_columns(
    variants: Vec<(usize, Vec<EncodedColumn>)>,
    encryption: Option<StripeEncryption<'_>>,
) -> Result<EncryptedColumns> {
    let mut all = EncryptedColumns::default();
    for (at, (number, columns)) in variants.into_iter().enumerate() {
        let StripeEncryption { plan, id } = encryption.or_internal("a column is encrypted without keys")?;
        if number != at {
            return Err(Error::internal("a stripe lacks an encrypted column"));
        }
        let cipher = plan.cipher(number)?;
        let (mut streams, mut encodings, mut statistics) = (Vec::new(), Vec::new(), Vec::new());
        let (mut index, mut data) = (Vec::new(), Vec::new());
        for column in columns {
            index.extend(column.index_streams);
            data.extend(column.data_streams);
            encodings.push(column.encoding);
            statistics.push(column.statistics);
        }
        for stream in index.iter_mut().chain(&mut data) {
            let kind = u32::try_from(i32::from(stream.kind)).or_internal("the kind of a stream is negative")?;
            let iv = Iv::of_stream(stream.column, kind, id)?;
            for (offset, bytes) in stream.bytes.iter_mut() {
                cipher.apply(iv, offset, bytes)?;
            }
            streams.push(stream_entry(stream));
        }
        all.index.extend(index);
        all.data.extend(data);
        all.variants.push(orc::StripeEncryptionVariant { streams, encoding: encodings });
        all.statistics.push(statistics);
    }
    Ok(all)
}

fn stream_entry(stream: &EncodedStream) -> orc::Stream {
    orc::Stream { kind: Some(stream.kind.into()), column: Some(stream.column), length: Some(stream.bytes.len() as u64) }
}

/// The entry of a stripe footer for all streams of variants together, which readers without keys skip; `None` for no bytes.
fn placeholder(kind: orc::stream::Kind, streams: &[EncodedStream]) -> Option<orc::Stream> {
    let length = streams.iter().map(|stream| stream.bytes.len() as u64).sum();
    (length > 0).then(|| orc::Stream { kind: Some(kind.into()), column: None, length: Some(length) })
}

/// Assembles a stripe from its columns without the root.
pub(super) fn assemble(
    root: RootColumn,
    columns: EncodedColumns,
    timezone: Option<String>,
    options: StreamOptions,
    encryption: Option<StripeEncryption<'_>>,
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
    for column in columns.clear {
        index.extend(column.index_streams);
        data.extend(column.data_streams);
        encodings.push(column.encoding);
        statistics.push(column.statistics);
    }
    let encrypted = encrypted_columns(columns.variants, encryption)?;
    let length = |streams: &[EncodedStream]| streams.iter().map(|stream| stream.bytes.len() as u64).sum::<u64>();
    let index_length = length(&index) + length(&encrypted.index);
    let data_length = length(&data) + length(&encrypted.data);
    let mut streams: Vec<_> = index.iter().map(stream_entry).collect();
    streams.extend(placeholder(orc::stream::Kind::EncryptedIndex, &encrypted.index));
    streams.extend(data.iter().map(stream_entry));
    streams.extend(placeholder(orc::stream::Kind::EncryptedData, &encrypted.data));
    let footer = orc::StripeFooter {
        streams,
        columns: encodings,
        writer_timezone: timezone.map(Into::into),
        encryption: encrypted.variants,
    };
    let footer = compress(footer.encode_to_vec())?;
    let information = orc::StripeInformation {
        index_length: Some(index_length),
        data_length: Some(data_length),
        footer_length: Some(footer.len() as u64),
        number_of_rows: Some(root.num_rows),
        encrypt_stripe_id: encryption.map(|encryption| encryption.id),
        encrypted_local_keys: encryption.map_or_else(Vec::new, |encryption| encryption.plan.wrapped_keys()),
        ..orc::StripeInformation::default()
    };
    let streams = index.into_iter().chain(encrypted.index).chain(data).chain(encrypted.data);
    let sections = streams.map(|stream| stream.bytes).chain([footer]).collect();
    Ok(StripeBytes { sections, information, statistics, variant_statistics: encrypted.statistics })
}
