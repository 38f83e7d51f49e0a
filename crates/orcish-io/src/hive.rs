//! Hive partitions: key-value pairs in names of folders, such as `day=2026-11-21/country=DE`.

use std::borrow::Cow;
use std::fmt::Write as _;

use crate::location::{percent_decode, segments};
use crate::pattern::is_pattern;

/// The value that denotes null, and the empty text, in names of folders.
pub const NULL_PARTITION: &str = "__HIVE_DEFAULT_PARTITION__";

/// The printable characters that Hive escapes, apart from control characters.
const ESCAPED: &str = "\"#%'*/:=?\\\x7f{[]^";

/// Escapes a key or a value for the name of a folder, as Hive does. Each escaped character becomes `%` and two
/// hexadecimal digits. [`unescape_partition`] is the inverse.
///
/// ```
/// assert_eq!(orcish_io::escape_partition("12:30 = 50%"), "12%3A30 %3D 50%25");
/// ```
pub fn escape_partition(text: &str) -> Cow<'_, str> {
    let is_escaped = |char: char| char < ' ' || ESCAPED.contains(char);
    if !text.contains(is_escaped) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len() + 8);
    for char in text.chars() {
        if is_escaped(char) {
            // Writing to a string does not fail.
            let _ = write!(escaped, "%{:02X}", u32::from(char));
        } else {
            escaped.push(char);
        }
    }
    Cow::Owned(escaped)
}

/// Decodes all escapes of a key or a value in the name of a folder. Invalid escapes are kept, and the text is unchanged
/// if the result is not UTF-8.
pub fn unescape_partition(text: &str) -> String {
    percent_decode(text)
}

/// The name of the folder of a partition: `key=value`, both escaped. Null and the empty value are
/// [`NULL_PARTITION`].
///
/// ```
/// assert_eq!(orcish_io::partition_folder("day", Some("2026-11-21")), "day=2026-11-21");
/// assert_eq!(orcish_io::partition_folder("day", None), "day=__HIVE_DEFAULT_PARTITION__");
/// ```
pub fn partition_folder(key: &str, value: Option<&str>) -> String {
    let value = value.filter(|value| !value.is_empty()).map_or(Cow::Borrowed(NULL_PARTITION), escape_partition);
    format!("{}={value}", escape_partition(key))
}

/// The Hive partitions of a path or URL: the keys and values of all folders with a name of the form `key=value`, in
/// order. The value `__HIVE_DEFAULT_PARTITION__` and the empty value are `None`.
///
/// ```
/// let partitions = orcish_io::hive_partitions("s3://bucket/day=2026-11-21/part-0.orc");
/// assert_eq!(partitions, [("day".to_owned(), Some("2026-11-21".to_owned()))]);
/// ```
pub fn hive_partitions(location: &str) -> Vec<(String, Option<String>)> {
    let mut folders = segments(location);
    folders.pop();
    key_value_pairs(&folders)
}

/// As [`hive_partitions`], for folders below `base` only. `base` is the argument of [`list`](crate::list) that has
/// returned `location`; of a pattern, the segments before the first glob count. Both may differ in spelling, such as
/// percent-encoding.
pub fn hive_partitions_below(base: &str, location: &str) -> Vec<(String, Option<String>)> {
    let (mut base, location) = (segments(base), segments(location));
    if !location.starts_with(&base) {
        base.truncate(base.iter().position(|segment| is_pattern(segment)).unwrap_or(base.len()));
    }
    let below = location.strip_prefix(base.as_slice()).unwrap_or(&location);
    // The last segment is the file. The base may be the file.
    below.split_last().map_or_else(Vec::new, |(_, folders)| key_value_pairs(folders))
}

/// Whether a folder is one of a partition, by its name: `key=value`, with a key that is not empty.
///
/// ```
/// assert!(orcish_io::is_partition_folder("day=2026-11-21"));
/// assert!(!orcish_io::is_partition_folder("=5"));
/// ```
pub fn is_partition_folder(name: &str) -> bool {
    key_and_value(name).is_some()
}

fn key_and_value(folder: &str) -> Option<(&str, &str)> {
    folder.split_once('=').filter(|(key, _)| !key.is_empty())
}

fn key_value_pairs(folders: &[String]) -> Vec<(String, Option<String>)> {
    let pair = |segment: &String| {
        let (key, value) = key_and_value(segment)?;
        let value = unescape_partition(value);
        Some((unescape_partition(key), (!value.is_empty() && value != NULL_PARTITION).then_some(value)))
    };
    folders.iter().filter_map(pair).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn partitions_of_paths() {
        let pair = |name: &str, value: Option<&str>| (name.to_owned(), value.map(str::to_owned));
        let found = hive_partitions("s3://b/t/day=2026-11-21/c=__HIVE_DEFAULT_PARTITION__/x%3Dy=a%2Fb/part=0.orc");
        let want = [pair("day", Some("2026-11-21")), pair("c", None), pair("x=y", Some("a/b"))];
        assert_eq!(found, want);
        assert_eq!(hive_partitions("t/=5/100%/p.orc"), []);
        assert_eq!(hive_partitions("t/k=100%+5/l=%-1/p.orc"), [pair("k", Some("100%+5")), pair("l", Some("%-1"))]);
        assert_eq!(hive_partitions("file:///t/k=a%20b/p.orc"), [pair("k", Some("a b"))]);
        assert_eq!(hive_partitions("t/k=/p.orc"), [pair("k", None)]);
    }

    #[test]
    fn names_of_folders() {
        assert_eq!(escape_partition("plain é 日 ~+&<>|"), "plain é 日 ~+&<>|");
        assert_eq!(
            escape_partition("\"#%'*/:=?\\\x7f{[]^\x01\n"),
            "%22%23%25%27%2A%2F%3A%3D%3F%5C%7F%7B%5B%5D%5E%01%0A"
        );
        assert_eq!(partition_folder("a=b", Some("%41")), "a%3Db=%2541");
        assert_eq!(partition_folder("a", Some("")), "a=__HIVE_DEFAULT_PARTITION__");
    }

    #[test]
    fn queries_of_urls_are_no_folders() {
        let pair = |name: &str, value: &str| (name.to_owned(), Some(value.to_owned()));
        let found = hive_partitions("https://h/k=a%253Ab/j=%2F/f.orc?token=a/x=1/y=2#z=3/");
        assert_eq!(found, [pair("k", "a:b"), pair("j", "/")]);
        assert_eq!(hive_partitions("s3://b/k=1?/x=2/f.orc"), [pair("k", "1?"), pair("x", "2")]);
        assert_eq!(hive_partitions("https://k=1/f.orc"), []);
    }

    #[test]
    fn folders_above_the_base_are_ignored() {
        let names = |base: &str, location: &str| {
            hive_partitions_below(base, location).into_iter().map(|(name, _)| name).collect::<Vec<_>>().join(" ")
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
