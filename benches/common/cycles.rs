//! Measurement in cycles of the time stamp counter.

use criterion::Throughput;
use criterion::measurement::{Measurement, ValueFormatter};

/// Cycles of the time stamp counter, which counts at the nominal frequency of the processor. On other architectures than
/// x86-64, nanoseconds are measured instead.
pub(crate) struct Cycles;

#[cfg(target_arch = "x86_64")]
const UNIT: [&str; 3] = ["cycles", "B/cycle", "values/cycle"];
#[cfg(not(target_arch = "x86_64"))]
const UNIT: [&str; 3] = ["ns", "B/ns", "values/ns"];

#[cfg(target_arch = "x86_64")]
#[expect(unsafe_code, reason = "the standard library has no other access to the counter")]
fn now() -> u64 {
    // SAFETY: all x86-64 processors have the instruction.
    unsafe { std::arch::x86_64::_rdtsc() }
}

#[cfg(not(target_arch = "x86_64"))]
fn now() -> u64 {
    use std::sync::LazyLock;
    use std::time::Instant;

    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    u64::try_from(START.elapsed().as_nanos()).unwrap_or(u64::MAX)
}

impl Measurement for Cycles {
    type Intermediate = u64;
    type Value = u64;

    fn start(&self) -> u64 {
        now()
    }

    fn end(&self, start: u64) -> u64 {
        now() - start
    }

    fn add(&self, one: &u64, other: &u64) -> u64 {
        one + other
    }

    fn zero(&self) -> u64 {
        0
    }

    fn to_f64(&self, value: &u64) -> f64 {
        *value as f64
    }

    fn formatter(&self) -> &dyn ValueFormatter {
        self
    }
}

impl ValueFormatter for Cycles {
    fn scale_values(&self, _typical: f64, _values: &mut [f64]) -> &'static str {
        UNIT[0]
    }

    fn scale_throughputs(&self, _typical: f64, throughput: &Throughput, values: &mut [f64]) -> &'static str {
        let (count, unit) = match throughput {
            Throughput::Elements(count) => (*count, UNIT[2]),
            Throughput::Bits(bits) => (bits / 8, UNIT[1]),
            Throughput::Bytes(count)
            | Throughput::BytesDecimal(count)
            | Throughput::ElementsAndBytes { bytes: count, .. } => (*count, UNIT[1]),
        };
        values.iter_mut().for_each(|value| *value = count as f64 / *value);
        unit
    }

    fn scale_for_machines(&self, _values: &mut [f64]) -> &'static str {
        UNIT[0]
    }
}
