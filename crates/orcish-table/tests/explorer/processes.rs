//! The processes of a schedule: writers, readers, and processes that recover and clean up.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::time::Duration;

use orcish_core::ErrorKind;
use orcish_table::{
    AddedFile, Change, CommitError, FileKind, Operation, Outcome, Pending, Removes, STALE, StoredFile, StreamBatch,
    TableSchema, View, abandon, commit, file_kind, position, recover, vacuum, view,
};

use crate::mutations::Mutation;
use crate::serial::Effect;
use crate::world::{Rows, SimStore, World};

/// What a process was told of its commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Report {
    Done,
    Refused,
    Unknown,
}

/// What a reader has seen.
#[derive(Debug, Clone)]
pub(crate) struct Observation {
    pub(crate) rows: Vec<u32>,
    /// The job whose schema the table has.
    pub(crate) schema: Option<String>,
    /// The reader has to see at least this number of entries,
    pub(crate) least: usize,
    /// and at most this number.
    pub(crate) most: usize,
}

impl Observation {
    fn new(found: View, world: &World, least: usize) -> Self {
        Observation {
            rows: found.files.iter().flat_map(|file| world.rows[&file.name].clone()).collect(),
            schema: found.schema.and_then(|schema| schema.partition.into_iter().next()),
            least,
            most: world.history.len(),
        }
    }
}

/// What is known of the jobs of a schedule.
#[derive(Default)]
pub(crate) struct Records {
    pub(crate) effects: BTreeMap<String, Effect>,
    pub(crate) reports: BTreeMap<String, Report>,
    pub(crate) streams: BTreeMap<String, StreamBatch>,
    /// The jobs that change the schema.
    pub(crate) schemas: BTreeSet<String>,
    pub(crate) observations: Vec<Observation>,
    /// The next batch of each stream, by its checkpoint.
    pub(crate) checkpoints: BTreeMap<String, u64>,
    /// The positions of the log for which commits were made.
    pub(crate) positions: BTreeMap<String, u64>,
    jobs: u32,
    rows: u32,
    /// What should not have happened.
    pub(crate) violations: Vec<String>,
}

/// A process of a schedule.
#[derive(Clone)]
pub(crate) struct Process {
    pub(crate) store: SimStore,
    pub(crate) records: Rc<RefCell<Records>>,
}

/// The kinds of changes of a writer.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Write {
    Append,
    /// An append to the table as it was looked at.
    AppendChecked,
    /// A commit to a table without files.
    Create,
    Overwrite,
    OverwriteFolder,
    OverwritePartitions,
    Compact,
    Delete,
}

impl Process {
    fn new_job(&self) -> String {
        let mut records = self.records.borrow_mut();
        records.jobs += 1;
        format!("job-{}", records.jobs)
    }

    fn new_rows(&self, count: usize) -> Rows {
        let mut records = self.records.borrow_mut();
        let first = records.rows + 1_000;
        records.rows += u32::try_from(count).unwrap();
        (first..first + u32::try_from(count).unwrap()).collect()
    }

    fn below(&self, bound: usize) -> usize {
        self.store.world.borrow_mut().random.below(bound)
    }

    /// The schema of a job, which may change it.
    fn new_schema(&self, job: &str) -> Option<TableSchema> {
        let is_new = self.below(2) == 0;
        if is_new {
            self.records.borrow_mut().schemas.insert(job.to_owned());
        }
        is_new.then(|| TableSchema { partition: vec![job.to_owned()], ..TableSchema::default() })
    }

    /// Stages new rows in one or more files of a partition.
    async fn stage(&self, job: &str, partition: usize, count: usize) -> (Vec<AddedFile>, BTreeMap<u32, usize>) {
        let (mut files, mut all) = (Vec::new(), BTreeMap::new());
        for at in 0..count {
            let rows = self.new_rows(1 + self.below(2));
            all.extend(rows.iter().map(|row| (*row, partition)));
            files.push(self.store.stage(job, &format!("k={partition}/{job}-{partition}-{at}.orc"), rows).await);
        }
        (files, all)
    }

    pub(crate) async fn write(self, kind: Write) {
        let job = self.new_job();
        let partition = self.below(2);
        let count = 1 + self.below(2);
        let (change, effect) = match kind {
            Write::Append => {
                let (added, rows) = self.stage(&job, partition, count).await;
                (change(Operation::Append, added, Removes::Nothing), Effect::Add(rows))
            }
            Write::AppendChecked => return self.append_checked(&job, partition).await,
            Write::Create => {
                let (added, rows) = self.stage(&job, partition, count).await;
                (change(Operation::Append, added, Removes::NothingExists(String::new())), Effect::Create(rows))
            }
            Write::Overwrite => {
                let (added, rows) = self.stage(&job, partition, count).await;
                let removes = Removes::Everything(String::new());
                (change(Operation::Overwrite, added, removes), Effect::Replace(BTreeSet::from([0, 1]), rows))
            }
            Write::OverwriteFolder | Write::OverwritePartitions => {
                let (added, rows) = self.stage(&job, partition, count).await;
                let folder = format!("k={partition}");
                let removes = match kind {
                    Write::OverwriteFolder => Removes::Everything(folder),
                    _ => Removes::Folders(BTreeSet::from([folder])),
                };
                (change(Operation::Overwrite, added, removes), Effect::Replace(BTreeSet::from([partition]), rows))
            }
            Write::Compact | Write::Delete => {
                let Ok(found) = view(&self.store, "", Pending::Wait).await else { return };
                let prefix = format!("k={partition}/");
                let mut files = found.files;
                files.retain(|file| file.name.starts_with(&prefix) && file_kind(&file.name) == FileKind::Data);
                if files.is_empty() {
                    return;
                }
                self.rewrite(&job, partition, files, matches!(kind, Write::Delete)).await
            }
        };
        self.records.borrow_mut().effects.insert(job.clone(), effect);
        let change = Change { schema: self.new_schema(&job), ..change };
        self.run(&job, &change).await;
    }

    /// Appends to the table as it is at a position of its log, which is asked for again when other commits come first.
    async fn append_checked(&self, job: &str, partition: usize) {
        let (added, rows) = self.stage(job, partition, 1).await;
        self.records.borrow_mut().effects.insert(job.to_owned(), Effect::Add(rows));
        let schema = self.new_schema(job);
        let Ok(mut at) = position(&self.store).await else { return };
        for _ in 0..4 {
            self.records.borrow_mut().positions.insert(job.to_owned(), at);
            let is_compared = self.store.mutation != Some(Mutation::PositionIgnored);
            let change = Change {
                position: Some(at).filter(|_| is_compared),
                schema: schema.clone(),
                ..change(Operation::Append, added.clone(), Removes::Nothing)
            };
            match self.run(job, &change).await {
                (_, Some(Outcome::Outdated(now))) => at = now,
                _ => return,
            }
        }
        let _ = abandon(&self.store, job, &added).await;
    }

    /// Writes the rows of files into one file, all or every second one.
    async fn rewrite(&self, job: &str, partition: usize, files: Vec<StoredFile>, is_delete: bool) -> (Change, Effect) {
        let rows: Rows = {
            let world = self.store.world.borrow();
            files.iter().flat_map(|file| world.rows[&file.name].clone()).collect()
        };
        let is_deleted = |row: &u32| is_delete && row.is_multiple_of(2);
        let (deleted, kept): (Rows, Rows) = rows.into_iter().partition(is_deleted);
        let name = format!("k={partition}/{job}.orc");
        let added = if kept.is_empty() { Vec::new() } else { vec![self.store.stage(job, &name, kept).await] };
        let operation = if is_delete { Operation::Delete } else { Operation::Compact };
        (change(operation, added, Removes::Files(files)), Effect::Remove(deleted))
    }

    /// Commits a change, and records what this process is told.
    async fn run(&self, job: &str, change: &Change) -> (Report, Option<Outcome>) {
        self.records.borrow_mut().reports.insert(job.to_owned(), Report::Unknown);
        let result = commit(&self.store, job, change).await;
        let report = match &result {
            Ok(Outcome::Committed(_)) => Report::Done,
            Ok(Outcome::CommittedBefore | Outcome::Outdated(_)) | Err(CommitError::Refused(_)) => Report::Refused,
            Err(CommitError::InDoubt(_) | CommitError::Unfinished(_)) => Report::Unknown,
        };
        self.store.world.borrow_mut().trace.push(format!("{job}: {result:?}"));
        self.records.borrow_mut().reports.insert(job.to_owned(), report);
        let is_over = match result {
            Ok(Outcome::Outdated(_)) => false,
            // Spark does so after any error.
            Err(CommitError::InDoubt(_)) => self.below(2) == 0,
            _ => report == Report::Refused,
        };
        if is_over {
            let _ = abandon(&self.store, job, &change.added).await;
        }
        (report, result.ok())
    }

    /// Writes the batches of a stream. A batch that has failed is written again, as Spark does.
    pub(crate) async fn stream(self, stream: &'static str, batches: u64) {
        for _ in 0..20 {
            let batch = self.records.borrow().checkpoints.get(stream).copied().unwrap_or(0);
            if batch >= batches {
                return;
            }
            let job = self.new_job();
            let (added, rows) = self.stage(&job, 0, 1).await;
            let batch = StreamBatch { stream: stream.to_owned(), batch };
            self.records.borrow_mut().effects.insert(job.clone(), Effect::Add(rows));
            self.records.borrow_mut().streams.insert(job.clone(), batch.clone());
            let change = Change { stream: Some(batch.clone()), ..change(Operation::Append, added, Removes::Nothing) };
            if let (_, Some(Outcome::Committed(_) | Outcome::CommittedBefore)) = self.run(&job, &change).await {
                let mut records = self.records.borrow_mut();
                let next = records.checkpoints.entry(stream.to_owned()).or_default();
                *next = (*next).max(batch.batch + 1);
            }
        }
    }

    pub(crate) async fn read(self, pending: Pending) {
        let least = {
            let (world, records) = (self.store.world.borrow(), self.records.borrow());
            let is_done = |(_, job): &(u64, String)| records.reports.get(job) == Some(&Report::Done);
            world.history.iter().rposition(is_done).map_or(0, |at| at + 1)
        };
        let Ok(found) = view(&self.store, "", pending).await else { return };
        let world = self.store.world.borrow();
        let observation = Observation::new(found, &world, least);
        self.records.borrow_mut().observations.push(observation);
    }

    /// Recovers the table a number of times.
    pub(crate) async fn recover(self, undo: bool, times: usize) {
        for _ in 0..times {
            let _ = recover(&self.store, undo).await;
        }
    }

    pub(crate) async fn vacuum(self) {
        let _ = vacuum(&self.store, STALE).await;
    }

    /// What a user does after all faults: the table has to be in order then.
    pub(crate) async fn repair(self) {
        if let Err(error) = recover(&self.store, true).await {
            self.records.borrow_mut().violations.push(format!("recover fails: {error}"));
        }
        if let Err(error) = vacuum(&self.store, Duration::ZERO).await {
            self.records.borrow_mut().violations.push(format!("vacuum fails: {error}"));
        }
        match view(&self.store, "", Pending::Wait).await {
            Ok(found) => {
                let world = self.store.world.borrow();
                let observation = Observation::new(found, &world, world.history.len());
                self.records.borrow_mut().observations.push(observation);
            }
            Err(error) => {
                let kind = error.kind();
                assert_ne!(kind, ErrorKind::Interrupted);
                self.records.borrow_mut().violations.push(format!("the table cannot be read: {error}"));
            }
        }
    }
}

fn change(operation: Operation, added: Vec<AddedFile>, removes: Removes) -> Change {
    Change { operation, rows_added: 0, added, removes, stream: None, position: None, schema: None }
}
