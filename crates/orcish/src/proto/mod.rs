//! The protobuf messages of ORC files and of the metadata that orcish adds, and their decoded size.
//!
//! The messages are generated from `proto/*.proto` and checked in. To change a message, edit its `.proto` file and run
//! `ORCISH_REGENERATE=1 cargo test -p orcish --test format codegen`. Without the variable the test compares the code.
//!
//! Properties of the generated code:
//!
//! * Scalars are `Option`s, and enumerations are `Option<i32>`. The accessor of an enumeration (`x.kind()`) returns the
//!   *first* variant both for an absent field and for unknown numbers. `Kind::try_from(number)` distinguishes them.
//! * Fields of type `bytes` are [`bytes::Bytes`]: slices of the message if it is decoded from a `Bytes`.
//! * The decoder bounds the depth of messages but not their number. Messages of a file are checked by
//!   [`check_decoded_size`] before they are decoded, or read by [`repeated_field`].

mod decode;
mod decoded_size;
mod fields;
mod messages;
mod wire;

pub(crate) use decode::{ODD_FIELDS, decode_message, without_odd_fields};
pub(crate) use decoded_size::{
    ARROW_SCHEMA, BLOOM_FILTERS, FOOTER, ROW_INDEX, STATISTICS, STRIPE_FOOTER, check_decoded_size, decoded_size,
};
pub(crate) use fields::{RawField, first_of_repeated_field, next_field, repeated_field, to_string_lossy};
pub(crate) use messages::{arrow, lazy, orc};
pub(crate) use wire::count_fields;
