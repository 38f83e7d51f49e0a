//! Families of Arrow types.

use std::sync::Arc;

use arrow_schema::{DataType, Field, FieldRef, Fields, Metadata, TimeUnit};

/// Whether values are strings of variable length.
pub fn is_text(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View)
}

/// Whether values are binary of variable length.
pub fn is_binary(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Binary | DataType::LargeBinary | DataType::BinaryView)
}

/// The type of the values of dictionary and run-end encoded arrays; other types unchanged.
pub fn value_type(data_type: &DataType) -> &DataType {
    match data_type {
        DataType::Dictionary(_, values) => value_type(values),
        DataType::RunEndEncoded(_, values) => value_type(values.data_type()),
        data_type => data_type,
    }
}

/// The type of the same values without dictionaries and run ends, at any depth.
pub fn decoded_type(data_type: &DataType) -> DataType {
    let decoded = |field: &FieldRef| Arc::new(with_type(field, decoded_type(field.data_type())));
    match value_type(data_type) {
        DataType::Struct(fields) => DataType::Struct(fields.iter().map(decoded).collect()),
        DataType::Map(entries, is_sorted) => DataType::Map(decoded(entries), *is_sorted),
        DataType::Union(variants, mode) => {
            DataType::Union(variants.iter().map(|(id, variant)| (id, decoded(variant))).collect(), *mode)
        }
        other => item_of(other).map_or_else(|| other.clone(), |item| with_item(other, decoded(item))),
    }
}

/// Whether all values of a type are null: `null`, plain or encoded.
pub fn is_null_type(data_type: &DataType) -> bool {
    *value_type(data_type) == DataType::Null
}

/// The element of a list type; `None` for other types.
pub fn item_of(data_type: &DataType) -> Option<&FieldRef> {
    match data_type {
        DataType::List(item)
        | DataType::LargeList(item)
        | DataType::ListView(item)
        | DataType::LargeListView(item)
        | DataType::FixedSizeList(item, _) => Some(item),
        _ => None,
    }
}

/// The fields directly below a type: those of a struct, the variants of a union, the element of a list, the entries of a map.
pub fn child_fields(data_type: &DataType) -> Vec<&FieldRef> {
    match data_type {
        DataType::Struct(fields) => fields.iter().collect(),
        DataType::Union(variants, _) => variants.iter().map(|(_, variant)| variant).collect(),
        DataType::Map(entries, _) => vec![entries],
        list => item_of(list).into_iter().collect(),
    }
}

/// The key and the value of a map type; `None` for other types, and for entries of other than two fields.
pub fn entries_of(data_type: &DataType) -> Option<(&FieldRef, &FieldRef)> {
    let DataType::Map(entries, _) = data_type else { return None };
    match entries.data_type() {
        DataType::Struct(fields) => match &fields[..] {
            [key, value] => Some((key, value)),
            _ => None,
        },
        _ => None,
    }
}

/// The list type with another element.
pub fn with_item(data_type: &DataType, item: FieldRef) -> DataType {
    match data_type {
        DataType::LargeList(_) => DataType::LargeList(item),
        DataType::ListView(_) => DataType::ListView(item),
        DataType::LargeListView(_) => DataType::LargeListView(item),
        DataType::FixedSizeList(_, length) => DataType::FixedSizeList(item, *length),
        _ => DataType::List(item),
    }
}

/// Key of the attribute of a type, or of the field metadata, where Spark records its type.
pub const SPARK_TYPE: &str = "spark.sql.catalyst.type";

/// Spark's type of local timestamps, which it stores as integers.
pub const SPARK_NTZ: &str = "timestamp_ntz";

/// Whether a field has local timestamps of Spark's type `timestamp_ntz`.
pub fn is_spark_ntz(field: &Field) -> bool {
    matches!(field.data_type(), DataType::Timestamp(_, None))
        && field.metadata().get(SPARK_TYPE).is_some_and(|name| name == SPARK_NTZ)
}

/// Key of the field metadata that names the type of a column in a file, where several types have one Arrow type.
pub const TYPE_KEY: &str = "orc.type";

/// The type `char(n)` or `varchar(n)` that the metadata of a field name; `None` for other fields.
pub fn limited_text(field: &Field) -> Option<&str> {
    let name = field.metadata().get(TYPE_KEY)?;
    (name.starts_with("char(") || name.starts_with("varchar(")).then_some(name)
}

/// The field without a type `char(n)` or `varchar(n)` in its metadata.
#[must_use]
pub fn unlimited_text(mut field: Field) -> Field {
    if limited_text(&field).is_some() {
        field.metadata_mut().remove(TYPE_KEY);
    }
    field
}

/// Prefix of the metadata keys of extension types.
const EXTENSION: &str = "ARROW:extension:";

/// Whether a metadata key of a field belongs to its extension type.
pub fn is_extension_key(key: &str) -> bool {
    key.starts_with(EXTENSION)
}

/// The field with another type. The extension type of a field is removed if the type changes: it has one storage type.
pub fn with_type(field: &Field, data_type: DataType) -> Field {
    let mut field = field.clone();
    if *field.data_type() != data_type {
        field.metadata_mut().retain(|key, _| !is_extension_key(key));
    }
    field.with_data_type(data_type)
}

/// The fields with other fields at all levels. `change` takes each field, whose children have been changed before, and its
/// dotted name: names of fields of structs, `element` of lists, `key` and `value` of maps, and `field` with a number of unions.
/// Values of dictionaries and run ends are no fields of their own, but the fields below them are. The storage of extension types
/// stays as it is.
pub fn map_fields(fields: &Fields, change: &mut dyn FnMut(FieldRef, &str) -> FieldRef) -> Fields {
    fields.iter().map(|field| mapped_field(field, field.name(), change)).collect()
}

fn mapped_field(field: &FieldRef, path: &str, change: &mut dyn FnMut(FieldRef, &str) -> FieldRef) -> FieldRef {
    if field.metadata().keys().any(|key| is_extension_key(key)) {
        return change(field.clone(), path);
    }
    let mapped = with_own_type(field, mapped_type(field.data_type(), path, change));
    change(mapped, path)
}

fn mapped_type(data_type: &DataType, path: &str, change: &mut dyn FnMut(FieldRef, &str) -> FieldRef) -> DataType {
    let mut below = |child: &FieldRef, step: &str| mapped_field(child, &format!("{path}.{step}"), change);
    match data_type {
        DataType::Struct(fields) => DataType::Struct(fields.iter().map(|child| below(child, child.name())).collect()),
        DataType::Map(entries, is_sorted) => match entries.data_type() {
            DataType::Struct(pair) => {
                let pair = pair.iter().zip(["key", "value"]).map(|(child, step)| below(child, step)).collect();
                DataType::Map(with_own_type(entries, DataType::Struct(pair)), *is_sorted)
            }
            _ => data_type.clone(),
        },
        DataType::Union(variants, mode) => {
            let numbered = variants.iter().enumerate();
            let variants = numbered.map(|(at, (id, variant))| (id, below(variant, &format!("field{at}"))));
            DataType::Union(variants.collect(), *mode)
        }
        DataType::Dictionary(keys, values) => {
            DataType::Dictionary(keys.clone(), Box::new(mapped_type(values, path, change)))
        }
        DataType::RunEndEncoded(ends, values) => {
            let mapped = mapped_type(values.data_type(), path, change);
            DataType::RunEndEncoded(ends.clone(), with_own_type(values, mapped))
        }
        list => item_of(list).map_or_else(|| list.clone(), |item| with_item(list, below(item, "element"))),
    }
}

/// The field with a type whose own fields have changed.
fn with_own_type(field: &FieldRef, data_type: DataType) -> FieldRef {
    let is_same = data_type == *field.data_type();
    if is_same { field.clone() } else { Arc::new(field.as_ref().clone().with_data_type(data_type)) }
}

/// A field of type `null` with the type and the metadata of another field. Attributes that it has itself stay.
pub fn typed_null(null: &Field, typed: &Field) -> Field {
    let attributes = null.metadata().iter().filter(|(key, _)| !is_extension_key(key));
    let metadata: Metadata =
        typed.metadata().iter().chain(attributes).map(|(key, value)| (key.clone(), value.clone())).collect();
    let is_nullable = null.is_nullable() || typed.is_nullable();
    Field::new(null.name(), typed.data_type().clone(), is_nullable).with_metadata(metadata)
}

/// Nanoseconds of a day.
pub const NANOSECONDS_OF_DAY: i64 = 86_400 * 1_000_000_000;

/// Nanoseconds of a time unit.
pub fn nanoseconds(unit: TimeUnit) -> i64 {
    match unit {
        TimeUnit::Second => 1_000_000_000,
        TimeUnit::Millisecond => 1_000_000,
        TimeUnit::Microsecond => 1_000,
        TimeUnit::Nanosecond => 1,
    }
}

/// The finer one of two units.
pub fn finer_unit(first: TimeUnit, other: TimeUnit) -> TimeUnit {
    if nanoseconds(first) < nanoseconds(other) { first } else { other }
}

/// Precision and scale of a decimal type; `None` for other types.
pub fn precision_and_scale(data_type: &DataType) -> Option<(u8, i8)> {
    match data_type {
        DataType::Decimal32(precision, scale)
        | DataType::Decimal64(precision, scale)
        | DataType::Decimal128(precision, scale)
        | DataType::Decimal256(precision, scale) => Some((*precision, *scale)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_at_all_levels_have_dotted_names() {
        let field = |name: &str, kind| Arc::new(Field::new(name, kind, true));
        let point = DataType::Struct(vec![field("x", DataType::Int8)].into());
        let pair = DataType::Struct(vec![field("k", DataType::Utf8), field("v", point.clone())].into());
        let variants = [(3, field("a", DataType::Int8)), (5, field("b", point.clone()))].into_iter().collect();
        let fields: Fields = vec![
            field("list", DataType::List(field("item", point.clone()))),
            field("map", DataType::Map(field("entries", pair), false)),
            field("union", DataType::Union(variants, arrow_schema::UnionMode::Dense)),
            field("codes", DataType::Dictionary(Box::new(DataType::Int8), Box::new(DataType::Utf8))),
            field("points", DataType::Dictionary(Box::new(DataType::Int8), Box::new(point.clone()))),
            field("runs", DataType::RunEndEncoded(field("run_ends", DataType::Int32), field("values", point))),
        ]
        .into();
        let mut paths = Vec::new();
        let same = map_fields(&fields, &mut |field, path| {
            paths.push(path.to_owned());
            field
        });
        assert_eq!(same, fields);
        let expected = [
            "list.element.x",
            "list.element",
            "list",
            "map.key",
            "map.value.x",
            "map.value",
            "map",
            "union.field0",
            "union.field1.x",
            "union.field1",
            "union",
            "codes",
            "points.x",
            "points",
            "runs.x",
            "runs",
        ];
        assert_eq!(paths, expected);
        let wide = map_fields(&fields, &mut |field, path| match path.ends_with(".x") {
            true => Arc::new(with_type(&field, DataType::Int64)),
            false => field,
        });
        let text = format!("{fields:?}");
        assert_eq!(format!("{wide:?}"), text.replace("\"x\", data_type: Int8", "\"x\", data_type: Int64"));
        assert_ne!(format!("{wide:?}"), text);
    }

    #[test]
    fn storage_of_extension_types_stays() {
        let point = DataType::Struct(vec![Arc::new(Field::new("x", DataType::Int8, true))].into());
        let metadata = std::collections::HashMap::from([("ARROW:extension:name".to_owned(), "point".to_owned())]);
        let fields: Fields = vec![Arc::new(Field::new("p", point, true).with_metadata(metadata))].into();
        let mut paths = Vec::new();
        map_fields(&fields, &mut |field, path| {
            paths.push(path.to_owned());
            field
        });
        assert_eq!(paths, ["p"]);
    }
}
