//! Logical types: the Arrow types that columns were written with.
//!
//! | logical type | ORC type | physical type |
//! |---|---|---|
//! | null | boolean | boolean |
//! | uint8, uint16, uint32, uint64 | smallint, int, bigint, decimal(20,0) | their like |
//! | float16 | float | float32 |
//! | text and bytes of any Arrow type | string, char, varchar, binary | themselves |
//! | fixed-size binary | binary | binary |
//! | date64 | date | date32 |
//! | times, durations | int, bigint | int32, int64, of Spark's attribute duration |
//! | interval of days or months and days | struct | struct |
//! | timestamps of any unit and zone | timestamp, with local time zone, Spark's bigint | in their unit, UTC |
//! | timestamps of any zone, field with `orc.type` | timestamp | instants, in UTC |
//! | decimals of any width, scales below zero | decimal | decimal128 |
//! | lists of any Arrow type | array | list |
//! | union of any type ids | uniontype | union of ids from 0 on |
//! | dictionary, run-end encoded | as their values | as their values, text as a dictionary |
//!
//! The stored schema is used if it is compatible with the types of the file as a whole: another tool may have rewritten the
//! file and copied the metadata. A value out of range is an error.

mod compatibility;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_schema::{DataType, Field, FieldRef, Fields, IntervalUnit, Schema, SchemaRef, TimeUnit};
use orcish_core::cast::fixed_width;
use orcish_core::error::Result;
use orcish_core::types::{is_binary, is_text, item_of, value_type, with_item, with_type};

use super::schema::{Mapping, SparkType, may_become_null, spark_type};
use super::stored::{ARROW_SCHEMA_KEY, decode};
use crate::options::{
    ColumnOptions, Columns, NullMapKeys, ReadOptions, StringType, TimestampUnit, Timestamps, UnionType,
};
use crate::projection::{Projected, Projection};
use crate::schema::{Kind, Schema as TypeTree, Type};
use crate::tail::FileTail;
use crate::tuning;

pub(crate) use compatibility::{DAYS, MONTHS, is_compatible};

/// Maximum number of Arrow fields for each column of the file: dictionaries and run ends have further fields.
const FIELDS_PER_COLUMN: usize = 8;

/// The stored Arrow schema of a file, which is compatible with the types of the file.
#[derive(Debug)]
pub(crate) struct StoredSchema {
    pub(crate) schema: Schema,
}

impl StoredSchema {
    /// The stored schema of a file; `None` if there is none, or it is not compatible.
    pub(crate) fn of(tail: &FileTail) -> Option<Self> {
        let (_, bytes) = tail.metadata.iter().find(|(key, _)| key == ARROW_SCHEMA_KEY)?;
        if tail.schema.get(0).ok()?.kind != Kind::Struct {
            return None;
        }
        let max_fields = tail.schema.types().len().saturating_add(2).saturating_mul(FIELDS_PER_COLUMN);
        let schema = decode(bytes, max_fields, tail.max_decoded_size()).ok()?;
        // Instants are read as instants.
        let mut column_options = BTreeMap::new();
        for (&id, field) in tail.schema.get(0).ok()?.children.iter().zip(schema.fields()) {
            add_column_options(&tail.schema, id, field.data_type(), GivenOptions::default(), &mut column_options)
                .ok()?;
        }
        column_options.retain(|_, form| matches!(form, ColumnOptions::Timestamp(_, _)));
        let options = ReadOptions { column_options, ..ReadOptions::default() };
        let mapping = Mapping { tail, options: &options };
        let root = Projection::try_new(&tail.schema, &Columns::All).ok()?.root;
        let physical = mapping.fields(&root).ok()?;
        compatibility::are_compatible(&physical, schema.fields()).then_some(StoredSchema { schema })
    }

    /// The read options, completed by the column options that the logical types need.
    pub(super) fn options(&self, types: &TypeTree, options: ReadOptions) -> Result<ReadOptions> {
        let mut column_options = BTreeMap::new();
        for (&id, field) in types.get(0)?.children.iter().zip(self.schema.fields()) {
            add_column_options(types, id, field.data_type(), GivenOptions::by(&options), &mut column_options)?;
        }
        // Column options that were given take precedence.
        column_options.extend(&options.column_options);
        Ok(ReadOptions { column_options, ..options })
    }

    /// The logical type of column `id`.
    pub(crate) fn data_type(&self, types: &TypeTree, id: u32) -> Option<&DataType> {
        let parent_id = types.get(id).ok()?.parent?;
        let parent = types.get(parent_id).ok()?;
        let index = parent.children.binary_search(&id).ok()?;
        if parent.parent.is_none() {
            return self.schema.fields().get(index).map(|field| field.data_type());
        }
        match value_type(self.data_type(types, parent_id)?) {
            DataType::Struct(fields) => fields.get(index).map(|field| field.data_type()),
            DataType::Union(fields, _) => fields.iter().nth(index).map(|(_, field)| field.data_type()),
            DataType::Map(entries, _) => match entries.data_type() {
                DataType::Struct(fields) => fields.get(index).map(|field| field.data_type()),
                _ => None,
            },
            list => item_of(list).map(|item| item.data_type()),
        }
    }

    /// The logical schema of columns that are read as `physical`, which may have further columns at its end.
    pub(super) fn logical_schema(
        &self,
        mapping: &Mapping<'_>,
        root: &Projected,
        physical: &Schema,
    ) -> Result<SchemaRef> {
        let below = children(mapping, root, physical.fields(), self.schema.fields())?;
        let further = physical.fields().iter().skip(below.len()).cloned();
        let fields: Fields = below.iter().cloned().chain(further).collect();
        Ok(Arc::new(Schema::new_with_metadata(fields, self.schema.metadata().clone())))
    }
}

/// Options that were given for all columns. They take precedence over logical types.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct GivenOptions {
    strings: bool,
    timestamps: bool,
    instants: bool,
    unions: bool,
    /// Keys of maps are read as dictionaries of their values.
    maps: bool,
}

impl GivenOptions {
    fn by(options: &ReadOptions) -> Self {
        GivenOptions {
            strings: options.strings.is_some(),
            timestamps: options.timestamp_unit.is_some() && !options.keeps_digits(),
            instants: options.timestamps.is_some(),
            unions: options.unions.is_some(),
            maps: options.null_map_keys != NullMapKeys::Error,
        }
    }
}

/// Whether a column option can decide a part of the type.
pub(crate) fn has_column_option(data_type: &DataType) -> bool {
    match data_type {
        DataType::Timestamp(_, _) | DataType::Union(_, _) => true,
        DataType::Struct(fields) => fields.iter().any(|field| has_column_option(field.data_type())),
        DataType::Map(entries, _) => has_column_option(entries.data_type()),
        DataType::Dictionary(_, values) => is_text(values) || has_column_option(values),
        DataType::RunEndEncoded(_, values) => has_column_option(values.data_type()),
        data_type => {
            is_text(data_type)
                || is_binary(data_type)
                || item_of(data_type).is_some_and(|item| has_column_option(item.data_type()))
        }
    }
}

/// Collects column options with which column `id` and its descendants are read for the logical type `target`.
pub(crate) fn add_column_options(
    types: &TypeTree,
    id: u32,
    target: &DataType,
    given: GivenOptions,
    column_options: &mut BTreeMap<u32, ColumnOptions>,
) -> Result<()> {
    let this = types.get(id)?;
    if spark_type(this) == Some(SparkType::TimestampNtz) && !matches!(value_type(target), DataType::Timestamp(_, _)) {
        // Integers are stored as integers.
        column_options.insert(id, ColumnOptions::Timestamp(Some(TimestampUnit::Microsecond), None));
        return Ok(());
    }
    if !has_column_option(target) {
        return Ok(());
    }
    let all = |targets: &mut dyn Iterator<Item = &FieldRef>, column_options: &mut BTreeMap<u32, ColumnOptions>| {
        let mut both = this.children.iter().zip(targets);
        both.try_for_each(|(&child, field)| add_column_options(types, child, field.data_type(), given, column_options))
    };
    match (this.kind, target) {
        (Kind::String | Kind::Char | Kind::Varchar, DataType::Dictionary(_, values)) if is_text(values) => {
            column_options.extend((!given.strings).then_some((id, ColumnOptions::Strings(StringType::Dictionary))));
        }
        (_, DataType::Dictionary(_, values)) => add_column_options(types, id, values, given, column_options)?,
        (_, DataType::RunEndEncoded(_, values)) => {
            add_column_options(types, id, values.data_type(), given, column_options)?
        }
        (Kind::String | Kind::Char | Kind::Varchar | Kind::Binary | Kind::Geometry | Kind::Geography, target) => {
            let form = string_type(target).filter(|_| !given.strings);
            column_options.extend(form.map(|form| (id, ColumnOptions::Strings(form))));
        }
        (Kind::Timestamp | Kind::TimestampInstant | Kind::Long, DataType::Timestamp(unit, zone)) => {
            let unit = timestamp_unit(*unit);
            let kind = if zone.is_some() { Timestamps::Instant } else { Timestamps::Wall };
            let kind = Some(kind).filter(|_| this.kind == Kind::Timestamp && !given.instants);
            column_options.insert(id, ColumnOptions::Timestamp((!given.timestamps).then_some(unit), kind));
        }
        (Kind::Struct, DataType::Struct(fields)) => all(&mut fields.iter(), column_options)?,
        (Kind::Map, DataType::Map(entries, _)) => {
            if let DataType::Struct(fields) = entries.data_type() {
                let plain = if given.maps { without_encoded_key(fields) } else { fields.clone() };
                all(&mut plain.iter(), column_options)?;
            }
        }
        (Kind::Union, DataType::Union(fields, mode)) if !given.unions => {
            let form = match mode {
                arrow_schema::UnionMode::Dense => UnionType::Dense,
                arrow_schema::UnionMode::Sparse => UnionType::Sparse,
            };
            column_options.insert(id, ColumnOptions::Union(form));
            all(&mut fields.iter().map(|(_, field)| field), column_options)?;
        }
        // A union that is read as a struct has its tag first.
        (Kind::Union, DataType::Struct(fields)) => all(&mut fields.iter().skip(1), column_options)?,
        (Kind::List, target) => all(&mut item_of(target).into_iter(), column_options)?,
        _ => {}
    }
    Ok(())
}

/// The option for strings or binaries of a type; `None` for the default types.
fn string_type(data_type: &DataType) -> Option<StringType> {
    match data_type {
        DataType::LargeUtf8 | DataType::LargeBinary => Some(StringType::Large),
        DataType::Utf8View | DataType::BinaryView => Some(StringType::View),
        _ => None,
    }
}

fn timestamp_unit(unit: TimeUnit) -> TimestampUnit {
    match unit {
        TimeUnit::Second => TimestampUnit::Second,
        TimeUnit::Millisecond => TimestampUnit::Millisecond,
        TimeUnit::Microsecond => TimestampUnit::Microsecond,
        TimeUnit::Nanosecond => TimestampUnit::Nanosecond,
    }
}

/// The logical fields of the children of `column` that are read, whose physical fields are `physical`.
fn children(mapping: &Mapping<'_>, column: &Projected, physical: &Fields, logical: &Fields) -> Result<Fields> {
    let this = mapping.tail.schema.get(column.id)?;
    let child = |(child, physical): (&Projected, &FieldRef)| {
        let index = this.index_of_child(child.id)?;
        match logical.get(index) {
            Some(logical) => field(mapping, child, physical, logical),
            None => Ok(physical.clone()),
        }
    };
    column.children.iter().zip(physical).map(child).collect()
}

fn field(mapping: &Mapping<'_>, column: &Projected, physical: &Field, logical: &FieldRef) -> Result<FieldRef> {
    let data_type = data_type(mapping, column, physical.data_type(), logical.data_type())?;
    // Keys of maps are never null.
    let nullable = logical.is_nullable()
        || physical.is_nullable()
            && (mapping.tail.is_masked(column.id)
                || may_become_null(mapping.tail.schema.get(column.id)?, mapping.options));
    let is_same = data_type == *logical.data_type() && nullable == logical.is_nullable();
    Ok(if is_same { logical.clone() } else { Arc::new(with_type(logical, data_type).with_nullable(nullable)) })
}

/// The type of a column in batches: the type `logical`, with the children that are read, and with the options that were
/// given.
fn data_type(mapping: &Mapping<'_>, column: &Projected, physical: &DataType, logical: &DataType) -> Result<DataType> {
    use DataType as D;
    let (options, this) = (mapping.options, mapping.tail.schema.get(column.id)?);
    Ok(match (physical, logical) {
        (physical, logical) if options.strings.is_some() && is_text_or_binary(logical) => physical.clone(),
        (physical, logical) if is_binary(value_type(physical)) && is_text(value_type(logical)) => physical.clone(),
        (D::Dictionary(_, _), D::Dictionary(_, values)) if is_text(values) => logical.clone(),
        (physical, D::Dictionary(keys, values)) => {
            D::Dictionary(keys.clone(), Box::new(data_type(mapping, column, physical, values)?))
        }
        (physical, D::RunEndEncoded(ends, values)) => {
            let data_type = data_type(mapping, column, physical, values.data_type())?;
            D::RunEndEncoded(ends.clone(), Arc::new(with_type(values, data_type)))
        }
        // Given options take precedence.
        (D::Timestamp(_, physical_zone), D::Timestamp(_, zone)) if physical_zone.is_some() != zone.is_some() => {
            physical.clone()
        }
        (D::Timestamp(unit, _), D::Timestamp(_, zone)) => D::Timestamp(*unit, zone.clone()),
        // A union with too many variants is read as a struct.
        (D::Struct(_), _) if this.kind != Kind::Struct => physical.clone(),
        (D::Struct(fields), D::Struct(logical)) => D::Struct(children(mapping, column, fields, logical)?),
        (D::Struct(_), D::Interval(IntervalUnit::DayTime | IntervalUnit::MonthDayNano)) => {
            if is_whole(this, column) {
                logical.clone()
            } else {
                physical.clone()
            }
        }
        (D::List(item), logical) => match (item_of(logical), &column.children[..]) {
            (Some(of), [element]) => with_item(logical, field(mapping, element, item, of)?),
            _ => physical.clone(),
        },
        (D::Map(physical_entries, _), D::Map(entries, is_sorted)) => {
            match (physical_entries.data_type(), entries.data_type()) {
                (D::Struct(fields), D::Struct(logical)) => {
                    let fields = match options.null_map_keys {
                        NullMapKeys::Error => children(mapping, column, fields, logical)?,
                        NullMapKeys::Dictionary => dictionary_entries(mapping, column, fields, logical)?,
                    };
                    D::Map(Arc::new(with_type(entries, D::Struct(fields))), *is_sorted)
                }
                _ => physical.clone(),
            }
        }
        (D::Union(fields, mode), D::Union(logical, _)) if options.unions.is_none() => {
            let mut variants = Vec::new();
            for (child, ((_, physical), (id, logical))) in column.children.iter().zip(fields.iter().zip(logical.iter()))
            {
                variants.push((id, field(mapping, child, physical, logical)?));
            }
            D::Union(variants.into_iter().collect(), *mode)
        }
        (D::Union(_, _), D::Union(_, _)) => physical.clone(),
        _ => logical.clone(),
    })
}

/// The fields of a map with the key without dictionary and run ends.
fn without_encoded_key(fields: &Fields) -> Fields {
    let plain = |field: &FieldRef| Arc::new(with_type(field, value_type(field.data_type()).clone()));
    fields.iter().take(1).map(plain).chain(fields.iter().skip(1).cloned()).collect()
}

/// The logical fields of the key and value of a map whose keys are read as a dictionary: of the logical keys.
fn dictionary_entries(
    mapping: &Mapping<'_>,
    column: &Projected,
    physical: &Fields,
    logical: &Fields,
) -> Result<Fields> {
    let key_of = |fields: &Fields| fields.first().map(|key| key.data_type().clone());
    let Some(DataType::Dictionary(indexes, _)) = key_of(physical) else { return Ok(physical.clone()) };
    let restored = children(mapping, column, &without_encoded_key(physical), &without_encoded_key(logical))?;
    let encoded = |key: &FieldRef| {
        let values = Box::new(key.data_type().clone());
        Arc::new(with_type(key, DataType::Dictionary(indexes.clone(), values)))
    };
    Ok(restored.iter().take(1).map(encoded).chain(restored.iter().skip(1).cloned()).collect())
}

/// Whether values are strings or binaries of variable length, plain or encoded.
fn is_text_or_binary(data_type: &DataType) -> bool {
    is_text(value_type(data_type)) || is_binary(value_type(data_type))
}

/// Whether all children are read, in their order.
fn is_whole(this: &Type, column: &Projected) -> bool {
    this.children.iter().eq(column.children.iter().map(|child| &child.id))
}

/// Maximum number of rows of a batch for which all run ends are in range, and values of fixed size, of which nulls have as many
/// bytes, are not larger than a batch.
pub(crate) fn max_rows(schema: &Schema) -> usize {
    fn has_short_runs(data_type: &DataType) -> bool {
        match data_type {
            DataType::RunEndEncoded(ends, values) => {
                *ends.data_type() == DataType::Int16 || has_short_runs(values.data_type())
            }
            DataType::Struct(fields) => fields.iter().any(|field| has_short_runs(field.data_type())),
            _ => false,
        }
    }
    fn padded_width(data_type: &DataType) -> u64 {
        match data_type {
            DataType::FixedSizeBinary(_) | DataType::FixedSizeList(_, _) => fixed_width(data_type),
            DataType::Struct(fields) => {
                fields.iter().map(|field| padded_width(field.data_type())).fold(0, u64::saturating_add)
            }
            _ => 0,
        }
    }
    let padded = schema.fields().iter().map(|field| padded_width(field.data_type())).fold(0, u64::saturating_add);
    let of_fixed_size = usize::try_from(tuning::BATCH_BYTES.wide() / padded.max(1)).unwrap_or(usize::MAX).max(1);
    const MAX: usize = i16::MAX.unsigned_abs() as usize;
    let has_short_runs = schema.fields().iter().any(|field| has_short_runs(field.data_type()));
    match (padded, has_short_runs) {
        (0, true) => MAX,
        (0, false) => usize::MAX,
        (_, true) => of_fixed_size.min(MAX),
        (_, false) => of_fixed_size,
    }
}
