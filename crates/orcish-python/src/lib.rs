//! The extension module `orcish._native`, which the Python package in `python/orcish` wraps.

mod aggregate;
mod capsule;
mod carbon;
mod cast;
mod credentials;
mod dataset;
mod distinct;
mod errors;
mod file;
mod file_object;
mod folder;
mod interpreter;
mod job;
mod json;
mod keys;
mod locations;
mod names;
mod new_file;
mod node;
mod options;
mod partition;
mod place;
mod predicate;
mod recover;
mod rewrite;
mod row_filter;
mod row_write;
mod scan;
mod sink;
mod source;
mod statistics;
mod storage;
mod stream;
mod table;
mod table_columns;
mod tuning;
mod version;
mod writer;

/// Batches are large and short-lived. The allocator of the system returns their pages to the kernel each time, which
/// clears them again.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Native part of orcish.
#[pyo3::pymodule]
mod _native {
    use pyo3::prelude::*;

    #[pymodule_export]
    use crate::aggregate::exact_bound;
    #[pymodule_export]
    use crate::carbon::{CarbonFile, CarbonTable, is_carbon};
    #[pymodule_export]
    use crate::cast::{cast, date_text, iso_texts, timestamp_text};
    #[pymodule_export]
    use crate::dataset::DatasetWriter;
    #[pymodule_export]
    use crate::distinct::Distinct;
    #[pymodule_export]
    use crate::file::File;
    #[pymodule_export]
    use crate::file::list_files;
    #[pymodule_export]
    use crate::folder::{
        StoredFile, abort_upload, complete_upload, delete_files, delete_folder, has_folder, list_all, read_small, stat,
        upload_info, write_small,
    };
    #[pymodule_export]
    use crate::interpreter::detach_threads;
    #[pymodule_export]
    use crate::job::{Job, StagedFile};
    #[pymodule_export]
    use crate::json::{JsonTypes, read_json};
    #[pymodule_export]
    use crate::locations::{
        Location, above_pattern, complete_storage, display_name, has_carbon_metadata, is_file_of_carbon, is_hidden,
        matches_pattern, source_files, source_form, working_folder,
    };
    #[pymodule_export]
    use crate::names::{field_path, unknown_column};
    #[pymodule_export]
    use crate::new_file::NewFile;
    #[pymodule_export]
    use crate::node::Node;
    #[pymodule_export]
    use crate::options::options_of;
    #[pymodule_export]
    use crate::partition::{
        format_partition_values, infer_partition_schema, parse_partition_values, partition_folder, partitions_below,
        partitions_of,
    };
    #[pymodule_export]
    use crate::place::Place;
    #[pymodule_export]
    use crate::predicate::Filter;
    #[pymodule_export]
    use crate::recover::recover_file;
    #[pymodule_export]
    use crate::rewrite::{
        combine_files, delete_rows, file_suffix, plan_compaction, plan_deletion, replace_files_of, rewritten_schema,
    };
    #[pymodule_export]
    use crate::row_write::RowWrite;
    #[pymodule_export]
    use crate::scan::Scan;
    #[pymodule_export]
    use crate::sink::check_target;
    #[pymodule_export]
    use crate::stream::Batches;
    #[pymodule_export]
    use crate::table::{TableLog, fitted_pandas, unify_schemas};
    #[pymodule_export]
    use crate::table_columns::{
        TableColumns, are_inferred, cast_rows, stored_schema, untyped_columns, with_timestamp_types,
    };
    #[pymodule_export]
    use crate::tuning::tune;
    #[pymodule_export]
    use crate::version::{file_version, is_same_version};
    #[pymodule_export]
    use crate::writer::{Writer, merge_files};

    /// Has Python end the use of the interpreter by other threads at the end of the process.
    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        let register = module.py().import("atexit")?.getattr("register")?;
        register.call1((module.getattr("detach_threads")?,)).map(drop)
    }

    /// Message for a file that another one has replaced.
    #[pymodule_export]
    const FILE_REPLACED: &str = orcish_io::REPLACED;

    /// Maximum bytes of the footer of the schema in the log of a table.
    #[pymodule_export]
    const MAX_SCHEMA_TAIL: u64 = orcish::table::MAX_SCHEMA_TAIL;

    /// Version of the package.
    #[pymodule_export]
    #[expect(non_upper_case_globals, reason = "it is a Python name")]
    const __version__: &str = env!("CARGO_PKG_VERSION");
}
