//! Entries of the log.

use std::collections::BTreeMap;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use orcish_core::{Error, OrInternal as _, Result, words};
use serde::{Deserialize, Serialize};

use crate::names::{FileKind, check_job, check_relative, file_kind, shown};
use crate::schema::TableSchema;
use crate::sealed::{from_sealed, to_sealed};
use crate::shape::check_shape;

/// The version of entries.
const VERSION: u32 = 1;
const ENGINE: &str = concat!("orcish ", env!("CARGO_PKG_VERSION"));
/// Maximum size of an entry in bytes, which is that of a commit of some hundred thousand files.
pub(crate) const MAX_ENTRY: u64 = 64 << 20;
/// Maximum number of streams that an entry has.
const MAX_STREAMS: usize = 1_000;
/// Maximum length of the ID of a stream in bytes.
const MAX_STREAM_ID: usize = 1_024;

words! {
    /// What a commit does, for people who read the log.
    #[derive(Serialize, Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub enum Operation {
        /// Rows are added.
        Append = "append",
        /// All rows, or those of some partitions, are replaced.
        Overwrite = "overwrite",
        /// Files are combined. The rows stay.
        Compact = "compact",
        /// Rows are deleted.
        Delete = "delete",
    }
}

/// A file that a job has written and that is not visible yet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AddedFile {
    /// The path below the folder of the table, once the file is visible.
    pub name: String,
    /// The size in bytes.
    pub size: u64,
    /// Where the bytes are.
    pub staged: StagedBytes,
}

/// Where the bytes of a staged file are.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum StagedBytes {
    /// The path of a file below the folder of the job.
    File(String),
    /// An upload of a store that is not completed.
    Upload(UploadParts),
}

/// An upload of a store, of which all parts are written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UploadParts {
    /// The ID of the upload; empty for Azure.
    pub id: String,
    /// The IDs of its parts, in order.
    pub parts: Vec<String>,
    /// An ID in the metadata of the object; empty where the store has no such metadata.
    pub write_id: String,
}

/// A batch of a stream, which is in the table at most once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StreamBatch {
    /// The ID of the stream.
    pub stream: String,
    /// The number of the batch. Batches of a stream are committed in order.
    pub batch: u64,
}

/// The last batch of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LastBatch {
    pub(crate) batch: u64,
    /// The number of the entry of the batch.
    pub(crate) entry: u64,
}

/// An entry of the log: a commit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Entry {
    version: u32,
    pub(crate) job: String,
    /// The job of the entry before. It differs in an entry that has the number of one that the log has forgotten.
    pub(crate) previous: Option<String>,
    /// When the entry was made, in milliseconds since 1970, by the clock of the writer. For people, as are the next fields.
    pub(crate) time: u64,
    /// The name and version of the writer.
    pub(crate) engine: String,
    pub(crate) operation: Operation,
    /// The number of rows of the added files.
    pub(crate) rows_added: u64,
    pub(crate) added: Vec<AddedFile>,
    /// Names of the files that are removed.
    pub(crate) removed: Vec<String>,
    /// The batch of a stream that this entry writes.
    pub(crate) batch: Option<StreamBatch>,
    /// The last batch of each stream before this entry.
    streams: BTreeMap<String, LastBatch>,
    /// The schema before this entry; `None` for that of the first file.
    schema: Option<TableSchema>,
    /// The schema after this entry; `None` where it stays.
    new_schema: Option<TableSchema>,
}

impl Entry {
    pub(crate) fn try_new(
        job: &str,
        operation: Operation,
        rows_added: u64,
        added: &[AddedFile],
        removed: Vec<String>,
    ) -> Result<Self> {
        let (job, added) = (job.to_owned(), added.to_vec());
        // A clock before 1970 shows 1970.
        let time = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
        Ok(Entry {
            version: VERSION,
            job,
            previous: None,
            time: u64::try_from(time.as_millis()).or_internal("a clock shows a time of more than 64 bits")?,
            engine: ENGINE.to_owned(),
            operation,
            rows_added,
            added,
            removed,
            batch: None,
            streams: BTreeMap::new(),
            schema: None,
            new_schema: None,
        })
    }

    /// The entry after that of a job.
    pub(crate) fn after(mut self, previous: Option<String>) -> Self {
        self.previous = previous;
        self
    }

    /// The entry of a batch of a stream, after entries with these batches. The streams whose batches are oldest are left
    /// out if there are too many.
    pub(crate) fn with_streams(mut self, batch: Option<StreamBatch>, mut before: BTreeMap<String, LastBatch>) -> Self {
        while before.len() >= MAX_STREAMS {
            let oldest = before.iter().min_by_key(|(_, last)| last.entry).map(|(stream, _)| stream.clone());
            let Some(oldest) = oldest else { break };
            before.remove(&oldest);
        }
        self.batch = batch;
        self.streams = before;
        self
    }

    /// Sets the schema before the entry, and the new one if it differs.
    pub(crate) fn with_schema(mut self, before: Option<TableSchema>, new: Option<TableSchema>) -> Self {
        self.new_schema = new.filter(|new| before.as_ref() != Some(new));
        self.schema = before;
        self
    }

    /// The schema of the table after this entry.
    pub(crate) fn schema_after(&self, is_undone: bool) -> Option<&TableSchema> {
        self.new_schema.as_ref().filter(|_| !is_undone).or(self.schema.as_ref())
    }

    /// The last batch of each stream after this entry, of this number.
    pub(crate) fn streams_after(&self, number: u64, is_undone: bool) -> BTreeMap<String, LastBatch> {
        let mut streams = self.streams.clone();
        if let Some(StreamBatch { stream, batch }) = self.batch.clone().filter(|_| !is_undone) {
            streams.insert(stream, LastBatch { batch, entry: number });
        }
        streams
    }

    /// # Errors
    /// `InvalidArgument` if a name is not one of a data file, `LimitExceeded` for too many files.
    pub(crate) fn to_bytes(&self) -> Result<Bytes> {
        self.check().map_err(|error| Error::invalid(error.message().to_owned()))?;
        let bytes = to_sealed(self)?;
        check_shape(&bytes)?;
        if bytes.len() as u64 > MAX_ENTRY {
            let files = self.added.len() + self.removed.len();
            return Err(Error::limit(format!(
                "a commit of {files} files has an entry of {} bytes, and {MAX_ENTRY} are the most",
                bytes.len()
            )));
        }
        Ok(bytes.into())
    }

    /// # Errors
    /// `Corrupt` if the bytes are not an entry, `Unsupported` for another version.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Result<Self> {
        #[derive(Deserialize)]
        struct Versioned {
            version: u32,
        }
        const FAULT: &str = "this is no entry of the log of a table";
        check_shape(bytes)?;
        let Versioned { version } = from_sealed(bytes, FAULT)?;
        if version != VERSION {
            return Err(Error::unsupported(format!("entries of version {version}: a later orcish has written it")));
        }
        let entry: Self = from_sealed(bytes, FAULT)?;
        entry.check()?;
        Ok(entry)
    }

    /// Checks that all names are within the table, and the bounds of streams.
    fn check(&self) -> Result<()> {
        let ids = self.streams.keys().chain(self.batch.iter().map(|batch| &batch.stream));
        if self.streams.len() > MAX_STREAMS || ids.map(String::len).any(|length| length > MAX_STREAM_ID) {
            let text = format!("an entry has at most {MAX_STREAMS} streams, with IDs of at most {MAX_STREAM_ID} bytes");
            return Err(Error::corrupt(text));
        }
        check_job(&self.job).map_err(|error| Error::corrupt(error.message().to_owned()))?;
        for name in self.added.iter().map(|file| &file.name).chain(&self.removed) {
            check_relative(name)?;
            if file_kind(name) == FileKind::Hidden {
                return Err(Error::corrupt(format!("{:?} is no name of a data file", shown(name))));
            }
        }
        self.schema.iter().chain(&self.new_schema).try_for_each(TableSchema::check)?;
        for file in &self.added {
            if let StagedBytes::File(path) = &file.staged {
                check_relative(path)?;
            }
        }
        Ok(())
    }
}
