//! From the columns of a file to those of its table: by name, place or attribute, widened, and null where missing.
//!
//! | stored | becomes also |
//! |---|---|
//! | boolean | integers, text |
//! | tinyint … bigint | wider integers, floating point numbers, decimals, text |
//! | float, double, decimal | double; decimal: with no fewer digits on either side of the point; text |
//! | date | timestamp, text |
//! | timestamps | finer units, text |
//! | string, char, varchar | each other, in any of Arrow's forms; binary likewise |
//! | struct | with other fields: those that are missing are null |
//!
//! What else differs is an error.

use std::sync::Arc;

use arrow_array::cast::AsArray as _;
use arrow_array::{Array as _, ArrayRef, ListArray, MapArray, StructArray, new_null_array};
use arrow_cast::{CastOptions, cast_with_options};
use arrow_schema::{DataType, Field, FieldRef, Fields, TimeUnit};

use super::Matching;
use crate::arrow::Mapping;
use crate::error::{Error, Result};
use crate::options::TimestampUnit;
use crate::projection::{Projected, ROOT_COLUMN};
use crate::schema::{Kind, Type};

/// What to do with an array.
#[derive(Debug, Clone)]
pub(super) enum Adapt {
    /// Nothing.
    Keep,
    /// There is no such column: nulls.
    Missing,
    Cast,
    Struct(Ways),
    List(Box<Adapt>),
    /// Key and value.
    Map(Box<(Adapt, Adapt)>),
}

/// For each of some columns where it is among those that were read, if it is, and what to do with it.
pub(super) type Ways = Vec<(Option<usize>, Adapt)>;

/// Finds the columns of a table in a file.
pub(super) struct Matcher<'a> {
    pub(super) mapping: Mapping<'a>,
    pub(super) matching: &'a Matching,
    /// Columns whose values are in the paths.
    pub(super) partition: &'a Fields,
}

impl Matcher<'_> {
    /// The child of column `parent` of the file that is `field`, which is the child at `place` in the table.
    pub(super) fn find(&self, parent: u32, place: usize, field: &Field) -> Result<Option<u32>> {
        let schema = &self.mapping.tail.schema;
        let this = schema.get(parent)?;
        let by = |is_it: &dyn Fn(usize, u32) -> bool| {
            let mut found = this.children.iter().enumerate().filter(|&(at, &id)| is_it(at, id)).map(|(_, &id)| id);
            match (found.next(), found.next()) {
                (Some(_), Some(_)) => {
                    Err(Error::invalid(format!("more than one column of the file could be {:?}", field.name())))
                }
                (found, _) => Ok(found),
            }
        };
        match self.matching {
            Matching::Position if parent == 0 => {
                // The columns of a table are those that its paths do not have.
                let in_path = |name: &String| self.partition.iter().any(|field| field.name() == name);
                let mut own = this.children.iter().zip(&this.field_names).filter(|(_, name)| !in_path(name));
                Ok(own.nth(place).map(|(&id, _)| id))
            }
            Matching::Name | Matching::Position => {
                by(&|at, _| this.field_names.get(at).is_some_and(|name| name == field.name()))
            }
            Matching::NameIgnoringCase => by(&|at, _| {
                let name = this.field_names.get(at);
                name.is_some_and(|name| name.to_lowercase() == field.name().to_lowercase())
            }),
            Matching::Attribute(key) => match field.metadata().get(key) {
                None => Err(Error::invalid(format!("column {:?} of the table has no {key}", field.name()))),
                Some(wanted) => by(&|_, id| {
                    let attributes = schema.get(id).map_or(&[][..], |this| &this.attributes);
                    attributes.iter().any(|(name, value)| name == key && value == wanted)
                }),
            },
        }
    }

    /// Whether the root of the file, which is no struct, is `field`, which is the child at `place` in the table.
    pub(super) fn is_root(&self, place: usize, field: &Field) -> Result<bool> {
        Ok(match self.matching {
            Matching::Position => place == 0,
            Matching::Name => field.name() == ROOT_COLUMN,
            Matching::NameIgnoringCase => field.name().to_lowercase() == ROOT_COLUMN,
            Matching::Attribute(key) => {
                let attributes = &self.mapping.tail.schema.get(0)?.attributes;
                let wanted = field.metadata().get(key);
                attributes.iter().any(|(name, value)| name == key && Some(value) == wanted)
            }
        })
    }

    /// The units that timestamps in column `id` have in the table, by their ids in the file.
    pub(super) fn units(&self, id: u32, target: &DataType, units: &mut Vec<(u32, TimestampUnit)>) -> Result<()> {
        let this = self.mapping.tail.schema.get(id)?;
        match (this.kind, target, &this.children[..]) {
            (Kind::Struct, DataType::Struct(fields), _) => {
                for (place, field) in fields.iter().enumerate().filter(|(_, field)| has_timestamps(field.data_type())) {
                    // What is not found, or is there twice, is an error where it is read.
                    if let Ok(Some(child)) = self.find(id, place, field) {
                        self.units(child, field.data_type(), units)?;
                    }
                }
            }
            (Kind::List, DataType::List(item), &[element]) => self.units(element, item.data_type(), units)?,
            (Kind::Map, DataType::Map(entries, _), &[key, value]) => {
                if let DataType::Struct(fields) = entries.data_type() {
                    for (id, field) in [key, value].into_iter().zip(fields) {
                        self.units(id, field.data_type(), units)?;
                    }
                }
            }
            (Kind::Timestamp | Kind::TimestampInstant | Kind::Long, DataType::Timestamp(unit, _), _) => {
                let unit = match unit {
                    TimeUnit::Second => TimestampUnit::Second,
                    TimeUnit::Millisecond => TimestampUnit::Millisecond,
                    TimeUnit::Microsecond => TimestampUnit::Microsecond,
                    TimeUnit::Nanosecond => TimestampUnit::Nanosecond,
                };
                units.push((id, unit));
            }
            _ => {}
        }
        Ok(())
    }

    /// How `fields` of the table come from the children of column `parent`, and what is read for that.
    pub(super) fn fields(&self, parent: u32, fields: &[(usize, FieldRef)]) -> Result<(Vec<Projected>, Ways)> {
        let (mut read, mut ways) = (Vec::new(), Vec::new());
        for (place, field) in fields {
            match self.find(parent, *place, field)? {
                None => ways.push((None, Adapt::Missing)),
                Some(id) => {
                    let (projected, adapt) = self.column(id, field.data_type())?;
                    ways.push((Some(read.len()), adapt));
                    read.push(projected);
                }
            }
        }
        Ok((read, ways))
    }

    /// How column `id` becomes `target`.
    pub(super) fn column(&self, id: u32, target: &DataType) -> Result<(Projected, Adapt)> {
        self.try_column(id, target).map_err(|error| error.in_column(&self.mapping.tail.schema.path(id)))
    }

    fn try_column(&self, id: u32, target: &DataType) -> Result<(Projected, Adapt)> {
        let schema = &self.mapping.tail.schema;
        let this = schema.get(id)?;
        match (this.kind, target, &this.children[..]) {
            (Kind::Struct, DataType::Struct(fields), _) => {
                let placed: Vec<_> = fields.iter().cloned().enumerate().collect();
                let (children, ways) = self.fields(id, &placed)?;
                let is_same =
                    ways.iter().enumerate().all(|(at, way)| matches!(way, (Some(read), Adapt::Keep) if *read == at));
                let projected = Projected { id, children };
                let is_same = is_same && self.mapping.data_type(&projected)? == *target;
                Ok((projected, if is_same { Adapt::Keep } else { Adapt::Struct(ways) }))
            }
            (Kind::List, DataType::List(item), &[element]) => {
                let (element, adapt) = self.column(element, item.data_type())?;
                let adapt = if matches!(adapt, Adapt::Keep) { Adapt::Keep } else { Adapt::List(Box::new(adapt)) };
                self.kept(Projected { id, children: vec![element] }, target, adapt, &|| {
                    Adapt::List(Box::new(Adapt::Keep))
                })
            }
            (Kind::Map, DataType::Map(entries, _), &[key, value]) => {
                let DataType::Struct(fields) = entries.data_type() else { return Err(self.misfit(this, id, target)) };
                let [key_field, value_field] = &fields[..] else { return Err(self.misfit(this, id, target)) };
                let (key, key_adapt) = self.column(key, key_field.data_type())?;
                let (value, value_adapt) = self.column(value, value_field.data_type())?;
                let adapt = match (&key_adapt, &value_adapt) {
                    (Adapt::Keep, Adapt::Keep) => Adapt::Keep,
                    _ => Adapt::Map(Box::new((key_adapt, value_adapt))),
                };
                let projected = Projected { id, children: vec![key, value] };
                self.kept(projected, target, adapt, &|| Adapt::Map(Box::new((Adapt::Keep, Adapt::Keep))))
            }
            _ => {
                let projected = whole(schema, id)?;
                let stored = self.mapping.data_type(&projected)?;
                if stored == *target {
                    return Ok((projected, Adapt::Keep));
                }
                match widens(&stored, target) {
                    true => Ok((projected, Adapt::Cast)),
                    false => Err(self.misfit(this, id, target)),
                }
            }
        }
    }

    /// What was found, or where names and metadata of the fields within differ `otherwise`.
    fn kept(
        &self,
        projected: Projected,
        target: &DataType,
        adapt: Adapt,
        otherwise: &dyn Fn() -> Adapt,
    ) -> Result<(Projected, Adapt)> {
        let differs = matches!(adapt, Adapt::Keep) && self.mapping.data_type(&projected)? != *target;
        Ok((projected, if differs { otherwise() } else { adapt }))
    }

    fn misfit(&self, this: &Type, id: u32, target: &DataType) -> Error {
        let stored = self.mapping.tail.schema.type_string(id).unwrap_or_else(|_| this.kind.name().to_owned());
        Error::unsupported(format!("it is {stored} in this file, which does not become {target} as it is in the table"))
    }
}

fn whole(schema: &crate::schema::Schema, id: u32) -> Result<Projected> {
    let children = schema.get(id)?.children.iter().map(|&child| whole(schema, child)).collect::<Result<_>>()?;
    Ok(Projected { id, children })
}

/// Whether there are timestamps in a type, at any depth.
pub(super) fn has_timestamps(kind: &DataType) -> bool {
    match kind {
        DataType::Timestamp(_, _) => true,
        DataType::Struct(fields) => fields.iter().any(|field| has_timestamps(field.data_type())),
        DataType::List(inner) | DataType::Map(inner, _) => has_timestamps(inner.data_type()),
        _ => false,
    }
}

fn is_text(kind: &DataType) -> bool {
    match kind {
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => true,
        DataType::Dictionary(_, values) => is_text(values),
        _ => false,
    }
}

fn is_binary(kind: &DataType) -> bool {
    matches!(kind, DataType::Binary | DataType::LargeBinary | DataType::BinaryView)
}

/// Whether a type becomes another without loss, or as Java has it.
fn widens(from: &DataType, to: &DataType) -> bool {
    use DataType as D;
    let digits = |kind: &D| match kind {
        D::Int8 => Some((3, 0)),
        D::Int16 => Some((5, 0)),
        D::Int32 => Some((10, 0)),
        D::Int64 => Some((19, 0)),
        D::Decimal128(precision, scale) => Some((i16::from(*precision) - i16::from(*scale), i16::from(*scale))),
        _ => None,
    };
    let is_number = from.is_integer() || matches!(from, D::Float32 | D::Float64 | D::Decimal128(_, _));
    match (from, to) {
        (from, to) if is_text(to) => {
            is_text(from) || is_number || matches!(from, D::Boolean | D::Date32 | D::Timestamp(_, _))
        }
        (from, to) if is_binary(to) => is_binary(from) || is_text(from),
        (from, to) if from.is_integer() && to.is_integer() => from.primitive_width() <= to.primitive_width(),
        (from, D::Decimal128(_, _)) => {
            digits(from).zip(digits(to)).is_some_and(|(from, to)| from.0 <= to.0 && from.1 <= to.1)
        }
        (_, D::Float64) => is_number,
        (from, D::Float32) => from.is_integer(),
        (D::Boolean, to) => to.is_integer(),
        (D::Date32, D::Timestamp(_, None)) => true,
        (D::Timestamp(a, from), D::Timestamp(b, to)) => from == to && fineness(a) <= fineness(b),
        _ => false,
    }
}

fn fineness(unit: &TimeUnit) -> u8 {
    match unit {
        TimeUnit::Second => 0,
        TimeUnit::Millisecond => 1,
        TimeUnit::Microsecond => 2,
        TimeUnit::Nanosecond => 3,
    }
}

impl Adapt {
    /// The array as it is in the table.
    pub(super) fn apply(&self, array: &ArrayRef, target: &DataType) -> Result<ArrayRef> {
        let misfit = |error| Error::limit(format!("a value does not fit into {target}")).with_source(error);
        match (self, target) {
            (Adapt::Keep, _) => Ok(array.clone()),
            (Adapt::Missing, _) => Ok(new_null_array(target, array.len())),
            (Adapt::Struct(ways), DataType::Struct(fields)) => {
                let Some(parent) = array.as_struct_opt() else { return Ok(array.clone()) };
                let columns = apply_all(ways, parent.columns(), fields, parent.len())?;
                let nulls = parent.nulls().cloned();
                let array = StructArray::try_new_with_length(fields.clone(), columns, nulls, parent.len());
                Ok(Arc::new(array.map_err(misfit)?))
            }
            (Adapt::List(inner), DataType::List(item)) => {
                let Some(list) = array.as_list_opt::<i32>() else { return Ok(array.clone()) };
                let values = inner.apply(list.values(), item.data_type())?;
                let array = ListArray::try_new(item.clone(), list.offsets().clone(), values, list.nulls().cloned());
                Ok(Arc::new(array.map_err(misfit)?))
            }
            (Adapt::Map(inner), DataType::Map(entries, sorted)) => {
                let (Some(map), DataType::Struct(fields)) = (array.as_map_opt(), entries.data_type()) else {
                    return Ok(array.clone());
                };
                let [key, value] = &fields[..] else { return Ok(array.clone()) };
                let columns =
                    vec![inner.0.apply(map.keys(), key.data_type())?, inner.1.apply(map.values(), value.data_type())?];
                let both = StructArray::try_new(fields.clone(), columns, None).map_err(misfit)?;
                let array =
                    MapArray::try_new(entries.clone(), map.offsets().clone(), both, map.nulls().cloned(), *sorted);
                Ok(Arc::new(array.map_err(misfit)?))
            }
            _ => {
                let options = CastOptions { safe: false, ..CastOptions::default() };
                cast_with_options(array, target, &options).map_err(misfit)
            }
        }
    }
}

/// The columns of the table, given those that were read.
pub(super) fn apply_all(
    ways: &[(Option<usize>, Adapt)],
    read: &[ArrayRef],
    fields: &Fields,
    rows: usize,
) -> Result<Vec<ArrayRef>> {
    let column = |((at, adapt), field): (&(Option<usize>, Adapt), &FieldRef)| match at.and_then(|at| read.get(at)) {
        None => Ok(new_null_array(field.data_type(), rows)),
        Some(array) => adapt.apply(array, field.data_type()).map_err(|error| error.in_column(field.name())),
    };
    ways.iter().zip(fields).map(column).collect()
}
