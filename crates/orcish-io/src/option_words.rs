//! Options of stores in the words of other libraries.

use orcish_core::{Error, Result};

use crate::location::{Parsed, parse};

/// Options of the file systems of fsspec that this crate does not have, by the kind of store, and the options that are meant.
const WORDS: [(&str, &str, &str); 8] = [
    ("s3", "anon", "aws_skip_signature"),
    ("s3", "key", "aws_access_key_id"),
    ("s3", "secret", "aws_secret_access_key"),
    ("s3", "client_kwargs", "aws_endpoint and aws_region"),
    ("gs", "anon", "google_skip_signature"),
    ("gs", "token", "google_service_account"),
    ("az", "anon", "azure_skip_signature"),
    ("az", "connection_string", "azure_storage_account_name and azure_storage_account_key"),
];

/// Checks that an option of the store of a location is not one of the file systems of fsspec.
///
/// ```
/// let error = orcish_io::check_option("s3://bucket/a.orc", "anon").unwrap_err();
/// assert!(error.to_string().ends_with("'anon' is an option of fsspec; did you mean aws_skip_signature?"));
/// assert!(orcish_io::check_option("hdfs://cluster/a.orc", "anon").is_ok());
/// ```
///
/// # Errors
/// `InvalidArgument`, which names the option that is meant.
pub fn check_option(location: &str, key: &str) -> Result<()> {
    let Parsed::Remote(url) = parse(location) else { return Ok(()) };
    let kind = if url.is_azure() { "az" } else { url.store_scheme() };
    let Some((.., meant)) = WORDS.iter().find(|(store, word, _)| *store == kind && *word == key) else { return Ok(()) };
    Err(Error::invalid(format!("'{key}' is an option of fsspec; did you mean {meant}?")).in_file(&url.display_name()))
}
