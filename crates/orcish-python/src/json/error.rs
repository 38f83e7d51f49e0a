//! Errors about values, with the column that has them.

use std::fmt;

use arrow_schema::ArrowError;
use orcish_core::{Error, ErrorKind};
use pyo3::PyErr;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::errors::from_python;
use crate::interpreter::{attached, gone};

/// Maximum characters of a message of arrow-json, which may have a whole document.
const MAX_TEXT: usize = 120;

/// A value that is not one of its type.
#[derive(Debug)]
struct Wrong {
    /// The names of the columns around the value, the innermost first.
    path: Vec<String>,
    text: String,
    kind: ErrorKind,
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.path.is_empty() {
            let names: Vec<&str> = self.path.iter().rev().map(String::as_str).collect();
            write!(f, "column '{}': ", names.join("."))?;
        }
        f.write_str(&self.text)
    }
}

impl std::error::Error for Wrong {}

/// The error of a value that is not one of its type.
pub(super) fn wrong(text: impl Into<String>) -> ArrowError {
    ArrowError::ExternalError(Box::new(Wrong { path: Vec::new(), text: text.into(), kind: ErrorKind::Corrupt }))
}

/// The error of an exception of Python: of `ValueError`, which says that a value is not one of its type, and of
/// `UnsupportedError` the text.
pub(super) fn of_python(py: Python<'_>, error: PyErr) -> ArrowError {
    let unsupported = py.import("orcish.errors").and_then(|module| module.getattr("UnsupportedError"));
    let kind = if unsupported.is_ok_and(|class| error.is_instance(py, &class)) {
        ErrorKind::Unsupported
    } else if error.is_instance_of::<PyValueError>(py) {
        ErrorKind::Corrupt
    } else {
        return ArrowError::ExternalError(Box::new(error));
    };
    ArrowError::ExternalError(Box::new(Wrong { path: Vec::new(), text: error.value(py).to_string(), kind }))
}

/// Whether an error says that a value is not one of its type; others end the read.
pub(super) fn is_of_value(error: &ArrowError) -> bool {
    !matches!(error, ArrowError::ExternalError(inner) if inner.is::<PyErr>())
}

/// An error with the name of a column around its value.
pub(super) fn in_column(error: ArrowError, name: &str) -> ArrowError {
    let text = match error {
        ArrowError::ExternalError(inner) => {
            return ArrowError::ExternalError(match inner.downcast::<Wrong>() {
                Ok(mut wrong) => {
                    wrong.path.push(name.to_owned());
                    wrong
                }
                Err(other) => other,
            });
        }
        other => text_of(&other),
    };
    ArrowError::ExternalError(Box::new(Wrong { path: vec![name.to_owned()], text, kind: ErrorKind::Corrupt }))
}

/// The text of an error of arrow-json.
fn text_of(error: &ArrowError) -> String {
    let text = match error {
        ArrowError::JsonError(text) => text.clone(),
        other => other.to_string(),
    };
    text.chars().take(MAX_TEXT).collect()
}

/// The column at the top that an error is about, if it is about one.
pub(super) fn column_of(error: &ArrowError) -> Option<&str> {
    let ArrowError::ExternalError(inner) = error else { return None };
    inner.downcast_ref::<Wrong>()?.path.last().map(String::as_str)
}

/// The error about a row, which is counted from 1.
///
/// # Errors
/// The error of Python that ended the read.
pub(super) fn in_row(error: ArrowError, row: u64, advice: &str) -> Error {
    let (text, kind) = match error {
        ArrowError::ExternalError(inner) => match inner.downcast::<PyErr>() {
            Ok(error) => return attached(|py| from_python(py, "the cast failed", *error)).unwrap_or_else(gone),
            Err(inner) => {
                let kind = inner.downcast_ref::<Wrong>().map_or(ErrorKind::Corrupt, |wrong| wrong.kind);
                (inner.to_string(), kind)
            }
        },
        other => (text_of(&other), ErrorKind::Corrupt),
    };
    let advice = if advice.is_empty() { String::new() } else { format!(": {advice}") };
    Error::new(kind, format!("row {row}: {text}{advice}"))
}
