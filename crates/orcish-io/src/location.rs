//! Parsing of locations: paths and URLs.

use std::borrow::Cow;
use std::path::{Component, Path, PathBuf};

use orcish_core::{Error, Result};

#[cfg(not(feature = "object-store"))]
use crate::storage::StorageOptions;

/// A parsed location.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Parsed {
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

    /// Whether the URL is one of a store that this crate reads.
    pub(crate) fn is_own(&self) -> bool {
        matches!(self.store_scheme(), "s3" | "gs" | "hdfs" | "viewfs") || self.is_azure() || self.is_http()
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

/// Parses a path or URL. A single letter before `:` is a Windows drive, not a scheme. A leading `~` is the home folder,
/// and in `local://` URLs nothing is encoded.
pub(crate) fn parse(location: &str) -> Parsed {
    if let Some(rest) = rest_of_file_url(location) {
        return Parsed::Local(file_url_path(rest));
    }
    if let Some(path) = strip_prefix_ignoring_case(location, "local://") {
        return Parsed::Local(home_path(path).unwrap_or_else(|| path.into()));
    }
    if let Some(path) = home_path(location) {
        return Parsed::Local(path);
    }
    let Some((scheme, rest)) = location.split_once("://").filter(|(scheme, _)| is_scheme(scheme)) else {
        return Parsed::Local(location.into());
    };
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(end);
    Parsed::Remote(RemoteUrl {
        scheme: scheme.to_ascii_lowercase(),
        authority: authority.to_owned(),
        path: path.strip_prefix('/').unwrap_or(path).to_owned(),
    })
}

/// As [`parse`], for a location that is accessed.
///
/// # Errors
/// `InvalidArgument` for a `file:` URL with a host, such as `file://tmp/x` in place of `file:///tmp/x`.
pub(crate) fn parse_checked(location: &str) -> Result<Parsed> {
    if let Some((host, path)) = rest_of_file_url(location)
        .and_then(|rest| rest.strip_prefix("//"))
        .map(|rest| rest.split_once('/').unwrap_or((rest, "")))
        .filter(|(host, _)| !host.is_empty() && !host.eq_ignore_ascii_case("localhost"))
    {
        let text = format!("the URL of a file has no host: file:///{host}/{path} is a path from the root");
        return Err(Error::invalid(text).in_file(location));
    }
    Ok(parse(location))
}

/// Whether a text can be the scheme of a URL.
pub(crate) fn is_scheme(scheme: &str) -> bool {
    scheme.len() > 1 && is_url_scheme(scheme)
}

/// The text after `file:`, from its first slash on. A colon is part of a name, as in `file:a.orc`.
fn rest_of_file_url(location: &str) -> Option<&str> {
    strip_prefix_ignoring_case(location, "file:").filter(|rest| rest.starts_with('/'))
}

fn strip_prefix_ignoring_case<'a>(text: &'a str, prefix: &str) -> Option<&'a str> {
    let (start, rest) = text.split_at_checked(prefix.len())?;
    start.eq_ignore_ascii_case(prefix).then_some(rest)
}

/// The path with the home folder in place of a leading `~`, as pyarrow, polars and duckdb read it; `None` for others, and
/// where no home folder is known.
fn home_path(path: &str) -> Option<PathBuf> {
    let rest = path.strip_prefix('~').filter(|rest| rest.is_empty() || rest.starts_with('/'))?;
    let mut found = std::env::home_dir()?.into_os_string();
    if found == "/" {
        found.clear();
    }
    found.push(rest);
    Some(if found.is_empty() { "/".into() } else { found.into() })
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
        Parsed::Local(path) if path.is_relative() => folder.join(path).to_str().map(str::to_owned),
        _ => None,
    };
    absolute.unwrap_or_else(|| location.to_owned())
}

/// The location for messages: a URL, and each URL of a chain of fsspec, loses its credentials and its query.
///
/// ```
/// assert_eq!(orcish_io::display_name("https://user:password@host/a.orc?signature=1"), "https://host/a.orc");
/// assert_eq!(orcish_io::display_name("zip://a.orc::https://me:x@host/t.zip?s=1"), "zip://a.orc::https://host/t.zip");
/// ```
pub fn display_name(location: &str) -> String {
    let links = links(location);
    if links.len() < 2 {
        return own_display_name(location);
    }
    // The host of a URL of a chain may be the name of a file.
    let name = |link: &&str| {
        let name = own_display_name(link);
        let is_folder = link.split(['?', '#']).next().is_some_and(|path| path.ends_with('/'));
        if is_folder { name } else { name.strip_suffix('/').map_or_else(|| name.clone(), str::to_owned) }
    };
    links.iter().map(name).collect::<Vec<_>>().join("::")
}

/// The URLs of a chain of fsspec, which `::` separates before the scheme of a URL; the location itself if it is no chain.
fn links(location: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = location;
    let begins_url = |text: &str| text.split_once("://").is_some_and(|(scheme, _)| is_url_scheme(scheme));
    let mut from = 0;
    while let Some((at, _)) = rest.match_indices("::").find(|(at, _)| *at >= from) {
        let (link, next) = (rest.split_at(at).0, rest.split_at(at + 2).1);
        if begins_url(next) {
            found.push(link);
            (rest, from) = (next, 0);
        } else {
            from = at + 1;
        }
    }
    found.push(rest);
    found
}

fn is_url_scheme(scheme: &str) -> bool {
    let is_valid = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.');
    scheme.starts_with(|c: char| c.is_ascii_alphabetic()) && scheme.chars().all(is_valid)
}

fn own_display_name(location: &str) -> String {
    match parse(location) {
        Parsed::Local(_) => location.to_owned(),
        Parsed::Remote(url) => url.display_name(),
    }
}

/// The path segments of a path or URL. Segments of HTTP URLs are percent-decoded, keys of object stores are not.
pub(crate) fn segments(location: &str) -> Vec<String> {
    let split = |path: &str, decode: fn(&str) -> String| {
        path.split('/').filter(|segment| !segment.is_empty()).map(decode).collect::<Vec<_>>()
    };
    match parse(location) {
        Parsed::Local(path) => {
            let path = path.to_string_lossy();
            split(&if cfg!(windows) { path.replace('\\', "/").into() } else { path }, str::to_owned)
        }
        Parsed::Remote(url) if url.is_http() => split(url.path_and_query().0, percent_decode),
        Parsed::Remote(url) => split(&url.path, str::to_owned),
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

/// The absolute path without links and `..`. Of a path that does not exist, the existing parent folder is resolved, and a
/// name that is missing is no link.
pub(crate) fn resolve(path: &Path) -> PathBuf {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let mut missing = Vec::new();
    let mut existing = path.as_path();
    loop {
        if let Ok(resolved) = existing.canonicalize() {
            return missing.iter().rev().fold(resolved, with_component);
        }
        match (existing.parent(), existing.components().next_back()) {
            (Some(parent), Some(last)) => {
                missing.push(last);
                existing = parent;
            }
            _ => return path,
        }
    }
}

/// A path and one more component, of which `..` is the folder above.
pub(crate) fn with_component(mut path: PathBuf, component: &Component<'_>) -> PathBuf {
    match component {
        Component::CurDir => {}
        Component::ParentDir => _ = path.pop(),
        other => path.push(other),
    }
    path
}
