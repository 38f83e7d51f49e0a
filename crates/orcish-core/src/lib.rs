//! The common parts of readers of columnar file formats, on top of Apache Arrow. `orcish` (Apache ORC) and `carbondata` (Apache
//! CarbonData) use these modules. A user of these crates needs [`error`], [`limits`], [`expression`], [`explain`],
//! [`statistics`], [`arrow_reader`] and [`cancel`]: the other modules are no part of the API, and hidden in the documentation.
//!
//! | module | contents |
//! |---|---|
//! | [`arrow_reader`] | readers of batches with the interface of Arrow |
//! | [`error`] | [`Error`]: its kind, and the place in the file |
//! | [`limits`], [`allocation`] | [`Limits`] of the resources that a reader uses for a file; allocations that can fail |
//! | [`cancel`], [`process`] | cancellation of long calls; the process that owns a file or thread |
//! | [`calls`] | calls of foreign code that wait for what a thread does |
//! | [`expression`] | [`Predicate`]s on rows, as plain data |
//! | [`sql`] | predicates as text, in the syntax of SQL |
//! | [`predicate`] | predicates bound to columns, pruning by statistics, and evaluation on arrays |
//! | [`select`] | selection of rows of arrays and batches, and concatenation |
//! | [`stages`] | filters and limits that are applied one after the other |
//! | [`statistics`] | the model of column statistics |
//! | [`aggregate`] | minimum, maximum and sum of a column |
//! | [`explain`] | the plan of a scan: the skipped sections with their proofs |
//! | [`types`], [`type_names`] | Arrow types by family; their names in messages |
//! | [`names`] | dotted names of nested fields |
//! | [`calendar`] | dates of the Gregorian calendar |
//! | [`unify`] | the union of schemas |
//! | [`cast`] | widening, pruning of struct fields, and restoring of logical types |
//! | [`options`](mod@options) | structs of options with their setters and tables, and the words of enumerated options |
//! | [`nulls`] | dense values spread over the valid slots of an array |
//! | [`strings`] | string and binary arrays from lengths and bytes, and from dictionaries |
//! | [`parallel`] | one engine for threads: an ordered prefetch, a parallel map, and the memory of a scan |
//! | [`distinct`], [`hash`] | sketches of the number of distinct values, and the hash functions of ORC |
//! | [`tuning`] | window sizes that tests can change |

#[doc(hidden)]
pub mod aggregate;
#[doc(hidden)]
pub mod allocation;
pub mod arrow_reader;
#[doc(hidden)]
pub mod calendar;
#[doc(hidden)]
pub mod calls;
pub mod cancel;
#[doc(hidden)]
pub mod cast;
#[doc(hidden)]
pub mod distinct;
pub mod error;
pub mod explain;
pub mod expression;
#[doc(hidden)]
pub mod hash;
pub mod limits;
#[doc(hidden)]
pub mod names;
#[doc(hidden)]
pub mod nulls;
#[doc(hidden)]
pub mod options;
#[doc(hidden)]
pub mod parallel;
pub mod pattern;
#[doc(hidden)]
pub mod predicate;
#[doc(hidden)]
pub mod process;
#[doc(hidden)]
pub mod select;
pub mod sql;
#[doc(hidden)]
pub mod stages;
pub mod statistics;
#[doc(hidden)]
pub mod strings;
#[doc(hidden)]
pub mod tuning;
#[doc(hidden)]
pub mod type_names;
#[doc(hidden)]
pub mod types;
#[doc(hidden)]
pub mod unify;

pub use arrow_reader::ArrowReader;
pub use error::{Error, ErrorKind, OrInternal, Place, Result};
pub use expression::{Comparison, Literal, Literals, Predicate};
pub use limits::Limits;
pub use pattern::Pattern;
