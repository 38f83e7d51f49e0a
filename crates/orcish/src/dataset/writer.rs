//! The writer of a dataset.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{Schema, SchemaRef};
use orcish_core::OrInternal as _;
use orcish_core::cancel::CancelCheck;
use orcish_core::error::{Error, Result};
use orcish_core::names::unknown_column;
use orcish_core::process::OwnerProcess;
use orcish_io::{CreatedFolders, abort_upload, create, create_staged, delete_files, display_name, partition_folder};

use super::file::{DatasetFile, OpenFile};
use super::options::{DatasetOptions, Publication};
use super::split::{Partition, PartitionKey, Split, Splitter};
use super::waiting::WaitingRows;
use crate::write::FileWriter;

/// Writes a dataset: a folder of files, with partition folders as in Hive, such as `day=2026-11-21`.
///
/// A partition has one file, or several of [`max_rows_per_file`](DatasetOptions::max_rows_per_file), with its rows in the
/// order in which they were written. [`finish`](Self::finish) gives the list of the files. A writer that has failed, is
/// aborted, or is dropped before, removes its files and the folders that it has created. A finished one does so if it is
/// aborted. A child of a fork cannot go on with it, and removes nothing.
///
/// ```
/// use std::sync::Arc;
///
/// use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray};
/// use orcish::{DatasetOptions, DatasetWriter};
///
/// let day: ArrayRef = Arc::new(StringArray::from(vec!["2026-11-21", "2026-11-22", "2026-11-21"]));
/// let id: ArrayRef = Arc::new(Int64Array::from(vec![1, 2, 3]));
/// let batch = RecordBatch::try_from_iter([("day", day), ("id", id)]).unwrap();
///
/// let folder = std::env::temp_dir().join(format!("orcish-dataset-example-{}", std::process::id()));
/// let options = DatasetOptions::default().with_partition_by(["day"]);
/// let mut writer = DatasetWriter::try_new(folder.to_str().unwrap(), batch.schema(), options)?;
/// writer.write(&batch)?;
/// let files = writer.finish()?;
/// assert_eq!(files.len(), 2);
/// assert_eq!(files[0].location, format!("{}/day=2026-11-21/part-00000.orc", folder.display()));
/// assert_eq!(files[0].rows, 2);
/// # std::fs::remove_dir_all(folder).unwrap();
/// # Ok::<(), orcish::Error>(())
/// ```
pub struct DatasetWriter {
    /// The folder, without a slash at its end.
    base: String,
    schema: SchemaRef,
    /// The schema of the files.
    file_schema: SchemaRef,
    options: DatasetOptions,
    splitter: Splitter,
    open: HashMap<PartitionKey, OpenFile>,
    /// Rows of partitions that have no open file until the end.
    waiting: WaitingRows,
    /// Bytes of memory of the rows that wait, or that are being taken from them.
    waiting_memory: usize,
    /// All partitions so far.
    partitions: HashSet<PartitionKey>,
    finished: Vec<DatasetFile>,
    folders: CreatedFolders,
    /// The location of a file whose end has failed, so that it may or may not have appeared.
    in_doubt: Option<String>,
    /// Bytes of memory of all open files.
    memory: usize,
    /// Number of the next file.
    next_file: u64,
    cancel_check: Option<CancelCheck>,
    progress: Progress,
    owner: OwnerProcess,
}

/// How far a writer is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Progress {
    Open,
    Finished,
    Failed,
}

impl std::fmt::Debug for DatasetWriter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut debug = f.debug_struct("DatasetWriter");
        debug.field("base", &display_name(&self.base)).field("open", &self.open.len()).finish_non_exhaustive()
    }
}

impl DatasetWriter {
    /// A writer of batches of `schema`, partition columns included, below the folder `base`, a path or a URL. Missing
    /// folders are created. The first file is created by [`write`](Self::write).
    ///
    /// # Errors
    /// `UnknownColumn` if there is no such partition column. `InvalidArgument` if an option is wrong, a partition column
    /// is named twice, or no other column is left.
    pub fn try_new(base: &str, schema: SchemaRef, options: DatasetOptions) -> Result<Self> {
        options.check()?;
        let by = &options.partition_by;
        if by.iter().enumerate().any(|(at, name)| by.iter().take(at).any(|other| other == name)) {
            return Err(Error::invalid(format!("partition_by={by:?}: columns are named once")));
        }
        if !by.is_empty() && by.len() >= schema.fields().len() {
            return Err(Error::invalid(format!("partition_by={by:?}: one column at least is left for the files")));
        }
        let column = |name: &String| {
            let names = schema.fields().iter().map(|field| field.name().clone());
            schema.index_of(name).map_err(|_| unknown_column(name, names))
        };
        let partition_columns = by.iter().map(column).collect::<Result<Vec<_>>>()?;
        let of_files = schema.fields().iter().cloned().enumerate().filter(|(at, _)| !partition_columns.contains(at));
        let (file_columns, fields): (Vec<_>, Vec<_>) = of_files.unzip();
        let nullable = fields.iter().map(|field| field.as_ref().clone().with_nullable(true)).collect::<Vec<_>>();
        let file_schema = Arc::new(Schema::new_with_metadata(fields, schema.metadata().clone()));
        let splitter = Splitter {
            partition_columns,
            file_columns,
            batch_schema: Arc::new(Schema::new_with_metadata(nullable, schema.metadata().clone())),
            format: options.value_format.clone(),
        };
        let base = if base.ends_with("://") { base } else { base.trim_end_matches('/') };
        let waiting = WaitingRows::new(&splitter.batch_schema);
        Ok(DatasetWriter {
            base: base.to_owned(),
            schema,
            file_schema,
            options,
            splitter,
            open: HashMap::new(),
            waiting,
            waiting_memory: 0,
            partitions: HashSet::new(),
            finished: Vec::new(),
            folders: CreatedFolders::default(),
            in_doubt: None,
            memory: 0,
            next_file: 0,
            cancel_check: None,
            progress: Progress::Open,
            owner: OwnerProcess::current(),
        })
    }

    /// Has the thread that writes call `check` now and then. Its error ends the call, and nothing can be written any more.
    pub fn set_cancel_check(&mut self, check: CancelCheck) {
        self.cancel_check = Some(check);
    }

    /// Writes the rows of a batch to the files of their partitions.
    ///
    /// # Errors
    /// `InvalidArgument` if a value cannot be stored or is no value of a partition, if there are more than
    /// [`max_partitions`](DatasetOptions::max_partitions), if the batch has another schema, in another process than that
    /// of [`try_new`](Self::try_new), or after an error; those of [`FileWriter::write`] and [`create`](crate::io::create).
    pub fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        self.guarded(|this| {
            this.check_types(batch)?;
            let split = this.splitter.split(batch).and_then(|split| this.check_partitions(&split).map(|()| split));
            let split = split.map_err(|error| error.in_file(&display_name(&this.base)))?;
            let mut free = this.options.max_open_files.saturating_sub(this.open.len());
            let gets_file = |partition: &&Partition| {
                let is_new = !this.open.contains_key(&partition.key);
                if is_new && (free == 0 || this.waiting.contains(&partition.key)) {
                    return false;
                }
                free -= usize::from(is_new);
                true
            };
            let (written, waiting): (Vec<_>, Vec<_>) = split.partitions.iter().partition(gets_file);
            if !written.is_empty() {
                let rows = split.rows_of(&written)?;
                let mut start = 0;
                for partition in written {
                    this.write_rows(&partition.key, &partition.values, &rows.slice(start, partition.rows()))?;
                    start += partition.rows();
                }
            }
            if !waiting.is_empty() {
                this.wait(&waiting, split.rows_of(&waiting)?)?;
            }
            Ok(())
        })
    }

    /// Creates a file if there is none yet and the dataset has no partition columns. A dataset without rows has its
    /// schema in it.
    ///
    /// # Errors
    /// Those of [`write`](Self::write).
    pub fn begin(&mut self) -> Result<()> {
        self.guarded(|this| {
            if this.options.partition_by.is_empty() && this.finished.is_empty() && this.open.is_empty() {
                this.open_file(&Vec::new(), Vec::new())?;
            }
            Ok(())
        })
    }

    /// Finishes all files, and returns them in the order in which they were finished.
    ///
    /// # Errors
    /// Those of [`write`](Self::write). All files are removed then.
    pub fn finish(&mut self) -> Result<Vec<DatasetFile>> {
        self.guarded(|this| {
            for key in this.by_number() {
                this.close_file(&key)?;
            }
            this.write_waiting()?;
            this.folders.sync();
            Ok(())
        })?;
        self.progress = Progress::Finished;
        Ok(self.finished.clone())
    }

    /// The files that are finished, in the order in which they were.
    pub fn files(&self) -> &[DatasetFile] {
        &self.finished
    }

    /// Removes all files, finished ones too, and the folders that were created, as far as possible. The files of a finished
    /// dataset are removed too, for callers that fail before they have recorded the files.
    pub fn abort(&mut self) {
        if !self.owner.is_current() {
            return;
        }
        self.progress = Progress::Failed;
        self.open.clear();
        self.waiting.clear();
        (self.memory, self.waiting_memory) = (0, 0);
        let finished = std::mem::take(&mut self.finished);
        // A second interrupt during the removal of files would leave the others.
        let storage = &self.options.storage.without_cancel_check();
        // There is another error already.
        match self.options.publication {
            Publication::WhenClosed => {
                let finished = finished.into_iter().map(|file| file.location);
                let locations: Vec<_> = finished.chain(self.in_doubt.take()).collect();
                let _ = delete_files(&locations, storage);
            }
            Publication::Staged { .. } => {
                for file in &finished {
                    if let Some(staged) = &file.staged {
                        let _ = abort_upload(&file.location, staged, storage);
                    }
                }
            }
        }
        self.folders.remove_empty();
    }

    /// Does some work. If it fails or panics, all files are removed.
    fn guarded<T>(&mut self, work: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        let in_base = |error: Error| error.in_file(&display_name(&self.base));
        self.owner.check().map_err(in_base)?;
        match self.progress {
            Progress::Open => {}
            Progress::Finished => return Err(in_base(Error::invalid("the table is finished"))),
            Progress::Failed => return Err(in_base(Error::invalid("writing the table has failed before"))),
        }
        self.progress = Progress::Failed;
        let result = work(self);
        match result {
            Ok(_) => self.progress = Progress::Open,
            Err(_) => self.abort(),
        }
        result
    }

    fn check_types(&self, batch: &RecordBatch) -> Result<()> {
        let (expected, given) = (self.schema.fields(), batch.schema_ref().fields());
        let error = if expected.len() != given.len() {
            let text = format!("a batch of {} columns, where the table has {}", given.len(), expected.len());
            Error::invalid(text)
        } else {
            let differs =
                expected.iter().zip(given).find(|(a, b)| a.name() != b.name() || a.data_type() != b.data_type());
            let Some((expected, given)) = differs else { return Ok(()) };
            Error::invalid(format!("a batch with {given}, where the table has {expected}")).in_column(expected.name())
        };
        Err(error.in_file(&display_name(&self.base)))
    }

    /// Adds the partitions of a batch to those that are known.
    fn check_partitions(&mut self, split: &Split) -> Result<()> {
        for partition in &split.partitions {
            if self.partitions.contains(&partition.key) {
                continue;
            }
            if self.partitions.len() >= self.options.max_partitions {
                let by = &self.options.partition_by;
                let here = split.partitions.len();
                return Err(Error::invalid(format!(
                    "partition_by={by:?}: the rows have more partitions than max_partitions={} allows, each with a folder \
                     and a file; a batch of {} rows has {here}",
                    self.options.max_partitions,
                    split.num_rows(),
                )));
            }
            self.partitions.insert(partition.key.clone());
        }
        Ok(())
    }

    fn write_rows(&mut self, key: &PartitionKey, values: &[ArrayRef], rows: &RecordBatch) -> Result<()> {
        let mut at = 0;
        while at < rows.num_rows() {
            if !self.open.contains_key(key) {
                self.open_file(key, values.to_vec())?;
            }
            let file = self.open.get_mut(key).or_internal("a file is written that is not open")?;
            let mut count = rows.num_rows() - at;
            if let Some(max_rows) = self.options.max_rows_per_file {
                let room = max_rows.saturating_sub(file.rows()).min(count as u64);
                count = usize::try_from(room).or_internal("a file has room for more rows than memory")?;
            }
            let before = file.memory;
            file.write(&rows.slice(at, count))?;
            self.memory = self.memory.saturating_sub(before).saturating_add(file.memory);
            at += count;
            if self.options.max_rows_per_file.is_some_and(|max_rows| file.rows() >= max_rows) {
                self.close_file(key)?;
            }
        }
        self.free_memory()
    }

    /// Has rows wait for the end, in memory or on disk.
    fn wait(&mut self, partitions: &[&Partition], rows: RecordBatch) -> Result<()> {
        let counted = |partition: &&Partition| (partition.key.clone(), partition.values.clone(), partition.rows());
        self.waiting.add(rows, partitions.iter().map(counted).collect());
        let budget = self.options.max_memory / 2;
        if self.waiting.memory() > budget {
            let spilled = self.waiting.spill(budget, self.cancel_check.as_ref());
            spilled.map_err(|error| error.in_file(&display_name(&self.base)))?;
        }
        self.waiting_memory = self.waiting.memory();
        self.free_memory()
    }

    /// Writes the rows that wait, one partition after another.
    fn write_waiting(&mut self) -> Result<()> {
        let (mut rows, partitions) = self.waiting.take(self.cancel_check.as_ref());
        let mut last: Option<&PartitionKey> = None;
        while let Some((number, rows)) = rows.next().map_err(|error| error.in_file(&display_name(&self.base)))? {
            let (key, values) = partitions.get(number).or_internal("rows that wait have no partition")?;
            if let Some(before) = last.filter(|before| *before != key) {
                self.close_file(before)?;
            }
            self.write_rows(key, values, &rows)?;
            last = Some(key);
        }
        if let Some(key) = last {
            self.close_file(key)?;
        }
        self.waiting_memory = 0;
        Ok(())
    }

    /// Opens the file of a partition.
    fn open_file(&mut self, key: &PartitionKey, values: Vec<ArrayRef>) -> Result<()> {
        let mut folder = self.base.clone();
        for (name, text) in self.options.partition_by.iter().zip(key) {
            folder = format!("{folder}/{}", partition_folder(name, text.as_deref()));
        }
        // Files wait beside their names if they have no other folder.
        if matches!(self.options.publication, Publication::WhenClosed | Publication::Staged { folder: None }) {
            self.folders.create(if folder.is_empty() { "/" } else { &folder })?;
        }
        let number = self.next_file;
        let location = self.next_location(&folder)?;
        let storage = &self.options.storage;
        let (sink, staging) = match &self.options.publication {
            Publication::WhenClosed => (create(&location, storage)?, None),
            Publication::Staged { folder } => {
                let (sink, staging) = create_staged(&location, folder.as_deref(), storage)?;
                (sink, Some(staging))
            }
        };
        let mut writer = FileWriter::try_new(sink, self.file_schema.clone(), &self.options.write)?;
        if let Some(check) = &self.cancel_check {
            writer.set_cancel_check(check.clone());
        }
        self.open.insert(key.clone(), OpenFile::new(writer, staging, location, values, number));
        Ok(())
    }

    fn next_location(&mut self, folder: &str) -> Result<String> {
        let template = &self.options.file_name;
        loop {
            let location = format!("{folder}/{}", template.replace("{i}", &format!("{:05}", self.next_file)));
            self.next_file += 1;
            let is_taken = self.options.excluded.contains(&location);
            if template.contains("{i}") {
                if !is_taken {
                    return Ok(location);
                }
                continue;
            }
            let finished = self.finished.iter().map(|file| &file.location);
            if is_taken || finished.chain(self.open.values().map(|file| &file.location)).any(|other| *other == location)
            {
                return Err(Error::invalid(format!("file_name={template:?}: {{i}} has to be in it, for a number")));
            }
            return Ok(location);
        }
    }

    fn close_file(&mut self, key: &PartitionKey) -> Result<()> {
        let Some((key, file)) = self.open.remove_entry(key) else { return Ok(()) };
        self.memory = self.memory.saturating_sub(file.memory);
        self.in_doubt = Some(file.location.clone());
        self.finished.push(file.finish(&self.options.partition_by, key)?);
        self.in_doubt = None;
        Ok(())
    }

    /// Ends stripes of the largest files until the limit of memory is kept.
    fn free_memory(&mut self) -> Result<()> {
        let max_memory = self.options.max_memory.saturating_sub(self.waiting_memory);
        if self.memory <= max_memory {
            return Ok(());
        }
        let mut files: Vec<_> = self.open.values_mut().filter(|file| file.has_rows).collect();
        files.sort_by_key(|file| std::cmp::Reverse(file.memory));
        for file in files {
            if self.memory <= max_memory {
                break;
            }
            let before = file.memory;
            file.end_stripe()?;
            self.memory = self.memory.saturating_sub(before).saturating_add(file.memory);
        }
        Ok(())
    }

    /// The open files in the order in which they were opened.
    fn by_number(&self) -> Vec<PartitionKey> {
        let mut keys: Vec<_> = self.open.iter().map(|(key, file)| (file.number, key)).collect();
        keys.sort();
        keys.into_iter().map(|(_, key)| key.clone()).collect()
    }
}

impl Drop for DatasetWriter {
    fn drop(&mut self) {
        if self.progress != Progress::Finished {
            self.abort();
        }
    }
}

#[cfg(test)]
mod tests;
