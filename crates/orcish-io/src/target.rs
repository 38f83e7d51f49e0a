//! What may be at the location of a new file.

use std::io;

use orcish_core::{Error, Result};

use crate::local::FileSink;
#[cfg(feature = "object-store")]
use crate::location::display_name;
use crate::location::{Parsed, parse_checked};
use crate::messages::CANNOT_WRITE;
#[cfg(feature = "object-store")]
use crate::remote;
use crate::storage::StorageOptions;

/// Checks that a file can be created at `location`: by [`create`](crate::create) with `overwrite`, and by
/// [`create_new`](crate::create_new) without it. Both make this check. A separate call is for work that comes before
/// the file is created.
///
/// On the local file system, a symbolic link is followed. Without `overwrite`, a link to nothing is a file that exists.
///
/// ```
/// use orcish_io::{StorageOptions, check_target};
///
/// let options = StorageOptions::default();
/// let error = check_target("Cargo.toml", false, &options).unwrap_err();
/// assert_eq!(error.to_string(), "Cargo.toml: cannot be written: the target is there already");
/// check_target("Cargo.toml", true, &options)?;
/// assert!(check_target("src", true, &options).is_err());
/// # Ok::<(), orcish_core::Error>(())
/// ```
///
/// # Errors
/// `Io` if there is a folder, something that is no regular file, such as a pipe or a device, or, without `overwrite`,
/// a file. The source is a [`std::io::Error`] of the kind `IsADirectory`, `Other` or `AlreadyExists`. `InvalidArgument`
/// if the URL or an option is invalid.
pub fn check_target(location: &str, overwrite: bool, options: &StorageOptions) -> Result<()> {
    match parse_checked(location)? {
        Parsed::Local(path) => FileSink::check_target(path, overwrite),
        #[cfg(feature = "object-store")]
        Parsed::Remote(_) => {
            remote::check_writable(location, options)?;
            if location.ends_with('/') {
                return Err(to_error(is_folder(), location));
            }
            if !overwrite && crate::stat(location, options)?.is_some() {
                return Err(to_error(exists(), location));
            }
            Ok(())
        }
        #[cfg(not(feature = "object-store"))]
        Parsed::Remote(url) => Err(url.missing_feature(options)),
    }
}

#[cfg(feature = "object-store")]
fn to_error(error: io::Error, location: &str) -> Error {
    Error::io(CANNOT_WRITE, error).in_file(&display_name(location))
}

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
