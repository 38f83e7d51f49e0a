//! Canonical locations, for checks of containment and identity.

use std::ffi::{OsStr, OsString};
use std::path::{Component, Path};

use crate::classify::Location;
use crate::location::{Parsed, parse, percent_decode, resolve};
use crate::surroundings::{StorePath, Surroundings, chain};

/// Maximum number of nested percent-encodings of a location.
const MAX_ENCODING_DEPTH: usize = 4;

/// A location in canonical form. Symbolic links of the local file system are resolved, and equivalent spellings of a
/// URL are equal.
///
/// ```
/// use orcish_io::CanonicalLocation;
///
/// let root = CanonicalLocation::new("s3://bucket/table");
/// assert!(root.contains(&CanonicalLocation::new("s3a://bucket/table/part.orc")));
/// assert_eq!(CanonicalLocation::untrusted("s3://bucket/table", "s3://bucket/table/../other"), None);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CanonicalLocation {
    /// The kind of store: its usual scheme; empty for the local file system.
    pub(crate) kind: String,
    /// The account, cluster or server. `None` if it is not known, or if names of buckets say it.
    pub(crate) server: Option<String>,
    /// The port of the server; `None` if it is not known.
    pub(crate) port: Option<u16>,
    /// The parts of the path. That of a store begins with the bucket or container.
    pub(crate) segments: Vec<OsString>,
    /// What is meant within the file, such as a file of an archive.
    pub(crate) member: String,
}

impl CanonicalLocation {
    /// The canonical form of a location from an untrusted source, such as a table manifest. `None` if a segment is `..`
    /// in any percent-encoding, because servers differ in how they resolve it. The prefix `root` of `location` is
    /// trusted and may contain `..`.
    pub fn untrusted(root: &str, location: &str) -> Option<Self> {
        // The remainder has to begin at a segment: `t/../u` is not `t/.` and a remainder.
        let remainder = location.strip_prefix(root);
        let remainder = remainder.filter(|rest| root.ends_with('/') || rest.is_empty() || rest.starts_with('/'));
        let checked = remainder.unwrap_or(location);
        let decodings = std::iter::successors(Some(checked.to_owned()), |text| {
            let decoded = percent_decode(text);
            (decoded != *text).then_some(decoded)
        });
        let has_parent_segment = |text: &String| text.split(['/', '\\', '?', '#']).any(|segment| segment == "..");
        let decodings: Vec<String> = decodings.take(MAX_ENCODING_DEPTH + 1).collect();
        if decodings.len() > MAX_ENCODING_DEPTH || decodings.iter().any(has_parent_segment) || location.contains('\0') {
            return None;
        }
        Some(Self::new(location))
    }

    /// The canonical form of a trusted location.
    pub fn new(location: &str) -> Self {
        Self::of(location, &Surroundings::default())
    }

    /// The canonical form of a path of the local file system.
    pub fn of_path(path: &Path) -> Self {
        let segments = resolve(path).components().filter_map(segment_of).collect();
        CanonicalLocation { segments, ..Self::default() }
    }

    /// The canonical form of a trusted location, with what options, the environment and the names of the hosts of public
    /// stores say: a URL of HTTP may be that of an object of a store. URLs of chains of fsspec are locations within
    /// that of the last URL. No server is asked.
    ///
    /// ```
    /// use orcish_io::{CanonicalLocation, Surroundings};
    ///
    /// let around = Surroundings::default().with_public_hosts();
    /// let object = CanonicalLocation::of("https://bucket.s3.amazonaws.com/a.orc", &around);
    /// assert!(object.may_be(&CanonicalLocation::new("s3://bucket/a.orc")));
    /// ```
    pub fn of(location: &str, around: &Surroundings) -> Self {
        if let Some((members, last)) = chain(location) {
            return CanonicalLocation { member: members, ..Self::of(last, around) };
        }
        match parse(location) {
            Parsed::Local(path) => Self::of_path(&path),
            Parsed::Remote(url) => {
                let StorePath { kind, server, port, segments } = around.store_path(&url);
                CanonicalLocation { kind, server, port, segments, member: String::new() }
            }
        }
    }

    /// The canonical form of a path within a file system of another library, of which nothing else is known.
    pub fn within_file_system(path: &str) -> Self {
        let segments = path.split('/').filter(|segment| !segment.is_empty()).map(OsString::from).collect();
        CanonicalLocation { kind: "filesystem".to_owned(), segments, ..Self::default() }
    }

    /// As [`of`](Self::of), of a location that is classified.
    pub fn of_location(location: &Location, around: &Surroundings) -> Self {
        match location.local_path() {
            Some(path) => Self::of_path(path),
            None => Self::of(&location.as_os_str().to_string_lossy(), around),
        }
    }

    /// Whether `other` is equal to this location, or below it.
    pub fn contains(&self, other: &CanonicalLocation) -> bool {
        self.has_same_host(other) && other.segments.starts_with(&self.segments)
    }

    /// Whether `other` has the same server or bucket, or both locations are local.
    pub fn has_same_host(&self, other: &CanonicalLocation) -> bool {
        (&self.kind, &self.server, self.port, self.bucket()) == (&other.kind, &other.server, other.port, other.bucket())
    }

    /// Whether both may be one file or folder. What a location leaves out counts as equal.
    pub fn may_be(&self, other: &CanonicalLocation) -> bool {
        let is_whole = self.member.is_empty() || other.member.is_empty() || self.member == other.member;
        self.may_be_beside(other) && self.segments == other.segments && is_whole
    }

    /// Whether this may be `folder`, or something in it. What a location leaves out counts as equal.
    pub fn may_be_below(&self, folder: &CanonicalLocation) -> bool {
        self.may_be_beside(folder) && self.segments.starts_with(&folder.segments)
    }

    fn may_be_beside(&self, other: &CanonicalLocation) -> bool {
        fn may_be_equal<T: PartialEq>(one: Option<&T>, two: Option<&T>) -> bool {
            one.zip(two).is_none_or(|(one, two)| one == two)
        }
        self.kind == other.kind
            && may_be_equal(self.server.as_ref(), other.server.as_ref())
            && may_be_equal(self.port.as_ref(), other.port.as_ref())
    }

    /// Whether the location is one of the local file system.
    pub fn is_local(&self) -> bool {
        self.kind.is_empty()
    }

    /// The path, which for stores begins with the bucket or container.
    pub fn path(&self) -> OsString {
        let path = self.segments.join(OsStr::new("/"));
        if !self.is_local() || cfg!(windows) {
            return path;
        }
        let mut rooted = OsString::from("/");
        rooted.push(path);
        rooted
    }

    fn bucket(&self) -> Option<&OsString> {
        let has_server =
            self.is_local() || matches!(self.kind.as_str(), "http" | "https" | "hdfs" | "sftp" | "ftp" | "smb");
        if has_server { None } else { self.segments.first() }
    }
}

fn segment_of(component: Component<'_>) -> Option<OsString> {
    match component {
        Component::RootDir | Component::CurDir => None,
        other => Some(other.as_os_str().to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn contains(root: &str, location: &str) -> bool {
        CanonicalLocation::untrusted(root, location)
            .is_some_and(|location| CanonicalLocation::new(root).contains(&location))
    }

    #[test]
    fn containment_in_stores() {
        assert!(contains("s3://b/t", "s3://b/t") && contains("s3://b/t/", "s3a://b/t//x/./y"));
        assert!(contains("http://h/t", "http://h:80/t/a") && contains("HTTP://H/t", "http://user:p@h/%74/a"));
        assert!(contains("abfs://c@a/t", "abfss://c@a/t/x"));
        assert!(contains("gs://b/t", "gcs://b/t/x") && contains("gcs://b/t", "gs://b/t/x"));
        for other in
            ["s3://b/t2", "s3://b/", "s3://c/t", "gs://b/t", "/t", "file:///b/t", "http://b/t", "s3://b/t/../u"]
        {
            assert!(!contains("s3://b/t", other), "{other}");
        }
        for other in ["https://h/t", "http://h:8080/t", "http://h2/t", "http://h/t/%2e%2e/x", "http://h/t/%252E./x"] {
            assert!(!contains("http://h/t", other), "{other}");
        }
        assert!(!contains("http://h/t", "http://h/t/..%2fx") && !contains("http://h/t", "http://h/t\\..\\x"));
        for root in ["s3://b/t/.", "http://h/t/.", "/t/."] {
            let (beside, within) = (format!("{root}./u/x"), format!("{root}/u/x"));
            assert!(!contains(root, &beside) && contains(root, &within), "{root}");
        }
        assert!(contains("s3://b/x/../t", "s3://b/x/../t/a") && contains("http://h/x/../t", "http://h/t/a"));
        assert!(
            !contains("http://h/x/../t", "http://h/x/t")
                && CanonicalLocation::new("s3://b/../../t") == CanonicalLocation::new("s3://b/t")
        );
        assert!(!contains("http://h/t", "http://h@evil/t") && !contains("http://h/t", "http://h%2f@evil/t"));
    }

    #[test]
    fn links_are_resolved() {
        let base = std::env::temp_dir().join(format!("orcish-canonical-{}", std::process::id()));
        let (table, other) = (base.join("t"), base.join("other"));
        std::fs::create_dir_all(&table).unwrap();
        std::fs::create_dir_all(&other).unwrap();
        let text = |path: &Path| path.to_str().unwrap().to_owned();
        let root = text(&table);
        assert!(contains(&root, &text(&table.join("x/y"))) && contains(&root, &format!("file://{root}/x")));
        let around = text(&base.join("other/../t"));
        assert!(contains(&around, &root) && contains(&around, &format!("{around}/x")));
        assert!(!contains(&around, &format!("{around}/../other")) && !contains(&around, &format!("{around}2")));
        assert!(
            !contains(&root, &text(&other)) && !contains(&root, &format!("{root}/../other")) && !contains(&root, "/")
        );
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(&other, table.join("link")).unwrap();
            std::os::unix::fs::symlink(&table, base.join("known")).unwrap();
            assert!(!contains(&root, &text(&table.join("link"))) && !contains(&root, &text(&table.join("link/x"))));
            assert!(contains(&text(&base.join("known")), &text(&table.join("x"))));
            assert!(contains(&root, &text(&base.join("known/x"))));
        }
        std::fs::remove_dir_all(&base).unwrap();
    }
}
