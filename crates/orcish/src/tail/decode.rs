//! Decoder of the tail of a file.

use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use orcish_core::error::{Error, ErrorKind, Result};
use orcish_core::limits::Limits;
use orcish_io::{FileVersion, ReadAt};
use prost::Message as _;

use super::{CachedSection, Calendar, Encryption, FileTail, StatisticsCache, StripeInfo, Writer, undecodable};
use crate::codec::{Compression, Framing, decompress_all};
use crate::encryption::Variants;
use crate::proto::{FOOTER, check_decoded_size, count_fields, decode_message, lazy, orc, to_string_lossy};
use crate::schema::Schema;

/// Chunk size of a file whose postscript states none.
const DEFAULT_CHUNK_SIZE: u64 = 256 << 10;
const MAGIC: &[u8] = b"ORC";

/// The result of a step of a [`TailDecoder`].
#[derive(Debug)]
pub enum DecodeResult {
    /// The decoder needs this byte range of the file.
    NeedsData(Range<u64>),
    /// The decoded tail.
    Data(Box<FileTail>),
}

/// Decodes a tail without reading: it requests the bytes that it needs.
#[derive(Debug)]
pub struct TailDecoder<'a> {
    file_length: u64,
    limits: &'a Limits,
    /// The bytes of the tail, while the decoder needs the head of the file.
    tail: Option<Bytes>,
}

impl<'a> TailDecoder<'a> {
    /// A decoder for a file of `file_length` bytes.
    pub fn new(file_length: u64, limits: &'a Limits) -> Self {
        TailDecoder { file_length, limits, tail: None }
    }

    /// The first step. It can be skipped if any number of bytes at the end of the file have been read already: they are the
    /// argument of the first call of [`next`](Self::next) then.
    ///
    /// # Errors
    /// `Corrupt` where the file is too short.
    pub fn start(&self) -> Result<DecodeResult> {
        if self.file_length <= MAGIC.len() as u64 {
            return Err(Error::corrupt(format!("not an ORC file: {} bytes are too few", self.file_length)));
        }
        Ok(DecodeResult::NeedsData(
            self.file_length.saturating_sub(orcish_io::tuning::FIRST_READ.wide())..self.file_length,
        ))
    }

    /// The next step. `bytes` are the bytes that the last step needed.
    ///
    /// # Errors
    /// `Corrupt` where the bytes are not a tail, `LimitExceeded` where it exceeds the limits.
    pub fn next(&mut self, bytes: Bytes) -> Result<DecodeResult> {
        let (tail, head) = match self.tail.take() {
            Some(tail) => (tail, Some(bytes)),
            None => (bytes, None),
        };
        let (&length, before) = tail.split_last().ok_or_else(|| Error::corrupt("an empty tail"))?;
        let length = usize::from(length);
        let Some(at) = before.len().checked_sub(length).filter(|_| length > 0) else {
            let start = self.file_length.checked_sub(1 + length as u64);
            if let Some(start) = start.filter(|_| length > 0 && (tail.len() as u64) < self.file_length) {
                return Ok(DecodeResult::NeedsData(start..self.file_length));
            }
            let text = format!("not an ORC file: a postscript of {length} bytes does not fit into it");
            return self.not_orc(tail, head, Error::corrupt(text));
        };
        let raw = tail.slice(at..before.len());
        let postscript = match parse_postscript(&raw) {
            Ok(postscript) => postscript,
            Err(error) => return self.not_orc(tail, head, error),
        };
        let (footer_length, framing) = (postscript.footer_length(), framing(&postscript, self.limits)?);
        if footer_length > self.limits.tail {
            let max = self.limits.tail;
            return Err(Error::over("tail", format!("a footer of {footer_length} bytes, more than the {max} allowed")));
        }
        let end = self.file_length - 1 - length as u64;
        let Some(start) = end.checked_sub(footer_length) else {
            return Err(Error::corrupt(format!("a footer of {footer_length} bytes does not fit into the file")));
        };
        if start < self.file_length - tail.len() as u64 {
            return Ok(DecodeResult::NeedsData(start..self.file_length));
        }
        // Files of Hive 0.11 and before have the magic at their head only.
        if postscript.magic() != MAGIC {
            match head {
                None => {
                    self.tail = Some(tail);
                    return Ok(DecodeResult::NeedsData(0..MAGIC.len() as u64));
                }
                Some(head) if head == MAGIC => {}
                Some(_) => return Err(Error::corrupt("not an ORC file: the magic is missing")),
            }
        }
        let from = at - usize::try_from(footer_length).unwrap_or(at);
        let footer = decompress_all(tail.slice(from..at), framing, self.limits.tail)
            .map_err(|error| Error::new(error.kind(), "the footer cannot be decompressed").with_source(error))?;
        let raw = lazy::FileTail {
            postscript: Some(raw),
            footer: Some(footer),
            file_length: Some(self.file_length),
            postscript_length: Some(length as u64),
            version: None,
        };
        let mut decoded = build(raw, self.limits)?;
        // The statistics of a single stripe are the statistics of the file.
        let start = decoded.stripe_statistics.start.checked_sub(self.file_length - tail.len() as u64);
        if let Some(start) = start.and_then(|start| usize::try_from(start).ok()).filter(|_| decoded.stripes.len() > 1) {
            // A slice would keep all bytes that were read in memory.
            decoded.stripe_statistics_section = CachedSection(tail.get(start..from).map(Bytes::copy_from_slice));
        }
        Ok(DecodeResult::Data(Box::new(decoded)))
    }
}

/// Reads the tail of `source`.
///
/// # Errors
/// Errors of the source and of [`TailDecoder`], with the name of the source.
pub fn read_tail(source: &dyn ReadAt, limits: &Limits) -> Result<FileTail> {
    let in_file = |error: Error| error.in_file(source.name());
    let with_hint = |error: Error| match source.corruption_hint() {
        Some(remark) if error.kind() == ErrorKind::Corrupt => in_file(error.with_remark(&remark)),
        _ => in_file(error),
    };
    let (size, end) = source.read_suffix(source.first_read()).map_err(in_file)?;
    let mut decoder = TailDecoder::new(size, limits);
    decoder.start().map_err(with_hint)?;
    if end.is_empty() || end.len() as u64 > size {
        return Err(in_file(Error::new(ErrorKind::Io, "the source gave another number of bytes than asked for")));
    }
    let mut step = decoder.next(end).map_err(with_hint)?;
    loop {
        match step {
            DecodeResult::Data(tail) => {
                let file_version = source.version().map_err(in_file)?;
                return Ok(FileTail { file_version, ..*tail });
            }
            DecodeResult::NeedsData(range) => {
                step = decoder.next(source.read_range(range).map_err(in_file)?).map_err(with_hint)?;
            }
        }
    }
}

impl TailDecoder<'_> {
    /// The error of a file without a postscript, or the step that finds out whether it begins like an ORC file.
    fn not_orc(&mut self, tail: Bytes, head: Option<Bytes>, error: Error) -> Result<DecodeResult> {
        match (other_format(&tail), head) {
            (Some(error), _) => Err(error),
            (None, Some(head)) if head == MAGIC => Err(error.with_remark("it begins like one, and may be truncated")),
            // A postscript ends with the magic, and its length follows.
            (None, Some(_)) if !tail.split_last().is_some_and(|(_, before)| before.ends_with(MAGIC)) => {
                Err(Error::corrupt("not an ORC file: the magic is missing"))
            }
            (None, Some(_)) => Err(error),
            (None, None) if error.kind() != ErrorKind::Corrupt => Err(error),
            (None, None) => {
                self.tail = Some(tail);
                Ok(DecodeResult::NeedsData(0..MAGIC.len() as u64))
            }
        }
    }
}

/// The error for a file of another format, by the magic at its end.
fn other_format(tail: &[u8]) -> Option<Error> {
    let formats: [(&[u8], &str); 3] = [(b"PAR1", "Parquet"), (b"PARE", "Parquet"), (b"ARROW1", "Arrow IPC")];
    let (_, name) = formats.into_iter().find(|(magic, _)| tail.ends_with(magic))?;
    Some(Error::corrupt(format!("not an ORC file, but one of {name}")))
}

fn parse_postscript(raw: &Bytes) -> Result<orc::PostScript> {
    let not_orc = || Error::corrupt("not an ORC file: the postscript cannot be decoded");
    let postscript = decode_message::<orc::PostScript>(raw.clone()).map_err(|error| not_orc().with_source(error))?;
    // The postscript of DWRF has the version of the writer in the field of ORC's format version.
    if postscript.magic.is_none() && postscript.version.len() == 1 {
        return Err(Error::unsupported("a DWRF file, not an ORC file"));
    }
    Ok(postscript)
}

fn framing(postscript: &orc::PostScript, limits: &Limits) -> Result<Framing> {
    let codec = Compression::from_proto(postscript.compression)?;
    let stated = postscript.compression_block_size.filter(|&size| size > 0).unwrap_or(DEFAULT_CHUNK_SIZE);
    match usize::try_from(stated) {
        _ if codec == Compression::None => Ok(Framing { codec, chunk_size: 0 }),
        Ok(chunk_size) if chunk_size <= limits.chunk => Ok(Framing { codec, chunk_size }),
        _ => Err(Error::over(
            "chunk",
            format!("compression chunks of {stated} bytes, more than the {} allowed", limits.chunk),
        )),
    }
}

/// Builds the tail from the postscript and the decompressed footer.
pub(super) fn build(raw: lazy::FileTail, limits: &Limits) -> Result<FileTail> {
    let missing = || Error::corrupt("the tail has no postscript or no footer");
    let postscript = parse_postscript(raw.postscript.as_ref().ok_or_else(missing)?)?;
    let footer = parse_footer(raw.footer.clone().ok_or_else(missing)?, limits)?;
    let framing = framing(&postscript, limits)?;
    let tail_length = raw.postscript_length().saturating_add(postscript.footer_length()).saturating_add(1);
    let footer_start = raw.file_length().checked_sub(tail_length).ok_or_else(missing)?;
    // Stripe statistics that do not fit into the file are ignored: they are not needed to read rows.
    let statistics_start = footer_start.checked_sub(postscript.metadata_length()).unwrap_or(footer_start);
    let schema = Schema::from_proto(footer.types, limits)?;
    let encryption = footer.encryption.as_ref().and_then(Encryption::from_proto);
    let encrypted_columns = encryption.as_ref().map_or_else(Vec::new, |all| all.columns(&schema));
    let statistics_length = postscript.stripe_statistics_length();
    let variants = footer.encryption.as_ref();
    let variants = variants.map(|all| Variants::from_proto(all, &footer.stripes, statistics_length, &schema));
    let stripes = stripes(&footer.stripes, limits)?;
    // The number of rows of the footer is redundant, and wrong in an example file of Apache ORC.
    let rows = stripes.last().map_or(0, |stripe| stripe.first_row + stripe.rows);
    let item = |item: orc::UserMetadataItem| (to_string_lossy(item.name()), item.value.unwrap_or_default());
    Ok(FileTail {
        file_length: raw.file_length(),
        compression: framing.codec,
        chunk_size: framing.chunk_size,
        version: postscript.version,
        writer_version: postscript.writer_version.unwrap_or(0),
        writer: Writer::from_code(footer.writer),
        software_version: footer.software_version.as_deref().map(to_string_lossy),
        calendar: match orc::CalendarKind::try_from(footer.calendar.unwrap_or(0)) {
            Ok(orc::CalendarKind::ProlepticGregorian) => Calendar::ProlepticGregorian,
            _ => Calendar::JulianGregorian,
        },
        rows,
        row_index_stride: footer.row_index_stride.unwrap_or(0),
        header_length: footer.header_length.unwrap_or(0),
        content_length: footer.content_length.unwrap_or(0),
        schema,
        stripes,
        metadata: footer.metadata.into_iter().map(item).collect(),
        encrypted_columns,
        encryption,
        variants: variants.map(Arc::new),
        unlocked: None,
        stripe_statistics: statistics_start..footer_start,
        tail_length,
        file_version: None,
        stated_chunk_size: postscript.compression_block_size,
        // If the number of rows is wrong, the counts of the statistics are not trusted.
        statistics: if footer.number_of_rows.unwrap_or(0) == rows { footer.statistics } else { Vec::new() },
        max_decoded_size: limits.tail,
        stripe_statistics_section: CachedSection::default(),
        cache: StatisticsCache::default(),
        raw,
    })
}

/// Checks the limits of a footer, and decodes it.
fn parse_footer(footer: Bytes, limits: &Limits) -> Result<lazy::Footer> {
    const STRIPES: u32 = 3;
    const TYPES: u32 = 4;
    let in_footer = |error: Error| Error::new(error.kind(), "the footer cannot be decoded").with_source(error);
    // A stripe or a type takes at least two bytes.
    for (tag, max, what) in [(STRIPES, limits.stripes, "stripes"), (TYPES, limits.columns, "columns")] {
        let count = if footer.len() / 2 > max { count_fields(&footer, tag).map_err(in_footer)? } else { 0 };
        if count > max {
            return Err(Error::over(what, format!("{count} {what}, more than the {max} allowed")));
        }
    }
    check_decoded_size(&footer, &FOOTER, limits.tail).map_err(in_footer)?;
    decode_message::<lazy::Footer>(footer).map_err(|error| undecodable("footer", error))
}

/// The stripes. The position of a stripe is checked when the stripe is read, so other stripes can be read.
fn stripes(stripes: &[orc::StripeInformation], limits: &Limits) -> Result<Vec<StripeInfo>> {
    if stripes.len() > limits.stripes {
        return Err(Error::over(
            "stripes",
            format!("{} stripes, more than the {} allowed", stripes.len(), limits.stripes),
        ));
    }
    let mut first_row = 0u64;
    let check = |(index, stripe): (usize, &orc::StripeInformation)| {
        let info = StripeInfo {
            offset: stripe.offset(),
            index_length: stripe.index_length(),
            data_length: stripe.data_length(),
            footer_length: stripe.footer_length(),
            rows: stripe.number_of_rows(),
            first_row,
        };
        let sum = first_row.checked_add(info.rows).filter(|&sum| i64::try_from(sum).is_ok());
        first_row = sum.ok_or_else(|| Error::corrupt("more rows than 63 bits count").in_section("stripe", index))?;
        Ok(info)
    };
    stripes.iter().enumerate().map(check).collect()
}

impl FileTail {
    /// The tail of a file of these types that has no rows, and was not written.
    ///
    /// # Errors
    /// As reading a file of these types under the default limits.
    pub(crate) fn of_types(types: Vec<orc::Type>) -> Result<Self> {
        let calendar = Some(orc::CalendarKind::ProlepticGregorian.into());
        let footer = orc::Footer { types, calendar, writer: Some(Writer::ORCISH), ..orc::Footer::default() };
        let footer = footer.encode_to_vec();
        let magic = Some(Bytes::from_static(MAGIC));
        let footer_length = Some(footer.len() as u64);
        let postscript = orc::PostScript { magic, footer_length, ..orc::PostScript::default() }.encode_to_vec();
        let postscript_length = Some(postscript.len() as u64);
        let file_length = Some(footer.len() as u64 + postscript.len() as u64 + 1);
        let raw = lazy::FileTail {
            postscript: Some(postscript.into()),
            footer: Some(footer.into()),
            file_length,
            postscript_length,
            version: None,
        };
        build(raw, &Limits::default())
    }

    /// Decodes a tail that [`to_bytes`](Self::to_bytes) has serialized.
    ///
    /// # Errors
    /// `Corrupt` where the bytes are not a tail, `LimitExceeded` where it exceeds the limits.
    pub fn from_bytes(bytes: &[u8], limits: &Limits) -> Result<Self> {
        let mut raw = lazy::FileTail::decode(bytes).map_err(|error| undecodable("file tail", error))?;
        let version = raw.version.take().map(|version| FileVersion::from_bytes(&version));
        let not_tail = |error| Error::corrupt("the file tail cannot be decoded").with_source(error);
        let file_version = version.transpose().map_err(not_tail)?;
        Ok(FileTail { file_version, ..build(raw, limits)? })
    }
}
