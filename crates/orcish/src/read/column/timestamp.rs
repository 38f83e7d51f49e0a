//! Timestamps (ORCv1, Timestamp Columns), and local timestamps of Spark as integers of microseconds.

use std::sync::Arc;

use arrow_array::types::{
    ArrowTimestampType, TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType,
    TimestampSecondType,
};
use arrow_array::{ArrayRef, PrimitiveArray};
use arrow_buffer::{NullBuffer, ScalarBuffer};
use arrow_schema::TimeUnit;
use orcish_core::error::{Error, Result};
use orcish_core::nulls::spread;
use orcish_core::types::nanoseconds;

use super::streams::StreamDecoder;
use super::validity::{Present, existing, with_further_nulls};
use super::{Budget, ColumnReader};
use crate::codec::Stream;
use crate::encoding::cpu::{self, InstructionSet, Kernel};
use crate::encoding::int_rle::IntRle;
use crate::index::GroupStart;
use crate::options::OutOfRange;
use crate::time::{InstantDecoder, NANOS, NANOS_PER_SECOND, TimestampDecoder, calendar};

/// The conversion of stored seconds and nanoseconds.
pub(super) struct Decoder {
    pub(super) timestamps: TimestampDecoder,
    /// The conversion of local times to instants, if instants are read.
    pub(super) instants: Option<InstantDecoder>,
}

/// Encoding of timestamps.
#[expect(clippy::large_enum_variant, reason = "there is one for each column")]
pub(super) enum Stored {
    /// Seconds since the epoch in the zone of the writer, and nanoseconds.
    Split {
        seconds: StreamDecoder<IntRle<Stream>>,
        nanos: StreamDecoder<IntRle<Stream>>,
        decoder: Box<Result<Decoder>>,
    },
    /// Microseconds since 1970, as in Spark's `timestamp_ntz`.
    Micros(StreamDecoder<IntRle<Stream>>),
}

pub(super) struct TimestampReader {
    pub(super) present: Present,
    pub(super) stored_values: Stored,
    pub(super) unit: TimeUnit,
    pub(super) timezone: Option<Arc<str>>,
    /// Whether decoded dates before 1582-10-15 are Julian.
    pub(super) hybrid: bool,
    pub(super) out_of_range: OutOfRange,
    /// Whether a value with digits beyond the unit is an error.
    pub(super) keeps_digits: bool,
    /// Bounds that a filter compares with all digits, in nanoseconds, ascending.
    pub(super) bounds: Option<Arc<[i128]>>,
    /// Rows read so far, for messages.
    pub(super) row: u64,
}

/// Values in a unit.
struct Values {
    ticks: Vec<i64>,
    /// Places of values beyond 64 bits.
    overflows: Vec<usize>,
    /// Place of the first value with digits beyond the unit, if these are an error.
    cut: Option<usize>,
}

/// Converts seconds in place to ticks of 1/`PER_SECOND` seconds, rounded down. `nanos` are not negative, and less than a second.
struct Ticks<'a, const PER_SECOND: i64> {
    seconds: &'a mut [i64],
    nanos: &'a [i64],
}

/// What happened to values that were converted to ticks.
struct Converted {
    /// Places of values beyond 64 bits, which are 0.
    overflows: Vec<usize>,
    /// Whether a value has digits beyond the unit.
    is_cut: bool,
}

impl<const PER_SECOND: i64> Kernel for Ticks<'_, PER_SECOND> {
    type Output = Converted;

    #[inline(always)]
    fn run(self, _instructions: impl InstructionSet) -> Converted {
        let Ticks { seconds, nanos } = self;
        let (min, max) = seconds.iter().fold((0, 0), |(min, max), &s| (s.min(min), s.max(max)));
        let bound = i64::MAX / PER_SECOND - 1;
        let mut overflows = Vec::new();
        if min <= -bound || bound <= max {
            for (at, (value, &nanos)) in seconds.iter_mut().zip(nanos).enumerate() {
                // The sum of 128 bits can fit into 64 bits where the product alone does not.
                let exact = i128::from(*value) * i128::from(PER_SECOND) + i128::from(nanos / (NANOS / PER_SECOND));
                *value = i64::try_from(exact).unwrap_or_else(|_| {
                    overflows.push(at);
                    0
                });
            }
            let is_cut = nanos.iter().any(|&nanos| nanos % (NANOS / PER_SECOND) != 0);
            return Converted { overflows, is_cut };
        }
        // Columns of whole seconds are frequent.
        if nanos.iter().fold(0, |all, nanos| all | nanos) == 0 {
            seconds.iter_mut().for_each(|value| *value *= PER_SECOND);
            return Converted { overflows, is_cut: false };
        }
        let mut rest = 0;
        for (value, &nanos) in seconds.iter_mut().zip(nanos) {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "both are less than 2³⁰")]
            let (nanos, per_tick) = (nanos as u32, (NANOS / PER_SECOND) as u32);
            let ticks = nanos / per_tick;
            rest |= nanos - ticks * per_tick;
            *value = *value * PER_SECOND + i64::from(ticks);
        }
        Converted { overflows, is_cut: rest != 0 }
    }
}

impl Stored {
    fn skip(&mut self, n: usize) -> Result<()> {
        match self {
            Stored::Split { seconds, nanos, .. } => {
                seconds.with(|seconds| seconds.skip(n))?;
                nanos.with(|nanos| nanos.skip(n))
            }
            Stored::Micros(micros) => micros.with(|rle| rle.skip(n)),
        }
    }

    fn seek(&mut self, positions: &[u64]) -> Result<()> {
        match self {
            Stored::Split { seconds, nanos, .. } => {
                seconds.seek(positions)?;
                nanos.seek(positions)
            }
            Stored::Micros(micros) => micros.seek(positions),
        }
    }
}

impl TimestampReader {
    /// The next `n` values in the unit.
    fn values(&mut self, n: usize) -> Result<Values> {
        let (mut seconds, mut nanos): (Vec<i64>, Vec<i64>) = (Vec::with_capacity(n), Vec::with_capacity(n));
        match &mut self.stored_values {
            Stored::Split { seconds: stored_seconds, nanos: stored_nanos, decoder } => {
                stored_seconds.with(|rle| rle.append(n, &mut seconds))?;
                stored_nanos.with(|rle| rle.append(n, &mut nanos))?;
                if n > 0 {
                    let decoder = (**decoder).as_ref().map_err(Error::clone)?;
                    decoder.timestamps.decode_all(&mut seconds, &mut nanos)?;
                    if let Some(instants) = &decoder.instants {
                        instants.decode_all(&mut seconds);
                    }
                }
            }
            Stored::Micros(stored_micros) => {
                stored_micros.with(|rle| rle.append(n, &mut seconds))?;
                nanos.extend(seconds.iter_mut().map(|micros| {
                    let rest = micros.rem_euclid(1_000_000);
                    *micros = micros.div_euclid(1_000_000);
                    rest * 1_000
                }));
            }
        }
        if self.hybrid && seconds.iter().fold(i64::MAX, |least, &s| least.min(s)) < calendar::GREGORIAN_START_SECOND {
            seconds.iter_mut().for_each(|seconds| *seconds = calendar::seconds_to_proleptic(*seconds));
        }
        let beside_bound = if self.keeps_digits { None } else { self.first_beside_bound(&seconds, &nanos) };
        let Converted { overflows, is_cut } = self.to_ticks(&mut seconds, &nanos);
        let per_tick = nanoseconds(self.unit);
        let first_cut = || nanos.iter().position(|nanos| nanos % per_tick != 0);
        let cut = if self.keeps_digits && is_cut { first_cut() } else { beside_bound };
        Ok(Values { ticks: seconds, overflows, cut })
    }

    /// The place of the first value that is on another side of a bound than the value without digits below the unit.
    fn first_beside_bound(&self, seconds: &[i64], nanos: &[i64]) -> Option<usize> {
        let bounds = self.bounds.as_ref()?;
        let per_tick = i128::from(nanoseconds(self.unit));
        seconds.iter().zip(nanos).position(|(&seconds, &nanos)| {
            let value = i128::from(seconds) * NANOS_PER_SECOND + i128::from(nanos);
            let cut = value - value.rem_euclid(per_tick);
            let side = |value: i128| bounds.partition_point(|&bound| bound <= value);
            cut != value && side(cut) != side(value)
        })
    }

    /// Converts seconds in place to the unit.
    fn to_ticks(&self, seconds: &mut [i64], nanos: &[i64]) -> Converted {
        match self.unit {
            TimeUnit::Second => cpu::run(Ticks::<1> { seconds, nanos }),
            TimeUnit::Millisecond => cpu::run(Ticks::<1_000> { seconds, nanos }),
            TimeUnit::Microsecond => cpu::run(Ticks::<1_000_000> { seconds, nanos }),
            TimeUnit::Nanosecond => cpu::run(Ticks::<1_000_000_000> { seconds, nanos }),
        }
    }

    fn array<T: ArrowTimestampType>(&self, values: Vec<i64>, nulls: Option<NullBuffer>) -> ArrayRef {
        let array = PrimitiveArray::<T>::new(ScalarBuffer::from(values), nulls);
        Arc::new(array.with_timezone_opt(self.timezone.clone()))
    }
}

impl ColumnReader for TimestampReader {
    fn width(&self) -> usize {
        2 * size_of::<i64>()
    }

    fn rows_that_fit(&mut self, rows: usize, budget: Budget) -> Result<usize> {
        Ok(budget.take_rows(rows, self.width()))
    }

    fn read(&mut self, slots: usize, parent: Option<&NullBuffer>) -> Result<ArrayRef> {
        let nulls = self.present.next_slots(slots, parent)?;
        let n = existing(slots, nulls.as_ref());
        let Values { ticks: mut values, overflows, cut } = self.values(n)?;
        // The row of a value, for messages.
        let row_of = |dense: usize| {
            let slot = nulls.as_ref().map_or(Some(dense), |nulls| nulls.valid_indices().nth(dense));
            self.row + slot.unwrap_or(dense) as u64
        };
        if let Some(first) = cut {
            let of_filter = if self.keeps_digits { "" } else { " that decide the filter" };
            let text = format!(
                "a timestamp has digits beyond {:?}s{of_filter}; timestamp_unit=\"ns\" reads them in years from 1678 to 2261, and timestamp_unit=\"us\" cuts them off",
                self.unit
            );
            return Err(Error::limit(text).at_row(row_of(first)));
        }
        if let (Some(&first), OutOfRange::Error) = (overflows.first(), self.out_of_range) {
            let text = format!(
                "a timestamp does not fit into 64 bits of {:?}s; read it in a coarser unit (timestamp_unit), or as null (timestamp_out_of_range)",
                self.unit
            );
            return Err(Error::limit(text).at_row(row_of(first)));
        }
        spread(&mut values, nulls.as_ref());
        let nulls = with_further_nulls(nulls, slots, &overflows);
        self.row += slots as u64;
        Ok(match self.unit {
            TimeUnit::Second => self.array::<TimestampSecondType>(values, nulls),
            TimeUnit::Millisecond => self.array::<TimestampMillisecondType>(values, nulls),
            TimeUnit::Microsecond => self.array::<TimestampMicrosecondType>(values, nulls),
            TimeUnit::Nanosecond => self.array::<TimestampNanosecondType>(values, nulls),
        })
    }

    fn skip(&mut self, rows: usize) -> Result<()> {
        let n = self.present.skip(rows)?;
        self.row += rows as u64;
        self.stored_values.skip(n)
    }

    fn seek(&mut self, positions: &[u64], to: &GroupStart<'_>) -> Result<()> {
        self.present.seek(positions)?;
        self.row = to.first_row();
        self.stored_values.seek(positions)
    }
}
