//! Columns that are one column to some readers: to those that ignore the case of names, as Spark does, and to those that match
//! columns by the ids of Iceberg.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use arrow_schema::{DataType, FieldRef, Fields, Schema};
use orcish_core::error::{Error, Result};
use orcish_core::types::{item_of, with_item, with_type};

use super::source_file::SourceFile;

/// Attribute with the id of a column in Iceberg.
const ICEBERG_ID: &str = "iceberg.id";

/// What readers find a column by.
#[derive(PartialEq, Eq, Hash)]
enum Key {
    /// The name in lower case.
    Name(String),
    Id(String),
}

fn keys(field: &FieldRef) -> impl Iterator<Item = Key> {
    let id = field.metadata().get(ICEBERG_ID).cloned().map(Key::Id);
    std::iter::once(Key::Name(field.name().to_lowercase())).chain(id)
}

/// The schema without columns that are another one to some readers; the same holds for the fields of structs.
///
/// `stored` are dotted names of columns that stay. Of other columns that are one column the first one stays, unless it is one of
/// these.
///
/// ```
/// use arrow_schema::{DataType, Field, Schema};
/// use orcish::table::without_twins;
///
/// let schema = Schema::new(vec![Field::new("a", DataType::Int8, true), Field::new("A", DataType::Int8, true)]);
/// assert_eq!(without_twins(&schema, &Default::default()).field(0).name(), "a");
/// assert_eq!(without_twins(&schema, &["A".to_owned()].into()).field(0).name(), "A");
/// ```
pub fn without_twins(schema: &Schema, stored: &HashSet<String>) -> Schema {
    Schema::new_with_metadata(kept(schema.fields(), "", stored), schema.metadata().clone())
}

/// The fields of a struct that stay.
fn kept(fields: &Fields, above: &str, stored: &HashSet<String>) -> Fields {
    let path = |field: &FieldRef| format!("{above}{}", field.name());
    let mut owners: HashMap<Key, &str> = HashMap::new();
    for field in fields.iter().filter(|field| stored.contains(&path(field))) {
        owners.extend(keys(field).map(|key| (key, field.name().as_str())));
    }
    let mut left = Vec::new();
    for field in fields {
        let path = path(field);
        let is_other = |key: Key| owners.get(&key).is_some_and(|owner| owner != field.name());
        if !stored.contains(&path) && keys(field).any(is_other) {
            continue;
        }
        for key in keys(field) {
            owners.entry(key).or_insert(field.name());
        }
        left.push(kept_within(field, &path, stored));
    }
    left.into()
}

fn kept_within(field: &FieldRef, path: &str, stored: &HashSet<String>) -> FieldRef {
    let below = |child: &FieldRef, step: &str| kept_within(child, &format!("{path}.{step}"), stored);
    let kind = match field.data_type() {
        DataType::Struct(fields) => DataType::Struct(kept(fields, &format!("{path}."), stored)),
        DataType::Map(entries, is_sorted) => match entries.data_type() {
            DataType::Struct(pair) => {
                let pair = pair.iter().zip(["key", "value"]).map(|(child, step)| below(child, step)).collect();
                DataType::Map(Arc::new(with_type(entries, DataType::Struct(pair))), *is_sorted)
            }
            _ => return field.clone(),
        },
        DataType::Union(variants, mode) => {
            let numbered = variants.iter().enumerate();
            let variants = numbered.map(|(at, (id, variant))| (id, below(variant, &format!("field{at}"))));
            DataType::Union(variants.collect(), *mode)
        }
        list => match item_of(list) {
            Some(item) => with_item(list, below(item, "element")),
            None => return field.clone(),
        },
    };
    if kind == *field.data_type() { field.clone() } else { Arc::new(with_type(field, kind)) }
}

/// Checks that the columns of files can be put into one file: that columns of one name are one column, and columns of different names
/// different columns, to all readers.
///
/// # Errors
/// `Unsupported` if a column of a file has the name of a column of another file in other case, or its id and another name, or its
/// name and another id.
pub(super) fn check_twins(files: &[SourceFile]) -> Result<()> {
    let mut names: HashMap<String, (&str, &SourceFile)> = HashMap::new();
    let mut ids: HashMap<&str, (&str, &SourceFile)> = HashMap::new();
    let mut ids_of_names: HashMap<&str, (&str, &SourceFile)> = HashMap::new();
    for file in files {
        let is_twin = |path: &str, other: &(&str, &SourceFile)| other.0 != path && other.1.location != file.location;
        let twin = |path: &str, other: String| {
            let text = format!(
                "column {path} and {other}, so that the files are not combined: write the rows of one of them again with the names \
                 and ids of the other"
            );
            Error::unsupported(text).in_file(&file.name())
        };
        for (path, column) in &file.columns {
            let other = names.entry(path.to_lowercase()).or_insert((path, file));
            if is_twin(path, other) {
                return Err(twin(path, format!("column {} of {} differ only by case", other.0, other.1.name())));
            }
            let Some(id) = column.attributes.get(ICEBERG_ID) else { continue };
            let (known, other) = ids_of_names.entry(path).or_insert((id, file));
            if known != id {
                return Err(twin(path, format!("that of {} have different ids in Iceberg", other.name())));
            }
            let other = ids.entry(id).or_insert((path, file));
            if is_twin(path, other) {
                return Err(twin(
                    path,
                    format!("column {} of {} have the same id in Iceberg", other.0, other.1.name()),
                ));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use arrow_schema::Field;

    use super::*;

    fn field(name: &str, id: Option<&str>) -> Field {
        let id = id.map(|id| (ICEBERG_ID.to_owned(), id.to_owned()));
        let metadata: HashMap<String, String> = id.into_iter().collect();
        Field::new(name, DataType::Int8, true).with_metadata(metadata)
    }

    fn names(fields: Vec<Field>, stored: &[&str]) -> Vec<String> {
        let stored = stored.iter().map(|name| (*name).to_owned()).collect();
        let kept = without_twins(&Schema::new(fields), &stored);
        kept.fields().iter().map(|field| field.name().clone()).collect()
    }

    #[test]
    fn the_first_or_the_stored_one_stays() {
        let of_ids = || vec![field("a", Some("1")), field("b", Some("1")), field("B", Some("2")), field("c", None)];
        assert_eq!(names(of_ids(), &[]), ["a", "B", "c"]);
        assert_eq!(names(of_ids(), &["b"]), ["b", "c"]);
        assert_eq!(names(vec![field("a", None), field("a", None)], &[]), ["a", "a"]);
        assert_eq!(names(vec![field("a", None), field("A", None)], &["a", "A"]), ["a", "A"]);
    }

    #[test]
    fn fields_of_structs_in_lists_are_looked_at() {
        let fields: Fields = vec![field("x", None), field("X", None)].into();
        let list = |fields| DataType::new_list(DataType::Struct(fields), true);
        let schema = Schema::new(vec![Field::new("l", list(fields.clone()), true)]);
        let kept = without_twins(&schema, &HashSet::new());
        assert_eq!(*kept.field(0).data_type(), list(vec![field("x", None)].into()));
        let stored = HashSet::from(["l.element.X".to_owned(), "l.element.x".to_owned()]);
        assert_eq!(without_twins(&schema, &stored), schema);
    }
}
