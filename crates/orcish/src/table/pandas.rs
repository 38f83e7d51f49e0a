//! Metadata from which pyarrow restores data frames of pandas.

use std::collections::HashSet;
use std::ops::Range;

use arrow_schema::Schema;
use serde_json::Value;

/// Key of the metadata of a schema that pyarrow has for pandas.
pub const PANDAS_KEY: &str = "pandas";
/// What the metadata call labels of columns that are text, or that are not there.
const TEXTS: [&str; 3] = ["unicode", "string", "empty"];
/// What the metadata call other labels that pyarrow makes of the names of columns, or the beginnings of such words. It fails on the rest,
/// such as categories and dates, and takes each boolean for true.
const PARSED: [&str; 9] = ["mixed", "bytes", "decimal", "integer", "floating", "int", "uint", "float", "datetime"];

/// The schema with metadata for pandas that fit its columns. With other metadata, `to_pandas` fails or numbers rows wrongly.
///
/// - A range is an index of exactly the rows of one data frame. pyarrow applies it to any table of as many rows. It stays if `is_whole`:
///   if the rows are those of one data frame, or some of them.
/// - Labels of columns that are no text, such as integers, timestamps or tuples, are parsed from the names of all columns. With a column
///   that the metadata do not describe, or labels that pyarrow cannot parse, all columns have their names as labels.
///
/// Descriptions of columns that are there, such as their types in pandas, stay. Metadata of another form are those of another program,
/// and stay too.
///
/// ```
/// use arrow_schema::{DataType, Field, Schema};
/// use orcish::table::with_fitted_pandas;
///
/// let range = r#"{"index_columns": [{"kind": "range"}], "column_indexes": [], "columns": [{"name": "id"}]}"#;
/// let metadata = std::collections::HashMap::from([("pandas".to_owned(), range.to_owned())]);
/// let schema = Schema::new_with_metadata(vec![Field::new("id", DataType::Int64, true)], metadata);
/// assert_eq!(with_fitted_pandas(schema.clone(), true), schema);
/// assert!(!with_fitted_pandas(schema, false).metadata()["pandas"].contains("range"));
/// ```
pub fn with_fitted_pandas(mut schema: Schema, is_whole: bool) -> Schema {
    let described = schema.metadata().get(PANDAS_KEY);
    let names = || schema.fields().iter().map(|field| field.name().as_str());
    if let Some(fitted) = described.and_then(|described| fitted_pandas(described, names(), is_whole)) {
        schema.metadata.insert(PANDAS_KEY.to_owned(), fitted);
    }
    schema
}

/// Metadata for pandas, as JSON text, that fit columns of some names; `None` if they stay. See [`with_fitted_pandas`].
pub fn fitted_pandas<'a>(described: &str, names: impl IntoIterator<Item = &'a str>, is_whole: bool) -> Option<String> {
    // The other members stay as they are: attributes of a data frame may have values that JSON has not, such as NaN.
    let members = members(described)?;
    let place = |key: &str| members.iter().rfind(|(name, _)| *name == key).map(|(_, place)| place.clone());
    let items = |place: &Range<usize>| serde_json::from_str::<Vec<Value>>(described.get(place.clone())?).ok();
    let index_place = place("index_columns")?;
    let indexes = items(&index_place)?;
    let kept: Vec<_> = indexes.iter().filter(|index| is_whole || !index.is_object()).collect();
    let columns = items(&place("columns")?)?;
    let known = columns.iter().map(|column| {
        let name = column.get("field_name").or_else(|| column.get("name"))?;
        Some(name.as_str())
    });
    let known: HashSet<Option<&str>> = known.collect::<Option<_>>()?;
    let label_place = place("column_indexes");
    let labels = match &label_place {
        None => Vec::new(),
        Some(place) => items(place)?,
    };
    let kind = |level: &Value| match level.as_object()?.get("pandas_type") {
        None => Some(String::new()),
        Some(kind) => Some(kind.as_str()?.to_owned()),
    };
    let kinds = labels.iter().map(kind).collect::<Option<Vec<_>>>()?;
    let is_plain = kinds.len() < 2 && kinds.iter().all(|kind| TEXTS.contains(&kind.as_str()));
    let is_known = names.into_iter().all(|name| known.contains(&Some(name)))
        && kinds.iter().all(|kind| TEXTS.contains(&kind.as_str()) || is_parsed(kind));
    let mut changes = Vec::new();
    if kept.len() < indexes.len() {
        changes.push((index_place, serde_json::to_string(&kept).ok()?));
    }
    if !is_plain && !is_known {
        changes.extend(label_place.map(|place| (place, "[]".to_owned())));
    }
    // From the last one, so that the places of others stay.
    changes.sort_by_key(|(place, _)| std::cmp::Reverse(place.start));
    let change = |mut text: String, (place, new): (Range<usize>, String)| {
        text.replace_range(place, &new);
        text
    };
    (!changes.is_empty()).then(|| changes.into_iter().fold(described.to_owned(), change))
}

/// The members of a JSON object: their names, and the places of their values. `None` for other texts. Values are not checked.
fn members(text: &str) -> Option<Vec<(&str, Range<usize>)>> {
    let (mut found, mut depth, mut name, mut value) = (Vec::new(), 0usize, None, 0);
    let (mut string, mut is_escaped) = (None, false);
    for (at, byte) in text.bytes().enumerate() {
        if let Some(start) = string {
            if byte == b'"' && !is_escaped {
                string = None;
                if depth == 1 && name.is_none() {
                    name = text.get(start + 1..at);
                }
            }
            is_escaped = byte == b'\\' && !is_escaped;
            continue;
        }
        match byte {
            b'"' => string = Some(at),
            b'{' | b'[' => depth += 1,
            b':' if depth == 1 => value = at + 1,
            b',' if depth == 1 => found.push((name.take()?, value..at)),
            b'}' | b']' => {
                if depth == 1 {
                    found.extend(name.take().map(|name| (name, value..at)));
                }
                depth = depth.checked_sub(1)?;
            }
            _ => {}
        }
    }
    (depth == 0).then_some(found)
}

/// Whether pyarrow makes labels of a kind of the names of columns.
fn is_parsed(kind: &str) -> bool {
    PARSED.iter().any(|word| match (kind.strip_prefix(word), *word) {
        (None, _) => false,
        (Some(_), "mixed" | "datetime") => true,
        (Some(rest), "int" | "uint" | "float") => !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit()),
        (Some(rest), _) => rest.is_empty(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fitted_of(described: &str, names: &[&str], is_whole: bool) -> Option<Value> {
        fitted_pandas(described, names.iter().copied(), is_whole).map(|text| serde_json::from_str(&text).unwrap())
    }

    #[test]
    fn ranges_are_those_of_one_frame() {
        let described = r#"{"index_columns": [{"kind": "range", "stop": 3}, "i"], "columns": [{"name": "a"}]}"#;
        assert_eq!(fitted_of(described, &["a"], true), None);
        let fitted = fitted_of(described, &["a"], false).unwrap();
        assert_eq!(fitted["index_columns"], serde_json::json!(["i"]));
        assert_eq!(fitted["columns"], serde_json::json!([{"name": "a"}]));
    }

    #[test]
    fn other_members_stay_as_they_are() {
        let deep = "[".repeat(200) + &"]".repeat(200);
        for other in [
            "NaN",
            "-Infinity",
            "62.572030410805404",
            "18446744073709551616",
            r#""\ud800""#,
            r#""\u0000\"{,\\""#,
            &deep,
        ] {
            let described = |indexes: &str| {
                format!(
                    r#"{{"attributes": {{"a": [{other}, 1]}}, "index_columns":{indexes}, "columns": [], "x": {other}}}"#
                )
            };
            let fitted = fitted_pandas(&described(r#"["i", {"kind": "range"}]"#), [], false);
            assert_eq!(fitted, Some(described(r#"["i"]"#)));
        }
    }

    #[test]
    fn labels_that_cannot_be_parsed_are_dropped() {
        let described = |kinds: &[&str]| {
            let labels: Vec<Value> = kinds.iter().map(|kind| serde_json::json!({"pandas_type": kind})).collect();
            serde_json::json!({
                "index_columns": [], "column_indexes": labels, "columns": [{"name": "1", "field_name": "1"}]
            })
            .to_string()
        };
        for (kinds, names, stay) in [
            (&["unicode"][..], &["1", "x"][..], true),
            (&["int64"], &["1"], true),
            (&["int64"], &["1", "x"], false),
            (&["float64", "mixed-integer"], &["1"], true),
            (&["unicode", "unicode"], &["x"], false),
            (&["date"], &["1"], false),
            (&["categorical"], &["1"], false),
            (&["int"], &["1"], false),
            (&["datetimetz"], &["1"], true),
        ] {
            let fitted = fitted_of(&described(kinds), names, false);
            assert_eq!(fitted.is_none(), stay, "{kinds:?} {names:?}");
            assert!(fitted.is_none_or(|fitted| fitted["column_indexes"] == serde_json::json!([])));
        }
    }

    #[test]
    fn metadata_of_other_programs_stay() {
        for other in
            ["", "1", "{}", r#"{"index_columns": 1, "columns": []}"#, r#"{"index_columns": [], "columns": [1]}"#]
        {
            assert_eq!(fitted_of(other, &["a"], false), None, "{other}");
        }
    }
}
