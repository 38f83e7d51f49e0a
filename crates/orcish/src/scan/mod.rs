//! Scans over the files of a table: one schema, one filter, any number of files.
//!
//! ```text
//! files ── partition values ── tail ── statistics ──► stripes ──► BatchReader ── adapt ──► batches of the table
//!           a file whose partition values exclude all rows is not opened
//! ```

mod aggregate;
mod condition;
mod conflict;
mod fields_by_name;
mod file;
mod inspection;
mod matching;
mod partition;
mod reader;
mod replaced_fields;
mod stages;
mod table;
mod table_file;
mod table_scan;
mod timestamps;
mod types;
mod unified;

pub use file::FileReader;
pub use reader::ScanReader;
pub use stages::FileScan;
pub use table_file::{Matching, SchemaFile, SchemaSource, Split, TableFile};
pub use table_scan::Scan;
pub use unified::UnifiedSchema;

pub use crate::read::ScanContext;
