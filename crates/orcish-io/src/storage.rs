//! How files beyond the local file system are reached.

use std::fmt;

use orcish_core::cancel::{Check, Patience};

/// How files beyond the local file system are reached: keys and values of their store, such as
/// `aws_access_key_id`, `google_service_account`, `azure_storage_account_name`, `timeout` or `allow_http`, as
/// the crate `object_store` spells them, and those of [`RemoteOptions`](crate::RemoteOptions), which begin with
/// `orcish.`. Paths of the local file system need none, and take no notice of any.
#[derive(Clone, Default)]
pub struct StorageOptions {
    pairs: Vec<(String, String)>,
    check: Option<Check>,
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
        StorageOptions { pairs: pairs.collect(), check: None }
    }
}

impl StorageOptions {
    /// Has `check` called now and then while a request is under way, on the thread that waits for it.
    #[must_use]
    pub fn while_waiting(mut self, check: Check) -> Self {
        self.check = Some(check);
        self
    }

    /// What is called while something takes long.
    #[doc(hidden)]
    pub fn check(&self) -> Option<&Check> {
        self.check.as_ref()
    }

    /// Without the headers, which are for one host alone.
    #[doc(hidden)]
    #[must_use]
    pub fn without_headers(&self) -> Self {
        let is_header = |key: &str| key.get(..7).is_some_and(|start| start.eq_ignore_ascii_case("header."));
        let pairs = self.pairs.iter().filter(|(key, _)| !is_header(key)).cloned().collect();
        StorageOptions { pairs, check: self.check.clone() }
    }

    /// When to look whether to go on.
    #[doc(hidden)]
    pub fn patience(&self) -> Patience {
        Patience::new(self.check.clone())
    }
}

#[cfg(feature = "object-store")]
mod remote {
    use std::time::Duration;

    use orcish_core::{Error, Result};

    use crate::options::{MOST_REQUESTS, RemoteOptions};
    use crate::storage::StorageOptions;

    impl StorageOptions {
        /// The options of requests, and those that are left, which are for the store, in order.
        pub(crate) fn split(&self) -> Result<(RemoteOptions, Vec<(String, String)>)> {
            let mut remote = RemoteOptions::default();
            let mut rest = Vec::new();
            for (key, value) in &self.pairs {
                let key = key.to_ascii_lowercase();
                let Some(name) = key.strip_prefix("orcish.") else {
                    rest.push((key, value.clone()));
                    continue;
                };
                let number = value.trim().parse::<u64>().map_err(|_| {
                    Error::invalid(format!("the storage option {key} is {value:?}, where a number has to be"))
                })?;
                let count = || usize::try_from(number).unwrap_or(usize::MAX);
                match name {
                    "first_read" => remote.first_read = number.max(1),
                    "coalesce_gap" => remote.coalesce_gap = number,
                    "part_size" => remote.part_size = number.max(1),
                    "concurrency" => remote.concurrency = count().clamp(1, MOST_REQUESTS),
                    "max_retries" => remote.max_retries = count(),
                    "retry_timeout" => remote.retry_timeout = Duration::from_secs(number),
                    _ => return Err(Error::invalid(format!("unknown storage option {key:?}"))),
                }
            }
            rest.sort();
            Ok((remote, rest))
        }
    }
}
