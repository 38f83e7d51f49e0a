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

mod weigh;

use bytes::Bytes;
use prost::DecodeError;

use crate::error::{Error, Result};

pub(crate) use weigh::{
    ARROW_SCHEMA, BLOOM_FILTERS, FOOTER, ROW_INDEX, STATISTICS, STRIPE_FOOTER, Shape, count, weigh,
};

/// Text as people read it: what is not UTF-8 becomes U+FFFD, as it does for readers in Java.
pub(crate) fn lossy(text: &[u8]) -> String {
    String::from_utf8_lossy(text).into_owned()
}

/// The key of the next field of `rest`, which is not empty, and what is in it where that has a length; the rest follows.
///
/// # Errors
/// `Corrupt` when it is no message.
pub(crate) fn entry(rest: &mut Bytes) -> Result<(usize, Bytes)> {
    let undecodable = |error: DecodeError| Error::corrupt("the list cannot be decoded").with_source(error);
    // All of its numbers are of the form that lengths have.
    let mut number = || prost::decode_length_delimiter(&mut *rest).map_err(undecodable);
    let key = number()?;
    let length = match key & 7 {
        0 => number().map(|_| 0)?,
        1 => 8,
        2 => number()?,
        5 => 4,
        _ => return Err(Error::corrupt("the list has a field of unknown form")),
    };
    if length > rest.len() {
        return Err(Error::corrupt("the list ends within an entry"));
    }
    Ok((key, rest.split_to(length)))
}

/// What is in field 1 of `message`, if that is there `wanted` times, where decoding all of it takes no more than `most`
/// bytes of memory.
///
/// # Errors
/// `Corrupt` when it is no message, `LimitExceeded` when it takes more.
pub(crate) fn listed(message: Bytes, wanted: usize, shape: &Shape, most: u64) -> Result<Option<Vec<Bytes>>> {
    if count(&message, 1)? != wanted {
        return Ok(None);
    }
    weigh(&message, shape, most)?;
    first_listed(message, wanted).map(Some)
}

/// What is in field 1 of `message`, the first `most` times that it is there.
///
/// # Errors
/// `Corrupt` when it is no message.
pub(crate) fn first_listed(message: Bytes, most: usize) -> Result<Vec<Bytes>> {
    let (mut found, mut rest) = (Vec::new(), message);
    while !rest.is_empty() && found.len() < most {
        let (key, value) = entry(&mut rest)?;
        if key == (1 << 3 | 2) {
            found.push(value);
        }
    }
    Ok(found)
}

// Each allowance is for generated code only, which we do not format or word ourselves.
macro_rules! generated {
    ($(#[$doc:meta])* $name:ident, $file:literal) => {
        $(#[$doc])*
        #[allow(missing_docs, unreachable_pub, dead_code, rustdoc::all)]
        #[allow(clippy::all, clippy::pedantic, clippy::nursery, clippy::restriction)]
        pub(crate) mod $name {
            include!(concat!("generated/", $file));
        }
    };
}

generated! {
    /// Package `orc.proto`: the messages as the format publishes them.
    orc, "orc_proto.rs"
}

generated! {
    /// Package `orc.lazy`: the same bytes, with column statistics left unparsed.
    lazy, "orc_lazy.rs"
}

generated! {
    /// Package `orcish.arrow`: the Arrow schema that a file was written with.
    arrow, "orcish_arrow.rs"
}

generated! {
    /// Package `orcish.upload`: a file that has been written and does not appear yet.
    upload, "orcish_upload.rs"
}
