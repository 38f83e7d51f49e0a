//! The generated messages.

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
