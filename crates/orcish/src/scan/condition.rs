//! Division of the filter of a scan: a part is evaluated while a file is read, the other part on its batches.
//!
//! Most conditions are evaluated on stored values, where statistics help. If values of a column compare differently in the
//! table, such as text that is stored as numbers, the condition is evaluated on values of the table.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use arrow_array::{ArrayRef, BooleanArray};
use arrow_buffer::BooleanBuffer;
use arrow_schema::{DataType, FieldRef};
use orcish_core::error::{Error, OrInternal as _, Result};
use orcish_core::expression::Predicate;
use orcish_core::names::{ColumnName, not_one_value_per_row};
use orcish_core::predicate::{
    BatchFilter, Condition, Constant, Domain, FilterColumn, ValueSource, bind_names, conjuncts, stored_domain,
};
use orcish_core::type_names::TypeName;

use super::matching::Matcher;
use super::partition;
use super::table::{Conjunct, ROW_NUMBER_PLACE, Table};
use super::table_file::TableFile;
use crate::predicate::{check_is_value, is_known, row_number_column};
use crate::read::filter_column;
use crate::schema::Kind;

/// The part of a filter that is evaluated on columns of the table.
pub(super) struct LateFilter {
    /// The conjuncts of the part.
    conjuncts: Vec<BatchFilter>,
    /// For each column of the table that the part needs, its index among the columns that are read.
    columns: BTreeMap<usize, usize>,
}

/// The conjuncts of the filter for a file, in which the values of its partition columns are pruned; `None` if these prove that
/// no row is selected.
pub(super) fn prune_partition(table: &Table, file: &TableFile) -> Result<Option<Vec<BatchFilter>>> {
    let constant = |path: &[usize]| table.partition_value(path, file);
    let pruned = table.conjuncts.iter().map(|conjunct| conjunct.filter.prune_constants(&constant));
    let pruned = pruned.collect::<Result<Vec<_>>>()?;
    let is_false = |filter: &BatchFilter| filter.condition().constant() == Some(false);
    Ok(if pruned.iter().any(is_false) { None } else { Some(pruned) })
}

/// Whether the values of the partition columns prove that the filter is true for no row of a file.
pub(super) fn is_ruled_out(table: &Table, file: &TableFile) -> Result<bool> {
    Ok(prune_partition(table, file)?.is_none())
}

/// Divides the filter. `pruned` are its conjuncts for the file. Columns that the later part needs are added to `wanted`.
pub(super) fn conditions(
    table: &Table,
    file: &TableFile,
    matcher: &Matcher<'_>,
    pruned: Vec<BatchFilter>,
    wanted: &mut Vec<(usize, FieldRef)>,
) -> Result<(Option<Condition>, Option<LateFilter>)> {
    let (mut early, mut late) = (Vec::new(), Vec::new());
    let mut columns = HashMap::new();
    for (Conjunct { predicate, .. }, filter) in table.conjuncts.iter().zip(pruned) {
        let names = predicate.columns();
        for name in names.iter().copied() {
            if !columns.contains_key(name) {
                columns.insert(name, file_column(table, file, matcher, name)?);
            }
        }
        let has_floats = predicate.has_floats();
        let suits = |column: &FileColumn| column.is_alike && (column.has_domain_of_table || !has_floats);
        if names.iter().all(|name| columns.get(name).is_some_and(suits)) {
            early.push(predicate.clone());
        } else {
            late.push(filter);
        }
    }
    let early = if early.len() > 1 { Some(Predicate::And(early)) } else { early.pop() };
    let bind = |predicate| {
        bind_names(&predicate, &mut |name| {
            let column = columns.get(name).or_internal("a column of a filter was not looked up")?;
            Ok((column.column.clone(), column.source.clone()))
        })
    };
    let condition = early.map(bind).transpose()?;
    let late = (!late.is_empty()).then(|| LateFilter::try_new(table, late, wanted)).transpose()?;
    Ok((condition, late))
}

/// A column of the filter in a file.
struct FileColumn {
    column: FilterColumn,
    source: ValueSource,
    /// Whether its values compare as those of the table.
    is_alike: bool,
    /// Whether they also have the domain of those of the table.
    has_domain_of_table: bool,
}

/// The column of a name in a file.
fn file_column(table: &Table, file: &TableFile, matcher: &Matcher<'_>, name: &ColumnName) -> Result<FileColumn> {
    let (in_table, path) = table.filter_column(name)?;
    let of_table = |source| FileColumn { column: in_table.clone(), source, is_alike: true, has_domain_of_table: true };
    if table.is_row_number(name) {
        return Ok(of_table(ValueSource::RowNumber));
    }
    if let Some(value) = table.partition_value(&path, file)? {
        return Ok(of_table(ValueSource::Constant(value)));
    }
    let (mut id, mut siblings, mut above) = (0, table.fields.clone(), None::<FieldRef>);
    for &place in &path {
        if let Some(above) = &above {
            matcher.check_is_struct(id, above.data_type(), name.as_str())?;
            let DataType::Struct(fields) = above.data_type() else {
                return Err(Error::internal("a path leads through a column that is no struct"));
            };
            siblings = fields.clone();
        }
        let field = siblings.get(place).or_internal("a path leads to no field of the table")?;
        match matcher.find(id, place, field, &matcher.places(id, &siblings))? {
            Some(child) if !matcher.is_null(child, field.data_type()) => id = child,
            _ => return Ok(of_table(ValueSource::Constant(Constant::Null))),
        }
        above = Some(field.clone());
    }
    let target = above.or_internal("the path to a column is empty")?;
    let schema = matcher.schema();
    check_is_value(schema, id, name.as_str())?;
    let mut column = filter_column(&matcher.mapping, id)?;
    // Values of type null are stored as booleans.
    if (column.domain, in_table.domain) == (Domain::Boolean, Domain::Null) {
        column.domain = Domain::Null;
    }
    let is_alike = match (column.domain, in_table.domain) {
        // All of these are compared as bytes.
        (Domain::Text { .. }, Domain::Text { .. } | Domain::Binary) => true,
        (Domain::Decimal { scale: file_scale }, Domain::Decimal { scale }) => file_scale <= scale,
        (Domain::Integer, Domain::Decimal { .. }) => true,
        (Domain::Opaque, Domain::Opaque) => {
            if !matches!(
                (schema.get(id)?.kind, target.data_type()),
                (Kind::Struct, DataType::Struct(_))
                    | (Kind::List, DataType::List(_))
                    | (Kind::Map, DataType::Map(_, _))
            ) {
                // Checks the type of the literal.
                matcher.column(id, target.data_type())?;
            }
            true
        }
        (Domain::Integer, Domain::Integer) => matcher.has_unit_of(id, target.data_type()),
        (of_file, of_table) => of_file == of_table,
    };
    let has_domain_of_table = column.domain == in_table.domain;
    Ok(FileColumn { column, source: ValueSource::Column(id), is_alike, has_domain_of_table })
}

impl Table {
    /// Binds the conjuncts of the filter to the columns of the table. The types of the columns in files are not known.
    ///
    /// # Errors
    /// `UnknownColumn` and `InvalidArgument` if the filter does not fit the table.
    pub(super) fn bind_filter(&self) -> Result<Arc<[Conjunct]>> {
        let Some(filter) = &self.options.filter else { return Ok(Arc::default()) };
        if self.files.is_empty() && self.fields.is_empty() {
            return Ok(Arc::default());
        }
        filter.check_levels()?;
        let conjunct = |predicate: Predicate| {
            let filter = BatchFilter::bind(&predicate, &mut |name| {
                let (column, path) = self.filter_column(name)?;
                Ok((FilterColumn { may_have_others: true, ..column }, path))
            })?;
            Ok(Conjunct { predicate, filter })
        };
        conjuncts(filter).into_iter().map(conjunct).collect()
    }

    /// The column of a name in the table, and the path of indexes to it: of a stored column, then of fields of structs; or of
    /// a partition column, which are behind the stored columns; or [`ROW_NUMBER_PLACE`].
    fn filter_column(&self, name: &ColumnName) -> Result<(FilterColumn, Vec<usize>)> {
        let partition = self.partition_of(name);
        if self.is_row_number(name) {
            let is_stored = partition.is_some() || is_known(&self.path(&name.as_str().into()));
            return Ok((row_number_column(name.as_str(), is_stored)?, vec![ROW_NUMBER_PLACE]));
        }
        let (field, path) = match partition {
            Some(at) => (self.partition.get(at).cloned(), vec![self.fields.len() + at]),
            None => {
                let path = self.path(name)?;
                (self.field_at(&path), path)
            }
        };
        let field = field.ok_or_else(|| not_one_value_per_row(name.as_str()))?;
        let domain = stored_domain(field.data_type());
        let compares_digits = partition.is_none() && self.options.compares_digits();
        let domain = if compares_digits { domain.with_all_digits() } else { domain };
        Ok((FilterColumn::new(domain, TypeName(field.data_type()).to_string()), path))
    }

    /// The value of the partition column at a path in a file; `None` if the path is that of another column.
    fn partition_value(&self, path: &[usize], file: &TableFile) -> Result<Option<Constant>> {
        let [place] = path else { return Ok(None) };
        let partition = place.checked_sub(self.fields.len()).and_then(|at| self.partition.get(at));
        let Some(field) = partition else { return Ok(None) };
        let value = file.partition.iter().find(|(name, _)| name == field.name());
        partition::constant(value.and_then(|(_, value)| value.as_deref()), field.data_type()).map(Some)
    }
}

impl LateFilter {
    /// The part of `conjuncts`. Columns that it needs are added to `wanted`.
    fn try_new(table: &Table, conjuncts: Vec<BatchFilter>, wanted: &mut Vec<(usize, FieldRef)>) -> Result<Self> {
        let mut columns = BTreeMap::new();
        for place in conjuncts.iter().flat_map(BatchFilter::root_columns).filter(|place| *place != ROW_NUMBER_PLACE) {
            let whole = table.fields.get(place).or_internal("a filter needs a column that the table does not have")?;
            // If only some fields of the struct are read, the test covers only these.
            let at = wanted.iter().position(|(other, field)| *other == place && field == whole).unwrap_or_else(|| {
                wanted.push((place, whole.clone()));
                wanted.len() - 1
            });
            columns.insert(place, at);
        }
        Ok(LateFilter { conjuncts, columns })
    }

    /// Whether row numbers are compared.
    pub(super) fn has_row_numbers(&self) -> bool {
        self.conjuncts.iter().any(|conjunct| conjunct.root_columns().contains(&ROW_NUMBER_PLACE))
    }

    /// Whether digits below the units of the table are compared.
    pub(super) fn compares_digits(&self) -> bool {
        self.conjuncts.iter().any(BatchFilter::compares_digits)
    }

    /// A mask of the rows for which all conjuncts are true. `columns` are those that are read, `row_numbers` the numbers of
    /// the rows, if they are read.
    pub(super) fn evaluate(
        &self,
        columns: &[ArrayRef],
        row_numbers: Option<&ArrayRef>,
        rows: usize,
    ) -> Result<BooleanArray> {
        let column = |place: usize| {
            let column = match place {
                ROW_NUMBER_PLACE => row_numbers,
                place => self.columns.get(&place).and_then(|&at| columns.get(at)),
            };
            column.cloned().or_internal("a column of the filter was not read")
        };
        let mut mask = BooleanBuffer::new_set(rows);
        for conjunct in &self.conjuncts {
            if !mask.has_true() {
                break;
            }
            mask = &mask & conjunct.evaluate(&column, rows)?.values();
        }
        Ok(BooleanArray::new(mask, None))
    }
}
