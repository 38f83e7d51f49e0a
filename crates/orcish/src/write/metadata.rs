//! User metadata of a file: what the caller and the schema say, and the Arrow schema itself.

use arrow_schema::Schema;
use bytes::Bytes;
use orcish_core::error::{Error, ErrorKind, Result};

use super::options::WriteOptions;
use crate::read::{ARROW_SCHEMA_KEY, encode_schema};

/// The user metadata: those of the schema, in the order of their keys, and those of the options, which go first where
/// a key is in both; then the Arrow schema, in place of any that came along from the file that rows were read from.
pub(super) fn user_metadata(schema: &Schema, options: &WriteOptions) -> Result<Vec<(String, Bytes)>> {
    let mut pairs: Vec<(String, Bytes)> = Vec::new();
    for (key, value) in &options.metadata {
        if pairs.iter().any(|(other, _)| other == key) {
            return Err(Error::invalid(format!("metadata has the key {key:?} twice")));
        }
        pairs.push((key.clone(), value.clone()));
    }
    let mut of_schema: Vec<_> = schema.metadata().iter().collect();
    of_schema.sort();
    of_schema.retain(|(key, _)| pairs.iter().all(|(other, _)| other != *key));
    let of_schema = of_schema.into_iter().map(|(key, value)| (key.clone(), Bytes::copy_from_slice(value.as_bytes())));
    let mut pairs: Vec<_> = of_schema.chain(pairs).collect();
    pairs.retain(|(key, _)| key != ARROW_SCHEMA_KEY);
    if options.arrow_schema {
        let mut schema = schema.clone();
        schema.metadata.remove(ARROW_SCHEMA_KEY);
        match encode_schema(&schema) {
            Ok(bytes) => pairs.push((ARROW_SCHEMA_KEY.to_owned(), bytes.into())),
            // Nested too deeply to be kept: the file is complete without it.
            Err(error) if error.kind() == ErrorKind::Unsupported => {}
            Err(error) => return Err(error),
        }
    }
    Ok(pairs)
}
