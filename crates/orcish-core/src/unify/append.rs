//! Rows that are appended to a table.

use std::collections::HashSet;
use std::sync::Arc;

use arrow_schema::{DataType, Field, FieldRef, Fields, Metadata, Schema};

use super::leaf::{common_leaf, plain};
use crate::error::{Error, Result};
use crate::type_names::TypeName;
use crate::types::{
    entries_of, is_extension_key, is_null_type, is_spark_ntz, item_of, typed_null, value_type, with_item, with_type,
};

/// What the end of a message says can be done about rows whose type a table does not hold.
pub const CAST_ADVICE: &str = ": cast the rows to the type of the table";

/// The schema with which rows are appended to a table: that of the rows, with types of the table for columns of narrower
/// types, and with the metadata of its fields, such as attributes and types in files. Files of this schema and files of the
/// table can be read together, whichever of them comes first.
///
/// `null` is narrower than all other types, in the rows and in the table: the table takes the type of the rows where its own
/// is `null`. Columns that only the table or only the rows have are allowed. Representations of the same values, such as dictionaries
/// and views, are equal types.
///
/// `has_schema` is whether the files of the table have an Arrow schema. Without it, each reader chooses the unit of
/// timestamps, and whether they are instants. With it, appended timestamps have the unit of the table.
///
/// # Errors
/// `InvalidArgument` if names are equal, or differ only by case where the table does not have both of them; or if a type of the
/// table does not hold the values of the rows.
///
/// ```
/// use arrow_schema::{DataType, Field, Schema};
/// use orcish_core::unify::appended_schema;
///
/// let table = Schema::new(vec![Field::new("id", DataType::Int64, false)]);
/// let rows = |kind| Schema::new(vec![Field::new("id", kind, true)]);
/// assert_eq!(appended_schema(&table, &rows(DataType::Int32), true)?, rows(DataType::Int64));
/// assert!(appended_schema(&table, &rows(DataType::Utf8), true).is_err());
/// # Ok::<_, orcish_core::Error>(())
/// ```
pub fn appended_schema(table: &Schema, rows: &Schema, has_schema: bool) -> Result<Schema> {
    let fields = fields(table.fields(), rows.fields(), "", has_schema)?;
    Ok(Schema::new_with_metadata(fields, rows.metadata().clone()))
}

/// The schema of a table after rows have been appended with a schema from [`appended_schema`]: the columns of the table with
/// their types, and after them the columns that only the rows have. Columns of type `null` have the types of the rows. The
/// same holds for the fields of structs.
///
/// ```
/// use arrow_schema::{DataType, Field, Schema};
/// use orcish_core::unify::extended_schema;
///
/// let field = |name, kind| Field::new(name, kind, true);
/// let table = Schema::new(vec![field("id", DataType::Int64)]);
/// let rows = Schema::new(vec![field("name", DataType::Utf8), field("id", DataType::Int64)]);
/// let both = Schema::new(vec![field("id", DataType::Int64), field("name", DataType::Utf8)]);
/// assert_eq!(extended_schema(&table, &rows), both);
/// ```
pub fn extended_schema(table: &Schema, rows: &Schema) -> Schema {
    Schema::new_with_metadata(extended_fields(table.fields(), rows.fields()), table.metadata().clone())
}

fn extended_fields(table: &Fields, rows: &Fields) -> Fields {
    let extended = table.iter().map(|table_field| match rows.iter().find(|field| field.name() == table_field.name()) {
        Some(field) => extended_field(table_field, field),
        None => table_field.clone(),
    });
    let is_new = |field: &&FieldRef| table.iter().all(|table_field| table_field.name() != field.name());
    extended.chain(rows.iter().filter(is_new).cloned()).collect()
}

fn extended_field(table: &FieldRef, rows: &FieldRef) -> FieldRef {
    if is_null_type(table.data_type()) && !is_null_type(rows.data_type()) {
        return Arc::new(typed_null(table, rows));
    }
    let kind = extended_type(table.data_type(), value_type(rows.data_type()));
    if kind == *table.data_type() { table.clone() } else { Arc::new(with_type(table, kind)) }
}

fn extended_type(table: &DataType, rows: &DataType) -> DataType {
    match (table, rows) {
        (DataType::Struct(table_fields), DataType::Struct(row_fields)) => {
            DataType::Struct(extended_fields(table_fields, row_fields))
        }
        (DataType::Map(entries, is_sorted), DataType::Map(row_entries, _)) => {
            let (DataType::Struct(table_pair), DataType::Struct(row_pair)) =
                (entries.data_type(), row_entries.data_type())
            else {
                return table.clone();
            };
            // The names of keys and values need not be equal.
            let pair = table_pair
                .iter()
                .zip(row_pair)
                .map(|(table_field, field)| extended_field(table_field, field))
                .collect();
            DataType::Map(Arc::new(with_type(entries, DataType::Struct(pair))), *is_sorted)
        }
        (list, row_list) => match (item_of(list), item_of(row_list)) {
            (Some(item), Some(row_item)) => with_item(list, extended_field(item, row_item)),
            _ => table.clone(),
        },
    }
}

fn fields(table: &Fields, rows: &Fields, prefix: &str, has_schema: bool) -> Result<Fields> {
    // Names of the table may differ only by case from its beginning.
    let is_own = |name: &str| table.iter().any(|table_field| table_field.name() == name);
    let (mut names, mut lower_names) = (HashSet::new(), HashSet::new());
    let mut is_new =
        |name: &str| names.insert(name.to_owned()) && (lower_names.insert(name.to_lowercase()) || is_own(name));
    if let Some(field) = rows.iter().find(|field| !is_new(field.name())) {
        return Err(Error::invalid(format!(
            "several columns of the rows have the name {prefix}{}, without regard to case",
            field.name()
        )));
    }
    let appended = rows.iter().map(|field| {
        let name = format!("{prefix}{}", field.name());
        if let Some(table_field) = table.iter().find(|table_field| table_field.name() == field.name()) {
            return appended_field(table_field, field, &name, has_schema);
        }
        let lower = field.name().to_lowercase();
        match table.iter().find(|table_field| table_field.name().to_lowercase() == lower) {
            Some(table_field) => Err(Error::invalid(format!(
                "column {name} of the rows and column {prefix}{} of the table differ only by case: rename the column of the rows",
                table_field.name()
            ))),
            None => Ok(field.clone()),
        }
    });
    appended.collect()
}

fn appended_field(table: &Field, rows: &FieldRef, name: &str, has_schema: bool) -> Result<FieldRef> {
    // Spark stores local timestamps of this type as integers, which no reader takes for instants.
    let kind = appended_type(table.data_type(), rows.data_type(), name, has_schema || is_spark_ntz(table))?;
    if is_null_type(table.data_type()) {
        return Ok(Arc::new(typed_null(table, rows).with_nullable(rows.is_nullable())));
    }
    let field = with_type(rows, kind);
    // The type in files, such as char(5), and attributes are those of the table.
    let extension = field.metadata().iter().filter(|(key, _)| is_extension_key(key));
    let others = table.metadata().iter().filter(|(key, _)| !is_extension_key(key));
    let metadata: Metadata = extension.chain(others).map(|(key, value)| (key.clone(), value.clone())).collect();
    Ok(Arc::new(field.with_metadata(metadata)))
}

fn appended_type(table: &DataType, rows: &DataType, name: &str, has_schema: bool) -> Result<DataType> {
    use DataType as D;
    let below = |step: &str| format!("{name}.{step}");
    let (plain_table, plain_rows) = (value_type(table), value_type(rows));
    match (plain_table, plain_rows) {
        (D::Null, _) => Ok(rows.clone()),
        (_, D::Null) => Ok(plain_table.clone()),
        (D::Struct(table_fields), D::Struct(row_fields)) => {
            let appended = fields(table_fields, row_fields, &format!("{name}."), has_schema)?;
            Ok(if appended == *row_fields { rows.clone() } else { D::Struct(appended) })
        }
        (D::Map(entries, _), D::Map(row_entries, is_sorted)) => {
            let (D::Struct(table_pair), D::Struct(row_pair)) = (entries.data_type(), row_entries.data_type()) else {
                return Err(mismatch(name, table, rows));
            };
            let steps = ["key", "value"].map(below);
            let pairs = table_pair.iter().zip(row_pair).zip(&steps);
            let appended =
                pairs.map(|((table_field, field), step)| appended_field(table_field, field, step, has_schema));
            let appended: Fields = appended.collect::<Result<_>>()?;
            let is_same = appended == *row_pair;
            let changed = || D::Map(Arc::new(with_type(row_entries, D::Struct(appended))), *is_sorted);
            Ok(if is_same { rows.clone() } else { changed() })
        }
        // Sparse and dense unions are the same in a file.
        (D::Union(table_variants, _), D::Union(row_variants, _)) => {
            let is_same = |((_, table_field), (_, field)): ((_, &FieldRef), (_, &FieldRef))| {
                has_same_fields(table_field.data_type(), field.data_type())
                    && appended_type(table_field.data_type(), field.data_type(), name, has_schema)
                        .is_ok_and(|kind| kind == *field.data_type())
            };
            if table_variants.len() == row_variants.len() && table_variants.iter().zip(row_variants.iter()).all(is_same)
            {
                return Ok(rows.clone());
            }
            Err(mismatch(name, table, rows))
        }
        (D::FixedSizeList(_, length), other) if !matches!(other, D::FixedSizeList(_, size) if size == length) => {
            Err(mismatch(name, table, rows))
        }
        (list, row_list) => match (item_of(list), item_of(row_list)) {
            (Some(item), Some(row_item)) => {
                let appended = appended_field(item, row_item, &below("element"), has_schema)?;
                Ok(if appended == *row_item { rows.clone() } else { with_item(row_list, appended) })
            }
            _ => appended_leaf(plain_table, plain_rows, has_schema)
                .map(|kind| kind.unwrap_or_else(|| rows.clone()))
                .ok_or_else(|| mismatch(name, table, rows)),
        },
    }
}

/// Whether two types have the same structs, and nulls in the same places: the variants of unions are read as they are in a
/// file.
fn has_same_fields(table: &DataType, rows: &DataType) -> bool {
    use DataType as D;
    let is_same =
        |(table_field, field): (&FieldRef, &FieldRef)| has_same_fields(table_field.data_type(), field.data_type());
    match (value_type(table), value_type(rows)) {
        (D::Null, other) | (other, D::Null) => *other == D::Null,
        (D::Struct(table_fields), D::Struct(row_fields)) => {
            table_fields.len() == row_fields.len()
                && table_fields
                    .iter()
                    .zip(row_fields)
                    .all(|(table_field, field)| table_field.name() == field.name() && is_same((table_field, field)))
        }
        (D::Map(_, _), D::Map(_, _)) => entries_of(value_type(table))
            .zip(entries_of(value_type(rows)))
            .is_some_and(|((key, value), (other_key, other))| is_same((key, other_key)) && is_same((value, other))),
        (list, row_list) => item_of(list).zip(item_of(row_list)).is_none_or(is_same),
    }
}

/// The type as which values are appended, `Some(None)` for that of the rows; `None` if the table does not hold them.
fn appended_leaf(table: &DataType, rows: &DataType, has_schema: bool) -> Option<Option<DataType>> {
    use DataType as D;
    match (table, rows) {
        (table, rows) if plain(table) == plain(rows) => Some(None),
        // Instants and wall clock times are no values of each other, and zones of instants do not matter.
        (D::Timestamp(unit, zone), D::Timestamp(_, own_zone))
            if zone.is_some() == own_zone.is_some() || (zone.is_none() && !has_schema) =>
        {
            Some(has_schema.then(|| D::Timestamp(*unit, own_zone.clone())))
        }
        (table, rows) => {
            let common = common_leaf(table, rows)?;
            (plain(&common) == plain(table)).then(|| Some(table.clone()))
        }
    }
}

fn mismatch(name: &str, table: &DataType, rows: &DataType) -> Error {
    Error::invalid(format!(
        "column {name} of the rows is {}, and {} in the table, which does not hold it{CAST_ADVICE}",
        TypeName(rows),
        TypeName(table)
    ))
}
