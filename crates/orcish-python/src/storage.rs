//! Options of stores, as a caller gives them.

use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::to_python;

/// The module with the profiles of AWS, and its function that completes options.
const PROFILES: (&str, &str) = ("orcish.io.storage", "with_profile");

/// The options for some locations, checked and completed: for URLs of S3, what is in neither the options nor the environment comes
/// from the profile of AWS, in each process, as the environment does.
///
/// # Errors
/// `ValueError` for an option of fsspec; the errors of profiles.
pub(crate) fn complete<'a, 'py>(
    py: Python<'py>,
    locations: impl Iterator<Item = &'a str>,
    given: Option<&Bound<'py, PyAny>>,
) -> PyResult<Option<Bound<'py, PyDict>>> {
    let options = match given {
        None => None,
        Some(given) => Some(py.get_type::<PyDict>().call1((given,))?.cast_into::<PyDict>()?),
    };
    let mut locations = locations.peekable();
    if let (Some(options), Some(first)) = (&options, locations.peek()) {
        for key in options.keys() {
            let key = key.str()?;
            orcish_io::check_option(first, key.to_str()?).map_err(|error| to_python(py, &error))?;
        }
    }
    let is_s3 = |url: &&str| {
        let scheme = url.split_once("://").map(|(scheme, _)| scheme);
        scheme.is_some_and(|scheme| scheme.eq_ignore_ascii_case("s3") || scheme.eq_ignore_ascii_case("s3a"))
    };
    let Some(url) = locations.find(is_s3) else { return Ok(options) };
    let options = options.unwrap_or_else(|| PyDict::new(py));
    let complete = py.import(PROFILES.0)?.getattr(PROFILES.1)?.call1((url, options))?;
    Ok(Some(complete.cast_into::<PyDict>()?))
}

/// Options as texts, by their names; none for `None`.
pub(crate) fn texts(given: &Bound<'_, PyAny>) -> PyResult<Vec<(String, String)>> {
    if given.is_none() {
        return Ok(Vec::new());
    }
    let options = given.py().get_type::<PyDict>().call1((given,))?.cast_into::<PyDict>()?;
    let text =
        |(key, value): (Bound<'_, PyAny>, Bound<'_, PyAny>)| Ok((key.str()?.to_string(), value.str()?.to_string()));
    options.iter().map(text).collect()
}
