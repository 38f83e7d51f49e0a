//! The file tail (ORCv1, File Tail): postscript, footer, and the position of the stripe statistics.
//!
//! [`TailDecoder`] decodes a tail and requests the bytes that it needs. [`read_tail`] reads the tail of a source. A
//! [`FileTail`] can be serialized for other processes, which then do not read the tail of the file.

mod decode;
mod deviations;
mod encryption;
mod statistics_cache;
#[cfg(test)]
mod tests;
mod unlock;

use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use orcish_io::FileVersion;
use prost::Message as _;

use crate::statistics::from_proto;

pub use decode::{DecodeResult, TailDecoder, read_tail};
pub(crate) use deviations::describe_invalid_utf8;
pub use encryption::{DataMask, Encryption, EncryptionKey, EncryptionVariant};
use statistics_cache::{CountCache, StatisticsCache};
pub(crate) use unlock::StoredStatistics;

pub use crate::io::DEFAULT_FIRST_READ;
pub use crate::writer::Writer;

use orcish_core::OrInternal as _;
use orcish_core::cancel::Cancellation;
use orcish_core::error::{Error, Result};
use orcish_core::limits::Limits;
use orcish_core::statistics::{ColumnStatistics, Detail};

use crate::codec::{Compression, Framing, decompress_all};
use crate::encryption::{Unlocked, Variants};
use crate::proto::{
    RawField, STATISTICS, check_decoded_size, count_fields, decode_message, first_of_repeated_field, lazy, next_field,
    orc,
};
use crate::schema::{Kind, Schema};
use crate::statistics::WriterContext;
use crate::warnings::with_column;

/// Tag of the user metadata in the footer.
const METADATA: u32 = 5;

/// Position and number of rows of a stripe (ORCv1, Stripe Information).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StripeInfo {
    /// Offset of the stripe in the file.
    pub offset: u64,
    /// Bytes of the index streams.
    pub index_length: u64,
    /// Bytes of the data streams.
    pub data_length: u64,
    /// Bytes of the stripe footer.
    pub footer_length: u64,
    /// Number of rows.
    pub rows: u64,
    /// Index of the first row in the file.
    pub first_row: u64,
}

impl StripeInfo {
    /// Byte range of the index streams in the file.
    pub fn index(&self) -> Range<u64> {
        self.offset..self.offset.saturating_add(self.index_length)
    }

    /// Byte range of the data streams in the file.
    pub fn data(&self) -> Range<u64> {
        self.index().end..self.index().end.saturating_add(self.data_length)
    }

    /// Byte range of the stripe footer in the file.
    pub fn footer(&self) -> Range<u64> {
        self.data().end..self.data().end.saturating_add(self.footer_length)
    }

    /// Checks that the stripe ends before `end`, the start of the file footer.
    ///
    /// # Errors
    /// `Corrupt` where it ends behind.
    pub(crate) fn check_within(&self, end: u64) -> Result<()> {
        let lengths = [self.index_length, self.data_length, self.footer_length];
        let stripe_end = lengths.iter().try_fold(self.offset, |sum, &length| sum.checked_add(length));
        if stripe_end.is_some_and(|stripe_end| stripe_end <= end) {
            return Ok(());
        }
        Err(Error::corrupt(format!("its {lengths:?} bytes from {} are not within the file", self.offset)))
    }
}

/// Stripes that overlap in the file with an earlier stripe: pairs of the indexes of the stripe and of the earlier stripe,
/// ascending. Earlier stripes have a smaller offset, or the same offset and a smaller index.
pub(crate) fn overlapping_stripes(stripes: &[StripeInfo]) -> Vec<(usize, usize)> {
    let mut by_offset: Vec<_> =
        stripes.iter().enumerate().filter(|(_, stripe)| stripe.footer().end > stripe.offset).collect();
    by_offset.sort_by_key(|(index, stripe)| (stripe.offset, *index));
    let mut last_to_end: Option<(usize, u64)> = None;
    let mut overlapping = Vec::new();
    for (index, stripe) in by_offset {
        let end = stripe.footer().end;
        match last_to_end {
            Some((earlier, earlier_end)) if earlier_end > stripe.offset => overlapping.push((index, earlier)),
            _ => {}
        }
        if last_to_end.is_none_or(|(_, earlier_end)| end > earlier_end) {
            last_to_end = Some((index, end));
        }
    }
    overlapping.sort_unstable();
    overlapping
}

/// Calendar of dates and timestamps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Calendar {
    /// Julian before 1582-10-15, and Gregorian from then on. It is the default of a footer without calendar.
    JulianGregorian,
    /// Proleptic Gregorian.
    ProlepticGregorian,
}

/// The decoded tail of a file. Statistics are decoded on request.
#[derive(Debug, Clone)]
pub struct FileTail {
    /// Length of the file in bytes.
    pub file_length: u64,
    /// Compression of the file.
    pub compression: Compression,
    /// Maximum number of decompressed bytes of a compression chunk.
    pub chunk_size: usize,
    /// Version of the format: `[0, 11]`, `[0, 12]`, `[1, 9999]`; empty in the oldest files.
    pub version: Vec<u32>,
    /// Version of the writer (`writerVersion` of the postscript), which each kind of writer counts on its own.
    pub writer_version: u32,
    /// The software that wrote the file.
    pub writer: Writer,
    /// Version of the software as text.
    pub software_version: Option<String>,
    /// Calendar of dates and timestamps.
    pub calendar: Calendar,
    /// Number of rows of all stripes.
    pub rows: u64,
    /// Number of rows of a row group; 0 where the file has no row index.
    pub row_index_stride: u32,
    /// Bytes of the header, `ORC`.
    pub header_length: u64,
    /// Bytes of the header and all stripes.
    pub content_length: u64,
    /// The types of the columns.
    pub schema: Schema,
    /// The stripes.
    pub stripes: Vec<StripeInfo>,
    /// User metadata: keys and values of the application that wrote the file.
    pub metadata: Vec<(String, Bytes)>,
    /// Ids of encrypted columns. Their unencrypted streams have masked values.
    pub encrypted_columns: Vec<u32>,
    /// Keys, encrypted columns and masks. `None` if no column is encrypted.
    pub encryption: Option<Encryption>,
    /// The encrypted columns with their wrapped keys.
    variants: Option<Arc<Variants>>,
    /// The encrypted columns that can be read, once keys are given.
    unlocked: Option<Arc<Unlocked>>,
    /// Byte range of the stripe statistics in the file.
    pub stripe_statistics: Range<u64>,
    /// Bytes of the footer, the postscript and its length.
    pub tail_length: u64,
    /// The version of the file that the tail was read of. `None` where its source does not know it.
    pub file_version: Option<FileVersion>,
    stated_chunk_size: Option<u64>,
    /// Undecoded column statistics of the file by column id.
    statistics: Vec<Bytes>,
    /// Maximum decoded size of a part of the tail: [`Limits::tail`].
    max_decoded_size: u64,
    /// The stored stripe statistics, if they were read with the tail.
    stripe_statistics_section: CachedSection,
    cache: StatisticsCache,
    raw: lazy::FileTail,
}

/// Bytes of the file that were read with the tail. They are no property of the tail.
#[derive(Clone, Default)]
struct CachedSection(Option<Bytes>);

impl std::fmt::Debug for CachedSection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("…")
    }
}

impl FileTail {
    pub(crate) fn framing(&self) -> Framing {
        Framing { codec: self.compression, chunk_size: self.chunk_size }
    }

    /// The stripe at an index that a caller gives.
    ///
    /// # Errors
    /// `InvalidArgument` if there is none.
    pub(crate) fn stripe(&self, index: usize) -> Result<&StripeInfo> {
        let count = self.stripes.len();
        self.stripes.get(index).ok_or_else(|| Error::invalid(format!("no stripe {index}, of {count}")))
    }

    /// Bytes of the postscript, without the byte that has its length.
    pub fn postscript_length(&self) -> u64 {
        self.raw.postscript_length()
    }

    /// The size of compression chunks that the postscript states, which files without compression can do, too. `None` where
    /// it states none.
    pub fn stated_chunk_size(&self) -> Option<u64> {
        self.stated_chunk_size
    }

    /// Maximum decoded size of a part of the tail.
    pub(crate) fn max_decoded_size(&self) -> u64 {
        self.max_decoded_size
    }

    fn writer_context(&self) -> WriterContext {
        WriterContext::new(self.writer, self.writer_version)
            .with_software_version(self.software_version.as_deref())
            .with_proleptic_calendar(self.calendar == Calendar::ProlepticGregorian)
            .with_row_index(self.row_index_stride > 0)
    }

    fn column_context(&self, id: u32) -> Result<WriterContext> {
        let this = self.schema.get(id)?;
        let parents = self.schema.ancestor_kinds(this);
        Ok(self.writer_context().with_column(this.kind, this.precision).with_parents(parents))
    }

    /// Decodes the statistics of a column, without the statistics that cannot be trusted.
    pub(crate) fn parse_statistics(&self, id: u32, bytes: &Bytes) -> Result<ColumnStatistics> {
        #[cfg(test)]
        tests::PARSED.set(tests::PARSED.get() + 1);
        let decode = || {
            check_decoded_size(bytes, &STATISTICS, self.max_decoded_size)?;
            decode_message::<orc::ColumnStatistics>(bytes.clone())
                .map_err(|error| undecodable("column statistics", error))
        };
        let proto = decode().map_err(|error| error.in_column(&self.schema.path(id)))?;
        let context = self.column_context(id)?;
        Ok(with_column(id, || from_proto(&proto, context)))
    }

    /// Whether the file has version 1.9999 (`UNSTABLE-PRE-2.0`), where decimals of up to 18 digits are integers.
    pub(crate) fn has_decimal64(&self) -> bool {
        self.version == [1, 9999]
    }

    /// Statistics of column `id` over all rows of the file; `None` where the writer recorded none.
    ///
    /// # Errors
    /// `Corrupt` where the statistics cannot be decoded, `UnknownColumn` where there is no such column.
    pub fn column_statistics(&self, id: u32) -> Result<Option<ColumnStatistics>> {
        self.schema.get(id)?;
        let bytes = usize::try_from(id).ok().and_then(|id| self.statistics.get(id));
        let has_counts = || self.cache.has_counts.get_or_init(|| self.has_counts(&self.statistics, self.rows));
        match bytes.filter(|_| has_counts()) {
            Some(bytes) => self.parse_checked_statistics(id, bytes, &self.statistics, &self.cache.counts).map(Some),
            None => Ok(None),
        }
    }

    /// The bounds of the timestamps of column `id` in nanoseconds; `None` where a bound is unknown. Every stripe needs them,
    /// so they are cached.
    pub(crate) fn timestamp_bounds(&self, id: u32) -> Result<Option<(i128, i128)>> {
        self.cache.timestamps.get_or_parse(id, || {
            Ok(self.column_statistics(id)?.and_then(|statistics| match statistics.detail {
                Detail::Timestamp { lower_bound: Some(min), upper_bound: Some(max), .. } => Some((min, max)),
                _ => None,
            }))
        })
    }

    /// As [`parse_statistics`](Self::parse_statistics), without statistics that contradict the statistics of ancestors.
    /// `columns` are the undecoded statistics of all columns over the same rows, and `counts` the counts of ancestors.
    ///
    /// ORC C++ relies on the application to mark values below a null struct as null. It writes and counts values that are
    /// not marked. Arrow does not mark values below a struct without nulls.
    fn parse_checked_statistics(
        &self,
        id: u32,
        bytes: &Bytes,
        columns: &[Bytes],
        counts: &CountCache,
    ) -> Result<ColumnStatistics> {
        let statistics = self.parse_statistics(id, bytes)?;
        if self.writer != Writer::Cpp || self.agrees_with_ancestors(id, &statistics, columns, counts)? {
            return Ok(statistics);
        }
        Ok(ColumnStatistics { bytes_on_disk: statistics.bytes_on_disk, ..ColumnStatistics::UNKNOWN })
    }

    /// Whether statistics of fields of structs record that a struct is null, as those of orcish do from version 0.1.1.
    pub fn records_parent_nulls(&self) -> bool {
        self.writer.records_parent_nulls(self.software_version.as_deref())
    }

    /// Whether recorded bounds of column `id` are values of the column.
    pub(crate) fn bounds_are_exact(&self, id: u32) -> bool {
        self.column_context(id).is_ok_and(WriterContext::bounds_are_exact)
    }

    /// Whether the counts of column `id` are possible by the counts of its ancestors.
    fn agrees_with_ancestors(
        &self,
        id: u32,
        statistics: &ColumnStatistics,
        columns: &[Bytes],
        counts: &CountCache,
    ) -> Result<bool> {
        let count_of = |statistics: &ColumnStatistics| (statistics.values, statistics.has_null);
        let (mut child, mut child_count) = (id, count_of(statistics));
        // Whether a struct between the column and the current ancestor may have nulls.
        let mut may_be_null = false;
        // The root has no nulls.
        while let Some(parent) = self.schema.get(child)?.parent.filter(|parent| *parent != 0) {
            let kind = self.schema.get(parent)?.kind;
            let Some(bytes) = columns.get(parent as usize) else { return Ok(false) };
            let parse = || self.parse_statistics(parent, bytes).map(|statistics| count_of(&statistics));
            let parent_count = counts.get_or_parse(parent, parse)?;
            let has_too_many = match (child_count.0, parent_count.0) {
                (Some(values), Some(max)) if matches!(kind, Kind::Struct | Kind::Union) => values > max,
                (Some(values), Some(0)) => values > 0,
                _ => false,
            };
            if child != id && self.schema.get(child)?.kind == Kind::Struct {
                may_be_null |= match kind {
                    Kind::Struct => child_count.0.is_none() || child_count.0 != parent_count.0,
                    _ => child_count.1 != Some(false),
                };
            }
            if has_too_many || may_be_null && kind == Kind::Struct {
                return Ok(false);
            }
            (child, child_count) = (parent, parent_count);
        }
        Ok(true)
    }

    /// Decodes the stripe statistics (ORCv1, Metadata), by stripe and column id. `section` is the stored bytes of the range
    /// [`stripe_statistics`](Self::stripe_statistics).
    ///
    /// # Errors
    /// `Corrupt` where they cannot be decoded, `LimitExceeded` where they exceed `limits`.
    pub fn parse_stripe_statistics(&self, section: Bytes, limits: &Limits) -> Result<Vec<Vec<ColumnStatistics>>> {
        let statistics = StoredStatistics::of_section(section);
        self.parse_stripe_statistics_cancellable(statistics, limits, &mut Cancellation::new(None))
    }

    /// As [`parse_stripe_statistics`](Self::parse_stripe_statistics), with cancellation.
    ///
    /// # Errors
    /// As of it, and of the cancellation check.
    pub(crate) fn parse_stripe_statistics_cancellable(
        &self,
        statistics: StoredStatistics,
        limits: &Limits,
        cancellation: &mut Cancellation,
    ) -> Result<Vec<Vec<ColumnStatistics>>> {
        let stripes = self.split_statistics(&statistics, self.schema.types().len(), limits)?;
        let parse = |stripe: usize, bytes: Bytes| {
            let (columns, counts) = (self.split_columns(bytes, stripe, &statistics)?, CountCache::default());
            // Their number may not be that of the stripes.
            let rows = self.stripes.get(stripe).map(|stripe| stripe.rows);
            if !self.has_counts(&columns, rows.unwrap_or(u64::MAX)) {
                return Ok(vec![ColumnStatistics::UNKNOWN; columns.len()]);
            }
            let mut parse_column = |(id, column): (u32, &Bytes)| {
                cancellation.poll()?;
                self.parse_checked_statistics(id, column, &columns, &counts)
            };
            (0..).zip(&columns).map(&mut parse_column).collect()
        };
        parse_stripes(stripes, parse)
    }

    /// As [`parse_stripe_statistics`](Self::parse_stripe_statistics), for some columns only. `None` for a column without
    /// statistics in a stripe. The result is empty where the number of stripe statistics is not the number of stripes.
    ///
    /// # Errors
    /// `Corrupt` where they cannot be decoded, `LimitExceeded` where they exceed `limits`.
    pub(crate) fn parse_stripe_statistics_of(
        &self,
        statistics: StoredStatistics,
        columns: &[u32],
        limits: &Limits,
        cancellation: &mut Cancellation,
    ) -> Result<Vec<Vec<Option<ColumnStatistics>>>> {
        let parse = |stripe: usize, bytes: Bytes| {
            cancellation.poll()?;
            let (all_columns, counts) = (self.split_columns(bytes, stripe, &statistics)?, CountCache::default());
            let rows = self.stripes.get(stripe).or_internal("statistics are of no stripe")?.rows;
            let has_counts = self.has_counts(&all_columns, rows);
            let parse_column = |&id: &u32| {
                let bytes = usize::try_from(id).ok().and_then(|id| all_columns.get(id)).filter(|_| has_counts);
                bytes.map(|bytes| self.parse_checked_statistics(id, bytes, &all_columns, &counts)).transpose()
            };
            columns.iter().map(parse_column).collect()
        };
        let stripes = self.split_statistics(&statistics, columns.len(), limits)?;
        let is_complete = stripes.len() == self.stripes.len();
        parse_stripes(if is_complete { stripes } else { Vec::new() }, parse)
    }

    /// Whether the statistics of `rows` rows have counts: ORC Java without row index writes statistics, but counts no
    /// values. The number of values of the root is the number of rows.
    fn has_counts(&self, columns: &[Bytes], rows: u64) -> bool {
        let root = columns.first().map(|root| self.parse_statistics(0, root));
        !matches!(root, Some(Ok(ColumnStatistics { values: Some(0), .. })) if rows > 0)
    }

    /// The undecoded statistics of each stripe. Checks that the decoded statistics of `columns` columns of all stripes are
    /// within the memory limit.
    fn split_statistics(&self, statistics: &StoredStatistics, columns: usize, limits: &Limits) -> Result<Vec<Bytes>> {
        let section = statistics.section.clone();
        let section = decompress_all(section, self.framing(), limits.tail).map_err(undecodable_statistics)?;
        let stripes = count_fields(&section, 1).map_err(undecodable_statistics)?;
        let stripe_size = size_of::<Bytes>() + columns.saturating_mul(size_of::<Option<ColumnStatistics>>());
        // The length of the section is a bound of the strings, which are copied.
        let bytes = stripes.saturating_mul(stripe_size).saturating_add(section.len());
        if bytes as u64 > limits.memory {
            let max = limits.memory;
            return Err(Error::over(
                "memory",
                format!("statistics of {stripes} stripes need more than the {max} bytes allowed"),
            ));
        }
        first_of_repeated_field(section, stripes).map_err(undecodable_statistics)
    }

    /// The undecoded statistics of a stripe by column id. Those of columns that are decrypted are not those in clear, which
    /// are of masks.
    fn split_columns(&self, bytes: Bytes, stripe: usize, statistics: &StoredStatistics) -> Result<Vec<Bytes>> {
        let mut columns = first_of_repeated_field(bytes, self.schema.types().len()).map_err(undecodable_statistics)?;
        for id in self.unlocked.iter().flat_map(|unlocked| unlocked.columns()) {
            if let Some(column) = columns.get_mut(id as usize) {
                *column = statistics.decrypted(id, stripe);
            }
        }
        Ok(columns)
    }

    /// The undecoded column statistics of the file by column id; `None` where their number is not the number of columns.
    pub(crate) fn stored_statistics(&self) -> Option<&[Bytes]> {
        Some(self.statistics.as_slice()).filter(|statistics| statistics.len() == self.schema.types().len())
    }

    /// The stored footer, decompressed.
    fn stored_footer(&self) -> Result<Bytes> {
        self.raw.footer.clone().or_internal("a decoded tail has no footer")
    }

    /// The footer without its lists of stripes, statistics and user metadata, which have any length.
    ///
    /// # Errors
    /// `Corrupt` where the footer cannot be decoded.
    pub(crate) fn footer_without_lists(&self) -> Result<orc::Footer> {
        const LISTS: [u32; 3] = [3, METADATA, 7];
        let mut rest = self.stored_footer()?;
        let mut kept = Vec::new();
        loop {
            let before = rest.clone();
            let Some(RawField { tag, body }) = next_field(&mut rest)? else { break };
            if body.is_none() || !LISTS.contains(&tag) {
                kept.extend_from_slice(before.split_at(before.len() - rest.len()).0);
            }
        }
        decode_message::<orc::Footer>(kept.into()).map_err(|error| undecodable("footer", error))
    }

    /// The stored user metadata. Keys can be invalid UTF-8 and can occur several times.
    ///
    /// # Errors
    /// `Corrupt` where the footer cannot be decoded.
    pub(crate) fn stored_metadata(&self) -> Result<Vec<orc::UserMetadataItem>> {
        let mut rest = self.stored_footer()?;
        let mut items = Vec::new();
        while let Some(RawField { tag, body }) = next_field(&mut rest)? {
            if let Some(item) = body.filter(|_| tag == METADATA) {
                let item = decode_message::<orc::UserMetadataItem>(item);
                items.push(item.map_err(|error| undecodable("user metadata", error))?);
            }
        }
        Ok(items)
    }

    /// Byte range of the footer in the file.
    pub(crate) fn footer(&self) -> Range<u64> {
        let start = self.file_length.saturating_sub(self.tail_length);
        let postscript = self.raw.postscript_length().saturating_add(1);
        start..self.file_length.saturating_sub(postscript).max(start)
    }

    /// The stored bytes of the range [`stripe_statistics`](Self::stripe_statistics), if they were read with the tail.
    pub(crate) fn stored_stripe_statistics(&self) -> Option<Bytes> {
        self.stripe_statistics_section.0.clone()
    }

    /// Length of the result of [`to_bytes`](Self::to_bytes).
    pub(crate) fn encoded_len(&self) -> usize {
        self.raw.encoded_len()
    }

    /// Serializes the tail as a protobuf message `FileTail` of the format, with the version of the file.
    /// [`from_bytes`](Self::from_bytes) decodes it.
    pub fn to_bytes(&self) -> Vec<u8> {
        let version = self.file_version.as_ref().map(|version| version.to_bytes().into());
        lazy::FileTail { version, ..self.raw.clone() }.encode_to_vec()
    }

    /// The version that the file has as long as the tail is that of the file.
    pub(crate) fn expected_version(&self) -> FileVersion {
        self.file_version.clone().unwrap_or_else(|| FileVersion::of_size(self.file_length))
    }
}

/// The error for a section whose protobuf message cannot be decoded.
pub(crate) fn undecodable(section: &str, error: prost::DecodeError) -> Error {
    Error::corrupt(format!("the {section} cannot be decoded")).with_source(error)
}

/// Parses the statistics of stripes one by one, with the stripe as the place of errors.
fn parse_stripes<T>(stripes: Vec<Bytes>, mut parse: impl FnMut(usize, Bytes) -> Result<T>) -> Result<Vec<T>> {
    let parse = |(index, stripe)| parse(index, stripe).map_err(|error| error.in_section("stripe", index));
    stripes.into_iter().enumerate().map(parse).collect()
}

/// The error for stripe statistics that cannot be decoded.
pub(crate) fn undecodable_statistics(error: Error) -> Error {
    Error::new(error.kind(), "the stripe statistics cannot be decoded").with_source(error)
}
