//! The metadata of a table, and the Thrift structs of its files.

pub(crate) mod allowed_locations;
pub(crate) mod bounds;
pub(crate) mod delete_delta;
pub(crate) mod file_names;
pub(crate) mod format;
pub(crate) mod index_file;
pub(crate) mod json;
pub(crate) mod locations;
pub(crate) mod schema;
pub(crate) mod segment_file;
pub(crate) mod table_status;
pub(crate) mod table_storage;
pub(crate) mod thrift;
pub(crate) mod update_status;
