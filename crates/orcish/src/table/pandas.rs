//! Metadata from which pyarrow restores data frames of pandas.

use std::collections::HashSet;

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
    let names: HashSet<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
    let fitted = schema.metadata().get(PANDAS_KEY).and_then(|described| fitted(described, &names, is_whole));
    if let Some(fitted) = fitted {
        schema.metadata.insert(PANDAS_KEY.to_owned(), fitted);
    }
    schema
}

/// The metadata that fit some columns; `None` if they stay.
fn fitted(described: &str, names: &HashSet<&str>, is_whole: bool) -> Option<String> {
    let mut found: Value = serde_json::from_str(described).ok()?;
    let indexes = found.get("index_columns")?.as_array()?;
    let kept: Vec<Value> = indexes.iter().filter(|index| is_whole || !index.is_object()).cloned().collect();
    let known = found.get("columns")?.as_array()?.iter().map(|column| {
        let name = column.get("field_name").or_else(|| column.get("name"))?;
        Some(name.as_str())
    });
    let known: HashSet<&str> = known.collect::<Option<Vec<_>>>()?.into_iter().flatten().collect();
    let labels = match found.get("column_indexes") {
        None => Vec::new(),
        Some(labels) => labels.as_array()?.clone(),
    };
    let kind = |level: &Value| match level.as_object()?.get("pandas_type") {
        None => Some(String::new()),
        Some(kind) => Some(kind.as_str()?.to_owned()),
    };
    let kinds = labels.iter().map(kind).collect::<Option<Vec<_>>>()?;
    let is_plain = kinds.len() < 2 && kinds.iter().all(|kind| TEXTS.contains(&kind.as_str()));
    let is_known =
        names.is_subset(&known) && kinds.iter().all(|kind| TEXTS.contains(&kind.as_str()) || is_parsed(kind));
    let keeps_labels = is_plain || is_known || labels.is_empty();
    if kept.len() == indexes.len() && keeps_labels {
        return None;
    }
    let object = found.as_object_mut()?;
    object.insert("index_columns".to_owned(), Value::Array(kept));
    if !keeps_labels {
        object.insert("column_indexes".to_owned(), Value::Array(Vec::new()));
    }
    Some(found.to_string())
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
        let names = names.iter().copied().collect();
        fitted(described, &names, is_whole).map(|text| serde_json::from_str(&text).unwrap())
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
