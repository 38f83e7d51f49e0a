//! Where a file is: a path, or a URL taken apart.

use std::path::PathBuf;

#[cfg(not(feature = "object-store"))]
use crate::storage::StorageOptions;

/// Where a file is.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Location {
    /// On the local file system.
    Local(PathBuf),
    /// At a URL that is none of a local file.
    Remote(Remote),
}

/// The parts of a URL, as they are written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Remote {
    /// Lower case.
    pub(super) scheme: String,
    /// Between `//` and the first `/`.
    pub(super) authority: String,
    /// All that follows, without the `/` before.
    pub(super) path: String,
}

impl Remote {
    pub(super) fn is_http(&self) -> bool {
        matches!(self.scheme.as_str(), "http" | "https")
    }

    pub(super) fn is_azure(&self) -> bool {
        matches!(self.scheme.as_str(), "az" | "adl" | "azure" | "abfs" | "abfss")
    }

    /// Path and query; only URLs of HTTP have queries: elsewhere all is a name.
    pub(super) fn path_and_query(&self) -> (&str, Option<&str>) {
        let path = self.path.as_str();
        if !self.is_http() {
            return (path, None);
        }
        let path = path.split_once('#').map_or(path, |(path, _)| path);
        path.split_once('?').map_or((path, None), |(path, query)| (path, Some(query)))
    }

    /// What stands before the `@`; with Azure that is no secret but the container.
    pub(super) fn credentials(&self) -> Option<&str> {
        self.authority.rsplit_once('@').map(|(before, _)| before).filter(|_| !self.is_azure())
    }

    /// The authority without credentials.
    pub(super) fn host(&self) -> &str {
        match self.credentials() {
            Some(before) => self.authority.get(before.len() + 1..).unwrap_or_default(),
            None => &self.authority,
        }
    }

    /// The URL for messages: without credentials, and without a query, which may hold some.
    pub(super) fn name(&self) -> String {
        format!("{}://{}/{}", self.scheme, self.host(), self.path_and_query().0)
    }

    /// The error where only local files can be read.
    #[cfg(not(feature = "object-store"))]
    pub(super) fn no_feature(&self, _: &StorageOptions) -> orcish_core::Error {
        let text = "this build of orcish reads local files only: it is without the feature `object-store`";
        orcish_core::Error::unsupported(text).in_file(&self.name())
    }
}

/// Takes a path or URL apart. A letter before `:` is a drive, not a scheme.
pub(super) fn parse(location: &str) -> Location {
    if location.get(..6).is_some_and(|start| start.eq_ignore_ascii_case("file:/")) {
        return Location::Local(file_url(location.get(5..).unwrap_or_default()));
    }
    let is_scheme = |scheme: &str| {
        let letters = scheme.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'));
        scheme.len() > 1 && letters && scheme.starts_with(|c: char| c.is_ascii_alphabetic())
    };
    let Some((scheme, rest)) = location.split_once("://").filter(|(scheme, _)| is_scheme(scheme)) else {
        return Location::Local(location.into());
    };
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(end);
    Location::Remote(Remote {
        scheme: scheme.to_ascii_lowercase(),
        authority: authority.to_owned(),
        path: path.strip_prefix('/').unwrap_or(path).to_owned(),
    })
}

/// The names in the path of a path or URL, in order. Those of URLs of HTTP are decoded, as all servers do.
pub(super) fn segments(location: &str) -> Vec<String> {
    let names = |path: &str, name: fn(&str) -> String| {
        path.split('/').filter(|segment| !segment.is_empty()).map(name).collect::<Vec<_>>()
    };
    match parse(location) {
        Location::Local(path) => {
            let path = path.to_string_lossy();
            names(&if cfg!(windows) { path.replace('\\', "/").into() } else { path }, str::to_owned)
        }
        Location::Remote(url) if url.is_http() => names(url.path_and_query().0, percent_decode),
        Location::Remote(url) => names(&url.path, str::to_owned),
    }
}

/// The path of a file URL, behind `file:`.
fn file_url(rest: &str) -> PathBuf {
    let path = match rest.strip_prefix("//") {
        Some(rest) => rest.get(rest.find('/').unwrap_or(rest.len())..).unwrap_or_default(),
        None => rest,
    };
    let decoded = percent_decode(path);
    // `/C:/…`
    let drive = decoded.strip_prefix('/').filter(|rest| cfg!(windows) && rest.as_bytes().get(1) == Some(&b':'));
    drive.unwrap_or(&decoded).into()
}

/// Replaces `%41` by `A`; what is no such sequence stays, and so does what would not be UTF-8.
pub(crate) fn percent_decode(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, behind)) = rest.split_first() {
        let digits = behind.get(..2).filter(|digits| first == b'%' && digits.iter().all(u8::is_ascii_hexdigit));
        let digits = digits.and_then(|digits| std::str::from_utf8(digits).ok());
        match digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = behind.get(2..).unwrap_or_default();
            }
            None => {
                bytes.push(first);
                rest = behind;
            }
        }
    }
    String::from_utf8(bytes).unwrap_or_else(|_| text.to_owned())
}
