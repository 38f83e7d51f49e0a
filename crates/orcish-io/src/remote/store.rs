//! From a URL and options to a store, which is used again for other files.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use base64::Engine as _;
use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey, S3CopyIfNotExists};
use object_store::azure::MicrosoftAzureBuilder;
use object_store::gcp::GoogleCloudStorageBuilder;
use object_store::http::HttpBuilder;
use object_store::limit::LimitStore;
use object_store::list::PaginatedListStore;
use object_store::multipart::MultipartStore;
use object_store::path::Path;
use object_store::{BackoffConfig, ClientConfigKey, ClientOptions, ObjectStore, RetryConfig};
use orcish_core::{Error, Result};
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue};
use tokio::sync::Semaphore;

use super::client::Connector;
use super::fault::fault;
use super::paged::Paged;
use super::process::PerProcess;
use crate::location::{Location, Remote, parse, percent_decode};
use crate::options::RemoteOptions;
use crate::{StorageOptions, tuning};

/// What the names of variables begin with that stores take options from.
const VARIABLES: [&str; 4] = ["AWS_", "GOOGLE_", "AZURE_", "SERVICE_ACCOUNT"];

/// A URL, and the options that its store is made with.
#[derive(Debug, Clone)]
pub(super) struct Address {
    /// The URL for messages.
    pub(super) name: String,
    /// Path below the bucket, container or server, decoded.
    pub(super) path: String,
    pub(super) url: Remote,
    pub(super) options: RemoteOptions,
    /// Keys in lower case.
    pairs: Vec<(String, String)>,
}

/// A store, by the kinds of requests that it takes.
#[derive(Clone)]
pub(super) struct Store {
    pub(super) objects: Arc<dyn ObjectStore>,
    /// None of HTTP servers.
    pub(super) uploads: Option<Uploads>,
}

/// Where files are put together of parts, which may be sent by one process and be completed by another.
#[derive(Clone)]
pub(super) struct Uploads {
    pub(super) store: Arc<dyn MultipartStore>,
    /// As many parts are on their way at a time, whoever sends them.
    pub(super) permits: Arc<Semaphore>,
}

/// What tells stores apart.
#[derive(Debug, PartialEq, Eq)]
struct Key {
    base: (String, String, Option<String>),
    options: RemoteOptions,
    pairs: Vec<(String, String)>,
    variables: Vec<(String, String)>,
}

impl Address {
    pub(super) fn new(url: &str, options: &StorageOptions) -> Result<Self> {
        let Location::Remote(url) = parse(url) else {
            return Err(Error::invalid("a path of the local file system, not a URL").in_file(url));
        };
        let name = url.name();
        let named = |error: Error| error.in_file(&name);
        let is_cloud = matches!(url.scheme.as_str(), "s3" | "s3a" | "gs") || url.is_azure();
        if !is_cloud && !url.is_http() {
            let text = format!("{}:// is unknown here: open it with fsspec and read from the file object", url.scheme);
            return Err(named(Error::invalid(text)));
        }
        if url.credentials().is_some() && !url.is_http() {
            return Err(named(Error::invalid("credentials belong into the storage options, not into the URL")));
        }
        if url.host().is_empty() {
            return Err(named(Error::invalid("the URL names no bucket or host")));
        }
        let (path, _) = url.path_and_query();
        // Keys of stores are taken as they are, as all that writes them shows them; URLs of HTTP are encoded.
        let path = if url.is_http() { percent_decode(path) } else { path.to_owned() };
        let (options, pairs) = options.split().map_err(named)?;
        Ok(Address { name, path, url, options, pairs })
    }

    /// The key of the file.
    pub(super) fn key(&self) -> Result<Path> {
        self.parse(&self.path)
    }

    /// The key of the file, which is one that may be written.
    pub(super) fn writable_key(&self) -> Result<Path> {
        let named = |error: Error| error.in_file(&self.name);
        if self.url.is_http() {
            return Err(named(Error::unsupported("files of HTTP servers are read only")));
        }
        let key = self.key()?;
        if key.as_ref().is_empty() { Err(named(Error::invalid("the URL names no file"))) } else { Ok(key) }
    }

    /// What tells the bucket or container from others of this store's kind.
    pub(super) fn bucket(&self) -> (&str, &str) {
        let scheme = if self.url.scheme == "s3a" { "s3" } else { self.url.scheme.as_str() };
        (scheme, self.url.host())
    }

    pub(super) fn parse(&self, path: &str) -> Result<Path> {
        Path::parse(path).map_err(|error| Error::invalid(format!("no path of a store: {error}")).in_file(&self.name))
    }

    /// The URL of another path, with what this one has beside it.
    pub(super) fn with_path(&self, path: &str) -> String {
        let Remote { scheme, authority, .. } = &self.url;
        match url::Url::parse(&self.base()).ok().filter(|_| self.url.is_http()) {
            Some(mut url) => {
                if let Ok(mut segments) = url.path_segments_mut() {
                    segments.extend(path.split('/'));
                }
                let rest = url.as_str().get(url[..url::Position::BeforePath].len()..).unwrap_or_default();
                format!("{scheme}://{authority}{rest}")
            }
            None => format!("{scheme}://{authority}/{path}"),
        }
    }

    /// What messages must not show.
    pub(super) fn secrets(&self) -> impl Iterator<Item = String> {
        let query = self.url.path_and_query().1;
        // Libraries write a query in their own way.
        let normal = query.and_then(|_| Some(url::Url::parse(&self.base()).ok()?.query()?.to_owned()));
        let secrets = [query.map(str::to_owned), normal, self.url.credentials().map(str::to_owned)];
        secrets.into_iter().flatten().filter(|text| !text.is_empty())
    }

    /// The URL of the bucket, container or server; a query goes with every request.
    fn base(&self) -> String {
        let (scheme, host) = (&self.url.scheme, self.url.host());
        match self.url.path_and_query().1 {
            Some(query) => format!("{scheme}://{host}/?{query}"),
            None => format!("{scheme}://{host}/"),
        }
    }

    /// The store for single files: one that is there, or a new one.
    pub(super) fn connect(&self) -> Result<Arc<dyn ObjectStore>> {
        Ok(self.store()?.objects)
    }

    /// The store: one that is there, or a new one.
    pub(super) fn store(&self) -> Result<Store> {
        type Stores = Mutex<Vec<(Key, Store)>>;
        static STORES: OnceLock<PerProcess<Stores>> = OnceLock::new();
        let stores = STORES.get_or_init(|| PerProcess::new(Stores::default())).get(&Stores::default);
        let is_wanted = |name: &str| VARIABLES.iter().any(|start| name.starts_with(start));
        let text = |name: std::ffi::OsString| name.into_string().ok();
        let variables = std::env::vars_os().filter_map(|(name, value)| Some((text(name)?, text(value)?)));
        let key = Key {
            base: (self.url.scheme.clone(), self.url.authority.clone(), self.query()),
            options: self.options.clone(),
            pairs: self.pairs.clone(),
            variables: variables.filter(|(name, _)| is_wanted(name)).collect(),
        };
        let mut stores = stores.lock().unwrap_or_else(PoisonError::into_inner);
        let found = stores.iter().position(|(other, _)| *other == key).map(|at| stores.remove(at));
        let (key, store) = match found {
            Some(found) => found,
            None => (key, self.build()?),
        };
        // The last one used is the last one to go.
        stores.insert(0, (key, store.clone()));
        stores.truncate(tuning::KEPT_STORES.get());
        Ok(store)
    }

    fn query(&self) -> Option<String> {
        self.url.path_and_query().1.map(str::to_owned)
    }

    fn build(&self) -> Result<Store> {
        // Fails where the process has one already, which does as well.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let retry = RetryConfig {
            max_retries: self.options.max_retries,
            retry_timeout: self.options.retry_timeout,
            backoff: BackoffConfig::default(),
        };
        let fault = |error| fault("cannot be reached", &error, self);
        /// A builder with the options of the environment, then those given.
        macro_rules! builder {
            ($builder:ty) => {{
                let mut builder =
                    <$builder>::from_env().with_url(self.base()).with_retry(retry).with_http_connector(Connector);
                for (key, value) in &self.pairs {
                    builder = builder.with_config(key.parse().map_err(|_| self.unknown(key))?, value);
                }
                builder
            }};
        }
        Ok(match self.url.scheme.as_str() {
            "s3" | "s3a" => {
                let mut builder = builder!(AmazonS3Builder);
                if builder.get_config_value(&AmazonS3ConfigKey::CopyIfNotExists).is_none() {
                    // Of the ways to copy without replacing anything, the one that Amazon's own store has long had.
                    builder = builder.with_copy_if_not_exists(S3CopyIfNotExists::Multipart);
                }
                self.cloud(builder.build().map_err(fault)?)
            }
            "gs" => self.cloud(builder!(GoogleCloudStorageBuilder).build().map_err(fault)?),
            "http" | "https" => {
                let builder = HttpBuilder::new().with_url(self.base()).with_retry(retry).with_http_connector(Connector);
                let store = builder.with_client_options(self.http_options()?).build().map_err(fault)?;
                Store { objects: self.limited(store), uploads: None }
            }
            _ => self.cloud(builder!(MicrosoftAzureBuilder).build().map_err(fault)?),
        })
    }

    fn cloud(&self, store: impl ObjectStore + MultipartStore + PaginatedListStore + Clone) -> Store {
        let permits = Arc::new(Semaphore::new(self.options.concurrency));
        Store {
            objects: self.limited(Paged(store.clone())),
            uploads: Some(Uploads { store: Arc::new(store), permits }),
        }
    }

    /// A store of which no more than so many requests are under way, whoever makes them.
    fn limited(&self, store: impl ObjectStore) -> Arc<dyn ObjectStore> {
        Arc::new(LimitStore::new(store, self.options.concurrency))
    }

    fn unknown(&self, key: &str) -> Error {
        Error::invalid(format!("unknown storage option {key:?} of {}", self.url.scheme)).in_file(&self.name)
    }

    /// Options of HTTP: those of its client, and headers (`header.authorization`).
    fn http_options(&self) -> Result<ClientOptions> {
        let mut options = ClientOptions::new();
        let mut headers = HeaderMap::new();
        let mut header = |name: &str, value: &str| {
            let name = HeaderName::try_from(name).map_err(|_| self.unknown(&format!("header.{name}")))?;
            let wrong = |_| Error::invalid(format!("the value of the header {name} is none")).in_file(&self.name);
            let mut value = HeaderValue::try_from(value).map_err(wrong)?;
            value.set_sensitive(true);
            headers.insert(name, value);
            Ok(())
        };
        if let Some(credentials) = self.url.credentials() {
            let encoded = base64::engine::general_purpose::STANDARD.encode(percent_decode(credentials));
            header(AUTHORIZATION.as_str(), &format!("Basic {encoded}"))?;
        }
        // Who writes `http://` wants no encryption.
        options = options.with_allow_http(self.url.scheme == "http");
        for (key, value) in &self.pairs {
            match key.strip_prefix("header.") {
                Some(name) => header(name, value)?,
                None => {
                    let key: ClientConfigKey = key.parse().map_err(|_| self.unknown(key))?;
                    options = options.with_config(key, value);
                }
            }
        }
        Ok(options.with_default_headers(headers))
    }
}
