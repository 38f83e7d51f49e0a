//! Names of partition folders, as Hive writes them: `day=2026-11-21/country=DE`.

use crate::location::percent_decode;
use crate::open::{folders_below, folders_of};

/// What stands for null.
const NULL: &str = "__HIVE_DEFAULT_PARTITION__";

/// Names and values in a path or URL, in their order: segments `name=value` that are folders.
pub fn partitions_of(location: &str) -> Vec<(String, Option<String>)> {
    pairs(&folders_of(location))
}

/// As [`partitions_of`], of the folders below `base` alone: the location that [`list`](crate::list) was asked for, or
/// if that is a pattern, its part before the first segment with a sign. They may be spelled differently.
pub fn partitions_below(base: &str, location: &str) -> Vec<(String, Option<String>)> {
    pairs(&folders_below(base, location))
}

fn pairs(folders: &[String]) -> Vec<(String, Option<String>)> {
    let pair = |segment: &String| {
        let (name, value) = segment.split_once('=').filter(|(name, _)| !name.is_empty())?;
        let value = percent_decode(value);
        Some((percent_decode(name), (value != NULL).then_some(value)))
    };
    folders.iter().filter_map(pair).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_hold_values() {
        let pair = |name: &str, value: Option<&str>| (name.to_owned(), value.map(str::to_owned));
        let found = partitions_of("s3://b/t/day=2026-11-21/c=__HIVE_DEFAULT_PARTITION__/x%3Dy=a%2Fb/part=0.orc");
        let want = [pair("day", Some("2026-11-21")), pair("c", None), pair("x=y", Some("a/b"))];
        assert_eq!(found, want);
        assert_eq!(partitions_of("t/=5/100%/p.orc"), []);
        assert_eq!(partitions_of("t/k=100%+5/l=%-1/p.orc"), [pair("k", Some("100%+5")), pair("l", Some("%-1"))]);
        assert_eq!(partitions_of("file:///t/k=a%20b/p.orc"), [pair("k", Some("a b"))]);
    }

    #[test]
    fn queries_of_urls_are_no_folders() {
        let pair = |name: &str, value: &str| (name.to_owned(), Some(value.to_owned()));
        let found = partitions_of("https://h/k=a%253Ab/j=%2F/f.orc?token=a/x=1/y=2#z=3/");
        assert_eq!(found, [pair("k", "a:b"), pair("j", "/")]);
        assert_eq!(partitions_of("s3://b/k=1?/x=2/f.orc"), [pair("k", "1?"), pair("x", "2")]);
        assert_eq!(partitions_of("https://k=1/f.orc"), []);
    }

    #[test]
    fn what_is_above_the_base_does_not_count() {
        let names = |base: &str, location: &str| {
            partitions_below(base, location).into_iter().map(|(name, _)| name).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(names("/a=1/b=2", "/a=1/b=2/c=3/f.orc"), "c");
        assert_eq!(names("/a=1//b=2/", "/a=1/b=2/c=3/f.orc"), "c");
        assert_eq!(names("file:///a=1/b=2", "/a=1/b=2/c=3/f.orc"), "c");
        assert_eq!(names("file:/a%3D1/b=*", "/a=1/b=2/c=3/f.orc"), "b c");
        assert_eq!(names("S3://x/a=1", "s3://x/a=1/c=3/f.orc"), "c");
        assert_eq!(names("s3://x/a=1/*/*.orc", "s3://x/a=1/c=3/f.orc"), "c");
        assert_eq!(names("HTTP://h/a=1/?sig=1", "http://h/a%3D1/c=3/f.orc"), "c");
        assert_eq!(names("/a=[1]", "/a=[1]/c=3/f.orc"), "c");
        assert_eq!(names("/a=1/f.orc", "/a=1/f.orc"), "");
        assert_eq!(names("c=*", "c=3/f.orc"), "c");
        assert_eq!(names(".", "./c=3/f.orc"), "c");
        assert_eq!(names("", "c=3/f.orc"), "c");
    }
}
