//! Scans of tables with stages.

use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{Schema, SchemaRef};

use super::Stage;
use super::plan::StagePlan;
use super::rows::StagedRows;
use crate::aggregate::Aggregate;
use crate::error::{Error, OrInternal as _, Result};
use crate::expression::Predicate;
use crate::names::ColumnName;

/// Which columns are read beside those that a scan asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReadColumns {
    /// Those of the scan, and further ones behind them.
    With(Vec<ColumnName>),
    /// Those of these names, and no others.
    Only(Vec<ColumnName>),
    /// All columns.
    All,
}

/// The rows and columns that a scan reads.
#[derive(Debug, Clone)]
pub struct RowSelection {
    /// The filter.
    pub filter: Option<Predicate>,
    /// Maximum number of rows.
    pub limit: Option<u64>,
    /// The columns.
    pub columns: ReadColumns,
    /// Whether the batches have row numbers; `None` where they have them if the scan has.
    pub has_row_number: Option<bool>,
}

/// The scan of a table in a format.
pub trait TableScan: Sized {
    /// Batches of a read.
    type Rows: Iterator<Item = Result<RecordBatch>> + Send + 'static;

    /// Schema of the batches.
    fn schema(&self) -> SchemaRef;

    /// The name of the column of row numbers, if there is one.
    fn row_number(&self) -> Option<&str>;

    /// All columns that can be read, and the column of row numbers, if there is one, behind them.
    ///
    /// # Errors
    /// As opening the files.
    fn readable_schema(&self) -> Result<SchemaRef>;

    /// Whether unions are read as structs.
    fn has_read_unions(&self) -> bool;

    /// The scan of other rows and columns.
    ///
    /// # Errors
    /// As making a scan.
    fn select(&self, selection: RowSelection) -> Result<Self>;

    /// Begins to read.
    ///
    /// # Errors
    /// As reading.
    fn read(&self) -> Result<Self::Rows>;

    /// Number of rows.
    ///
    /// # Errors
    /// As reading.
    fn count(&self) -> Result<u64>;

    /// The aggregate of the only column. All rows are read, unless a format knows better.
    ///
    /// # Errors
    /// As reading; as [`Aggregate::of_rows`].
    fn aggregate(&self, aggregate: Aggregate) -> Result<ArrayRef> {
        aggregate.of_rows(&self.schema(), self.read()?)
    }
}

/// A scan whose rows pass stages.
#[derive(Debug, Clone)]
pub struct StagedScan<S> {
    /// The scan without its stages.
    base: S,
    /// The scan with the filter and the limit that it evaluates itself.
    scan: S,
    plan: StagePlan,
}

impl<S: TableScan> StagedScan<S> {
    /// The rows of `base`, which has no filter and no limit, after stages.
    ///
    /// # Errors
    /// As making the scan; as binding the filters to the columns.
    pub fn try_new(base: S, stages: &[Stage]) -> Result<Self> {
        let plan = StagePlan::try_new(stages, base.has_read_unions(), || base.readable_schema())?;
        let (filter, limit) = (plan.filter.clone(), plan.limit);
        let columns = ReadColumns::With(Vec::new());
        let scan = base.select(RowSelection { filter, limit, columns, has_row_number: None })?;
        Ok(StagedScan { base, scan, plan })
    }

    /// The scan without its stages.
    pub fn base(&self) -> &S {
        &self.base
    }

    /// The scan with what it evaluates of the stages itself.
    pub fn scan(&self) -> &S {
        &self.scan
    }

    /// What the scan evaluates of the stages itself, and what it does not.
    pub fn plan(&self) -> &StagePlan {
        &self.plan
    }

    /// Schema of the batches.
    pub fn schema(&self) -> SchemaRef {
        self.scan.schema()
    }

    /// The scan without a limit of its own, whose plan is about all rows.
    ///
    /// # Errors
    /// As making a scan.
    pub fn without_limit(&self) -> Result<S> {
        let columns = ReadColumns::With(Vec::new());
        let filter = self.plan.filter.clone();
        self.base.select(RowSelection { filter, limit: None, columns, has_row_number: None })
    }

    /// Begins to read. `None` means that all stages are those of the scan itself, which is to be read.
    ///
    /// # Errors
    /// As reading.
    pub fn read_late(&self) -> Result<Option<StagedRows<S::Rows>>> {
        if !self.plan.is_late() {
            return Ok(None);
        }
        self.read_columns(self.schema(), ReadColumns::With).map(Some)
    }

    /// Reads the columns of `output`, and those that `columns` makes of the columns of the later filters.
    fn read_columns(
        &self,
        output: SchemaRef,
        columns: impl FnOnce(Vec<ColumnName>) -> ReadColumns,
    ) -> Result<StagedRows<S::Rows>> {
        let row_number = self.base.row_number();
        let is_row_number = |name: &String| row_number == Some(name.as_str());
        let (columns, has_row_number) = match &self.plan.columns {
            Some(needed) => {
                let names: Vec<ColumnName> =
                    needed.iter().filter(|name| !is_row_number(name)).map(ColumnName::from).collect();
                let has_row_number = needed.iter().any(is_row_number);
                // A filter without columns sees the number of rows by those of the scan.
                let is_bare = names.is_empty() && !has_row_number;
                (if is_bare { ReadColumns::With(names) } else { columns(names) }, has_row_number)
            }
            None => (ReadColumns::All, true),
        };
        let selection = RowSelection {
            filter: self.plan.filter.clone(),
            limit: self.plan.limit,
            columns,
            has_row_number: has_row_number.then_some(true),
        };
        let scan = self.base.select(selection)?;
        StagedRows::try_new(scan.read()?, &scan.schema(), output, &self.plan)
    }

    /// Number of rows. Where the reader evaluates all stages, metadata may have it; otherwise the columns of the later filters
    /// are read.
    ///
    /// # Errors
    /// As reading.
    pub fn count(&self) -> Result<u64> {
        if !self.plan.is_late() {
            return self.scan.count();
        }
        let rows = self.read_columns(SchemaRef::new(Schema::empty()), ReadColumns::Only)?;
        let mut count = 0u64;
        for batch in rows {
            count = count.saturating_add(batch?.num_rows() as u64);
        }
        Ok(count)
    }

    /// The aggregate of the only column.
    ///
    /// # Errors
    /// As reading; `InvalidArgument` where the scan does not have one column, or there is no such aggregate of its values.
    pub fn aggregate(&self, aggregate: Aggregate) -> Result<ArrayRef> {
        if !self.plan.is_late() {
            return self.scan.aggregate(aggregate);
        }
        let schema = self.schema();
        // The errors are those of the scan.
        let columns = ReadColumns::With(Vec::new());
        let nothing = RowSelection { filter: None, limit: Some(0), columns, has_row_number: None };
        self.base.select(nothing)?.aggregate(aggregate)?;
        aggregate.of_rows(&schema, self.read_late()?.or_internal("a plan with later stages has none")?)
    }

    /// Checks that the scan can be divided into splits, whose rows together are those of the scan.
    ///
    /// # Errors
    /// `InvalidArgument` where a filter is, or may be, about all rows at once.
    pub fn check_elementwise(&self) -> Result<()> {
        if self.plan.is_elementwise() {
            return Ok(());
        }
        Err(Error::invalid(format!(
            "the filter {} is, or may be, about all rows at once: there are no splits of the scan, and rows are not deleted \
             by it",
            self.plan
        )))
    }
}
