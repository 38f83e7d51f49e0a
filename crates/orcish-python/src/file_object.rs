//! Checks of Python file objects, for reading and writing.

use pyo3::exceptions::{PyBlockingIOError, PyOverflowError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::PyBool;

/// Checks that an object is not open for text. `mode` is the binary mode in the error message.
///
/// # Errors
/// `TypeError` for an object that is open for text.
pub(crate) fn check_binary(object: &Bound<'_, PyAny>, mode: &str) -> PyResult<()> {
    if is_instance_of_io(object, "TextIOBase")? { Err(is_text(mode)) } else { Ok(()) }
}

/// The error for an object that is open for text.
pub(crate) fn is_text(mode: &str) -> PyErr {
    PyTypeError::new_err(format!("the file object is open for text, and a file is bytes: open it as with '{mode}'"))
}

/// Whether the object is an instance of a class of the module `io`.
fn is_instance_of_io(object: &Bound<'_, PyAny>, class: &str) -> PyResult<bool> {
    object.is_instance(&object.py().import("io")?.getattr(class)?)
}

/// The attribute `name` of the object, or `default` if it has none.
pub(crate) fn name_of(object: &Bound<'_, PyAny>, default: &str) -> String {
    let name = object.getattr("name").ok().and_then(|name| name.extract::<String>().ok());
    name.unwrap_or_else(|| default.to_owned())
}

/// Whether `None` as the result of `read` or `write` means that the call would block. This is so for raw files, and for
/// non-blocking file descriptors.
pub(crate) fn is_non_blocking(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    let blocks = || -> PyResult<bool> {
        let number = object.call_method0("fileno")?;
        object.py().import("os")?.call_method1("get_blocking", (number,))?.extract()
    };
    // An object without a file descriptor raises an exception here.
    Ok(is_instance_of_io(object, "RawIOBase")? || matches!(blocks(), Ok(false)))
}

/// The `BlockingIOError` for a call that would block, after `done` bytes were transferred.
pub(crate) fn would_block(py: Python<'_>, text: String, done: usize) -> PyErr {
    match py.import("errno").and_then(|errno| errno.getattr("EAGAIN")) {
        Ok(number) => PyBlockingIOError::new_err((number.unbind(), text, done)),
        Err(error) => error,
    }
}

/// The number that a call returned. `None` for a negative number, and for a number that 64 bits cannot hold.
///
/// # Errors
/// `TypeError` for another type. The message has the `call` and the `expected` result.
pub(crate) fn number(call: &str, expected: &str, returned: &Bound<'_, PyAny>) -> PyResult<Option<u64>> {
    if !returned.is_instance_of::<PyBool>() {
        match returned.extract::<i64>() {
            Ok(number) => return Ok(u64::try_from(number).ok()),
            Err(error) if error.is_instance_of::<PyOverflowError>(returned.py()) => return Ok(None),
            Err(_) => {}
        }
    }
    Err(PyTypeError::new_err(format!("{call} gave {}, where it gives {expected}", returned.repr()?)))
}
