//! Merging of files: the bytes of stripes are copied without decoding.

mod compatibility;

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use compatibility::{LogicalType, check_logical_types, check_tails, logical_types, stored_arrow_schema};
use orcish_core::cancel::{CancelCheck, Cancellation};
use orcish_core::error::{Error, Result};
use orcish_core::limits::Limits;
use orcish_io::{ReadAt, Sink};

use super::compressors::{Compressors, StreamCompression};
use super::file::Written;
use super::options::Version;
use super::stream_options::StreamOptions;
use super::tail::{MAGIC, tail_bytes};
use crate::codec::{Compression, decompress_all};
use crate::proto::{
    STATISTICS, count_fields, decode_message, decoded_size, first_of_repeated_field, lazy, orc, to_string_lossy,
};
use crate::read::ARROW_SCHEMA_KEY;
use crate::statistics::{heap_size, merge_proto};
use crate::stripe::StripeFooter;
use crate::tail::{FileTail, StripeInfo, overlapping_stripes, read_tail, undecodable, undecodable_statistics};
use crate::tuning;

/// The stripes of a source file.
struct SourceFile {
    source: Arc<dyn ReadAt>,
    stripes: Vec<StripeInfo>,
    num_rows: u64,
    /// Encoded stripe statistics. `None` if their number is not the number of stripes.
    statistics: Option<Vec<Bytes>>,
}

impl SourceFile {
    /// Checks the stripes of a file, and reads its stripe statistics.
    fn try_new(
        source: &Arc<dyn ReadAt>,
        tail: FileTail,
        memory: &mut MemoryBudget<'_>,
        cancellation: &mut Cancellation,
    ) -> Result<Self> {
        memory
            .reserve((tail.stripes.len() * (size_of::<StripeInfo>() + size_of::<orc::StripeInformation>())) as u64)?;
        for (index, stripe) in tail.stripes.iter().enumerate() {
            cancellation.poll()?;
            check_stripe(&**source, (index, stripe), &tail, memory.limits)
                .map_err(|error| error.in_section("stripe", index))?;
        }
        // A small file with overlapping stripes could make a merged file of any size.
        if let Some((stripe, before)) = overlapping_stripes(&tail.stripes).first() {
            let text = format!("it has bytes of stripe {before}: stripes that overlap are not merged");
            return Err(Error::unsupported(text).in_section("stripe", *stripe));
        }
        let range = tail.stripe_statistics.clone();
        let compressed = match tail.stored_stripe_statistics() {
            Some(compressed) => compressed,
            None => {
                memory.check(range.end - range.start)?;
                source.read_range(range)?
            }
        };
        let section = decompress_all(compressed, tail.framing(), memory.limits.tail.min(memory.available()))
            .map_err(undecodable_statistics)?;
        memory.reserve(section.len() as u64 + (tail.stripes.len() * size_of::<Bytes>()) as u64)?;
        let stripes = tail.stripes.len();
        let is_complete = count_fields(&section, 1).map_err(undecodable_statistics)? == stripes;
        let statistics = is_complete
            .then(|| first_of_repeated_field(section, stripes))
            .transpose()
            .map_err(undecodable_statistics)?;
        Ok(SourceFile { source: source.clone(), stripes: tail.stripes, num_rows: tail.rows, statistics })
    }
}

/// Checks that the streams in the footer of a stripe are within the stripe.
fn check_stripe(
    source: &dyn ReadAt,
    (index, stripe): (usize, &StripeInfo),
    tail: &FileTail,
    limits: &Limits,
) -> Result<()> {
    if stripe.footer_length > limits.tail {
        return Err(Error::over("tail", format!("a footer of {} bytes, more than allowed", stripe.footer_length)));
    }
    stripe.check_within(tail.file_length.saturating_sub(tail.tail_length))?;
    let footer = source.read_range(stripe.footer())?;
    StripeFooter::parse(footer, (index, stripe), tail, limits, &|_| true).map(|_| ())
}

/// The memory of a merge, which is limited by [`Limits::memory`].
struct MemoryBudget<'a> {
    limits: &'a Limits,
    used: u64,
}

impl MemoryBudget<'_> {
    fn available(&self) -> u64 {
        self.limits.memory.saturating_sub(self.used)
    }

    /// Checks that more bytes are available.
    fn check(&self, bytes: u64) -> Result<()> {
        let max = self.limits.memory;
        if bytes > self.available() {
            return Err(Error::over(
                "memory",
                format!("the tails of the files take more than the {max} bytes of memory allowed"),
            ));
        }
        Ok(())
    }

    fn reserve(&mut self, bytes: u64) -> Result<()> {
        self.check(bytes)?;
        self.used += bytes;
        Ok(())
    }
}

/// The footer of the merged file, as far as files have been added.
struct MergedFooter {
    /// Name of the first file.
    first_name: String,
    /// Tail of the first file, without its stripes.
    first: FileTail,
    /// Logical types of the first file.
    logical_types: Vec<Option<LogicalType>>,
    metadata: Vec<orc::UserMetadataItem>,
    /// The values of each key of the metadata, in order.
    metadata_by_key: HashMap<Bytes, Vec<Bytes>>,
    /// Whether all files have the same Arrow schema.
    has_arrow_schema: bool,
    /// Statistics of all files. `None` if a file has none.
    statistics: Option<Vec<orc::ColumnStatistics>>,
    /// Bytes of strings and lists of the statistics that are reserved from the memory budget.
    statistics_bytes: u64,
    /// Largest chunk size of all files.
    chunk_size: usize,
}

impl MergedFooter {
    fn try_new(name: &str, tail: &FileTail, memory: &mut MemoryBudget<'_>) -> Result<Self> {
        let statistics = decode_statistics(tail, memory)?;
        let statistics_bytes = statistics.iter().flatten().map(heap_size).sum();
        Ok(MergedFooter { statistics, statistics_bytes, ..Self::without_statistics(name, tail, memory)? })
    }

    fn without_statistics(name: &str, tail: &FileTail, memory: &mut MemoryBudget<'_>) -> Result<Self> {
        let metadata = tail.stored_metadata()?;
        memory.reserve(metadata.iter().map(item_size).sum())?;
        let mut first = tail.clone();
        first.stripes = Vec::new();
        Ok(MergedFooter {
            first_name: name.to_owned(),
            logical_types: logical_types(tail),
            metadata_by_key: values_by_key(&metadata),
            metadata,
            has_arrow_schema: true,
            statistics_bytes: 0,
            statistics: None,
            chunk_size: tail.chunk_size,
            first,
        })
    }

    /// Adds another file, after a check that it can be merged with the first.
    fn add(&mut self, other: &FileTail, memory: &mut MemoryBudget<'_>) -> Result<()> {
        check_tails(&self.first_name, &self.first, other)?;
        check_logical_types(&self.first_name, &self.first, &self.logical_types, other)?;
        self.add_metadata(other, memory)?;
        // The statistics of the other file are dropped after merging.
        let mut temporary = MemoryBudget { limits: memory.limits, used: memory.used };
        match (&mut self.statistics, decode_statistics(other, &mut temporary)?) {
            (Some(statistics), Some(other)) => {
                statistics.iter_mut().zip(&other).for_each(|(merged, other)| merge_proto(merged, other));
                let bytes = statistics.iter().map(heap_size).sum::<u64>();
                memory.reserve(bytes.saturating_sub(self.statistics_bytes))?;
                self.statistics_bytes = self.statistics_bytes.max(bytes);
            }
            (statistics, _) => *statistics = None,
        }
        self.chunk_size = self.chunk_size.max(other.chunk_size);
        Ok(())
    }

    fn add_metadata(&mut self, other: &FileTail, memory: &mut MemoryBudget<'_>) -> Result<()> {
        self.has_arrow_schema &= stored_arrow_schema(&self.first) == stored_arrow_schema(other);
        let items = other.stored_metadata()?;
        let other_by_key = values_by_key(&items);
        // The values of a key are compared once, even if the file has the key many times.
        let differs = |(name, values): &(&Bytes, &Vec<Bytes>)| {
            self.metadata_by_key.get(*name).is_some_and(|merged| merged != *values)
                && **name != ARROW_SCHEMA_KEY.as_bytes()
        };
        let differing: HashSet<&[u8]> = other_by_key.iter().filter(differs).map(|(name, _)| name.as_ref()).collect();
        // The error names the first key of the file: the order of a hash map is random.
        if let Some(item) = items.iter().find(|item| differing.contains(item.name())) {
            let name = to_string_lossy(item.name());
            let text = format!("the value of {name:?} in the user metadata is not that of {}", self.first_name);
            return Err(Error::invalid(format!("{text}: they cannot be merged")));
        }
        let is_new = |item: &&orc::UserMetadataItem| !self.metadata_by_key.contains_key(item.name());
        let added: Vec<_> = items.iter().filter(is_new).collect();
        memory.reserve(added.iter().map(|item| item_size(item)).sum())?;
        // Slices of the tail would keep the whole tail in memory.
        let copied = |bytes: &Option<Bytes>| bytes.as_ref().map(|bytes| Bytes::copy_from_slice(bytes));
        let added = added
            .into_iter()
            .map(|item| orc::UserMetadataItem { name: copied(&item.name), value: copied(&item.value) });
        let added: Vec<_> = added.collect();
        self.metadata_by_key.extend(values_by_key(&added));
        self.metadata.extend(added);
        Ok(())
    }

    /// How the tail of the merged file is stored.
    fn tail_options(&self) -> Result<StreamOptions> {
        let mut framing = self.first.framing();
        framing.chunk_size = self.chunk_size;
        // There is no LZO compressor. The chunks of the tail are stored uncompressed.
        let codec = if framing.codec == Compression::Lzo { Compression::None } else { framing.codec };
        Ok(StreamOptions { framing, compression: StreamCompression::try_new(codec, None)?, version: Version::V0_12 })
    }

    /// The footer of the merged file, without its stripes.
    fn to_proto(&self) -> Result<orc::Footer> {
        let first = self.first.footer_without_lists()?;
        let mut metadata = self.metadata.clone();
        metadata.retain(|item| self.has_arrow_schema || item.name() != ARROW_SCHEMA_KEY.as_bytes());
        Ok(orc::Footer {
            types: first.types,
            metadata,
            statistics: self.statistics.iter().flatten().cloned().collect(),
            row_index_stride: first.row_index_stride,
            writer: first.writer,
            calendar: first.calendar,
            software_version: first.software_version,
            ..orc::Footer::default()
        })
    }
}

/// The values of each key, in order.
fn values_by_key(items: &[orc::UserMetadataItem]) -> HashMap<Bytes, Vec<Bytes>> {
    let mut values: HashMap<Bytes, Vec<Bytes>> = HashMap::new();
    for item in items {
        // An absent field of a message has the default value of its type.
        let bytes = |field: &Option<Bytes>| field.clone().unwrap_or_default();
        let (name, value) = (bytes(&item.name), bytes(&item.value));
        values.entry(name).or_default().push(value);
    }
    values
}

/// Bytes of memory of a key and its value.
fn item_size(item: &orc::UserMetadataItem) -> u64 {
    (item.name().len() + item.value().len() + 3 * size_of::<orc::UserMetadataItem>()) as u64
}

/// The column statistics of a file, which have at most the bytes of a tail. `None` if their number is not the number of
/// columns.
fn decode_statistics(tail: &FileTail, memory: &mut MemoryBudget<'_>) -> Result<Option<Vec<orc::ColumnStatistics>>> {
    let Some(encoded) = tail.stored_statistics() else { return Ok(None) };
    memory.reserve((encoded.len() * size_of::<orc::ColumnStatistics>()) as u64)?;
    let mut remaining = memory.limits.tail;
    let decode = |(id, bytes): (u32, &Bytes)| {
        let decoded = decoded_size(bytes, &STATISTICS, memory.available().min(remaining)).and_then(|size| {
            memory.reserve(size)?;
            remaining = remaining.saturating_sub(size);
            decode_message::<orc::ColumnStatistics>(bytes.clone())
                .map_err(|error| undecodable("column statistics", error))
        });
        decoded.map_err(|error| error.in_column(&tail.schema.path(id)))
    };
    (0u32..).zip(encoded).map(decode).collect::<Result<_>>().map(Some)
}

/// Writes the stripes of `sources`, in order, as one file. The stripes are copied with their encodings and indexes. The
/// merged file has the user metadata and the merged statistics of all sources, and states the writer of the sources.
///
/// All sources must have the same types and type attributes, compression, format version, row index stride, writer,
/// writer version and calendar. The user metadata may have different keys, but not different values of a key. If the
/// stored Arrow schemas differ, the merged file has none. This is an error if a column has durations, times, intervals
/// or instants only because of the Arrow schema.
///
/// The memory for the tails of all sources is limited by `limits.memory`. The bytes of stripes that are written are counted
/// in `progress`, which the cancellation check or another thread may load.
///
/// # Errors
/// `InvalidArgument` with the file and the property that differs from the first file; `Unsupported` for encrypted files
/// and for overlapping stripes; `Corrupt` for streams outside of their stripe; `LimitExceeded`; the errors of the
/// sources, the sink and the cancellation check. No file appears after an error.
pub fn merge(
    sources: &[Arc<dyn ReadAt>],
    sink: Box<dyn Sink>,
    limits: &Limits,
    check: Option<&CancelCheck>,
    progress: Option<&AtomicU64>,
) -> Result<Written> {
    let mut cancellation = Cancellation::new(check.cloned());
    let (merged, files) = open_sources(sources, limits, &mut cancellation)?;
    write(&merged, files, sink, &mut cancellation, progress)
}

/// Writes some stripes of a source as one file, which has the settings, types and user metadata of `tail`, and no
/// statistics.
///
/// # Errors
/// As [`merge`].
pub(super) fn write_stripes(
    source: &Arc<dyn ReadAt>,
    tail: &FileTail,
    stripes: &[StripeInfo],
    sink: Box<dyn Sink>,
    limits: &Limits,
    check: Option<&CancelCheck>,
) -> Result<Written> {
    let mut memory = MemoryBudget { limits, used: 0 };
    let merged = MergedFooter::without_statistics(source.name(), tail, &mut memory)?;
    let num_rows = stripes.iter().map(|stripe| stripe.rows).sum();
    let file = SourceFile { source: source.clone(), stripes: stripes.to_vec(), num_rows, statistics: None };
    write(&merged, vec![file], sink, &mut Cancellation::new(check.cloned()), None)
}

fn write(
    merged: &MergedFooter,
    files: Vec<SourceFile>,
    mut sink: Box<dyn Sink>,
    cancellation: &mut Cancellation,
    progress: Option<&AtomicU64>,
) -> Result<Written> {
    let mut footer = merged.to_proto()?;
    let rows = files.iter().try_fold(0u64, |rows, file| rows.checked_add(file.num_rows));
    let rows = rows.filter(|&rows| i64::try_from(rows).is_ok());
    let rows = rows.ok_or_else(|| Error::invalid("the files have more rows than 63 bits count"))?;

    let target = sink.name().to_owned();
    let in_target = |error: Error| error.in_file(&target);
    sink.write(MAGIC.as_bytes()).map_err(in_target)?;
    let mut offset = MAGIC.len() as u64;
    let mut metadata = Some(Vec::new());
    for file in files {
        for stripe in &file.stripes {
            let range = stripe.offset..stripe.footer().end;
            let length = range.end - range.start;
            copy(&*file.source, range, &mut *sink, cancellation, progress)
                .map_err(|error| error.in_file(file.source.name()))?;
            footer.stripes.push(stripe_information(stripe, offset));
            offset += length;
        }
        metadata = metadata.zip(file.statistics).map(|(mut merged, file)| {
            merged.extend(file);
            merged
        });
    }
    footer.number_of_rows = Some(rows);
    // Stripes of which some have no statistics are stored without statistics.
    let metadata = lazy::Metadata { stripe_stats: metadata.into_iter().flatten().collect() };
    let postscript = orc::PostScript {
        version: merged.first.version.clone(),
        writer_version: Some(merged.first.writer_version),
        ..orc::PostScript::default()
    };
    let options = merged.tail_options()?;
    let stripes = footer.stripes.len();
    let bytes = tail_bytes(&metadata, &mut footer, postscript, offset, options, &mut Compressors::default())?;
    sink.write(&bytes).and_then(|()| sink.sync()).map_err(in_target)?;
    cancellation.poll_now()?;
    sink.finish().map_err(in_target)?;
    Ok(Written { rows, bytes: offset + bytes.len() as u64, stripes })
}

/// Reads the tails of the sources, which have to fit together.
fn open_sources(
    sources: &[Arc<dyn ReadAt>],
    limits: &Limits,
    cancellation: &mut Cancellation,
) -> Result<(MergedFooter, Vec<SourceFile>)> {
    let mut memory = MemoryBudget { limits, used: 0 };
    let mut merged: Option<MergedFooter> = None;
    let mut files = Vec::with_capacity(sources.len());
    for source in sources {
        let mut open = || {
            cancellation.poll()?;
            let tail = read_tail(&**source, limits)?;
            if !tail.encrypted_columns.is_empty() {
                return Err(Error::unsupported("a file with encrypted columns is not merged"));
            }
            match &mut merged {
                None => merged = Some(MergedFooter::try_new(source.name(), &tail, &mut memory)?),
                Some(merged) => merged.add(&tail, &mut memory)?,
            }
            SourceFile::try_new(source, tail, &mut memory, cancellation)
        };
        files.push(open().map_err(|error| error.in_file(source.name()))?);
    }
    let merged = merged.ok_or_else(|| Error::invalid("there are no files to merge"))?;
    Ok((merged, files))
}

/// The entry of the footer for a stripe that was copied to an offset.
fn stripe_information(stripe: &StripeInfo, offset: u64) -> orc::StripeInformation {
    orc::StripeInformation {
        offset: Some(offset),
        index_length: Some(stripe.index_length),
        data_length: Some(stripe.data_length),
        footer_length: Some(stripe.footer_length),
        number_of_rows: Some(stripe.rows),
        ..orc::StripeInformation::default()
    }
}

/// Copies bytes in blocks of limited size.
fn copy(
    source: &dyn ReadAt,
    range: Range<u64>,
    sink: &mut dyn Sink,
    cancellation: &mut Cancellation,
    progress: Option<&AtomicU64>,
) -> Result<()> {
    let mut offset = range.start;
    while offset < range.end {
        cancellation.poll()?;
        let end = range.end.min(offset + tuning::MERGE_COPY_BYTES.wide());
        let bytes = source.read_range(offset..end)?;
        sink.write(&bytes).map_err(|error| error.in_file(sink.name()))?;
        if let Some(done) = progress {
            done.fetch_add(end - offset, Ordering::Relaxed);
        }
        offset = end;
    }
    Ok(())
}
