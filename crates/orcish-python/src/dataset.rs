//! Writing of datasets.

use std::sync::{Arc, Mutex, TryLockError};

use arrow_array::{Array, StructArray};
use arrow_schema::{Field, Schema};
use arrow_select::concat::concat;
use orcish::dataset::{DatasetFile, DatasetOptions, DatasetWriter as Writer, Publication};
use orcish_core::OrInternal as _;
use orcish_core::process::OwnerProcess;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict};

use crate::capsule::{self, Pair};
use crate::errors::{signals, to_python};
use crate::job::StagedFile;
use crate::options::{set_dataset_options, storage_options, write_options};

/// A file: location, rows, bytes, and the staged file where it is not published.
type WrittenFile = (String, u64, u64, Option<StagedFile>);

/// A dataset that is being written.
#[pyclass(frozen, module = "orcish._native")]
pub(crate) struct DatasetWriter {
    writer: Mutex<Writer>,
    /// What messages call the dataset.
    name: String,
    /// In a child of a fork, the lock may be that of a thread which is missing there.
    owner: OwnerProcess,
    partition_by: Vec<String>,
}

impl DatasetWriter {
    /// Does something with the writer, without the interpreter.
    fn work<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut Writer) -> orcish_core::Result<T> + Send,
    ) -> PyResult<T> {
        let result = py.detach(|| {
            self.owner.check().map_err(|error| error.in_file(&self.name))?;
            match self.writer.try_lock() {
                Ok(mut writer) => work(&mut writer).map(Some),
                Err(TryLockError::Poisoned(writer)) => work(&mut writer.into_inner()).map(Some),
                // A handler of signals, or another thread.
                Err(TryLockError::WouldBlock) => Ok(None),
            }
        });
        let busy = || PyValueError::new_err(format!("{}: the table is being written to by another call", self.name));
        result.map_err(|error| to_python(py, &error))?.ok_or_else(busy)
    }
}

#[pymethods]
impl DatasetWriter {
    /// A writer of batches of the schema that a capsule holds, below the folder `base`. Further keywords are options of a
    /// dataset.
    ///
    /// With `publish=False` files do not appear: whoever has the token of one calls `complete_upload` or `abort_upload`.
    #[new]
    #[pyo3(signature = (
        base, schema, *, storage_options=None, publish=true, staging=None, options=None, **dataset
    ))]
    #[expect(clippy::too_many_arguments, reason = "they are keywords in Python")]
    fn new(
        py: Python<'_>,
        base: &str,
        schema: &Bound<'_, PyCapsule>,
        storage_options: Option<&Bound<'_, PyDict>>,
        publish: bool,
        staging: Option<String>,
        options: Option<&Bound<'_, PyDict>>,
        dataset: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        let mut options = DatasetOptions::default()
            .with_publication(if publish { Publication::WhenClosed } else { Publication::Staged { folder: staging } })
            .with_storage(self::storage_options(storage_options)?)
            .with_write(write_options(options)?);
        set_dataset_options(&mut options, dataset)?;
        let schema = Arc::new(capsule::read_schema(schema)?);
        let by = options.partition_by.clone();
        let writer = Writer::try_new(base, schema, options);
        let mut writer = writer.map_err(|error| to_python(py, &error))?;
        writer.set_cancel_check(signals());
        Ok(DatasetWriter {
            writer: Mutex::new(writer),
            name: orcish_io::display_name(base),
            owner: OwnerProcess::current(),
            partition_by: by,
        })
    }

    /// Writes all batches of the stream that a capsule holds, which runs no Python code.
    fn write_stream(&self, py: Python<'_>, stream: &Bound<'_, PyCapsule>) -> PyResult<()> {
        let mut batches = capsule::read_stream(stream)?;
        self.work(py, |writer| {
            batches.try_for_each(|batch| {
                let fault = |error| orcish_core::Error::invalid("the rows cannot be taken").with_source(error);
                writer.write(&batch.map_err(fault)?)
            })
        })
    }

    /// Creates a file if there is none, and the dataset has no partition columns.
    fn begin(&self, py: Python<'_>) -> PyResult<()> {
        self.work(py, Writer::begin)
    }

    /// The values of the partition columns of all finished files, in the order in which `finish` returns them, as a batch
    /// of a row for each file.
    fn partition_values<'py>(&self, py: Python<'py>) -> PyResult<Pair<'py>> {
        let rows = self.work(py, |writer| {
            let fault = |error| orcish_core::Error::invalid("the values do not fit together").with_source(error);
            let files = writer.files();
            let (mut fields, mut columns) = (Vec::new(), Vec::new());
            for (at, name) in self.partition_by.iter().enumerate() {
                let values = files.iter().map(|file| Some(file.values.get(at)?.as_ref())).collect::<Option<Vec<_>>>();
                let values = values.or_internal("a file lacks the value of a partition column")?;
                if values.is_empty() {
                    continue;
                }
                let column = concat(&values).map_err(fault)?;
                fields.push(Field::new(name, column.data_type().clone(), true));
                columns.push(column);
            }
            StructArray::try_new_with_length(fields.into(), columns, None, files.len()).map_err(fault)
        })?;
        let schema = Schema::new(rows.fields().clone());
        Ok((capsule::schema(py, &schema)?, capsule::array(py, rows.to_data())?))
    }

    /// Finishes all files.
    fn finish(&self, py: Python<'_>) -> PyResult<Vec<WrittenFile>> {
        let files = self.work(py, Writer::finish)?;
        let file = |file: DatasetFile| (file.location, file.rows, file.bytes, file.staged.map(StagedFile));
        Ok(files.into_iter().map(file).collect())
    }

    /// Removes all files. In a child of a fork nothing is done, and once the dataset is finished.
    fn abort(&self, py: Python<'_>) -> PyResult<()> {
        if !self.owner.is_current() {
            return Ok(());
        }
        self.work(py, |writer| {
            writer.abort();
            Ok(())
        })
    }
}
