//! Where a path or URL leads, so that it can be told whether it is within a folder.

use std::path::{Component, Path, PathBuf};

use crate::location::{Location, parse, percent_decode};

/// How often a name may be encoded.
const MOST_ENCODED: usize = 4;

/// Where a path or URL leads: links of the local file system are followed, and different spellings of a host are one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Site {
    /// Empty for the local file system.
    scheme: String,
    host: String,
    names: Vec<String>,
}

impl Site {
    /// The site of a path or URL. None where one of its names leads upward: a server might read `..` in any encoding. The
    /// `folder` is trusted: where the path or URL begins with it, the names of the folder may lead upward.
    pub fn within(folder: &str, location: &str) -> Option<Self> {
        // Behind the folder a name begins: `t/../u` is not what is behind `t/.`.
        let behind = location.strip_prefix(folder);
        let behind = behind.filter(|rest| folder.ends_with('/') || rest.is_empty() || rest.starts_with('/'));
        let named = behind.unwrap_or(location);
        let spelled = std::iter::successors(Some(named.to_owned()), |text| {
            let decoded = percent_decode(text);
            (decoded != *text).then_some(decoded)
        });
        let leads_up = |text: &String| text.split(['/', '\\', '?', '#']).any(|name| name == "..");
        let texts: Vec<String> = spelled.take(MOST_ENCODED + 1).collect();
        if texts.len() > MOST_ENCODED || texts.iter().any(leads_up) || location.contains('\0') {
            return None;
        }
        Some(Self::of(location))
    }

    /// The site of a path or URL that is trusted.
    pub fn of(location: &str) -> Self {
        match parse(location) {
            Location::Local(path) => {
                let names = real(&path).components().filter_map(name_of).collect();
                Site { scheme: String::new(), host: String::new(), names }
            }
            Location::Remote(url) => {
                let scheme = match url.scheme.as_str() {
                    "s3a" => "s3",
                    "abfss" => "abfs",
                    scheme => scheme,
                };
                let host = url.host().to_ascii_lowercase();
                let usual = match scheme {
                    "http" => host.strip_suffix(":80"),
                    "https" => host.strip_suffix(":443"),
                    _ => None,
                };
                let (path, _) = url.path_and_query();
                let path = if url.is_http() { percent_decode(path) } else { path.to_owned() };
                let mut names = Vec::new();
                for name in path.split('/').filter(|name| !name.is_empty() && *name != ".") {
                    match name {
                        ".." => _ = names.pop(),
                        name => names.push(name.to_owned()),
                    }
                }
                Site { scheme: scheme.to_owned(), host: usual.unwrap_or(&host).to_owned(), names }
            }
        }
    }

    /// Whether another site is this one, or below it.
    pub fn holds(&self, other: &Site) -> bool {
        self.is_of_host(other) && other.names.starts_with(&self.names)
    }

    /// Whether another site is of the same server or bucket, or both are local.
    pub fn is_of_host(&self, other: &Site) -> bool {
        self.scheme == other.scheme && self.host == other.host
    }
}

/// The path without links and steps upward; of what is not there, that of the folder that is.
fn real(path: &Path) -> PathBuf {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let mut behind = Vec::new();
    let mut there = path.as_path();
    loop {
        if let Ok(real) = there.canonicalize() {
            return behind.iter().rev().fold(real, |path, name| path.join(name));
        }
        match (there.parent(), there.file_name()) {
            (Some(parent), Some(name)) => {
                behind.push(name.to_owned());
                there = parent;
            }
            _ => return path,
        }
    }
}

fn name_of(component: Component<'_>) -> Option<String> {
    match component {
        Component::RootDir | Component::CurDir => None,
        other => Some(other.as_os_str().to_string_lossy().into_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn holds(root: &str, location: &str) -> bool {
        Site::within(root, location).is_some_and(|site| Site::of(root).holds(&site))
    }

    #[test]
    fn what_is_within_a_folder_of_a_store() {
        assert!(holds("s3://b/t", "s3://b/t") && holds("s3://b/t/", "s3a://b/t//x/./y"));
        assert!(holds("http://h/t", "http://h:80/t/a") && holds("HTTP://H/t", "http://user:p@h/%74/a"));
        assert!(holds("abfs://c@a/t", "abfss://c@a/t/x"));
        for other in
            ["s3://b/t2", "s3://b/", "s3://c/t", "gs://b/t", "/t", "file:///b/t", "http://b/t", "s3://b/t/../u"]
        {
            assert!(!holds("s3://b/t", other), "{other}");
        }
        for other in ["https://h/t", "http://h:8080/t", "http://h2/t", "http://h/t/%2e%2e/x", "http://h/t/%252E./x"] {
            assert!(!holds("http://h/t", other), "{other}");
        }
        assert!(!holds("http://h/t", "http://h/t/..%2fx") && !holds("http://h/t", "http://h/t\\..\\x"));
        for root in ["s3://b/t/.", "http://h/t/.", "/t/."] {
            let (beside, within) = (format!("{root}./u/x"), format!("{root}/u/x"));
            assert!(!holds(root, &beside) && holds(root, &within), "{root}");
        }
        assert!(holds("s3://b/x/../t", "s3://b/x/../t/a") && holds("http://h/x/../t", "http://h/t/a"));
        assert!(!holds("http://h/x/../t", "http://h/x/t") && Site::of("s3://b/../../t") == Site::of("s3://b/t"));
        assert!(!holds("http://h/t", "http://h@evil/t") && !holds("http://h/t", "http://h%2f@evil/t"));
    }

    #[test]
    fn links_are_followed() {
        let base = std::env::temp_dir().join(format!("orcish-site-{}", std::process::id()));
        let (table, other) = (base.join("t"), base.join("other"));
        std::fs::create_dir_all(&table).unwrap();
        std::fs::create_dir_all(&other).unwrap();
        let text = |path: &Path| path.to_str().unwrap().to_owned();
        let root = text(&table);
        assert!(holds(&root, &text(&table.join("x/y"))) && holds(&root, &format!("file://{root}/x")));
        let around = text(&base.join("other/../t"));
        assert!(holds(&around, &root) && holds(&around, &format!("{around}/x")));
        assert!(!holds(&around, &format!("{around}/../other")) && !holds(&around, &format!("{around}2")));
        assert!(!holds(&root, &text(&other)) && !holds(&root, &format!("{root}/../other")) && !holds(&root, "/"));
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(&other, table.join("link")).unwrap();
            std::os::unix::fs::symlink(&table, base.join("known")).unwrap();
            assert!(!holds(&root, &text(&table.join("link"))) && !holds(&root, &text(&table.join("link/x"))));
            assert!(holds(&text(&base.join("known")), &text(&table.join("x"))));
            assert!(holds(&root, &text(&base.join("known/x"))));
        }
        std::fs::remove_dir_all(&base).unwrap();
    }
}
