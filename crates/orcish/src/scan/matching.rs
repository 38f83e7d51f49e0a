//! Matching of the columns of a table with the columns of a file.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;
use std::sync::Arc;

use arrow_schema::{DataType, Field, FieldRef, Fields, TimeUnit};
use orcish_core::cast::{ColumnCast, SchemaMapping, converts};
use orcish_core::error::{Error, OrInternal as _, Result};
use orcish_core::type_names::TypeName;
use orcish_core::types::{
    child_fields, decoded_type, entries_of, is_binary, is_null_type, is_spark_ntz, is_text, item_of, nanoseconds,
    value_type,
};
use orcish_core::unify::holds;

use super::fields_by_name::FieldsByName;
use super::table::Table;
use super::table_file::Matching;
use crate::options::{ColumnOptions, NullMapKeys, ReadOptions};
use crate::predicate::check_is_value;
use crate::projection::{Projected, ROOT_COLUMN};
use crate::read::{GivenOptions, Mapping, OrcFile, add_column_options, has_column_option, is_compatible};
use crate::schema::{Kind, Schema, Type};

/// Path of a column: indexes among the columns of the table, then among the fields of each struct.
pub(super) type Path = Vec<usize>;

/// What is done with a timestamp: its path, its column in the file, and its field in the table.
pub(super) type Visit<'a> = dyn FnMut(&Path, u32, &FieldRef) -> Result<()> + 'a;

/// Finds the columns of a table in a file.
pub(super) struct Matcher<'a> {
    pub(super) mapping: Mapping<'a>,
    table: &'a Table,
    file: &'a OrcFile,
    /// Children of columns that have been looked up, by column id.
    children: RefCell<HashMap<u32, Rc<Children>>>,
    /// Whether a column was matched whose timestamps may have digits beyond the unit of the table, which no option cuts off.
    pub(super) keeps_digits: Cell<bool>,
}

/// The children of a column of a file.
#[derive(Default)]
struct Children {
    /// Ids of the children that can be columns of the table, in order.
    ids: Vec<u32>,
    /// Ids of the children, by the key of the matching.
    by_key: HashMap<String, Vec<u32>>,
}

impl<'a> Matcher<'a> {
    pub(super) fn new(table: &'a Table, file: &'a OrcFile, options: &'a ReadOptions) -> Self {
        Matcher {
            mapping: Mapping { tail: file.tail(), options },
            table,
            file,
            children: RefCell::default(),
            keeps_digits: Cell::new(false),
        }
    }

    pub(super) fn schema(&self) -> &Schema {
        &self.mapping.tail.schema
    }

    /// The children of a column. A root that is not a struct is its own only child.
    fn children(&self, parent: u32) -> Result<Rc<Children>> {
        if let Some(known) = self.children.borrow().get(&parent) {
            return Ok(known.clone());
        }
        let this = self.schema().get(parent)?;
        let all: Vec<(&str, u32)> = match this.kind {
            Kind::Struct => this.field_names.iter().map(String::as_str).zip(this.children.iter().copied()).collect(),
            _ if parent == 0 => vec![(ROOT_COLUMN, 0)],
            _ => Vec::new(),
        };
        let mut children = Children::default();
        for (name, id) in all {
            if parent > 0 || self.table.partition_at(name).is_none() {
                children.ids.push(id);
            }
            let keys = match &self.table.matching {
                Matching::Name | Matching::Position => vec![name.to_owned()],
                Matching::NameIgnoringCase => vec![name.to_lowercase()],
                Matching::Attribute(key) => {
                    let attributes = self.schema().get(id)?.attributes.iter();
                    attributes.filter(|(of, _)| of == key).map(|(_, value)| value.clone()).collect()
                }
            };
            for key in keys {
                children.by_key.entry(key).or_default().push(id);
            }
        }
        let children = Rc::new(children);
        self.children.borrow_mut().insert(parent, children.clone());
        Ok(children)
    }

    /// Indexes of `fields` of the table, children of column `parent`, by name.
    pub(super) fn places(&self, parent: u32, fields: &Fields) -> Arc<FieldsByName> {
        if parent == 0 { self.table.places.clone() } else { Arc::new(FieldsByName::of(fields)) }
    }

    /// The child of column `parent` of the file that matches `field`, the child at `place` in the table. `places` are the
    /// indexes of all these children.
    pub(super) fn find(&self, parent: u32, place: usize, field: &Field, places: &FieldsByName) -> Result<Option<u32>> {
        let children = self.children(parent)?;
        let (name, is_top) = (field.name(), parent == 0);
        // Columns of the same name are matched in order, if the file has as many.
        let (mut nth, mut count) = (0, 1);
        if let Some(places) = places.get(name) {
            let place = places.iter().position(|other| *other == place);
            (nth, count) = (place.or_internal("a column of the table is not at its place")?, places.len());
        }
        let key = match &self.table.matching {
            // Columns of the file that are not partition columns.
            Matching::Position if is_top => return Ok(children.ids.get(place).copied()),
            Matching::Name | Matching::Position => Cow::Borrowed(name.as_str()),
            Matching::NameIgnoringCase => Cow::Owned(name.to_lowercase()),
            Matching::Attribute(key) => {
                (nth, count) = (0, 1);
                let value = field.metadata().get(key);
                let missing =
                    || Error::invalid(format!("match={key:?}: column {name:?} of the table has no attribute {key}"));
                Cow::Borrowed(value.ok_or_else(missing)?.as_str())
            }
        };
        match children.by_key.get(&*key).map_or(&[][..], Vec::as_slice) {
            [] => Ok(None),
            ids if ids.len() == count => Ok(ids.get(nth).copied()),
            ids if count > 1 => {
                let text = format!("of columns named {name:?} the table has {count}, and the file {}", ids.len());
                Err(Error::invalid(text))
            }
            _ => Err(Error::invalid(format!("more than one column of the file could be {name:?}"))),
        }
    }

    /// Collects the column options with which column `id` and its descendants are read for a type of the table.
    fn column_options(
        &self,
        id: u32,
        target: &DataType,
        column_options: &mut BTreeMap<u32, ColumnOptions>,
    ) -> Result<()> {
        let this = self.schema().get(id)?;
        match (this.kind, target, &this.children[..]) {
            (Kind::Struct, DataType::Struct(fields), _) => self.column_options_of_fields(id, fields, column_options),
            (Kind::List, target, &[element]) if let Some(item) = item_of(target) => {
                self.column_options(element, item.data_type(), column_options)
            }
            (Kind::Map, target, &[key, value]) if let Some((key_field, value_field)) = entries_of(target) => {
                match (self.mapping.options.null_map_keys, key_field.data_type()) {
                    (NullMapKeys::Dictionary, DataType::Dictionary(_, values)) => {
                        self.column_options(key, values, column_options)?
                    }
                    (NullMapKeys::Dictionary, _) => {}
                    (NullMapKeys::Error, target) => self.column_options(key, target, column_options)?,
                }
                self.column_options(value, value_field.data_type(), column_options)
            }
            // Text has all digits of a timestamp.
            (Kind::Timestamp | Kind::TimestampInstant | Kind::Long, target, _)
                if is_text(value_type(target)) && self.table.options.timestamp_unit.is_none() =>
            {
                let stated = self.stated_type(id).unwrap_or(target);
                add_column_options(self.schema(), id, stated, GivenOptions::default(), column_options)
            }
            // The types of the table take precedence over options.
            _ => add_column_options(self.schema(), id, target, GivenOptions::default(), column_options),
        }
    }

    /// As [`column_options`](Self::column_options), for `fields` of the table, children of column `parent`.
    pub(super) fn column_options_of_fields(
        &self,
        parent: u32,
        fields: &Fields,
        column_options: &mut BTreeMap<u32, ColumnOptions>,
    ) -> Result<()> {
        let places = self.places(parent, fields);
        for (place, field) in fields.iter().enumerate().filter(|(_, field)| has_column_option(field.data_type())) {
            // Missing and ambiguous columns are errors when the file is read.
            if let Ok(Some(child)) = self.find(parent, place, field, &places) {
                self.column_options(child, field.data_type(), column_options)?;
            }
        }
        Ok(())
    }

    /// Calls `visit` for each timestamp in `fields` of the table, children of column `parent` of the file: with its path, its
    /// column in the file, and its field.
    pub(super) fn timestamps_of_fields(
        &self,
        parent: u32,
        fields: &Fields,
        path: &mut Path,
        visit: &mut Visit<'_>,
    ) -> Result<()> {
        let places = self.places(parent, fields);
        for (place, field) in fields.iter().enumerate().filter(|(_, field)| has_timestamp(field.data_type())) {
            // Ambiguous columns are errors when the file is read.
            if let Ok(Some(child)) = self.find(parent, place, field, &places) {
                self.timestamps_below(place, child, field, path, visit)?;
            }
        }
        Ok(())
    }

    /// As [`timestamps_of_fields`](Self::timestamps_of_fields), for one field, column `id` of the file.
    fn timestamps_below(
        &self,
        place: usize,
        id: u32,
        field: &FieldRef,
        path: &mut Path,
        visit: &mut Visit<'_>,
    ) -> Result<()> {
        if !has_timestamp(field.data_type()) {
            return Ok(());
        }
        path.push(place);
        let this = self.schema().get(id)?;
        match (this.kind, value_type(field.data_type()), &this.children[..]) {
            (_, DataType::Timestamp(_, _), _) => visit(path, id, field)?,
            (Kind::Struct, DataType::Struct(fields), _) => self.timestamps_of_fields(id, fields, path, visit)?,
            (Kind::Map, map, &[key, value]) if let Some((key_field, value_field)) = entries_of(map) => {
                self.timestamps_below(0, key, key_field, path, visit)?;
                self.timestamps_below(1, value, value_field, path, visit)?;
            }
            (Kind::Union, DataType::Union(fields, _), children) => {
                for (place, (&child, (_, field))) in children.iter().zip(fields.iter()).enumerate() {
                    self.timestamps_below(place, child, field, path, visit)?;
                }
            }
            // A union that is read as a struct has its tag first.
            (Kind::Union, DataType::Struct(fields), children) => {
                for (place, (&child, field)) in (1..).zip(children.iter().zip(fields.iter().skip(1))) {
                    self.timestamps_below(place, child, field, path, visit)?;
                }
            }
            (Kind::List, list, &[element]) if let Some(item) = item_of(list) => {
                self.timestamps_below(0, element, item, path, visit)?;
            }
            _ => {}
        }
        path.pop();
        Ok(())
    }

    /// The columns of the file that `fields` of the table need, children of column `parent`, and their casts. `places` are
    /// the indexes of all children in the table.
    pub(super) fn fields<'f>(
        &self,
        parent: u32,
        fields: impl IntoIterator<Item = (usize, &'f FieldRef)>,
        places: &FieldsByName,
    ) -> Result<(Vec<Projected>, SchemaMapping)> {
        let (mut read, mut mapping) = (Vec::new(), Vec::new());
        for (place, field) in fields {
            match self.find(parent, place, field, places)? {
                None => mapping.push((None, ColumnCast::Missing)),
                Some(id) => {
                    let (projected, cast) = self.column(id, field.data_type())?;
                    mapping.push((Some(read.len()), cast));
                    read.push(projected);
                }
            }
        }
        Ok((read, mapping))
    }

    /// What is read of column `id`, and its cast to `target`.
    pub(super) fn column(&self, id: u32, target: &DataType) -> Result<(Projected, ColumnCast)> {
        self.try_column(id, target).map_err(|error| error.in_column(&self.schema().path(id)))
    }

    fn try_column(&self, id: u32, target: &DataType) -> Result<(Projected, ColumnCast)> {
        let this = self.schema().get(id)?;
        match (this.kind, target, &this.children[..]) {
            (Kind::Struct, DataType::Struct(fields), _) if self.table.is_schema_given || !self.is_interval(id) => {
                let (children, mapping) = self.fields(id, fields.iter().enumerate(), &self.places(id, fields))?;
                let is_same = mapping
                    .iter()
                    .enumerate()
                    .all(|(at, way)| matches!(way, (Some(read), ColumnCast::Keep) if *read == at));
                let projected = Projected { id, children };
                let is_same = is_same && self.mapping.data_type(&projected)? == *target;
                Ok((projected, if is_same { ColumnCast::Keep } else { ColumnCast::Struct(mapping) }))
            }
            (Kind::List, target, &[element]) if let Some(item) = item_of(target) => {
                let (element, cast) = self.column(element, item.data_type())?;
                let cast =
                    if matches!(cast, ColumnCast::Keep) { ColumnCast::Keep } else { ColumnCast::List(Box::new(cast)) };
                self.cast_if_types_differ(Projected { id, children: vec![element] }, target, cast, &|| {
                    ColumnCast::List(Box::new(ColumnCast::Keep))
                })
            }
            (Kind::Map, DataType::Map(_, _), &[key, value]) => {
                let mismatch = || self.type_mismatch(this, id, target);
                let (key_field, value_field) = entries_of(target).ok_or_else(mismatch)?;
                let (key, key_cast) = self.key(key, key_field.data_type())?;
                let (value, value_cast) = self.column(value, value_field.data_type())?;
                let cast = match (&key_cast, &value_cast) {
                    (ColumnCast::Keep, ColumnCast::Keep) => ColumnCast::Keep,
                    _ => ColumnCast::Map(Box::new((key_cast, value_cast))),
                };
                let projected = Projected { id, children: vec![key, value] };
                self.cast_if_types_differ(projected, target, cast, &|| {
                    ColumnCast::Map(Box::new((ColumnCast::Keep, ColumnCast::Keep)))
                })
            }
            (Kind::Union, DataType::Struct(fields), _) if let Some(cast) = self.fields_of_union(id, fields)? => {
                Ok(cast)
            }
            _ => {
                let projected = whole(self.schema(), id)?;
                self.note_units(id, target)?;
                let cast = self.leaf(id, &self.mapping.data_type(&projected)?, target)?;
                Ok((projected, cast.ok_or_else(|| self.type_mismatch(this, id, target))?))
            }
        }
    }

    /// What is read of a union, column `id`, for some of the fields of the struct that it is read as, and its cast. A union is
    /// read with all its variants. `None` for all fields, and for other types.
    fn fields_of_union(&self, id: u32, fields: &Fields) -> Result<Option<(Projected, ColumnCast)>> {
        let projected = whole(self.schema(), id)?;
        let DataType::Struct(union_fields) = self.mapping.data_type(&projected)? else { return Ok(None) };
        if fields.iter().map(|field| field.name()).eq(union_fields.iter().map(|field| field.name())) {
            return Ok(None);
        }
        let place = |field: &FieldRef| {
            let place = union_fields
                .iter()
                .position(|other| other.name() == field.name() && other.data_type() == field.data_type());
            place.map(|place| (Some(place), ColumnCast::Keep))
        };
        let mapping: Option<SchemaMapping> = fields.iter().map(place).collect();
        let Some(mapping) = mapping else { return Ok(None) };
        self.note_units(id, &DataType::Struct(union_fields.clone()))?;
        Ok(Some((projected, ColumnCast::Struct(mapping))))
    }

    /// The cast of column `id`, which is read as `physical`, to `target`; `None` if there is none. This is where the
    /// types of a file are compared with those of its table, which hold the values of all files. A schema that is given
    /// may have further types, that values are converted to.
    fn leaf(&self, id: u32, physical: &DataType, target: &DataType) -> Result<Option<ColumnCast>> {
        if self.is_null(id, target) {
            return Ok(Some(ColumnCast::Null));
        }
        let logical = self.stated_type(id);
        let written = match (physical, value_type(target)) {
            (DataType::Timestamp(_, _), DataType::Timestamp(_, _)) => physical.clone(),
            _ => logical.map_or_else(|| physical.clone(), decoded_type),
        };
        let is_same = match logical {
            Some(logical) if !value_type(logical).is_nested() => {
                holds(&written, target) && holds(target, &written)
                    // Numbers are checked to be without sign when they are restored.
                    || self.table.is_schema_given && written.is_integer() && value_type(target).is_integer()
            }
            logical => means(physical, target, logical, logical.is_some() || !self.table.is_declared),
        };
        let is_same = is_same && is_compatible(physical, target);
        let is_held = is_same || self.becomes(&written, target);
        // Text and timestamps are read as the table has them.
        let is_written = written == *physical || is_bytes(&written) || matches!(written, DataType::Timestamp(_, _));
        Ok(if physical == target && is_held {
            Some(ColumnCast::Keep)
        } else if is_same {
            Some(ColumnCast::Restore { is_own: logical == Some(target) })
        } else if !is_held {
            None
        } else if is_written {
            Some(ColumnCast::Cast)
        } else {
            Some(ColumnCast::RestoreAndCast(written))
        })
    }

    /// Notes whether the timestamps of column `id`, those in unions included, have finer units than in `target`. Timestamps are
    /// read in the unit of the table: if no option says so, digits beyond it are an error.
    fn note_units(&self, id: u32, target: &DataType) -> Result<()> {
        if self.table.options.timestamp_unit.is_some() || !has_timestamp(target) {
            return Ok(());
        }
        let column = Arc::new(Field::new("", target.clone(), true));
        self.timestamps_below(0, id, &column, &mut Path::new(), &mut |_, id, field| {
            let physical = self.mapping.data_type(&whole(self.schema(), id)?)?;
            if let (DataType::Timestamp(_, _), DataType::Timestamp(of_table, _)) =
                (&physical, value_type(field.data_type()))
            {
                let own_unit = match self.stated_type(id).map(decoded_type) {
                    Some(DataType::Timestamp(unit, _)) => unit,
                    _ => TimeUnit::Microsecond,
                };
                if nanoseconds(own_unit) < nanoseconds(*of_table) {
                    self.keeps_digits.set(true);
                }
            }
            Ok(())
        })
    }

    /// Whether values of a type become those of a type of the table.
    fn becomes(&self, written: &DataType, target: &DataType) -> bool {
        holds(target, written) || self.table.is_schema_given && converts(written, target)
    }

    /// Whether the numbers that are stored in column `id` are those of its values in the table, where both are compared as
    /// integers: times and durations of other units are not.
    pub(super) fn has_unit_of(&self, id: u32, target: &DataType) -> bool {
        let is_time =
            |kind: &DataType| matches!(kind, DataType::Time32(_) | DataType::Time64(_) | DataType::Duration(_));
        let logical = self.stated_type(id).map(value_type);
        logical.is_none_or(|logical| !is_time(logical) || logical == value_type(target))
    }

    /// The logical type of column `id` when it was written; `None` if the file does not have it.
    fn own_type(&self, id: u32) -> Option<&'a DataType> {
        self.file.stored().and_then(|stored_schema| stored_schema.data_type(self.schema(), id))
    }

    /// The logical type of column `id` when it was written, if it counts: by the options, and in a table whose log has Arrow
    /// types.
    fn stated_type(&self, id: u32) -> Option<&'a DataType> {
        self.own_type(id).filter(|_| !self.table.has_types_of_orc && self.table.options.arrow_schema)
    }

    /// Whether column `id` has intervals, which are stored as structs.
    fn is_interval(&self, id: u32) -> bool {
        self.stated_type(id).is_some_and(|logical| matches!(value_type(logical), DataType::Interval(_)))
    }

    /// Whether column `id` is of type `null`, and its nulls become those of `target`, another type. Booleans are read as
    /// they are stored.
    pub(super) fn is_null(&self, id: u32, target: &DataType) -> bool {
        let becomes_other = !matches!(value_type(target), DataType::Null | DataType::Boolean);
        becomes_other && self.own_type(id).is_some_and(is_null_type)
    }

    /// The cast of the keys of a map to `target`. Keys may be read as a dictionary.
    fn key(&self, id: u32, target: &DataType) -> Result<(Projected, ColumnCast)> {
        match (self.mapping.options.null_map_keys, target) {
            (NullMapKeys::Error, _) => self.column(id, target),
            (NullMapKeys::Dictionary, DataType::Dictionary(_, values)) => self.column(id, values),
            (NullMapKeys::Dictionary, _) => Ok((self.column(id, target)?.0, ColumnCast::Cast)),
        }
    }

    /// Checks that column `id` is a struct, as `target` in the table, of which `name` is a field.
    pub(super) fn check_is_struct(&self, id: u32, target: &DataType, name: &str) -> Result<()> {
        let this = self.schema().get(id)?;
        if this.kind == Kind::Struct {
            return Ok(());
        }
        self.column(id, target)?;
        // A union that is read as a struct has other fields.
        this.children.iter().try_for_each(|&child| check_is_value(self.schema(), child, name))
    }

    /// What is read of a column, and its cast. Without a cast, `otherwise` is the cast of names and metadata if the fields of
    /// the types differ.
    fn cast_if_types_differ(
        &self,
        projected: Projected,
        target: &DataType,
        cast: ColumnCast,
        otherwise: &dyn Fn() -> ColumnCast,
    ) -> Result<(Projected, ColumnCast)> {
        let differs = matches!(cast, ColumnCast::Keep) && self.mapping.data_type(&projected)? != *target;
        Ok((projected, if differs { otherwise() } else { cast }))
    }

    /// The error of column `id` of type `this`, which cannot be read as `target`.
    fn type_mismatch(&self, this: &Type, id: u32, target: &DataType) -> Error {
        let orc_type = self.schema().type_string(id).unwrap_or_else(|_| this.kind.name().to_owned());
        let logical = self.stated_type(id).map(decoded_type).filter(|logical| !logical.is_nested());
        let logical_text = logical.as_ref().map_or_else(String::new, |logical| format!(" ({})", TypeName(logical)));
        let has_instants = this.kind == Kind::TimestampInstant && matches!(target, DataType::Timestamp(_, None));
        let hint = if has_instants {
            "both have instants, which can be asked for"
        } else if self.table.is_schema_given && logical.is_some_and(|own| own.is_numeric()) && target.is_numeric() {
            "numbers are not narrowed: read the column as it is, and cast it"
        } else if self.table.is_schema_given {
            "the values are none of that type"
        } else {
            "a schema that is given can have a type for both"
        };
        let text = format!(
            "it is {orc_type}{logical_text} in this file, which does not become {} as it is in the table; {hint}",
            TypeName(target)
        );
        match self.table.conflicts.iter().find(|conflict| conflict.column == self.schema().path(id)) {
            Some(conflict) => Error::unsupported(format!("{text}: {}", conflict.error.message())),
            None => Error::unsupported(text),
        }
    }
}

fn is_bytes(kind: &DataType) -> bool {
    is_text(kind) || is_binary(kind)
}

/// Whether a field has local times that could be instants. `timestamp_ntz` of Spark could not.
pub(super) fn has_clock(field: &FieldRef) -> bool {
    match field.data_type() {
        DataType::Timestamp(_, None) => !is_spark_ntz(field),
        other => child_fields(other).into_iter().any(has_clock),
    }
}

/// Whether a type is that of timestamps, or has them below.
pub(super) fn has_timestamp(data_type: &DataType) -> bool {
    match value_type(data_type) {
        DataType::Timestamp(_, _) => true,
        other => child_fields(other).into_iter().any(|field| has_timestamp(field.data_type())),
    }
}

fn whole(schema: &Schema, id: u32) -> Result<Projected> {
    let children = schema.get(id)?.children.iter().map(|&child| whole(schema, child)).collect::<Result<_>>()?;
    Ok(Projected { id, children })
}

/// Whether the type `physical` in a file, with the type `logical` where it is known, is read as `target` as it is. If the file
/// states the logical type, or the table does not, a number does not become a time, nor a time one of another unit.
fn means(physical: &DataType, target: &DataType, logical: Option<&DataType>, is_known: bool) -> bool {
    use DataType as D;
    if logical.is_some_and(|logical| decoded_type(logical).equals_datatype(&decoded_type(target))) {
        return true;
    }
    match (physical, target) {
        (D::Dictionary(_, physical), D::Dictionary(_, target)) => means(physical, target, logical, is_known),
        (_, D::Dictionary(_, target)) => means(physical, target, logical, is_known),
        (_, D::RunEndEncoded(_, target)) => means(physical, target.data_type(), logical, is_known),
        (D::Int32 | D::Int64, D::Time32(_) | D::Time64(_) | D::Duration(_) | D::Interval(_))
        | (D::Struct(_), D::Interval(_)) => !is_known,
        (D::Interval(unit), D::Interval(target_unit)) => unit == target_unit,
        (D::Duration(unit), D::Duration(target_unit)) => unit == target_unit,
        (D::Timestamp(unit, _), D::Timestamp(target_unit, _)) => unit == target_unit,
        (D::Interval(_) | D::Duration(_) | D::Timestamp(_, _), _) => false,
        (physical, target) => {
            let own = logical.map_or_else(Vec::new, |logical| child_fields(value_type(logical)));
            let own = own.into_iter().map(|field| Some(field.data_type())).chain(std::iter::repeat(None));
            let pairs = child_fields(physical).into_iter().zip(child_fields(target)).zip(own);
            let mut pairs = pairs.map(|((physical, target), own)| (physical.data_type(), target.data_type(), own));
            pairs.all(|(physical, target, own)| means(physical, target, own, is_known))
        }
    }
}
