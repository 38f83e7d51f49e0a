//! Parsing of locations: paths and URLs.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use orcish_core::{Error, Result};

#[cfg(not(feature = "object-store"))]
use crate::storage::StorageOptions;

/// A parsed location.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Location {
    /// A path of the local file system.
    Local(PathBuf),
    /// A URL of another scheme than `file`.
    Remote(RemoteUrl),
}

/// The components of a URL, without decoding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RemoteUrl {
    /// The scheme in lower case.
    pub(crate) scheme: String,
    /// The text between `//` and the next `/`.
    pub(crate) authority: String,
    /// The text after the authority, without the leading `/`.
    pub(crate) path: String,
}

impl RemoteUrl {
    /// The scheme; of several for one kind of store, the usual one.
    pub(crate) fn store_scheme(&self) -> &str {
        match self.scheme.as_str() {
            "s3a" => "s3",
            "gcs" => "gs",
            "abfss" => "abfs",
            scheme => scheme,
        }
    }

    pub(crate) fn is_http(&self) -> bool {
        matches!(self.scheme.as_str(), "http" | "https")
    }

    /// Whether the URL is one of HDFS: of a cluster, or of a table of mounts of clusters.
    #[cfg(feature = "object-store")]
    pub(crate) fn is_hdfs(&self) -> bool {
        matches!(self.scheme.as_str(), "hdfs" | "viewfs")
    }

    pub(crate) fn is_azure(&self) -> bool {
        matches!(self.scheme.as_str(), "az" | "adl" | "azure" | "abfs" | "abfss")
    }

    /// The path and the query. A query exists in HTTP URLs only: `?` and `#` are valid characters of object keys.
    pub(crate) fn path_and_query(&self) -> (&str, Option<&str>) {
        let path = self.path.as_str();
        if !self.is_http() {
            return (path, None);
        }
        let path = path.split_once('#').map_or(path, |(path, _)| path);
        path.split_once('?').map_or((path, None), |(path, query)| (path, Some(query)))
    }

    /// The part of the authority before `@`, and the rest. In Azure URLs the part before `@` is the container name.
    fn credentials_and_host(&self) -> (Option<&str>, &str) {
        match self.authority.rsplit_once('@') {
            Some((credentials, host)) if !self.is_azure() => (Some(credentials), host),
            _ => (None, &self.authority),
        }
    }

    /// The credentials in the authority.
    #[cfg(feature = "object-store")]
    pub(crate) fn credentials(&self) -> Option<&str> {
        self.credentials_and_host().0
    }

    /// The authority without credentials.
    pub(crate) fn host(&self) -> &str {
        self.credentials_and_host().1
    }

    /// The URL for messages: without credentials, and without the query, which may contain a signature.
    pub(crate) fn display_name(&self) -> String {
        format!("{}://{}/{}", self.scheme, self.host(), self.path_and_query().0)
    }

    /// The error for a URL in a build without the feature `object-store`.
    #[cfg(not(feature = "object-store"))]
    pub(crate) fn missing_feature(&self, _: &StorageOptions) -> Error {
        let text = "this build of orcish reads local files only: it is without the feature `object-store`";
        Error::unsupported(text).in_file(&self.display_name())
    }
}

/// Parses a path or URL. A single letter before `:` is a Windows drive, not a scheme.
pub(crate) fn parse(location: &str) -> Location {
    if let Some((scheme, rest)) = location.split_once(':')
        && scheme.eq_ignore_ascii_case("file")
        && rest.starts_with('/')
    {
        return Location::Local(file_url_path(rest));
    }
    let is_scheme = |scheme: &str| {
        let is_valid = scheme.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'));
        scheme.len() > 1 && is_valid && scheme.starts_with(|c: char| c.is_ascii_alphabetic())
    };
    let Some((scheme, rest)) = location.split_once("://").filter(|(scheme, _)| is_scheme(scheme)) else {
        return Location::Local(location.into());
    };
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(end);
    Location::Remote(RemoteUrl {
        scheme: scheme.to_ascii_lowercase(),
        authority: authority.to_owned(),
        path: path.strip_prefix('/').unwrap_or(path).to_owned(),
    })
}

/// A location whose path is relative to `folder` as an absolute path. Other locations are returned as they are, and so are
/// those in a folder whose name is not UTF-8.
///
/// ```
/// use std::path::Path;
///
/// assert_eq!(orcish_io::within(Path::new("/t"), "a.orc"), Path::new("/t").join("a.orc").to_str().unwrap());
/// assert_eq!(orcish_io::within(Path::new("/t"), "s3://bucket/a.orc"), "s3://bucket/a.orc");
/// ```
pub fn within(folder: &Path, location: &str) -> String {
    let absolute = match parse(location) {
        Location::Local(path) if path.is_relative() => folder.join(path).to_str().map(str::to_owned),
        _ => None,
    };
    absolute.unwrap_or_else(|| location.to_owned())
}

/// The location for messages: a URL loses its credentials and its query.
///
/// ```
/// assert_eq!(orcish_io::display_name("https://user:password@host/a.orc?signature=1"), "https://host/a.orc");
/// ```
pub fn display_name(location: &str) -> String {
    match parse(location) {
        Location::Local(_) => location.to_owned(),
        Location::Remote(url) => url.display_name(),
    }
}

/// The path segments of a path or URL. Segments of HTTP URLs are percent-decoded, keys of object stores are not.
pub(crate) fn segments(location: &str) -> Vec<String> {
    let split = |path: &str, decode: fn(&str) -> String| {
        path.split('/').filter(|segment| !segment.is_empty()).map(decode).collect::<Vec<_>>()
    };
    match parse(location) {
        Location::Local(path) => {
            let path = path.to_string_lossy();
            split(&if cfg!(windows) { path.replace('\\', "/").into() } else { path }, str::to_owned)
        }
        Location::Remote(url) if url.is_http() => split(url.path_and_query().0, percent_decode),
        Location::Remote(url) => split(&url.path, str::to_owned),
    }
}

/// The path of a local file as UTF-8.
///
/// # Errors
/// `InvalidArgument`, which names `location`, if the path is not UTF-8.
pub(crate) fn path_to_str<'a>(path: &'a Path, location: &str) -> Result<&'a str> {
    path.to_str().ok_or_else(|| Error::invalid("the path is not UTF-8").in_file(location))
}

/// The error for a file whose name is not UTF-8, in a listing.
pub(crate) fn not_utf8(path: &Path) -> std::io::Error {
    std::io::Error::other(format!("the name of {path:?} is not UTF-8"))
}

/// As [`path_to_str`], with `/` as the separator on all systems.
pub(crate) fn path_with_slashes(path: &Path, location: &str) -> Result<String> {
    let path = path_to_str(path, location)?;
    Ok(if cfg!(windows) { path.replace('\\', "/") } else { path.to_owned() })
}

/// Appends a name to the path of a folder. The empty path is the current folder.
pub(crate) fn join(folder: &str, name: &str) -> String {
    match folder {
        "" => name.to_owned(),
        folder if folder.ends_with('/') => format!("{folder}{name}"),
        folder => format!("{folder}/{name}"),
    }
}

/// The name behind the last `/` of a path; the whole path if it has none.
pub(crate) fn last_segment(path: &str) -> &str {
    path.rsplit_once('/').map_or(path, |(_, name)| name)
}

/// The local path of a file URL. `rest` is the text after `file:`.
fn file_url_path(rest: &str) -> PathBuf {
    let path = match rest.strip_prefix("//") {
        // The path behind the host.
        Some(rest) => rest.find('/').map_or("", |start| rest.split_at(start).1),
        None => rest,
    };
    let decoded = percent_decode(path);
    // `/C:/…`
    let drive = decoded.strip_prefix('/').filter(|rest| cfg!(windows) && rest.as_bytes().get(1) == Some(&b':'));
    drive.unwrap_or(&decoded).into()
}

/// Decodes percent-encoded bytes. Invalid escapes are kept, and the text is unchanged if the result is not UTF-8.
pub(crate) fn percent_decode(text: &str) -> String {
    percent_encoding::percent_decode_str(text).decode_utf8().map_or_else(|_| text.to_owned(), Cow::into_owned)
}
