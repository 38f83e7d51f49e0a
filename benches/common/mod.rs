//! What all benchmarks share: how long they run.

use std::time::Duration;

use criterion::Criterion;

/// Criterion with short measurements: there are many, and all should be done in about a minute.
/// Filters and the other arguments of the command line count.
pub(crate) fn criterion() -> Criterion {
    Criterion::default()
        .sample_size(10)
        .warm_up_time(Duration::from_millis(150))
        .measurement_time(Duration::from_millis(600))
        .configure_from_args()
}
