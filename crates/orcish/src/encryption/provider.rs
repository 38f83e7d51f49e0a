//! Where keys come from.

use std::collections::BTreeMap;
use std::sync::Arc;

use orcish_core::error::{Error, Result};

use super::cipher::unwrap_local_key;
use super::key::{KeyVersion, SecretKey};

/// Has master keys, or asks a key management service that has them.
///
/// A master key never leaves its provider. Files have local keys that are wrapped by a master key; the provider unwraps them.
pub trait KeyProvider: Send + Sync {
    /// The local key whose wrapped form a file has; `None` where the caller has no access to the key.
    ///
    /// # Errors
    /// `Corrupt` where `wrapped` is no wrapped key; errors of a service.
    fn unwrap_local_key(&self, key: &KeyVersion, wrapped: &[u8]) -> Result<Option<SecretKey>>;

    /// The version of a key that new files are written with.
    ///
    /// # Errors
    /// `Unsupported`, by default, for a provider of readers only; `InvalidArgument` for a name without a key; errors of a service.
    fn current_version(&self, name: &str) -> Result<KeyVersion> {
        Err(Error::unsupported(format!("the provider of key {} has keys for reading only", name.escape_debug())))
    }

    /// A new local key, and its wrapped form. By default the wrapped form is random, of the operating system, and the key is what
    /// it unwraps to.
    ///
    /// # Errors
    /// `InvalidArgument` without access to the key; errors of a service and of the operating system.
    fn new_local_key(&self, key: &KeyVersion) -> Result<(SecretKey, Vec<u8>)> {
        let mut wrapped = vec![0; key.algorithm.key_length()];
        getrandom::fill(&mut wrapped).map_err(|error| {
            let failed = std::io::Error::other(error.to_string());
            Error::io("the operating system has no random numbers", failed)
        })?;
        let local = self.unwrap_local_key(key, &wrapped)?;
        let local = local.ok_or_else(|| Error::invalid(format!("there is no access to key {key}")))?;
        Ok((local, wrapped))
    }
}

/// A provider of keys as an option of readers. Options are equal where they have the same provider.
#[derive(Clone)]
pub struct Keys(Arc<dyn KeyProvider>);

impl Keys {
    /// The keys of a provider.
    pub fn new(provider: Arc<dyn KeyProvider>) -> Self {
        Keys(provider)
    }

    pub(crate) fn provider(&self) -> Arc<dyn KeyProvider> {
        self.0.clone()
    }
}

impl PartialEq for Keys {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl std::fmt::Debug for Keys {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Keys")
    }
}

/// Master keys in memory.
///
/// ```
/// use orcish::encryption::{Algorithm, KeyProvider, KeyVersion, MasterKeys, SecretKey};
///
/// let keys = MasterKeys::default().with_key("pii", 0, SecretKey::try_new(vec![7; 16])?);
/// let pii = KeyVersion::new("pii", 0, Algorithm::AesCtr128);
/// assert!(keys.unwrap_local_key(&pii, &[0; 16])?.is_some());
/// assert!(keys.unwrap_local_key(&KeyVersion::new("phi", 0, Algorithm::AesCtr128), &[0; 16])?.is_none());
/// # Ok::<(), orcish::Error>(())
/// ```
#[derive(Clone, Default)]
pub struct MasterKeys(BTreeMap<(String, u32), SecretKey>);

impl MasterKeys {
    /// The keys with a further one, or with another one of its name and version.
    #[must_use]
    pub fn with_key(mut self, name: impl Into<String>, version: u32, key: SecretKey) -> Self {
        self.0.insert((name.into(), version), key);
        self
    }
}

/// The names and versions of the keys.
impl std::fmt::Debug for MasterKeys {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

impl KeyProvider for MasterKeys {
    fn unwrap_local_key(&self, key: &KeyVersion, wrapped: &[u8]) -> Result<Option<SecretKey>> {
        let Some(master) = self.0.get(&(key.name.clone(), key.version)) else { return Ok(None) };
        if master.algorithm() != key.algorithm {
            let (given, wanted) = (master.algorithm().name(), key.algorithm.name());
            return Err(Error::invalid(format!("key {key} is of {wanted}, and the given one of {given}")));
        }
        unwrap_local_key(master, wrapped).map(Some)
    }

    fn current_version(&self, name: &str) -> Result<KeyVersion> {
        let versions = self.0.range((name.to_owned(), 0)..=(name.to_owned(), u32::MAX));
        let Some(((name, version), key)) = versions.last() else {
            return Err(Error::invalid(format!("there is no key {}", name.escape_debug())));
        };
        Ok(KeyVersion::new(name.clone(), *version, key.algorithm()))
    }
}
