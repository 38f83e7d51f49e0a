use arrow_schema::TimeUnit;

use super::*;
use crate::error::ErrorKind;
use crate::types::SPARK_TYPE;

fn schema(fields: &[(&str, DataType)]) -> Schema {
    Schema::new(fields.iter().map(|(name, kind)| Field::new(*name, kind.clone(), true)).collect::<Vec<_>>())
}

fn common(first: &DataType, other: &DataType) -> Option<DataType> {
    let unified = unify_schemas(&schema(&[("x", first.clone())]), &schema(&[("x", other.clone())]), true);
    unified.ok().map(|schema| schema.field(0).data_type().clone())
}

#[test]
fn common_types() {
    use DataType as D;
    let structs = |names: &[&str]| D::Struct(names.iter().map(|name| Field::new(*name, D::Int8, true)).collect());
    let list = |kind: D| D::new_list(kind, true);
    let instants = |unit, zone: &str| D::Timestamp(unit, Some(zone.into()));
    let union = |kind: D| {
        let fields = [("a", D::Int8), ("b", list(kind))];
        let fields = fields.map(|(name, kind)| Arc::new(Field::new(name, kind, true)));
        D::Union((0..).zip(fields).collect(), arrow_schema::UnionMode::Dense)
    };
    for (first, other, expected) in [
        (D::Int8, D::UInt8, Some(D::Int16)),
        (D::UInt32, D::Int64, Some(D::Int64)),
        (D::UInt64, D::Int8, Some(D::Decimal128(20, 0))),
        (D::Int64, D::Float64, None),
        (D::UInt64, D::Float32, None),
        (D::Int32, D::Float64, Some(D::Float64)),
        (D::UInt32, D::Float16, Some(D::Float64)),
        (D::Int16, D::Float16, Some(D::Float32)),
        (D::Int8, D::Float16, Some(D::Float16)),
        (D::Int32, D::Float32, Some(D::Float64)),
        (D::Decimal128(5, 2), D::Float32, None),
        (D::Decimal128(15, 0), D::Float32, Some(D::Float64)),
        (D::Decimal64(16, 0), D::Float64, None),
        (D::Decimal32(5, -2), D::Float32, Some(D::Float32)),
        (D::Int64, D::Utf8, None),
        (D::Boolean, D::Int8, None),
        (D::Float16, D::Float64, Some(D::Float64)),
        (D::Int64, D::Decimal128(5, 4), Some(D::Decimal128(23, 4))),
        (D::Decimal128(38, 0), D::Decimal128(10, 2), Some(D::Decimal256(40, 2))),
        (D::Decimal256(76, 0), D::Decimal128(10, 2), None),
        (D::Decimal128(3, -2), D::Int8, Some(D::Decimal128(5, 0))),
        (D::Date32, D::Date64, Some(D::Date64)),
        (D::Time32(TimeUnit::Second), D::Time64(TimeUnit::Microsecond), Some(D::Time64(TimeUnit::Microsecond))),
        (
            instants(TimeUnit::Second, "Asia/Tokyo"),
            instants(TimeUnit::Millisecond, "UTC"),
            Some(instants(TimeUnit::Millisecond, "UTC")),
        ),
        (
            union(instants(TimeUnit::Microsecond, "UTC")),
            union(instants(TimeUnit::Nanosecond, "UTC")),
            Some(union(instants(TimeUnit::Nanosecond, "UTC"))),
        ),
        (union(D::Int8), union(D::Int16), None),
        (D::Utf8, D::LargeBinary, Some(D::LargeBinary)),
        (D::Utf8View, D::Utf8, Some(D::Utf8View)),
        (D::FixedSizeBinary(2), D::FixedSizeBinary(3), Some(D::Binary)),
        (D::Null, structs(&["a"]), Some(structs(&["a"]))),
        (structs(&["a"]), structs(&["b", "a"]), Some(structs(&["a", "b"]))),
        (list(D::Int32), list(D::Int64), Some(list(D::Int64))),
        (list(D::Int32), D::Int32, None),
        (
            D::Dictionary(Box::new(D::Int8), Box::new(D::Utf8)),
            D::Dictionary(Box::new(D::UInt16), Box::new(D::LargeUtf8)),
            Some(D::Dictionary(Box::new(D::Int32), Box::new(D::LargeUtf8))),
        ),
        (D::Dictionary(Box::new(D::Int8), Box::new(D::Utf8)), D::Utf8, Some(D::Utf8)),
    ] {
        assert_eq!(common(&first, &other), expected, "{first} and {other}");
        let backwards = common(&other, &first);
        assert_eq!(backwards.is_some(), expected.is_some(), "{other} and {first}");
        if !first.is_nested() {
            assert_eq!(backwards, expected, "{other} and {first}");
        }
    }
}

#[test]
fn instants_and_local_timestamps() {
    let local = Field::new("t", DataType::Timestamp(TimeUnit::Millisecond, None), true);
    let instant = Field::new("t", DataType::Timestamp(TimeUnit::Nanosecond, Some("UTC".into())), true);
    let ntz = local.clone().with_metadata([(SPARK_TYPE.to_owned(), "timestamp_ntz".to_owned())]);
    for (first, other, is_unified) in
        [(&local, &instant, true), (&instant, &local, true), (&ntz, &instant, false), (&instant, &ntz, false)]
    {
        let unified = unify_schemas(&Schema::new(vec![first.clone()]), &Schema::new(vec![other.clone()]), true);
        assert_eq!(
            unified.ok().map(|schema| schema.field(0).data_type() == instant.data_type()),
            is_unified.then_some(true)
        );
    }
}

#[test]
fn names_nulls_and_metadata() {
    let first = Schema::new_with_metadata(
        vec![Field::new("id", DataType::Int32, false), Field::new("only", DataType::Int8, false)],
        [("k".to_owned(), "first".to_owned())],
    );
    let other = Schema::new(vec![Field::new("ID", DataType::Int64, false), Field::new("new", DataType::Int8, false)]);
    let unified = unify_schemas(&first, &other, false).unwrap();
    let fields: Vec<_> = unified.fields().iter().map(|field| (field.name().as_str(), field.is_nullable())).collect();
    assert_eq!(fields, [("id", false), ("only", true), ("new", true)]);
    assert_eq!(unified.metadata().get("k").map(String::as_str), Some("first"));
    assert_eq!(unify_schemas(&first, &other, true).unwrap().fields().len(), 4);

    let both = schema(&[("a", DataType::Int8), ("A", DataType::Int8)]);
    let error = unify_schemas(&schema(&[("a", DataType::Int8)]), &both, false).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    assert!(error.to_string().contains("several columns could be \"A\""), "{error}");
    assert_eq!(unify_schemas(&both, &both, false).unwrap(), both);
}

#[test]
fn extension_types_are_kept_if_they_are_the_same() {
    let metadata = [("ARROW:extension:name".to_owned(), "arrow.uuid".to_owned())];
    let plain = Field::new("x", DataType::FixedSizeBinary(16), true);
    let uuid = plain.clone().with_metadata(metadata);
    let unify = |first: &Field, other: &Field| {
        let schema = unify_schemas(&Schema::new(vec![first.clone()]), &Schema::new(vec![other.clone()]), true).unwrap();
        schema.field(0).metadata().len()
    };
    let required = uuid.clone().with_nullable(false);
    assert_eq!((unify(&uuid, &required), unify(&uuid, &plain), unify(&plain, &uuid)), (1, 0, 0));
}

#[test]
fn errors_name_the_column() {
    let list = |kind| DataType::new_list(DataType::Struct(vec![Field::new("b", kind, true)].into()), true);
    let one = schema(&[("a", list(DataType::Float32))]);
    let error = unify_schemas(&one, &schema(&[("a", list(DataType::Int64))]), true).unwrap_err();
    let expected = "column a.element.b is int64 and float, a floating point number, which does not hold it";
    assert!(error.to_string().contains(expected), "{error}");
}

#[test]
fn appended_rows_have_types_of_the_table() {
    let appended = |table: DataType, rows: DataType, has_schema| {
        let found = appended_schema(&schema(&[("x", table)]), &schema(&[("x", rows)]), has_schema);
        found.map(|schema| schema.field(0).data_type().clone()).map_err(|error| error.message().to_owned())
    };
    let zone = |name: &str| Some(name.into());
    let dictionary = || DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8));
    let list = |kind| DataType::List(Arc::new(Field::new("item", kind, true)));
    let row = |fields: &[(&str, DataType)]| {
        DataType::Struct(fields.iter().map(|(name, kind)| Field::new(*name, kind.clone(), true)).collect())
    };
    let fixed = |length| DataType::FixedSizeList(Arc::new(Field::new("item", DataType::Int32, true)), length);
    let variants = |kinds: &[DataType]| {
        let fields = kinds.iter().enumerate().map(|(at, kind)| Field::new(format!("{at}"), kind.clone(), true));
        DataType::Union(arrow_schema::UnionFields::from_fields(fields), arrow_schema::UnionMode::Sparse)
    };
    let stamp = |unit, zone| DataType::Timestamp(unit, zone);
    use TimeUnit::{Microsecond as Us, Nanosecond as Ns};
    for (table, rows, expected) in [
        (DataType::Int64, DataType::Int32, DataType::Int64),
        (DataType::Int16, DataType::UInt8, DataType::Int16),
        (DataType::Float64, DataType::Float32, DataType::Float64),
        (DataType::Float64, DataType::Int32, DataType::Float64),
        (DataType::Decimal128(10, 2), DataType::Decimal128(5, 2), DataType::Decimal128(10, 2)),
        (DataType::Decimal64(10, 2), DataType::Decimal128(10, 2), DataType::Decimal128(10, 2)),
        (DataType::Binary, DataType::Utf8, DataType::Binary),
        (DataType::Utf8, dictionary(), dictionary()),
        (dictionary(), DataType::Utf8View, DataType::Utf8View),
        (DataType::LargeUtf8, DataType::Utf8, DataType::Utf8),
        (DataType::Utf8, DataType::Null, DataType::Utf8),
        (DataType::Null, DataType::Int64, DataType::Int64),
        (DataType::Null, DataType::Null, DataType::Null),
        (fixed(2), DataType::Null, fixed(2)),
        (list(DataType::Null), list(DataType::Int32), list(DataType::Int32)),
        (list(DataType::Int32), list(DataType::Null), list(DataType::Int32)),
        (stamp(Us, None), stamp(Ns, None), stamp(Us, None)),
        (stamp(Us, zone("UTC")), stamp(Us, zone("Asia/Tokyo")), stamp(Us, zone("Asia/Tokyo"))),
        (list(DataType::Int64), list(DataType::Int32), list(DataType::Int64)),
        (fixed(2), fixed(2), fixed(2)),
        (list(DataType::Int32), fixed(2), fixed(2)),
        (variants(&[DataType::Utf8]), variants(&[DataType::LargeUtf8]), variants(&[DataType::LargeUtf8])),
        (
            row(&[("a", DataType::Int64), ("b", DataType::Utf8)]),
            row(&[("c", DataType::Utf8), ("a", DataType::Int8)]),
            row(&[("c", DataType::Utf8), ("a", DataType::Int64)]),
        ),
    ] {
        assert_eq!(appended(table, rows, true), Ok(expected));
    }
    assert_eq!(appended(stamp(Ns, None), stamp(Us, None), false), Ok(stamp(Us, None)));
    assert_eq!(appended(stamp(Ns, None), stamp(Us, zone("UTC")), false), Ok(stamp(Us, zone("UTC"))));
    assert!(appended(stamp(Ns, zone("UTC")), stamp(Us, None), false).is_err());
    for (table, rows) in [
        (DataType::Int64, DataType::Utf8),
        (DataType::Utf8, DataType::Int64),
        (DataType::Int32, DataType::Int64),
        (DataType::UInt8, DataType::Int8),
        (DataType::Float64, DataType::Int64),
        (DataType::Float32, DataType::Int32),
        (DataType::Decimal128(5, 2), DataType::Decimal128(5, 3)),
        (DataType::Time64(Us), DataType::Int64),
        (stamp(Us, None), stamp(Us, zone("UTC"))),
        (stamp(Us, zone("UTC")), stamp(Us, None)),
        (list(DataType::Int32), list(DataType::Int64)),
        (list(DataType::Int32), DataType::Int32),
        (fixed(2), fixed(3)),
        (fixed(2), list(DataType::Int32)),
        (list(fixed(2)), list(fixed(1))),
        (variants(&[DataType::Int64, DataType::Utf8]), variants(&[DataType::Utf8, DataType::Int64])),
        (variants(&[DataType::Int64]), variants(&[DataType::Int64, DataType::Utf8])),
        (variants(&[DataType::Int64]), variants(&[DataType::Int32])),
        (row(&[("a", DataType::Int64)]), row(&[("a", DataType::Utf8)])),
    ] {
        let text = appended(table, rows, true).unwrap_err();
        assert!(text.starts_with("column x") && text.contains("which does not hold it"), "{text}");
    }
    for (table, rows, name) in [
        (schema(&[("id", DataType::Int64)]), schema(&[("ID", DataType::Int64)]), "column ID"),
        (
            schema(&[("s", row(&[("a", DataType::Int8)]))]),
            schema(&[("s", row(&[("A", DataType::Int8)]))]),
            "column s.A",
        ),
    ] {
        let error = appended_schema(&table, &rows, true).unwrap_err();
        assert!(error.message().starts_with(name) && error.message().contains("only by case"), "{error}");
    }
    for rows in [
        schema(&[("a", DataType::Int8), ("a", DataType::Int8)]),
        schema(&[("a", DataType::Int8), ("A", DataType::Int8)]),
    ] {
        let error = appended_schema(&schema(&[("b", DataType::Int8)]), &rows, true).unwrap_err();
        assert!(error.message().starts_with("several columns of the rows have the name"), "{error}");
    }
    let more = appended_schema(&schema(&[("a", DataType::Int8)]), &schema(&[("b", DataType::Utf8)]), true);
    assert_eq!(more.unwrap(), schema(&[("b", DataType::Utf8)]));
}

#[test]
fn appended_rows_are_stored_as_those_of_the_table() {
    let field = |kind: DataType, metadata: &[(&str, &str)]| {
        let pairs = metadata.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
        Field::new("x", kind, true).with_metadata(pairs.collect::<arrow_schema::Metadata>())
    };
    let appended = |table: &Field, rows: &Field, has_schema| {
        let found = appended_schema(&Schema::new(vec![table.clone()]), &Schema::new(vec![rows.clone()]), has_schema);
        found.map(|schema| schema.field(0).clone())
    };
    let char = field(DataType::Utf8, &[("orc.type", "char(5)"), ("iceberg.id", "1")]);
    let text = field(DataType::Utf8, &[("iceberg.id", "2"), ("other", "z")]);
    assert_eq!(appended(&char, &text, true).unwrap(), char);
    assert_eq!(appended(&text, &char, true).unwrap(), text);
    let item = |field: &Field| Field::new("l", DataType::List(Arc::new(field.clone())), true);
    assert_eq!(appended(&item(&char), &item(&text), true).unwrap(), item(&char));
    // Extension types are those of the rows.
    let bytes = field(DataType::FixedSizeBinary(16), &[]);
    let uuid = field(DataType::FixedSizeBinary(16), &[("ARROW:extension:name", "arrow.uuid")]);
    assert_eq!(appended(&bytes, &uuid, true).unwrap(), uuid);
    assert_eq!(appended(&uuid, &bytes, true).unwrap(), bytes);

    let micros = |zone: Option<&str>| DataType::Timestamp(TimeUnit::Microsecond, zone.map(Into::into));
    let ntz = field(micros(None), &[(SPARK_TYPE, "timestamp_ntz")]);
    let wall = field(micros(None), &[]);
    for has_schema in [false, true] {
        assert_eq!(appended(&ntz, &wall, has_schema).unwrap(), ntz);
        assert_eq!(appended(&wall, &ntz, has_schema).unwrap(), wall);
        assert!(appended(&ntz, &field(micros(Some("UTC")), &[]), has_schema).is_err());
    }
}

#[test]
fn nulls_take_types_with_their_metadata() {
    let field = |kind: DataType, metadata: &[(&str, &str)]| {
        let pairs = metadata.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
        Field::new("x", kind, true).with_metadata(pairs.collect::<arrow_schema::Metadata>())
    };
    let null = field(DataType::Null, &[("iceberg.id", "1"), ("ARROW:extension:name", "none")]);
    let typed = field(DataType::Utf8, &[("iceberg.id", "2"), ("orc.type", "char(5)"), ("ARROW:extension:name", "e")]);
    let both = field(DataType::Utf8, &[("iceberg.id", "1"), ("orc.type", "char(5)"), ("ARROW:extension:name", "e")]);
    let in_list = |field: &Field| Field::new("l", DataType::List(Arc::new(field.clone())), true);
    for wrap in [&(|field: &Field| field.clone()) as &dyn Fn(&Field) -> Field, &in_list] {
        let schema = |field: &Field| Schema::new(vec![wrap(field)]);
        assert_eq!(extended_schema(&schema(&null), &schema(&typed)), schema(&both));
        assert_eq!(extended_schema(&schema(&typed), &schema(&null)), schema(&typed));
        assert_eq!(appended_schema(&schema(&null), &schema(&typed), true).unwrap(), schema(&both));
        assert_eq!(unify_schemas(&schema(&null), &schema(&typed), true).unwrap(), schema(&both));
        assert_eq!(unify_schemas(&schema(&typed), &schema(&null), true).unwrap(), schema(&typed));
    }
    let required = Schema::new(vec![typed.clone().with_nullable(false)]);
    let nulls = Schema::new(vec![null]);
    assert!(extended_schema(&nulls, &required).field(0).is_nullable());
    assert!(!appended_schema(&nulls, &required, true).unwrap().field(0).is_nullable());
    assert!(unify_schemas(&required, &nulls, true).unwrap().field(0).is_nullable());
}

#[test]
fn texts_of_other_lengths_are_texts() {
    use crate::types::{TYPE_KEY, limited_text};
    let text = |kind: &str| {
        let field = Field::new("a", DataType::Utf8, true);
        if kind.is_empty() { field } else { field.with_metadata([(TYPE_KEY.to_owned(), kind.to_owned())]) }
    };
    let union = |first: &str, other: &str| {
        let union = unify_fields(&Arc::new(text(first)), &Arc::new(text(other)), "a", true).unwrap();
        limited_text(&union).map(ToOwned::to_owned)
    };
    let kinds = ["char(3)", "char(5)", "varchar(3)", ""];
    for first in kinds {
        for other in kinds {
            let expected = (first == other && !first.is_empty()).then(|| first.to_owned());
            assert_eq!(union(first, other), expected, "{first} and {other}");
        }
    }
}
