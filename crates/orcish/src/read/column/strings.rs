//! Values of variable length, read from a stream.

use orcish_core::allocation::reserve;
use orcish_core::error::Result;
use orcish_core::strings::Values;

use super::Budget;
use crate::codec::Stream;

/// Reads values of the given lengths.
pub(super) fn read_values(lengths: Vec<u32>, stream: &mut Stream, budget: Budget) -> Result<Values> {
    let total: u64 = lengths.iter().map(|&length| u64::from(length)).sum();
    let length = usize::try_from(total).ok().filter(|&total| total <= budget.bytes());
    let length = length.ok_or_else(|| budget.exceeded(&format!("{total} bytes of values")))?;
    let mut bytes = Vec::new();
    reserve(&mut bytes, length)?;
    stream.append_to(length, &mut bytes)?;
    Values::try_new(lengths, bytes)
}
