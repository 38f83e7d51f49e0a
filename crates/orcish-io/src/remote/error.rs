//! Conversion of `object_store` errors.
//!
//! `object_store` has variants for some HTTP statuses only, and its types `RetryError`, `RequestError` and
//! `GetResultError`, which have the details, are private. This file is the only one that interprets the messages of
//! these types. All other files match on the variants of [`object_store::Error`], or call the functions below.

#[cfg(test)]
mod tests;

use std::error::Error as StdError;
use std::io;

use object_store::client::{HttpError, HttpErrorKind};
use orcish_core::Error;

use super::address::Address;
use crate::version::replaced;

/// Maximum length of the message of a store, in characters.
const MAX_MESSAGE_LENGTH: usize = 600;

/// The prefix of `object_store::client::retry::RequestError::Status`, which the status follows.
const STATUS_PREFIX: &str = "Server returned non-2xx status code: ";

/// The code of Azure for a completed upload of which parts are missing.
const INVALID_BLOCK_LIST: &str = "<Code>InvalidBlockList</Code>";

/// The prefixes of those `object_store::client::get::GetResultError` variants that report a response without the
/// requested range: `NoContentRange`, `InvalidContentRange` and `UnexpectedRange`.
const RANGE_ERROR_PREFIXES: [&str; 2] = ["Content-Range header ", "Requested "];

/// The message of the builder of Azure stores for a URL such as `az://container/path`.
const MISSING_ACCOUNT: &str = "Account must be specified";

/// The message of the HTTP client for an endpoint without TLS.
const NOT_HTTPS: &str = "URL scheme is not allowed";

/// The servers that give credentials to machines with a role: of EC2, Azure and Google Cloud, and the name of the latter.
const METADATA_SERVERS: [&str; 2] = ["://169.254.169.254/", "://metadata.google.internal/"];

/// Converts an error of a store into an `Io` error for the file of `address`. The message contains no secrets.
///
/// The source of the result is a [`std::io::Error`] with the kind `NotFound`, `AlreadyExists`, `PermissionDenied`,
/// `TimedOut`, `ConnectionRefused`, `IsADirectory` or `Other`. Invalid paths and options are `InvalidArgument` errors.
pub(super) fn to_error(message: &str, error: &object_store::Error, address: &Address) -> Error {
    // The error of a source of credentials has a kind and a message already.
    if let Some(error) = causes(error).find_map(|cause| cause.downcast_ref::<Error>()) {
        return error.clone().in_file(&address.name);
    }
    let text = text(error, address);
    if text.contains(NOT_HTTPS) {
        let text = "the endpoint is without TLS: allow it with the storage option `allow_http`";
        return Error::invalid(format!("{message}: {text}")).in_file(&address.name);
    }
    if let Some(text) = missing_credentials(&text, address) {
        return Error::io(message, io::Error::new(io::ErrorKind::PermissionDenied, text)).in_file(&address.name);
    }
    let kind = match error {
        object_store::Error::NotFound { .. } => io::ErrorKind::NotFound,
        object_store::Error::PermissionDenied { .. } | object_store::Error::Unauthenticated { .. } => {
            io::ErrorKind::PermissionDenied
        }
        object_store::Error::AlreadyExists { .. } => io::ErrorKind::AlreadyExists,
        object_store::Error::InvalidPath { .. } | object_store::Error::UnknownConfigurationKey { .. } => {
            return Error::invalid(format!("{message}: {text}")).in_file(&address.name);
        }
        object_store::Error::Precondition { .. } => return replaced().in_file(&address.name),
        _ => kind_of_cause(error),
    };
    Error::io(message, io::Error::new(kind, text)).in_file(&address.name)
}

/// As [`to_error`], for a store that cannot be set up.
pub(super) fn to_builder_error(error: &object_store::Error, address: &Address) -> Error {
    if causes(error).any(|cause| cause.to_string() == MISSING_ACCOUNT) {
        Error::invalid("the URL has no account of Azure: give `azure_storage_account_name`").in_file(&address.name)
    } else {
        to_error("cannot be reached", error, address)
    }
}

/// As [`to_error`], for an upload that cannot be completed. If its parts are gone, the kind is `NotFound` for Azure, too,
/// which removes them after a week, and when another file of the name is written.
pub(super) fn to_upload_error(message: &str, error: &object_store::Error, address: &Address) -> Error {
    if causes(error).any(|cause| cause.to_string().contains(INVALID_BLOCK_LIST)) {
        Error::io(message, io::Error::new(io::ErrorKind::NotFound, text(error, address))).in_file(&address.name)
    } else {
        to_error(message, error, address)
    }
}

/// Whether the store does not implement the operation.
pub(super) fn is_unsupported(error: &object_store::Error) -> bool {
    let is_variant =
        matches!(error, object_store::Error::NotSupported { .. } | object_store::Error::NotImplemented { .. });
    is_variant || status(error) == Some(501)
}

/// Whether a server rejects a range request, or ignores the range. Another form of the request may succeed.
pub(super) fn is_range_unsupported(error: &object_store::Error) -> bool {
    match error {
        object_store::Error::Generic { .. } => {
            let has_range_error = causes(error).any(|cause| {
                let message = cause.to_string();
                RANGE_ERROR_PREFIXES.iter().any(|prefix| message.starts_with(prefix))
            });
            has_range_error || status(error).is_some_and(|status| matches!(status, 400..=499 | 501))
        }
        error => is_unsupported(error),
    }
}

/// The message for an error of the server that is asked for credentials where nothing else has any.
fn missing_credentials(text: &str, address: &Address) -> Option<String> {
    if !METADATA_SERVERS.iter().any(|server| text.contains(server)) {
        return None;
    }
    let (keys, skip) = match address.url.store_scheme() {
        "s3" => ("`aws_access_key_id` and `aws_secret_access_key`", "`aws_skip_signature`"),
        "gs" => ("`google_service_account`, the path of its JSON file", "`google_skip_signature`"),
        _ => ("`azure_storage_account_key` or `azure_storage_sas_key`", "`azure_skip_signature`"),
    };
    Some(format!(
        "no credentials found: the storage options and the environment have none, and this machine has no role that the \
         store knows: give {keys}, or {skip} for public files ({text})"
    ))
}

/// The HTTP status of the response that has caused an error.
fn status(error: &object_store::Error) -> Option<u16> {
    causes(error).find_map(|cause| cause.to_string().strip_prefix(STATUS_PREFIX)?.get(..3)?.parse().ok())
}

/// The kind of an error without a variant of its own, by its cause. Listings have no variants for HTTP statuses.
fn kind_of_cause(error: &object_store::Error) -> io::ErrorKind {
    let is_timeout = |cause: &(dyn StdError + 'static)| {
        cause.downcast_ref::<HttpError>().is_some_and(|error| error.kind() == HttpErrorKind::Timeout)
    };
    let has_kind = |kind: io::ErrorKind| {
        causes(error).any(|cause| cause.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == kind))
    };
    match status(error) {
        _ if causes(error).any(is_timeout) || has_kind(io::ErrorKind::TimedOut) => io::ErrorKind::TimedOut,
        _ if has_kind(io::ErrorKind::ConnectionRefused) => io::ErrorKind::ConnectionRefused,
        _ if has_kind(io::ErrorKind::IsADirectory) => io::ErrorKind::IsADirectory,
        Some(404) => io::ErrorKind::NotFound,
        Some(401 | 403) => io::ErrorKind::PermissionDenied,
        _ => io::ErrorKind::Other,
    }
}

/// The chain of sources of an error.
fn causes(error: &object_store::Error) -> impl Iterator<Item = &(dyn StdError + 'static)> {
    std::iter::successors(error.source(), |&error| error.source())
}

/// The messages of an error and its causes without repetitions and secrets, truncated to [`MAX_MESSAGE_LENGTH`].
fn text(error: &object_store::Error, address: &Address) -> String {
    let mut text = error.to_string();
    for message in causes(error).map(ToString::to_string) {
        if !text.contains(&message) {
            text = format!("{text}: {message}");
        }
    }
    for secret in address.secrets() {
        text = text.replace(&secret, "…");
    }
    let text = without_credentials(&text);
    match text.char_indices().nth(MAX_MESSAGE_LENGTH) {
        Some((end, _)) => format!("{}…", text.split_at(end).0),
        None => text,
    }
}

/// Removes the credentials, which precede `@`, from all URLs in a text.
fn without_credentials(text: &str) -> String {
    let Some((start, rest)) = text.split_once("://") else { return text.to_owned() };
    let mut out = start.to_owned();
    for part in rest.split("://") {
        let authority_end = part.find(|c: char| c == '/' || c.is_whitespace()).unwrap_or(part.len());
        let credentials_end = part.get(..authority_end).and_then(|authority| authority.rfind('@'));
        out.push_str("://");
        out.push_str(credentials_end.and_then(|end| part.get(end + 1..)).unwrap_or(part));
    }
    out
}
