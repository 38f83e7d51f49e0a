//! The protobuf messages of staged files and of versions of files. The code is generated from `proto/orcish_upload.proto`
//! and `proto/orcish_version.proto`, and checked in.
//!
//! `ORCISH_REGENERATE=1 cargo test -p orcish --test format codegen` generates the code. Without the variable, the test
//! compares it.

// The allowances are for generated code.
#[allow(missing_docs, unreachable_pub, dead_code, rustdoc::all)]
#[allow(clippy::all, clippy::pedantic, clippy::nursery, clippy::restriction)]
mod generated {
    include!("orcish_upload.rs");
}

#[allow(missing_docs, unreachable_pub, dead_code, rustdoc::all)]
#[allow(clippy::all, clippy::pedantic, clippy::nursery, clippy::restriction)]
mod generated_version {
    include!("orcish_version.rs");
}

pub use generated::UploadedParts;
pub(crate) use generated::{StagedFile, staged_file};
pub(crate) use generated_version::{FileVersion, Mark};
