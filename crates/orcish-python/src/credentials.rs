//! Callables of Python that obtain credentials of stores.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use orcish_core::Result;
use orcish_core::process::PerProcess;
use orcish_io::{CredentialSource, Credentials};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyMapping, PyTuple};

use crate::errors::from_python;
use crate::interpreter::{attached, gone};

/// Number of callables whose sources are kept. Stores with another source are other stores.
const MAX_KEPT_SOURCES: usize = 16;

/// A callable that returns a mapping with credentials, or the mapping and the time at which they expire.
struct Callable(Py<PyAny>);

impl CredentialSource for Callable {
    fn credentials(&self) -> Result<Credentials> {
        let obtain = |py: Python<'_>| {
            let given = self.0.bind(py).call0().and_then(|given| credentials(&given));
            given.map_err(|error| from_python(py, "the credentials cannot be obtained", error))
        };
        attached(obtain).unwrap_or_else(|| Err(gone()))
    }
}

/// The credentials that a callable has returned. Messages have no values.
fn credentials(given: &Bound<'_, PyAny>) -> PyResult<Credentials> {
    let (pairs, expiry) = match given.cast::<PyTuple>() {
        Ok(pair) if pair.len() == 2 => (pair.get_item(0)?, Some(pair.get_item(1)?)),
        _ => (given.clone(), None),
    };
    let Ok(pairs) = pairs.cast::<PyMapping>() else {
        let kind = given.get_type();
        return Err(PyTypeError::new_err(format!(
            "credentials() returned a {}: a dict is expected, or a dict and the time at which its credentials expire",
            kind.name()?
        )));
    };
    let mut texts: Vec<(String, String)> = Vec::new();
    for item in pairs.items()? {
        let (key, value) = item.extract::<(String, Bound<'_, PyAny>)>()?;
        // A client without a session token has `None` for it.
        if !value.is_none() {
            let kind = value.get_type();
            let wrong = |_| kind.name().map_or_else(|error| error, |kind| not_text(&key, &kind.to_string()));
            let text = value.extract::<String>().map_err(wrong)?;
            texts.push((key, text));
        }
    }
    let credentials = Credentials::new(texts);
    match expiry.filter(|expiry| !expiry.is_none()) {
        Some(expiry) => Ok(credentials.with_expiry(time(&expiry)?)),
        None => Ok(credentials),
    }
}

fn not_text(key: &str, kind: &str) -> PyErr {
    PyTypeError::new_err(format!("credentials() returned a {kind} for {key:?}, where a text has to be"))
}

/// A time of seconds since 1970 or of a datetime with a zone.
fn time(given: &Bound<'_, PyAny>) -> PyResult<SystemTime> {
    let seconds = match given.extract::<f64>() {
        Ok(seconds) => seconds,
        Err(_) if given.getattr("tzinfo").is_ok_and(|zone| !zone.is_none()) => {
            given.call_method0("timestamp")?.extract()?
        }
        Err(_) => {
            return Err(PyTypeError::new_err(format!(
                "credentials() returned the expiry {}: seconds since 1970 or a datetime with a zone are expected",
                given.repr()?
            )));
        }
    };
    let since = Duration::try_from_secs_f64(seconds.max(0.0)).ok();
    since.and_then(|since| SystemTime::UNIX_EPOCH.checked_add(since)).ok_or_else(|| {
        PyValueError::new_err(format!(
            "credentials() returned the expiry {seconds}, which is out of the range of times"
        ))
    })
}

/// The source of a callable. Equal callables, such as those of a bound method, have the same source, so that they use one
/// store and the credentials that it keeps.
///
/// # Errors
/// `TypeError` if the object cannot be called; exceptions of its comparison.
pub(crate) fn source(given: &Bound<'_, PyAny>) -> PyResult<Arc<dyn CredentialSource>> {
    static KEPT: PerProcess<Mutex<Vec<Arc<Callable>>>> = PerProcess::new();
    if !given.is_callable() {
        let kind = given.get_type();
        return Err(PyTypeError::new_err(format!("the storage option credentials is a {}, no callable", kind.name()?)));
    }
    let kept = KEPT.get_or_init(Mutex::default);
    // The lock is not held while Python code runs.
    let known = kept.lock().unwrap_or_else(PoisonError::into_inner).clone();
    for source in known {
        if source.0.bind(given.py()).eq(given)? {
            return Ok(source);
        }
    }
    let source = Arc::new(Callable(given.clone().unbind()));
    let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
    kept.insert(0, Arc::clone(&source));
    let dropped = (kept.len() > MAX_KEPT_SOURCES).then(|| kept.split_off(MAX_KEPT_SOURCES));
    drop(kept);
    drop(dropped);
    Ok(source)
}
