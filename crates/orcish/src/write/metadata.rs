//! User metadata of a file: the metadata of the options and of the schema, and the Arrow schema itself.

use arrow_schema::Schema;
use bytes::Bytes;
use orcish_core::error::{Error, ErrorKind, Result};

use super::options::WriteOptions;
use crate::read::{ARROW_SCHEMA_KEY, encode_schema};

/// The user metadata of a file: the metadata of the schema in order of the keys, then the metadata of the options, then
/// the encoded Arrow schema.
///
/// Metadata of the options replace metadata of the schema under the same key. The encoded Arrow schema replaces the one
/// of a file that the schema was read from.
///
/// # Errors
/// `InvalidArgument` when the options have a key twice.
pub(super) fn user_metadata(schema: &Schema, options: &WriteOptions) -> Result<Vec<(String, Bytes)>> {
    let mut of_options: Vec<(String, Bytes)> = Vec::new();
    for (key, value) in &options.metadata {
        if of_options.iter().any(|(other, _)| other == key) {
            return Err(Error::invalid(format!("metadata has the key {key:?} twice")));
        }
        of_options.push((key.clone(), value.clone()));
    }
    let mut of_schema: Vec<_> = schema.metadata().iter().collect();
    of_schema.sort();
    of_schema.retain(|(key, _)| of_options.iter().all(|(other, _)| other != *key));
    let of_schema = of_schema.into_iter().map(|(key, value)| (key.clone(), Bytes::copy_from_slice(value.as_bytes())));
    let mut metadata: Vec<_> = of_schema.chain(of_options).collect();
    metadata.retain(|(key, _)| key != ARROW_SCHEMA_KEY);
    if options.arrow_schema {
        let mut schema = options.recorded_schema.as_deref().unwrap_or(schema).clone();
        schema.metadata.remove(ARROW_SCHEMA_KEY);
        metadata.extend(schema_item(&schema)?);
    }
    Ok(metadata)
}

/// The item of the user metadata with the encoded Arrow schema. `None` for a schema that is nested too deeply to be stored:
/// the file is readable without it.
pub(super) fn schema_item(schema: &Schema) -> Result<Option<(String, Bytes)>> {
    match encode_schema(schema) {
        Ok(bytes) => Ok(Some((ARROW_SCHEMA_KEY.to_owned(), bytes.into()))),
        Err(error) if error.kind() == ErrorKind::Unsupported => Ok(None),
        Err(error) => Err(error),
    }
}
