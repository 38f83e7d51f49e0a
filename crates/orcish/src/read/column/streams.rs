//! Decoders of the streams of a column, made from the layout of its streams.

use orcish_core::error::{Error, OrInternal as _, Result};

use crate::codec::Stream;
use crate::encoding::bool_rle::BoolRle;
use crate::encoding::byte_rle::ByteRle;
use crate::encoding::int_rle::{IntRle, Version};
use crate::layout::{Coding, ColumnLayout, PlacedStream};
use crate::schema::Kind;
use crate::source::{Positions, SeekSource};
use crate::stripe::{StreamKind, Stripe};
use crate::tail::FileTail;

/// A decoder that seeks to row groups.
pub(super) trait Seek {
    /// Seeks to the position that `positions` begin with.
    fn seek(&mut self, positions: &mut Positions<'_>) -> Result<()>;
}

impl Seek for Stream {
    fn seek(&mut self, positions: &mut Positions<'_>) -> Result<()> {
        SeekSource::seek(self, positions)
    }
}

impl Seek for BoolRle<Stream> {
    fn seek(&mut self, positions: &mut Positions<'_>) -> Result<()> {
        self.seek(positions)
    }
}

impl Seek for ByteRle<Stream> {
    fn seek(&mut self, positions: &mut Positions<'_>) -> Result<()> {
        self.seek(positions)
    }
}

impl Seek for IntRle<Stream> {
    fn seek(&mut self, positions: &mut Positions<'_>) -> Result<()> {
        self.seek(positions)
    }
}

/// The decoder of a stream. Errors state the stream.
pub(super) struct StreamDecoder<D> {
    kind: StreamKind,
    /// Index of the first number of the stream in the positions of a row group.
    first_position: Option<usize>,
    decoder: D,
}

impl<D> StreamDecoder<D> {
    /// Calls `decode` with the decoder.
    #[inline]
    pub(super) fn with<'a, T>(&'a mut self, decode: impl FnOnce(&'a mut D) -> Result<T>) -> Result<T> {
        let kind = self.kind;
        decode(&mut self.decoder).map_err(|error| error.in_stream(kind.name()))
    }
}

impl<D: Seek> StreamDecoder<D> {
    /// Seeks to a row group with `positions` in the streams of the column.
    pub(super) fn seek(&mut self, positions: &[u64]) -> Result<()> {
        let first = self.first_position.or_internal("a stream without positions is sought")?;
        let positions = positions.get(first..).or_internal("positions that were not checked are sought")?;
        self.with(|decoder| decoder.seek(&mut Positions::new(positions)))
    }
}

/// The streams of a column in a stripe.
pub(super) struct Streams<'a> {
    tail: &'a FileTail,
    stripe: &'a Stripe,
    column: u32,
    layout: ColumnLayout,
}

impl<'a> Streams<'a> {
    /// Whether the streams have the masks of an encrypted column.
    pub(super) fn is_masked(&self) -> bool {
        self.tail.is_masked(self.column)
    }

    /// The streams of a column.
    ///
    /// # Errors
    /// `Corrupt` where the stripe states an unknown encoding that decides which streams there are.
    pub(super) fn try_new(tail: &'a FileTail, stripe: &'a Stripe, column: u32) -> Result<Self> {
        Ok(Streams { tail, stripe, column, layout: ColumnLayout::of_column(stripe, column, tail)? })
    }

    /// Whether the values of a decimal column are integers of 64 bits.
    pub(super) fn has_decimal64(&self) -> bool {
        self.layout.stream(StreamKind::Secondary).is_none()
    }

    /// The present stream, if there is one.
    pub(super) fn present(&self) -> Option<StreamDecoder<BoolRle<Stream>>> {
        let placed = self.layout.stream(StreamKind::Present)?;
        Some(self.decoder(placed, BoolRle::new))
    }

    /// The decoder of booleans.
    pub(super) fn booleans(&self, kind: StreamKind) -> Result<StreamDecoder<BoolRle<Stream>>> {
        let placed = self.placed(kind)?;
        match placed.layout.coding {
            Coding::Booleans => Ok(self.decoder(placed, BoolRle::new)),
            other => Err(other_coding(kind, other)),
        }
    }

    /// The decoder of bytes with run length encoding.
    pub(super) fn byte_runs(&self, kind: StreamKind) -> Result<StreamDecoder<ByteRle<Stream>>> {
        let placed = self.placed(kind)?;
        match placed.layout.coding {
            Coding::ByteRuns => Ok(self.decoder(placed, ByteRle::new)),
            other => Err(other_coding(kind, other)),
        }
    }

    /// The decoder of integers with run length encoding.
    ///
    /// # Errors
    /// `Corrupt` where the stripe states an unknown encoding, or a dictionary for a type without dictionaries.
    pub(super) fn integers(&self, kind: StreamKind) -> Result<StreamDecoder<IntRle<Stream>>> {
        let placed = self.placed(kind)?;
        let Coding::Integers { signed, version } = placed.layout.coding else {
            return Err(other_coding(kind, placed.layout.coding));
        };
        let version = version.map_or_else(|| self.version(), Ok)?;
        Ok(self.decoder(placed, |stream| IntRle::new(stream, version, signed)))
    }

    /// The bytes of a stream without run length encoding, in which values have a `coding`.
    pub(super) fn raw(&self, kind: StreamKind, coding: Coding) -> Result<StreamDecoder<Stream>> {
        let placed = self.placed(kind)?;
        if placed.layout.coding != coding {
            return Err(other_coding(kind, placed.layout.coding));
        }
        Ok(self.decoder(placed, |stream| stream))
    }

    /// The version of integers that the encoding of the column states.
    fn version(&self) -> Result<Version> {
        let (encoding, kind) = (self.stripe.encoding(self.column)?, self.tail.schema.get(self.column)?.kind);
        if encoding.is_dictionary && !matches!(kind, Kind::String | Kind::Char | Kind::Varchar) {
            return Err(Error::corrupt(format!("a {} column with a dictionary", kind.name())));
        }
        Ok(if encoding.is_v2 { Version::V2 } else { Version::V1 })
    }

    fn placed(&self, kind: StreamKind) -> Result<PlacedStream> {
        self.layout.stream(kind).or_internal("a reader asks for a stream that its column does not have")
    }

    /// A missing stream is an empty stream: reading fails if a value is needed, and a column without values needs none.
    fn decoder<D>(&self, placed: PlacedStream, decoder: impl FnOnce(Stream) -> D) -> StreamDecoder<D> {
        let PlacedStream { layout, first_position } = placed;
        let stream = self.stripe.stream(self.column, layout.kind).unwrap_or_else(|| self.stripe.empty_stream());
        StreamDecoder { kind: layout.kind, first_position, decoder: decoder(stream) }
    }
}

fn other_coding(kind: StreamKind, coding: Coding) -> Error {
    Error::internal(format!("a reader takes a {} stream of {coding:?} for another one", kind.name()))
}
