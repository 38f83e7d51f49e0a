//! Locations, classified once: what a path or URL is.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use orcish_core::{Error, Result};

use crate::location::{Parsed, RemoteUrl, is_scheme, parse_checked, resolve, with_component};
use crate::pattern::is_pattern;

/// A path or URL that a caller gives, and what it is.
///
/// A leading `~` is the home folder, and `file:` and `local:` URLs are paths. Whether there is a file, a folder or nothing
/// is asked of the local disk only: a URL is taken for a folder if it ends with a slash.
///
/// ```
/// use std::path::Path;
///
/// use orcish_io::Location;
///
/// assert_eq!(Location::try_new("file:/t/a%20b.orc")?.local_path(), Some(Path::new("/t/a b.orc")));
/// let remote = Location::try_new("s3://bucket/day=*/part-?.orc")?;
/// assert!(!remote.is_local() && remote.is_pattern() && remote.is_several());
/// assert_eq!(orcish_io::above_pattern("s3://bucket/day=*/part-?.orc"), "s3://bucket");
/// assert!(Location::try_new("sftp://host/a.orc")?.is_foreign());
/// assert!(Location::try_new("https://host/a.orc?signature=1")?.is_http());
/// # Ok::<(), orcish_core::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Location(Kind);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Kind {
    Local(PathBuf),
    /// A URL of a store that this crate reads.
    Remote(String, RemoteUrl),
    /// A URL of another scheme, or a chain of URLs of fsspec.
    Foreign(String),
}

impl Location {
    /// Classifies a path or URL.
    ///
    /// # Errors
    /// `InvalidArgument` for a `file:` URL with a host, such as `file://tmp/x` in place of `file:///tmp/x`.
    pub fn try_new(location: &str) -> Result<Self> {
        Ok(Location(match parse_checked(location)? {
            Parsed::Remote(url) if url.is_own() => Kind::Remote(location.to_owned(), url),
            Parsed::Local(path) if !is_chain(location) => Kind::Local(path),
            _ => Kind::Foreign(location.to_owned()),
        }))
    }

    /// A path of the local disk, of any characters.
    pub fn of_path(path: PathBuf) -> Self {
        Location(Kind::Local(path))
    }

    /// The path of the local disk; `None` for URLs.
    pub fn local_path(&self) -> Option<&Path> {
        match &self.0 {
            Kind::Local(path) => Some(path),
            _ => None,
        }
    }

    /// The path of the local disk, or the URL as it was given.
    pub fn as_os_str(&self) -> &OsStr {
        match &self.0 {
            Kind::Local(path) => path.as_os_str(),
            Kind::Remote(url, _) | Kind::Foreign(url) => OsStr::new(url),
        }
    }

    /// Whether the location is on the local disk.
    pub fn is_local(&self) -> bool {
        self.local_path().is_some()
    }

    /// Whether the location is a URL of an HTTP server.
    pub fn is_http(&self) -> bool {
        matches!(&self.0, Kind::Remote(_, url) if url.is_http())
    }

    /// Whether the location is a URL that this crate does not open.
    pub fn is_foreign(&self) -> bool {
        matches!(self.0, Kind::Foreign(_))
    }

    /// Whether the location is a pattern. A path of the local disk that exists is none, and the query of a URL of HTTP is no
    /// part of a pattern.
    pub fn is_pattern(&self) -> bool {
        is_pattern(&self.names()) && !self.local_path().is_some_and(Path::exists)
    }

    /// Whether the location is that of a folder, or a pattern.
    pub fn is_several(&self) -> bool {
        match self.local_path() {
            Some(path) if path.exists() => path.is_dir(),
            _ => self.is_pattern() || self.names().ends_with('/'),
        }
    }

    /// The location as one that other processes, which have other working directories, understand: an absolute path without
    /// `.` and `..`. Absolute paths and URLs are unchanged, and a slash at the end, which marks a folder, stays.
    ///
    /// # Errors
    /// `InvalidArgument` if the path is empty, which is no name of the working directory; `Io` if that was removed.
    pub fn to_absolute(&self) -> Result<OsString> {
        if self.as_os_str().is_empty() {
            return Err(Error::invalid("the path is empty; '.' is the folder that this process is in"));
        }
        let Some(path) = self.local_path().filter(|path| path.is_relative()) else {
            return Ok(self.as_os_str().to_owned());
        };
        let folder = std::env::current_dir()
            .map_err(|error| Error::io("the working directory is not there", error).in_file(&path.to_string_lossy()))?;
        let absolute = path.components().fold(folder, |path, component| with_component(path, &component));
        let mut absolute = absolute.into_os_string();
        if self.names().ends_with('/') {
            absolute.push("/");
        }
        Ok(absolute)
    }

    /// The absolute path of the local disk without links. Of a path that is not there, the folders that are there are resolved.
    /// `None` for URLs.
    pub fn without_links(&self) -> Option<PathBuf> {
        self.local_path().map(resolve)
    }

    /// The URL without a scheme, which has several spellings, or the path.
    pub fn without_scheme(location: &str) -> &str {
        location.split_once("://").map_or(location, |(_, rest)| rest)
    }

    /// The text in which names of folders and files, and special characters of patterns, are: the query of a URL of HTTP has
    /// none.
    fn names(&self) -> String {
        match &self.0 {
            Kind::Remote(_, url) if url.is_http() => url.path_and_query().0.to_owned(),
            _ => self.as_os_str().to_string_lossy().into_owned(),
        }
    }
}

/// Whether a text is a chain of URLs of fsspec whose first one has no slashes, such as `simplecache::s3://bucket/a.orc`.
fn is_chain(location: &str) -> bool {
    let schemes = location.split_once("://").map(|(schemes, _)| schemes);
    schemes.is_some_and(|schemes| schemes.contains("::") && schemes.split("::").all(is_scheme))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(location: &str) -> Location {
        Location::try_new(location).unwrap()
    }

    #[test]
    fn spellings_of_local_paths() {
        let home = std::env::home_dir().unwrap();
        for (given, path) in [
            ("a.orc", "a.orc".into()),
            ("C:/a.orc", "C:/a.orc".into()),
            ("file:a.orc", "file:a.orc".into()),
            ("FILE:/t/a%20b", "/t/a b".into()),
            ("file:///t", "/t".into()),
            ("file://LocalHost/t", "/t".into()),
            ("local:///t/a%20b", "/t/a%20b".into()),
            ("Local://t/a", "t/a".into()),
            ("~", home.clone()),
            ("~/t/", home.join("t/")),
            ("local://~/t", home.join("t")),
            ("./~/t", "./~/t".into()),
            ("~t", "~t".into()),
            ("a b://c", PathBuf::from("a b://c")),
        ] {
            assert_eq!(at(given).local_path(), Some(path.as_path()), "{given}");
        }
        for given in ["file://tmp/x", "FILE://tmp"] {
            let text = Location::try_new(given).unwrap_err().to_string();
            assert!(text.contains("has no host: file:///tmp/"), "{text}");
        }
    }

    #[test]
    fn kinds_of_urls() {
        for own in ["s3://b/k", "S3A://b/k", "gs://b", "abfss://c@a/k", "hdfs:///t", "viewfs://m/t", "HTTP://h/a"] {
            assert!(!at(own).is_foreign() && !at(own).is_local() && at(own).as_os_str() == own, "{own}");
        }
        for other in ["memory://a", "sftp://h/a", "zip://a.orc::s3://b/t.zip", "simplecache::s3://b/k", "wasb://c/k"] {
            assert!(at(other).is_foreign() && !at(other).is_http(), "{other}");
        }
        assert!(at("https://h/a").is_http() && !at("s3://b/k").is_http());
    }

    #[test]
    fn absolute_paths() {
        let folder = std::env::current_dir().unwrap();
        let of = |text: &str| PathBuf::from(at(text).to_absolute().unwrap());
        assert_eq!(of("a/./b/../c.orc"), folder.join("a/c.orc"));
        assert_eq!(of("t/").as_os_str(), folder.join("t/").as_os_str());
        assert_eq!(of("/t/../u"), Path::new("/t/../u"));
        assert_eq!(of("s3://b/../u"), Path::new("s3://b/../u"));
        assert!(at("").to_absolute().is_err(), "it is no name of the working directory");
    }

    #[test]
    fn patterns_and_folders() {
        let base = std::env::temp_dir().join(format!("orcish-classify-{}", std::process::id()));
        std::fs::create_dir_all(base.join("day=[1]")).unwrap();
        let text = |name: &str| base.join(name).to_str().unwrap().to_owned();
        assert!(!at(&text("day=[1]")).is_pattern() && at(&text("day=[1]")).is_several());
        assert!(at(&text("day=[2]")).is_pattern() && at(&text("day=[2]")).is_several());
        assert!(!at(&text("none")).is_several() && at(&text("none/")).is_several());
        let resolved = at(&text("none/../day=[1]/x/../y")).without_links().unwrap();
        assert_eq!(resolved, base.canonicalize().unwrap().join("day=[1]/y"));
        std::fs::remove_dir_all(&base).unwrap();
        assert!(!at("https://h/a.orc?b=*/").is_several() && at("https://h/*.orc?b=1").is_several());
        assert!(at("https://h/t/?b=1").is_several() && at("s3://b/a?").is_pattern());
        for (given, above) in [
            ("t/day=*/a.orc", "t"),
            ("/t*/a", "/"),
            ("*.orc", "."),
            ("t/a.orc", "t/a.orc"),
            ("s3://b/a?/c", "s3://b"),
            ("/t//x/[ab]", "/t//x"),
        ] {
            assert_eq!(crate::pattern::above_pattern(given), above, "{given}");
        }
    }
}
