//! Options of access to object stores and HTTP servers, as key-value pairs.

use std::fmt;
use std::sync::Arc;

use orcish_core::cancel::{CancelCheck, Cancellation};

use crate::credentials::CredentialSource;

/// Options of access to object stores and HTTP servers.
///
/// The keys are those of the crate `object_store`, such as `aws_access_key_id`, `google_service_account`,
/// `azure_storage_account_name`, `timeout` and `allow_http`, the fields of [`RemoteOptions`](crate::RemoteOptions) with
/// the prefix `orcish.`, for HTTP servers headers with the prefix `header.`, and for HDFS the properties of Hadoop, such
/// as `dfs.nameservices`. The local file system ignores all options.
///
/// ```
/// use orcish_io::StorageOptions;
///
/// let options = StorageOptions::from_iter([("aws_region", "eu-central-1"), ("orcish.concurrency", "32")]);
/// ```
#[derive(Clone, Default)]
pub struct StorageOptions {
    pairs: Vec<(String, String)>,
    credentials: Option<Arc<dyn CredentialSource>>,
    cancel_check: Option<CancelCheck>,
}

impl fmt::Debug for StorageOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Values may be secrets.
        f.debug_set().entries(self.pairs.iter().map(|(key, _)| key)).finish()
    }
}

impl<K: Into<String>, V: Into<String>> FromIterator<(K, V)> for StorageOptions {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(pairs: I) -> Self {
        let pairs = pairs.into_iter().map(|(key, value)| (key.into(), value.into()));
        StorageOptions { pairs: pairs.collect(), ..StorageOptions::default() }
    }
}

impl StorageOptions {
    /// Sets a source of credentials of S3, Google Cloud Storage or Azure. They take precedence over those of the other
    /// options and of the environment.
    #[must_use]
    pub fn with_credentials(mut self, source: Arc<dyn CredentialSource>) -> Self {
        self.credentials = Some(source);
        self
    }

    /// The source of credentials.
    #[cfg(feature = "object-store")]
    pub(crate) fn credentials(&self) -> Option<&Arc<dyn CredentialSource>> {
        self.credentials.as_ref()
    }

    /// Sets a cancellation check. It is called regularly during a request, on the thread that waits for the request. An
    /// error of the check cancels the request.
    #[must_use]
    pub fn with_cancel_check(mut self, check: CancelCheck) -> Self {
        self.cancel_check = Some(check);
        self
    }

    /// The cancellation check.
    #[doc(hidden)]
    pub fn cancel_check(&self) -> Option<&CancelCheck> {
        self.cancel_check.as_ref()
    }

    /// A copy without HTTP headers. Headers may hold credentials of one host.
    #[doc(hidden)]
    #[must_use]
    pub fn without_headers(&self) -> Self {
        let is_header = |key: &str| key.get(..7).is_some_and(|prefix| prefix.eq_ignore_ascii_case("header."));
        let pairs = self.pairs.iter().filter(|(key, _)| !is_header(key)).cloned().collect();
        StorageOptions { pairs, ..self.clone() }
    }

    /// A copy without the cancellation check, for requests that must not be cancelled, such as those that clean up after
    /// a cancellation.
    #[must_use]
    pub fn without_cancel_check(&self) -> Self {
        StorageOptions { cancel_check: None, ..self.clone() }
    }

    /// A timer that calls the cancellation check at most once per interval.
    #[doc(hidden)]
    pub fn cancellation(&self) -> Cancellation {
        Cancellation::new(self.cancel_check.clone())
    }
}

#[cfg(feature = "object-store")]
mod remote {
    use std::time::Duration;

    use orcish_core::names::nearest;
    use orcish_core::options::{ConvertTo, GivenValue};
    use orcish_core::{Error, Result};

    use crate::options::{MAX_CONCURRENCY, RemoteOptions};
    use crate::storage::StorageOptions;

    /// The text of a storage option.
    struct Given<'a> {
        key: &'a str,
        text: &'a str,
    }

    impl GivenValue for Given<'_> {
        type Error = Error;
    }

    impl ConvertTo<u64> for Given<'_> {
        fn convert(&self) -> Result<u64> {
            let Given { key, text } = self;
            let invalid = |_| Error::invalid(format!("the storage option {key} is {text:?}, where a number has to be"));
            text.trim().parse().map_err(invalid)
        }
    }

    impl ConvertTo<usize> for Given<'_> {
        /// Numbers without an upper limit: larger ones are the largest.
        fn convert(&self) -> Result<usize> {
            let number: u64 = self.convert()?;
            Ok(usize::try_from(number).unwrap_or(usize::MAX))
        }
    }

    impl ConvertTo<Duration> for Given<'_> {
        /// Whole seconds.
        fn convert(&self) -> Result<Duration> {
            self.convert().map(Duration::from_secs)
        }
    }

    impl ConvertTo<Option<String>> for Given<'_> {
        fn convert(&self) -> Result<Option<String>> {
            Ok(Some(self.text.to_owned()))
        }
    }

    impl StorageOptions {
        /// Splits the options into the options of requests, and the options of the store.
        pub(crate) fn split(&self) -> Result<(RemoteOptions, Vec<(String, String)>)> {
            let mut remote = RemoteOptions::default();
            let mut store = Vec::new();
            for (given, text) in &self.pairs {
                let key = given.to_ascii_lowercase();
                let Some(name) = key.strip_prefix("orcish.") else {
                    store.push((given.clone(), text.clone()));
                    continue;
                };
                if !remote.set(name, &Given { key: &key, text })? {
                    let known = RemoteOptions::OPTIONS.iter().map(|option| format!("orcish.{}", option.name));
                    return Err(Error::invalid(format!("unknown storage option {key:?}; {}", nearest(&key, known))));
                }
            }
            remote.first_read = remote.first_read.max(1);
            remote.part_size = remote.part_size.max(1);
            remote.concurrency = remote.concurrency.clamp(1, MAX_CONCURRENCY);
            Ok((remote, store))
        }
    }
}
