//! Stripes (ORCv1, Stripes): the footer, and the streams of the columns that are read.

use std::collections::BTreeMap;
use std::ops::Range;

use bytes::Bytes;
use prost::Message as _;

use crate::codec::{Framing, Stream, decompress_all};
use crate::error::{Error, Result};
use crate::io::{ReadAt, coalesce, part_of, read_coalesced};
use crate::options::Limits;
use crate::proto::orc;
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

/// Encoding of a column within a stripe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Encoding {
    /// Whether values are references to a dictionary.
    pub is_dictionary: bool,
    /// Whether integers are in version 2 of run length encoding.
    pub is_v2: bool,
    /// Entries of the dictionary.
    pub dictionary_size: u32,
    /// Whether the specification knows the encoding. Some writers have others for columns that need none, such as structs.
    pub is_known: bool,
}

/// What a stripe's footer says of the columns that are asked for.
#[derive(Debug)]
pub struct StripeFooter {
    /// Where their data streams are in the file.
    pub streams: BTreeMap<(u32, StreamKind), Range<u64>>,
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
        let footer = decompress_all(stored, tail.framing(), limits.tail)?;
        let footer = orc::StripeFooter::decode(footer).map_err(|error| undecodable("stripe footer", error))?;
        let columns = tail.schema.types().len();
        if footer.columns.len() != columns {
            let stated = footer.columns.len();
            return Err(Error::corrupt(format!("the stripe footer has {stated} encodings for {columns} columns")));
        }
        let mut streams = BTreeMap::new();
        let (mut at, end) = (stripe.offset, stripe.data().end);
        for stream in &footer.streams {
            let next = at.checked_add(stream.length()).filter(|&next| next <= end);
            let Some(next) = next else {
                let length = stream.length();
                return Err(Error::corrupt(format!("a stream of {length} bytes does not fit into the stripe")));
            };
            let column = stream.column();
            if column as usize >= columns {
                return Err(Error::corrupt(format!("a stream of column {column}, where {columns} columns are")));
            }
            if let Some(kind) = StreamKind::from_proto(stream.kind.unwrap_or(0))
                && wanted(column)
                && streams.insert((column, kind), at..next).is_some()
            {
                return Err(Error::corrupt("the stream is there twice")
                    .in_column(&tail.schema.path(column))
                    .in_stream(kind.name()));
            }
            at = next;
        }
        let encodings = (0..).zip(&footer.columns).filter(|&(id, _)| wanted(id));
        Ok(StripeFooter {
            streams,
            encodings: encodings.map(|(id, column)| (id, encoding(column))).collect(),
            writer_timezone: footer.writer_timezone.unwrap_or_default(),
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
        is_known: kind.is_ok(),
    }
}

/// A stripe whose wanted streams are in memory, as stored.
#[derive(Debug)]
pub(crate) struct Stripe {
    pub(crate) rows: u64,
    pub(crate) writer_timezone: String,
    framing: Framing,
    encodings: BTreeMap<u32, Encoding>,
    streams: BTreeMap<(u32, StreamKind), Bytes>,
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
        all: bool,
        wanted: &dyn Fn(u32) -> bool,
    ) -> Result<Self> {
        let info = tail.stripes.get(index);
        let info = info.ok_or_else(|| Error::invalid(format!("no stripe {index}, of {}", tail.stripes.len())))?;
        let held = |bytes: u64| {
            if bytes <= limits.memory {
                return Ok(());
            }
            Err(Error::limit(format!("{bytes} bytes to be read at once, more than the {} allowed", limits.memory)))
        };
        if info.footer_length > limits.tail {
            return Err(Error::limit(format!("a footer of {} bytes, more than allowed", info.footer_length)));
        }
        let (data, footer) = (info.data(), info.footer());
        let gap = source.gap();
        let whole_length = footer.end - data.start;
        let (stored_footer, whole) = if all || whole_length <= gap.min(limits.memory) {
            held(whole_length)?;
            let mut parts = read_coalesced(source, &[footer, data.clone()], 0)?;
            let whole = parts.pop();
            (parts.pop(), whole)
        } else {
            (read_coalesced(source, &[footer], 0)?.pop(), None)
        };
        let footer = StripeFooter::parse(stored_footer.unwrap_or_default(), info, tail, limits, wanted)?;
        let ranges: Vec<_> = footer.streams.values().cloned().collect();
        let from_whole = |range: &Range<u64>| part_of(whole.as_ref()?, data.start, range);
        let parts = match ranges.iter().map(from_whole).collect::<Option<Vec<_>>>() {
            Some(parts) => parts,
            None => {
                let length = |gap| coalesce(&ranges, gap).iter().map(|range| range.end - range.start).sum();
                held(length(0))?;
                // Gaps are read where there is memory for them.
                read_coalesced(source, &ranges, if length(gap) <= limits.memory { gap } else { 0 })?
            }
        };
        Ok(Stripe {
            rows: info.rows,
            writer_timezone: footer.writer_timezone,
            framing: tail.framing(),
            encodings: footer.encodings,
            streams: footer.streams.into_keys().zip(parts).collect(),
        })
    }

    pub(crate) fn encoding(&self, column: u32) -> Result<Encoding> {
        let known = self.encodings.get(&column).copied().filter(|encoding| encoding.is_known);
        known.ok_or_else(|| Error::corrupt("its encoding in the stripe is unknown"))
    }

    /// The stream of a column, decompressed as it is taken; `None` where the stripe has none.
    pub(crate) fn stream(&self, column: u32, kind: StreamKind) -> Option<Stream> {
        Some(Stream::new(self.streams.get(&(column, kind))?.clone(), self.framing))
    }

    /// What stands for a stream that the stripe does not have.
    pub(crate) fn empty_stream(&self) -> Stream {
        Stream::new(Bytes::new(), self.framing)
    }

    /// Bytes as stored of the streams of columns in `ids`.
    pub(crate) fn stored_bytes(&self, ids: std::ops::RangeInclusive<u32>) -> usize {
        let range = (*ids.start(), StreamKind::Present)..=(*ids.end(), StreamKind::Secondary);
        self.streams.range(range).map(|(_, bytes)| bytes.len()).sum()
    }
}
