//! The schema of a table.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use orcish_core::{Error, Result};
use serde::{Deserialize, Serialize};

use crate::names::{MAX_NAME, shown};

/// Maximum number of partition columns.
const MAX_PARTITION_COLUMNS: usize = 1_000;

/// The schema of a table, as entries of its log have it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "StoredSchema", into = "StoredSchema")]
pub struct TableSchema {
    /// An ORC file without rows, whose columns are those of the files of the table. The log does not look into it.
    pub file: Bytes,
    /// Names of the partition columns, the outermost first.
    pub partition: Vec<String>,
}

impl TableSchema {
    /// Checks the names of the partition columns.
    ///
    /// # Errors
    /// `Corrupt` if a name is invalid, or is there twice, or if there are too many.
    pub(crate) fn check(&self) -> Result<()> {
        let is_name = |name: &str| !name.is_empty() && name.len() <= MAX_NAME && !name.contains('\0');
        if self.partition.len() > MAX_PARTITION_COLUMNS {
            return Err(Error::corrupt(format!("a table has at most {MAX_PARTITION_COLUMNS} partition columns")));
        }
        for (at, name) in self.partition.iter().enumerate() {
            if !is_name(name) || self.partition.iter().take(at).any(|other| other == name) {
                return Err(Error::corrupt(format!("{:?} is no name of a partition column", shown(name))));
            }
        }
        Ok(())
    }
}

/// The schema as it is stored.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredSchema {
    /// The bytes of the file in Base64.
    file: String,
    partition: Vec<String>,
}

impl From<TableSchema> for StoredSchema {
    fn from(schema: TableSchema) -> Self {
        StoredSchema { file: STANDARD.encode(&schema.file), partition: schema.partition }
    }
}

impl TryFrom<StoredSchema> for TableSchema {
    type Error = String;

    fn try_from(stored_schema: StoredSchema) -> Result<Self, String> {
        let file = STANDARD.decode(stored_schema.file).map_err(|error| format!("the schema of the table: {error}"))?;
        let schema = TableSchema { file: file.into(), partition: stored_schema.partition };
        schema.check().map_err(|error| error.message().to_owned())?;
        Ok(schema)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_partition_columns() {
        let of = |names: &[&str]| TableSchema {
            file: Bytes::new(),
            partition: names.iter().map(|name| (*name).to_owned()).collect(),
        };
        assert!(of(&["k", "K", "a b", "..", "é", "a/b", "a=b"]).check().is_ok());
        for wrong in [&[""][..], &["a\0b"], &["k", "x", "k"], &["n"; 1_001]] {
            assert!(of(wrong).check().is_err(), "{wrong:?}");
        }
        assert!(of(&[&"n".repeat(MAX_NAME + 1)]).check().is_err());
    }
}
