//! Credentials of object stores that the application obtains while stores are in use.

use std::fmt;
use std::time::SystemTime;

use orcish_core::Result;

/// Credentials of a store for some time.
///
/// ```
/// use std::time::{Duration, SystemTime};
///
/// use orcish_io::Credentials;
///
/// let pairs = [("aws_access_key_id", "AKIA…"), ("aws_secret_access_key", "…"), ("aws_session_token", "…")];
/// let credentials = Credentials::new(pairs).with_expiry(SystemTime::now() + Duration::from_secs(3600));
/// // Secrets are not shown.
/// assert!(!format!("{credentials:?}").contains("AKIA"));
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Credentials {
    pairs: Vec<(String, String)>,
    expiry: Option<SystemTime>,
}

impl Credentials {
    /// Credentials that do not expire.
    ///
    /// The keys are those of [`StorageOptions`](crate::StorageOptions) that are credentials: of S3 `aws_access_key_id`,
    /// `aws_secret_access_key` and, if there is one, `aws_session_token`; of Google Cloud Storage `bearer_token`; of Azure
    /// one of `azure_storage_account_key`, `azure_storage_sas_key` and `bearer_token`.
    pub fn new<K: Into<String>, V: Into<String>>(pairs: impl IntoIterator<Item = (K, V)>) -> Self {
        let pairs = pairs.into_iter().map(|(key, value)| (key.into(), value.into())).collect();
        Credentials { pairs, expiry: None }
    }

    /// Sets the time after which the credentials are not valid. New ones are obtained before it.
    #[must_use]
    pub fn with_expiry(mut self, expiry: SystemTime) -> Self {
        self.expiry = Some(expiry);
        self
    }

    /// Keys and values.
    #[cfg(feature = "object-store")]
    pub(crate) fn pairs(&self) -> &[(String, String)] {
        &self.pairs
    }

    /// The time after which the credentials are not valid.
    #[cfg(feature = "object-store")]
    pub(crate) fn expiry(&self) -> Option<SystemTime> {
        self.expiry
    }
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let keys: Vec<_> = self.pairs.iter().map(|(key, _)| key).collect();
        f.debug_struct("Credentials").field("keys", &keys).field("expiry", &self.expiry).finish_non_exhaustive()
    }
}

/// A source of credentials, such as the client of an identity service.
///
/// A store calls it before its first request, and again before the credentials expire. The calls are made on a thread that
/// may block, and one at a time for each store. Stores with the same source, by [`Arc::ptr_eq`](std::sync::Arc::ptr_eq),
/// and equal options are one store.
///
/// ```
/// use std::sync::Arc;
///
/// use orcish_io::{Credentials, StorageOptions};
///
/// let obtain = || Ok(Credentials::new([("bearer_token", "…")]));
/// let options = StorageOptions::default().with_credentials(Arc::new(obtain));
/// ```
pub trait CredentialSource: Send + Sync + 'static {
    /// Obtains credentials.
    ///
    /// # Errors
    /// Errors fail the request that needs the credentials. The next request calls the source again.
    fn credentials(&self) -> Result<Credentials>;
}

impl<F: Fn() -> Result<Credentials> + Send + Sync + 'static> CredentialSource for F {
    fn credentials(&self) -> Result<Credentials> {
        self()
    }
}
