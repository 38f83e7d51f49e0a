//! Files put together stripe by stripe: bytes are copied, nothing is decoded.

mod alike;

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::Arc;

use alike::{Meaning, arrow_schema_of, check_alike, check_meanings, meanings};
use bytes::Bytes;
use orcish_core::cancel::{CancelCheck, Cancellation};
use orcish_core::error::{Error, ErrorKind, Result};
use orcish_core::limits::Limits;
use orcish_io::{ReadAt, Sink};
use prost::Message as _;

use super::compressors::{Choice, Compressors};
use super::file::Written;
use super::options::Version;
use super::streams::Layout;
use super::tail::{MAGIC, tail_bytes};
use crate::codec::{Compression, decompress_all};
use crate::proto::{STATISTICS, count, first_listed, lazy, lossy, orc, weighed};
use crate::read::ARROW_SCHEMA_KEY;
use crate::statistics::{bytes_beside, merge_proto};
use crate::stripe::StripeFooter;
use crate::tail::{FileTail, StripeInfo, read_tail, shared_bytes, undecodable, undecodable_statistics};
use crate::tuning;

/// A file that is to be merged, and what is kept of it.
struct Part {
    source: Arc<dyn ReadAt>,
    stripes: Vec<StripeInfo>,
    rows: u64,
    /// Statistics of the stripes, not parsed; none where there are not as many.
    statistics: Option<Vec<Bytes>>,
}

impl Part {
    /// Takes of a file what merging it needs, once its stripes are seen to hold their streams.
    fn new(
        source: &Arc<dyn ReadAt>,
        tail: FileTail,
        held: &mut Held<'_>,
        cancellation: &mut Cancellation,
    ) -> Result<Self> {
        held.add((tail.stripes.len() * (size_of::<StripeInfo>() + size_of::<orc::StripeInformation>())) as u64)?;
        for (index, stripe) in tail.stripes.iter().enumerate() {
            cancellation.poll()?;
            check_stripe(&**source, stripe, &tail, held.limits).map_err(|error| error.in_section("stripe", index))?;
        }
        // Copies of bytes that stripes share would make any number of bytes of a small file.
        if let Some((stripe, before)) = shared_bytes(&tail.stripes).first() {
            let text = format!("it has bytes of stripe {before}: stripes that overlap are not merged");
            return Err(Error::unsupported(text).in_section("stripe", *stripe));
        }
        let range = tail.stripe_statistics.clone();
        let stored = match tail.stored_stripe_statistics() {
            Some(stored) => stored,
            None => {
                held.fits(range.end - range.start)?;
                source.read_ranges(std::slice::from_ref(&range))?.pop().unwrap_or_default()
            }
        };
        let section = decompress_all(stored, tail.framing(), held.limits.tail.min(held.left()))?;
        held.add(section.len() as u64 + (tail.stripes.len() * size_of::<Bytes>()) as u64)?;
        let stripes = tail.stripes.len();
        let is_whole = count(&section, 1).map_err(undecodable_statistics)? == stripes;
        let statistics =
            is_whole.then(|| first_listed(section, stripes)).transpose().map_err(undecodable_statistics)?;
        Ok(Part { source: source.clone(), stripes: tail.stripes, rows: tail.rows, statistics })
    }
}

/// Whether the streams of a stripe are within it, as its footer has them.
fn check_stripe(source: &dyn ReadAt, stripe: &StripeInfo, tail: &FileTail, limits: &Limits) -> Result<()> {
    if stripe.footer_length > limits.tail {
        return Err(Error::over("tail", format!("a footer of {} bytes, more than allowed", stripe.footer_length)));
    }
    stripe.check_within(tail.file_length.saturating_sub(tail.tail_length))?;
    let range = stripe.footer();
    let stored = source.read_ranges(std::slice::from_ref(&range))?.pop().unwrap_or_default();
    StripeFooter::parse(stored, stripe, tail, limits, &|_| true).map(|_| ())
}

/// The bytes that a merge holds.
struct Held<'a> {
    limits: &'a Limits,
    bytes: u64,
}

impl Held<'_> {
    fn left(&self) -> u64 {
        self.limits.memory.saturating_sub(self.bytes)
    }

    /// Whether so many more may be held.
    fn fits(&self, bytes: u64) -> Result<()> {
        let most = self.limits.memory;
        if bytes > self.left() {
            return Err(Error::over(
                "memory",
                format!("the tails of the files take more than the {most} bytes of memory allowed"),
            ));
        }
        Ok(())
    }

    fn add(&mut self, bytes: u64) -> Result<()> {
        self.fits(bytes)?;
        self.bytes += bytes;
        Ok(())
    }
}

/// What the files have in common so far, and the statistics of all their rows.
struct Common {
    /// Name and tail of the first, whose stripes are gone.
    name: String,
    tail: FileTail,
    meanings: Vec<Option<Meaning>>,
    metadata: Vec<orc::UserMetadataItem>,
    /// The values of each key, in their order.
    known: HashMap<Bytes, Vec<Bytes>>,
    has_schema: bool,
    statistics: Vec<orc::ColumnStatistics>,
    /// Bytes of texts and lists that the statistics have, so far as they are held.
    of_statistics: u64,
    chunk_size: usize,
}

impl Common {
    fn new(name: &str, tail: &FileTail, held: &mut Held<'_>) -> Result<Self> {
        let metadata = tail.stored_metadata()?;
        held.add(metadata.iter().map(size_of_item).sum())?;
        let mut first = tail.clone();
        first.stripes = Vec::new();
        let statistics = statistics_of(tail, held)?.unwrap_or_default();
        Ok(Common {
            name: name.to_owned(),
            meanings: meanings(tail),
            known: by_key(&metadata),
            metadata,
            has_schema: true,
            of_statistics: statistics.iter().map(bytes_beside).sum(),
            statistics,
            chunk_size: tail.chunk_size,
            tail: first,
        })
    }

    /// Takes in another file, which has to be like the first.
    fn add(&mut self, other: &FileTail, held: &mut Held<'_>) -> Result<()> {
        check_alike(&self.name, &self.tail, other)?;
        check_meanings(&self.name, &self.tail, &self.meanings, other)?;
        self.add_metadata(other, held)?;
        let mut own = Held { limits: held.limits, bytes: held.bytes };
        match statistics_of(other, &mut own)? {
            Some(more) if !self.statistics.is_empty() => {
                self.statistics.iter_mut().zip(&more).for_each(|(all, more)| merge_proto(all, more));
                let bytes = self.statistics.iter().map(bytes_beside).sum::<u64>();
                held.add(bytes.saturating_sub(self.of_statistics))?;
                self.of_statistics = self.of_statistics.max(bytes);
            }
            // Where one file has none, nothing is known.
            _ => self.statistics.clear(),
        }
        self.chunk_size = self.chunk_size.max(other.chunk_size);
        Ok(())
    }

    fn add_metadata(&mut self, other: &FileTail, held: &mut Held<'_>) -> Result<()> {
        // An Arrow schema that is not that of all files is left out.
        self.has_schema &= arrow_schema_of(&self.tail) == arrow_schema_of(other);
        let items = other.stored_metadata()?;
        let own = by_key(&items);
        // The values of a key are compared once, however often the key is there.
        let differs = |(name, values): &(&Bytes, &Vec<Bytes>)| {
            self.known.get(*name).is_some_and(|known| known != *values) && **name != ARROW_SCHEMA_KEY.as_bytes()
        };
        let differing: HashSet<&[u8]> = own.iter().filter(differs).map(|(name, _)| name.as_ref()).collect();
        // The first one in the file is named, as the order of a map is another one each time.
        if let Some(item) = items.iter().find(|item| differing.contains(item.name())) {
            let name = lossy(item.name());
            let text = format!("the value of {name:?} in the user metadata is not that of {}", self.name);
            return Err(Error::invalid(format!("{text}: they cannot be merged")));
        }
        let is_new = |item: &&orc::UserMetadataItem| !self.known.contains_key(item.name());
        let added: Vec<_> = items.iter().filter(is_new).collect();
        held.add(added.iter().map(|item| size_of_item(item)).sum())?;
        // Copies, so that the tail does not stay in memory.
        let copied = |bytes: &Option<Bytes>| bytes.as_ref().map(|bytes| Bytes::copy_from_slice(bytes));
        let added = added
            .into_iter()
            .map(|item| orc::UserMetadataItem { name: copied(&item.name), value: copied(&item.value) });
        let added: Vec<_> = added.collect();
        self.known.extend(by_key(&added));
        self.metadata.extend(added);
        Ok(())
    }

    /// The footer of all files together.
    fn footer(&self) -> Result<orc::Footer> {
        let first = self.tail.footer_without_lists()?;
        let mut metadata = self.metadata.clone();
        metadata.retain(|item| self.has_schema || item.name() != ARROW_SCHEMA_KEY.as_bytes());
        Ok(orc::Footer {
            types: first.types,
            metadata,
            statistics: self.statistics.clone(),
            row_index_stride: first.row_index_stride,
            writer: first.writer,
            calendar: first.calendar,
            software_version: first.software_version,
            ..orc::Footer::default()
        })
    }
}

/// The values of each key, in their order.
fn by_key(items: &[orc::UserMetadataItem]) -> HashMap<Bytes, Vec<Bytes>> {
    let mut found: HashMap<Bytes, Vec<Bytes>> = HashMap::new();
    for item in items {
        let (name, value) = (item.name.clone().unwrap_or_default(), item.value.clone().unwrap_or_default());
        found.entry(name).or_default().push(value);
    }
    found
}

/// Bytes that a key and its value take.
fn size_of_item(item: &orc::UserMetadataItem) -> u64 {
    (item.name().len() + item.value().len() + 3 * size_of::<orc::UserMetadataItem>()) as u64
}

/// Statistics of the columns over the whole file; none where there are not as many as columns.
fn statistics_of(tail: &FileTail, held: &mut Held<'_>) -> Result<Option<Vec<orc::ColumnStatistics>>> {
    let Some(stored) = tail.stored_statistics() else { return Ok(None) };
    held.add((stored.len() * size_of::<orc::ColumnStatistics>()) as u64)?;
    let decode = |(id, bytes): (u32, &Bytes)| {
        let decoded = weighed(bytes, &STATISTICS, held.left()).and_then(|weight| {
            held.add(weight)?;
            orc::ColumnStatistics::decode(bytes.clone()).map_err(|error| undecodable("column statistics", error))
        });
        decoded.map_err(|error| error.in_column(&tail.schema.path(id)))
    };
    (0u32..).zip(stored).map(decode).collect::<Result<_>>().map(Some)
}

/// Writes the stripes of `sources`, in their order, as one file. The result has the rows, the encodings, the indexes and
/// the user metadata of the sources, and says that it is of their writer; the statistics of the file are merged.
///
/// All sources have to be alike: the types with their attributes, the compression, the version of the format, the stride
/// of the row index, the writer and its version, the calendar. User metadata may differ in their keys, but not in the
/// values of one. An Arrow schema that is not that of all is left out, where that changes no values: columns are durations,
/// times, intervals, or instants with the zone of their writer, by their Arrow schema, which has to be the same in all.
///
/// What is kept of the tails of all files takes no more than `limits.memory`.
///
/// # Errors
/// `InvalidArgument` that names the file and what of it is not as in the first; `Unsupported` for encrypted files, and for
/// those whose stripes overlap;
/// `Corrupt` where streams are not within their stripe; `LimitExceeded`; those of the sources and the sink. Nothing
/// appears under the name then.
pub fn merge(
    sources: &[Arc<dyn ReadAt>],
    mut sink: Box<dyn Sink>,
    limits: &Limits,
    check: Option<&CancelCheck>,
) -> Result<Written> {
    let mut cancellation = Cancellation::new(check.cloned());
    let mut held = Held { limits, bytes: 0 };
    let mut common: Option<Common> = None;
    let mut parts = Vec::with_capacity(sources.len());
    for source in sources {
        let mut open = || {
            cancellation.poll()?;
            let tail = read_tail(&**source, limits)?;
            if !tail.encrypted_columns.is_empty() {
                return Err(Error::unsupported("a file with encrypted columns is not merged"));
            }
            match &mut common {
                None => common = Some(Common::new(source.name(), &tail, &mut held)?),
                Some(common) => common.add(&tail, &mut held)?,
            }
            Part::new(source, tail, &mut held, &mut cancellation)
        };
        parts.push(open().map_err(|error| error.in_file(source.name()))?);
    }
    let Some(common) = common else {
        return Err(Error::invalid("there are no files to merge"));
    };
    let mut footer = common.footer()?;
    let rows = parts.iter().try_fold(0u64, |rows, part| rows.checked_add(part.rows));
    let rows = rows.filter(|&rows| i64::try_from(rows).is_ok());
    let rows = rows.ok_or_else(|| Error::invalid("the files have more rows than 63 bits count"))?;

    let target = sink.name().to_owned();
    let of_target = |error: Error| error.in_file(&target);
    sink.write(MAGIC.as_bytes()).map_err(of_target)?;
    let mut offset = MAGIC.len() as u64;
    let mut metadata = Some(Vec::new());
    for part in parts {
        for stripe in &part.stripes {
            let range = stripe.offset..stripe.footer().end;
            let length = range.end - range.start;
            copy(&*part.source, range, &mut *sink, &mut cancellation)
                .map_err(|error| error.in_file(part.source.name()))?;
            footer.stripes.push(orc::StripeInformation {
                offset: Some(offset),
                index_length: Some(stripe.index_length),
                data_length: Some(stripe.data_length),
                footer_length: Some(stripe.footer_length),
                number_of_rows: Some(stripe.rows),
                ..orc::StripeInformation::default()
            });
            offset += length;
        }
        metadata = metadata.zip(part.statistics).map(|(mut all, own)| {
            all.extend(own);
            all
        });
    }
    footer.number_of_rows = Some(rows);
    let metadata = lazy::Metadata { stripe_stats: metadata.unwrap_or_default() };
    let postscript = orc::PostScript {
        version: common.tail.version.clone(),
        writer_version: Some(common.tail.writer_version),
        ..orc::PostScript::default()
    };
    let mut framing = common.tail.framing();
    framing.chunk_size = common.chunk_size;
    // What cannot be compressed is stored as it is.
    let codec = if framing.codec == Compression::Lzo { Compression::None } else { framing.codec };
    let layout = Layout { framing, choice: Choice::new(codec, None)?, version: Version::V0_12 };
    let stripes = footer.stripes.len();
    let bytes = tail_bytes(&metadata, &mut footer, postscript, offset, layout, &mut Compressors::default())?;
    sink.write(&bytes).and_then(|()| sink.sync()).map_err(of_target)?;
    cancellation.poll_now()?;
    sink.finish().map_err(of_target)?;
    Ok(Written { rows, bytes: offset + bytes.len() as u64, stripes })
}

/// Copies bytes, some at a time.
fn copy(source: &dyn ReadAt, range: Range<u64>, sink: &mut dyn Sink, cancellation: &mut Cancellation) -> Result<()> {
    let mut at = range.start;
    while at < range.end {
        cancellation.poll()?;
        let part = at..range.end.min(at + tuning::BYTES_MERGED.wide());
        let bytes = source.read_ranges(std::slice::from_ref(&part))?.pop().unwrap_or_default();
        if bytes.len() as u64 != part.end - part.start {
            return Err(Error::new(ErrorKind::Io, "the source gave fewer bytes than were asked for"));
        }
        sink.write(&bytes).map_err(|error| error.in_file(sink.name()))?;
        at = part.end;
    }
    Ok(())
}
