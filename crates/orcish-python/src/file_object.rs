//! What is asked of Python file objects, whether they are read or written.

use pyo3::exceptions::{PyBlockingIOError, PyOverflowError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::PyBool;

/// Looks whether the object is one for bytes, as those are that are opened with the given `mode`.
///
/// # Errors
/// `TypeError` for one that is open for text.
pub(crate) fn check_binary(object: &Bound<'_, PyAny>, mode: &str) -> PyResult<()> {
    if is_of(object, "TextIOBase")? { Err(is_text(mode)) } else { Ok(()) }
}

/// The error of an object that gives or takes text.
pub(crate) fn is_text(mode: &str) -> PyErr {
    PyTypeError::new_err(format!("the file object is open for text, and a file is bytes: open it as with '{mode}'"))
}

/// Whether the object is of a class of the module `io`.
fn is_of(object: &Bound<'_, PyAny>, class: &str) -> PyResult<bool> {
    object.is_instance(&object.py().import("io")?.getattr(class)?)
}

/// The name of the object, or `other` where it has none.
pub(crate) fn name_of(object: &Bound<'_, PyAny>, other: &str) -> String {
    let name = object.getattr("name").ok().and_then(|name| name.extract::<String>().ok());
    name.unwrap_or_else(|| other.to_owned())
}

/// Whether `None` for a number of bytes, or for these, says that there are none now: of raw files, and of files of the
/// system that do not block.
pub(crate) fn is_non_blocking(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    let blocks = || -> PyResult<bool> {
        let number = object.call_method0("fileno")?;
        object.py().import("os")?.call_method1("get_blocking", (number,))?.extract()
    };
    // What has no number of a file is none of the system.
    Ok(is_of(object, "RawIOBase")? || matches!(blocks(), Ok(false)))
}

/// The error of an object that does not block, of whose bytes `done` are moved already.
pub(crate) fn would_block(py: Python<'_>, text: String, done: usize) -> PyErr {
    match py.import("errno").and_then(|errno| errno.getattr("EAGAIN")) {
        Ok(number) => PyBlockingIOError::new_err((number.unbind(), text, done)),
        Err(error) => error,
    }
}

/// The number that a call has given; none where it is less than 0, or too large to be one of bytes.
///
/// # Errors
/// `TypeError` where it is no number: the message has the `call`, and what is expected of it.
pub(crate) fn number(call: &str, expected: &str, given: &Bound<'_, PyAny>) -> PyResult<Option<u64>> {
    if !given.is_instance_of::<PyBool>() {
        match given.extract::<i64>() {
            Ok(number) => return Ok(u64::try_from(number).ok()),
            Err(error) if error.is_instance_of::<PyOverflowError>(given.py()) => return Ok(None),
            Err(_) => {}
        }
    }
    Err(PyTypeError::new_err(format!("{call} gave {}, where it gives {expected}", given.repr()?)))
}
