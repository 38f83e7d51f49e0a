//! Minimum, maximum and sum of a column of a table.

use arrow_array::ArrayRef;
use orcish_core::Result;
use orcish_core::aggregate::Aggregate;

use super::Scan;

impl Scan {
    /// The aggregate of the only column of the scan, as an array of one value; see
    /// [`Accumulator::finish`](orcish_core::aggregate::Accumulator::finish) for its type. If the column is a struct, it has one
    /// field, whose values are aggregated.
    ///
    /// All rows are read: bounds in the indexes of CarbonData are not exact.
    ///
    /// # Errors
    /// `InvalidArgument` if the scan does not have exactly one column, or the values of the column have no order or sum. As
    /// reading.
    pub fn aggregate(&self, aggregate: Aggregate) -> Result<ArrayRef> {
        aggregate.of_rows(&self.schema(), self.read_cancellable())
    }
}
