//! What of a filter is decided while a file is read, and what of it later.
//!
//! Most conditions are asked of what is stored, where statistics prove much of them. Where a column compares otherwise
//! in the table, as text in place of numbers does, they are asked of what it has become.

use std::sync::Arc;

use arrow_array::cast::AsArray as _;
use arrow_array::{Array as _, ArrayRef, BooleanArray, make_array};
use arrow_buffer::NullBuffer;
use arrow_schema::{DataType, FieldRef, TimeUnit};

use super::matching::Matcher;
use super::table::Table;
use super::{TableFile, partition};
use crate::arrow::{domain, evaluate, nanoseconds};
use crate::error::{Error, Result};
use crate::expression::Predicate;
use crate::options::OutOfRange;
use crate::predicate::{Condition, Domain, Held, Leaf, Named, Node, bind_names, check_is_value};
use crate::schema::Kind;

/// Whether the filter is true of no row, whatever is in the file, by the values of the partition columns.
pub(super) fn is_ruled_out(table: &Table, file: &TableFile) -> Result<bool> {
    let Some(filter) = &table.options.filter else { return Ok(false) };
    let condition = bind_names(filter, &|name| table.named(name, Some(file)))?;
    Ok(condition.root == Node::Constant(false))
}

/// What can only be decided of the columns as they are in the table.
pub(super) struct Late {
    condition: Condition,
    /// The way to the column of each leaf.
    ways: Vec<Vec<usize>>,
}

/// Takes the filter apart; columns that are not read yet, and are needed later, are added to `wanted`.
pub(super) fn conditions(
    table: &Table,
    file: &TableFile,
    matcher: &Matcher<'_>,
    wanted: &mut Vec<(usize, FieldRef)>,
) -> Result<(Option<Condition>, Option<Late>)> {
    let conjuncts = match &table.options.filter {
        None => Vec::new(),
        Some(Predicate::And(parts)) => parts.clone(),
        Some(other) => vec![other.clone()],
    };
    let (mut early, mut late) = (Vec::new(), Vec::new());
    for conjunct in conjuncts {
        let has_floats = conjunct.has_floats();
        let suits = |name: &str| -> Result<bool> {
            let of_table = table.named(name, Some(file))?.domain;
            let found = named(table, file, matcher, name)?;
            Ok(found.is_some_and(|found| !has_floats || found.domain == of_table))
        };
        let suits = conjunct.columns().into_iter().map(suits).collect::<Result<Vec<_>>>()?;
        let is_early = suits.into_iter().all(|suits| suits);
        if is_early { early.push(conjunct) } else { late.push(conjunct) }
    }
    let of_file = |name: &str| {
        let found = named(table, file, matcher, name)?;
        found.ok_or_else(|| Error::invalid(format!("column {name:?} is of another type")))
    };
    let condition = (!early.is_empty()).then(|| bind_names(&Predicate::And(early), &of_file)).transpose()?;
    if late.is_empty() {
        return Ok((condition, None));
    }
    Ok((condition, Some(Late::bind(table, file, &Predicate::And(late), wanted)?)))
}

/// What a name stands for in a file; none where its values compare otherwise than in the table.
fn named(table: &Table, file: &TableFile, matcher: &Matcher<'_>, name: &str) -> Result<Option<Named>> {
    let in_table = table.named(name, Some(file))?;
    if table.partition_at(name).is_some() {
        return Ok(Some(in_table));
    }
    let (schema, path) = (matcher.schema(), table.path(name)?);
    let (mut id, mut above) = (0, None::<FieldRef>);
    for (depth, &place) in path.iter().enumerate() {
        let Some(field) = table.field_at(path.get(..=depth).unwrap_or_default()) else { return Ok(None) };
        if let Some(above) = &above {
            matcher.check_is_struct(id, above.data_type(), name)?;
        }
        match matcher.find(id, place, &field)? {
            Some(child) => id = child,
            None => return Ok(Some(Named { held: Held::Null, ..in_table })),
        }
        above = Some(field);
    }
    check_is_value(schema, id, name)?;
    let stored = domain(&matcher.mapping, id)?;
    let is_alike = match (stored, in_table.domain) {
        // All of them are compared as bytes.
        (Domain::Text { .. }, Domain::Text { .. } | Domain::Binary) => true,
        (Domain::Decimal { scale: stored }, Domain::Decimal { scale }) => stored <= scale,
        (Domain::Integer, Domain::Decimal { .. }) => true,
        (Domain::Opaque, Domain::Opaque) => {
            let target = above.as_ref().map_or(&DataType::Null, |field| field.data_type());
            if !matches!(
                (schema.get(id)?.kind, target),
                (Kind::Struct, DataType::Struct(_))
                    | (Kind::List, DataType::List(_))
                    | (Kind::Map, DataType::Map(_, _))
            ) {
                // Whether it fits at all.
                matcher.column(id, target)?;
            }
            true
        }
        (stored, of_table) => stored == of_table,
    };
    let named = Named { domain: stored, type_string: schema.type_string(id)?, held: Held::Column(id) };
    Ok(is_alike.then_some(named))
}

impl Table {
    /// Whether the filter fits to the types of the table.
    pub(super) fn check_filter(&self) -> Result<()> {
        let Some(filter) = &self.options.filter else { return Ok(()) };
        if self.files.is_empty() && self.fields.is_empty() {
            return Ok(());
        }
        bind_names(filter, &|name| self.named(name, None)).map(|_| ())
    }

    /// What a name stands for in the table; of a partition column in a file, its value.
    fn named(&self, name: &str, file: Option<&TableFile>) -> Result<Named> {
        if let Some(field) = self.partition_at(name).and_then(|at| self.partition.get(at)) {
            let value = file.and_then(|file| file.partition.iter().find(|(of, _)| of == name));
            let held = match (file, value) {
                (None, _) => Held::Column(0),
                (Some(_), value) => partition::held(value.and_then(|(_, value)| value.as_deref()), field.data_type())?,
            };
            return Ok(Named {
                domain: self.domain(field.data_type()),
                type_string: field.data_type().to_string(),
                held,
            });
        }
        let field = self.field_at(&self.path(name)?).ok_or_else(|| {
            Error::invalid(format!("{name:?} is within a list or a map: a filter needs one value a row"))
        })?;
        let domain = self.stored_domain(field.data_type());
        Ok(Named { domain, type_string: field.data_type().to_string(), held: Held::Column(0) })
    }

    /// What values of a column are compared as, which are those that are stored: of times it is the numbers.
    fn stored_domain(&self, kind: &DataType) -> Domain {
        match kind {
            DataType::Null => Domain::Boolean,
            DataType::UInt64 => Domain::Decimal { scale: 0 },
            DataType::Time32(_) | DataType::Time64(_) => Domain::Integer,
            DataType::Duration(unit) if *unit != TimeUnit::Microsecond => Domain::Integer,
            DataType::Float16 => Domain::Float,
            DataType::Decimal32(_, scale) | DataType::Decimal64(_, scale) | DataType::Decimal256(_, scale) => {
                Domain::Decimal { scale: u32::try_from(*scale).unwrap_or_default() }
            }
            DataType::FixedSizeBinary(_) => Domain::Binary,
            DataType::Date64 => Domain::Date,
            DataType::Dictionary(_, values) => self.stored_domain(values),
            DataType::RunEndEncoded(_, values) => self.stored_domain(values.data_type()),
            kind => self.domain(kind),
        }
    }

    /// What values of an Arrow type are compared as.
    fn domain(&self, kind: &DataType) -> Domain {
        match kind {
            DataType::Boolean => Domain::Boolean,
            kind if kind.is_integer() => Domain::Integer,
            DataType::Float32 | DataType::Float64 => Domain::Float,
            DataType::Decimal128(_, scale) => Domain::Decimal { scale: u32::try_from(*scale).unwrap_or_default() },
            DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => Domain::Text { trimmed: false },
            DataType::Dictionary(_, values) => self.domain(values),
            DataType::Binary | DataType::LargeBinary | DataType::BinaryView => Domain::Binary,
            DataType::Date32 => Domain::Date,
            DataType::Timestamp(unit, zone) => Domain::Timestamp {
                nanoseconds: nanoseconds(*unit),
                is_instant: zone.is_some(),
                may_become_null: self.options.timestamp_out_of_range == OutOfRange::Null,
            },
            _ => Domain::Opaque,
        }
    }
}

impl Late {
    fn bind(
        table: &Table,
        file: &TableFile,
        predicate: &Predicate,
        wanted: &mut Vec<(usize, FieldRef)>,
    ) -> Result<Self> {
        let mut names: Vec<&str> = predicate.columns();
        names.sort_unstable();
        names.dedup();
        let mut ways = Vec::new();
        for &name in &names {
            if table.partition_at(name).is_some() {
                ways.push(Vec::new());
                continue;
            }
            let path = table.path(name)?;
            let Some((&top, below)) = path.split_first() else { continue };
            let Some(whole) = table.fields.get(top) else { continue };
            // A column that is read in part does for its whole only.
            let at = wanted.iter().position(|(place, field)| *place == top && field == whole).unwrap_or_else(|| {
                wanted.push((top, whole.clone()));
                wanted.len() - 1
            });
            ways.push([vec![at], below.to_vec()].concat());
        }
        let condition = bind_names(predicate, &|name| {
            let found = table.named(name, Some(file))?;
            let at = names.iter().position(|other| *other == name).unwrap_or_default();
            Ok(match found.held {
                Held::Column(_) => Named { held: Held::Column(u32::try_from(at).unwrap_or_default()), ..found },
                _ => found,
            })
        })?;
        let way = |leaf: &Leaf| ways.get(leaf.column as usize).cloned().unwrap_or_default();
        let ways = condition.leaves.iter().map(way).collect();
        Ok(Late { condition, ways })
    }

    /// The rows for which it is true, given the columns of the table.
    pub(super) fn evaluate(&self, columns: &[ArrayRef], rows: usize) -> Result<BooleanArray> {
        let kept = evaluate(&self.condition, rows, &|leaf| value(self.ways.get(leaf), columns))?;
        Ok(BooleanArray::new(kept, None))
    }
}

/// The values at the end of a way down.
fn value(way: Option<&Vec<usize>>, columns: &[ArrayRef]) -> Result<ArrayRef> {
    let missing = || Error::invalid("a column of the filter is missing");
    let mut way = way.ok_or_else(missing)?.iter();
    let mut array = way.next().and_then(|&at| columns.get(at)).ok_or_else(missing)?.clone();
    for &at in way {
        let Some(parent) = array.as_struct_opt() else { return Err(missing()) };
        let child = parent.columns().get(at).ok_or_else(missing)?;
        // A field of what is null is null.
        let nulls = NullBuffer::union(parent.nulls(), child.nulls());
        let data = child.to_data().into_builder().nulls(nulls).build();
        array = Arc::new(make_array(data.map_err(|error| Error::corrupt("a field does not fit").with_source(error))?));
    }
    Ok(array)
}
