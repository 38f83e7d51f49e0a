//! What a footer says of the encryption of columns (ORCv1, Column Encryption).

use crate::proto::{orc, to_string_lossy};
use crate::schema::Schema;

/// Keys, encrypted columns and masks of a file. No key is needed to read them.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Encryption {
    /// The service that has the keys: `hadoop`, `aws`, `gcp`, `azure` or `unknown`.
    pub key_provider: String,
    /// The keys, to which the variants refer by position.
    pub keys: Vec<EncryptionKey>,
    /// The encrypted columns.
    pub variants: Vec<EncryptionVariant>,
    /// What readers without a key see.
    pub masks: Vec<DataMask>,
}

/// The name of a master key. The key itself is never in the file.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct EncryptionKey {
    /// Name of the key.
    pub name: String,
    /// Version of the key.
    pub version: u32,
    /// `AES_CTR_128`, `AES_CTR_256` or `unknown`.
    pub algorithm: &'static str,
}

/// A column, with the columns in it, that is encrypted with one key. The file may have neither of them.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct EncryptionVariant {
    /// Id of the column.
    pub root: u32,
    /// Position of the key in [`Encryption::keys`].
    pub key: u32,
    /// Bytes of the encrypted key of the statistics.
    pub encrypted_key_length: usize,
}

/// What readers without a key see in place of the values of columns.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct DataMask {
    /// Name of the mask, such as `redact`.
    pub name: String,
    /// Parameters of the mask.
    pub parameters: Vec<String>,
    /// Ids of the columns, which the file may not have.
    pub columns: Vec<u32>,
}

impl Encryption {
    /// `None` for an empty message.
    pub(super) fn from_proto(encryption: &orc::Encryption) -> Option<Self> {
        let provider = orc::KeyProviderKind::try_from(encryption.key_provider.unwrap_or(0));
        let provider = provider.unwrap_or(orc::KeyProviderKind::Unknown);
        let is_empty = *encryption == orc::Encryption::default();
        (!is_empty).then(|| Encryption {
            key_provider: provider.as_str_name().to_ascii_lowercase(),
            keys: encryption.key.iter().map(EncryptionKey::from_proto).collect(),
            variants: encryption.variants.iter().map(EncryptionVariant::from_proto).collect(),
            masks: encryption.mask.iter().map(DataMask::from_proto).collect(),
        })
    }

    /// Ids of the encrypted columns, ascending. The roots of variants can be repeated or nested. Unknown columns are ignored.
    pub(super) fn columns(&self, schema: &Schema) -> Vec<u32> {
        let mut roots: Vec<u32> = self.variants.iter().map(|variant| variant.root).collect();
        roots.sort_unstable();
        let (mut columns, mut next) = (Vec::new(), 0);
        for root in roots {
            let Ok(last) = schema.get(root).map(|this| this.last) else { continue };
            columns.extend(root.max(next)..=last);
            next = next.max(last + 1);
        }
        columns
    }
}

impl EncryptionKey {
    fn from_proto(key: &orc::EncryptionKey) -> Self {
        EncryptionKey {
            name: to_string_lossy(key.key_name()),
            version: key.key_version(),
            algorithm: match orc::EncryptionAlgorithm::try_from(key.algorithm.unwrap_or(0)) {
                Ok(orc::EncryptionAlgorithm::UnknownEncryption) | Err(_) => "unknown",
                Ok(known) => known.as_str_name(),
            },
        }
    }
}

impl EncryptionVariant {
    fn from_proto(variant: &orc::EncryptionVariant) -> Self {
        EncryptionVariant {
            root: variant.root(),
            key: variant.key(),
            encrypted_key_length: variant.encrypted_key().len(),
        }
    }
}

impl DataMask {
    fn from_proto(mask: &orc::DataMask) -> Self {
        DataMask {
            name: to_string_lossy(mask.name()),
            parameters: mask.mask_parameters.iter().map(|parameter| to_string_lossy(parameter)).collect(),
            columns: mask.columns.clone(),
        }
    }
}
