//! Decoder of integer run length encoding, version 1 and version 2.

use std::marker::PhantomData;

use orcish_core::OrInternal as _;
use orcish_core::error::{Error, Result};

use super::cpu::{self, InstructionSet, Kernel};
use super::run::{MAX_RUN, RunDecoder};
use super::{int_rle_v1, int_rle_v2};
use crate::source::{ByteSource, Positions, SeekSource};

/// Maximum number of bytes of a run, of version 1 and version 2.
pub(crate) const MAX_RUN_BYTES: usize = {
    let (v1, v2) = (int_rle_v1::Runs::<false>::MAX_RUN_BYTES, int_rle_v2::Runs::<false>::MAX_RUN_BYTES);
    if v1 > v2 { v1 } else { v2 }
};
/// Capacity of the buffer of decoded values. Runs are decoded while a run of the maximum length fits.
const BUFFER_LEN: usize = 2 * MAX_RUN;

/// Number of values from which on memory is reserved before they are decoded.
const MIN_RESERVED: usize = 1 << 14;
/// Maximum number of values for which memory is reserved before they are decoded: the rows of a batch.
const MAX_RESERVED: usize = 1 << 16;

/// Version of integer run length encoding. The encoding of the column states it (`DIRECT` or `DIRECT_V2`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Version {
    /// ORCv1, Integer Run Length Encoding, version 1.
    V1,
    /// ORCv1, Integer Run Length Encoding, version 2.
    V2,
}

/// An integer type of decoded values.
pub trait Integer: Copy + Default {
    /// Name of the type in error messages.
    const NAME: &'static str;
    /// The value truncated to this type, and whether it overflows the type.
    fn truncate(value: i64) -> (Self, bool);
}

macro_rules! integer {
    ($($t:ident or $unsigned:ident),*) => {$(
        impl Integer for $t {
            const NAME: &'static str = stringify!($t);
            #[inline(always)]
            #[expect(clippy::allow_attributes, reason = "some types need only some of them")]
            #[allow(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                clippy::cast_possible_wrap,
                clippy::cast_lossless,
                reason = "the result is compared with the value"
            )]
            fn truncate(value: i64) -> (Self, bool) {
                // cuDF writes a negative 16-bit integer as the unsigned integer of the same bits. All readers accept that.
                (value as $t, (value as $t as i64 != value) & (value as $unsigned as i64 != value))
            }
        }
    )*};
}
integer!(i16 or u16, i32 or u32, i64 or u64, u32 or u32);

/// Decodes integers.
pub struct IntRle<S> {
    source: S,
    version: Version,
    signed: bool,
    /// Values of complete runs. The values `at..len` are not read yet.
    values: Box<[i64; BUFFER_LEN]>,
    at: usize,
    len: usize,
}

impl<S> std::fmt::Debug for IntRle<S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("IntRle").field("version", &self.version).field("signed", &self.signed).finish_non_exhaustive()
    }
}

impl<S: ByteSource> IntRle<S> {
    /// A decoder at the start of `source`, for signed (zigzag) or unsigned values.
    pub fn new(source: S, version: Version, signed: bool) -> Self {
        IntRle { source, version, signed, values: Box::new([0; BUFFER_LEN]), at: 0, len: 0 }
    }

    /// The next values: at least one, and at most `max`.
    ///
    /// # Errors
    /// `Corrupt` where the stream ends, or a run is malformed.
    #[inline]
    pub fn next_values(&mut self, max: usize) -> Result<&[i64]> {
        if self.at == self.len {
            self.at = 0;
            self.len = 0;
            let Self { source, values, .. } = self;
            self.len = match (self.version, self.signed) {
                (Version::V1, false) => decode_runs::<int_rle_v1::Runs<false>, S>(source, values),
                (Version::V1, true) => decode_runs::<int_rle_v1::Runs<true>, S>(source, values),
                (Version::V2, false) => decode_runs::<int_rle_v2::Runs<false>, S>(source, values),
                (Version::V2, true) => decode_runs::<int_rle_v2::Runs<true>, S>(source, values),
            }?;
        }
        let from = self.at;
        self.at = self.len.min(from.saturating_add(max));
        self.values.get(from..self.at).or_internal("more integers were read than were decoded")
    }

    /// Appends `n` values.
    ///
    /// # Errors
    /// `Corrupt` where the stream ends before, a run is malformed, or a value overflows the type.
    pub fn append<T: Integer>(&mut self, n: usize, out: &mut Vec<T>) -> Result<()> {
        let mut remaining = n;
        // The copies of a vector that grows take a part of the time where values are many. A file can state more than it has.
        if n >= MIN_RESERVED {
            out.reserve(n.min(MAX_RESERVED));
        }
        while remaining > 0 {
            let values = self.next_values(remaining)?;
            remaining -= values.len();
            if cpu::run(AppendTruncated { values, out }) {
                return Err(Error::corrupt(format!("an integer does not fit into {}", T::NAME)));
            }
        }
        Ok(())
    }

    /// Skips `n` values. Runs that are skipped as a whole are not decoded, and only the following is checked of them: the
    /// stream has all their bytes; a patched base run states patches that fit into 64 bits with their gaps; the base and the
    /// delta of a delta run, and the first value of a run of version 1, have at most 64 bits; literals of version 1 take at
    /// most ten bytes on average. Patches beyond the end of the run, or too large for its values, are not noticed.
    ///
    /// # Errors
    /// `Corrupt` where the stream ends before, or a run is malformed.
    pub fn skip(&mut self, n: usize) -> Result<()> {
        let buffered = n.min(self.len - self.at);
        self.at += buffered;
        let mut remaining = n - buffered;
        while remaining > 0 {
            let skipped = match self.version {
                Version::V1 => skip_whole_runs::<int_rle_v1::Runs<false>, S>(&mut self.source, remaining),
                Version::V2 => skip_whole_runs::<int_rle_v2::Runs<false>, S>(&mut self.source, remaining),
            }?;
            // A run of more values is decoded.
            remaining -= if skipped == 0 { self.next_values(remaining)?.len() } else { skipped };
        }
        Ok(())
    }

    /// Skips some runs, and returns their number of values; 0 at the end of the stream.
    ///
    /// # Errors
    /// `Corrupt` where the stream ends within a run, or a run is malformed.
    pub fn skip_runs(&mut self) -> Result<usize> {
        if self.at == self.len && self.source.fill(1)?.is_empty() {
            return Ok(0);
        }
        Ok(self.next_values(usize::MAX)?.len())
    }

    /// Skips `n` lengths; returns their sum and maximum.
    ///
    /// # Errors
    /// `Corrupt` where the stream ends before, a run is malformed, or a length is negative or too large.
    pub fn skip_lengths(&mut self, n: usize) -> Result<(u64, u32)> {
        let (mut remaining, mut sum, mut max) = (n, 0u64, 0);
        while remaining > 0 {
            let values = self.next_values(remaining)?;
            remaining -= values.len();
            // A negative length is a very large unsigned integer.
            let batch_max = values.iter().map(|value| value.cast_unsigned()).max().unwrap_or(0);
            let batch_max = u32::try_from(batch_max).map_err(|_| Error::corrupt("a length does not fit into u32"))?;
            max = max.max(batch_max);
            // The sum of a buffer of 32-bit lengths does not overflow.
            let batch_sum: u64 = values.iter().map(|value| value.cast_unsigned()).sum();
            sum = sum.checked_add(batch_sum).ok_or_else(|| Error::corrupt("lengths of more than 64 bits"))?;
        }
        Ok((sum, max))
    }
}

/// Appends truncated values. Returns whether a value overflows the type.
struct AppendTruncated<'a, T> {
    values: &'a [i64],
    out: &'a mut Vec<T>,
}

impl<T: Integer> Kernel for AppendTruncated<'_, T> {
    type Output = bool;

    #[inline(always)]
    fn run(self, _instructions: impl InstructionSet) -> bool {
        let mut any_overflow = false;
        self.out.extend(self.values.iter().map(|&value| {
            let (truncated, overflow) = T::truncate(value);
            any_overflow |= overflow;
            truncated
        }));
        any_overflow
    }
}

impl<S: SeekSource> IntRle<S> {
    /// Seeks to the start of a row group (ORCv1, Row Group Index).
    ///
    /// # Errors
    /// `Corrupt` where the positions are not in the stream, or positions are missing.
    pub fn seek(&mut self, positions: &mut Positions<'_>) -> Result<()> {
        self.source.seek(positions)?;
        (self.at, self.len) = (0, 0);
        self.skip(positions.take_count()?)
    }
}

/// Decodes at least one run, and further runs while a run of the maximum length fits into `out`. Returns the number of
/// values.
fn decode_runs<D: RunDecoder, S: ByteSource>(source: &mut S, out: &mut [i64; BUFFER_LEN]) -> Result<usize> {
    let bytes = source.fill(D::MAX_RUN_BYTES)?;
    let is_end_of_stream = bytes.len() < D::MAX_RUN_BYTES;
    let decoded = cpu::run(DecodeRuns::<D> { bytes, is_end_of_stream, out, version: PhantomData });
    let (len, taken) = match decoded {
        Ok((len, rest)) => (len, bytes.len() - rest.len()),
        Err(error) => return Err(source.fault().unwrap_or(error)),
    };
    source.consume(taken);
    Ok(len)
}

/// Decodes runs, and returns the number of values and the bytes behind the runs.
struct DecodeRuns<'a, 'b, D> {
    bytes: &'a [u8],
    is_end_of_stream: bool,
    out: &'b mut [i64; BUFFER_LEN],
    version: PhantomData<D>,
}

impl<'a, D: RunDecoder> Kernel for DecodeRuns<'a, '_, D> {
    type Output = Result<(usize, &'a [u8])>;

    #[inline(always)]
    fn run(self, instructions: impl InstructionSet) -> Self::Output {
        let DecodeRuns { bytes, is_end_of_stream, out, .. } = self;
        let (mut rest, mut len) = (bytes, 0);
        loop {
            let (values, behind) = D::decode_small(instructions, rest, out.split_at_mut(len).1);
            len += values;
            rest = behind;
            if len > 0 && (rest.is_empty() || (rest.len() < D::MAX_RUN_BYTES && !is_end_of_stream)) {
                break;
            }
            let Some(run) = out.get_mut(len..).and_then(|free| free.first_chunk_mut::<MAX_RUN>()) else { break };
            match D::decode(rest, Some(run)) {
                Ok((values, behind)) => {
                    len += values;
                    rest = behind;
                }
                // The values of this run may not be needed. The next call fails if they are.
                Err(_) if len > 0 => break,
                Err(error) => return Err(error),
            }
        }
        Ok((len, rest))
    }
}

/// Skips runs at the front of the source that have at most `n` values together. Returns the number of values, which is 0
/// where the first run has more than `n`.
fn skip_whole_runs<D: RunDecoder, S: ByteSource>(source: &mut S, n: usize) -> Result<usize> {
    let bytes = source.fill(D::MAX_RUN_BYTES)?;
    let is_end_of_stream = bytes.len() < D::MAX_RUN_BYTES;
    let (mut rest, mut skipped) = (bytes, 0);
    while skipped < n {
        match D::decode(rest, None) {
            Ok((values, behind)) if values <= n - skipped => {
                skipped += values;
                rest = behind;
            }
            Ok(_) => break,
            // The next call fails.
            Err(_) if skipped > 0 => break,
            Err(error) => return Err(source.fault().unwrap_or(error)),
        }
        if rest.len() < D::MAX_RUN_BYTES && !is_end_of_stream {
            break;
        }
    }
    let taken = bytes.len() - rest.len();
    source.consume(taken);
    Ok(skipped)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::encoding::encode;

    fn read(bytes: &[u8], version: Version, signed: bool, n: usize) -> Result<Vec<i64>> {
        let mut out = Vec::new();
        IntRle::new(bytes, version, signed).append(n, &mut out)?;
        Ok(out)
    }

    #[test]
    fn examples_of_version_1() {
        assert_eq!(read(&[0x61, 0x00, 0x07], Version::V1, false, 100).unwrap(), [7; 100]);
        let want: Vec<i64> = (1..=100).rev().collect();
        assert_eq!(read(&[0x61, 0xff, 0x64], Version::V1, false, 100).unwrap(), want);
        let literals = [0xfb, 0x02, 0x03, 0x06, 0x07, 0x0b];
        assert_eq!(read(&literals, Version::V1, false, 5).unwrap(), [2, 3, 6, 7, 11]);
    }

    #[test]
    fn examples_of_version_2() {
        assert_eq!(read(&[0x0a, 0x27, 0x10], Version::V2, false, 5).unwrap(), [10_000; 5]);
        let direct = [0x5e, 0x03, 0x5c, 0xa1, 0xab, 0x1e, 0xde, 0xad, 0xbe, 0xef];
        assert_eq!(read(&direct, Version::V2, false, 4).unwrap(), [23_713, 43_806, 57_005, 48_879]);
        let patched = [
            0x8e, 0x13, 0x2b, 0x21, 0x07, 0xd0, 0x1e, 0x00, 0x14, 0x70, 0x28, 0x32, 0x3c, 0x46, 0x50, 0x5a, 0x64, 0x6e,
            0x78, 0x82, 0x8c, 0x96, 0xa0, 0xaa, 0xb4, 0xbe, 0xfc, 0xe8,
        ];
        let mut want: Vec<i64> = (0..18).map(|i| 2000 + 10 * i).collect();
        want.splice(..18, [2030, 2000, 2020, 1_000_000].into_iter().chain((4..20).map(|i| 2000 + 10 * i)));
        assert_eq!(read(&patched, Version::V2, false, 20).unwrap(), want);
        // A second patch of the same value, and one behind it, do not count.
        let mut repeated = patched.to_vec();
        repeated.splice(3..4, [0x23]);
        repeated.splice(26.., [0xfc, 0xe8, 0x00, 0x14, 0x00, 0x40]);
        assert_eq!(read(&repeated, Version::V2, false, 20).unwrap(), want);
        let delta = [0xc6, 0x09, 0x02, 0x02, 0x22, 0x42, 0x42, 0x46];
        assert_eq!(read(&delta, Version::V2, false, 10).unwrap(), [2, 3, 5, 7, 11, 13, 17, 19, 23, 29]);
    }

    #[test]
    fn values_beyond_the_type_are_errors() {
        let mut bytes = Vec::new();
        encode::int_rle_v2::encode(&[1, -1, 1 << 32], true, &mut bytes);
        let decoder = || IntRle::new(&bytes[..], Version::V2, true);
        assert!(decoder().append::<i32>(3, &mut Vec::new()).is_err());
        assert!(decoder().append::<u32>(2, &mut Vec::new()).is_err());
        assert!(decoder().append::<i64>(3, &mut Vec::new()).is_ok());
    }

    #[test]
    fn skipped_runs_are_checked_as_far_as_their_headers_tell() {
        let skip =
            |bytes: &[u8], version, n| IntRle::new(bytes, version, true).skip(n).map_err(|e| e.message().to_owned());
        // A run of version 1 with an overlong first value, and without a first value.
        let overlong = [&[0, 0][..], &[0x80; 10], &[0]].concat();
        assert_eq!(skip(&overlong, Version::V1, 3), Err("a varint is longer than 64 bits".into()));
        assert_eq!(skip(&[0, 0], Version::V1, 3), Err("the stream ends within a varint".into()));
        // Two literals of 21 bytes together, of 20 bytes, and one that is missing.
        let literals = |bytes: usize| [&[0xfe][..], &vec![0x80; bytes - 2], &[0, 0]].concat();
        assert_eq!(skip(&literals(21), Version::V1, 2), Err("a varint is longer than 64 bits".into()));
        assert_eq!(skip(&literals(20), Version::V1, 2), Ok(()));
        assert_eq!(skip(&[0xfe, 0], Version::V1, 2), Err("the stream ends within a varint".into()));
        // Patched base runs of one value of one bit, and a base of one byte: without patches, and with a patch behind the run.
        assert_eq!(skip(&[0x80, 0, 0, 0, 0, 0], Version::V2, 1), Err("a patched base run has no patches".into()));
        assert_eq!(skip(&[0x80, 0, 0, 0x01, 0, 0, 0xff], Version::V2, 1), Ok(()));
        // A direct run of three bytes.
        assert_eq!(skip(&[0x4e, 2, 0, 0], Version::V2, 3), Err("the stream ends 1 bytes early".into()));
        assert_eq!(skip(&[0x4e, 2, 0, 0, 0], Version::V2, 4), Err("the stream ends before the last value".into()));
    }

    /// A source that never has more contiguous bytes than are wanted.
    struct Sips<'a>(&'a [u8]);

    impl ByteSource for Sips<'_> {
        fn fill(&mut self, wanted: usize) -> Result<&[u8]> {
            Ok(self.0.get(..wanted).unwrap_or(self.0))
        }

        fn consume(&mut self, n: usize) {
            self.0 = &self.0[n..];
        }
    }

    /// A run of version 2, and its values.
    fn run_of_version_2() -> impl Strategy<Value = (encode::SubEncoding, Vec<i64>)> {
        use encode::SubEncoding::{Delta, Direct, FixedDelta, PatchedBase, ShortRepeat};
        prop_oneof![
            (0..=i64::from(u32::MAX), 3..=10usize).prop_map(|(value, n)| (ShortRepeat { bytes: 5 }, vec![value; n])),
            prop::collection::vec(0..1i64 << 20, 1..=512).prop_map(|values| (Direct { width: 21 }, values)),
            (prop::collection::vec(0..100i64, 8..=512), 0..8usize).prop_map(|(mut values, at)| {
                values[at] = 1 << 40;
                (PatchedBase { width: 8 }, values)
            }),
            (any::<i32>(), -300..300i64, 2..=512i64).prop_map(|(first, delta, n)| {
                (FixedDelta, (0..n).map(|i| i64::from(first.unsigned_abs()) + 200_000 + i * delta).collect())
            }),
            prop::collection::vec(1..1i64 << 12, 2..=512).prop_map(|deltas| {
                (
                    Delta { width: 12 },
                    deltas
                        .iter()
                        .scan(0, |sum, delta| {
                            *sum += delta;
                            Some(*sum)
                        })
                        .collect(),
                )
            }),
        ]
    }

    fn shapes() -> impl Strategy<Value = Vec<i64>> {
        let part = prop_oneof![
            (any::<i64>(), 1..700usize).prop_map(|(value, n)| vec![value; n]),
            (any::<i32>(), -300..300i64, 1..700i64)
                .prop_map(|(from, step, n)| { (0..n).map(|i| i64::from(from) + i * step).collect() }),
            (0..63u32).prop_flat_map(|bits| prop::collection::vec(-(1i64 << bits)..(1i64 << bits), 1..600)),
            prop::collection::vec(prop_oneof![20 => 0..50i64, 1 => any::<i64>()], 1..600),
            prop::collection::vec(any::<i64>(), 1..20),
        ];
        prop::collection::vec(part, 0..4).prop_map(|parts| parts.concat())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(300))]
        #[test]
        fn decodes_encoded_values(values in shapes(), signed: bool, cut: prop::sample::Index) {
            let values: Vec<i64> = if signed { values } else { values.iter().map(|v| v & i64::MAX).collect() };
            for version in [Version::V1, Version::V2] {
                let mut bytes = Vec::new();
                match version {
                    Version::V1 => encode::int_rle_v1::encode(&values, signed, &mut bytes),
                    Version::V2 => encode::int_rle_v2::encode(&values, signed, &mut bytes),
                }
                let mut out = Vec::new();
                let mut decoder = IntRle::new(&bytes[..], version, signed);
                let first = cut.index(values.len() + 1);
                decoder.append::<i64>(first, &mut out).unwrap();
                decoder.append(values.len() - first, &mut out).unwrap();
                prop_assert_eq!(&out, &values);
                prop_assert!(decoder.append(1, &mut out).is_err());

                let mut decoder = IntRle::new(&bytes[..], version, signed);
                decoder.skip(first).unwrap();
                let mut rest: Vec<i64> = Vec::new();
                decoder.append(values.len() - first, &mut rest).unwrap();
                prop_assert_eq!(&rest[..], &values[first..]);
                prop_assert!(decoder.skip(1).is_err());

                let sum = IntRle::new(&bytes[..], version, signed).skip_lengths(first);
                let lengths: Option<Vec<u32>> = values[..first].iter().map(|&v| u32::try_from(v).ok()).collect();
                let want = lengths.map(|lengths| {
                    (lengths.iter().map(|&length| u64::from(length)).sum(), lengths.iter().copied().max().unwrap_or(0))
                });
                prop_assert_eq!(sum.ok(), want);
            }
        }

        #[test]
        fn values_behind_skipped_ones_are_read(
            runs in prop::collection::vec(run_of_version_2(), 1..12),
            signed: bool,
            steps in prop::collection::vec((0..1500usize, 0..100usize), 1..8),
        ) {
            let values: Vec<i64> = runs.iter().flat_map(|(_, values)| values.clone()).collect();
            let (mut version_1, mut version_2) = (Vec::new(), Vec::new());
            encode::int_rle_v1::encode(&values, signed, &mut version_1);
            for (sub, values) in &runs {
                prop_assert!(encode::encode_as(*sub, values, signed, &mut version_2), "{:?} of {:?}", sub, values);
            }
            for (version, bytes) in [(Version::V1, version_1), (Version::V2, version_2)] {
                let mut whole = IntRle::new(&bytes[..], version, signed);
                let mut sipped = IntRle::new(Sips(&bytes), version, signed);
                let mut rest = &values[..];
                for (skipped, read) in &steps {
                    let (skipped, tail) = rest.split_at(rest.len().min(*skipped));
                    let (want, behind) = tail.split_at(tail.len().min(*read));
                    let (mut of_whole, mut of_sipped): (Vec<i64>, Vec<i64>) = (Vec::new(), Vec::new());
                    whole.skip(skipped.len()).unwrap();
                    sipped.skip(skipped.len()).unwrap();
                    whole.append(want.len(), &mut of_whole).unwrap();
                    sipped.append(want.len(), &mut of_sipped).unwrap();
                    prop_assert_eq!((&of_whole[..], &of_sipped[..]), (want, want));
                    rest = behind;
                }
            }
        }

        #[test]
        fn any_bytes_give_values_or_an_error(bytes: Vec<u8>, signed: bool) {
            for version in [Version::V1, Version::V2] {
                let mut decoder = IntRle::new(&bytes[..], version, signed);
                while decoder.next_values(usize::MAX).is_ok_and(|values| !values.is_empty()) {}
            }
        }
    }
}
