//! Sizes of windows, for tests.

use std::collections::BTreeMap;

use orcish::tuning::{ALL, Tuning, reset};
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;

/// Makes windows as large as `values` say, if at least as large as the least size that tests give them, and all others
/// what they are without tests. Says of each by its name how large it is without that, and what the least and the greatest
/// size are that tests give it.
#[pyfunction]
#[pyo3(name = "_tune", signature = (values=None))]
pub(crate) fn tune(values: Option<BTreeMap<String, usize>>) -> PyResult<BTreeMap<&'static str, (usize, usize, usize)>> {
    let values = values.unwrap_or_default();
    if let Some(name) = values.keys().find(|name| !ALL.iter().any(|tuning| tuning.name() == *name)) {
        return Err(PyKeyError::new_err(format!("no window is called {name}")));
    }
    reset();
    for tuning in ALL {
        if let Some(&value) = values.get(tuning.name()) {
            tuning.set(value);
        }
    }
    let size = |tuning: &&Tuning| {
        let (least, most) = tuning.small().into_inner();
        (tuning.name(), (tuning.standard(), least, most))
    };
    Ok(ALL.iter().map(size).collect())
}
