//! Canonical locations, for checks of containment.

use std::path::{Component, Path, PathBuf};

use crate::location::{Location, parse, percent_decode};

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
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CanonicalLocation {
    /// Empty for the local file system.
    scheme: String,
    host: String,
    segments: Vec<String>,
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
        match parse(location) {
            Location::Local(path) => {
                let segments = resolve(&path).components().filter_map(segment_of).collect();
                CanonicalLocation { scheme: String::new(), host: String::new(), segments }
            }
            Location::Remote(url) => {
                let scheme = url.store_scheme();
                let host = url.host().to_ascii_lowercase();
                let without_default_port = match scheme {
                    "http" => host.strip_suffix(":80"),
                    "https" => host.strip_suffix(":443"),
                    _ => None,
                };
                let (path, _) = url.path_and_query();
                let path = if url.is_http() { percent_decode(path) } else { path.to_owned() };
                let mut segments = Vec::new();
                for segment in path.split('/').filter(|segment| !segment.is_empty() && *segment != ".") {
                    match segment {
                        ".." => _ = segments.pop(),
                        segment => segments.push(segment.to_owned()),
                    }
                }
                let host = without_default_port.unwrap_or(&host).to_owned();
                CanonicalLocation { scheme: scheme.to_owned(), host, segments }
            }
        }
    }

    /// Whether `other` is equal to this location, or below it.
    pub fn contains(&self, other: &CanonicalLocation) -> bool {
        self.has_same_host(other) && other.segments.starts_with(&self.segments)
    }

    /// Whether `other` has the same server or bucket, or both locations are local.
    pub fn has_same_host(&self, other: &CanonicalLocation) -> bool {
        self.scheme == other.scheme && self.host == other.host
    }
}

/// The absolute path without links and `..`. Of a path that does not exist, the existing parent folder is resolved.
fn resolve(path: &Path) -> PathBuf {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let mut missing = Vec::new();
    let mut existing = path.as_path();
    loop {
        if let Ok(resolved) = existing.canonicalize() {
            return missing.iter().rev().fold(resolved, |path, name| path.join(name));
        }
        match (existing.parent(), existing.file_name()) {
            (Some(parent), Some(name)) => {
                missing.push(name.to_owned());
                existing = parent;
            }
            _ => return path,
        }
    }
}

fn segment_of(component: Component<'_>) -> Option<String> {
    match component {
        Component::RootDir | Component::CurDir => None,
        other => Some(other.as_os_str().to_string_lossy().into_owned()),
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
