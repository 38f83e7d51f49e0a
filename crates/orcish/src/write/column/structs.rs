//! Struct columns (ORCv1, Struct Columns), which have no values of their own, and intervals, which are stored as
//! structs.

use std::sync::Arc;

use arrow_array::cast::AsArray as _;
use arrow_array::types::{IntervalDayTimeType, IntervalMonthDayNanoType};
use arrow_array::{Array as _, ArrayRef, Int32Array, Int64Array};
use arrow_buffer::NullBuffer;
use arrow_schema::{DataType, IntervalUnit};
use orcish_core::error::{Error, Result};

use super::{AppendContext, AppendResult, ColumnWriter, Compressors, Detail, EncodedValues, ValueEncoder};
use crate::write::selection::Selection;

pub(super) struct StructEncoder {
    children: Vec<ColumnWriter>,
}

impl StructEncoder {
    pub(super) fn new(children: Vec<ColumnWriter>) -> Self {
        StructEncoder { children }
    }
}

impl ValueEncoder for StructEncoder {
    fn append(&mut self, array: &ArrayRef, valid: Option<&NullBuffer>, context: AppendContext<'_>) -> AppendResult {
        let fields = field_arrays(array)?;
        let selection = Selection::from_validity(array.len(), valid);
        for (child, field) in self.children.iter_mut().zip(&fields) {
            let values = selection.apply(field)?;
            child
                .append(&values, context.compressors)
                .map_err(|error| error.map_index(|index| selection.index(index)))?;
        }
        Ok(())
    }

    fn begin_row_group(&mut self) {}

    fn passes_nulls_on(&self) -> bool {
        true
    }

    fn end_row_group(&mut self, _: &mut Compressors) -> Result<Detail> {
        Ok(Detail::None)
    }

    fn size(&self) -> usize {
        0
    }

    fn end_stripe(&mut self, _: &mut Compressors) -> Result<EncodedValues> {
        Ok(EncodedValues::direct(Vec::new()))
    }

    fn children(&self) -> &[ColumnWriter] {
        &self.children
    }

    fn children_mut(&mut self) -> &mut [ColumnWriter] {
        &mut self.children
    }
}

/// The fields of a struct array, or the components of an interval array.
fn field_arrays(array: &ArrayRef) -> Result<Vec<ArrayRef>> {
    Ok(match array.data_type() {
        DataType::Struct(_) => array.as_struct().columns().to_vec(),
        DataType::Interval(IntervalUnit::DayTime) => {
            let values = array.as_primitive::<IntervalDayTimeType>().values();
            let days: Int32Array = values.iter().map(|value| value.days).collect();
            let millis: Int32Array = values.iter().map(|value| value.milliseconds).collect();
            vec![Arc::new(days), Arc::new(millis)]
        }
        DataType::Interval(IntervalUnit::MonthDayNano) => {
            let values = array.as_primitive::<IntervalMonthDayNanoType>().values();
            let months: Int32Array = values.iter().map(|value| value.months).collect();
            let days: Int32Array = values.iter().map(|value| value.days).collect();
            let nanos: Int64Array = values.iter().map(|value| value.nanoseconds).collect();
            vec![Arc::new(months), Arc::new(days), Arc::new(nanos)]
        }
        other => return Err(Error::invalid(format!("{other} is no struct"))),
    })
}
