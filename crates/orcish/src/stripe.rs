//! Stripes (ORCv1, Stripes): the stripe footer, and the streams of the projected columns.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use orcish_core::error::{Error, OrInternal as _, Result};
use orcish_core::limits::Limits;
use orcish_io::{ReadAt, check_memory_limit, read_with_limits, slice_range};

use crate::codec::{Framing, SparseStream, Stream, decompress_all};
use crate::encryption::{Iv, StreamCiphers, Unlocked, decrypting};
use crate::memory::Memory;
use crate::proto::{STRIPE_FOOTER, check_decoded_size, decode_message, orc, to_string_lossy};
use crate::tail::{FileTail, StripeInfo, undecodable};

/// Kind of a data stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum StreamKind {
    Present,
    Data,
    Length,
    DictionaryData,
    DictionaryCount,
    Secondary,
}

impl StreamKind {
    /// The name of the kind in the specification.
    pub(crate) fn name(self) -> &'static str {
        match self {
            StreamKind::Present => "PRESENT",
            StreamKind::Data => "DATA",
            StreamKind::Length => "LENGTH",
            StreamKind::DictionaryData => "DICTIONARY_DATA",
            StreamKind::DictionaryCount => "DICTIONARY_COUNT",
            StreamKind::Secondary => "SECONDARY",
        }
    }

    /// The number of the kind in the file.
    pub(crate) fn to_proto(self) -> orc::stream::Kind {
        use orc::stream::Kind as Proto;
        match self {
            StreamKind::Present => Proto::Present,
            StreamKind::Data => Proto::Data,
            StreamKind::Length => Proto::Length,
            StreamKind::DictionaryData => Proto::DictionaryData,
            StreamKind::DictionaryCount => Proto::DictionaryCount,
            StreamKind::Secondary => Proto::Secondary,
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

/// Kind of an index stream (ORCv1, Indexes).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum IndexKind {
    RowIndex,
    BloomFilter,
    BloomFilterUtf8,
}

impl IndexKind {
    /// The name of the kind in the specification.
    pub(crate) fn name(self) -> &'static str {
        match self {
            IndexKind::RowIndex => "ROW_INDEX",
            IndexKind::BloomFilter => "BLOOM_FILTER",
            IndexKind::BloomFilterUtf8 => "BLOOM_FILTER_UTF8",
        }
    }

    pub(crate) fn from_proto(kind: i32) -> Option<Self> {
        use orc::stream::Kind as Proto;
        match Proto::try_from(kind) {
            Ok(Proto::RowIndex) => Some(IndexKind::RowIndex),
            Ok(Proto::BloomFilter) => Some(IndexKind::BloomFilter),
            Ok(Proto::BloomFilterUtf8) => Some(IndexKind::BloomFilterUtf8),
            _ => None,
        }
    }
}

/// Encoding of a column in a stripe (ORCv1, Column Encodings).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Encoding {
    /// Whether values are dictionary encoded.
    pub(crate) is_dictionary: bool,
    /// Whether integers have version 2 of integer run length encoding.
    pub(crate) is_v2: bool,
    /// Number of entries of the dictionary.
    pub(crate) dictionary_size: u32,
    /// Encoding of the hashed values of bloom filters (`bloomEncoding`).
    pub(crate) bloom_encoding: Option<u32>,
    /// Whether the specification has the encoding. Some writers state others for columns without encoded values, as structs.
    pub(crate) is_known: bool,
}

impl Encoding {
    /// Values one after the other, with integers of version 1.
    pub(crate) const DIRECT: Self =
        Encoding { is_dictionary: false, is_v2: false, dictionary_size: 0, bloom_encoding: None, is_known: true };

    /// The name of the encoding in the specification; `UNKNOWN` for other encodings.
    pub(crate) fn name(self) -> &'static str {
        match (self.is_known, self.is_dictionary, self.is_v2) {
            (false, _, _) => "UNKNOWN",
            (_, false, false) => "DIRECT",
            (_, false, true) => "DIRECT_V2",
            (_, true, false) => "DICTIONARY",
            (_, true, true) => "DICTIONARY_V2",
        }
    }
}

/// The content of a stripe footer (ORCv1, Stripe Footer) for some columns.
#[derive(Debug)]
pub(crate) struct StripeFooter {
    /// Byte ranges of the data streams in the file.
    pub(crate) streams: BTreeMap<(u32, StreamKind), Range<u64>>,
    /// Byte ranges of the index streams in the file.
    pub(crate) index: BTreeMap<(u32, IndexKind), Range<u64>>,
    /// Encodings of the columns.
    pub(crate) encodings: BTreeMap<u32, Encoding>,
    /// Id of the time zone of the writer; empty where the stripe states none.
    pub(crate) writer_timezone: String,
    /// Byte ranges in the file of the index streams and of the data streams of variants.
    variants: [Range<u64>; 2],
    /// How the streams of variants are decrypted.
    ciphers: StreamCiphers,
}

impl StripeFooter {
    /// Decodes the stored footer for the columns that `wanted` selects.
    ///
    /// # Errors
    /// `Corrupt` where the footer is malformed, or contradicts the stripe or the schema; `LimitExceeded` where it exceeds
    /// `limits`.
    pub(crate) fn parse(
        stored_footer: Bytes,
        (index, stripe): (usize, &StripeInfo),
        tail: &FileTail,
        limits: &Limits,
        wanted: &dyn Fn(u32) -> bool,
    ) -> Result<Self> {
        Self::from_proto(&Self::decode(stored_footer, tail, limits)?, (index, stripe), tail, wanted)
    }

    /// Decompresses and decodes a stored footer.
    fn decode(stored_footer: Bytes, tail: &FileTail, limits: &Limits) -> Result<orc::StripeFooter> {
        let of_footer =
            |error: Error| Error::new(error.kind(), "the stripe footer cannot be decoded").with_source(error);
        let footer = decompress_all(stored_footer, tail.framing(), limits.tail).map_err(of_footer)?;
        check_decoded_size(&footer, &STRIPE_FOOTER, limits.tail).map_err(of_footer)?;
        decode_message::<orc::StripeFooter>(footer).map_err(|error| undecodable("stripe footer", error))
    }

    /// The content of a decoded footer for the columns that `wanted` selects, of the stripe at an index.
    pub(crate) fn from_proto(
        footer: &orc::StripeFooter,
        (number, stripe): (usize, &StripeInfo),
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
        let mut variants = [stripe.offset..stripe.offset, stripe.offset..stripe.offset];
        for stream in &footer.streams {
            let (column, kind, length) = (stream.column(), stream.kind.unwrap_or(0), stream.length());
            let next = at.saturating_add(length);
            let range = at..next;
            at = next;
            match (orc::stream::Kind::try_from(kind), &mut variants) {
                (Ok(orc::stream::Kind::EncryptedIndex), [of_index, _]) => *of_index = range.clone(),
                (Ok(orc::stream::Kind::EncryptedData), [_, of_data]) => *of_data = range.clone(),
                _ => {}
            }
            // The streams in clear of an encrypted column have its masks.
            if column as usize >= columns || !wanted(column) || tail.is_unlocked(column) {
                continue;
            }
            let (data, of_index) = (StreamKind::from_proto(kind), IndexKind::from_proto(kind));
            let Some(name) = data.map(StreamKind::name).or(of_index.map(IndexKind::name)) else { continue };
            if next > end {
                let error = Error::corrupt(format!("a stream of {length} bytes does not fit into the stripe"));
                return Err(error.in_column(&tail.schema.path(column)).in_stream(name));
            }
            // If a stream is listed twice, the last one is used, as in Java.
            match (data, of_index) {
                (Some(kind), _) => _ = streams.insert((column, kind), range),
                // ORC Java stores the bloom filters of the values of encrypted columns in clear, before those of the masks.
                (None, Some(IndexKind::BloomFilter | IndexKind::BloomFilterUtf8)) if tail.is_encrypted(column) => {}
                (None, Some(kind)) => _ = index.insert((column, kind), range),
                (None, None) => {}
            }
        }
        let encodings = (0..).zip(&footer.columns).filter(|&(id, _)| wanted(id));
        let mut this = StripeFooter {
            streams,
            index,
            encodings: encodings.map(|(id, column)| (id, encoding(column))).collect(),
            writer_timezone: to_string_lossy(footer.writer_timezone()),
            variants,
            ciphers: StreamCiphers::default(),
        };
        if let Some(unlocked) = tail.unlocked() {
            this.add_variants(footer, (number, end), tail, unlocked, wanted)?;
        }
        Ok(this)
    }

    /// Adds the streams and encodings of the columns that are read from variants, of the stripe with a number and its data
    /// up to `end`. The index streams of all variants are together, and so are their data streams.
    fn add_variants(
        &mut self,
        footer: &orc::StripeFooter,
        (stripe, end): (usize, u64),
        tail: &FileTail,
        unlocked: &Unlocked,
        wanted: &dyn Fn(u32) -> bool,
    ) -> Result<()> {
        let (stated, expected) = (footer.encryption.len(), unlocked.num_variants());
        if stated != expected {
            let text = format!("the stripe footer has {stated} encrypted variants, and the file {expected}");
            return Err(Error::corrupt(text));
        }
        let [mut of_index, mut of_data] = self.variants.clone().map(|range| range.start);
        for (number, variant) in footer.encryption.iter().enumerate() {
            let is_read = |id: u32| unlocked.variant_of(id) == Some(number) && wanted(id);
            let ids = unlocked.columns_of(number)?;
            let encodings = ids.clone().zip(&variant.encoding).filter(|&(id, _)| is_read(id));
            self.encodings.extend(encodings.map(|(id, column)| (id, encoding(column))));
            if let Some(missing) = ids.clone().skip(variant.encoding.len()).find(|&id| is_read(id)) {
                let (stated, columns) = (variant.encoding.len(), ids.len());
                let text = format!("an encrypted variant has {stated} encodings for {columns} columns");
                return Err(Error::corrupt(text).in_column(&tail.schema.path(missing)));
            }
            for stream in &variant.streams {
                let (column, kind, length) = (stream.column(), stream.kind.unwrap_or(0), stream.length());
                let (data, index) = (StreamKind::from_proto(kind), IndexKind::from_proto(kind));
                let is_of_index = index.is_some() || data == Some(StreamKind::DictionaryCount);
                let at = if is_of_index { &mut of_index } else { &mut of_data };
                let range = *at..at.saturating_add(length);
                *at = range.end;
                if !is_read(column) {
                    continue;
                }
                let Some(name) = data.map(StreamKind::name).or(index.map(IndexKind::name)) else { continue };
                let of_stream = |error: Error| error.in_column(&tail.schema.path(column)).in_stream(name);
                if range.end > end {
                    let text = format!("an encrypted stream of {length} bytes does not fit into the stripe");
                    return Err(of_stream(Error::corrupt(text)));
                }
                let cipher = || {
                    let (cipher, id) = unlocked.stripe_cipher(number, stripe)?;
                    Ok((
                        cipher,
                        Iv::of_stream(column, u32::try_from(kind).or_internal("a known kind is negative")?, id)?,
                    ))
                };
                let (cipher, iv) = cipher().map_err(of_stream)?;
                self.ciphers.push(range.clone(), cipher, iv);
                match (data, index) {
                    (Some(kind), _) => _ = self.streams.insert((column, kind), range),
                    (None, Some(kind)) => _ = self.index.insert((column, kind), range),
                    (None, None) => {}
                }
            }
        }
        self.ciphers.sort();
        Ok(())
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

/// A stripe with the streams of the projected columns.
pub(crate) struct Stripe {
    pub(crate) rows: u64,
    pub(crate) writer_timezone: String,
    framing: Framing,
    encodings: BTreeMap<u32, Encoding>,
    streams: BTreeMap<(u32, StreamKind), Stored>,
    index: BTreeMap<(u32, IndexKind), Range<u64>>,
    /// Memory that decompressed streams are charged to.
    memory: Arc<Memory>,
    /// The source of the file, with the streams of the stripe decrypted.
    source: Arc<dyn ReadAt>,
}

/// Stored bytes of a stream.
#[derive(Debug)]
enum Stored {
    /// The complete stream.
    Complete(Bytes),
    /// The ranges that [`Stripe::load`] has loaded.
    Sparse(Arc<SparseStream>),
}

/// Byte ranges within streams, by column id and kind.
pub(crate) type StreamRanges = Vec<((u32, StreamKind), Vec<Range<u64>>)>;

/// The information on the stripe at `index`, with its position and the size of its footer checked.
fn checked_info<'a>(tail: &'a FileTail, index: usize, limits: &Limits) -> Result<&'a StripeInfo> {
    let info = tail.stripe(index)?;
    info.check_within(tail.file_length.saturating_sub(tail.tail_length))
        .map_err(|error| error.in_section("stripe", index))?;
    if info.footer_length > limits.tail {
        Err(Error::over("tail", format!("a footer of {} bytes, more than allowed", info.footer_length)))
    } else {
        Ok(info)
    }
}

/// The streams of a stripe. Of a source that is best read in pieces, streams of more than a piece are read later.
///
/// # Errors
/// `LimitExceeded` where streams and pieces exceed `limits`; errors of the source.
fn read_streams(
    source: &Arc<dyn ReadAt>,
    tail: &FileTail,
    footer: &StripeFooter,
    limits: &Limits,
) -> Result<BTreeMap<(u32, StreamKind), Stored>> {
    let length = |range: &Range<u64>| range.end - range.start;
    let piece_size = source.piece_size().unwrap_or(usize::MAX);
    let is_long = |(_, range): &(_, &Range<u64>)| length(range) > piece_size as u64;
    let (long, short): (Vec<_>, Vec<_>) = footer.streams.iter().partition(is_long);
    // A reader of a stream has a piece, and a chunk that begins in the piece before.
    let chunk_size = if tail.framing().is_uncompressed() { 0 } else { tail.chunk_size as u64 };
    let held_at_once = (piece_size as u64).saturating_add(chunk_size);
    let of_long = long.iter().map(|(_, range)| length(range).min(held_at_once));
    let held = of_long.chain(short.iter().map(|(_, range)| length(range))).fold(0, u64::saturating_add);
    check_memory_limit(held, limits)?;
    let ranges: Vec<_> = short.iter().map(|&(_, range)| range.clone()).collect();
    let bytes = read_with_limits(&**source, &ranges, limits)?;
    let complete = short.into_iter().zip(bytes).map(|((&key, _), bytes)| (key, Stored::Complete(bytes)));
    let in_pieces = |(&key, range): (_, &Range<u64>)| {
        (key, Stored::Sparse(Arc::new(SparseStream::in_pieces(source.clone(), range.clone(), piece_size))))
    };
    Ok(complete.chain(long.into_iter().map(in_pieces)).collect())
}

impl std::fmt::Debug for Stripe {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Stripe").field("rows", &self.rows).field("streams", &self.streams).finish_non_exhaustive()
    }
}

impl Stripe {
    /// Reads the stripe at `index`: its footer, and the data streams of the columns that `wanted` selects.
    ///
    /// Footer and streams are read with one request if `all` columns are selected, or the bytes of the other columns are
    /// cheaper than a second request. Of a source that is best read in pieces, streams of more than a piece are read while
    /// they are decoded.
    ///
    /// # Errors
    /// `Corrupt` where the stripe or its footer is malformed, `LimitExceeded` where it exceeds `limits`; errors of the
    /// source.
    pub(crate) fn open(
        source: &Arc<dyn ReadAt>,
        tail: &FileTail,
        index: usize,
        limits: &Limits,
        memory: &Arc<Memory>,
        all: bool,
        wanted: &dyn Fn(u32) -> bool,
    ) -> Result<Self> {
        let info = checked_info(tail, index, limits)?;
        let (data, footer) = (info.data(), info.footer());
        let stripe_length = footer.end - data.start;
        let piece_size = source.piece_size().filter(|&piece_size| stripe_length > piece_size as u64);
        if (all && piece_size.is_none()) || stripe_length <= source.coalesce_gap().min(limits.memory) {
            check_memory_limit(stripe_length, limits)?;
            let stripe_bytes = source.read_range(data.start..footer.end)?;
            let stored_footer = slice_range(&stripe_bytes, data.start, &footer);
            let stored_footer = stored_footer.or_internal("a stripe ends before its footer")?;
            let footer = StripeFooter::parse(stored_footer, (index, info), tail, limits, wanted)?;
            let slice = |(&key, range): (_, &Range<u64>)| {
                Some((key, range.start, slice_range(&stripe_bytes, data.start, range)?))
            };
            let source = decrypting(source, &footer.ciphers);
            let streams = match footer.streams.iter().map(slice).collect::<Option<Vec<_>>>() {
                Some(stored) => {
                    drop(stripe_bytes);
                    let decrypted = stored
                        .into_iter()
                        .map(|(key, start, bytes)| Ok((key, Stored::Complete(footer.ciphers.decrypt(start, bytes)?))));
                    decrypted.collect::<Result<_>>()?
                }
                // A data stream may lie among the index streams.
                None => read_streams(&source, tail, &footer, limits)?,
            };
            return Ok(Self::new(info, tail, footer, memory, source, streams));
        }
        let footer = StripeFooter::parse(source.read_range(footer)?, (index, info), tail, limits, wanted)?;
        let source = decrypting(source, &footer.ciphers);
        let streams = read_streams(&source, tail, &footer, limits)?;
        Ok(Self::new(info, tail, footer, memory, source, streams))
    }

    /// Reads the footer of the stripe at `index`, for [`with_footer`](Self::with_footer).
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub(crate) fn read_footer(
        source: &dyn ReadAt,
        tail: &FileTail,
        index: usize,
        limits: &Limits,
    ) -> Result<orc::StripeFooter> {
        let info = checked_info(tail, index, limits)?;
        StripeFooter::decode(source.read_range(info.footer())?, tail, limits)
    }

    /// The stripe at `index` with a footer that was read. [`load`](Self::load) reads streams.
    ///
    /// # Errors
    /// `Corrupt` where the footer contradicts the stripe or the schema.
    pub(crate) fn with_footer(
        source: &Arc<dyn ReadAt>,
        tail: &FileTail,
        (index, footer): (usize, &orc::StripeFooter),
        limits: &Limits,
        memory: &Arc<Memory>,
        wanted: &dyn Fn(u32) -> bool,
    ) -> Result<Self> {
        let info = checked_info(tail, index, limits)?;
        let footer = StripeFooter::from_proto(footer, (index, info), tail, wanted)?;
        let source = decrypting(source, &footer.ciphers);
        let sparse_stream =
            |range: &Range<u64>| Stored::Sparse(Arc::new(SparseStream::new(source.clone(), range.clone())));
        let streams = footer.streams.iter().map(|(&key, range)| (key, sparse_stream(range))).collect();
        Ok(Self::new(info, tail, footer, memory, source.clone(), streams))
    }

    fn new(
        info: &StripeInfo,
        tail: &FileTail,
        footer: StripeFooter,
        memory: &Arc<Memory>,
        source: Arc<dyn ReadAt>,
        streams: BTreeMap<(u32, StreamKind), Stored>,
    ) -> Self {
        Stripe {
            rows: info.rows,
            writer_timezone: footer.writer_timezone,
            framing: tail.framing(),
            encodings: footer.encodings,
            streams,
            index: footer.index,
            memory: memory.clone(),
            source,
        }
    }

    /// The source of the file, with the streams of the stripe decrypted.
    pub(crate) fn source(&self) -> &dyn ReadAt {
        &*self.source
    }

    /// Memory that decompressed streams are charged to.
    pub(crate) fn memory(&self) -> &Arc<Memory> {
        &self.memory
    }

    /// Loads ranges of streams, which replace the loaded ranges of these streams.
    ///
    /// # Errors
    /// `LimitExceeded` where the ranges exceed `limits`; errors of the source.
    pub(crate) fn load(&self, stream_ranges: &StreamRanges, limits: &Limits) -> Result<()> {
        let file_ranges = self.file_ranges(stream_ranges);
        let mut loaded = read_with_limits(self.source(), &file_ranges, limits)?.into_iter();
        for (key, ranges) in stream_ranges {
            if let Some(Stored::Sparse(sparse)) = self.streams.get(key) {
                let bytes: Vec<Bytes> = loaded.by_ref().take(ranges.len()).collect();
                if bytes.len() != ranges.len() {
                    return Err(Error::internal("fewer ranges of streams were read than were asked for"));
                }
                sparse.set_loaded(ranges.iter().map(|range| range.start).zip(bytes).collect());
            }
        }
        Ok(())
    }

    /// Byte ranges in the file of ranges of streams.
    pub(crate) fn file_ranges(&self, stream_ranges: &StreamRanges) -> Vec<Range<u64>> {
        let in_file = |(key, ranges): &((u32, StreamKind), Vec<Range<u64>>)| {
            let Some(Stored::Sparse(sparse)) = self.streams.get(key) else { return Vec::new() };
            let stream = sparse.range();
            let offset = |at: u64| stream.start.saturating_add(at).min(stream.end);
            ranges.iter().map(|range| offset(range.start)..offset(range.end)).collect()
        };
        stream_ranges.iter().flat_map(in_file).collect()
    }

    /// The kinds and lengths of the streams of a column.
    pub(crate) fn streams(&self, column: u32) -> impl Iterator<Item = (StreamKind, u64)> {
        let range = (column, StreamKind::Present)..=(column, StreamKind::Secondary);
        self.streams.range(range).map(|(&(_, kind), stream)| (kind, stream.length()))
    }

    /// Whether the stripe has a present stream of a column.
    pub(crate) fn has_present(&self, column: u32) -> bool {
        self.streams.contains_key(&(column, StreamKind::Present))
    }

    /// Byte range in the file of an index stream of a column, if the stripe has it.
    pub(crate) fn index(&self, column: u32, kind: IndexKind) -> Option<Range<u64>> {
        self.index.get(&(column, kind)).cloned()
    }

    pub(crate) fn framing(&self) -> Framing {
        self.framing
    }

    pub(crate) fn encoding(&self, column: u32) -> Result<Encoding> {
        let encoding = self.encodings.get(&column).copied().filter(|encoding| encoding.is_known);
        encoding.ok_or_else(|| Error::corrupt("its encoding in the stripe is unknown"))
    }

    /// Encoding of the hashed values of a column's bloom filters.
    pub(crate) fn bloom_encoding(&self, column: u32) -> Option<u32> {
        self.encodings.get(&column)?.bloom_encoding
    }

    /// A reader of a stream of a column; `None` where the stripe does not have the stream.
    pub(crate) fn stream(&self, column: u32, kind: StreamKind) -> Option<Stream> {
        let stream = match self.streams.get(&(column, kind))? {
            Stored::Complete(bytes) => Stream::new(bytes.clone(), self.framing),
            Stored::Sparse(sparse) => Stream::new_sparse(sparse.clone(), self.framing),
        };
        Some(stream.with_memory(&self.memory))
    }

    /// A reader of an empty stream, for a stream that the stripe does not have.
    pub(crate) fn empty_stream(&self) -> Stream {
        Stream::new(Bytes::new(), self.framing)
    }

    /// Stored bytes of the streams of the columns `ids`.
    pub(crate) fn stored_bytes(&self, ids: std::ops::RangeInclusive<u32>) -> u64 {
        let range = (*ids.start(), StreamKind::Present)..=(*ids.end(), StreamKind::Secondary);
        self.streams.range(range).map(|(_, stream)| stream.length()).sum()
    }
}

/// The stored bytes of the data streams of all stripes, for benchmarks.
///
/// # Errors
/// `Corrupt` where a stripe or its footer is malformed; errors of the source.
#[cfg(feature = "internals")]
pub fn data_streams(source: &dyn ReadAt, tail: &FileTail) -> Result<Vec<Bytes>> {
    let limits = Limits::default();
    let mut streams = Vec::new();
    for (index, info) in tail.stripes.iter().enumerate() {
        let footer = Stripe::read_footer(source, tail, index, &limits)?;
        let footer = StripeFooter::from_proto(&footer, (index, info), tail, &|_| true)?;
        streams.extend(source.read_ranges(&footer.streams.into_values().collect::<Vec<_>>())?);
    }
    Ok(streams)
}

impl Stored {
    fn length(&self) -> u64 {
        match self {
            Stored::Complete(bytes) => bytes.len() as u64,
            Stored::Sparse(sparse) => sparse.length(),
        }
    }
}
