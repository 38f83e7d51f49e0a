//! The protobuf messages of an ORC file, and of what orcish adds to it, generated from `proto/*.proto` and checked in.
//!
//! Nothing here is written by hand but this page with [`lossy`], [`entry`] and [`listed`], and [`weigh`]. To change a
//! message, edit its `.proto` file and run `ORCISH_REGENERATE=1 cargo test -p orcish --test format codegen`; without the
//! variable that test compares.
//!
//! What to know of the generated code:
//!
//! * every scalar is an `Option`, and enumerations are `Option<i32>`. The accessor of an enumeration (`x.kind()`)
//!   gives the *first* variant for absent and for unknown numbers alike: where the difference matters, match on
//!   `Kind::try_from(number)`;
//! * `bytes` fields are [`bytes::Bytes`]: slices of the buffer, without a copy, if the message is decoded from a
//!   `Bytes`;
//! * decoding bounds the depth of messages but not their number: what anybody may have written is weighed with
//!   [`weigh`] before it is decoded, or taken apart with [`listed`].

mod fields;
mod messages;
mod weigh;

pub(crate) use fields::{Entry, entry, first_listed, listed, lossy};
pub(crate) use messages::{arrow, lazy, orc};
pub(crate) use weigh::{
    ARROW_SCHEMA, BLOOM_FILTERS, FOOTER, ROW_INDEX, STATISTICS, STRIPE_FOOTER, count, weigh, weighed,
};
