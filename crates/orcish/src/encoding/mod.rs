//! Decoders of the encodings of ORC. The encoders are in [`encode`].
//!
//! | module | ORCv1 section |
//! |---|---|
//! | [`varint`] | Base 128 Varint |
//! | [`byte_rle`] | Byte Run Length Encoding |
//! | [`bool_rle`] | Boolean Run Length Encoding |
//! | [`int_rle`] | Integer Run Length Encoding, version 1 and 2 |
//! | [`decimal`] | Decimal Columns |
//!
//! A decoder reads exactly the number of values of the call, or fails. The remaining values of a run are buffered for the
//! next call.

pub mod bitpack;
pub mod bool_rle;
pub mod byte_rle;
pub(crate) mod cpu;
pub mod decimal;
pub mod encode;
pub mod int_rle;
mod int_rle_v1;
mod int_rle_v2;
mod run;

pub(crate) use run::MAX_RUN;
pub mod varint;
