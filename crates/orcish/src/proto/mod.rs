//! The protobuf messages of an ORC file, generated from `proto/*.proto` and checked in.
//!
//! Nothing here is written by hand but this page. To change a message, edit its `.proto` file and run
//! `ORCISH_REGENERATE=1 cargo test -p orcish --test format codegen`; without the variable that test compares.
//!
//! What to know of the generated code:
//!
//! * every scalar is an `Option`, and enumerations are `Option<i32>`. The accessor of an enumeration (`x.kind()`)
//!   gives the *first* variant for absent and for unknown numbers alike: where the difference matters, match on
//!   `Kind::try_from(number)`;
//! * `bytes` fields are [`bytes::Bytes`]: slices of the buffer, without a copy, if the message is decoded from a
//!   `Bytes`;
//! * decoding bounds the depth of messages but not their number: whoever decodes bounds the size of the buffer.

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
