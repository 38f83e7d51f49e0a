//! The tasks of a scan: blocklets, and whole files where the index file has no blocklets.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use orcish_core::cancel::CancelCheck;
use orcish_core::explain::Outcome;
use orcish_core::parallel::{PrefetchSource, ScanMemory};
use orcish_core::{Error, OrInternal as _, Result};
use orcish_io::display_name;

use super::config::ScanConfig;
use super::open_files::OpenFiles;
use super::pruning::prune_by_index;
use super::snapshot::TableSnapshot;
use super::task::ScanTask;
use super::task_reader::TaskReader;
use crate::table::{FileEntry, FileFormat};

/// The tasks of a scan, and the files that are open.
pub(super) struct ScanTasks {
    snapshot: Arc<TableSnapshot>,
    config: Arc<ScanConfig>,
    open_files: OpenFiles,
    memory: Arc<ScanMemory>,
    tasks: Vec<ScanTask>,
    /// Number of unfinished tasks of each file.
    unfinished: Mutex<HashMap<usize, usize>>,
}

impl ScanTasks {
    /// The tasks that pruning by index files leaves.
    pub(super) fn try_new(
        snapshot: Arc<TableSnapshot>,
        config: Arc<ScanConfig>,
        memory: Arc<ScanMemory>,
    ) -> Result<Self> {
        let mut tasks = Vec::new();
        let mut unfinished = HashMap::new();
        let mut cancellation = snapshot.storage.of_table().cancellation();
        for (file, entry) in snapshot.files.iter().enumerate() {
            cancellation.poll()?;
            let tasks_of_file = file_tasks(&snapshot, &config, file, entry)?;
            unfinished.insert(file, tasks_of_file.len());
            tasks.extend(tasks_of_file);
        }
        Ok(ScanTasks {
            snapshot,
            config,
            open_files: OpenFiles::default(),
            memory,
            tasks,
            unfinished: Mutex::new(unfinished),
        })
    }

    /// Number of rows of all files; `None` where an index file lacks it or rows are deleted.
    pub(super) fn count(snapshot: &TableSnapshot) -> Result<Option<u64>> {
        let mut rows = 0u64;
        for file in &snapshot.files {
            let Some(blocklets) = file.blocklets.as_ref().filter(|_| file.deletes.is_empty()) else { return Ok(None) };
            for blocklet in blocklets {
                let Some(num_rows) = blocklet.rows else { return Ok(None) };
                rows = rows.saturating_add(num_rows);
            }
        }
        Ok(Some(rows))
    }
}

/// The tasks of a file.
fn file_tasks(snapshot: &TableSnapshot, config: &ScanConfig, file: usize, entry: &FileEntry) -> Result<Vec<ScanTask>> {
    if config.filter.as_ref().is_some_and(|filter| filter.condition().constant() == Some(false)) {
        return Ok(Vec::new());
    }
    match &entry.format {
        FileFormat::Columnar => {}
        FileFormat::Stream | FileFormat::Orc => return Ok(vec![ScanTask { file, blocklets: None }]),
        FileFormat::Other(_) => return snapshot.check_format(entry).map(|()| Vec::new()),
    }
    let Some(outcomes) = prune_by_index(snapshot, config, entry)? else {
        return Ok(vec![ScanTask { file, blocklets: None }]);
    };
    let is_read = |(at, outcome): (usize, Outcome)| (!outcome.is_skipped()).then_some(at);
    let Some(blocklets) = &entry.blocklets else {
        let is_read = !outcomes.iter().all(Outcome::is_skipped);
        return Ok(is_read.then_some(ScanTask { file, blocklets: None }).into_iter().collect());
    };
    let task = |at: usize| {
        let blocklet = blocklets.get(at).or_internal("an outcome is of no blocklet")?;
        Ok(ScanTask { file, blocklets: Some(vec![blocklet.id]) })
    };
    outcomes.into_iter().enumerate().filter_map(is_read).map(task).collect()
}

impl PrefetchSource for ScanTasks {
    type Reader = TaskReader;

    fn num_inputs(&self) -> usize {
        self.tasks.len()
    }

    fn open(&self, at: usize, threads: usize, open_inputs: usize) -> Result<Option<TaskReader>> {
        let task = self.tasks.get(at).ok_or_else(|| Error::invalid(format!("no task {at}")))?;
        let entry = self.snapshot.file(task.file)?;
        TaskReader::open(&self.snapshot, &self.config, &self.open_files, task, threads, open_inputs, &self.memory)
            .map(Some)
            .map_err(|error| error.in_file(&display_name(&entry.location)))
    }

    fn close(&self, at: usize) {
        let Some(task) = self.tasks.get(at) else { return };
        let mut unfinished = self.unfinished.lock().unwrap_or_else(PoisonError::into_inner);
        let count = unfinished.entry(task.file).or_default();
        *count = count.saturating_sub(1);
        if *count == 0 {
            self.open_files.close(task.file);
        }
    }

    fn bytes_of_next(reader: &TaskReader) -> u64 {
        reader.bytes_of_next()
    }

    fn set_cancel_check(reader: &mut TaskReader, check: CancelCheck) {
        reader.set_cancel_check(check);
    }
}
