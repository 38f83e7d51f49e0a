//! Structs (ORCv1, Struct Columns): no values of their own; and intervals, which are stored as such.

use std::sync::Arc;

use arrow_array::cast::AsArray as _;
use arrow_array::types::{IntervalDayTimeType, IntervalMonthDayNanoType};
use arrow_array::{Array as _, ArrayRef, Int32Array, Int64Array};
use arrow_buffer::NullBuffer;
use arrow_schema::{DataType, IntervalUnit};
use orcish_core::error::{Error, Result};

use super::{Column, Compressors, Detail, Ended, Outcome, Tools, Values};
use crate::write::selected::Selected;

pub(super) struct StructValues {
    children: Vec<Column>,
}

impl StructValues {
    pub(super) fn new(children: Vec<Column>) -> Self {
        StructValues { children }
    }
}

impl Values for StructValues {
    fn append(&mut self, array: &ArrayRef, valid: Option<&NullBuffer>, tools: Tools<'_>) -> Outcome {
        let arrays = parts(array)?;
        let selected = Selected::valid(array.len(), valid);
        for (child, array) in self.children.iter_mut().zip(&arrays) {
            let values = selected.of(array)?;
            child.append(&values, tools.compressors).map_err(|fault| fault.map_index(|at| selected.index(at)))?;
        }
        Ok(())
    }

    fn begin_group(&mut self) {}

    fn end_group(&mut self, _: &mut Compressors) -> Result<Detail> {
        Ok(Detail::None)
    }

    fn size(&self) -> usize {
        0
    }

    fn end_stripe(&mut self, _: &mut Compressors) -> Result<Ended> {
        Ok(Ended::default())
    }

    fn children(&mut self) -> &mut [Column] {
        &mut self.children
    }
}

/// The fields of a struct, or the parts of an interval.
fn parts(array: &ArrayRef) -> Result<Vec<ArrayRef>> {
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
