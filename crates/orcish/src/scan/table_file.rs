//! Files of a table, and parts of them.

use std::sync::Arc;

use arrow_schema::SchemaRef;
use bytes::Bytes;
use orcish_io::{FileVersion, ReadAt};

use crate::read::OrcFile;

/// How the columns of a table are found in its files.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Matching {
    /// By name.
    #[default]
    Name,
    /// By name, case-insensitive.
    NameIgnoringCase,
    /// By position among the columns of the root, and by name within other structs.
    Position,
    /// By an attribute of the type, such as `iceberg.id`.
    Attribute(String),
}

/// Where the schema of a table comes from.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub enum SchemaSource {
    /// The first file that is not empty.
    #[default]
    FirstFile,
    /// A file that has the columns of the table, and none of its rows.
    OtherFile(SchemaFile),
    /// The schema is given. Values are converted to its types.
    Given(SchemaRef),
    /// The schema was made of the files of a folder without a log: values have its types.
    OfFiles(SchemaRef),
    /// As `OfFiles`, of a table whose log has Arrow types: numbers in files without an Arrow schema are times, where the table
    /// has times.
    Inferred(SchemaRef),
    /// As `Inferred`, of a table that has the types of ORC, whatever Arrow types its files were written with.
    InferredOfOrc(SchemaRef),
}

/// A file that has the columns of a table, and none of its rows. All columns are nullable.
#[derive(Debug, Clone)]
pub struct SchemaFile {
    /// The file. Its partition columns have the types of those of the table, which must be types of [`Scan::try_new`].
    ///
    /// [`Scan::try_new`]: super::Scan::try_new
    pub file: OrcFile,
    /// Names of the partition columns. Those that are missing in the file have types that are inferred.
    pub partition: Vec<String>,
    /// Names of the partition columns that a scan without files has.
    pub shown: Vec<String>,
}

/// A given schema, or else that of the first file.
impl From<Option<SchemaRef>> for SchemaSource {
    fn from(schema: Option<SchemaRef>) -> Self {
        schema.map_or(SchemaSource::FirstFile, SchemaSource::Given)
    }
}

/// A file of a table.
#[derive(Clone, Default)]
#[non_exhaustive]
pub struct TableFile {
    /// Path or URL, as for [`open`](crate::io::open). It is the name of the file in messages.
    pub location: String,
    /// The source of the bytes, if it is not the location.
    pub source: Option<Arc<dyn ReadAt>>,
    /// Names and values of the partition columns, see [`hive_partitions`](crate::partition::hive_partitions) and
    /// [`hive_partitions_below`](crate::partition::hive_partitions_below). Their types are in the schema of
    /// [`Scan::try_new`](super::Scan::try_new).
    pub partition: Vec<(String, Option<String>)>,
    /// The tail, from [`FileTail::to_bytes`](crate::tail::FileTail::to_bytes), which is then not read again.
    pub tail: Option<Bytes>,
    /// The version that the file has to be of. A tail has a version of its own.
    pub version: Option<FileVersion>,
    /// Indexes of the stripes that belong to the scan. `None` for all.
    pub stripes: Option<Vec<usize>>,
}

impl TableFile {
    /// The file at a path or URL, without partition columns.
    pub fn new(location: impl Into<String>) -> Self {
        TableFile { location: location.into(), ..TableFile::default() }
    }

    /// Sets [`source`](Self::source).
    #[must_use]
    pub fn with_source(mut self, source: impl Into<Option<Arc<dyn ReadAt>>>) -> Self {
        self.source = source.into();
        self
    }

    /// Sets [`partition`](Self::partition).
    #[must_use]
    pub fn with_partition(mut self, partition: Vec<(String, Option<String>)>) -> Self {
        self.partition = partition;
        self
    }

    /// Sets [`tail`](Self::tail).
    #[must_use]
    pub fn with_tail(mut self, tail: impl Into<Option<Bytes>>) -> Self {
        self.tail = tail.into();
        self
    }

    /// Sets [`version`](Self::version).
    #[must_use]
    pub fn with_version(mut self, version: impl Into<Option<FileVersion>>) -> Self {
        self.version = version.into();
        self
    }

    /// Sets [`stripes`](Self::stripes).
    #[must_use]
    pub fn with_stripes(mut self, stripes: impl Into<Option<Vec<usize>>>) -> Self {
        self.stripes = stripes.into();
        self
    }
}

impl std::fmt::Debug for TableFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let TableFile { location, partition, stripes, .. } = self;
        let mut debug = f.debug_struct("TableFile");
        debug.field("location", location).field("partition", partition).field("stripes", stripes);
        debug.finish_non_exhaustive()
    }
}

/// Part of a scan that can be read alone, in this process or in another.
#[derive(Debug, Clone)]
pub struct Split {
    /// The file with its tail and the stripes.
    pub file: TableFile,
    /// Number of rows of the stripes.
    pub rows: u64,
    /// Stored bytes of the stripes, all columns.
    pub bytes: u64,
}
