//! Messages of `Io` errors, by operation, and causes of errors of targets.

use std::io;

#[cfg(feature = "object-store")]
use orcish_core::Error;

pub(crate) const CANNOT_READ: &str = "cannot be read";
pub(crate) const CANNOT_WRITE: &str = "cannot be written";
pub(crate) const CANNOT_DELETE: &str = "cannot be deleted";
pub(crate) const CANNOT_LIST: &str = "cannot be listed";
pub(crate) const CANNOT_PUBLISH: &str = "cannot be published";
pub(crate) const CANNOT_ABORT: &str = "cannot be given up";

/// The cause of an `Io` error for a file that another one has replaced.
pub const REPLACED: &str =
    "the file was replaced: it is another one than when it was opened; open it again, or make the scan again";

/// The error for a folder at the location of a file.
pub(crate) fn is_folder() -> io::Error {
    io::Error::new(io::ErrorKind::IsADirectory, "the target is a folder: a file has a name such as a.orc")
}

/// The error for a pipe, a device or the like at the location of a file.
pub(crate) fn no_regular_file() -> io::Error {
    io::Error::other("the target is no regular file: give the name of a file")
}

/// The error for a file that exists before the new one is written.
pub(crate) fn exists() -> io::Error {
    io::Error::new(io::ErrorKind::AlreadyExists, "the target is there already")
}

/// The error for a file that exists when the new one is published.
pub(crate) fn appeared() -> io::Error {
    let text = "another process has written the target meanwhile, which stays as it is: choose another name";
    io::Error::new(io::ErrorKind::AlreadyExists, text)
}

/// An error of the publication of a new file: an existing file has appeared since the new one was begun.
#[cfg(feature = "object-store")]
pub(crate) fn to_appeared(error: Error) -> Error {
    if error.io_kind() != Some(io::ErrorKind::AlreadyExists) {
        return error;
    }
    let appeared = Error::io(CANNOT_WRITE, appeared());
    match &error.place().file {
        Some(file) => appeared.in_file(file),
        None => appeared,
    }
}
