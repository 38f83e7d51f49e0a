//! Conversion between errors of the core and Python exceptions.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use orcish_core::cancel::CancelCheck;
use orcish_core::{Error, ErrorKind};
use pyo3::exceptions::{
    PyException, PyFileExistsError, PyFileNotFoundError, PyIsADirectoryError, PyNotADirectoryError, PyOSError,
    PyPermissionError, PyTimeoutError, PyValueError,
};
use pyo3::prelude::*;

use crate::interpreter::attached;

/// The error for an exception of a Python file object or of a signal handler.
pub(crate) fn from_python(py: Python<'_>, text: &str, error: PyErr) -> Error {
    // Exceptions that are not an `Exception`, such as `KeyboardInterrupt`, cancel the call.
    let kind = if error.is_instance_of::<PyException>(py) { ErrorKind::Io } else { ErrorKind::Interrupted };
    Error::new(kind, text).with_source(io::Error::other(error))
}

/// Runs the signal handlers of Python. At the end of the process there is no interpreter, and no signal handler.
///
/// # Errors
/// The exception of a signal handler, such as `KeyboardInterrupt`.
pub(crate) fn check_signals() -> Result<(), Error> {
    let check = |py: Python<'_>| py.check_signals().map_err(|error| from_python(py, "a signal came", error));
    attached(check).unwrap_or(Ok(()))
}

/// The cancellation check of readers and writers.
pub(crate) fn signals() -> CancelCheck {
    Arc::new(check_signals)
}

/// As [`signals`]; the check calls a function with the number that has been counted, too.
pub(crate) fn signals_and_progress(report: Option<Py<PyAny>>, done: &Arc<AtomicU64>) -> CancelCheck {
    let Some(report) = report else { return signals() };
    let done = Arc::clone(done);
    Arc::new(move || {
        check_signals()?;
        let call = |py: Python<'_>| report.call1(py, (done.load(Ordering::Relaxed),)).map(drop);
        let call = |py: Python<'_>| call(py).map_err(|error| from_python(py, "the report of progress failed", error));
        attached(call).unwrap_or(Ok(()))
    })
}

/// The exception for an error. Errors of the system are subclasses of `OSError`, and an exception of a Python file
/// object is raised again. Other errors are classes of `orcish.errors`, or `ValueError`.
pub(crate) fn to_python(py: Python<'_>, error: &Error) -> PyErr {
    let text = error.to_string();
    let class = match error.kind() {
        ErrorKind::Io | ErrorKind::Interrupted => return io_error(py, error, text),
        ErrorKind::InvalidArgument => return PyValueError::new_err(text),
        ErrorKind::Corrupt => "CorruptFileError",
        ErrorKind::Unsupported => "UnsupportedError",
        ErrorKind::NullMapKey => "NullMapKeyError",
        ErrorKind::LimitExceeded => "LimitExceededError",
        ErrorKind::UnknownColumn => "UnknownColumnError",
        ErrorKind::Commit => "CommitError",
        ErrorKind::Internal => "InternalError",
        _ => "OrcishError",
    };
    exception(py, class, text)
}

/// The exception for a value that a type does not have, and the row of the value.
pub(crate) fn cast_error(py: Python<'_>, text: &str, row: Option<u64>) -> PyErr {
    let raise = || py.import("orcish.errors")?.getattr("CastError")?.call1((text, row));
    match raise() {
        Ok(exception) => PyErr::from_value(exception),
        Err(error) => error,
    }
}

/// An exception of `orcish.errors`.
pub(crate) fn exception(py: Python<'_>, class: &str, text: String) -> PyErr {
    let raise = || py.import("orcish.errors")?.getattr(class)?.call1((text.as_str(),));
    match raise() {
        Ok(exception) => PyErr::from_value(exception),
        Err(error) => error,
    }
}

fn io_error(py: Python<'_>, error: &Error, text: String) -> PyErr {
    let Some(source) = error.io_error() else {
        return PyOSError::new_err(text);
    };
    if let Some(python) = source.get_ref().and_then(|inner| inner.downcast_ref::<PyErr>()) {
        return python.clone_ref(py);
    }
    // Python selects the subclass of OSError by the error number.
    if let Some(number) = source.raw_os_error() {
        // Python shows the number before the text.
        let text = text.replace(&format!(" (os error {number})"), "");
        return PyOSError::new_err((number, text));
    }
    match source.kind() {
        io::ErrorKind::NotFound => PyFileNotFoundError::new_err(text),
        io::ErrorKind::PermissionDenied => PyPermissionError::new_err(text),
        io::ErrorKind::TimedOut => PyTimeoutError::new_err(text),
        io::ErrorKind::AlreadyExists => PyFileExistsError::new_err(text),
        io::ErrorKind::NotADirectory => PyNotADirectoryError::new_err(text),
        io::ErrorKind::IsADirectory => PyIsADirectoryError::new_err(text),
        _ => PyOSError::new_err(text),
    }
}
