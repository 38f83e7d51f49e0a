//! Sizes of windows, which tests change.

use std::collections::BTreeMap;

use orcish_core::tuning::Tuning;
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;

/// The windows of all crates.
fn windows() -> impl Iterator<Item = &'static Tuning> {
    let crates = [orcish_core::tuning::ALL, orcish_io::tuning::ALL, orcish::tuning::ALL, carbondata::tuning::ALL];
    crates.into_iter().flatten().copied()
}

/// Sets the windows in `values`, and resets all others to their standard sizes. Returns the standard size of each
/// window, and the smallest and largest size that tests use, by name.
///
/// # Errors
/// `KeyError` for an unknown name.
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
