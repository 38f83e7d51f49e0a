//! Statistics of segments, which choose the sub-encoding.

use super::super::bitpack::{aligned_width_for, bits, packed_len};
use super::super::varint::{len_u64, zigzag};
use super::sub_encoding::{SHORT_REPEAT_LEN, SubEncoding, stored};

/// Statistics of a segment of values, which determine the size of each sub-encoding. The statistics of adjacent segments
/// are merged in constant time.
#[derive(Clone, Copy)]
pub(super) struct SegmentStats {
    pub(super) len: usize,
    pub(super) first: i64,
    pub(super) last: i64,
    pub(super) signed: bool,
    /// Bitwise or of the values as stored. Its highest bit is the highest bit of the largest value.
    pub(super) or_of_values: u64,
    /// The first delta, wrapping; 0 for a single value.
    pub(super) first_delta: i64,
    /// Bitwise or of the magnitudes of the other deltas. Unspecified where the values are not monotonic.
    pub(super) or_of_deltas: u64,
    /// Whether all deltas are equal.
    pub(super) has_equal_deltas: bool,
    pub(super) is_non_decreasing: bool,
    pub(super) is_non_increasing: bool,
}

/// Bytes of a direct run.
#[inline(always)]
pub(super) fn direct_size(len: usize, width: u32) -> usize {
    2 + packed_len(len, width)
}

impl SegmentStats {
    /// The statistics of this segment and the adjacent segment `next`.
    #[inline(always)]
    pub(super) fn merge(self, next: SegmentStats) -> SegmentStats {
        let delta_between = next.first.wrapping_sub(self.last);
        let first_delta = if self.len > 1 { self.first_delta } else { delta_between };
        let mut or_of_deltas = self.or_of_deltas | next.or_of_deltas;
        if self.len > 1 {
            or_of_deltas |= self.last.abs_diff(next.first);
        }
        if next.len > 1 {
            or_of_deltas |= next.first_delta.unsigned_abs();
        }
        SegmentStats {
            len: self.len + next.len,
            first: self.first,
            last: next.last,
            signed: self.signed,
            or_of_values: self.or_of_values | next.or_of_values,
            first_delta,
            or_of_deltas,
            has_equal_deltas: self.has_equal_deltas
                && next.has_equal_deltas
                && delta_between == first_delta
                && (next.len == 1 || next.first_delta == first_delta),
            is_non_decreasing: self.is_non_decreasing && next.is_non_decreasing && self.last <= next.first,
            is_non_increasing: self.is_non_increasing && next.is_non_increasing && self.last >= next.first,
        }
    }

    #[inline(always)]
    pub(super) fn is_monotonic(&self) -> bool {
        self.is_non_decreasing || self.is_non_increasing
    }

    #[inline(always)]
    pub(super) fn is_constant(&self) -> bool {
        self.is_non_decreasing && self.is_non_increasing
    }

    #[inline(always)]
    pub(super) fn allows_fixed_delta(&self) -> bool {
        self.has_equal_deltas && self.is_monotonic_in_63_bits()
    }

    /// Whether a delta run can have packed deltas: all deltas get the sign of the first, which therefore is not 0.
    #[inline(always)]
    pub(super) fn allows_packed_deltas(&self) -> bool {
        self.first_delta != 0 && self.is_monotonic_in_63_bits()
    }

    /// Whether the values are monotonic, and no difference of two values overflows.
    #[inline(always)]
    fn is_monotonic_in_63_bits(&self) -> bool {
        self.is_monotonic() && self.last.checked_sub(self.first).is_some()
    }

    /// The smallest of short repeat, direct and delta, and its size in bytes.
    #[inline(always)]
    pub(super) fn smallest(&self) -> (SubEncoding, usize) {
        if SHORT_REPEAT_LEN.contains(&self.len) && self.is_constant() {
            let bytes = bits(self.or_of_values).div_ceil(8).max(1);
            return (SubEncoding::ShortRepeat { bytes: bytes.to_le_bytes()[0] }, 1 + bytes as usize);
        }
        let width = aligned_width_for(bits(self.or_of_values));
        let direct = (SubEncoding::Direct { width }, direct_size(self.len, width));
        if self.len < 3 {
            return direct;
        }
        let header = 2 + len_u64(stored(self.first, self.signed)) + len_u64(zigzag(self.first_delta));
        let delta = if self.allows_fixed_delta() {
            (SubEncoding::FixedDelta, header)
        } else if self.allows_packed_deltas() {
            // Width 1 has no code in a delta run.
            let width = aligned_width_for(bits(self.or_of_deltas)).max(2);
            (SubEncoding::Delta { width }, header + packed_len(self.len - 2, width))
        } else {
            return direct;
        };
        // Among equal sizes, a fixed delta is the fastest to decode, followed by direct.
        match delta {
            (SubEncoding::FixedDelta, size) if size <= direct.1 => delta,
            (_, size) if size < direct.1 => delta,
            _ => direct,
        }
    }
}
