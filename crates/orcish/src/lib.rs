//! Apache ORC, read straight into Apache Arrow.
//!
//! ```text
//! ┌──────────┬──────────┬──────────┬────────────────────────────────────────┐
//! │ "ORC"    │ stripe 0 │ stripe … │ file tail                              │
//! └──────────┴────┬─────┴──────────┴──────────────────┬─────────────────────┘
//!                 │                                   │
//!   ┌─────────────┴───────────┬──────────┐   ┌────────┴──────────┬────────┬────────────┬───┐
//!   │ index     data          │ stripe   │   │ stripe statistics │ footer │ postscript │ n │
//!   │ streams   streams       │ footer   │   └───────────────────┴────────┴────────────┴───┘
//!   └───────────┬─────────────┴──────────┘     n: length of the postscript, one byte
//!               │
//!     PRESENT, DATA, LENGTH, DICTIONARY_DATA, SECONDARY of each column: a sequence of
//!     compression chunks, which hold run length encoded values
//! ```
//!
//! A file is read from its end: [`tail`] decodes the postscript and the footer, which says where the
//! stripes are and what the types of the columns are ([`schema`]). [`OrcFile::read`] then opens
//! stripe after stripe, reads the streams of the columns of the projection, decompresses them chunk
//! by chunk, and decodes ([`encoding`]) whole runs straight into Arrow arrays.
//!
//! ```no_run
//! use orcish::{Columns, OrcFile, ReadOptions};
//!
//! let file = OrcFile::open("part-0.orc")?;
//! println!("{} rows of {}", file.tail().rows, file.tail().schema.type_string(0)?);
//! let columns = Columns::Names(vec!["id".into(), "nest.a".into()]);
//! for batch in file.read(ReadOptions { columns, ..ReadOptions::default() })? {
//!     println!("{} rows", batch?.num_rows());
//! }
//! # Ok::<(), orcish::Error>(())
//! ```
//!
//! Whatever the bytes of a file are, reading it gives rows or an [`Error`] that says where; see [`Limits`].

mod arrow;
mod bloom;
mod codec;
mod distinct;
pub mod encoding;
mod error;
mod expression;
mod index;
mod io;
mod memory;
mod noted;
mod options;
mod owner;
mod patience;
mod predicate;
pub mod projection;
mod proto;
pub mod scan;
pub mod schema;
#[doc(hidden)]
pub mod shared;
mod source;
pub mod statistics;
pub mod stripe;
pub mod tail;
mod threads;
pub mod time;
#[doc(hidden)]
pub mod tuning;
mod write;
mod writer;

#[cfg(feature = "fuzzing")]
#[doc(hidden)]
pub mod fuzzing;

pub use arrow::{ARROW_SCHEMA_KEY, BatchReader, ColumnStorage, Explanation, OrcFile, Outcome, StripePlan, TYPE_KEY};
pub use codec::{Compression, Framing, Stream};
pub use distinct::Distinct;
pub use error::{Error, ErrorKind, Place, Result};
pub use expression::{Comparison, Literal, Literals, Predicate};
#[cfg(feature = "object-store")]
pub use io::ObjectSource;
pub use io::{
    FileSink, FileSource, FileStatus, MOST_SMALL_BYTES, MemorySink, MemorySource, ReadAt, Session, Sink,
    StorageOptions, Unpublished, Withheld, abort_upload, coalesce, complete_upload, create, create_unpublished,
    delete_files, delete_folder, display_name, list, list_all, list_folder, open, read_small, stat, write_small,
};
pub use options::*;
#[doc(hidden)]
pub use owner::Owner;
pub use patience::Check;
pub use predicate::Proof;
pub use projection::ROOT_COLUMN;
pub use source::{ByteSource, Positions, SeekSource};
pub use write::*;
