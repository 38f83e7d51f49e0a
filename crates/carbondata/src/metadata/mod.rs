//! What a table says of itself, and what its files say.

pub(crate) mod bounds;
pub(crate) mod deletes;
pub(crate) mod format;
pub(crate) mod index;
pub(crate) mod json;
pub(crate) mod names;
pub(crate) mod places;
pub(crate) mod schema;
pub(crate) mod segments;
pub(crate) mod status;
pub(crate) mod thrift;
