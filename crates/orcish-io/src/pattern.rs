//! Patterns of paths, segment by segment.

use orcish_core::{Error, Result};

/// A segment of a pattern.
#[derive(Debug, Clone)]
pub(super) enum Segment {
    /// A name as it is.
    Name(String),
    /// `*`, `?`, `[…]` in it.
    Pattern(glob::Pattern),
    /// `**`: any number of segments, none too.
    Any,
}

/// Whether a path has parts that are patterns.
pub(super) fn is_pattern(path: &str) -> bool {
    path.contains(['*', '?', '['])
}

/// Files and folders that writers keep for themselves: `.part.crc`, `_SUCCESS`, but not `_day=1`, a partition.
pub(super) fn is_hidden(name: &str) -> bool {
    name.starts_with('.') || (name.starts_with('_') && !name.contains('='))
}

/// The segments of a pattern.
pub(super) fn parse(pattern: &str) -> Result<Vec<Segment>> {
    let parse = |segment: &str| match segment {
        "**" => Ok(Segment::Any),
        name if !is_pattern(name) => Ok(Segment::Name(name.to_owned())),
        text => glob::Pattern::new(text).map(Segment::Pattern).map_err(|error| {
            Error::invalid(format!("{text:?} is no pattern, {} at character {}", error.msg, error.pos + 1))
        }),
    };
    pattern.split('/').filter(|segment| !segment.is_empty()).map(parse).collect()
}

impl Segment {
    /// Whether it stands for a segment of this name. Hidden names are only found by patterns that begin like them.
    pub(super) fn matches(&self, name: &str) -> bool {
        match self {
            Segment::Name(own) => own == name,
            Segment::Any => !is_hidden(name),
            Segment::Pattern(pattern) => {
                pattern.matches(name) && (!is_hidden(name) || pattern.as_str().chars().next() == name.chars().next())
            }
        }
    }
}

/// Whether a pattern stands for a path, or for a folder that the path is below of, by segments that are not hidden.
pub(super) fn selects(pattern: &[Segment], path: &[&str]) -> bool {
    match pattern.split_first() {
        None => path.iter().all(|name| !is_hidden(name)),
        Some((Segment::Any, rest)) => {
            let one_more = path.split_first().filter(|(first, _)| !is_hidden(first));
            selects(rest, path) || one_more.is_some_and(|(_, below)| selects(pattern, below))
        }
        Some((segment, rest)) => {
            path.split_first().is_some_and(|(first, below)| segment.matches(first) && selects(rest, below))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(pattern: &str, path: &str) -> bool {
        selects(&parse(pattern).unwrap(), &path.split('/').collect::<Vec<_>>())
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
    fn what_is_below_a_folder_that_matches() {
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
