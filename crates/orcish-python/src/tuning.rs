//! Sizes of windows, for tests.

use std::collections::BTreeMap;

use orcish_core::tuning::Tuning;
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;

/// The windows of all crates.
fn windows() -> impl Iterator<Item = &'static Tuning> {
    let crates = [orcish_core::tuning::ALL, orcish_io::tuning::ALL, orcish::tuning::ALL, carbondata::tuning::ALL];
    crates.into_iter().flatten().copied()
}

/// Sets the windows in `values`, at least to the least size that tests use, and resets all others. Returns the standard size
/// of each window by name, and the least and greatest size that tests use.
#[pyfunction]
#[pyo3(name = "_tune", signature = (values=None))]
pub(crate) fn tune(values: Option<BTreeMap<String, usize>>) -> PyResult<BTreeMap<&'static str, (usize, usize, usize)>> {
    let values = values.unwrap_or_default();
    if let Some(name) = values.keys().find(|name| !windows().any(|window| window.name() == *name)) {
        return Err(PyKeyError::new_err(format!("no window is called {name}")));
    }
    for window in windows() {
        window.set(values.get(window.name()).copied().unwrap_or(window.standard()));
    }
    let size = |window: &'static Tuning| {
        let (min, max) = window.small().into_inner();
        (window.name(), (window.standard(), min, max))
    };
    Ok(windows().map(size).collect())
}
