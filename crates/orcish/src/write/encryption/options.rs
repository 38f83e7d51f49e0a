//! Which columns are encrypted, as an option of writing.

use orcish_core::error::{Error, Result};
use orcish_core::names::ColumnName;

use super::mask::Mask;
use crate::encryption::Keys;

/// Columns that are encrypted, with the names of their keys and with the masks that readers without a key see. A column includes
/// all columns below it.
///
/// ```
/// use std::sync::Arc;
///
/// use orcish::WriteOptions;
/// use orcish::encryption::{Keys, MasterKeys, SecretKey};
/// use orcish::write::{ColumnEncryption, Mask};
///
/// let keys = MasterKeys::default().with_key("pii", 0, SecretKey::try_new(vec![7; 16])?);
/// let encryption = ColumnEncryption::new(Keys::new(Arc::new(keys)))
///     .with_column("ssn", "pii")
///     .with_column("contact.email", "pii")
///     .with_mask("contact.email", Mask::Sha256);
/// let options = WriteOptions::default().with_encryption(encryption);
/// # Ok::<(), orcish::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct ColumnEncryption {
    pub(super) keys: Keys,
    pub(super) columns: Vec<(ColumnName, String)>,
    pub(super) masks: Vec<(ColumnName, Mask)>,
}

impl ColumnEncryption {
    /// Encryption of no column yet, with the keys of a provider.
    pub fn new(keys: Keys) -> Self {
        ColumnEncryption { keys, columns: Vec::new(), masks: Vec::new() }
    }

    /// Encrypts a column with the current version of a key.
    #[must_use]
    pub fn with_column(mut self, column: impl Into<ColumnName>, key: impl Into<String>) -> Self {
        self.columns.push((column.into(), key.into()));
        self
    }

    /// Sets the mask of an encrypted column, or of one below it. Others have [`Mask::Nullify`].
    #[must_use]
    pub fn with_mask(mut self, column: impl Into<ColumnName>, mask: Mask) -> Self {
        self.masks.push((column.into(), mask));
        self
    }

    /// Whether no column is encrypted.
    pub fn is_empty(&self) -> bool {
        self.columns.is_empty()
    }

    /// The key of a column that is named twice with another key.
    pub(super) fn check_keys(&self) -> Result<()> {
        for (at, (column, key)) in self.columns.iter().enumerate() {
            let other = self.columns.iter().take(at).find(|(other, _)| other == column);
            if let Some((_, other)) = other.filter(|(_, other)| other != key) {
                let text = format!(
                    "encrypt: column {column} has two keys, {} and {}",
                    other.escape_debug(),
                    key.escape_debug()
                );
                return Err(Error::invalid(text));
            }
        }
        Ok(())
    }
}
