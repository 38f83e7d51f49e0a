//! The generated messages.

// The lints are allowed for generated code only.
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
    /// Package `orc.proto`: the messages of the format.
    orc, "orc_proto.rs"
}

generated! {
    /// Package `orc.lazy`: the same messages with undecoded column statistics.
    lazy, "orc_lazy.rs"
}

generated! {
    /// Package `orcish.arrow`: the Arrow schema of the writer of a file.
    arrow, "orcish_arrow.rs"
}
