//! Columns in the Arrow types that they were written with.
//!
//! | written | as ORC's | and read as |
//! |---|---|---|
//! | null | boolean | boolean |
//! | uint8, uint16, uint32, uint64 | smallint, int, bigint, decimal(20,0) | their like |
//! | float16 | float | float32 |
//! | text and bytes of all forms | string, char, varchar, binary | themselves |
//! | fixed-size binary | binary | binary |
//! | date64 | date | date32 |
//! | times, durations | int, bigint | int32, int64, of Spark's attribute duration |
//! | interval of days or months and days | struct | struct |
//! | timestamps of any unit and zone | timestamp, with local time zone, Spark's bigint | in their unit, UTC |
//! | timestamps of any zone, field with `orc.type` | timestamp | instants, in UTC |
//! | decimals of any width, scales below zero | decimal | decimal128 |
//! | lists of all forms | array | list |
//! | union of any type ids | uniontype | union of ids from 0 on |
//! | dictionary, run-end encoded | as their values | as their values, text as a dictionary |
//!
//! The stored schema is believed where it fits the types of the file in this way, all of it: another tool may have
//! written the file anew and copied the metadata. Values are not believed: one that does not fit is an error.

mod fit;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_schema::{DataType, Field, FieldRef, Fields, IntervalUnit, Schema, SchemaRef, TimeUnit};
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

pub(crate) use fit::{DAYS, MONTHS, fits};

/// Fields of an Arrow schema for each column of the file, at most: dictionaries and runs come on top of their values.
const FIELDS_PER_COLUMN: usize = 8;

/// The Arrow schema that a file was written with, which fits the file.
#[derive(Debug)]
pub(crate) struct StoredSchema {
    pub(crate) schema: Schema,
}

impl StoredSchema {
    /// That of a file; none where it has none that fits.
    pub(crate) fn of(tail: &FileTail) -> Option<Self> {
        let (_, bytes) = tail.metadata.iter().find(|(key, _)| key == ARROW_SCHEMA_KEY)?;
        if tail.schema.get(0).ok()?.kind != Kind::Struct {
            return None;
        }
        let most = tail.schema.types().len().saturating_add(2).saturating_mul(FIELDS_PER_COLUMN);
        let schema = decode(bytes, most, tail.max_decoded_size()).ok()?;
        // What was written of instants is read as such.
        let mut column_options = BTreeMap::new();
        for (&id, field) in tail.schema.get(0).ok()?.children.iter().zip(schema.fields()) {
            add_forms(&tail.schema, id, field.data_type(), Chosen::default(), &mut column_options).ok()?;
        }
        column_options.retain(|_, form| matches!(form, ColumnOptions::Timestamp(_, _)));
        let options = ReadOptions { column_options, ..ReadOptions::default() };
        let mapping = Mapping { tail, options: &options };
        let root = Projection::new(&tail.schema, &Columns::All).ok()?.root;
        let natural = mapping.fields(&root).ok()?;
        fit::fields_fit(&natural, schema.fields()).then_some(StoredSchema { schema })
    }

    /// The options with the forms in which columns are read, so that they can become what they were.
    pub(super) fn options(&self, types: &TypeTree, options: ReadOptions) -> Result<ReadOptions> {
        let mut forms = BTreeMap::new();
        for (&id, field) in types.get(0)?.children.iter().zip(self.schema.fields()) {
            add_forms(types, id, field.data_type(), Chosen::by(&options), &mut forms)?;
        }
        // What is there already was chosen.
        forms.extend(&options.column_options);
        Ok(ReadOptions { column_options: forms, ..options })
    }

    /// The type that column `id` had.
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

    /// The schema of what is read, which is `natural` by itself; it may have further columns behind.
    pub(super) fn restored(&self, mapping: &Mapping<'_>, root: &Projected, natural: &Schema) -> Result<SchemaRef> {
        let below = children(mapping, root, natural.fields(), self.schema.fields())?;
        let further = natural.fields().iter().skip(below.len()).cloned();
        let fields: Fields = below.iter().cloned().chain(further).collect();
        Ok(Arc::new(Schema::new_with_metadata(fields, self.schema.metadata().clone())))
    }
}

/// What was chosen for all columns, and stands above what they were.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Chosen {
    strings: bool,
    timestamps: bool,
    instants: bool,
    unions: bool,
    /// Maps are read with keys that no map has been written with.
    maps: bool,
}

impl Chosen {
    fn by(options: &ReadOptions) -> Self {
        Chosen {
            strings: options.strings.is_some(),
            timestamps: options.timestamp_unit.is_some(),
            instants: options.timestamps.is_some(),
            unions: options.unions.is_some(),
            maps: options.null_map_keys != NullMapKeys::Error,
        }
    }
}

/// Whether a type has something in it that a form decides.
pub(crate) fn has_form(kind: &DataType) -> bool {
    match kind {
        DataType::Timestamp(_, _) | DataType::Union(_, _) => true,
        DataType::Struct(fields) => fields.iter().any(|field| has_form(field.data_type())),
        DataType::Map(entries, _) => has_form(entries.data_type()),
        DataType::Dictionary(_, values) => is_text(values) || has_form(values),
        DataType::RunEndEncoded(_, values) => has_form(values.data_type()),
        kind => is_text(kind) || is_binary(kind) || item_of(kind).is_some_and(|item| has_form(item.data_type())),
    }
}

/// How column `id` and those below are read to become `target`, where that depends on it and was not `chosen`.
pub(crate) fn add_forms(
    types: &TypeTree,
    id: u32,
    target: &DataType,
    chosen: Chosen,
    forms: &mut BTreeMap<u32, ColumnOptions>,
) -> Result<()> {
    let this = types.get(id)?;
    if spark_type(this) == Some(SparkType::TimestampNtz) && !matches!(value_type(target), DataType::Timestamp(_, _)) {
        // Integers, as which they are stored.
        forms.insert(id, ColumnOptions::Timestamp(Some(TimestampUnit::Microsecond), None));
        return Ok(());
    }
    if !has_form(target) {
        return Ok(());
    }
    let all = |targets: &mut dyn Iterator<Item = &FieldRef>, forms: &mut BTreeMap<u32, ColumnOptions>| {
        let mut both = this.children.iter().zip(targets);
        both.try_for_each(|(&child, field)| add_forms(types, child, field.data_type(), chosen, forms))
    };
    match (this.kind, target) {
        (Kind::String | Kind::Char | Kind::Varchar, DataType::Dictionary(_, values)) if is_text(values) => {
            forms.extend((!chosen.strings).then_some((id, ColumnOptions::Strings(StringType::Dictionary))));
        }
        (_, DataType::Dictionary(_, values)) => add_forms(types, id, values, chosen, forms)?,
        (_, DataType::RunEndEncoded(_, values)) => add_forms(types, id, values.data_type(), chosen, forms)?,
        (Kind::String | Kind::Char | Kind::Varchar | Kind::Binary | Kind::Geometry | Kind::Geography, target) => {
            let form = match target {
                DataType::LargeUtf8 | DataType::LargeBinary => Some(StringType::Large),
                DataType::Utf8View | DataType::BinaryView => Some(StringType::View),
                _ => None,
            };
            let form = form.filter(|_| !chosen.strings);
            forms.extend(form.map(|form| (id, ColumnOptions::Strings(form))));
        }
        (Kind::Timestamp | Kind::TimestampInstant | Kind::Long, DataType::Timestamp(unit, zone)) => {
            let unit = match unit {
                TimeUnit::Second => TimestampUnit::Second,
                TimeUnit::Millisecond => TimestampUnit::Millisecond,
                TimeUnit::Microsecond => TimestampUnit::Microsecond,
                TimeUnit::Nanosecond => TimestampUnit::Nanosecond,
            };
            let kind = if zone.is_some() { Timestamps::Instant } else { Timestamps::Wall };
            let kind = Some(kind).filter(|_| this.kind == Kind::Timestamp && !chosen.instants);
            forms.insert(id, ColumnOptions::Timestamp((!chosen.timestamps).then_some(unit), kind));
        }
        (Kind::Struct, DataType::Struct(fields)) => all(&mut fields.iter(), forms)?,
        (Kind::Map, DataType::Map(entries, _)) if !chosen.maps => {
            if let DataType::Struct(fields) = entries.data_type() {
                all(&mut fields.iter(), forms)?;
            }
        }
        (Kind::Union, DataType::Union(fields, mode)) if !chosen.unions => {
            let form = match mode {
                arrow_schema::UnionMode::Dense => UnionType::Dense,
                arrow_schema::UnionMode::Sparse => UnionType::Sparse,
            };
            forms.insert(id, ColumnOptions::Union(form));
            all(&mut fields.iter().map(|(_, field)| field), forms)?;
        }
        (Kind::List, target) => all(&mut item_of(target).into_iter(), forms)?,
        _ => {}
    }
    Ok(())
}

/// The fields of those children of `column` that are read, which are `natural` by themselves.
fn children(mapping: &Mapping<'_>, column: &Projected, natural: &Fields, stored: &Fields) -> Result<Fields> {
    let this = mapping.tail.schema.get(column.id)?;
    let child = |(child, natural): (&Projected, &FieldRef)| {
        let index = this.children.binary_search(&child.id).unwrap_or_default();
        match stored.get(index) {
            Some(stored) => field(mapping, child, natural, stored),
            None => Ok(natural.clone()),
        }
    };
    column.children.iter().zip(natural).map(child).collect()
}

fn field(mapping: &Mapping<'_>, column: &Projected, natural: &Field, stored: &FieldRef) -> Result<FieldRef> {
    let kind = data_type(mapping, column, natural.data_type(), stored.data_type())?;
    // Keys of maps are never null.
    let nullable = stored.is_nullable()
        || natural.is_nullable() && may_become_null(mapping.tail.schema.get(column.id)?, mapping.options);
    let is_same = kind == *stored.data_type() && nullable == stored.is_nullable();
    Ok(match is_same {
        true => stored.clone(),
        false => Arc::new(with_type(stored, kind).with_nullable(nullable)),
    })
}

/// The type in which a column is given that is `natural` by itself and was `stored`: this one, of the parts that are
/// read, but for what was chosen otherwise.
fn data_type(mapping: &Mapping<'_>, column: &Projected, natural: &DataType, stored: &DataType) -> Result<DataType> {
    use DataType as D;
    let (options, this) = (mapping.options, mapping.tail.schema.get(column.id)?);
    Ok(match (natural, stored) {
        (natural, stored) if options.strings.is_some() && is_stringlike(stored) => natural.clone(),
        (natural, stored) if is_binary(value_type(natural)) && is_text(value_type(stored)) => natural.clone(),
        (D::Dictionary(_, _), D::Dictionary(_, values)) if is_text(values) => stored.clone(),
        (natural, D::Dictionary(keys, values)) => {
            D::Dictionary(keys.clone(), Box::new(data_type(mapping, column, natural, values)?))
        }
        (natural, D::RunEndEncoded(ends, values)) => {
            let kind = data_type(mapping, column, natural, values.data_type())?;
            D::RunEndEncoded(ends.clone(), Arc::new(with_type(values, kind)))
        }
        // What was chosen stands above it.
        (D::Timestamp(_, own), D::Timestamp(_, zone)) if own.is_some() != zone.is_some() => natural.clone(),
        (D::Timestamp(unit, _), D::Timestamp(_, zone)) => D::Timestamp(*unit, zone.clone()),
        // One of too many variants is a struct too.
        (D::Struct(_), _) if this.kind != Kind::Struct => natural.clone(),
        (D::Struct(fields), D::Struct(stored)) => D::Struct(children(mapping, column, fields, stored)?),
        (D::Struct(_), D::Interval(IntervalUnit::DayTime | IntervalUnit::MonthDayNano)) => {
            if is_whole(this, column) {
                stored.clone()
            } else {
                natural.clone()
            }
        }
        (D::List(item), stored) => match (item_of(stored), &column.children[..]) {
            (Some(of), [element]) => with_item(stored, field(mapping, element, item, of)?),
            _ => natural.clone(),
        },
        (D::Map(natural_entries, _), D::Map(entries, is_sorted)) => {
            match (natural_entries.data_type(), entries.data_type()) {
                (D::Struct(fields), D::Struct(stored)) if options.null_map_keys == NullMapKeys::Error => {
                    let fields = children(mapping, column, fields, stored)?;
                    D::Map(Arc::new(with_type(entries, D::Struct(fields))), *is_sorted)
                }
                _ => natural.clone(),
            }
        }
        (D::Union(fields, mode), D::Union(stored, _)) if options.unions.is_none() => {
            let mut variants = Vec::new();
            for (child, ((_, natural), (id, stored))) in column.children.iter().zip(fields.iter().zip(stored.iter())) {
                variants.push((id, field(mapping, child, natural, stored)?));
            }
            D::Union(variants.into_iter().collect(), *mode)
        }
        (D::Union(_, _), D::Union(_, _)) => natural.clone(),
        _ => stored.clone(),
    })
}

/// Whether values are text or bytes of any length, as is or in a dictionary or runs.
fn is_stringlike(kind: &DataType) -> bool {
    is_text(value_type(kind)) || is_binary(value_type(kind))
}

/// Whether all children are read, in their order.
fn is_whole(this: &Type, column: &Projected) -> bool {
    this.children.iter().eq(column.children.iter().map(|child| &child.id))
}

/// Rows that a batch may have for the run ends in it to reach them.
pub(crate) fn most_rows(schema: &Schema) -> usize {
    fn has_short_runs(kind: &DataType) -> bool {
        match kind {
            DataType::RunEndEncoded(ends, values) => {
                *ends.data_type() == DataType::Int16 || has_short_runs(values.data_type())
            }
            DataType::Struct(fields) => fields.iter().any(|field| has_short_runs(field.data_type())),
            _ => false,
        }
    }
    const MOST: usize = i16::MAX.unsigned_abs() as usize;
    if schema.fields().iter().any(|field| has_short_runs(field.data_type())) { MOST } else { usize::MAX }
}
