//! The encrypted columns of a file, as its footer has them.

use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use orcish_core::error::{Error, Result};

use super::key::{Algorithm, KeyVersion};
use crate::proto::{orc, to_string_lossy};
use crate::schema::Schema;

/// The variants of a file, and the wrapped keys of its stripes.
#[derive(Debug, Clone, Default)]
pub(crate) struct Variants {
    /// The variants, in the order of the footer.
    pub(super) all: Vec<Variant>,
    /// The keys of the variants. An error where the footer states none that can be used.
    pub(super) keys: Vec<Result<KeyVersion>>,
    pub(super) stripes: Vec<StripeKeys>,
    /// Bytes of the encrypted statistics of the stripes, which are before those in clear.
    pub(super) statistics_length: u64,
}

/// A column with its descendants, encrypted with a key.
#[derive(Debug, Clone)]
pub(super) struct Variant {
    /// Id of the column, and the greatest id of its descendants.
    pub(super) root: u32,
    pub(super) last: u32,
    /// Position of the key.
    pub(super) key: usize,
    /// The wrapped local key of the statistics.
    pub(super) wrapped_key: Bytes,
    /// The encrypted statistics of the file.
    pub(super) file_statistics: Bytes,
    /// The columns and lengths of the encrypted statistics of the stripes.
    pub(super) stripe_statistics: Vec<(u32, u64)>,
}

/// The wrapped keys of a stripe.
#[derive(Debug, Clone)]
pub(super) struct StripeKeys {
    /// The id of the stripe in initialization vectors. It is not its number in a merged file.
    pub(super) id: u64,
    /// A wrapped key for each variant. Consecutive stripes share them.
    pub(super) wrapped: Arc<[Bytes]>,
}

impl Variants {
    /// The variants of a footer. Columns that do not exist are ignored.
    pub(crate) fn from_proto(
        encryption: &orc::Encryption,
        stripes: &[orc::StripeInformation],
        statistics_length: u64,
        schema: &Schema,
    ) -> Self {
        let keys = encryption.key.iter().map(|key| {
            let name = to_string_lossy(key.key_name());
            match Algorithm::from_proto(key.algorithm.unwrap_or(0)) {
                Some(algorithm) => Ok(KeyVersion::new(name, key.key_version(), algorithm)),
                None => {
                    let text = format!("key {} has an unknown algorithm", name.escape_debug());
                    Err(Error::unsupported(text))
                }
            }
        });
        // A variant of no column keeps its place: stripes have a key and streams for each.
        let variant = |variant: &orc::EncryptionVariant| {
            let root = variant.root();
            let last = schema.get(root).ok().map(|column| column.last);
            let lengths = variant.stripe_statistics.iter().map(|stream| (stream.column(), stream.length()));
            Variant {
                root: if last.is_some() { root } else { u32::MAX },
                last: last.unwrap_or(0),
                key: usize::try_from(variant.key()).unwrap_or(usize::MAX),
                wrapped_key: variant.encrypted_key.clone().unwrap_or_default(),
                file_statistics: variant.file_statistics.clone().unwrap_or_default(),
                stripe_statistics: lengths.collect(),
            }
        };
        Variants {
            all: encryption.variants.iter().map(variant).collect(),
            keys: keys.collect(),
            stripes: stripe_keys(stripes),
            statistics_length,
        }
    }
}

impl Variants {
    /// The key of the first variant of a column.
    pub(crate) fn key_of(&self, column: u32) -> Option<&KeyVersion> {
        let variant = self.all.iter().find(|variant| variant.columns().contains(&column))?;
        self.keys.get(variant.key)?.as_ref().ok()
    }
}

impl Variant {
    /// The column and its descendants; none for a column that the file does not have.
    pub(super) fn columns(&self) -> Range<u32> {
        self.root..self.last.saturating_add(1)
    }
}

/// The keys of each stripe: its own, or those of the stripe before, whose id precedes its own.
fn stripe_keys(stripes: &[orc::StripeInformation]) -> Vec<StripeKeys> {
    let (mut id, mut wrapped) = (0u64, Arc::<[Bytes]>::default());
    let keys = stripes.iter().map(|stripe| {
        id = stripe.encrypt_stripe_id.unwrap_or(id.saturating_add(1));
        if !stripe.encrypted_local_keys.is_empty() {
            wrapped = stripe.encrypted_local_keys.clone().into();
        }
        StripeKeys { id, wrapped: wrapped.clone() }
    });
    keys.collect()
}
