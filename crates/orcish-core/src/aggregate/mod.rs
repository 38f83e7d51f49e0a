//! Minimum, maximum and sum of a column, of statistics where these are exact, and of values.
//!
//! ```
//! use std::sync::Arc;
//!
//! use arrow_array::cast::AsArray;
//! use arrow_array::types::Int32Type;
//! use arrow_array::{ArrayRef, Int32Array};
//! use arrow_schema::DataType;
//! use orcish_core::aggregate::{Accumulator, Aggregate};
//!
//! let mut maximum = Accumulator::try_new(Aggregate::Max, &DataType::Int32)?;
//! let values: ArrayRef = Arc::new(Int32Array::from(vec![Some(3), None, Some(5)]));
//! maximum.update(&values, None)?;
//! assert_eq!(maximum.finish()?.as_primitive::<Int32Type>().value(0), 5);
//! # Ok::<_, orcish_core::Error>(())
//! ```

mod extreme;
mod statistics;
mod sum;
#[cfg(test)]
mod tests;

use std::str::FromStr;

use arrow_array::cast::AsArray as _;
use arrow_array::{Array, ArrayRef, RecordBatch, new_null_array};
use arrow_buffer::NullBuffer;
use arrow_schema::{DataType, Schema};

use self::sum::Sum;
use crate::cast::plain_values;
use crate::error::{Error, Result};
use crate::statistics::ColumnStatistics;
use crate::type_names::TypeName;
use crate::types::value_type;

/// An aggregate function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Aggregate {
    /// The minimum. NaN is ignored.
    Min,
    /// The maximum. NaN is ignored.
    Max,
    /// The sum of numbers, or the number of true values.
    Sum,
}

impl FromStr for Aggregate {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        match name {
            "min" => Ok(Aggregate::Min),
            "max" => Ok(Aggregate::Max),
            "sum" => Ok(Aggregate::Sum),
            _ => Err(Error::invalid(format!("no aggregate function {name:?}: these are min, max and sum"))),
        }
    }
}

impl Aggregate {
    /// The aggregate of the only column of batches of a schema; see [`Accumulator::finish`] for its type.
    ///
    /// # Errors
    /// As [`Accumulator::of_only_column`], before a batch is read; errors of the batches.
    pub fn of_rows(self, schema: &Schema, rows: impl IntoIterator<Item = Result<RecordBatch>>) -> Result<ArrayRef> {
        let mut accumulator = Accumulator::of_only_column(self, schema)?;
        for batch in rows {
            accumulator.update_batch(&batch?)?;
        }
        accumulator.finish()
    }
}

/// The state of an aggregate over the values of a column. Nulls are ignored.
#[derive(Debug)]
pub struct Accumulator {
    /// Type of the values, without dictionaries and run ends.
    kind: DataType,
    partial: PartialResult,
}

#[derive(Debug)]
enum PartialResult {
    /// The minimum or maximum so far, an array of one value; `None` before the first value.
    Extreme {
        is_max: bool,
        value: Option<ArrayRef>,
    },
    Sum(Sum),
}

impl Accumulator {
    /// The aggregate of no values.
    ///
    /// # Errors
    /// `InvalidArgument` if values of the type have no order, or no sum.
    pub fn try_new(aggregate: Aggregate, kind: &DataType) -> Result<Self> {
        let kind = value_type(kind).clone();
        let partial = match aggregate {
            Aggregate::Sum => PartialResult::Sum(Sum::try_new(&kind)?),
            _ if kind.is_nested() || matches!(kind, DataType::Interval(_)) => {
                return Err(Error::invalid(format!("values of {} have no order", TypeName(&kind))));
            }
            _ => PartialResult::Extreme { is_max: aggregate == Aggregate::Max, value: None },
        };
        Ok(Accumulator { kind, partial })
    }

    /// The aggregate of no values of the only column of a schema. If the column is a struct, it has one field, whose values are
    /// aggregated.
    ///
    /// # Errors
    /// `InvalidArgument` if there is not exactly one column; as [`try_new`](Self::try_new).
    pub fn of_only_column(aggregate: Aggregate, schema: &Schema) -> Result<Self> {
        let mut fields = schema.fields();
        loop {
            match fields.as_ref() {
                [field] => match field.data_type() {
                    DataType::Struct(inner) => fields = inner,
                    kind => return Self::try_new(aggregate, kind),
                },
                _ => return Err(Error::invalid(format!("an aggregate of {} columns instead of one", fields.len()))),
            }
        }
    }

    /// Adds the values of an array, which may be dictionary or run-end encoded. Values are also null where `nulls` is.
    ///
    /// # Errors
    /// `InvalidArgument` for an array of another type, `LimitExceeded` for a sum of more than 76 digits.
    pub fn update(&mut self, array: &ArrayRef, nulls: Option<&NullBuffer>) -> Result<()> {
        let plain = plain_values(array)?;
        if *plain.data_type() != self.kind {
            return Err(Error::invalid(format!(
                "an aggregate of {} and {}",
                TypeName(&self.kind),
                TypeName(plain.data_type())
            )));
        }
        let nulls = NullBuffer::union(plain.logical_nulls().as_ref(), nulls).filter(|nulls| nulls.null_count() > 0);
        match &mut self.partial {
            PartialResult::Sum(sum) => sum.update(&plain, nulls.as_ref()),
            PartialResult::Extreme { is_max, value } => {
                if let Some(index) = extreme::index_of_extreme(&plain, nulls.as_ref(), *is_max)? {
                    *value = Some(extreme::extreme_of(value.take(), &plain, index, *is_max)?);
                }
                Ok(())
            }
        }
    }

    /// Adds the values of the only column of a batch. If the column is a struct, it has one field, whose values are added.
    ///
    /// # Errors
    /// As [`update`](Self::update); `InvalidArgument` for a batch without columns.
    pub fn update_batch(&mut self, batch: &RecordBatch) -> Result<()> {
        let empty = || Error::invalid("an aggregate of no column");
        let mut column = batch.columns().first().ok_or_else(empty)?;
        let mut nulls: Option<NullBuffer> = None;
        while let Some(fields) = column.as_struct_opt() {
            nulls = NullBuffer::union(nulls.as_ref(), fields.nulls());
            column = fields.columns().first().ok_or_else(empty)?;
        }
        self.update(column, nulls.as_ref())
    }

    /// Adds the values that statistics describe. Returns whether the statistics are exact; otherwise nothing is added.
    ///
    /// # Errors
    /// `LimitExceeded` for a sum of more than 76 digits.
    pub fn update_statistics(&mut self, statistics: &ColumnStatistics) -> Result<bool> {
        if statistics.values == Some(0) {
            return Ok(true);
        }
        match &mut self.partial {
            PartialResult::Sum(sum) => sum.update_statistics(statistics, &self.kind),
            PartialResult::Extreme { is_max, .. } => match statistics::exact_bound(statistics, &self.kind, *is_max) {
                Some(bound) => self.update(&bound, None).map(|()| true),
                None => Ok(false),
            },
        }
    }

    /// The result: an array of one value, which is null if there are no values.
    ///
    /// Minimum and maximum have the type of the values. The sum of integers is a `Decimal128(38, 0)`, of decimals a
    /// `Decimal256(76, scale)`, of floating point numbers a `Float64`, and of booleans a `UInt64`.
    ///
    /// # Errors
    /// `LimitExceeded` for a sum with too many digits.
    pub fn finish(self) -> Result<ArrayRef> {
        match self.partial {
            PartialResult::Extreme { value, .. } => Ok(value.unwrap_or_else(|| new_null_array(&self.kind, 1))),
            PartialResult::Sum(sum) => sum.finish(),
        }
    }
}
