//! What text and binary columns have in common: bytes and lengths as they are, and bounds.

use arrow_array::OffsetSizeTrait;
use bytes::Bytes;
use orcish_core::error::Result;
use orcish_core::statistics::Bound;

use super::dictionary::prefix;
use super::{Compressors, Detail, Ended, Starts, StreamKind};
use crate::tuning;
use crate::write::stream::OutStream;
use crate::write::streams::{IntStream, Layout};

/// Values one behind the other, and their lengths.
pub(super) struct DirectBytes {
    data: OutStream,
    lengths: IntStream,
    starts: Starts,
}

impl DirectBytes {
    pub(super) fn new(layout: Layout) -> Self {
        let (data, lengths) = (layout.text_stream(), IntStream::of_integers(layout, false));
        DirectBytes { data, lengths, starts: Starts::default() }
    }

    #[inline]
    pub(super) fn push(&mut self, value: &[u8]) {
        self.data.raw().extend_from_slice(value);
        self.lengths.held().push(i64::try_from(value.len()).unwrap_or(i64::MAX));
    }

    /// Takes values that lie one behind the other in `data`, where `offsets` say; does something with each.
    pub(super) fn push_all<O: OffsetSizeTrait>(&mut self, offsets: &[O], data: &[u8], mut each: impl FnMut(&[u8])) {
        let (Some(first), Some(last)) = (offsets.first(), offsets.last()) else { return };
        self.data.raw().extend_from_slice(data.get(first.as_usize()..last.as_usize()).unwrap_or_default());
        let ranges = offsets.iter().zip(offsets.iter().skip(1)).map(|(from, to)| from.as_usize()..to.as_usize());
        let lengths = self.lengths.held();
        lengths.reserve(offsets.len());
        for range in ranges {
            lengths.push(i64::try_from(range.len()).unwrap_or(i64::MAX));
            each(data.get(range).unwrap_or_default());
        }
    }

    /// Compresses what there is enough of.
    #[inline]
    pub(super) fn relieve(&mut self, compressors: &mut Compressors) -> Result<()> {
        self.lengths.relieve(compressors)?;
        self.data.settle_if_full(compressors)
    }

    pub(super) fn begin_group(&mut self) {
        self.starts.push(|position| {
            self.data.position(position);
            self.lengths.position(position);
        });
    }

    pub(super) fn end_group(&mut self, compressors: &mut Compressors) -> Result<()> {
        self.data.settle(compressors)?;
        self.lengths.end_run(compressors)
    }

    pub(super) fn size(&self) -> usize {
        self.data.size() + self.lengths.size()
    }

    pub(super) fn end_stripe(&mut self, compressors: &mut Compressors) -> Result<Ended> {
        Ok(Ended {
            streams: vec![
                (StreamKind::Data, self.data.take(compressors)?),
                (StreamKind::Length, self.lengths.take(compressors)?),
            ],
            has_integers: true,
            positions: self.starts.take(),
            ..Ended::default()
        })
    }
}

/// Least and greatest value of a row group, and the length of all.
#[derive(Debug, Default)]
pub(super) struct Bounds {
    /// First bytes of least and greatest: most values lie between them.
    prefixes: (u64, u64),
    bounds: Option<(Vec<u8>, Vec<u8>)>,
    total_length: u64,
}

impl Bounds {
    /// Takes a value.
    #[inline]
    pub(super) fn add(&mut self, value: &[u8]) {
        self.count(value.len());
        self.add_bounds(value);
    }

    /// Takes the length of a value whose bytes are known.
    #[inline]
    pub(super) fn count(&mut self, length: usize) {
        self.total_length += length as u64;
    }

    /// Takes the bytes of a value.
    #[inline]
    pub(super) fn add_bounds(&mut self, value: &[u8]) {
        let first = prefix(value);
        if self.bounds.is_some() && self.prefixes.0 < first && first < self.prefixes.1 {
            return;
        }
        self.widen(value, first);
    }

    fn widen(&mut self, value: &[u8], first: u64) {
        match &mut self.bounds {
            None => {
                self.bounds = Some((value.to_vec(), value.to_vec()));
                self.prefixes = (first, first);
            }
            Some((min, max)) => {
                if value < &min[..] {
                    min.clear();
                    min.extend_from_slice(value);
                    self.prefixes.0 = first;
                } else if value > &max[..] {
                    max.clear();
                    max.extend_from_slice(value);
                    self.prefixes.1 = first;
                }
            }
        }
    }

    /// The statistics of text, and of no values then.
    pub(super) fn take_text(&mut self) -> Detail {
        let total_length = Some(std::mem::take(&mut self.total_length));
        let Some((min, max)) = self.bounds.take() else {
            return Detail::String { min: None, max: None, total_length };
        };
        Detail::String { min: Some(lower(min)), max: upper(max), total_length }
    }

    /// The length of all, and of no values then.
    pub(super) fn take_length(&mut self) -> u64 {
        std::mem::take(&mut self.total_length)
    }
}

/// Where text is cut to be recorded: before the first character that is too much.
fn cut(text: &[u8]) -> Option<usize> {
    let most = tuning::TEXT_RECORDED.get();
    if text.len() <= most {
        return None;
    }
    let is_inside = |&at: &usize| text.get(at).is_some_and(|byte| byte & 0xc0 == 0x80);
    (0..=most).rev().find(|at| !is_inside(at))
}

fn lower(min: Vec<u8>) -> Bound {
    match cut(&min) {
        Some(at) => Bound { value: Bytes::copy_from_slice(min.get(..at).unwrap_or_default()), exact: false },
        None => Bound { value: min.into(), exact: true },
    }
}

/// The text that is above all that begin as `max` does: with the last character that can be made a greater one.
fn upper(max: Vec<u8>) -> Option<Bound> {
    let Some(at) = cut(&max) else { return Some(Bound { value: max.into(), exact: true }) };
    let text = std::str::from_utf8(max.get(..at)?).ok()?;
    let (start, next) = text.char_indices().rev().find_map(|(start, last)| Some((start, next_character(last)?)))?;
    let mut value = text.get(..start)?.to_owned();
    value.push(next);
    Some(Bound { value: value.into(), exact: false })
}

/// The next greater character, which takes as many bytes: readers may count on 1,024 of them.
fn next_character(character: char) -> Option<char> {
    let next = match character {
        '\u{D7FF}' => Some('\u{E000}'),
        other => char::from_u32(u32::from(other) + 1),
    };
    next.filter(|next| next.len_utf8() == character.len_utf8())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn bounds_hold_all_values(values in prop::collection::vec("[a-c\u{80}-\u{84}\u{10FFFE}-\u{10FFFF}]{0,9}", 1..40), long in 0..700usize) {
            let values: Vec<String> = values.into_iter().map(|value| value.chars().cycle().take(value.chars().count() * long / 4).collect()).collect();
            let mut bounds = Bounds::default();
            values.iter().for_each(|value| bounds.add(value.as_bytes()));
            let Detail::String { min, max, total_length } = bounds.take_text() else { panic!("no text") };
            prop_assert_eq!(total_length, Some(values.iter().map(|value| value.len() as u64).sum()));
            let min = min.unwrap();
            prop_assert!(min.value.len() <= tuning::TEXT_RECORDED.get() && std::str::from_utf8(&min.value).is_ok());
            prop_assert!(values.iter().all(|value| value.as_bytes() >= &min.value[..]));
            if min.exact {
                prop_assert!(values.iter().any(|value| value.as_bytes() == &min.value[..]));
            }
            if let Some(max) = max {
                prop_assert!(max.value.len() <= tuning::TEXT_RECORDED.get() && std::str::from_utf8(&max.value).is_ok());
                prop_assert!(values.iter().all(|value| value.as_bytes() <= &max.value[..]));
                if max.exact {
                    prop_assert!(values.iter().any(|value| value.as_bytes() == &max.value[..]));
                }
            }
        }
    }

    #[test]
    fn characters_that_follow() {
        assert_eq!(next_character('a'), Some('b'));
        assert_eq!(next_character('\u{7F}'), None);
        assert_eq!(next_character('\u{7FF}'), None);
        assert_eq!(next_character('\u{D7FF}'), Some('\u{E000}'));
        assert_eq!(next_character('\u{FFFF}'), None);
        assert_eq!(next_character('\u{10FFFF}'), None);
    }
}
