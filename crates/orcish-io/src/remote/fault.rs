//! Errors of stores, without secrets.

use std::error::Error as StdError;
use std::io;

use object_store::client::{HttpError, HttpErrorKind};
use orcish_core::Error;

use super::UNREADABLE;
use super::store::Address;

/// Most characters of what a server says of an error.
const MOST_TEXT: usize = 600;

/// The error for one of a store: of kind `Io`, with a `std::io::Error` as its source whose kind tells a missing
/// file (`NotFound`) and missing rights (`PermissionDenied`) apart.
pub(super) fn fault(what: &str, error: &object_store::Error, address: &Address) -> Error {
    let kind = match error {
        object_store::Error::NotFound { .. } => io::ErrorKind::NotFound,
        object_store::Error::PermissionDenied { .. } | object_store::Error::Unauthenticated { .. } => {
            io::ErrorKind::PermissionDenied
        }
        object_store::Error::InvalidPath { .. } | object_store::Error::UnknownConfigurationKey { .. } => {
            return Error::invalid(format!("{what}: {}", text(error, address))).in_file(&address.name);
        }
        object_store::Error::Precondition { .. } => return another(address),
        _ if is_timeout(error) => io::ErrorKind::TimedOut,
        // So it is where a list is asked for.
        _ if has_status(error, "404") => io::ErrorKind::NotFound,
        _ if has_status(error, "403") || has_status(error, "401") => io::ErrorKind::PermissionDenied,
        _ => io::ErrorKind::Other,
    };
    Error::io(what, io::Error::new(kind, text(error, address))).in_file(&address.name)
}

/// The error where a file has been replaced.
pub(super) fn another(address: &Address) -> Error {
    let error = io::Error::other("the file is another one than when it was opened");
    Error::io(UNREADABLE, error).in_file(&address.name)
}

/// Whether another kind of request may be answered where this one was not: the server cannot do it, or takes
/// it for a wrong one.
pub(super) fn is_refusal(error: &object_store::Error) -> bool {
    match error {
        object_store::Error::NotSupported { .. } | object_store::Error::NotImplemented { .. } => true,
        object_store::Error::Generic { .. } => {
            let text = error.to_string();
            let wrong = ["Content-Range", "Requested "].iter().any(|part| text.contains(part));
            wrong || has_status(error, "4") || has_status(error, "501")
        }
        _ => false,
    }
}

/// The text without what stands before the `@` in URLs.
fn without_users(text: &str) -> String {
    let mut parts = text.split("://");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let authority = part.find(|c: char| c == '/' || c.is_whitespace()).unwrap_or(part.len());
        let user = part.get(..authority).and_then(|authority| authority.rfind('@'));
        out.push_str("://");
        out.push_str(user.and_then(|at| part.get(at + 1..)).unwrap_or(part));
    }
    out
}

/// Whether a server answered with a status that begins so. The type that has it as a number is not public.
pub(super) fn has_status(error: &object_store::Error, status: &str) -> bool {
    error.to_string().contains(&format!("non-2xx status code: {status}"))
}

fn sources(error: &object_store::Error) -> impl Iterator<Item = &(dyn StdError + 'static)> {
    std::iter::successors(error.source(), |&error| error.source())
}

fn is_timeout(error: &object_store::Error) -> bool {
    let timeout = |error: &(dyn StdError + 'static)| {
        error.downcast_ref::<HttpError>().is_some_and(|error| error.kind() == HttpErrorKind::Timeout)
    };
    sources(error).any(timeout)
}

/// What the error and its causes say, as far as they do not repeat each other.
fn text(error: &object_store::Error, address: &Address) -> String {
    let mut text = error.to_string();
    for source in sources(error).map(ToString::to_string) {
        if !text.contains(&source) {
            text = format!("{text}: {source}");
        }
    }
    for secret in address.secrets() {
        text = text.replace(&secret, "…");
    }
    let text = without_users(&text);
    match text.char_indices().nth(MOST_TEXT) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::without_users;

    #[test]
    fn users_of_urls_are_cut_out() {
        assert_eq!(without_users("no URL at all, a@b"), "no URL at all, a@b");
        assert_eq!(without_users("at https://me:it's@host/a@b?c: s3://b/k"), "at https://host/a@b?c: s3://b/k");
        assert_eq!(without_users("http://a:b@c@host"), "http://host");
    }
}
