//! The number of rows of a stripe without a row index: the number of values of a column that has one in each row.

use std::ops::Range;

use bytes::Bytes;
use orcish_core::cancel::Cancellation;
use orcish_core::error::{Error, Result};

use crate::codec::{Framing, Stream};
use crate::encoding::byte_rle::ByteRle;
use crate::encoding::int_rle::{IntRle, Version};
use crate::layout::{Coding, StreamLayout, stored_value_streams};
use crate::schema::Kind;
use crate::source::ByteSource;
use crate::stripe::{StreamKind, StripeFooter};
use crate::tail::FileTail;

/// A stream with a value for each row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RowValues {
    /// The stored bytes.
    pub(super) range: Range<u64>,
    coding: Coding,
    /// Version of integers, as the encoding of the column states it.
    version: Version,
}

impl RowValues {
    /// The shortest stream of a stripe that has a value for each row: that of a column without nulls in structs without
    /// nulls. Boolean columns do not tell the number, as their last byte has padding. `None` if there is no such column.
    pub(super) fn find(tail: &FileTail, footer: &StripeFooter) -> Option<Self> {
        let mut columns = vec![0];
        let mut shortest: Option<Self> = None;
        while let Some(column) = columns.pop() {
            if footer.streams.contains_key(&(column, StreamKind::Present)) {
                continue;
            }
            let Ok(of) = tail.schema.get(column) else { continue };
            if of.kind == Kind::Struct {
                columns.extend(&of.children);
            } else if let Some(values) = Self::of_column(tail, column, footer)
                && shortest.as_ref().is_none_or(|best| values.length() < best.length())
            {
                shortest = Some(values);
            }
        }
        shortest
    }

    fn of_column(tail: &FileTail, column: u32, footer: &StripeFooter) -> Option<Self> {
        let encoding = footer.encodings.get(&column).copied().filter(|encoding| encoding.is_known)?;
        let streams = stored_value_streams(tail, column, encoding).ok()?;
        let tells_count = |stream: &&StreamLayout| {
            matches!(stream.coding, Coding::ByteRuns | Coding::Integers { .. } | Coding::Fixed(_))
        };
        let StreamLayout { kind, coding, .. } = *streams.iter().filter(|stream| stream.is_indexed).find(tells_count)?;
        let version = if encoding.is_v2 { Version::V2 } else { Version::V1 };
        Some(RowValues { range: footer.streams.get(&(column, kind))?.clone(), coding, version })
    }

    /// Number of stored bytes.
    pub(super) fn length(&self) -> u64 {
        self.range.end - self.range.start
    }

    /// Number of values in the stored bytes of the stream.
    ///
    /// # Errors
    /// `Corrupt` where the stream is malformed; errors of the cancellation check.
    pub(super) fn count(&self, stored_bytes: Bytes, framing: Framing, cancellation: &mut Cancellation) -> Result<u64> {
        let stream = Stream::new(stored_bytes, framing);
        match self.coding {
            Coding::ByteRuns => sum(ByteRle::new(stream), ByteRle::skip_run, cancellation),
            Coding::Integers { signed, version } => {
                let version = version.unwrap_or(self.version);
                sum(IntRle::new(stream, version, signed), IntRle::skip_runs, cancellation)
            }
            Coding::Fixed(width) => {
                let (bytes, width) = (sum(stream, skip_block, cancellation)?, width as u64);
                match bytes % width {
                    0 => Ok(bytes / width),
                    _ => Err(Error::corrupt(format!("the stream has {bytes} bytes, for values of {width} bytes"))),
                }
            }
            Coding::Booleans | Coding::Varints | Coding::Raw => {
                Err(Error::internal("rows are counted by a stream that does not tell the number of its values"))
            }
        }
    }
}

/// The sum of what `next` returns until it is 0.
fn sum<D>(mut decoder: D, next: impl Fn(&mut D) -> Result<usize>, cancellation: &mut Cancellation) -> Result<u64> {
    let mut total = 0;
    loop {
        cancellation.poll()?;
        match next(&mut decoder)? {
            0 => return Ok(total),
            count => total += count as u64,
        }
    }
}

/// Skips the next contiguous bytes, and returns their number; 0 at the end of the stream.
fn skip_block(stream: &mut Stream) -> Result<usize> {
    let length = stream.fill(1)?.len();
    stream.consume(length);
    Ok(length)
}
