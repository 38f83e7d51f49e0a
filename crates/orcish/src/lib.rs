//! Reader and writer of Apache ORC for Apache Arrow.
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
//! A file is read from its end: [`tail`] decodes the postscript and the footer, which has the positions of the stripes and
//! the types of the columns ([`schema`]). [`OrcFile::read`] then opens stripe after stripe, reads the streams of the
//! projected columns, decompresses them chunk by chunk, and decodes ([`encoding`]) runs into Arrow arrays.
//!
//! ```no_run
//! use orcish::{OrcFile, ReadOptions};
//!
//! let file = OrcFile::open("part-0.orc")?;
//! println!("{} rows of {}", file.tail().rows, file.tail().schema.type_string(0)?);
//! for batch in file.read(ReadOptions::default().with_columns(["id", "nest.a"]))? {
//!     println!("{} rows", batch?.num_rows());
//! }
//! # Ok::<(), orcish::Error>(())
//! ```
//!
//! Reading any bytes returns rows or an [`Error`] with the place in the file. [`Limits`] bound the resources.

pub mod codec;
pub mod dataset;
pub mod encoding;
mod index;
mod memory;
pub mod options;
pub mod partition;
mod predicate;
pub mod projection;
mod proto;
pub mod read;
pub mod scan;
pub mod schema;
pub mod source;
pub mod statistics;
pub mod stripe;
pub mod tail;
pub mod time;
#[doc(hidden)]
pub mod tuning;
mod warnings;
pub mod write;
mod writer;

mod bloom;

#[cfg(feature = "fuzzing")]
#[doc(hidden)]
pub mod fuzzing;

pub use codec::Compression;
pub use dataset::{DatasetOptions, DatasetWriter};
pub use options::{Columns, ReadOptions};
pub use orcish_core::{Comparison, Error, ErrorKind, Limits, Literal, Predicate, Result};
pub use orcish_io as io;
pub use read::{BatchReader, OrcFile};
pub use write::{FileWriter, WriteOptions};
