//! Direct encoding and statistics of string and binary columns.

use arrow_array::OffsetSizeTrait;
use bytes::Bytes;
use orcish_core::error::{Error, Result};
use orcish_core::statistics::Bound;

use super::dictionary::prefix;
use super::{Compressors, Detail, EncodedValues, StreamKind};
use crate::tuning;
use crate::write::out_stream::OutStream;
use crate::write::rle_stream::IntegerStream;
use crate::write::stream_options::StreamOptions;

/// The message about an array that is not valid.
pub(super) const BEYOND: &str = "an array with an offset beyond its bytes";

/// Direct encoding: a data stream with the bytes of all values, and a length stream.
pub(super) struct DirectEncoder {
    data: OutStream,
    lengths: IntegerStream,
}

impl DirectEncoder {
    pub(super) fn new(options: StreamOptions) -> Self {
        DirectEncoder { data: options.new_text_stream(), lengths: IntegerStream::unsigned(options) }
    }

    #[inline]
    pub(super) fn push(&mut self, value: &[u8]) {
        self.data.buffer().extend_from_slice(value);
        self.lengths.buffer().push(stored_length(value));
    }

    /// Appends the values that `offsets` delimit in `data`, and calls `visit` with each value.
    ///
    /// # Errors
    /// `InvalidArgument` where an offset is beyond `data`.
    pub(super) fn extend<O: OffsetSizeTrait>(
        &mut self,
        offsets: &[O],
        data: &[u8],
        mut visit: impl FnMut(&[u8]),
    ) -> Result<()> {
        let beyond = || Error::invalid(BEYOND);
        let (Some(first), Some(last)) = (offsets.first(), offsets.last()) else { return Ok(()) };
        let all = data.get(first.as_usize()..last.as_usize()).ok_or_else(beyond)?;
        self.data.buffer().extend_from_slice(all);
        let ranges = offsets.iter().zip(offsets.iter().skip(1)).map(|(from, to)| from.as_usize()..to.as_usize());
        let lengths = self.lengths.buffer();
        lengths.reserve(offsets.len());
        for range in ranges {
            let value = data.get(range).ok_or_else(beyond)?;
            lengths.push(stored_length(value));
            visit(value);
        }
        Ok(())
    }

    /// Encodes and compresses once many values are buffered.
    #[inline]
    pub(super) fn encode_if_large(&mut self, compressors: &mut Compressors) -> Result<()> {
        self.lengths.encode_if_large(compressors)?;
        self.data.compress_if_large(compressors)
    }

    pub(super) fn begin_row_group(&mut self) {
        self.data.begin_row_group(&[]);
        self.lengths.begin_row_group();
    }

    pub(super) fn end_row_group(&mut self, compressors: &mut Compressors) -> Result<()> {
        self.data.compress_full_chunks(compressors)?;
        self.lengths.end_run(compressors)
    }

    /// Estimated stored bytes so far.
    pub(super) fn size(&self) -> usize {
        self.data.size() + self.lengths.size()
    }

    /// Bytes of memory so far.
    pub(super) fn memory_size(&self) -> usize {
        self.data.size() + self.lengths.memory_size()
    }

    pub(super) fn end_stripe(&mut self, compressors: &mut Compressors) -> Result<EncodedValues> {
        Ok(EncodedValues::direct(vec![
            (StreamKind::Data, self.data.finish(compressors)?),
            (StreamKind::Length, self.lengths.finish(compressors)?),
        ]))
    }
}

/// The length of a value in a stream of lengths.
#[inline]
pub(super) fn stored_length(value: &[u8]) -> i64 {
    // No slice is longer than `isize::MAX`.
    value.len().cast_signed() as i64
}

/// String statistics of a row group: minimum, maximum, and total length.
#[derive(Debug, Default)]
pub(super) struct StringStatistics {
    /// The [`prefix`]es of minimum and maximum. Most values lie between them, and are not compared further.
    prefixes: (u64, u64),
    bounds: Option<(Vec<u8>, Vec<u8>)>,
    total_length: u64,
}

impl StringStatistics {
    #[inline]
    pub(super) fn add(&mut self, value: &[u8]) {
        self.add_length(value.len());
        self.update_bounds(value);
    }

    /// Adds the length of a value. A value that the row group had before does not change the bounds.
    #[inline]
    pub(super) fn add_length(&mut self, length: usize) {
        self.total_length += length as u64;
    }

    /// Updates minimum and maximum with a value.
    #[inline]
    pub(super) fn update_bounds(&mut self, value: &[u8]) {
        let value_prefix = prefix(value);
        if self.bounds.is_some() && self.prefixes.0 < value_prefix && value_prefix < self.prefixes.1 {
            return;
        }
        self.compare_bounds(value, value_prefix);
    }

    fn compare_bounds(&mut self, value: &[u8], value_prefix: u64) {
        match &mut self.bounds {
            None => {
                self.bounds = Some((value.to_vec(), value.to_vec()));
                self.prefixes = (value_prefix, value_prefix);
            }
            Some((min, max)) => {
                // A comparison with an empty slice is slow on processors with AVX-512, where its pointer is dangling.
                if !min.is_empty() && value < &min[..] {
                    min.clear();
                    min.extend_from_slice(value);
                    self.prefixes.0 = value_prefix;
                } else if !value.is_empty() && value > &max[..] {
                    max.clear();
                    max.extend_from_slice(value);
                    self.prefixes.1 = value_prefix;
                }
            }
        }
    }

    /// The statistics. They are empty afterwards.
    pub(super) fn take(&mut self) -> Detail {
        let total_length = Some(std::mem::take(&mut self.total_length));
        let Some((min, max)) = self.bounds.take() else {
            return Detail::String { min: None, max: None, total_length };
        };
        Detail::String { min: Some(min_bound(min)), max: max_bound(max), total_length }
    }
}

/// The length to which a long bound is truncated, at a character boundary. `None` for a bound that is short enough.
fn truncated_length(text: &[u8]) -> Option<usize> {
    let max_length = tuning::MAX_BOUND_BYTES.get();
    if text.len() <= max_length {
        return None;
    }
    let is_inside_character = |&at: &usize| text.get(at).is_some_and(|byte| byte & 0xc0 == 0x80);
    (0..=max_length).rev().find(|at| !is_inside_character(at))
}

/// The minimum, truncated if it is long.
fn min_bound(min: Vec<u8>) -> Bound {
    match truncated_length(&min) {
        Some(length) => Bound { value: Bytes::copy_from_slice(min.split_at(length).0), exact: false },
        None => Bound { value: min.into(), exact: true },
    }
}

/// The maximum. A long maximum is truncated, and its last character that has a successor is incremented, so that the
/// bound is greater than all values with the prefix. `None` if no character has a successor.
fn max_bound(max: Vec<u8>) -> Option<Bound> {
    let Some(length) = truncated_length(&max) else { return Some(Bound { value: max.into(), exact: true }) };
    let text = std::str::from_utf8(max.get(..length)?).ok()?;
    let (start, next) = text.char_indices().rev().find_map(|(start, last)| Some((start, next_character(last)?)))?;
    let mut value = text.get(..start)?.to_owned();
    value.push(next);
    Some(Bound { value: value.into(), exact: false })
}

/// The next greater character, if it has as many bytes: readers may rely on bounds of at most 1,024 bytes.
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
        fn bounds_contain_all_values(
            values in prop::collection::vec("[a-c\u{80}-\u{84}\u{10FFFE}-\u{10FFFF}]{0,9}", 1..40),
            long in 0..700usize,
        ) {
            let repeat = |value: String| value.chars().cycle().take(value.chars().count() * long / 4).collect();
            let values: Vec<String> = values.into_iter().map(repeat).collect();
            let mut statistics = StringStatistics::default();
            values.iter().for_each(|value| statistics.add(value.as_bytes()));
            let Detail::String { min, max, total_length } = statistics.take() else { panic!("no string statistics") };
            prop_assert_eq!(total_length, Some(values.iter().map(|value| value.len() as u64).sum()));
            let min = min.unwrap();
            prop_assert!(min.value.len() <= tuning::MAX_BOUND_BYTES.get() && std::str::from_utf8(&min.value).is_ok());
            prop_assert!(values.iter().all(|value| value.as_bytes() >= &min.value[..]));
            if min.exact {
                prop_assert!(values.iter().any(|value| value.as_bytes() == &min.value[..]));
            }
            if let Some(max) = max {
                prop_assert!(max.value.len() <= tuning::MAX_BOUND_BYTES.get());
                prop_assert!(std::str::from_utf8(&max.value).is_ok());
                prop_assert!(values.iter().all(|value| value.as_bytes() <= &max.value[..]));
                if max.exact {
                    prop_assert!(values.iter().any(|value| value.as_bytes() == &max.value[..]));
                }
            }
        }
    }

    #[test]
    fn next_character_has_as_many_bytes() {
        assert_eq!(next_character('a'), Some('b'));
        assert_eq!(next_character('\u{7F}'), None);
        assert_eq!(next_character('\u{7FF}'), None);
        assert_eq!(next_character('\u{D7FF}'), Some('\u{E000}'));
        assert_eq!(next_character('\u{FFFF}'), None);
        assert_eq!(next_character('\u{10FFFF}'), None);
    }
}
