//! Stripes (ORCv1, Stripes): the footer, and the streams of the columns that are read.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use orcish_core::error::{Error, Result};
use orcish_core::limits::Limits;
use orcish_io::{ReadAt, coalesce_ranges, read_coalesced, slice_range};
use prost::Message as _;

use crate::codec::{Framing, SparseStream, Stream, decompress_all};
use crate::memory::Memory;
use crate::proto::{STRIPE_FOOTER, check_decoded_size, orc, to_string_lossy};
use crate::tail::{FileTail, StripeInfo, undecodable};

/// Kind of a stream that holds data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "the names are the specification's")]
pub enum StreamKind {
    Present,
    Data,
    Length,
    DictionaryData,
    DictionaryCount,
    Secondary,
}

impl StreamKind {
    /// The name that the specification gives it.
    pub fn name(self) -> &'static str {
        match self {
            StreamKind::Present => "PRESENT",
            StreamKind::Data => "DATA",
            StreamKind::Length => "LENGTH",
            StreamKind::DictionaryData => "DICTIONARY_DATA",
            StreamKind::DictionaryCount => "DICTIONARY_COUNT",
            StreamKind::Secondary => "SECONDARY",
        }
    }

    fn from_proto(kind: i32) -> Option<Self> {
        use orc::stream::Kind as Proto;
        match Proto::try_from(kind) {
            Ok(Proto::Present) => Some(StreamKind::Present),
            Ok(Proto::Data) => Some(StreamKind::Data),
            Ok(Proto::Length) => Some(StreamKind::Length),
            Ok(Proto::DictionaryData) => Some(StreamKind::DictionaryData),
            Ok(Proto::DictionaryCount) => Some(StreamKind::DictionaryCount),
            Ok(Proto::Secondary) => Some(StreamKind::Secondary),
            _ => None,
        }
    }
}

/// Kind of a stream of the index (ORCv1, Indexes).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "the names are the specification's")]
pub enum IndexKind {
    RowIndex,
    BloomFilter,
    BloomFilterUtf8,
}

impl IndexKind {
    /// The name that the specification gives it.
    pub fn name(self) -> &'static str {
        match self {
            IndexKind::RowIndex => "ROW_INDEX",
            IndexKind::BloomFilter => "BLOOM_FILTER",
            IndexKind::BloomFilterUtf8 => "BLOOM_FILTER_UTF8",
        }
    }

    fn from_proto(kind: i32) -> Option<Self> {
        use orc::stream::Kind as Proto;
        match Proto::try_from(kind) {
            Ok(Proto::RowIndex) => Some(IndexKind::RowIndex),
            Ok(Proto::BloomFilter) => Some(IndexKind::BloomFilter),
            Ok(Proto::BloomFilterUtf8) => Some(IndexKind::BloomFilterUtf8),
            _ => None,
        }
    }
}

/// Encoding of a column within a stripe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Encoding {
    /// Whether values are references to a dictionary.
    pub is_dictionary: bool,
    /// Whether integers are in version 2 of run length encoding.
    pub is_v2: bool,
    /// Entries of the dictionary.
    pub dictionary_size: u32,
    /// What the hashes of its bloom filters are made of, in the count of the specification.
    pub bloom_encoding: Option<u32>,
    /// Whether the specification knows the encoding. Some writers have others for columns that need none, such as structs.
    pub is_known: bool,
}

impl Encoding {
    /// The name that the specification gives it; `UNKNOWN` where it has none.
    pub fn name(self) -> &'static str {
        match (self.is_known, self.is_dictionary, self.is_v2) {
            (false, _, _) => "UNKNOWN",
            (_, false, false) => "DIRECT",
            (_, false, true) => "DIRECT_V2",
            (_, true, false) => "DICTIONARY",
            (_, true, true) => "DICTIONARY_V2",
        }
    }
}

/// What a stripe's footer says of the columns that are asked for.
#[derive(Debug)]
pub struct StripeFooter {
    /// Where their data streams are in the file.
    pub streams: BTreeMap<(u32, StreamKind), Range<u64>>,
    /// Where the streams of their index are in the file.
    pub index: BTreeMap<(u32, IndexKind), Range<u64>>,
    /// Their encodings.
    pub encodings: BTreeMap<u32, Encoding>,
    /// Id of the time zone that the writer was in; empty where the stripe has none.
    pub writer_timezone: String,
}

impl StripeFooter {
    /// Parses a footer as stored, of the columns that are `wanted`.
    ///
    /// # Errors
    /// `Corrupt` when it does not fit to the stripe and the schema.
    pub(crate) fn parse(
        stored: Bytes,
        stripe: &StripeInfo,
        tail: &FileTail,
        limits: &Limits,
        wanted: &dyn Fn(u32) -> bool,
    ) -> Result<Self> {
        Self::of(&Self::decode(stored, tail, limits)?, stripe, tail, wanted)
    }

    /// Decodes a footer as stored.
    fn decode(stored: Bytes, tail: &FileTail, limits: &Limits) -> Result<orc::StripeFooter> {
        let footer = decompress_all(stored, tail.framing(), limits.tail)?;
        check_decoded_size(&footer, &STRIPE_FOOTER, limits.tail)
            .map_err(|error| Error::new(error.kind(), "the stripe footer cannot be decoded").with_source(error))?;
        orc::StripeFooter::decode(footer).map_err(|error| undecodable("stripe footer", error))
    }

    /// What a decoded footer says of the columns that are `wanted`.
    fn of(
        footer: &orc::StripeFooter,
        stripe: &StripeInfo,
        tail: &FileTail,
        wanted: &dyn Fn(u32) -> bool,
    ) -> Result<Self> {
        let columns = tail.schema.types().len();
        let stated = footer.columns.len();
        if let Some(missing) = (0u32..).take(columns).skip(stated).find(|&id| wanted(id)) {
            let error = Error::corrupt(format!("the stripe footer has {stated} encodings for {columns} columns"));
            return Err(error.in_column(&tail.schema.path(missing)));
        }
        let (mut streams, mut index) = (BTreeMap::new(), BTreeMap::new());
        let (mut at, end) = (stripe.offset, stripe.data().end);
        for stream in &footer.streams {
            let (column, kind, length) = (stream.column(), stream.kind.unwrap_or(0), stream.length());
            let next = at.saturating_add(length);
            let range = at..next;
            at = next;
            if column as usize >= columns || !wanted(column) {
                continue;
            }
            let (data, of_index) = (StreamKind::from_proto(kind), IndexKind::from_proto(kind));
            let Some(name) = data.map(StreamKind::name).or(of_index.map(IndexKind::name)) else { continue };
            if next > end {
                let error = Error::corrupt(format!("a stream of {length} bytes does not fit into the stripe"));
                return Err(error.in_column(&tail.schema.path(column)).in_stream(name));
            }
            // Of a stream that is listed twice the last one counts, as for Java.
            match (data, of_index) {
                (Some(kind), _) => _ = streams.insert((column, kind), range),
                (None, Some(kind)) => _ = index.insert((column, kind), range),
                (None, None) => {}
            }
        }
        let encodings = (0..).zip(&footer.columns).filter(|&(id, _)| wanted(id));
        Ok(StripeFooter {
            streams,
            index,
            encodings: encodings.map(|(id, column)| (id, encoding(column))).collect(),
            writer_timezone: to_string_lossy(footer.writer_timezone()),
        })
    }
}

fn encoding(column: &orc::ColumnEncoding) -> Encoding {
    use orc::column_encoding::Kind as Proto;
    let kind = Proto::try_from(column.kind.unwrap_or(0));
    Encoding {
        is_dictionary: matches!(kind, Ok(Proto::Dictionary | Proto::DictionaryV2)),
        is_v2: matches!(kind, Ok(Proto::DirectV2 | Proto::DictionaryV2)),
        dictionary_size: column.dictionary_size.unwrap_or(0),
        bloom_encoding: column.bloom_encoding,
        is_known: kind.is_ok(),
    }
}

/// A stripe whose footer has been read, with the streams of the columns that are wanted.
#[derive(Debug)]
pub(crate) struct Stripe {
    pub(crate) rows: u64,
    pub(crate) writer_timezone: String,
    framing: Framing,
    encodings: BTreeMap<u32, Encoding>,
    streams: BTreeMap<(u32, StreamKind), Stored>,
    index: BTreeMap<(u32, IndexKind), Range<u64>>,
    /// What is decompressed of it is charged to this.
    memory: Arc<Memory>,
}

/// A stream as stored.
#[derive(Debug)]
enum Stored {
    /// All of it is in memory.
    Whole(Bytes),
    /// Parts of it are, after [`Stripe::load`].
    Sparse(Arc<SparseStream>),
}

/// Parts of streams: of which column, of which kind, and which bytes of it.
pub(crate) type Parts = Vec<((u32, StreamKind), Vec<Range<u64>>)>;

fn held(bytes: u64, limits: &Limits) -> Result<()> {
    if bytes <= limits.memory {
        return Ok(());
    }
    Err(Error::over("memory", format!("{bytes} bytes to be read at once, more than the {} allowed", limits.memory)))
}

/// Reads ranges, with the gaps between them where that spares requests and there is memory for it.
///
/// # Errors
/// `LimitExceeded` for more bytes than memory allows, `Io` where the source fails.
pub fn read_with_limits(source: &dyn ReadAt, ranges: &[Range<u64>], limits: &Limits) -> Result<Vec<Bytes>> {
    let gap = source.coalesce_gap();
    let length = |gap| coalesce_ranges(ranges, gap).iter().map(|range| range.end - range.start).sum();
    held(length(0), limits)?;
    read_coalesced(source, ranges, if length(gap) <= limits.memory { gap } else { 0 })
}

fn info_of<'a>(tail: &'a FileTail, index: usize, limits: &Limits) -> Result<&'a StripeInfo> {
    let info = tail.stripes.get(index);
    let info = info.ok_or_else(|| Error::invalid(format!("no stripe {index}, of {}", tail.stripes.len())))?;
    info.check_within(tail.file_length.saturating_sub(tail.tail_length))
        .map_err(|error| error.in_section("stripe", index))?;
    match info.footer_length > limits.tail {
        true => Err(Error::over("tail", format!("a footer of {} bytes, more than allowed", info.footer_length))),
        false => Ok(info),
    }
}

impl Stripe {
    /// Reads the stripe at `index`: its footer, and the data streams of the columns that are `wanted`.
    /// Where all columns are, or where another request costs more than the bytes of the others, both come in
    /// one request.
    pub(crate) fn open(
        source: &dyn ReadAt,
        tail: &FileTail,
        index: usize,
        limits: &Limits,
        memory: &Arc<Memory>,
        all: bool,
        wanted: &dyn Fn(u32) -> bool,
    ) -> Result<Self> {
        let info = info_of(tail, index, limits)?;
        let (data, footer) = (info.data(), info.footer());
        let gap = source.coalesce_gap();
        let whole_length = footer.end - data.start;
        let (stored_footer, whole) = if all || whole_length <= gap.min(limits.memory) {
            held(whole_length, limits)?;
            let mut parts = read_coalesced(source, &[footer, data.clone()], 0)?;
            let whole = parts.pop();
            (parts.pop(), whole)
        } else {
            (read_coalesced(source, &[footer], 0)?.pop(), None)
        };
        let footer = StripeFooter::parse(stored_footer.unwrap_or_default(), info, tail, limits, wanted)?;
        let ranges: Vec<_> = footer.streams.values().cloned().collect();
        let from_whole = |range: &Range<u64>| slice_range(whole.as_ref()?, data.start, range);
        let parts = match ranges.iter().map(from_whole).collect::<Option<Vec<_>>>() {
            Some(parts) => parts,
            None => read_with_limits(source, &ranges, limits)?,
        };
        let mut parts = parts.into_iter();
        let stored = |_: Range<u64>| Stored::Whole(parts.next().unwrap_or_default());
        Ok(Self::new(info, tail, footer, memory, stored))
    }

    /// Reads the footer of the stripe at `index`, for [`begin`](Self::begin).
    pub(crate) fn footer(
        source: &dyn ReadAt,
        tail: &FileTail,
        index: usize,
        limits: &Limits,
    ) -> Result<orc::StripeFooter> {
        let info = info_of(tail, index, limits)?;
        let stored = read_coalesced(source, &[info.footer()], 0)?.pop();
        StripeFooter::decode(stored.unwrap_or_default(), tail, limits)
    }

    /// The stripe at `index`, which has this `footer`; no stream is read before [`load`](Self::load) does.
    pub(crate) fn begin(
        source: &Arc<dyn ReadAt>,
        tail: &FileTail,
        (index, footer): (usize, &orc::StripeFooter),
        limits: &Limits,
        memory: &Arc<Memory>,
        wanted: &dyn Fn(u32) -> bool,
    ) -> Result<Self> {
        let info = info_of(tail, index, limits)?;
        let footer = StripeFooter::of(footer, info, tail, wanted)?;
        let stored = |range| Stored::Sparse(Arc::new(SparseStream::new(source.clone(), range)));
        Ok(Self::new(info, tail, footer, memory, stored))
    }

    fn new(
        info: &StripeInfo,
        tail: &FileTail,
        footer: StripeFooter,
        memory: &Arc<Memory>,
        stored: impl FnMut(Range<u64>) -> Stored,
    ) -> Self {
        let (keys, ranges): (Vec<_>, Vec<_>) = footer.streams.into_iter().unzip();
        Stripe {
            rows: info.rows,
            writer_timezone: footer.writer_timezone,
            framing: tail.framing(),
            encodings: footer.encodings,
            streams: keys.into_iter().zip(ranges.into_iter().map(stored)).collect(),
            index: footer.index,
            memory: memory.clone(),
        }
    }

    /// What is decompressed of it is charged to this.
    pub(crate) fn memory(&self) -> &Arc<Memory> {
        &self.memory
    }

    /// Reads `parts` of streams, which replace what was in memory of those streams.
    pub(crate) fn load(&self, source: &dyn ReadAt, parts: &Parts, limits: &Limits) -> Result<()> {
        let ranges = self.ranges(parts);
        let mut read = read_with_limits(source, &ranges, limits)?.into_iter();
        for (key, wanted) in parts {
            if let Some(Stored::Sparse(sparse)) = self.streams.get(key) {
                sparse.set_loaded(wanted.iter().map(|range| (range.start, read.next().unwrap_or_default())).collect());
            }
        }
        Ok(())
    }

    /// Where `parts` are in the file.
    pub(crate) fn ranges(&self, parts: &Parts) -> Vec<Range<u64>> {
        let in_file = |(key, wanted): &((u32, StreamKind), Vec<Range<u64>>)| {
            let Some(Stored::Sparse(sparse)) = self.streams.get(key) else { return Vec::new() };
            let stream = sparse.range();
            let end = |at: u64| stream.start.saturating_add(at).min(stream.end);
            wanted.iter().map(|range| end(range.start)..end(range.end)).collect()
        };
        parts.iter().flat_map(in_file).collect()
    }

    /// Streams of a column, with their lengths.
    pub(crate) fn streams(&self, column: u32) -> impl Iterator<Item = (StreamKind, u64)> {
        let of_column = (column, StreamKind::Present)..=(column, StreamKind::Secondary);
        self.streams.range(of_column).map(|(&(_, kind), stored)| (kind, stored.length()))
    }

    /// Where a stream of the index of a column is in the file, if the stripe has it.
    pub(crate) fn index(&self, column: u32, kind: IndexKind) -> Option<Range<u64>> {
        self.index.get(&(column, kind)).cloned()
    }

    pub(crate) fn framing(&self) -> Framing {
        self.framing
    }

    pub(crate) fn encoding(&self, column: u32) -> Result<Encoding> {
        let known = self.encodings.get(&column).copied().filter(|encoding| encoding.is_known);
        known.ok_or_else(|| Error::corrupt("its encoding in the stripe is unknown"))
    }

    /// What the hashes of a column's bloom filters are made of.
    pub(crate) fn bloom_encoding(&self, column: u32) -> Option<u32> {
        self.encodings.get(&column)?.bloom_encoding
    }

    /// The stream of a column, decompressed as it is taken; `None` where the stripe has none.
    pub(crate) fn stream(&self, column: u32, kind: StreamKind) -> Option<Stream> {
        let stream = match self.streams.get(&(column, kind))? {
            Stored::Whole(bytes) => Stream::new(bytes.clone(), self.framing),
            Stored::Sparse(sparse) => Stream::new_sparse(sparse.clone(), self.framing),
        };
        Some(stream.with_memory(&self.memory))
    }

    /// What stands for a stream that the stripe does not have.
    pub(crate) fn empty_stream(&self) -> Stream {
        Stream::new(Bytes::new(), self.framing)
    }

    /// Bytes as stored of the streams of columns in `ids`.
    pub(crate) fn stored_bytes(&self, ids: std::ops::RangeInclusive<u32>) -> u64 {
        let range = (*ids.start(), StreamKind::Present)..=(*ids.end(), StreamKind::Secondary);
        self.streams.range(range).map(|(_, stored)| stored.length()).sum()
    }
}

impl Stored {
    fn length(&self) -> u64 {
        match self {
            Stored::Whole(bytes) => bytes.len() as u64,
            Stored::Sparse(sparse) => sparse.length(),
        }
    }
}
