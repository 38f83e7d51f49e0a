//! Settings of all benchmarks.

mod cycles;

use std::time::Duration;

pub(crate) use cycles::Cycles;

/// Criterion with short measurements, so that all benchmarks take about a minute, and with the arguments of the command
/// line.
pub(crate) type Criterion = criterion::Criterion<Cycles>;

/// [`Criterion`] with its settings.
pub(crate) fn criterion() -> Criterion {
    criterion::Criterion::default()
        .with_measurement(Cycles)
        .sample_size(10)
        .warm_up_time(Duration::from_millis(150))
        .measurement_time(Duration::from_millis(600))
        .configure_from_args()
}
