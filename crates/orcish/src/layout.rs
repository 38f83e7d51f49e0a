//! The layout of streams: which streams a column has, in which order, how each is coded, and which numbers a position in it
//! has (ORCv1, Column Encodings and Indexes).
//!
//! Readers take their decoders from this table, and seek by it. Writers order streams and positions by it. Byte ranges of row
//! groups, defects of row indexes and the recovery of files without a footer follow from it.

use orcish_core::error::Result;

use crate::encoding::int_rle::Version;
use crate::encoding::{MAX_RUN, byte_rle, int_rle};
use crate::schema::Kind;
use crate::stripe::{Encoding, StreamKind, Stripe};
use crate::tail::FileTail;

/// How the values of a stream are coded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Coding {
    /// Boolean run length encoding.
    Booleans,
    /// Byte run length encoding.
    ByteRuns,
    /// Integer run length encoding. The encoding of the column states the version where none is given.
    Integers { signed: bool, version: Option<Version> },
    /// Values of a number of bytes.
    Fixed(usize),
    /// Signed varints without a bound.
    Varints,
    /// The bytes of values whose lengths are in another stream.
    Raw,
}

impl Coding {
    /// Signed integers of the version of the column.
    pub(crate) const SIGNED: Self = Coding::Integers { signed: true, version: None };
    /// Unsigned integers of the version of the column.
    pub(crate) const UNSIGNED: Self = Coding::Integers { signed: false, version: None };

    /// Maxima of the numbers of a position behind the position of the byte: the value in a run, and the bit of a byte.
    pub(crate) fn run_position_maxima(self) -> &'static [u64] {
        match self {
            Coding::Fixed(_) | Coding::Varints | Coding::Raw => &[],
            Coding::ByteRuns => &[byte_rle::MAX_RUN as u64],
            Coding::Booleans => &[byte_rle::MAX_RUN as u64, 8],
            Coding::Integers { .. } => &[MAX_RUN as u64],
        }
    }

    /// Number of numbers of a position in a stream: those of the byte, and those in the run.
    pub(crate) fn position_length(self, is_uncompressed: bool) -> usize {
        byte_position_length(is_uncompressed) + self.run_position_maxima().len()
    }

    /// Maximum number of bytes of a run; 0 where there are no runs.
    pub(crate) fn max_run_bytes(self) -> u64 {
        match self {
            Coding::Fixed(_) | Coding::Varints | Coding::Raw => 0,
            Coding::ByteRuns | Coding::Booleans => 1 + 128,
            Coding::Integers { .. } => int_rle::MAX_RUN_BYTES as u64,
        }
    }
}

/// A stream of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct StreamLayout {
    pub(crate) kind: StreamKind,
    pub(crate) coding: Coding,
    /// Whether the row index has positions in the stream. Dictionaries have none: they are the same for all row groups.
    pub(crate) is_indexed: bool,
}

const fn indexed(kind: StreamKind, coding: Coding) -> StreamLayout {
    StreamLayout { kind, coding, is_indexed: true }
}

const fn shared(kind: StreamKind, coding: Coding) -> StreamLayout {
    StreamLayout { kind, coding, is_indexed: false }
}

/// The present stream, which comes before the streams of values. A stripe has it for columns with nulls.
pub(crate) const PRESENT: StreamLayout = indexed(StreamKind::Present, Coding::Booleans);

/// The streams of the values of a column, in order. The values of columns of text and bytes can be in a dictionary;
/// `is_decimal64` says whether decimals are integers of 64 bits (ORCv2 draft).
pub(crate) fn value_streams(kind: Kind, is_dictionary: bool, is_decimal64: bool) -> &'static [StreamLayout] {
    use StreamKind::{Data, DictionaryData, Length, Secondary};
    match kind {
        Kind::Boolean => const { &[indexed(Data, Coding::Booleans)] },
        Kind::Byte | Kind::Union => const { &[indexed(Data, Coding::ByteRuns)] },
        Kind::Short | Kind::Int | Kind::Long | Kind::Date => const { &[indexed(Data, Coding::SIGNED)] },
        Kind::Float => const { &[indexed(Data, Coding::Fixed(4))] },
        Kind::Double => const { &[indexed(Data, Coding::Fixed(8))] },
        Kind::Timestamp | Kind::TimestampInstant => {
            const { &[indexed(Data, Coding::SIGNED), indexed(Secondary, Coding::UNSIGNED)] }
        }
        // Java states the encoding `DIRECT`, but writes integers of version 2.
        Kind::Decimal if is_decimal64 => {
            const { &[indexed(Data, Coding::Integers { signed: true, version: Some(Version::V2) })] }
        }
        Kind::Decimal => const { &[indexed(Data, Coding::Varints), indexed(Secondary, Coding::SIGNED)] },
        Kind::String | Kind::Char | Kind::Varchar | Kind::Binary | Kind::Geometry | Kind::Geography
            if is_dictionary =>
        {
            const {
                &[
                    indexed(Data, Coding::UNSIGNED),
                    shared(Length, Coding::UNSIGNED),
                    shared(DictionaryData, Coding::Raw),
                ]
            }
        }
        Kind::String | Kind::Char | Kind::Varchar | Kind::Binary | Kind::Geometry | Kind::Geography => {
            const { &[indexed(Data, Coding::Raw), indexed(Length, Coding::UNSIGNED)] }
        }
        Kind::List | Kind::Map => const { &[indexed(Length, Coding::UNSIGNED)] },
        Kind::Struct | Kind::Unknown => &[],
    }
}

/// The streams of the values of a column of a file, with an encoding that a stripe states.
///
/// # Errors
/// `UnknownColumn` where the schema does not have the column.
pub(crate) fn stored_value_streams(
    tail: &FileTail,
    column: u32,
    encoding: Encoding,
) -> Result<&'static [StreamLayout]> {
    let column = tail.schema.get(column)?;
    let is_decimal64 = column.kind == Kind::Decimal && tail.has_decimal64() && column.decimal().0 <= 18;
    Ok(value_streams(column.kind, encoding.is_dictionary, is_decimal64))
}

/// Number of numbers of the position of a byte: the offset in the stream, or that of a chunk and the offset in the
/// decompressed chunk.
pub(crate) fn byte_position_length(is_uncompressed: bool) -> usize {
    if is_uncompressed { 1 } else { 2 }
}

/// The streams of a column in a stripe.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ColumnLayout {
    has_present: bool,
    values: &'static [StreamLayout],
    is_uncompressed: bool,
}

/// A stream with its place in the positions of its column.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PlacedStream {
    pub(crate) layout: StreamLayout,
    /// Index of the first number of the stream in the positions of a row group; `None` where the stream has no positions.
    pub(crate) first_position: Option<usize>,
}

impl ColumnLayout {
    /// The streams of a column in a stripe.
    ///
    /// # Errors
    /// `Corrupt` where the streams of the column depend on its encoding, and the stripe states an unknown one.
    pub(crate) fn of_column(stripe: &Stripe, column: u32, tail: &FileTail) -> Result<Self> {
        let kind = tail.schema.get(column)?.kind;
        // Some writers state unknown encodings for columns whose streams do not depend on them.
        let depends_on_encoding = value_streams(kind, true, false) != value_streams(kind, false, false);
        let encoding = if depends_on_encoding { stripe.encoding(column)? } else { Encoding::DIRECT };
        Ok(ColumnLayout {
            has_present: stripe.has_present(column),
            values: stored_value_streams(tail, column, encoding)?,
            is_uncompressed: stripe.framing().is_uncompressed(),
        })
    }

    /// The streams in order, with their places in the positions of the column.
    pub(crate) fn streams(self) -> impl Iterator<Item = PlacedStream> {
        let present = self.has_present.then_some(PRESENT);
        let mut next_position = 0;
        present.into_iter().chain(self.values.iter().copied()).map(move |layout| {
            let first_position = layout.is_indexed.then_some(next_position);
            if layout.is_indexed {
                next_position += layout.coding.position_length(self.is_uncompressed);
            }
            PlacedStream { layout, first_position }
        })
    }

    /// A stream; `None` where the column does not have it.
    pub(crate) fn stream(self, kind: StreamKind) -> Option<PlacedStream> {
        self.streams().find(|stream| stream.layout.kind == kind)
    }
}
