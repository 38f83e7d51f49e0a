//! Values of variable length, read from a stream.

use orcish_core::allocation::reserve;
use orcish_core::error::Result;
use orcish_core::strings::Values;

use super::Budget;
use crate::codec::Stream;
use crate::source::{ByteSource, stream_ends};

/// Reads values of the given lengths.
pub(super) fn read_values(lengths: Vec<u32>, stream: &mut Stream, budget: Budget) -> Result<Values> {
    let total: u64 = lengths.iter().map(|&length| u64::from(length)).sum();
    let length = usize::try_from(total).ok().filter(|&total| total <= budget.bytes());
    let mut remaining_bytes = length.ok_or_else(|| budget.exceeded(&format!("{total} bytes of values")))?;
    let mut bytes = Vec::new();
    reserve(&mut bytes, remaining_bytes)?;
    while remaining_bytes > 0 {
        let there = stream.fill(1)?;
        let n = there.len().min(remaining_bytes);
        if n == 0 {
            return Err(stream_ends(remaining_bytes));
        }
        bytes.extend_from_slice(there.split_at(n).0);
        stream.consume(n);
        remaining_bytes -= n;
    }
    Values::try_new(lengths, bytes)
}
