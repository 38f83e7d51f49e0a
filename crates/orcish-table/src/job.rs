//! Jobs that change tables.

use std::collections::BTreeSet;
use std::fs::FileType;
use std::io;
use std::path::Path;

use orcish_core::process::{OwnerProcess, unique_id};
use orcish_core::{Error, ErrorKind, OrInternal as _, Result};
use orcish_io::{Location, StagedFile, StorageOptions, display_name, hive_partitions};

use crate::commit::{Change, CommitError, Outcome, Removes, abandon, commit, position};
use crate::entry::{AddedFile, Operation, StreamBatch};
use crate::executor::block_on;
use crate::file_store::FileStore;
use crate::finish::recover;
use crate::names::{FileKind, OWN, check_job, file_kind, is_below, is_hidden, job_folder};
use crate::schema::TableSchema;
use crate::sources::{table_of, text_of};
use crate::store::{Store as _, StoredFile};
use crate::transactional::check_not_transactional;
use crate::view::{Pending, View, view};

/// A table at one moment of its log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snapshot {
    /// The number that the next entry of the log has.
    pub position: u64,
    /// The visible files, by their paths in the table, sorted.
    pub files: Vec<String>,
    /// The schema in the log.
    pub schema: Option<TableSchema>,
}

/// What a commit does beside the files that it adds.
#[derive(Debug, Clone)]
pub struct Decision {
    /// Which files are removed.
    pub removes: Removes,
    /// The schema of the table after the commit; `None` where it stays.
    pub schema: Option<TableSchema>,
}

/// A job that changes a table: it stages files, and commits them together.
///
/// A job belongs to the process that made it. A child of a fork has a copy, which changes nothing.
#[derive(Debug, Clone)]
pub struct Job {
    base: String,
    root: String,
    inside: String,
    /// What messages call the folder, as it was given.
    name: String,
    id: String,
    store: FileStore,
    owner: OwnerProcess,
}

impl Job {
    /// A job of the table in a folder, or of a partition of a table. The folder need not exist.
    ///
    /// # Errors
    /// `Io` with the kind `NotADirectory` if there is a file. As [`table_of`].
    pub fn try_new(location: &Location, storage: &StorageOptions) -> Result<Self> {
        if let Some(path) = location.local_path() {
            check_folder(path)?;
        }
        let (root, inside) = table_of(location)?;
        let base = if inside.is_empty() { root.clone() } else { format!("{root}/{inside}") };
        let store = FileStore::new(&root, storage);
        let name = display_name(text_of(location)?.trim_end_matches('/'));
        Ok(Job { base, root, inside, name, id: unique_id(), store, owner: OwnerProcess::current() })
    }

    /// The part of a job in another process, which has its ID.
    ///
    /// # Errors
    /// `InvalidArgument` if the ID is none.
    pub fn with_id(mut self, id: &str) -> Result<Self> {
        check_job(id)?;
        id.clone_into(&mut self.id);
        Ok(self)
    }

    /// Path or URL of the folder that the job writes to, without links: a table, or a partition of one.
    pub fn base(&self) -> &str {
        &self.base
    }

    /// What messages call the folder that the job writes to: the path or URL as it was given.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Path or URL of the folder of the table, without links.
    pub fn root(&self) -> &str {
        &self.root
    }

    /// The path of the folder of the job below that of the table; empty for the table itself.
    pub fn inside(&self) -> &str {
        &self.inside
    }

    /// The ID of the job.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Options of the store.
    pub fn storage(&self) -> &StorageOptions {
        &self.store.options
    }

    /// The folder of the table in its store.
    pub fn store(&self) -> &FileStore {
        &self.store
    }

    /// The path or URL of a file, by its path in the table.
    pub fn location(&self, name: &str) -> String {
        format!("{}/{name}", self.root)
    }

    /// The path of a staged file in the table.
    ///
    /// # Errors
    /// `InvalidArgument` if the file was not staged for the table.
    pub fn name_of<'a>(&self, file: &'a StagedFile) -> Result<&'a str> {
        let name = file.location.strip_prefix(&self.root).and_then(|rest| rest.strip_prefix('/'));
        let root = display_name(&self.root);
        name.ok_or_else(|| Error::invalid(format!("the file was not staged for the table {root}")))
    }

    /// The partition columns that the folder of the job is below.
    pub fn partition_columns(&self) -> Vec<String> {
        hive_partitions(&format!("{}/-", self.inside)).into_iter().map(|(name, _)| name).collect()
    }

    /// Whether the job belongs to this process, and not to the parent of a fork.
    pub fn is_own(&self) -> bool {
        self.owner.is_current()
    }

    /// Checks that the job belongs to this process.
    fn check_process(&self) -> Result<()> {
        if self.is_own() {
            return Ok(());
        }
        let text = format!(
            "the table is being changed by process {}: a child of a fork begins a change of its own",
            self.owner.id()
        );
        Err(Error::invalid(text).in_file(&display_name(&self.base)))
    }

    /// The folder of the files of the job, by its path in the table.
    pub fn staging(&self) -> String {
        job_folder(&self.id)
    }

    /// A new folder for the files of one attempt of a task, by its path in the table. Its name is an ID of 32 digits.
    ///
    /// # Errors
    /// `InvalidArgument` if the job belongs to another process.
    pub fn new_attempt(&self) -> Result<String> {
        self.check_process()?;
        Ok(format!("{}/{}", self.staging(), unique_id()))
    }

    /// Finishes a commit of another job that has died, and looks at a folder of the table, given by its path in it.
    ///
    /// # Errors
    /// `Commit` if the commit cannot be finished. `Unsupported` if the folder is that of a transactional table of Hive, or in one.
    /// `InvalidArgument` if the table is below another table or above one, whose rows readers would see in both.
    pub fn prepare(&self, folder: &str) -> Result<Snapshot> {
        let (base, root) = (display_name(&self.base), display_name(&self.root));
        if let Some(above) = self.store.table_above()? {
            return Err(Error::invalid(format!(
                "{root} is below the table {}, whose readers would see its rows: a folder below a table is a partition, \
                 such as day=1, and another table is beside it",
                display_name(&above)
            )));
        }
        block_on(recover(&self.store, false))?;
        // Commits that come between are found, as the position is the earlier one.
        self.store.check_own_folders()?;
        let position = block_on(position(&self.store))?;
        // Once a table has a log, no table is made below it.
        let below = if position == 0 { self.store.table_below()? } else { None };
        if let Some(below) = below.map(|below| display_name(&below)) {
            return Err(Error::invalid(match self.inside.is_empty() {
                true => format!(
                    "{root} has another table below it, {below}, whose rows readers would see in both: write to that \
                     table, or to a folder beside it"
                ),
                false => format!(
                    "{base}: a folder with '=' in its name is a partition of the table above it, and {root} is a folder \
                     of tables, such as {below}: choose a name without '='"
                ),
            }));
        }
        let View { files, schema } = block_on(view(&self.store, folder, Pending::Wait))?;
        let files: Vec<String> = files.into_iter().map(|file| file.name).collect();
        check_not_transactional(&Location::try_new(&self.root)?, Some(&files), self.storage())?;
        Ok(Snapshot { position, files, schema })
    }

    /// All files below the folder that the job writes to, hidden ones included. Links to folders are not followed.
    ///
    /// # Errors
    /// `InvalidArgument` if there is another table below the folder. `Io` if the folder cannot be listed.
    pub fn files(&self) -> Result<Vec<StoredFile>> {
        let mut files = block_on(self.store.list(&self.inside))?;
        files.retain(|file| !is_below(&file.name, OWN));
        for file in &files {
            // Readers pass over tables in hidden folders.
            if let Some((table, _)) = file.name.split_once("/_orcish/log/")
                && !table.split('/').any(is_hidden)
            {
                let root = display_name(&self.root);
                let text = format!("{root} has another table below it, {table}: it is changed by its own path");
                return Err(Error::invalid(text));
            }
        }
        Ok(files)
    }

    /// Checks that files that readers see are those of the table alone. Files in folders that are no partitions, and files
    /// behind links to folders, may belong to other tables, or to a table of another format. `names` are the files, and `there`
    /// the [`files`](Self::files) of the job. `fate` is what does not become of such a file, and what to do.
    ///
    /// # Errors
    /// `Commit` if a file is gone, or behind a link to a folder. `InvalidArgument` if a file is in a folder that is no partition.
    pub fn check_own_files<'a>(
        &self,
        names: impl IntoIterator<Item = &'a str>,
        there: &[StoredFile],
        fate: &str,
    ) -> Result<()> {
        let there: BTreeSet<&str> = there.iter().map(|file| file.name.as_str()).collect();
        for name in names {
            let place = display_name(&self.location(name));
            if !there.contains(name) {
                let text = "the file is gone, or behind a link to a folder; the table is unchanged";
                return Err(Error::new(ErrorKind::Commit, text).in_file(&place));
            }
            if file_kind(name) != FileKind::Data {
                let text = format!("the file is in a folder that is no partition, {fate}");
                return Err(Error::invalid(text).in_file(&place));
            }
        }
        Ok(())
    }

    /// Calls `work`, which reads files of the table. Where one of them is gone, the error is that of a conflict.
    ///
    /// # Errors
    /// `Commit` if another job has removed one of the files meanwhile; otherwise the error of `work`.
    pub fn reading<T>(&self, names: &[String], work: impl FnOnce() -> Result<T>) -> Result<T> {
        let error = match work() {
            Ok(done) => return Ok(done),
            Err(error) => error,
        };
        if matches!(error.kind(), ErrorKind::Commit | ErrorKind::InvalidArgument | ErrorKind::Interrupted)
            || error.io_kind() == Some(io::ErrorKind::AlreadyExists)
        {
            return Err(error);
        }
        let found: BTreeSet<String> = match block_on(view(&self.store, "", Pending::Wait)) {
            Ok(View { files, .. }) => files.into_iter().map(|file| file.name).collect(),
            Err(conflict) if conflict.kind() == ErrorKind::Commit => return Err(conflict),
            // The first error says why nothing can be read.
            Err(_) => return Err(error),
        };
        let Some(gone) = names.iter().find(|name| !found.contains(*name)) else {
            return Err(error);
        };
        let text = "another job has removed the file meanwhile; nothing is changed: run it again";
        Err(Error::new(ErrorKind::Commit, text).in_file(&display_name(&self.location(gone))).with_source(error))
    }

    /// Adds staged files to the table, and does what `decide` says, as a whole. Gives whether the files are in the table: not if
    /// the batch of the stream was committed before.
    ///
    /// `position` is that of the [`Snapshot`] for which the files were written; `None` if no other commit matters. Where other
    /// commits have come first since, `decide` is called again, with `true`, and looks at the table once more.
    ///
    /// # Errors
    /// As [`commit`], and those of `decide`. `Refused` if the job belongs to another process.
    pub fn commit(
        &self,
        operation: Operation,
        files: &[StagedFile],
        stream: Option<&StreamBatch>,
        mut position: Option<u64>,
        mut decide: impl FnMut(bool) -> Result<Decision>,
    ) -> Result<bool, CommitError> {
        self.check_process()?;
        let rows = files.iter().try_fold(0u64, |rows, file| rows.checked_add(file.rows));
        let rows_added = rows.or_internal("files have more rows than 64 bits count")?;
        let added = self.added(files)?;
        let mut is_again = false;
        loop {
            let Decision { removes, schema } = decide(is_again)?;
            let (stream, added) = (stream.cloned(), added.clone());
            let change = Change { operation, rows_added, added, removes, stream, position, schema };
            match block_on(commit(&self.store, &self.id, &change))? {
                Outcome::Committed(_) => return Ok(true),
                Outcome::CommittedBefore => {
                    self.give_up(files);
                    return Ok(false);
                }
                Outcome::Outdated(now) => (position, is_again) = (Some(now), true),
            }
        }
    }

    fn added(&self, files: &[StagedFile]) -> Result<Vec<AddedFile>> {
        files.iter().map(|file| self.store.added(&self.id, file)).collect()
    }

    /// Removes the staged files of the job. Files of a commit that is decided stay. `files` are those that are known: in a store,
    /// parts of other files stay until the rules of the store remove unfinished uploads.
    ///
    /// # Errors
    /// `InvalidArgument` if the job belongs to another process. `Io` if a file cannot be removed.
    pub fn abandon(&self, files: &[StagedFile]) -> Result<()> {
        self.check_process()?;
        block_on(abandon(&self.store, &self.id, &self.added(files)?))
    }

    /// As [`abandon`](Self::abandon), without errors: files that cannot be removed stay until they are vacuumed. A child of a fork
    /// removes nothing.
    pub fn give_up(&self, files: &[StagedFile]) {
        if self.is_own() {
            // There is another error already, or the commit does not need the files.
            let _ = self.abandon(files);
        }
    }
}

/// Checks that a path is not that of a file, a pipe or the like.
///
/// # Errors
/// `Io` with the kind `NotADirectory` otherwise.
pub fn check_folder(path: &Path) -> Result<()> {
    let Ok(status) = path.metadata() else { return Ok(()) };
    if status.is_dir() {
        return Ok(());
    }
    let kind = if status.is_file() { "a file" } else { special_kind(status.file_type()) };
    let text = "a table is given by its folder, or by the folder of a partition";
    let error = io::Error::new(io::ErrorKind::NotADirectory, text);
    Err(Error::io(format!("the path is {kind}, and no folder"), error).in_file(&display_name(&path.to_string_lossy())))
}

/// What is at a path that is neither a file nor a folder.
#[cfg(unix)]
fn special_kind(kind: FileType) -> &'static str {
    use std::os::unix::fs::FileTypeExt as _;
    match kind {
        kind if kind.is_fifo() => "a pipe (FIFO)",
        kind if kind.is_socket() => "a socket",
        _ => "a device",
    }
}

#[cfg(not(unix))]
fn special_kind(_: FileType) -> &'static str {
    "no regular file"
}
