//! Credentials of a [`CredentialSource`] for the clients of stores.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use async_trait::async_trait;
use object_store::CredentialProvider;
use object_store::aws::{AmazonS3ConfigKey, AwsCredential};
use object_store::azure::{AzureAccessKey, AzureConfigKey, AzureCredential};
use object_store::gcp::GcpCredential;
use orcish_core::{Error, Result};
use tokio::sync::Mutex;

use crate::credentials::{CredentialSource, Credentials};
use crate::location::percent_decode;

/// Credentials are obtained again this time before they expire, or a tenth of their life before, if that is less.
const MAX_REFRESH_MARGIN: Duration = Duration::from_secs(300);

/// Credentials of one kind of store, made of keys and values.
pub(super) trait StoreCredential: fmt::Debug + Send + Sync + Sized + 'static {
    /// The name of the store in messages.
    const STORE: &'static str;

    /// # Errors
    /// `InvalidArgument` if a key is unknown or missing. Messages do not have values.
    fn try_new(pairs: &[(String, String)]) -> Result<Self>;
}

/// The error for a key that is not one of credentials.
fn unknown<T: StoreCredential>(key: &str, known: &str) -> Error {
    Error::invalid(format!("the credentials have the key {key:?}; those of {} are {known}", T::STORE))
}

impl StoreCredential for AwsCredential {
    const STORE: &'static str = "S3";

    fn try_new(pairs: &[(String, String)]) -> Result<Self> {
        let (mut key_id, mut secret_key, mut token) = (None, None, None);
        for (key, value) in pairs {
            let place = match key.to_ascii_lowercase().parse() {
                Ok(AmazonS3ConfigKey::AccessKeyId) => &mut key_id,
                Ok(AmazonS3ConfigKey::SecretAccessKey) => &mut secret_key,
                Ok(AmazonS3ConfigKey::Token) => &mut token,
                _ => {
                    let known = "aws_access_key_id, aws_secret_access_key and aws_session_token";
                    return Err(unknown::<Self>(key, known));
                }
            };
            *place = Some(value.clone());
        }
        let missing = |key| move || Error::invalid(format!("the credentials have no {key}"));
        Ok(AwsCredential {
            key_id: key_id.ok_or_else(missing("aws_access_key_id"))?,
            secret_key: secret_key.ok_or_else(missing("aws_secret_access_key"))?,
            token,
        })
    }
}

impl StoreCredential for GcpCredential {
    const STORE: &'static str = "Google Cloud Storage";

    fn try_new(pairs: &[(String, String)]) -> Result<Self> {
        match pairs {
            [(key, value)] if is_bearer_token(key) => Ok(GcpCredential { bearer: value.clone() }),
            [(key, _)] => Err(unknown::<Self>(key, "bearer_token")),
            _ => Err(Error::invalid(format!("{} credentials, where one bearer_token has to be", pairs.len()))),
        }
    }
}

fn is_bearer_token(key: &str) -> bool {
    ["bearer_token", "google_bearer_token"].iter().any(|known| known.eq_ignore_ascii_case(key))
}

impl StoreCredential for AzureCredential {
    const STORE: &'static str = "Azure";

    fn try_new(pairs: &[(String, String)]) -> Result<Self> {
        let known = "azure_storage_account_key, azure_storage_sas_key or bearer_token";
        let [(key, value)] = pairs else {
            return Err(Error::invalid(format!("{} credentials, where one of {known} has to be", pairs.len())));
        };
        match key.to_ascii_lowercase().parse() {
            Ok(AzureConfigKey::AccessKey) => AzureAccessKey::try_new(value)
                .map(AzureCredential::AccessKey)
                .map_err(|_| Error::invalid(format!("the value of the credentials' {key} is not in Base64"))),
            Ok(AzureConfigKey::Token) => Ok(AzureCredential::BearerToken(value.clone())),
            Ok(AzureConfigKey::SasKey) => {
                let decoded = percent_decode(value);
                let pairs = decoded.trim_start_matches('?').split('&').filter(|pair| !pair.trim().is_empty());
                let pair = |pair: &str| pair.trim().split_once('=').map(|(key, value)| (key.into(), value.into()));
                pairs
                    .map(pair)
                    .collect::<Option<_>>()
                    .map(AzureCredential::SASToken)
                    .ok_or_else(|| Error::invalid(format!("the value of the credentials' {key} is no query of a URL")))
            }
            _ => Err(unknown::<Self>(key, known)),
        }
    }
}

/// Credentials of a source, which are kept until shortly before they expire.
pub(super) struct Provider<T> {
    source: Arc<dyn CredentialSource>,
    kept: Mutex<Option<Kept<T>>>,
}

struct Kept<T> {
    credential: Arc<T>,
    refresh_at: Option<SystemTime>,
}

impl<T> Provider<T> {
    pub(super) fn new(source: Arc<dyn CredentialSource>) -> Self {
        Provider { source, kept: Mutex::default() }
    }
}

impl<T> fmt::Debug for Provider<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Provider")
    }
}

#[async_trait]
impl<T: StoreCredential> CredentialProvider for Provider<T> {
    type Credential = T;

    async fn get_credential(&self) -> object_store::Result<Arc<T>> {
        let mut kept = self.kept.lock().await;
        let now = SystemTime::now();
        if let Some(Kept { credential, refresh_at }) = kept.as_ref()
            && refresh_at.is_none_or(|at| now < at)
        {
            return Ok(Arc::clone(credential));
        }
        let generic = |source| object_store::Error::Generic { store: T::STORE, source };
        let source = Arc::clone(&self.source);
        let obtained = tokio::task::spawn_blocking(move || source.credentials()).await;
        let made = obtained.map_err(|error| generic(error.into()))?.and_then(|credentials| {
            Ok(Kept {
                credential: Arc::new(T::try_new(credentials.pairs())?),
                refresh_at: refresh_at(&credentials, now),
            })
        });
        let made = made.map_err(|error| generic(error.into()))?;
        let credential = Arc::clone(&made.credential);
        *kept = Some(made);
        Ok(credential)
    }
}

/// The time at which credentials are obtained again.
fn refresh_at(credentials: &Credentials, now: SystemTime) -> Option<SystemTime> {
    let expiry = credentials.expiry()?;
    let life = expiry.duration_since(now).unwrap_or(Duration::ZERO);
    Some(expiry - MAX_REFRESH_MARGIN.min(life / 10))
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    fn pairs(given: &[(&str, &str)]) -> Vec<(String, String)> {
        given.iter().map(|&(key, value)| (key.to_owned(), value.to_owned())).collect()
    }

    #[test]
    fn keys_of_each_store() {
        let aws = AwsCredential::try_new(&pairs(&[("AWS_ACCESS_KEY_ID", "a"), ("secret_access_key", "b")])).unwrap();
        assert_eq!((aws.key_id.as_str(), aws.secret_key.as_str(), aws.token), ("a", "b", None));
        assert_eq!(GcpCredential::try_new(&pairs(&[("bearer_token", "t")])).unwrap().bearer, "t");
        let sas = AzureCredential::try_new(&pairs(&[("sas_token", "?sv=1&sig=a%3D")])).unwrap();
        let AzureCredential::SASToken(sas) = sas else { panic!("{sas:?}") };
        assert_eq!(sas, [("sv".to_owned(), "1".to_owned()), ("sig".to_owned(), "a=".to_owned())]);
        let token = AzureCredential::try_new(&pairs(&[("bearer_token", "t")])).unwrap();
        assert!(matches!(token, AzureCredential::BearerToken(token) if token == "t"));
        let key = AzureCredential::try_new(&pairs(&[("azure_storage_account_key", "AAAA")])).unwrap();
        assert!(matches!(key, AzureCredential::AccessKey(_)));
    }

    #[test]
    fn wrong_keys_are_named_without_values() {
        let of_aws = |given: &[(&str, &str)]| AwsCredential::try_new(&pairs(given)).unwrap_err();
        let of_azure = |given: &[(&str, &str)]| AzureCredential::try_new(&pairs(given)).unwrap_err();
        let of_gcp = |given: &[(&str, &str)]| GcpCredential::try_new(&pairs(given)).unwrap_err();
        let errors = [
            (of_aws(&[("aws_access_key_id", "hush")]), "no aws_secret_access_key"),
            (of_aws(&[("aws_region", "hush")]), "the key \"aws_region\""),
            (of_azure(&[("azure_storage_account_key", "hush!")]), "not in Base64"),
            (of_azure(&[("sas_token", "hush")]), "no query"),
            (of_azure(&[]), "0 credentials"),
            (of_gcp(&[("token", "hush")]), "the key \"token\""),
            (of_gcp(&[("bearer_token", "hush"), ("a", "hush")]), "2 credentials"),
        ];
        for (error, part) in errors {
            let text = error.to_string();
            assert!(text.contains(part) && !text.contains("hush"), "{text}");
        }
    }

    /// The number of calls of a source for five requests, whose credentials live for some time.
    fn calls(life: Option<Duration>) -> usize {
        let count = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&count);
        let source = move || {
            counter.fetch_add(1, Ordering::Relaxed);
            let credentials = Credentials::new([("bearer_token", "t")]);
            Ok(match life {
                Some(life) => credentials.with_expiry(SystemTime::now() + life),
                None => credentials,
            })
        };
        let provider = Provider::<GcpCredential>::new(Arc::new(source));
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        for _ in 0..5 {
            assert_eq!(runtime.block_on(provider.get_credential()).unwrap().bearer, "t");
        }
        count.load(Ordering::Relaxed)
    }

    #[test]
    fn credentials_are_kept_until_they_expire() {
        assert_eq!(calls(None), 1);
        assert_eq!(calls(Some(Duration::from_secs(3600))), 1);
        assert_eq!(calls(Some(Duration::from_secs(60))), 1);
        assert_eq!(calls(Some(Duration::ZERO)), 5);
    }

    #[test]
    fn credentials_are_obtained_before_they_expire() {
        let now = SystemTime::now();
        let margin = |life| {
            let expiry = now + Duration::from_secs(life);
            expiry
                .duration_since(refresh_at(&Credentials::new([("a", "b")]).with_expiry(expiry), now).unwrap())
                .unwrap()
        };
        assert_eq!(margin(36_000), MAX_REFRESH_MARGIN);
        assert_eq!(margin(100), Duration::from_secs(10));
        let past = Credentials::new([("a", "b")]).with_expiry(now - Duration::from_secs(5));
        assert!(refresh_at(&past, now).unwrap() < now);
    }

    #[test]
    fn the_next_request_calls_a_source_that_failed() {
        let count = AtomicUsize::new(0);
        let source = move || match count.fetch_add(1, Ordering::Relaxed) {
            0 => Err(Error::invalid("not yet")),
            _ => Ok(Credentials::new([("bearer_token", "t")])),
        };
        let provider = Provider::<GcpCredential>::new(Arc::new(source));
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        assert!(runtime.block_on(provider.get_credential()).unwrap_err().to_string().contains("not yet"));
        assert!(runtime.block_on(provider.get_credential()).is_ok());
    }
}
