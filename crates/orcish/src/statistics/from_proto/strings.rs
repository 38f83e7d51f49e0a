//! Bounds of strings.

use bytes::Bytes;

use crate::proto::orc;
use crate::statistics::{Bound, Detail, WriterContext};

pub(super) fn string(statistics: &orc::StringStatistics, context: WriterContext) -> Detail {
    let total_length = statistics.sum.and_then(|sum| sum.try_into().ok());
    if !context.bounds_are_believed() {
        return Detail::String { min: None, max: None, total_length };
    }
    let bound = |exact: &Option<Bytes>, cut: &Option<Bytes>| match exact {
        Some(value) => Some(Bound { value: value.clone(), exact: true }),
        None => cut.as_ref().map(|value| Bound { value: value.clone(), exact: false }),
    };
    let min = bound(&statistics.minimum, &statistics.lower_bound).map(|bound| match before_replacement(&bound.value) {
        Some(value) => Bound { value, exact: false },
        None => bound,
    });
    let max =
        bound(&statistics.maximum, &statistics.upper_bound).and_then(|bound| match before_replacement(&bound.value) {
            Some(value) => Some(Bound { value: successor(&value)?.into(), exact: false }),
            None => Some(bound),
        });
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

/// The least string that is above all which begin with `prefix`.
pub(crate) fn successor(prefix: &[u8]) -> Option<Vec<u8>> {
    let last = prefix.iter().rposition(|&byte| byte < u8::MAX)?;
    let mut end = prefix.get(..=last)?.to_vec();
    end.last_mut().into_iter().for_each(|byte| *byte += 1);
    Some(end)
}
