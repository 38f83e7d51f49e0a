//! Keys and their names.

use orcish_core::error::{Error, Result};
use zeroize::Zeroizing;

use crate::proto::orc;

/// An algorithm of encryption, by the length of its keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Algorithm {
    /// AES in counter mode with keys of 128 bits.
    AesCtr128,
    /// AES in counter mode with keys of 256 bits.
    AesCtr256,
}

impl Algorithm {
    /// Length of a key in bytes.
    pub fn key_length(self) -> usize {
        match self {
            Algorithm::AesCtr128 => 16,
            Algorithm::AesCtr256 => 32,
        }
    }

    /// The algorithm of a key of `length` bytes; `None` where there is none.
    pub fn of_length(length: usize) -> Option<Self> {
        [Algorithm::AesCtr128, Algorithm::AesCtr256].into_iter().find(|algorithm| algorithm.key_length() == length)
    }

    /// The algorithm of a name; `None` where there is none.
    pub fn of_name(name: &str) -> Option<Self> {
        [Algorithm::AesCtr128, Algorithm::AesCtr256].into_iter().find(|algorithm| algorithm.name() == name)
    }

    /// The name of the algorithm in the specification.
    pub fn name(self) -> &'static str {
        match self {
            Algorithm::AesCtr128 => "AES_CTR_128",
            Algorithm::AesCtr256 => "AES_CTR_256",
        }
    }

    pub(crate) fn to_proto(self) -> orc::EncryptionAlgorithm {
        match self {
            Algorithm::AesCtr128 => orc::EncryptionAlgorithm::AesCtr128,
            Algorithm::AesCtr256 => orc::EncryptionAlgorithm::AesCtr256,
        }
    }

    pub(crate) fn from_proto(algorithm: i32) -> Option<Self> {
        match orc::EncryptionAlgorithm::try_from(algorithm) {
            Ok(orc::EncryptionAlgorithm::AesCtr128) => Some(Algorithm::AesCtr128),
            Ok(orc::EncryptionAlgorithm::AesCtr256) => Some(Algorithm::AesCtr256),
            Ok(orc::EncryptionAlgorithm::UnknownEncryption) | Err(_) => None,
        }
    }
}

/// The name of a master key, with its version and its algorithm.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub struct KeyVersion {
    /// Name of the key.
    pub name: String,
    /// Version of the key. A key that is replaced gets the next version, and files keep the version that they were written with.
    pub version: u32,
    /// Algorithm of the key, and of the local keys that it wraps.
    pub algorithm: Algorithm,
}

impl KeyVersion {
    /// The version of a key.
    pub fn new(name: impl Into<String>, version: u32, algorithm: Algorithm) -> Self {
        KeyVersion { name: name.into(), version, algorithm }
    }
}

/// The name and the version, as `pii@0`.
impl std::fmt::Display for KeyVersion {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}@{}", self.name.escape_debug(), self.version)
    }
}

/// The bytes of a key. They are in no message and no debug output, and are wiped when the key is dropped.
#[derive(Clone, PartialEq, Eq)]
pub struct SecretKey(Zeroizing<Vec<u8>>);

impl SecretKey {
    /// A key of 16 or 32 bytes.
    ///
    /// # Errors
    /// `InvalidArgument` for another number of bytes.
    ///
    /// ```
    /// use orcish::encryption::{Algorithm, SecretKey};
    ///
    /// let key = SecretKey::try_new(vec![7; 16])?;
    /// assert_eq!((key.algorithm(), format!("{key:?}").as_str()), (Algorithm::AesCtr128, "SecretKey(128 bits)"));
    /// assert!(SecretKey::try_new(vec![7; 15]).is_err());
    /// # Ok::<(), orcish::Error>(())
    /// ```
    pub fn try_new(bytes: Vec<u8>) -> Result<Self> {
        let bytes = Zeroizing::new(bytes);
        match Algorithm::of_length(bytes.len()) {
            Some(_) => Ok(SecretKey(bytes)),
            None => Err(Error::invalid(format!("a key has 16 or 32 bytes, and not {}", bytes.len()))),
        }
    }

    /// The algorithm whose keys have this length.
    pub fn algorithm(&self) -> Algorithm {
        if self.0.len() == Algorithm::AesCtr128.key_length() { Algorithm::AesCtr128 } else { Algorithm::AesCtr256 }
    }

    /// The bytes of the key, for the code of a [`KeyProvider`](super::KeyProvider).
    pub fn expose(&self) -> &[u8] {
        &self.0
    }
}

impl std::fmt::Debug for SecretKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "SecretKey({} bits)", self.0.len() * 8)
    }
}
