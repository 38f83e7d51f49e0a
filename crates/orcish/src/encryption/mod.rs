//! Column encryption (ORCv1, Column Encryption): keys, the cipher, and what a file can be read with.
//!
//! A column that is encrypted is stored twice: masked, as a column without encryption, and encrypted, as a variant. A variant
//! has a local key of its own, which is random, and which the file has wrapped by a master key. Master keys are outside of the
//! file: a [`KeyProvider`] unwraps local keys with them.
//!
//! ```text
//! key        SecretKey, KeyVersion, Algorithm
//! cipher     AES in counter mode, and the initialization vectors of streams
//! provider   the trait KeyProvider, Keys as an option of readers, and MasterKeys, which has keys in memory
//! variants   the encrypted columns of a file, as its footer has them
//! unlocked   their local keys, as far as a provider has unwrapped them
//! source     a source of bytes that decrypts the streams of a stripe
//! ```
//!
//! The scheme keeps values secret from readers without keys. It has no authentication: a change of encrypted bytes is noticed
//! only where the decoded values become invalid. Lengths of streams, numbers of rows, sizes of dictionaries, types and names of
//! columns are not encrypted.

mod cipher;
mod key;
mod provider;
mod source;
mod unlocked;
mod variants;

pub use key::{Algorithm, KeyVersion, SecretKey};
pub use provider::{KeyProvider, Keys, MasterKeys};

pub(crate) use cipher::{Cipher, FILE_STATISTICS, Iv, STRIPE_STATISTICS};
pub(crate) use source::{StreamCiphers, decrypting};
pub(crate) use unlocked::Unlocked;
pub(crate) use variants::Variants;
