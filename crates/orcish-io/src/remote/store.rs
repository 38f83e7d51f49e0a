//! Clients of object stores, cached per process.

use std::sync::{Arc, Mutex, PoisonError};

use base64::Engine as _;
use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey, S3CopyIfNotExists};
use object_store::azure::MicrosoftAzureBuilder;
use object_store::gcp::GoogleCloudStorageBuilder;
use object_store::http::HttpBuilder;
use object_store::limit::LimitStore;
use object_store::list::PaginatedListStore;
use object_store::multipart::MultipartStore;
use object_store::{BackoffConfig, ClientConfigKey, ClientOptions, ObjectStore, RetryConfig};
use orcish_core::process::PerProcess;
use orcish_core::{Error, Result};
use reqwest::Certificate;
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue};
use rustls::RootCertStore;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use tokio::sync::Semaphore;

use super::address::{Address, SharedCredentials};
use super::client::Connector;
use super::credentials::Provider;
use super::error::to_builder_error;
#[cfg(feature = "hdfs")]
use super::hdfs_client::HdfsClient;
use super::paginated::PaginatedStore;
use crate::location::percent_decode;
use crate::messages::CANNOT_READ;
use crate::option_words::check_option;
use crate::options::RemoteOptions;
use crate::tuning;

/// Prefixes of the environment variables that contain options of stores.
const ENVIRONMENT_PREFIXES: [&str; 5] = ["AWS_", "GOOGLE_", "AZURE_", "SERVICE_ACCOUNT", "HADOOP_"];

/// How often a server that gives credentials of S3 is asked again. Each try of a connection takes a second.
const MAX_CREDENTIAL_RETRIES: usize = 2;

/// A client of a store.
#[derive(Clone)]
pub(super) struct Store {
    pub(super) objects: Arc<dyn ObjectStore>,
    /// `None` for HTTP servers and HDFS.
    pub(super) multipart: Option<MultipartClient>,
    /// The client of HDFS; `None` for other stores.
    #[cfg(feature = "hdfs")]
    pub(super) hdfs: Option<HdfsClient>,
}

/// The multipart uploads of a store.
#[derive(Clone)]
pub(super) struct MultipartClient {
    pub(super) store: Arc<dyn MultipartStore>,
    /// Limits the concurrent part uploads of all files.
    pub(super) permits: Arc<Semaphore>,
}

/// The key of the cache of stores.
#[derive(Debug, PartialEq, Eq)]
struct CacheKey {
    scheme: String,
    authority: String,
    query: Option<String>,
    options: RemoteOptions,
    store_options: Vec<(String, String)>,
    credentials: SharedCredentials,
    environment: Vec<(String, String)>,
}

impl CacheKey {
    fn new(address: &Address) -> Self {
        let is_relevant = |name: &str| ENVIRONMENT_PREFIXES.iter().any(|prefix| name.starts_with(prefix));
        let text = |name: std::ffi::OsString| name.into_string().ok();
        let variables = std::env::vars_os().filter_map(|(name, value)| Some((text(name)?, text(value)?)));
        CacheKey {
            scheme: address.url.scheme.clone(),
            authority: address.url.authority.clone(),
            query: address.query().map(str::to_owned),
            options: address.options.clone(),
            store_options: address.store_options.clone(),
            credentials: address.credentials.clone(),
            environment: variables.filter(|(name, _)| is_relevant(name)).collect(),
        }
    }
}

impl Store {
    /// The store of an address: a cached one, or a new one.
    ///
    /// # Errors
    /// `InvalidArgument` if an option is invalid.
    pub(super) fn connect(address: &Address) -> Result<Self> {
        static CACHE: PerProcess<Mutex<Vec<(CacheKey, Store)>>> = PerProcess::new();
        if address.url.scheme.is_empty() {
            let text = "its store was made by another process: make it again after a fork";
            return Err(Error::invalid(text).in_file(&address.name));
        }
        let key = CacheKey::new(address);
        let mut cache = CACHE.get_or_init(Mutex::default).lock().unwrap_or_else(PoisonError::into_inner);
        let cached = cache.iter().position(|(other, _)| *other == key).map(|index| cache.remove(index));
        let (key, store) = match cached {
            Some(entry) => entry,
            None => (key, Self::build(address)?),
        };
        // The least recently used store is at the end.
        cache.insert(0, (key, store.clone()));
        cache.truncate(tuning::MAX_CACHED_STORES.get());
        Ok(store)
    }

    fn build(address: &Address) -> Result<Self> {
        // This fails if the process has a provider already, which is sufficient.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let retry_at_most = |max_retries: usize| RetryConfig {
            max_retries: max_retries.min(address.options.max_retries),
            retry_timeout: address.options.retry_timeout,
            backoff: BackoffConfig::default(),
        };
        let to_error = |error| to_builder_error(&error, address);
        let certificates = certificates(address)?;
        let connector = || Connector { certificates: certificates.clone() };
        /// A builder with the options of the environment, overridden by the options of the address.
        macro_rules! builder {
            ($builder:ty) => {{
                let mut builder = <$builder>::from_env()
                    .with_url(address.base_url())
                    .with_retry(retry_at_most(usize::MAX))
                    .with_http_connector(connector());
                for (key, value) in &address.store_options {
                    builder = builder.with_config(key.parse().map_err(|_| unknown_option(address, key))?, value);
                }
                if let Some(source) = &address.credentials.0 {
                    builder = builder.with_credentials(Arc::new(Provider::new(Arc::clone(source))));
                }
                builder
            }};
        }
        let concurrency = address.options.concurrency;
        Ok(match address.url.store_scheme() {
            "s3" => {
                let mut builder = builder!(AmazonS3Builder);
                if builder.get_config_value(&AmazonS3ConfigKey::CopyIfNotExists).is_none() {
                    // Amazon S3 has supported this method longest.
                    builder = builder.with_copy_if_not_exists(S3CopyIfNotExists::Multipart);
                }
                if address.credentials.0.is_none() {
                    // On a machine without a role, no server answers.
                    let asked = builder.clone().with_retry(retry_at_most(MAX_CREDENTIAL_RETRIES));
                    let asked = asked.build().map_err(to_error)?;
                    builder = builder.with_credentials(Arc::clone(asked.credentials()));
                }
                Self::cloud(builder.build().map_err(to_error)?, concurrency)
            }
            "gs" => Self::cloud(builder!(GoogleCloudStorageBuilder).build().map_err(to_error)?, concurrency),
            "http" | "https" => {
                let builder = HttpBuilder::new()
                    .with_url(address.base_url())
                    .with_retry(retry_at_most(usize::MAX))
                    .with_http_connector(connector());
                let store = builder.with_client_options(http_options(address)?).build().map_err(to_error)?;
                Self::read_only(store, concurrency)
            }
            #[cfg(feature = "hdfs")]
            "hdfs" | "viewfs" => {
                let client = HdfsClient::connect(address)?;
                Store { hdfs: Some(client.clone()), ..Self::read_only(client, concurrency) }
            }
            _ => Self::cloud(builder!(MicrosoftAzureBuilder).build().map_err(to_error)?, concurrency),
        })
    }

    /// A store without uploads, with at most `concurrency` concurrent requests.
    fn read_only(store: impl ObjectStore, concurrency: usize) -> Self {
        Store {
            objects: Arc::new(LimitStore::new(store, concurrency)),
            multipart: None,
            #[cfg(feature = "hdfs")]
            hdfs: None,
        }
    }

    /// A store with at most `concurrency` concurrent requests, and as many concurrent part uploads.
    fn cloud(store: impl ObjectStore + MultipartStore + PaginatedListStore + Clone, concurrency: usize) -> Self {
        let permits = Arc::new(Semaphore::new(concurrency));
        let multipart = Some(MultipartClient { store: Arc::new(store.clone()), permits });
        Store { multipart, ..Self::read_only(PaginatedStore(store), concurrency) }
    }
}

/// The certificates of the file that the options name.
///
/// # Errors
/// `Io` if the file cannot be read, `InvalidArgument` if it has no certificate, or one that is none.
fn certificates(address: &Address) -> Result<Vec<Certificate>> {
    let Some(path) = &address.options.ca_certificate else { return Ok(Vec::new()) };
    let text = "the file of orcish.ca_certificate";
    let pem = std::fs::read(path).map_err(|error| Error::io(format!("{text} {CANNOT_READ}"), error).in_file(path))?;
    let invalid = || Error::invalid(format!("{text} has a certificate that is none")).in_file(path);
    let mut certificates = Vec::new();
    for certificate in CertificateDer::pem_slice_iter(&pem) {
        let certificate = certificate.map_err(|_| invalid())?;
        RootCertStore::empty().add(certificate.clone()).map_err(|_| invalid())?;
        certificates.push(Certificate::from_der(&certificate).map_err(|_| invalid())?);
    }
    if certificates.is_empty() {
        Err(Error::invalid(format!("{text} has no certificate in the PEM format")).in_file(path))
    } else {
        Ok(certificates)
    }
}

fn unknown_option(address: &Address, key: &str) -> Error {
    if let Err(error) = check_option(&address.base_url(), key) {
        return error;
    }
    Error::invalid(format!("unknown storage option {key:?} of {}", address.url.scheme)).in_file(&address.name)
}

/// The options of an HTTP server: the options of the HTTP client, and headers (`header.authorization`).
fn http_options(address: &Address) -> Result<ClientOptions> {
    let mut options = ClientOptions::new();
    let mut headers = HeaderMap::new();
    let mut insert_header = |name: &str, value: &str| {
        let name = HeaderName::try_from(name).map_err(|_| unknown_option(address, &format!("header.{name}")))?;
        let invalid = |_| Error::invalid(format!("the value of the header {name} is none")).in_file(&address.name);
        let mut value = HeaderValue::try_from(value).map_err(invalid)?;
        value.set_sensitive(true);
        headers.insert(name, value);
        Ok::<(), Error>(())
    };
    if let Some(credentials) = address.url.credentials() {
        let encoded = base64::engine::general_purpose::STANDARD.encode(percent_decode(credentials));
        insert_header(AUTHORIZATION.as_str(), &format!("Basic {encoded}"))?;
    }
    // The scheme `http` is a request for an unencrypted connection.
    options = options.with_allow_http(address.url.scheme == "http");
    for (key, value) in &address.store_options {
        match key.strip_prefix("header.") {
            Some(name) => insert_header(name, value)?,
            None => {
                let key: ClientConfigKey = key.parse().map_err(|_| unknown_option(address, key))?;
                options = options.with_config(key, value);
            }
        }
    }
    Ok(options.with_default_headers(headers))
}
