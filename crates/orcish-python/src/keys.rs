//! Keys of encrypted columns: those of a dictionary or a function, or a Python object that unwraps local keys.

use std::sync::Arc;

use orcish::encryption::{Algorithm, KeyProvider, KeyVersion, Keys, MasterKeys, SecretKey};
use orcish_core::{Error, Result};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::errors::{from_python, to_python};
use crate::interpreter::{attached, gone};

/// An object whose method `unwrap_local_key` gets the name, the version and the algorithm of a key, and a wrapped local key, and
/// returns the local key, or `None` without access to the key.
struct Unwrapping(Py<PyAny>);

impl KeyProvider for Unwrapping {
    fn unwrap_local_key(&self, key: &KeyVersion, wrapped: &[u8]) -> Result<Option<SecretKey>> {
        call(key, |py| {
            let given = (key.name.as_str(), key.version, key.algorithm.name(), PyBytes::new(py, wrapped));
            secret(&self.0.bind(py).call_method1("unwrap_local_key", given)?)
        })
    }

    fn current_version(&self, name: &str) -> Result<KeyVersion> {
        current_version(&self.0, name)
    }
}

/// A function that gets the name and the version of a master key, and returns its bytes, or `None` without access to it.
struct Finding(Py<PyAny>);

impl KeyProvider for Finding {
    fn unwrap_local_key(&self, key: &KeyVersion, wrapped: &[u8]) -> Result<Option<SecretKey>> {
        match call(key, |py| secret(&self.0.bind(py).call1((key.name.as_str(), key.version))?))? {
            Some(master) => {
                MasterKeys::default().with_key(&key.name, key.version, master).unwrap_local_key(key, wrapped)
            }
            None => Ok(None),
        }
    }

    fn current_version(&self, name: &str) -> Result<KeyVersion> {
        current_version(&self.0, name)
    }
}

/// The version of a key that new files are written with, which a method of a provider returns with the algorithm.
fn current_version(provider: &Py<PyAny>, name: &str) -> Result<KeyVersion> {
    let ask = |py: Python<'_>| {
        let provider = provider.bind(py);
        if !provider.hasattr("current_version")? {
            return Ok(None);
        }
        provider.call_method1("current_version", (name,))?.extract::<Option<(u32, String)>>()
    };
    let ask =
        |py: Python<'_>| ask(py).map_err(|error| from_python(py, "the version of a key cannot be obtained", error));
    let Some(found) = attached(ask) else { return Err(gone()) };
    let Some((version, algorithm)) = found? else {
        let text = format!("the keys have no method current_version that names key {}", name.escape_debug());
        return Err(Error::invalid(text));
    };
    let algorithm = Algorithm::of_name(&algorithm)
        .ok_or_else(|| Error::invalid(format!("key {} has an unknown algorithm", name.escape_debug())))?;
    Ok(KeyVersion::new(name, version, algorithm))
}

/// The key that a call of Python code returns.
fn call(key: &KeyVersion, call: impl FnOnce(Python<'_>) -> PyResult<Option<Vec<u8>>>) -> Result<Option<SecretKey>> {
    let obtain =
        |py: Python<'_>| call(py).map_err(|error| from_python(py, &format!("key {key} cannot be obtained"), error));
    match attached(obtain) {
        Some(bytes) => {
            bytes?.map(SecretKey::try_new).transpose().map_err(|error| error.with_remark(&format!("key {key}")))
        }
        None => Err(gone()),
    }
}

/// The bytes of a key. Messages have no bytes of it.
fn secret(given: &Bound<'_, PyAny>) -> PyResult<Option<Vec<u8>>> {
    if given.is_none() {
        return Ok(None);
    }
    match given.extract::<Vec<u8>>() {
        Ok(bytes) if !given.is_instance_of::<pyo3::types::PyString>() => Ok(Some(bytes)),
        _ => Err(PyTypeError::new_err(format!("a key has to be bytes, and is a {}", given.get_type().name()?))),
    }
}

/// The keys of an object with a method `unwrap_local_key`, of a dictionary from names and versions to bytes, or of a function that
/// returns the bytes of a name and a version.
///
/// # Errors
/// `TypeError` for other dictionaries, `ValueError` for keys of a wrong length. Messages have no bytes of keys.
pub(crate) fn keys(given: Option<&Bound<'_, PyAny>>) -> PyResult<Option<Keys>> {
    let Some(given) = given.filter(|given| !given.is_none()) else { return Ok(None) };
    if given.hasattr("unwrap_local_key")? {
        return Ok(Some(Keys::new(Arc::new(Unwrapping(given.clone().unbind())))));
    }
    let Ok(dictionary) = given.cast::<PyDict>() else {
        return Ok(Some(Keys::new(Arc::new(Finding(given.clone().unbind())))));
    };
    let mut all = MasterKeys::default();
    for (name, key) in dictionary {
        let (name, version): (String, u32) = name.extract().map_err(|_| {
            PyTypeError::new_err("keys: a key is named by a pair, as (\"pii\", 0): its name and its version")
        })?;
        let bytes = secret(&key)?;
        let bytes = bytes.ok_or_else(|| PyTypeError::new_err("keys: a key is None, where bytes have to be"))?;
        let in_keys = |error: Error| {
            let name = KeyVersion::new(name.clone(), version, Algorithm::AesCtr128);
            to_python(given.py(), &Error::invalid(format!("keys: {name}: {}", error.message())))
        };
        all = all.with_key(name.clone(), version, SecretKey::try_new(bytes).map_err(in_keys)?);
    }
    Ok(Some(Keys::new(Arc::new(all))))
}
