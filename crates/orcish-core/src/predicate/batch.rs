//! Predicates on columns of Arrow.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::cast::AsArray as _;
use arrow_array::{Array as _, ArrayRef, BooleanArray, make_array};
use arrow_buffer::NullBuffer;
use arrow_schema::{Fields, Schema};

use super::bind::{FilterColumn, ValueSource, bind_names};
use super::bounds::ColumnBounds;
use super::condition::{Condition, Leaf, Node};
use super::domain::domain_of_array;
use super::evaluate::evaluate;
use super::verdict::{Outcome, Proof, Verdict};
use crate::error::{Error, Result};
use crate::expression::Predicate;
use crate::names::{ArrowNames, field_at, not_one_value_per_row};

/// A predicate bound to columns of Arrow.
#[derive(Debug, Clone)]
pub struct BatchFilter {
    condition: Condition,
    /// The way to the column of each leaf.
    ways: Vec<Vec<usize>>,
}

impl BatchFilter {
    /// Binds a predicate to a schema. Fields of structs have dotted names. What is null is what the arrays of the columns
    /// say themselves.
    ///
    /// # Errors
    /// `UnknownColumn` for names that the schema does not have; `InvalidArgument` where a column cannot be compared with
    /// a value, or is not one value a row.
    pub fn new(predicate: &Predicate, schema: &Schema) -> Result<Self> {
        let fields = schema.fields();
        let names = RefCell::new(ArrowNames::new(fields));
        let path = |name: &str| names.borrow_mut().path(name, &Fields::empty());
        Self::bind(predicate, &mut |name| path(name), &|name| {
            let field = field_at(fields, &path(name)?).ok_or_else(|| not_one_value_per_row(name))?;
            let domain = domain_of_array(field.data_type())?;
            Ok(FilterColumn { domain, type_string: field.data_type().to_string(), source: ValueSource::Column(0) })
        })
    }

    /// Binds a predicate, where `way` leads to the column of a name, and `named` says what it stands for; the id of a
    /// column that holds its values is not looked at.
    pub fn bind(
        predicate: &Predicate,
        way: &mut dyn FnMut(&str) -> Result<Vec<usize>>,
        named: &dyn Fn(&str) -> Result<FilterColumn>,
    ) -> Result<Self> {
        let mut names: Vec<&str> = predicate.columns();
        names.sort_unstable();
        names.dedup();
        let of_names = names.iter().map(|name| way(name)).collect::<Result<Vec<_>>>()?;
        let condition = bind_names(predicate, &|name| {
            let found = named(name)?;
            let at = names.binary_search(&name).unwrap_or_default();
            Ok(match found.source {
                ValueSource::Column(_) => {
                    FilterColumn { source: ValueSource::Column(u32::try_from(at).unwrap_or_default()), ..found }
                }
                _ => found,
            })
        })?;
        let way = |leaf: &Leaf| of_names.get(leaf.column as usize).cloned().unwrap_or_default();
        let ways = condition.leaves.iter().map(way).collect();
        Ok(BatchFilter { condition, ways })
    }

    /// The way to the column of each test: its index among those of the schema, and below that those of fields of
    /// structs. A column that is tested twice is there twice.
    pub fn columns(&self) -> &[Vec<usize>] {
        &self.ways
    }

    /// Indexes of the columns of the schema that are asked, ascending.
    pub fn top_columns(&self) -> Vec<usize> {
        let mut columns: Vec<usize> = self.ways.iter().filter_map(|way| way.first().copied()).collect();
        columns.sort_unstable();
        columns.dedup();
        columns
    }

    /// Whether it is true of no row, whatever the values are.
    pub fn is_never(&self) -> bool {
        self.condition.root == Node::Constant(false)
    }

    /// Whether it is true of all rows, whatever the values are.
    pub fn is_always(&self) -> bool {
        self.condition.root == Node::Constant(true)
    }

    /// The rows, of `rows`, for which it is true: no null is among the bits. `columns` gives a column of the schema by its
    /// index; what does not matter any more is not asked for, and what is asked twice is asked for twice.
    ///
    /// # Errors
    /// Those of `columns`; `InvalidArgument` where a column is not of its type.
    pub fn evaluate(&self, columns: &dyn Fn(usize) -> Result<ArrayRef>, rows: usize) -> Result<BooleanArray> {
        let kept = evaluate(&self.condition, rows, &|leaf| {
            let values = value(self.ways.get(leaf).ok_or_else(column_is_missing)?, columns)?;
            match values.len() == rows {
                true => Ok(values),
                false => Err(Error::invalid("a column of the filter has another number of rows")),
            }
        })?;
        Ok(BooleanArray::new(kept, None))
    }

    /// What becomes of `rows` rows, of whose columns `known` tells what is known by their ways, which is asked once for
    /// each. `proof` is the name of this knowledge.
    ///
    /// # Errors
    /// Those of `known`.
    pub fn judge(
        &self,
        known: &mut dyn FnMut(&[usize]) -> Result<ColumnBounds>,
        rows: u64,
        proof: Proof,
    ) -> Result<Outcome> {
        let mut asked: HashMap<&[usize], ColumnBounds> = HashMap::new();
        let mut verdict = Verdict::MAYBE;
        verdict.refine(&self.condition, proof, &mut |at, leaf| {
            let way = self.ways.get(at).ok_or_else(column_is_missing)?.as_slice();
            let known = match asked.get(way) {
                Some(known) => known,
                None => {
                    let found = known(way)?;
                    asked.entry(way).or_insert(found)
                }
            };
            Ok(leaf.judge(&known.statistics(&leaf.test), rows, way.len() == 1))
        })?;
        Ok(Outcome::of(&verdict, &self.condition))
    }
}

/// The error where a column is asked for that is not there.
pub fn column_is_missing() -> Error {
    Error::invalid("a column of the filter is missing")
}

/// The values at the end of a way down.
fn value(way: &[usize], columns: &dyn Fn(usize) -> Result<ArrayRef>) -> Result<ArrayRef> {
    let (&top, below) = way.split_first().ok_or_else(column_is_missing)?;
    let mut array = columns(top)?;
    for &at in below {
        let parent = array.as_struct_opt().ok_or_else(column_is_missing)?;
        let child = parent.columns().get(at).ok_or_else(column_is_missing)?;
        array = match parent.nulls() {
            None => child.clone(),
            // A field of what is null is null.
            Some(nulls) => {
                let data = child.to_data().into_builder().nulls(NullBuffer::union(Some(nulls), child.nulls())).build();
                Arc::new(make_array(data.map_err(|error| Error::corrupt("a field does not fit").with_source(error))?))
            }
        };
    }
    Ok(array)
}
