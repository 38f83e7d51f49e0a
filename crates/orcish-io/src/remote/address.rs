//! Addresses of objects: parsed and validated URLs with their options.

use std::fmt;
use std::sync::Arc;

use object_store::path::Path;
use orcish_core::{Error, Result};

use crate::credentials::CredentialSource;
use crate::location::{Parsed, RemoteUrl, parse, percent_decode};
use crate::options::RemoteOptions;
use crate::storage::StorageOptions;

/// A URL of an object, key prefix or HTTP file, and the options of its store.
#[derive(Debug, Clone)]
pub(super) struct Address {
    /// The URL for messages.
    pub(super) name: String,
    /// The path below the bucket, container or server, decoded.
    pub(super) path: String,
    pub(super) url: RemoteUrl,
    pub(super) options: RemoteOptions,
    /// The options of the store, sorted. Keys are in lower case, but those of HDFS.
    pub(super) store_options: Vec<(String, String)>,
    pub(super) credentials: SharedCredentials,
}

/// The source of credentials of a store, if it has one. Sources are equal if they are the same one.
#[derive(Clone)]
pub(super) struct SharedCredentials(pub(super) Option<Arc<dyn CredentialSource>>);

impl PartialEq for SharedCredentials {
    fn eq(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Some(one), Some(two)) => Arc::ptr_eq(one, two),
            (one, two) => one.is_none() && two.is_none(),
        }
    }
}

impl Eq for SharedCredentials {}

impl fmt::Debug for SharedCredentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "Some(…)" } else { "None" })
    }
}

impl Address {
    /// Parses a URL.
    ///
    /// # Errors
    /// `InvalidArgument` if the URL or an option is invalid, or the scheme is unknown.
    pub(super) fn try_new(url: &str, options: &StorageOptions) -> Result<Self> {
        let Parsed::Remote(url) = parse(url) else {
            return Err(Error::invalid("a path of the local file system, not a URL").in_file(url));
        };
        let name = url.display_name();
        let in_file = |error: Error| error.in_file(&name);
        let is_cloud = matches!(url.store_scheme(), "s3" | "gs") || url.is_azure();
        if url.is_hdfs() && cfg!(not(feature = "hdfs")) {
            return Err(in_file(Error::unsupported("this build of orcish is without the feature `hdfs`")));
        }
        if !is_cloud && !url.is_http() && !url.is_hdfs() {
            let text = format!("{}:// is unknown here: open it with fsspec and read from the file object", url.scheme);
            return Err(in_file(Error::invalid(text)));
        }
        if options.credentials().is_some() && !is_cloud {
            let text = "a source of credentials is for S3, Google Cloud Storage and Azure";
            return Err(in_file(Error::invalid(text)));
        }
        if url.credentials().is_some() && !url.is_http() {
            return Err(in_file(Error::invalid("credentials belong into the storage options, not into the URL")));
        }
        // The configuration of Hadoop names a cluster for URLs without one.
        if url.host().is_empty() && !url.is_hdfs() {
            return Err(in_file(Error::invalid("the URL names no bucket or host")));
        }
        let (path, _) = url.path_and_query();
        // Tools of object stores show keys without percent-encoding.
        let path = if url.is_http() { percent_decode(path) } else { path.to_owned() };
        // The crate `object_store` takes this slash for none, which is the key of another object.
        if is_cloud && path.starts_with('/') && !path.trim_matches('/').is_empty() {
            let text = format!("no path of a store: Path {path:?} contained empty path segment");
            return Err(in_file(Error::invalid(text)));
        }
        let credentials = SharedCredentials(options.credentials().cloned());
        let (options, mut store_options) = options.split().map_err(in_file)?;
        if !url.is_hdfs() {
            store_options.iter_mut().for_each(|(key, _)| key.make_ascii_lowercase());
        }
        store_options.sort();
        Ok(Address { name, path, url, options, store_options, credentials })
    }

    /// The address of an object of a store that the caller has made. It has no URL.
    ///
    /// # Errors
    /// `InvalidArgument` if the path is empty, or an option is not one of requests, or invalid.
    pub(super) fn of_store(path: &Path, options: &StorageOptions) -> Result<Self> {
        let name = path.to_string();
        let in_file = |error: Error| error.in_file(&name);
        if name.is_empty() {
            return Err(Error::invalid("the path of the object is empty"));
        }
        if options.credentials().is_some() {
            return Err(in_file(Error::invalid("the store is given: give the source of credentials to the store")));
        }
        let (options, store_options) = options.split().map_err(in_file)?;
        if let Some((key, _)) = store_options.first() {
            let text =
                format!("the storage option {key:?} is one of stores, and the store is given: give it to the store");
            return Err(in_file(Error::invalid(text)));
        }
        let url = RemoteUrl { scheme: String::new(), authority: String::new(), path: String::new() };
        Ok(Address { path: name.clone(), name, url, options, store_options, credentials: SharedCredentials(None) })
    }

    /// The key of the object.
    ///
    /// # Errors
    /// `InvalidArgument` if the URL has no key.
    pub(super) fn key(&self) -> Result<Path> {
        let key = self.parse_path(&self.path)?;
        if key.as_ref().is_empty() {
            return Err(Error::invalid("the URL names no file").in_file(&self.name));
        }
        Ok(key)
    }

    /// The key of an object to be written.
    ///
    /// # Errors
    /// `Unsupported` for HTTP servers, and the errors of [`key`](Self::key).
    pub(super) fn writable_key(&self) -> Result<Path> {
        if self.url.is_http() {
            return Err(Error::unsupported("files of HTTP servers are read only").in_file(&self.name));
        }
        self.key()
    }

    /// The kind of store and the bucket, container or cluster. Addresses with an equal bucket share one store.
    pub(super) fn bucket(&self) -> (&str, &str) {
        (self.url.store_scheme(), self.url.host())
    }

    /// Parses a path of the store of this address.
    pub(super) fn parse_path(&self, path: &str) -> Result<Path> {
        Path::parse(path).map_err(|error| Error::invalid(format!("no path of a store: {error}")).in_file(&self.name))
    }

    /// The URL of another path of the same store, with the credentials and query of this URL.
    pub(super) fn with_path(&self, path: &str) -> String {
        let RemoteUrl { scheme, authority, .. } = &self.url;
        match url::Url::parse(&self.base_url()).ok().filter(|_| self.url.is_http()) {
            Some(mut url) => {
                if let Ok(mut segments) = url.path_segments_mut() {
                    segments.extend(path.split('/'));
                }
                format!("{scheme}://{authority}{}", &url[url::Position::BeforePath..])
            }
            None => format!("{scheme}://{authority}/{path}"),
        }
    }

    /// The parts of the URL that must not appear in messages.
    pub(super) fn secrets(&self) -> impl Iterator<Item = String> {
        let query = self.query();
        // Error messages of libraries contain the query in normalized form.
        let normalized = query.and_then(|_| Some(url::Url::parse(&self.base_url()).ok()?.query()?.to_owned()));
        let secrets = [query.map(str::to_owned), normalized, self.url.credentials().map(str::to_owned)];
        secrets.into_iter().flatten().filter(|text| !text.is_empty())
    }

    /// The URL of the bucket, container or server. It contains the query, which is part of every request.
    pub(super) fn base_url(&self) -> String {
        let (scheme, host) = (self.url.store_scheme(), self.url.host());
        match self.query() {
            Some(query) => format!("{scheme}://{host}/?{query}"),
            None => format!("{scheme}://{host}/"),
        }
    }

    pub(super) fn query(&self) -> Option<&str> {
        self.url.path_and_query().1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_converted_back_to_urls() {
        let address = |url: &str| Address::try_new(url, &StorageOptions::default()).unwrap();
        let urls = [
            "s3a://bucket/t/a%3A b.orc",
            "gcs://bucket/t/a.orc",
            "http://me:x@host:1/t/a%20b.orc?k=v",
            "az://box/t/ä.orc",
        ];
        let of_hdfs = ["hdfs://name:8020/t/a b.orc", "hdfs:///t/a%20b.orc", "viewfs://mounts/t"];
        for url in urls.iter().chain(of_hdfs.iter().filter(|_| cfg!(feature = "hdfs"))) {
            let address = address(url);
            assert_eq!(address.with_path(&address.path), *url);
        }
    }
}
