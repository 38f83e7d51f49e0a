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
use orcish_core::error::Result;

pub(crate) use weigh::{
    ARROW_SCHEMA, BLOOM_FILTERS, FOOTER, ROW_INDEX, STATISTICS, STRIPE_FOOTER, Shape, count, weigh, weighed,
};
use weigh::{Field, Fields};

/// Text as people read it: what is not UTF-8 becomes U+FFFD, as it does for readers in Java.
pub(crate) fn lossy(text: &[u8]) -> String {
    String::from_utf8_lossy(text).into_owned()
}

/// A field of a message.
pub(crate) struct Entry {
    pub(crate) tag: u32,
    /// What is in it, where that has a length.
    pub(crate) body: Option<Bytes>,
}

/// Takes the next field off `rest`, and the groups before it, which no message has; none where there is no more.
///
/// # Errors
/// `Corrupt` when it is no message.
pub(crate) fn entry(rest: &mut Bytes) -> Result<Option<Entry>> {
    let mut fields = Fields(rest);
    let field = fields.next()?;
    let entry = field.map(|Field { tag, body, is_delimited }| {
        let body = is_delimited.then(|| rest.slice_ref(body));
        Entry { tag, body }
    });
    _ = rest.split_to(rest.len() - fields.0.len());
    Ok(entry)
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
    while found.len() < most {
        match entry(&mut rest)? {
            Some(Entry { tag: 1, body: Some(body) }) => found.push(body),
            Some(_) => {}
            None => break,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_taken_off_one_after_the_other() {
        // A number, a text, a group with a text in it, a fixed number, an empty text, and a group.
        let group = [9 << 3 | 3, 1 << 3 | 2, 1, b'g', 9 << 3 | 4];
        let parts: [&[u8]; 6] =
            [&[6 << 3, 5], &[1 << 3 | 2, 2, b'a', b'b'], &group, &[14 << 3 | 5, 1, 2, 3, 4], &[1 << 3 | 2, 0], &group];
        let message = Bytes::from(parts.concat());
        let (mut rest, mut found) = (message.clone(), Vec::new());
        while let Some(Entry { tag, body }) = entry(&mut rest).unwrap() {
            found.push((tag, body, rest.len()));
        }
        let text = Bytes::from_static;
        assert_eq!(
            found,
            [(6, None, 21), (1, Some(text(b"ab")), 17), (14, None, 7), (1, Some(text(b"")), 5)],
            "those of groups are in no message"
        );
        assert!(rest.is_empty());
        assert_eq!(first_listed(message.clone(), 9).unwrap(), [text(b"ab"), text(b"")]);
        assert_eq!(first_listed(message.clone(), 1).unwrap(), [text(b"ab")]);
        for length in [1, 3, 5, 15] {
            assert!(first_listed(message.slice(..length), 9).is_err(), "{length}");
        }
    }
}
