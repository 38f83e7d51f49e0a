//! Glob patterns of paths, matched segment by segment.

use orcish_core::{Error, Result};

/// A segment of a pattern.
#[derive(Debug, Clone)]
pub(crate) enum Segment {
    /// A literal name.
    Name(String),
    /// A name with `*`, `?` or `[…]`.
    Glob(glob::Pattern),
    /// `**`: any number of segments, including none.
    AnyDepth,
}

/// Whether a path contains glob characters.
pub(crate) fn is_pattern(path: &str) -> bool {
    path.contains(['*', '?', '['])
}

/// Whether a name denotes a hidden file or folder, such as `.part.crc` and `_SUCCESS`. Partition folders such as
/// `_day=1` are not hidden.
pub(crate) fn is_hidden(name: &str) -> bool {
    // Hadoop copies to the last of these names.
    name.starts_with('.') || (name.starts_with('_') && !name.contains('=')) || name.ends_with("._COPYING_")
}

/// The folder above the first name of a pattern that has a special character; the whole of a path or URL without one.
pub fn above_pattern(pattern: &str) -> &str {
    let mut end = 0;
    for name in pattern.split('/') {
        if is_pattern(name) {
            return match pattern.split_at_checked(end) {
                Some(("", _)) | None => ".",
                Some(("/", _)) => "/",
                Some((above, _)) => above.strip_suffix('/').unwrap_or(above),
            };
        }
        end += name.len() + 1;
    }
    pattern
}

/// Whether readers ignore a file, given by its path in the folder of a table: a file or folder has a hidden name.
///
/// ```
/// assert!(orcish_io::is_hidden_path("day=1/_temporary/a.orc") && !orcish_io::is_hidden_path("_day=1/a.orc"));
/// ```
pub fn is_hidden_path(path: &str) -> bool {
    path.split('/').any(is_hidden)
}

/// Parses a pattern into its segments.
///
/// # Errors
/// `InvalidArgument` if the syntax of the pattern is wrong.
pub(crate) fn parse(pattern: &str) -> Result<Vec<Segment>> {
    let parse = |segment: &str| match segment {
        "**" => Ok(Segment::AnyDepth),
        name if !is_pattern(name) => Ok(Segment::Name(name.to_owned())),
        text => glob::Pattern::new(text).map(Segment::Glob).map_err(|error| {
            Error::invalid(format!("{text:?} is no pattern, {} at character {}", error.msg, error.pos + 1))
        }),
    };
    pattern.split('/').filter(|segment| !segment.is_empty()).map(parse).collect()
}

impl Segment {
    /// Whether the segment matches a name. A glob matches a hidden name only if both begin with the same character.
    pub(crate) fn matches(&self, name: &str) -> bool {
        match self {
            Segment::Name(literal) => literal == name,
            Segment::AnyDepth => !is_hidden(name),
            Segment::Glob(glob) => {
                glob.matches(name) && (!is_hidden(name) || glob.as_str().chars().next() == name.chars().next())
            }
        }
    }
}

/// Whether a pattern matches paths, or folders above them. In the latter case, the names below the folder must not be
/// hidden. The pattern and the paths are relative to one folder.
///
/// ```
/// let paths = ["day=1/a.orc", "day=1/_tmp/b.orc", "u/a.orc"];
/// assert_eq!(orcish_io::matches("day=*", &paths)?, [true, false, false]);
/// # Ok::<(), orcish_core::Error>(())
/// ```
///
/// # Errors
/// `InvalidArgument` if the pattern is wrong.
pub fn matches(pattern: &str, paths: &[impl AsRef<str>]) -> Result<Vec<bool>> {
    let pattern = parse(pattern)?;
    let is_match = |path: &str| {
        let names: Vec<_> = path.split('/').filter(|name| !name.is_empty()).collect();
        matches_path(&pattern, &names)
    };
    Ok(paths.iter().map(|path| is_match(path.as_ref())).collect())
}

/// Whether a pattern matches a path, or one of its parent folders. In the latter case, the remaining segments of the
/// path must not be hidden.
pub(crate) fn matches_path(pattern: &[Segment], path: &[&str]) -> bool {
    match pattern.split_first() {
        None => path.iter().all(|name| !is_hidden(name)),
        Some((Segment::AnyDepth, rest)) => {
            let visible = path.split_first().filter(|(first, _)| !is_hidden(first));
            matches_path(rest, path) || visible.is_some_and(|(_, below)| matches_path(pattern, below))
        }
        Some((segment, rest)) => {
            path.split_first().is_some_and(|(first, below)| segment.matches(first) && matches_path(rest, below))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(pattern: &str, path: &str) -> bool {
        matches_path(&parse(pattern).unwrap(), &path.split('/').collect::<Vec<_>>())
    }

    #[test]
    fn segments_are_matched_one_by_one() {
        assert!(check("t/dt=2026-*/part-*.orc", "t/dt=2026-01/part-0.orc"));
        assert!(!check("t/*.orc", "t/a/b.orc"));
        assert!(check("t/?.orc", "t/a.orc"));
        assert!(check("t/[ab][!c].orc", "t/bd.orc"));
        assert!(!check("t/[ab][!c].orc", "t/bc.orc"));
        assert!(check("t/[*].orc", "t/*.orc"));
        assert!(parse("t/[a").is_err());
        assert!(parse("t/a**b").is_err());
    }

    #[test]
    fn any_depth() {
        for path in ["t/x.orc", "t/a/x.orc", "t/a/b/x.orc"] {
            assert!(check("t/**/*.orc", path), "{path}");
            assert!(check("t/**", path), "{path}");
        }
        assert!(!check("t/**/x", "t/a/y"));
        assert!(check("**/b/**/x", "a/b/c/d/x"));
    }

    #[test]
    fn files_below_a_matching_folder() {
        assert!(check("t/dt=*", "t/dt=1/h=2/x.orc"));
        assert!(!check("t/dt=*", "t/dt=1/_tmp/x.orc"));
    }

    #[test]
    fn hidden_segments() {
        assert!(!check("t/*", "t/_SUCCESS"));
        assert!(!check("t/**", "t/.x/y.orc"));
        assert!(check("t/_*", "t/_x"));
        assert!(check("t/_x/*", "t/_x/y"));
        assert!(check("t/*/y", "t/_day=1/y"));
    }
}
