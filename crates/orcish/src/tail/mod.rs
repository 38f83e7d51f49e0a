//! The file tail (ORCv1, File Tail): postscript, footer, and where the stripe statistics are.
//!
//! [`TailDecoder`] asks for the bytes that it needs; [`read_tail`] drives it over a source. A
//! [`FileTail`] can be turned into bytes and handed to another process, which then need not read
//! the tail again.

mod decode;
mod form;
mod known;
#[cfg(test)]
mod tests;

use std::ops::Range;

use bytes::Bytes;
use prost::Message as _;

use crate::statistics::from_proto;

pub use decode::{Step, TailDecoder, read_tail};
pub(crate) use form::not_text;
use known::{Counts, Known};

pub use crate::io::DEFAULT_FIRST_READ;
pub use crate::writer::Writer;

use orcish_core::cancel::Cancellation;
use orcish_core::error::{Error, Result};
use orcish_core::limits::Limits;
use orcish_core::statistics::{ColumnStatistics, Detail};

use crate::codec::{Compression, Framing, decompress_all};
use crate::proto::{
    RawField, STATISTICS, check_decoded_size, count_fields, first_of_repeated_field, lazy, next_field, orc,
};
use crate::schema::{Kind, Schema};
use crate::statistics::WriterContext;

/// Tag of the user metadata in the footer.
const METADATA: u32 = 5;

/// Where a stripe is and how many rows it has (ORCv1, Stripe Information).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StripeInfo {
    /// Offset of its first byte in the file.
    pub offset: u64,
    /// Bytes of its index streams.
    pub index_length: u64,
    /// Bytes of its data streams.
    pub data_length: u64,
    /// Bytes of its footer.
    pub footer_length: u64,
    /// Number of rows.
    pub rows: u64,
    /// Number of rows in the stripes before.
    pub first_row: u64,
}

impl StripeInfo {
    /// Bytes of the index streams in the file.
    pub fn index(&self) -> Range<u64> {
        self.offset..self.offset.saturating_add(self.index_length)
    }

    /// Bytes of the data streams in the file.
    pub fn data(&self) -> Range<u64> {
        self.index().end..self.index().end.saturating_add(self.data_length)
    }

    /// Bytes of the footer in the file.
    pub fn footer(&self) -> Range<u64> {
        self.data().end..self.data().end.saturating_add(self.footer_length)
    }

    /// Checks that it lies before `end`, where the footer of the file begins.
    ///
    /// # Errors
    /// `Corrupt` where it does not.
    pub(crate) fn check_within(&self, end: u64) -> Result<()> {
        let lengths = [self.index_length, self.data_length, self.footer_length];
        let after = lengths.iter().try_fold(self.offset, |sum, &length| sum.checked_add(length));
        match after.is_some_and(|after| after <= end) {
            true => Ok(()),
            false => Err(Error::corrupt(format!("its {lengths:?} bytes from {} are not within the file", self.offset))),
        }
    }
}

/// Stripes that have bytes in common with others, ascending, each with one of those.
///
/// A stripe is among them where another one that is not behind it in the file goes beyond its beginning.
pub(crate) fn shared_bytes(stripes: &[StripeInfo]) -> Vec<(usize, usize)> {
    let mut places: Vec<_> =
        stripes.iter().enumerate().filter(|(_, stripe)| stripe.footer().end > stripe.offset).collect();
    places.sort_by_key(|(index, stripe)| (stripe.offset, *index));
    let mut farthest: Option<(usize, u64)> = None;
    let mut found = Vec::new();
    for (index, stripe) in places {
        let end = stripe.footer().end;
        match farthest {
            Some((before, reached)) if reached > stripe.offset => found.push((index, before)),
            _ => {}
        }
        if farthest.is_none_or(|(_, reached)| end > reached) {
            farthest = Some((index, end));
        }
    }
    found.sort_unstable();
    found
}

/// Calendar of dates and timestamps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Calendar {
    /// Julian before 1582-10-15, Gregorian from then on; also where the footer names none.
    JulianGregorian,
    /// Gregorian always.
    ProlepticGregorian,
}

/// All that the tail of a file says, but for statistics, which are parsed on request.
#[derive(Debug, Clone)]
pub struct FileTail {
    /// Length of the file in bytes.
    pub file_length: u64,
    /// Compression of the file.
    pub compression: Compression,
    /// Most bytes that a compression chunk holds when decompressed.
    pub chunk_size: usize,
    /// Version of the format: `[0, 11]`, `[0, 12]`, `[1, 9999]`; empty in the oldest files.
    pub version: Vec<u32>,
    /// Version of the writer, in the count of its kind.
    pub writer_version: u32,
    /// The software that wrote the file.
    pub writer: Writer,
    /// Version of that software in its own words.
    pub software_version: Option<String>,
    /// Calendar of dates and timestamps.
    pub calendar: Calendar,
    /// Number of rows: those of the stripes.
    pub rows: u64,
    /// Rows of a row group; 0 where the file has no row index.
    pub row_index_stride: u32,
    /// Bytes of the header, `ORC`.
    pub header_length: u64,
    /// Bytes of header and stripes together.
    pub content_length: u64,
    /// The types of the columns.
    pub schema: Schema,
    /// The stripes.
    pub stripes: Vec<StripeInfo>,
    /// Keys and values that the writing application left.
    pub metadata: Vec<(String, Bytes)>,
    /// Column ids that are encrypted in this file; their unencrypted streams hold masks.
    pub encrypted_columns: Vec<u32>,
    /// Bytes of the stripe statistics in the file.
    pub stripe_statistics: Range<u64>,
    /// Bytes of footer, postscript and its length.
    pub tail_length: u64,
    statistics: Vec<Bytes>,
    /// Most bytes that decoding a part of it may take: [`Limits::tail`].
    most_decoded: u64,
    /// The stripe statistics as stored, where they came along with the tail.
    section: Section,
    known: Known,
    raw: lazy::FileTail,
}

/// Bytes that a tail has or has not, which makes it no other tail.
#[derive(Clone, Default)]
struct Section(Option<Bytes>);

impl std::fmt::Debug for Section {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("…")
    }
}

impl FileTail {
    pub(crate) fn framing(&self) -> Framing {
        Framing { codec: self.compression, chunk_size: self.chunk_size }
    }

    /// Most bytes that decoding a part of it may take.
    pub(crate) fn most_decoded(&self) -> u64 {
        self.most_decoded
    }

    fn writer_context(&self) -> WriterContext {
        WriterContext::new(self.writer, self.writer_version)
            .with_software_version(self.software_version.as_deref())
            .with_proleptic_calendar(self.calendar == Calendar::ProlepticGregorian)
            .with_row_index(self.row_index_stride > 0)
    }

    /// What is known of the statistics of column `id`.
    fn context_of(&self, id: u32) -> Result<WriterContext> {
        let this = self.schema.get(id)?;
        let parents = self.schema.kinds_above(this);
        Ok(self.writer_context().with_column(this.kind, this.precision).with_parents(parents))
    }

    /// Parses the statistics of one column, trusted as far as its writer can be.
    pub(crate) fn parse_statistics(&self, id: u32, bytes: &Bytes) -> Result<ColumnStatistics> {
        #[cfg(test)]
        tests::PARSED.set(tests::PARSED.get() + 1);
        let decode = || {
            check_decoded_size(bytes, &STATISTICS, self.most_decoded)?;
            orc::ColumnStatistics::decode(bytes.clone()).map_err(|error| undecodable("column statistics", error))
        };
        let proto = decode().map_err(|error| error.in_column(&self.schema.path(id)))?;
        Ok(from_proto(&proto, self.context_of(id)?))
    }

    /// Whether the file is in the draft where decimals of up to 18 digits are plain integers.
    pub(crate) fn has_decimal64(&self) -> bool {
        self.version == [1, 9999]
    }

    /// Statistics of column `id` over the whole file; `None` where the writer kept none.
    ///
    /// # Errors
    /// `Corrupt` when they cannot be parsed; `UnknownColumn` when there is no such column.
    pub fn column_statistics(&self, id: u32) -> Result<Option<ColumnStatistics>> {
        self.schema.get(id)?;
        let bytes = usize::try_from(id).ok().and_then(|id| self.statistics.get(id));
        let were_counted = || *self.known.counted.get_or_init(|| self.were_counted(&self.statistics, self.rows));
        match bytes.filter(|_| were_counted()) {
            Some(bytes) => self.parse_statistics_among(id, bytes, &self.statistics, &self.known.counts).map(Some),
            None => Ok(None),
        }
    }

    /// The least and the greatest timestamp of column `id` in nanoseconds, where its statistics have both. They are
    /// parsed once, as each stripe asks for them.
    pub(crate) fn timestamp_bounds(&self, id: u32) -> Result<Option<(i128, i128)>> {
        self.known.timestamps.of(id, || {
            Ok(self.column_statistics(id)?.and_then(|found| match found.detail {
                Detail::Timestamp { lower_bound: Some(min), upper_bound: Some(max), .. } => Some((min, max)),
                _ => None,
            }))
        })
    }

    /// Parses the statistics of one column, as [`parse_statistics`](Self::parse_statistics), where those of all `columns`
    /// over the same rows are known: nothing but its size, where it has values that the columns above it cannot have.
    ///
    /// ORC C++ leaves it to the application to mark as null what is below a struct that is null, and writes and counts
    /// all that is not marked. Arrow does not mark what is below a struct that has no nulls.
    fn parse_statistics_among(
        &self,
        id: u32,
        bytes: &Bytes,
        columns: &[Bytes],
        known: &Counts,
    ) -> Result<ColumnStatistics> {
        let found = self.parse_statistics(id, bytes)?;
        if self.writer != Writer::Cpp || self.is_counted_below(id, &found, columns, known)? {
            return Ok(found);
        }
        Ok(ColumnStatistics { bytes_on_disk: found.bytes_on_disk, ..ColumnStatistics::UNKNOWN })
    }

    /// Whether bounds that are recorded of column `id` are values of it, and not only around these.
    pub(crate) fn bounds_are_exact(&self, id: u32) -> bool {
        self.context_of(id).is_ok_and(WriterContext::bounds_are_exact)
    }

    /// Whether what `columns` record of the columns above column `id` allows for what is recorded of it. What has been
    /// parsed of them is `known`.
    fn is_counted_below(
        &self,
        id: u32,
        recorded: &ColumnStatistics,
        columns: &[Bytes],
        known: &Counts,
    ) -> Result<bool> {
        let counts = |found: &ColumnStatistics| (found.values, found.has_null);
        let (mut below, mut this) = (id, counts(recorded));
        // Whether a struct on the way up, of which there is more than the column itself, may have nulls.
        let mut may_be_null = false;
        // The rows of the root are never null.
        while let Some(parent) = self.schema.get(below)?.parent.filter(|parent| *parent != 0) {
            let kind = self.schema.get(parent)?.kind;
            let Some(bytes) = columns.get(parent as usize) else { return Ok(false) };
            let above = known.of(parent, || self.parse_statistics(parent, bytes).map(|found| counts(&found)))?;
            let is_more = match (this.0, above.0) {
                (Some(values), Some(most)) if matches!(kind, Kind::Struct | Kind::Union) => values > most,
                (Some(values), Some(0)) => values > 0,
                _ => false,
            };
            if below != id && self.schema.get(below)?.kind == Kind::Struct {
                may_be_null |= match kind {
                    Kind::Struct => this.0.is_none() || this.0 != above.0,
                    _ => this.1 != Some(false),
                };
            }
            if is_more || may_be_null && kind == Kind::Struct {
                return Ok(false);
            }
            (below, this) = (parent, above);
        }
        Ok(true)
    }

    /// Parses the stripe statistics, which are outside of what the tail holds: `section` is the
    /// bytes at [`stripe_statistics`](Self::stripe_statistics), as stored. One list a stripe, one entry a column.
    ///
    /// # Errors
    /// `Corrupt` when they cannot be parsed.
    pub fn parse_stripe_statistics(&self, section: Bytes, limits: &Limits) -> Result<Vec<Vec<ColumnStatistics>>> {
        self.parse_stripe_statistics_cancellable(section, limits, &mut Cancellation::new(None))
    }

    /// As [`parse_stripe_statistics`](Self::parse_stripe_statistics); now and then it is looked whether to go on.
    pub(crate) fn parse_stripe_statistics_cancellable(
        &self,
        section: Bytes,
        limits: &Limits,
        cancellation: &mut Cancellation,
    ) -> Result<Vec<Vec<ColumnStatistics>>> {
        let stripes = self.split_statistics(section, self.schema.types().len(), limits)?;
        let parse = |stripe: Bytes| {
            let (columns, known) = (self.split_columns(stripe)?, Counts::default());
            let mut of_column = |(id, column): (u32, &Bytes)| {
                cancellation.poll()?;
                self.parse_statistics_among(id, column, &columns, &known)
            };
            (0..).zip(&columns).map(&mut of_column).collect()
        };
        stripes.into_iter().map(parse).collect()
    }

    /// As [`parse_stripe_statistics`](Self::parse_stripe_statistics), but of `columns` only; `None` for those of
    /// which a stripe has none. Nothing where there are not as many lists as stripes: nobody knows which is whose.
    ///
    /// # Errors
    /// `Corrupt` when they cannot be parsed.
    pub(crate) fn parse_stripe_statistics_of(
        &self,
        section: Bytes,
        columns: &[u32],
        limits: &Limits,
        cancellation: &mut Cancellation,
    ) -> Result<Vec<Vec<Option<ColumnStatistics>>>> {
        let parse = |(stripe, found): (usize, Bytes)| {
            cancellation.poll()?;
            let (found, known) = (self.split_columns(found)?, Counts::default());
            let rows = self.stripes.get(stripe).map_or(0, |stripe| stripe.rows);
            let counted = self.were_counted(&found, rows);
            let of_column = |&id: &u32| {
                let bytes = usize::try_from(id).ok().and_then(|id| found.get(id)).filter(|_| counted);
                bytes.map(|bytes| self.parse_statistics_among(id, bytes, &found, &known)).transpose()
            };
            columns.iter().map(of_column).collect()
        };
        let of_stripes = self.split_statistics(section, columns.len(), limits)?;
        let is_whole = of_stripes.len() == self.stripes.len();
        of_stripes.into_iter().filter(|_| is_whole).enumerate().map(parse).collect()
    }

    /// Whether statistics of `rows` rows, one entry a column, are any: Java, told to write no index, counts no values
    /// but writes how many it counted. Those of the root are the rows.
    fn were_counted(&self, columns: &[Bytes], rows: u64) -> bool {
        let root = columns.first().map(|root| self.parse_statistics(0, root));
        !matches!(root, Some(Ok(ColumnStatistics { values: Some(0), .. })) if rows > 0)
    }

    /// Statistics of each stripe, not yet parsed, where those of so many `columns` of all stripes have room.
    fn split_statistics(&self, section: Bytes, columns: usize, limits: &Limits) -> Result<Vec<Bytes>> {
        let section = decompress_all(section, self.framing(), limits.tail)?;
        let stripes = count_fields(&section, 1).map_err(undecodable_statistics)?;
        let of_stripe = size_of::<Bytes>() + columns.saturating_mul(size_of::<Option<ColumnStatistics>>());
        // Texts are copied.
        let bytes = stripes.saturating_mul(of_stripe).saturating_add(section.len());
        if bytes as u64 > limits.memory {
            let most = limits.memory;
            return Err(Error::over(
                "memory",
                format!("statistics of {stripes} stripes need more than the {most} bytes allowed"),
            ));
        }
        first_of_repeated_field(section, stripes).map_err(undecodable_statistics)
    }

    /// Statistics of a stripe, one entry a column, not yet parsed.
    fn split_columns(&self, stripe: Bytes) -> Result<Vec<Bytes>> {
        first_of_repeated_field(stripe, self.schema.types().len()).map_err(undecodable_statistics)
    }

    /// Statistics of the columns over the whole file, not yet parsed, by column id; where there are as many.
    pub(crate) fn stored_statistics(&self) -> Option<&[Bytes]> {
        Some(self.statistics.as_slice()).filter(|statistics| statistics.len() == self.schema.types().len())
    }

    /// The footer without the lists that are as long as the file likes: of stripes, statistics and user metadata.
    ///
    /// # Errors
    /// `Corrupt` when it cannot be parsed.
    pub(crate) fn footer_without_lists(&self) -> Result<orc::Footer> {
        const LISTS: [u32; 3] = [3, METADATA, 7];
        let mut rest = self.raw.footer.clone().unwrap_or_default();
        let mut kept = Vec::new();
        loop {
            let before = rest.clone();
            let Some(RawField { tag, body }) = next_field(&mut rest)? else { break };
            if body.is_none() || !LISTS.contains(&tag) {
                kept.extend_from_slice(before.get(..before.len() - rest.len()).unwrap_or_default());
            }
        }
        orc::Footer::decode(&*kept).map_err(|error| undecodable("footer", error))
    }

    /// The user metadata as they are stored: keys need be no UTF-8, and may be there more than once.
    ///
    /// # Errors
    /// `Corrupt` when they cannot be parsed.
    pub(crate) fn stored_metadata(&self) -> Result<Vec<orc::UserMetadataItem>> {
        let mut rest = self.raw.footer.clone().unwrap_or_default();
        let mut found = Vec::new();
        while let Some(RawField { tag, body }) = next_field(&mut rest)? {
            if let Some(item) = body.filter(|_| tag == METADATA) {
                let item = orc::UserMetadataItem::decode(item);
                found.push(item.map_err(|error| undecodable("user metadata", error))?);
            }
        }
        Ok(found)
    }

    /// Where the footer is in the file.
    pub(crate) fn footer(&self) -> Range<u64> {
        let start = self.file_length.saturating_sub(self.tail_length);
        let postscript = self.raw.postscript_length().saturating_add(1);
        start..self.file_length.saturating_sub(postscript).max(start)
    }

    /// The bytes at [`stripe_statistics`](Self::stripe_statistics), as stored, where they came along with the tail.
    pub(crate) fn stored_stripe_statistics(&self) -> Option<Bytes> {
        self.section.0.clone()
    }

    /// How many bytes [`to_bytes`](Self::to_bytes) gives.
    pub(crate) fn stored_length(&self) -> usize {
        self.raw.encoded_len()
    }

    /// The tail as bytes, from which [`from_bytes`](Self::from_bytes) makes it again in any process:
    /// a protobuf message `FileTail` of the format.
    pub fn to_bytes(&self) -> Vec<u8> {
        self.raw.encode_to_vec()
    }
}

/// The error of a section that is not the protobuf message it should be.
pub(crate) fn undecodable(section: &str, error: prost::DecodeError) -> Error {
    Error::corrupt(format!("the {section} cannot be decoded")).with_source(error)
}

/// As [`undecodable`], of the stripe statistics.
pub(crate) fn undecodable_statistics(error: Error) -> Error {
    Error::new(error.kind(), "the stripe statistics cannot be decoded").with_source(error)
}
