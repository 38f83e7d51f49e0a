//! Predicates bound to the columns of an Arrow schema.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::cast::AsArray as _;
use arrow_array::{Array as _, ArrayRef, BooleanArray, make_array};
use arrow_buffer::NullBuffer;
use arrow_schema::{DataType, Fields, Schema};

use super::bind::{FilterColumn, ValueSource, bind_names};
use super::bounds::ColumnBounds;
use super::condition::{Condition, Leaf, Node, Test, ValueSet};
use super::domain::stored_domain;
use super::evaluate::evaluate;
use super::prune_result::{Outcome, Proof, PruneResult};
use crate::error::{Error, Result};
use crate::expression::Predicate;
use crate::names::{ArrowNames, field_at, not_one_value_per_row};
use crate::type_names::TypeName;

/// A predicate bound to the columns of an Arrow schema.
#[derive(Debug, Clone)]
pub struct BatchFilter {
    condition: Condition,
    /// The path of field indexes to the column of each leaf.
    paths: Vec<Vec<usize>>,
}

impl BatchFilter {
    /// Binds a predicate to a schema. Fields of structs have dotted names. Values are null by the null buffers of their
    /// arrays.
    ///
    /// # Errors
    /// `UnknownColumn` where the schema does not have a column, `InvalidArgument` where several columns have a name, or a
    /// column cannot be compared with a literal, or does not have one value per row.
    pub fn new(predicate: &Predicate, schema: &Schema) -> Result<Self> {
        let fields = schema.fields();
        let names = RefCell::new(ArrowNames::new(fields));
        let path = |name: &str| names.borrow_mut().single_path(name, &Fields::empty());
        Self::bind(predicate, &mut |name| path(name), &|name| {
            let field = field_at(fields, &path(name)?).ok_or_else(|| not_one_value_per_row(name))?;
            let type_string = TypeName(field.data_type()).to_string();
            if matches!(field.data_type(), DataType::Union(_, _)) {
                return Err(Error::invalid(format!("column {name} is a {type_string}, which no filter can ask")));
            }
            Ok(FilterColumn {
                domain: stored_domain(field.data_type(), false),
                type_string,
                source: ValueSource::Column(0),
                may_have_others: false,
            })
        })
    }

    /// Binds a predicate. `path` returns the path of field indexes to a column by its name. `resolve` returns the domain and
    /// the source of the values; the id of [`ValueSource::Column`] is ignored, and row numbers are a column.
    ///
    /// # Errors
    /// Errors of `path` and `resolve`, `InvalidArgument` where a column cannot be compared with a literal.
    pub fn bind(
        predicate: &Predicate,
        path: &mut dyn FnMut(&str) -> Result<Vec<usize>>,
        resolve: &dyn Fn(&str) -> Result<FilterColumn>,
    ) -> Result<Self> {
        let mut names: Vec<&str> = predicate.columns();
        names.sort_unstable();
        names.dedup();
        let name_paths = names.iter().map(|name| path(name)).collect::<Result<Vec<_>>>()?;
        // The id of a column is the index of its name.
        let condition = bind_names(predicate, &|name| {
            let column = resolve(name)?;
            let index = names.binary_search(&name).unwrap_or_default();
            Ok(match column.source {
                ValueSource::Column(_) | ValueSource::RowNumber => {
                    FilterColumn { source: ValueSource::Column(u32::try_from(index).unwrap_or_default()), ..column }
                }
                _ => column,
            })
        })?;
        let leaf_path = |leaf: &Leaf| name_paths.get(leaf.column as usize).cloned().unwrap_or_default();
        let paths = condition.leaves.iter().map(leaf_path).collect();
        Ok(BatchFilter { condition, paths })
    }

    /// The path of field indexes to the column of each leaf. A column with several leaves is repeated.
    pub fn columns(&self) -> &[Vec<usize>] {
        &self.paths
    }

    /// Indexes of the columns of the schema that the predicate needs, ascending.
    pub fn root_columns(&self) -> Vec<usize> {
        let mut columns: Vec<usize> = self.paths.iter().filter_map(|path| path.first().copied()).collect();
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

    /// Whether the predicate is true for no row, independent of the values.
    pub fn is_always_false(&self) -> bool {
        self.condition.root == Node::Constant(false)
    }

    /// Whether the predicate is true for all rows, independent of the values.
    pub fn is_always_true(&self) -> bool {
        self.condition.root == Node::Constant(true)
    }

    /// A mask of the rows for which the predicate is true, without nulls. `columns` returns a column of the schema by its
    /// index. It is called once for each leaf that is needed.
    ///
    /// # Errors
    /// Errors of `columns`, `InvalidArgument` where a column has another type or another number of rows.
    pub fn evaluate(&self, columns: &dyn Fn(usize) -> Result<ArrayRef>, rows: usize) -> Result<BooleanArray> {
        let mask = evaluate(&self.condition, rows, &|leaf| {
            let values = array_at(self.paths.get(leaf).ok_or_else(missing_column)?, columns)?;
            match values.len() == rows {
                true => Ok(values),
                false => Err(Error::invalid("a column of the filter has another number of rows")),
            }
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
        let mut cache: HashMap<&[usize], ColumnBounds> = HashMap::new();
        let mut result = PruneResult::MAYBE;
        result.refine(&self.condition, proof, &mut |at, leaf| {
            let path = self.paths.get(at).ok_or_else(missing_column)?.as_slice();
            let bounds = match cache.get(path) {
                Some(cached) => cached,
                None => {
                    let bounds = bounds(path)?;
                    cache.entry(path).or_insert(bounds)
                }
            };
            Ok(leaf.prune(&bounds.to_statistics(&leaf.test), rows, path.len() == 1))
        })?;
        Ok(Outcome::new(&result, &self.condition))
    }
}

/// The error for a missing column of a filter.
pub fn missing_column() -> Error {
    Error::invalid("a column of the filter is missing")
}

/// The array at a path of field indexes.
fn array_at(path: &[usize], columns: &dyn Fn(usize) -> Result<ArrayRef>) -> Result<ArrayRef> {
    let (&column, rest) = path.split_first().ok_or_else(missing_column)?;
    let mut array = columns(column)?;
    for &at in rest {
        let parent = array.as_struct_opt().ok_or_else(missing_column)?;
        let child = parent.columns().get(at).ok_or_else(missing_column)?;
        array = match parent.nulls() {
            None => child.clone(),
            // The fields of a null struct are null.
            Some(nulls) => {
                let data = child.to_data().into_builder().nulls(NullBuffer::union(Some(nulls), child.nulls())).build();
                Arc::new(make_array(data.map_err(|error| Error::corrupt("a field does not fit").with_source(error))?))
            }
        };
    }
    Ok(array)
}
