//! Errors of casts within nested arrays.

use arrow_schema::{ArrowError, DataType};

use crate::error::{Error, ErrorKind};
use crate::type_names::TypeName;

/// An error of a cast, and where in the array it is.
pub(super) struct Fault {
    error: Error,
    /// The row of the value in its array.
    row: Option<usize>,
    /// Names of the levels above the value, the innermost first.
    path: Vec<String>,
}

pub(super) type Outcome<T> = Result<T, Fault>;

/// The error of types between which there is no cast.
pub(super) fn unsupported(own: &DataType, target: &DataType) -> Fault {
    Error::unsupported(format!("there is no cast from {} to {}", TypeName(own), TypeName(target))).into()
}

impl Fault {
    /// A value that the type does not have.
    pub(super) fn value(message: String, row: usize) -> Self {
        Fault { error: Error::invalid(message), row: Some(row), path: Vec::new() }
    }

    /// The error in the array whose child has it. `parent` gives the row for that of the child.
    pub(super) fn within(mut self, name: &str, parent: impl Fn(usize) -> usize) -> Self {
        self.row = self.row.map(parent);
        self.path.push(name.to_owned());
        self
    }

    pub(super) fn into_error(mut self) -> Error {
        self.path.reverse();
        let error = match (self.error.kind(), self.path.is_empty()) {
            (ErrorKind::InvalidArgument, false) => {
                Error::invalid(format!("{}: {}", self.path.join("."), self.error.message()))
            }
            _ => self.error,
        };
        match self.row {
            Some(row) => error.at_row(row as u64),
            None => error,
        }
    }
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        Fault { error, row: None, path: Vec::new() }
    }
}

impl From<ArrowError> for Fault {
    fn from(error: ArrowError) -> Self {
        Error::invalid("the values are not of the type").with_source(error).into()
    }
}
