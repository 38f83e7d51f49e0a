//! Conditions on the columns of batches.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};

use arrow_array::{Array as _, ArrayRef, BooleanArray};
use arrow_schema::{DataType, Fields, Schema};

use super::bind::{Constant, FilterColumn, ValueSource, bind_names};
use super::bounds::ColumnBounds;
use super::condition::{Condition, Leaf, Test, ValueSet};
use super::domain::stored_domain;
use super::evaluate::{evaluate, test_field};
use super::pruning::{Outcome, Proof, Pruning};
use crate::error::{Error, OrInternal as _, Result};
use crate::expression::Predicate;
use crate::names::{ArrowNames, ColumnName, field_at, not_one_value_per_row};
use crate::type_names::TypeName;

/// Returns the column of a name, and the path of indexes to it.
pub type ResolvePath<'a> = dyn FnMut(&ColumnName) -> Result<(FilterColumn, Vec<usize>)> + 'a;

/// A condition on the columns of batches.
#[derive(Debug, Clone)]
pub struct BatchFilter {
    condition: Condition,
    /// The path of indexes to each column of the condition: the index of a column of the batches, then of fields of structs.
    paths: BTreeMap<Option<u32>, Vec<usize>>,
}

impl BatchFilter {
    /// Binds a predicate to a schema. Fields of structs have dotted names. Values are null by the null buffers of their
    /// arrays.
    ///
    /// # Errors
    /// `UnknownColumn` where the schema does not have a column, `InvalidArgument` where several columns have a name, or a
    /// column cannot be compared with a literal, or does not have one value per row.
    pub fn try_new(predicate: &Predicate, schema: &Schema) -> Result<Self> {
        let fields = schema.fields();
        let mut names = ArrowNames::new(fields);
        Self::bind(predicate, &mut |name| {
            let path = names.path(name, &Fields::empty())?;
            let field = field_at(fields, &path).ok_or_else(|| not_one_value_per_row(name.as_str()))?;
            let type_string = TypeName(field.data_type()).to_string();
            if matches!(field.data_type(), DataType::Union(_, _)) {
                return Err(Error::invalid(format!("column {name} is a {type_string}, which no filter can ask")));
            }
            Ok((FilterColumn::new(stored_domain(field.data_type()), type_string), path))
        })
    }

    /// Binds a predicate. `resolve` returns the column of a name, and the path of indexes to it.
    ///
    /// # Errors
    /// Errors of `resolve`, `InvalidArgument` where a column cannot be compared with a literal.
    pub fn bind(predicate: &Predicate, resolve: &mut ResolvePath<'_>) -> Result<Self> {
        let mut ids = HashMap::<Vec<usize>, u32>::new();
        let condition = bind_names(predicate, &mut |name| {
            let (column, path) = resolve(name)?;
            let next = u32::try_from(ids.len()).or_internal("a predicate has more columns than ids")?;
            Ok((column, ValueSource::Column(*ids.entry(path).or_insert(next))))
        })?;
        let paths: HashMap<Option<u32>, Vec<usize>> = ids.into_iter().map(|(path, id)| (Some(id), path)).collect();
        Self::of_condition(condition, |leaf| paths.get(&leaf.column).cloned().or_internal("a column has no path"))
    }

    /// The filter of a condition. `path` returns the path of indexes to the column of a leaf.
    ///
    /// # Errors
    /// Errors of `path`.
    pub fn of_condition(condition: Condition, path: impl Fn(&Leaf) -> Result<Vec<usize>>) -> Result<Self> {
        let paths = condition.leaves.iter().map(|leaf| Ok((leaf.column, path(leaf)?))).collect::<Result<_>>()?;
        Ok(BatchFilter { condition, paths })
    }

    /// The filter of batches in which some columns are constant. `constant` returns the value of the column at a path, or
    /// `None` if it is not constant.
    ///
    /// # Errors
    /// Errors of `constant`, `InvalidArgument` where a constant has another type than its column.
    pub fn prune_constants(&self, constant: &dyn Fn(&[usize]) -> Result<Option<Constant>>) -> Result<Self> {
        let condition = self.condition.prune_constants(&mut |leaf| constant(self.path(leaf)?))?;
        Self::of_condition(condition, |leaf| Ok(self.path(leaf)?.to_vec()))
    }

    /// The condition.
    pub fn condition(&self) -> &Condition {
        &self.condition
    }

    fn path(&self, leaf: &Leaf) -> Result<&[usize]> {
        self.paths.get(&leaf.column).map(Vec::as_slice).or_internal("a column of a filter has no path")
    }

    /// Indexes of the columns of the batches that the filter needs, ascending.
    pub fn root_columns(&self) -> Vec<usize> {
        let mut columns: Vec<usize> = self.paths.values().filter_map(|path| path.first().copied()).collect();
        columns.sort_unstable();
        columns.dedup();
        columns
    }

    /// Whether all digits of timestamps are compared, also those below the unit of their arrays: arrays with such values are
    /// not evaluated rightly.
    pub fn compares_digits(&self) -> bool {
        self.condition.leaves.iter().any(|leaf| match &leaf.test {
            Test::In(set) => matches!(**set, ValueSet::Ticks { exact: Some(_), .. }),
            Test::IsNull | Test::NotNull => false,
        })
    }

    /// A mask of the rows for which the condition is true, without nulls. `columns` returns a column of the batch by its
    /// index. It is called once for each leaf that is needed.
    ///
    /// # Errors
    /// Errors of `columns`, `InvalidArgument` where a column has another type or another number of rows.
    pub fn evaluate(&self, columns: &dyn Fn(usize) -> Result<ArrayRef>, rows: usize) -> Result<BooleanArray> {
        let mask = evaluate(&self.condition, rows, &|leaf| {
            let (&column, fields) = self.path(leaf)?.split_first().or_internal("the path to a column is empty")?;
            let column = columns(column)?;
            if column.len() != rows {
                return Err(Error::invalid("a column of the filter has another number of rows"));
            }
            test_field(&leaf.test, column, fields)
        })?;
        Ok(BooleanArray::new(mask, None))
    }

    /// Prunes `rows` rows by the bounds of columns. `bounds` returns the bounds of a column by its path. It is called once for
    /// each column. `proof` is the name of the source of the bounds.
    ///
    /// # Errors
    /// Errors of `bounds`.
    pub fn prune(
        &self,
        bounds: &mut dyn FnMut(&[usize]) -> Result<ColumnBounds>,
        rows: u64,
        proof: Proof,
    ) -> Result<Outcome> {
        let mut cache: HashMap<Option<u32>, ColumnBounds> = HashMap::new();
        let mut pruning = Pruning::UNKNOWN;
        pruning.refine(&self.condition, proof, |_, leaf| {
            let path = self.path(leaf)?;
            let bounds = match cache.entry(leaf.column) {
                Entry::Occupied(cached) => cached.into_mut(),
                Entry::Vacant(place) => place.insert(bounds(path)?),
            };
            Ok(leaf.prune(&bounds.to_statistics(&leaf.test), rows, path.len() == 1))
        })?;
        Ok(pruning.outcome(&self.condition))
    }
}
