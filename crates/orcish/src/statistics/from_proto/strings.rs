//! Bounds of strings.

use bytes::Bytes;
use orcish_core::statistics::{Bound, Detail, successor};

use super::order::ordered_by;
use crate::proto::orc;
use crate::statistics::WriterContext;
use crate::writer::Writer;

pub(super) fn string(statistics: &orc::StringStatistics, context: WriterContext) -> Detail {
    let total_length = statistics.sum.and_then(|sum| sum.try_into().ok());
    if !context.bounds_are_trusted() {
        return Detail::String { min: None, max: None, total_length };
    }
    let bound = |exact: &Option<Bytes>, truncated: &Option<Bytes>| match exact {
        Some(value) => Some(Bound { value: value.clone(), exact: true }),
        None => truncated.as_ref().map(|value| Bound { value: value.clone(), exact: false }),
    };
    let inexact = |value: Bytes| Bound { value, exact: false };
    let upper_bound_of_prefix = |prefix: Bytes| successor(&prefix).map(|value| inexact(value.into()));
    // ORC C++ compares strings up to a NUL, then by their lengths.
    let nul = |bound: &Bound| {
        let nul = bound.value.iter().position(|&byte| byte == 0);
        nul.filter(|_| context.writer == Writer::Cpp)
    };
    let min = bound(&statistics.minimum, &statistics.lower_bound);
    let min = min.map(|bound| match nul(&bound) {
        Some(at) => inexact(bound.value.slice(..at)),
        None => bound,
    });
    let before_replacement = |bound: &Bound| {
        let prefix = before_replacement(&bound.value);
        prefix.filter(|_| context.bounds_may_be_replaced())
    };
    let min = min.map(|bound| before_replacement(&bound).map_or(bound, inexact));
    let max = bound(&statistics.maximum, &statistics.upper_bound);
    let max = max.and_then(|bound| match nul(&bound) {
        // The upper bound has byte 1 in place of the NUL.
        Some(at) => upper_bound_of_prefix(bound.value.slice(..=at)),
        None => Some(bound),
    });
    let max = max.and_then(|bound| before_replacement(&bound).map_or(Some(bound), upper_bound_of_prefix));
    let (min, max) = ordered_by(min, max, |bound| &bound.value);
    Detail::String { min, max, total_length }
}

/// The prefix before the first U+FFFD, if there is one. ORC Java replaces invalid UTF-8 by U+FFFD, which has another order.
fn before_replacement(value: &Bytes) -> Option<Bytes> {
    const REPLACEMENT: &[u8] = "\u{FFFD}".as_bytes();
    let position = value.windows(REPLACEMENT.len()).position(|window| window == REPLACEMENT)?;
    Some(value.slice(..position))
}
