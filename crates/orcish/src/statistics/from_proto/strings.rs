//! Bounds of strings.

use bytes::Bytes;
use orcish_core::statistics::{Bound, Detail, successor};

use crate::proto::orc;
use crate::statistics::WriterContext;
use crate::writer::Writer;

pub(super) fn string(statistics: &orc::StringStatistics, context: WriterContext) -> Detail {
    let total_length = statistics.sum.and_then(|sum| sum.try_into().ok());
    if !context.bounds_are_believed() {
        return Detail::String { min: None, max: None, total_length };
    }
    let bound = |exact: &Option<Bytes>, cut: &Option<Bytes>| match exact {
        Some(value) => Some(Bound { value: value.clone(), exact: true }),
        None => cut.as_ref().map(|value| Bound { value: value.clone(), exact: false }),
    };
    let inexact = |value: Bytes| Bound { value, exact: false };
    let after = |prefix: Bytes| successor(&prefix).map(|value| inexact(value.into()));
    let nul = |bound: &Bound| {
        let nul = bound.value.iter().position(|&byte| byte == 0);
        nul.filter(|_| context.writer == Writer::Cpp)
    };
    let min = bound(&statistics.minimum, &statistics.lower_bound);
    let min = min.map(|bound| match nul(&bound) {
        Some(at) => inexact(bound.value.slice(..at)),
        None => bound,
    });
    let min = min.map(|bound| before_replacement(&bound.value).map_or(bound, inexact));
    let max = bound(&statistics.maximum, &statistics.upper_bound);
    let max = max.and_then(|bound| match nul(&bound) {
        // What ends before the NUL, or goes on behind it, is below what has 1 in its place.
        Some(at) => after(bound.value.slice(..=at)),
        None => Some(bound),
    });
    let max = max.and_then(|bound| before_replacement(&bound.value).map_or(Some(bound), after));
    match (&min, &max) {
        (Some(least), Some(greatest)) if least.value > greatest.value => {
            Detail::String { min: None, max: None, total_length }
        }
        _ => Detail::String { min, max, total_length },
    }
}

/// What is before the first U+FFFD, if there is one: it may stand for bytes that were not UTF-8, whose order is another.
fn before_replacement(value: &Bytes) -> Option<Bytes> {
    const REPLACEMENT: &[u8] = "\u{FFFD}".as_bytes();
    let position = value.windows(REPLACEMENT.len()).position(|window| window == REPLACEMENT)?;
    Some(value.slice(..position))
}
