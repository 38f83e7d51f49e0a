//! Settings of all benchmarks.

use std::time::Duration;

use criterion::Criterion;

/// Criterion with short measurements, so that all benchmarks take about a minute, and with the arguments of the command
/// line.
pub(crate) fn criterion() -> Criterion {
    Criterion::default()
        .sample_size(10)
        .warm_up_time(Duration::from_millis(150))
        .measurement_time(Duration::from_millis(600))
        .configure_from_args()
}
