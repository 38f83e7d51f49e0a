//! What a table says of itself, and what its files say.

pub(crate) mod format;
pub(crate) mod schema;
pub(crate) mod thrift;
