//! The union of schemas: one schema that holds the values of several.
//!
//! ```
//! use arrow_schema::{DataType, Field, Schema};
//! use orcish_core::unify::unify_schemas;
//!
//! let old = Schema::new(vec![Field::new("id", DataType::Int32, false)]);
//! let new = Schema::new(vec![Field::new("id", DataType::Int64, false), Field::new("name", DataType::Utf8, true)]);
//! let schema = unify_schemas(&old, &new, true)?;
//! assert_eq!(schema, new);
//! # Ok::<_, orcish_core::Error>(())
//! ```

mod append;
mod leaf;
#[cfg(test)]
mod tests;

pub use append::{CAST_ADVICE, appended_schema, extended_schema};
pub use leaf::holds;

use std::collections::HashMap;
use std::sync::Arc;

use arrow_schema::{DataType, Field, FieldRef, Fields, Schema};

use self::leaf::{common_integer, common_leaf};
use crate::error::{Error, Result};
use crate::type_names::TypeName;
use crate::types::{
    finer_unit, is_extension_key, is_null_type, is_spark_ntz, item_of, limited_text, typed_null, unlimited_text,
    with_item, with_type,
};

/// The union of two schemas: the columns of `first`, then the columns that only `other` has. Each column has a common type,
/// and the name and metadata that it has in `first`. A column is nullable if it is nullable in one schema, or missing in one.
///
/// The common type of two types is the narrowest type that holds all values of both. A local
/// timestamp and an instant become an instant, unless the field is a `timestamp_ntz` of Spark. Instants of different zones have
/// UTC. `null` becomes any other type. Dictionary and run-end encoded values and plain values become plain values. Fields of
/// structs are unified like columns, items of lists and entries of maps by their places. Texts whose types `char(n)` or
/// `varchar(n)` differ have none of them. Unions have a common type if they differ only in units of timestamps and zones of
/// instants.
///
/// Names that differ only by case are different columns if `case_sensitive`. Where both schemas have the same names in the
/// same order, columns are unified by their places.
///
/// # Errors
/// `Unsupported` if a column has no common type, such as `int64` and `double`, which would round. `InvalidArgument` if several
/// columns have the same name.
pub fn unify_schemas(first: &Schema, other: &Schema, case_sensitive: bool) -> Result<Schema> {
    Unifier { case_sensitive, keeps_first: false }.schema(first, other)
}

/// As [`unify_schemas`]. A column that has no common type, or several columns of one name, are as in `first`.
///
/// # Errors
/// As [`unify_schemas`] for columns that only `other` has.
pub fn extend_schema(first: &Schema, other: &Schema, case_sensitive: bool) -> Result<Schema> {
    Unifier { case_sensitive, keeps_first: true }.schema(first, other)
}

/// The union of two fields of the dotted name `name`, with the name and metadata of the first one; see [`unify_schemas`].
///
/// # Errors
/// As [`unify_schemas`].
pub fn unify_fields(first: &FieldRef, other: &FieldRef, name: &str, case_sensitive: bool) -> Result<FieldRef> {
    Unifier { case_sensitive, keeps_first: false }.field(first, other, name)
}

struct Unifier {
    case_sensitive: bool,
    /// Whether types without a common type are not an error, and the first one stays.
    keeps_first: bool,
}

impl Unifier {
    fn schema(&self, first: &Schema, other: &Schema) -> Result<Schema> {
        let fields = self.fields(first.fields(), other.fields(), "")?;
        Ok(Schema::new_with_metadata(fields, first.metadata().clone()))
    }

    /// The union of fields of a struct, whose dotted name with a point at its end is `prefix`.
    fn fields(&self, first: &Fields, other: &Fields, prefix: &str) -> Result<Fields> {
        if first == other {
            return Ok(first.clone());
        }
        let both = || first.iter().zip(other);
        if first.len() == other.len() && both().all(|(first, other)| first.name() == other.name()) {
            return both()
                .map(|(first, other)| self.field(first, other, &format!("{prefix}{}", first.name())))
                .collect();
        }
        // Names of `first` that differ only by case stay different columns.
        let mut places: HashMap<String, usize> = HashMap::new();
        for (place, field) in first.iter().enumerate() {
            places.entry(self.key(field.name())).or_insert(place);
        }
        let mut counterparts: Vec<Option<&FieldRef>> = vec![None; first.len()];
        let mut added: Vec<FieldRef> = Vec::new();
        for field in other {
            let key = self.key(field.name());
            match places.get(&key) {
                Some(&place) => {
                    let counterpart = counterparts.get_mut(place).filter(|counterpart| counterpart.is_none());
                    *counterpart.ok_or_else(|| self.ambiguous(prefix, field.name()))? = Some(field);
                }
                None => {
                    places.insert(key, counterparts.len());
                    counterparts.push(Some(field));
                    added.push(Arc::new(field.as_ref().clone().with_nullable(true)));
                }
            }
        }
        let unified = first.iter().zip(&counterparts).map(|(field, counterpart)| match counterpart {
            Some(counterpart) => self.field(field, counterpart, &format!("{prefix}{}", field.name())),
            None => Ok(Arc::new(field.as_ref().clone().with_nullable(true))),
        });
        unified.chain(added.iter().cloned().map(Ok)).collect()
    }

    fn key(&self, name: &str) -> String {
        if self.case_sensitive { name.to_owned() } else { name.to_lowercase() }
    }

    fn ambiguous(&self, prefix: &str, name: &str) -> Error {
        let hint = if self.case_sensitive { "" } else { ": names are compared without regard to case" };
        Error::invalid(format!("several columns could be \"{prefix}{name}\"{hint}"))
    }

    /// The union of two fields, with the name and metadata of the first one.
    fn field(&self, first: &FieldRef, other: &FieldRef, name: &str) -> Result<FieldRef> {
        if first == other {
            return Ok(first.clone());
        }
        match (is_null_type(first.data_type()), is_null_type(other.data_type())) {
            (true, false) => return Ok(Arc::new(typed_null(first, other))),
            (false, true) => return Ok(Arc::new(first.as_ref().clone().with_nullable(true))),
            _ => {}
        }
        let kind = match instant(first, other) {
            Some(kind) => kind,
            None => self.kind(first.data_type(), other.data_type(), name)?,
        };
        let mut unified = with_type(first, kind).with_nullable(first.is_nullable() || other.is_nullable());
        let extension = |field: &Field, key: &String| field.metadata().get(key).cloned();
        let differs = first
            .metadata()
            .keys()
            .chain(other.metadata().keys())
            .any(|key| is_extension_key(key) && extension(first, key) != extension(other, key));
        if differs {
            unified.metadata_mut().retain(|key, _| !is_extension_key(key));
        }
        // Texts of a column of another type may be longer, and are not padded.
        Ok(Arc::new(if limited_text(first) == limited_text(other) { unified } else { unlimited_text(unified) }))
    }

    /// The common type of two types of the column of the dotted name `name`.
    fn kind(&self, first: &DataType, other: &DataType, name: &str) -> Result<DataType> {
        match self.common_type(first, other, name) {
            Err(_) if self.keeps_first => Ok(first.clone()),
            common => common,
        }
    }

    fn common_type(&self, first: &DataType, other: &DataType, name: &str) -> Result<DataType> {
        use DataType as D;
        if first == other {
            return Ok(first.clone());
        }
        let below = |step: &str| format!("{name}.{step}");
        Ok(match (first, other) {
            (D::Null, kind) | (kind, D::Null) => kind.clone(),
            (D::Struct(first), D::Struct(other)) => D::Struct(self.fields(first, other, &format!("{name}."))?),
            (D::Map(first, is_sorted), D::Map(other, is_other_sorted)) => {
                let (D::Struct(pair), D::Struct(other_pair)) = (first.data_type(), other.data_type()) else {
                    return Err(mismatch(name, first.data_type(), other.data_type()));
                };
                let steps = ["key", "value"].map(below);
                let pairs = pair.iter().zip(other_pair).zip(&steps);
                let pair = pairs.map(|((first, other), step)| self.field(first, other, step)).collect::<Result<_>>()?;
                D::Map(Arc::new(with_type(first, D::Struct(pair))), *is_sorted && *is_other_sorted)
            }
            // Variants keep their types, but for units of timestamps.
            (D::Union(variants, mode), D::Union(others, _)) if differ_in_units(first, other) => {
                let both = variants.iter().zip(others.iter());
                let unified =
                    both.map(|((id, first), (_, other))| Ok((id, self.field(first, other, &below(first.name()))?)));
                D::Union(unified.collect::<Result<_>>()?, *mode)
            }
            (D::Dictionary(first_keys, first), D::Dictionary(other_keys, other)) => {
                let keys = common_integer(first_keys, other_keys).unwrap_or(D::Int64);
                D::Dictionary(Box::new(keys), Box::new(self.kind(first, other, name)?))
            }
            (D::Dictionary(_, values), other) => self.kind(values, other, name)?,
            (first, D::Dictionary(_, values)) => self.kind(first, values, name)?,
            (D::RunEndEncoded(_, values), other) => self.kind(values.data_type(), other, name)?,
            (first, D::RunEndEncoded(_, values)) => self.kind(first, values.data_type(), name)?,
            (first, other) => match (item_of(first), item_of(other)) {
                (Some(item), Some(other_item)) => {
                    let item = self.field(item, other_item, &below("element"))?;
                    list_of(first, other, item)
                }
                _ => common_leaf(first, other).ok_or_else(|| mismatch(name, first, other))?,
            },
        })
    }
}

/// Whether two types are the same but for units of timestamps and zones of instants.
fn differ_in_units(first: &DataType, other: &DataType) -> bool {
    use DataType as D;
    let fields = |(first, other): (&FieldRef, &FieldRef)| {
        first.name() == other.name() && differ_in_units(first.data_type(), other.data_type())
    };
    match (first, other) {
        (D::Timestamp(_, zone), D::Timestamp(_, other_zone)) => zone.is_some() == other_zone.is_some(),
        (D::Struct(first), D::Struct(other)) => first.len() == other.len() && first.iter().zip(other).all(fields),
        (D::Map(first, _), D::Map(other, _)) => fields((first, other)),
        (D::Union(first, mode), D::Union(other, other_mode)) => {
            let mut both = first.iter().zip(other.iter());
            let is_same = |((id, first), (other_id, other))| id == other_id && fields((first, other));
            mode == other_mode && first.len() == other.len() && both.all(is_same)
        }
        (first, other) => match (item_of(first), item_of(other)) {
            (Some(item), Some(other_item)) => {
                with_item(first, other_item.clone()) == *other && fields((item, other_item))
            }
            _ => first == other,
        },
    }
}

/// The type of the list that holds the lists of two types.
fn list_of(first: &DataType, other: &DataType, item: FieldRef) -> DataType {
    use DataType as D;
    let is_large = |kind: &D| matches!(kind, D::LargeList(_) | D::LargeListView(_));
    let is_view = |kind: &D| matches!(kind, D::ListView(_) | D::LargeListView(_));
    match (first, other) {
        (D::FixedSizeList(_, length), D::FixedSizeList(_, other)) if length == other => D::FixedSizeList(item, *length),
        (first, other) => match (is_large(first) || is_large(other), is_view(first) && is_view(other)) {
            (true, true) => D::LargeListView(item),
            (true, false) => D::LargeList(item),
            (false, true) => D::ListView(item),
            (false, false) => D::List(item),
        },
    }
}

/// The type of instants that holds a local timestamp and an instant; `None` for other fields.
fn instant(first: &Field, other: &Field) -> Option<DataType> {
    match (first.data_type(), other.data_type()) {
        (DataType::Timestamp(unit, None), DataType::Timestamp(other_unit, Some(zone))) if !is_spark_ntz(first) => {
            Some(DataType::Timestamp(finer_unit(*unit, *other_unit), Some(zone.clone())))
        }
        (DataType::Timestamp(unit, Some(zone)), DataType::Timestamp(other_unit, None)) if !is_spark_ntz(other) => {
            Some(DataType::Timestamp(finer_unit(*unit, *other_unit), Some(zone.clone())))
        }
        _ => None,
    }
}

fn mismatch(name: &str, first: &DataType, other: &DataType) -> Error {
    let is_exact = |kind: &DataType| kind.is_integer() || kind.is_decimal();
    let rounds = (is_exact(first) && other.is_floating()) || (is_exact(other) && first.is_floating());
    let reason =
        if rounds { ", a floating point number, which does not hold it" } else { ", which have no common type" };
    let (first, other) = if rounds && first.is_floating() { (other, first) } else { (first, other) };
    Error::unsupported(format!("column {name} is {} and {}{reason}", TypeName(first), TypeName(other)))
}
