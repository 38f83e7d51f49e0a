//! Stripes without a footer of the file: each ends with its own footer, whose streams have the bytes before it.

use std::ops::{Range, RangeInclusive};
use std::sync::Arc;

use bytes::Bytes;
use orcish_core::cancel::Cancellation;
use orcish_core::error::{Error, Result};
use orcish_core::limits::Limits;
use orcish_io::ReadAt;
use prost::Message as _;

use super::count::RowValues;
use crate::codec::decompress_all;
use crate::proto::{
    ROW_INDEX, STATISTICS, STRIPE_FOOTER, check_decoded_size, decode_message, first_of_repeated_field, lazy,
    next_field, orc,
};
use crate::schema::Kind;
use crate::stripe::{IndexKind, StripeFooter};
use crate::tail::{FileTail, StripeInfo};
use crate::time::WriterZone;
use crate::tuning;

/// Bytes of the header of a compression chunk.
const HEADER_LEN: u64 = 3;

/// Chunks of a stripe footer, at most. A footer of more chunks is not found.
const MAX_FOOTER_CHUNKS: usize = 16;

/// Bytes of an uncompressed stripe footer, at most. A longer footer is not found.
const MAX_PLAIN_FOOTER: u64 = 1 << 20;

/// Bytes that tell whether a stripe footer may begin.
const FOOTER_START: usize = 3;

/// Whether bytes begin like a stripe footer: with a stream, whose first field is its kind.
fn begins_like_footer(bytes: &[u8]) -> bool {
    matches!(bytes, [0x0A, 2..=32, 0x08, ..])
}

/// Why there is no further stripe at an offset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// The bytes to the end of the file have no stripe footer.
    NoFooter,
    /// The stripe has no row index of the root, and no column that tells its number of rows.
    NoRowCount,
}

/// A stripe footer.
struct LocatedFooter {
    /// Offset of the stripe.
    start: u64,
    /// The bytes of the footer.
    range: Range<u64>,
    footer: orc::StripeFooter,
}

/// Walks from stripe to stripe.
pub(super) struct Walker<'a> {
    source: &'a Arc<dyn ReadAt>,
    size: u64,
    tail: &'a FileTail,
    limits: &'a Limits,
    /// Bytes of the source that were read last, and their offset.
    window: (u64, Bytes),
}

impl<'a> Walker<'a> {
    pub(super) fn new(source: &'a Arc<dyn ReadAt>, size: u64, tail: &'a FileTail, limits: &'a Limits) -> Self {
        Walker { source, size, tail, limits, window: (0, Bytes::new()) }
    }

    /// The stripe at an offset, behind padding. `first_row` of the result is 0.
    ///
    /// # Errors
    /// Errors of the source and of the cancellation check.
    pub(super) fn stripe(&mut self, offset: u64, cancellation: &mut Cancellation) -> Result<Result<StripeInfo, End>> {
        let starts = offset..=self.skip_padding(offset, cancellation)?;
        let located_footer = if self.tail.framing().is_uncompressed() {
            self.footer_of_uncompressed(&starts, cancellation)?
        } else {
            self.footer_of_chunks(&starts, cancellation)?
        };
        let Some(LocatedFooter { start, range, footer }) = located_footer else { return Ok(Err(End::NoFooter)) };
        let index_length =
            footer.streams.iter().filter(|stream| index_kind(stream).is_some()).map(orc::Stream::length).sum();
        let mut stripe = StripeInfo {
            offset: start,
            index_length,
            data_length: range.start - start - index_length,
            footer_length: range.end - range.start,
            rows: 0,
            first_row: 0,
        };
        let rows = self.told_rows(&stripe, &footer, cancellation)?;
        let Some(rows) = rows.filter(|&rows| rows > 0) else { return Ok(Err(End::NoRowCount)) };
        stripe.rows = rows;
        Ok(Ok(stripe))
    }

    /// The first byte from an offset on that is not 0; the end of the source if there is none. Writers fill the rest of a
    /// block of HDFS with zeros, so that a stripe begins with a block.
    ///
    /// # Errors
    /// Errors of the source and of the cancellation check.
    pub(super) fn skip_padding(&mut self, offset: u64, cancellation: &mut Cancellation) -> Result<u64> {
        let mut at = offset;
        while at < self.size {
            cancellation.poll()?;
            let block = self.block(at, 1)?;
            match block.iter().position(|&byte| byte != 0) {
                Some(zeros) => return Ok(at + zeros as u64),
                None => at += block.len().max(1) as u64,
            }
        }
        Ok(self.size)
    }

    /// The number of rows that a stripe tells, which its tail may contradict. `None` if it does not tell it.
    ///
    /// # Errors
    /// Errors of the source and of the cancellation check.
    pub(super) fn rows_of(&self, stripe: &StripeInfo, cancellation: &mut Cancellation) -> Result<Option<u64>> {
        let range = stripe.footer();
        if stripe.check_within(self.size).is_err() || range.end - range.start > self.limits.tail {
            return Ok(None);
        }
        let stored_footer = self.bytes_beside(range)?;
        let raw = decompress_all(stored_footer, self.tail.framing(), self.limits.tail);
        let length = stripe.index_length + stripe.data_length;
        let Some(footer) = raw.ok().and_then(|raw| self.footer(raw, length)) else { return Ok(None) };
        self.told_rows(stripe, &footer, cancellation)
    }

    /// The number of rows that the row index or the values of a stripe tell.
    fn told_rows(
        &self,
        stripe: &StripeInfo,
        footer: &orc::StripeFooter,
        cancellation: &mut Cancellation,
    ) -> Result<Option<u64>> {
        match self.recorded_rows(stripe.offset, footer)? {
            None => self.counted_rows(stripe, footer, cancellation),
            recorded => Ok(recorded),
        }
    }

    /// The footer of a compressed stripe that begins at one of `starts`: the bytes before the last of them are 0. These are
    /// padding, or the first bytes of the header of a chunk.
    fn footer_of_chunks(
        &mut self,
        starts: &RangeInclusive<u64>,
        cancellation: &mut Cancellation,
    ) -> Result<Option<LocatedFooter>> {
        let (first, last) = (*starts.start(), *starts.end());
        let in_header = last.saturating_sub(HEADER_LEN - 1).max(first)..=last;
        for start in in_header.rev() {
            if let Some(located_footer) = self.footer_of_chunks_at(start, cancellation)? {
                return Ok(Some(located_footer));
            }
        }
        Ok(None)
    }

    /// The footer of a compressed stripe. All of the stripe is a sequence of chunks.
    fn footer_of_chunks_at(&mut self, start: u64, cancellation: &mut Cancellation) -> Result<Option<LocatedFooter>> {
        let framing = self.tail.framing();
        let mut at = start;
        // The last chunks that begin like a footer: their offsets, and the number of chunks up to each of them.
        let mut candidates: Vec<(u64, usize)> = Vec::new();
        let mut chunks = 0;
        loop {
            cancellation.poll()?;
            if self.size - at < HEADER_LEN {
                return Ok(None);
            }
            let header = self.bytes(at..at + HEADER_LEN)?;
            let &[a, b, c] = &*header else { return Ok(None) };
            let length = u64::from(u32::from_le_bytes([a, b, c, 0]) >> 1);
            let end = at + HEADER_LEN + length;
            // Writers of streams without values leave uncompressed chunks without bytes. Padding is no chunk.
            let is_chunk = match length {
                0 => a == 1,
                _ => framing.max_stored_chunk_size().is_none_or(|most| length + HEADER_LEN <= most),
            };
            if !is_chunk || end > self.size {
                return Ok(None);
            }
            chunks += 1;
            candidates
                .retain(|&(first, number)| chunks - number < MAX_FOOTER_CHUNKS && end - first <= self.limits.tail);
            let Ok(raw) = decompress_all(self.bytes(at..end)?, framing, self.limits.tail) else { return Ok(None) };
            let is_candidate = begins_like_footer(&raw);
            if is_candidate && let Some(footer) = self.footer(raw, at - start) {
                return Ok(Some(LocatedFooter { start, range: at..end, footer }));
            }
            for &(first, _) in candidates.iter().rev() {
                let stored_footer = self.bytes(first..end)?;
                let Ok(raw) = decompress_all(stored_footer, framing, self.limits.tail) else { continue };
                if let Some(footer) = self.footer(raw, first - start) {
                    return Ok(Some(LocatedFooter { start, range: first..end, footer }));
                }
            }
            if is_candidate {
                candidates.push((at, chunks));
            }
            at = end;
        }
    }

    /// The footer of an uncompressed stripe that begins at one of `starts`: the bytes before the last of them are 0. These
    /// are padding, or values.
    fn footer_of_uncompressed(
        &mut self,
        starts: &RangeInclusive<u64>,
        cancellation: &mut Cancellation,
    ) -> Result<Option<LocatedFooter>> {
        let mut at = *starts.end();
        while at < self.size {
            cancellation.poll()?;
            let block = self.block(at, FOOTER_START)?;
            for (index, window) in block.windows(FOOTER_START).enumerate() {
                if !begins_like_footer(window) {
                    continue;
                }
                let first = at + index as u64;
                let rest = self.bytes(first..self.size.min(first + MAX_PLAIN_FOOTER.min(self.limits.tail)))?;
                let of_streams = first - starts.end()..=first - starts.start();
                let columns = self.tail.schema.types().len();
                let is_zone = |name: &str| self.may_be_zone(name);
                let lengths = uncompressed_footer_length(&rest, columns, &of_streams, is_zone);
                let Some((length, streams)) = lengths else { continue };
                if let Some(footer) = self.footer(rest.slice(..length), streams) {
                    let range = first..first + length as u64;
                    return Ok(Some(LocatedFooter { start: first - streams, range, footer }));
                }
            }
            // The next block has the bytes that were too few for a candidate.
            at += (block.len() as u64).saturating_sub(FOOTER_START as u64 - 1).max(1);
        }
        Ok(None)
    }

    /// Whether a text may be the time zone of a stripe: a known one, or that of a file with timestamps.
    fn may_be_zone(&self, name: &str) -> bool {
        let has_timestamps = self.tail.schema.types().iter().any(|column| column.kind == Kind::Timestamp);
        WriterZone::parse(name).is_ok() || (has_timestamps && name.bytes().all(|byte| byte.is_ascii_graphic()))
    }

    /// The message of a stripe footer behind `length` bytes of streams. `None` if it is another message.
    fn footer(&self, raw: Bytes, length: u64) -> Option<orc::StripeFooter> {
        check_decoded_size(&raw, &STRIPE_FOOTER, self.limits.tail).ok()?;
        let footer = decode_message::<orc::StripeFooter>(raw).ok()?;
        let streams = footer.streams.iter().try_fold(0u64, |sum, stream| sum.checked_add(stream.length()));
        let fits = streams == Some(length) && footer.columns.len() == self.tail.schema.types().len();
        fits.then_some(footer)
    }

    /// The number of rows of a stripe, as the row index of its root records it. Nulls of the root are not counted there.
    fn recorded_rows(&self, start: u64, footer: &orc::StripeFooter) -> Result<Option<u64>> {
        let mut at = start;
        let is_present = |stream: &orc::Stream| stream.column() == 0 && stream.kind() == orc::stream::Kind::Present;
        if footer.streams.iter().any(is_present) {
            return Ok(None);
        }
        for stream in &footer.streams {
            let range = at..at + stream.length();
            at = range.end;
            if stream.column() != 0 || index_kind(stream) != Some(IndexKind::RowIndex) {
                continue;
            }
            if range.end - range.start > self.limits.tail {
                return Ok(None);
            }
            let index = decompress_all(self.bytes_beside(range)?, self.tail.framing(), self.limits.tail);
            return Ok(index.ok().and_then(|index| rows_of_index(index, self.limits.tail)));
        }
        Ok(None)
    }

    /// The number of rows of a stripe, as the values of a column tell it. `None` if no column does.
    fn counted_rows(
        &self,
        stripe: &StripeInfo,
        footer: &orc::StripeFooter,
        cancellation: &mut Cancellation,
    ) -> Result<Option<u64>> {
        let Ok(footer) = StripeFooter::from_proto(footer, (0, stripe), self.tail, &|_| true) else { return Ok(None) };
        let Some(values) = RowValues::find(self.tail, &footer) else { return Ok(None) };
        if values.length() > self.limits.memory {
            return Err(Error::limit(format!("a stream of {} bytes", values.length())));
        }
        let stored_values = self.bytes_beside(values.range.clone())?;
        match values.count(stored_values, self.tail.framing(), cancellation) {
            Ok(rows) => Ok(Some(rows)),
            Err(error) if !error.kind().is_of_file() => Err(error),
            Err(_) => Ok(None),
        }
    }

    /// Bytes of the window from an offset on, which are at least `least`, or end where the source ends.
    fn block(&mut self, at: u64, least: usize) -> Result<Bytes> {
        let bytes = self.bytes(at..self.size.min(at + least as u64))?;
        let (offset, window) = &self.window;
        let from = usize::try_from(at - offset).unwrap_or(usize::MAX);
        Ok(if from <= window.len() { window.slice(from..) } else { bytes })
    }

    /// Bytes of the source, which end where the source ends.
    fn bytes(&mut self, range: Range<u64>) -> Result<Bytes> {
        if let Some(bytes) = self.in_window(&range) {
            return Ok(bytes);
        }
        let wanted = (range.end - range.start).max(tuning::MERGE_COPY_BYTES.wide());
        let read = range.start..self.size.min(range.start.saturating_add(wanted));
        let bytes = self.read(&read)?;
        let length = usize::try_from(range.end - range.start).unwrap_or(usize::MAX).min(bytes.len());
        let head = bytes.slice(..length);
        self.window = (read.start, bytes);
        Ok(head)
    }

    /// As [`bytes`](Self::bytes), of a range before the walk: the window stays where it is.
    fn bytes_beside(&self, range: Range<u64>) -> Result<Bytes> {
        self.in_window(&range).map_or_else(|| self.read(&range), Ok)
    }

    fn in_window(&self, range: &Range<u64>) -> Option<Bytes> {
        let (offset, window) = &self.window;
        let from = usize::try_from(range.start.checked_sub(*offset)?).ok()?;
        let to = usize::try_from(range.end.checked_sub(*offset)?).ok()?;
        (to <= window.len()).then(|| window.slice(from..to))
    }

    fn read(&self, range: &Range<u64>) -> Result<Bytes> {
        self.source.read_range(range.clone())
    }
}

fn index_kind(stream: &orc::Stream) -> Option<IndexKind> {
    stream.kind.and_then(IndexKind::from_proto)
}

/// The sum of the values of all entries of a row index. `None` if an entry does not record them.
fn rows_of_index(index: Bytes, max_size: u64) -> Option<u64> {
    check_decoded_size(&index, &ROW_INDEX, max_size).ok()?;
    let entries = first_of_repeated_field(index, usize::MAX).ok()?;
    entries.into_iter().try_fold(0u64, |sum, entry| {
        let statistics = decode_message::<lazy::RowIndexEntry>(entry).ok()?.statistics?;
        check_decoded_size(&statistics, &STATISTICS, max_size).ok()?;
        sum.checked_add(decode_message::<orc::ColumnStatistics>(statistics).ok()?.number_of_values?)
    })
}

/// The length of an uncompressed stripe footer with `columns` encodings, and that of the streams before it, which is in
/// `lengths`. The footer is followed by other bytes, so that only its fields tell where it ends. `None` if the bytes are
/// another message. `is_zone` says whether a text may be a time zone.
fn uncompressed_footer_length(
    bytes: &Bytes,
    columns: usize,
    lengths: &RangeInclusive<u64>,
    is_zone: impl Fn(&str) -> bool,
) -> Option<(usize, u64)> {
    const STREAM: u8 = 0x0A;
    const ENCODING: u8 = 0x12;
    let (mut rest, mut streams, mut encodings) = (bytes.clone(), 0u64, 0);
    while encodings < columns {
        let tag = rest.first().copied()?;
        let body = next_field(&mut rest).ok()??.body?;
        match tag {
            STREAM if encodings == 0 => {
                streams = streams.checked_add(orc::Stream::decode(body).ok()?.length())?;
                if streams > *lengths.end() {
                    return None;
                }
            }
            ENCODING if lengths.contains(&streams) => encodings += 1,
            _ => return None,
        }
    }
    let end = bytes.len() - rest.len() + time_zone_length(&rest, is_zone);
    lengths.contains(&streams).then_some((end, streams))
}

/// The length of the field of the time zone at the end of a stripe footer; 0 if the bytes are those of the next stripe,
/// which may begin like the field.
fn time_zone_length(bytes: &Bytes, is_zone: impl Fn(&str) -> bool) -> usize {
    const TIMEZONE: u8 = 0x1A;
    let mut rest = bytes.clone();
    if rest.first() != Some(&TIMEZONE) {
        return 0;
    }
    let body = next_field(&mut rest).ok().flatten().and_then(|field| field.body);
    let name = body.as_deref().and_then(|body| str::from_utf8(body).ok()).filter(|name| !name.is_empty());
    if name.is_some_and(is_zone) { bytes.len() - rest.len() } else { 0 }
}
