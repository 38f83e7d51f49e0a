//! Tables as folders of files that several processes change at the same time.
//!
//! A table is a folder with data files, and with folders of partitions such as `day=2026-11-24`. Any reader of such
//! folders can read it. This crate adds a log, so that a change of many files happens as a whole.
//!
//! # The protocol
//!
//! ```text
//! t/day=2026-11-24/part-0.orc                 a data file
//! t/_orcish/log/000000000007.json             entry 7 of the log: files that are added, files that are removed
//! t/_orcish/log/000000000007.done             entry 7 is finished
//! t/_orcish/jobs/1f0c…/…                      files of a job that are written and not visible yet
//! ```
//!
//! 1. **A job stages files.** They are in the folder of the job, or, in stores, in uploads that are not completed.
//! 2. **It finishes the last entry** of the log if that is not finished, whoever wrote it.
//! 3. **It creates the next entry**, with a number that is larger by one. Of several jobs that create an entry, one
//!    succeeds, and the others begin again at step 2. *The entry decides the commit.*
//! 4. **It finishes its entry**: staged files become visible, then removed files are deleted, then the marker `.done`
//!    is written. Each step can be repeated, and by any process.
//!
//! Because of step 2, only the last entry of a log can be unfinished, and a job that creates an entry has seen the files
//! of all entries before. All commits of a table are in one order.
//!
//! **Readers write nothing.** A reader reads the log, lists the files, and reads the log again. If entries were added in
//! between, it applies their effects to its listing. If the last entry is unfinished, the reader sees its effects once all
//! added files are visible, and before that it waits, fails, or reads the state before; see [`Pending`]. No file is
//! removed before all added files are visible, so that the state before can be read as long as one is missing.
//!
//! **Names are used once**: a data file never gets the name of a file that an entry has removed. A process that is
//! suspended while it finishes an entry therefore harms nothing when it goes on.
//!
//! **A log forgets.** Old entries are deleted, but never the last one. A number below the largest has no effect, so that
//! a process that was suspended for long before step 3 finds out that its entry is void.
//!
//! **The schema of the table** is in each entry, as a file without rows that this crate does not look into. The marker of a
//! finished entry repeats it, with the last batches of streams: readers and writers read the marker of the last entry, and
//! no entry that is finished. Entries and markers have checksums.
//!
//! Each commit of a stream carries the number of its batch, and each entry has the last batch of every stream, so that
//! a batch is in the table once.
//!
//! # Example
//!
//! ```
//! use orcish_table::{FileStore, Pending, block_on, view};
//!
//! let folder = std::env::temp_dir().join(format!("orcish-table-{}", std::process::id()));
//! let store = FileStore::new(folder.to_str().unwrap(), &Default::default());
//! // There is no folder yet.
//! assert!(block_on(view(&store, "", Pending::Before))?.files.is_empty());
//! # Ok::<(), orcish_core::Error>(())
//! ```

mod commit;
mod entry;
mod executor;
mod file_store;
mod finish;
mod history;
mod job;
mod links;
mod listing;
mod log;
mod names;
mod nested;
mod schema;
mod sealed;
mod shape;
mod sources;
mod store;
mod transactional;
mod vacuum;
mod view;

pub use commit::{Change, CommitError, Outcome, Removes, abandon, commit, exists, position};
pub use entry::{AddedFile, Operation, StagedBytes, StreamBatch, UploadParts};
pub use executor::block_on;
pub use file_store::FileStore;
pub use finish::{Recovered, recover};
pub use history::{Commit, CommitStatus, history};
pub use job::{Decision, Job, Snapshot, check_folder};
pub use listing::{Listed, list_files};
pub use names::{FileKind, JOBS, LOG, OWN, file_kind, job_folder, table_root};
pub use schema::TableSchema;
pub use sources::{PartitionValues, SourceFile, SourceFiles, no_files, source_files, table_of, text_of};
pub use store::{Retention, Store, StoredFile};
pub use transactional::check_not_transactional;
pub use vacuum::{STALE, vacuum};
pub use view::{Pending, View, view};
