//! Division of the filter of a scan: a part is evaluated while a file is read, the other part on its batches.
//!
//! Most conditions are evaluated on stored values, where statistics help. If values of a column compare differently in the
//! table, such as text that is stored as numbers, the condition is evaluated on values of the table.

use arrow_schema::{DataType, FieldRef};
use orcish_core::error::{Error, Result};
use orcish_core::expression::Predicate;
use orcish_core::names::not_one_value_per_row;
use orcish_core::predicate::{
    BatchFilter, Condition, Domain, FilterColumn, Node, ValueSource, bind_names, stored_domain,
};
use orcish_core::type_names::TypeName;

use super::matching::Matcher;
use super::partition;
use super::table::{ROW_NUMBER_PLACE, Table};
use super::table_file::TableFile;
use crate::options::OutOfRange;
use crate::predicate::{check_is_value, row_number_column};
use crate::read::domain;
use crate::schema::Kind;

/// Whether the values of the partition columns prove that the filter is true for no row of a file.
pub(super) fn is_ruled_out(table: &Table, file: &TableFile) -> Result<bool> {
    let Some(filter) = &table.options.filter else { return Ok(false) };
    let condition = bind_names(filter, &|name| table.column_of_any_file(name, file))?;
    Ok(condition.root == Node::Constant(false))
}

/// Divides the filter. Columns that the later part needs are added to `wanted`.
pub(super) fn conditions(
    table: &Table,
    file: &TableFile,
    matcher: &Matcher<'_>,
    wanted: &mut Vec<(usize, FieldRef)>,
) -> Result<(Option<Condition>, Option<BatchFilter>)> {
    let conjuncts = match &table.options.filter {
        None => Vec::new(),
        Some(Predicate::And(parts)) => parts.clone(),
        Some(other) => vec![other.clone()],
    };
    let (mut early, mut late) = (Vec::new(), Vec::new());
    for conjunct in conjuncts {
        let has_floats = conjunct.has_floats();
        let suits = |name: &str| -> Result<bool> {
            let of_table = table.filter_column(name, Some(file))?.domain;
            let found = stored_column(table, file, matcher, name)?;
            Ok(found.is_some_and(|found| !has_floats || found.domain == of_table))
        };
        let suits = conjunct.columns().into_iter().map(suits).collect::<Result<Vec<_>>>()?;
        let is_early = suits.into_iter().all(|suits| suits);
        if is_early { early.push(conjunct) } else { late.push(conjunct) }
    }
    let stored = |name: &str| {
        let found = stored_column(table, file, matcher, name)?;
        found.ok_or_else(|| Error::invalid(format!("column {name:?} is of another type")))
    };
    let condition = (!early.is_empty()).then(|| bind_names(&Predicate::And(early), &stored)).transpose()?;
    if late.is_empty() {
        return Ok((condition, None));
    }
    Ok((condition, Some(self::late(table, file, &Predicate::And(late), wanted)?)))
}

/// The column of a name in a file; `None` if its values compare differently in the table.
fn stored_column(table: &Table, file: &TableFile, matcher: &Matcher<'_>, name: &str) -> Result<Option<FilterColumn>> {
    let in_table = table.filter_column(name, Some(file))?;
    if table.partition_at(name).is_some() || table.is_row_number(name) {
        return Ok(Some(in_table));
    }
    let (schema, path) = (matcher.schema(), table.single_path(name)?);
    let (mut id, mut above) = (0, None::<FieldRef>);
    for (depth, &place) in path.iter().enumerate() {
        let Some(field) = table.field_at(path.get(..=depth).unwrap_or_default()) else { return Ok(None) };
        if let Some(above) = &above {
            matcher.check_is_struct(id, above.data_type(), name)?;
        }
        let siblings = match above.as_ref().map(|above| above.data_type()) {
            Some(DataType::Struct(fields)) => fields,
            _ => &table.fields,
        };
        match matcher.find(id, place, &field, &matcher.places(id, siblings))? {
            Some(child) if !matcher.is_null(child, field.data_type()) => id = child,
            _ => return Ok(Some(FilterColumn { source: ValueSource::Null, ..in_table })),
        }
        above = Some(field);
    }
    check_is_value(schema, id, name)?;
    // Values of type null are stored as booleans.
    let stored = match (domain(&matcher.mapping, id)?, in_table.domain) {
        (Domain::Boolean, Domain::Null) => Domain::Null,
        (stored, _) => stored,
    };
    let is_alike = match (stored, in_table.domain) {
        // All of these are compared as bytes.
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
                // Checks the type of the literal.
                matcher.column(id, target)?;
            }
            true
        }
        (Domain::Integer, Domain::Integer) => {
            above.as_ref().is_none_or(|field| matcher.has_unit_of(id, field.data_type()))
        }
        (stored, of_table) => stored == of_table,
    };
    let column = FilterColumn {
        domain: stored,
        type_string: schema.type_string(id)?,
        source: ValueSource::Column(id),
        may_have_others: false,
    };
    Ok(is_alike.then_some(column))
}

impl Table {
    /// Checks that the filter fits the types of the table.
    pub(super) fn check_filter(&self) -> Result<()> {
        let Some(filter) = &self.options.filter else { return Ok(()) };
        if self.files.is_empty() && self.fields.is_empty() {
            return Ok(());
        }
        bind_names(filter, &|name| self.filter_column(name, None)).map(|_| ())
    }

    /// The column of a name in the table. A partition column of a file is its value.
    fn filter_column(&self, name: &str, file: Option<&TableFile>) -> Result<FilterColumn> {
        if self.is_row_number(name) {
            return row_number_column(name, self.partition_at(name).is_some() || self.single_path(name).is_ok());
        }
        if let Some(field) = self.partition_at(name).and_then(|at| self.partition.get(at)) {
            let value = file.and_then(|file| file.partition.iter().find(|(of, _)| of == name));
            let source = match (file, value) {
                (None, _) => ValueSource::Column(0),
                (Some(_), value) => {
                    partition::constant(value.and_then(|(_, value)| value.as_deref()), field.data_type())?
                }
            };
            return Ok(FilterColumn {
                domain: stored_domain(field.data_type(), false),
                type_string: TypeName(field.data_type()).to_string(),
                source,
                may_have_others: false,
            });
        }
        let field = self.field_at(&self.single_path(name)?).ok_or_else(|| not_one_value_per_row(name))?;
        let domain = stored_domain(field.data_type(), self.times_may_become_null());
        Ok(FilterColumn {
            domain: if self.options.compares_digits() { domain.with_all_digits() } else { domain },
            type_string: TypeName(field.data_type()).to_string(),
            source: ValueSource::Column(0),
            may_have_others: false,
        })
    }

    /// The column of a name in the table, where the type of the column in a file is not known, or is another one.
    fn column_of_any_file(&self, name: &str, file: &TableFile) -> Result<FilterColumn> {
        Ok(FilterColumn { may_have_others: true, ..self.filter_column(name, Some(file))? })
    }

    fn times_may_become_null(&self) -> bool {
        self.options.timestamp_out_of_range == OutOfRange::Null
    }
}

/// The part of a filter that is evaluated on columns of the table.
fn late(
    table: &Table,
    file: &TableFile,
    predicate: &Predicate,
    wanted: &mut Vec<(usize, FieldRef)>,
) -> Result<BatchFilter> {
    let mut way = |name: &str| {
        if table.partition_at(name).is_some() {
            return Ok(Vec::new());
        }
        if table.is_row_number(name) {
            return Ok(vec![ROW_NUMBER_PLACE]);
        }
        let path = table.single_path(name)?;
        let Some((&top, below)) = path.split_first() else { return Ok(path) };
        let Some(whole) = table.fields.get(top) else { return Ok(Vec::new()) };
        // If only some fields of the struct are read, the test covers only these.
        let at = wanted.iter().position(|(place, field)| *place == top && field == whole).unwrap_or_else(|| {
            wanted.push((top, whole.clone()));
            wanted.len() - 1
        });
        Ok([&[at], below].concat())
    };
    BatchFilter::bind(predicate, &mut way, &|name| table.column_of_any_file(name, file))
}
