//! The entry points of the fuzz target, behind the feature `fuzzing`. Not part of the API.

mod mutate;
#[cfg(test)]
mod tests;
mod tree;

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_array::{Array as _, ArrayRef};
use bytes::Bytes;
use orcish_core::{Limits, Result};
use orcish_io::{MemorySource, ReadAt};

use crate::file::DataFile;
use crate::metadata::format::TableInfo;
use crate::metadata::schema::columns;
use crate::metadata::thrift::ThriftReader;
use crate::metadata::{delete_delta, index_file, segment_file, table_status, update_status};
use crate::stream::StreamFile;
#[cfg(test)]
pub(crate) use mutate::Random;
pub use mutate::mutate;

/// Reads the bytes as each kind of file, and passes the decoded arrays to `check`.
pub fn read(bytes: &Bytes, limits: &Limits, check: &dyn Fn(&ArrayRef)) {
    let source: Arc<dyn ReadAt> = Arc::new(MemorySource::new(bytes.clone()));
    let _ = data_file(source.clone(), limits, check);
    let _ = stream(source, bytes.len() as u64, limits, check);
    let _ = ThriftReader::new(bytes, limits)
        .read_struct::<TableInfo>()
        .and_then(|info| columns(&info.table.columns, limits));
    let _ = index_file::read_index(bytes, limits);
    let _ = index_file::read_stream_index(bytes, limits);
    for (_, part) in index_file::read_merged_index(bytes, limits).into_iter().flatten() {
        let _ = index_file::read_index(&part, limits);
    }
    let _ = table_status::read_table_status(bytes, limits);
    let _ = update_status::read_update_status(bytes, limits);
    let _ = segment_file::read_segment_file(bytes, "table", limits);
    let _ = delete_delta::add(&mut BTreeMap::new(), bytes, limits);
}

#[expect(clippy::panic_in_result_fn, reason = "a difference is a finding")]
fn data_file(source: Arc<dyn ReadAt>, limits: &Limits, check: &dyn Fn(&ArrayRef)) -> Result<()> {
    let file = DataFile::open(source, limits)?;
    let all: Vec<usize> = (0..file.columns().len()).collect();
    for blocklet in 0..file.num_blocklets() {
        // Each column is read alone, so that an error of one column does not hide the others.
        for &column in &all {
            let Ok(data) = file.read_blocklet(blocklet, &[column]) else { continue };
            let mut single_pages = file.read_chunk_headers(blocklet, &[column])?;
            for page in 0..data.pages() {
                let selected: Vec<bool> = (0..data.pages()).map(|other| other == page).collect();
                single_pages.read_pages(&[column], &selected)?;
                let array = data.decode(column, page);
                assert_eq!(array.is_ok(), single_pages.decode(column, page).is_ok());
                array.iter().for_each(check);
            }
        }
        let _ = file.read_cost(blocklet, &all);
    }
    Ok(())
}

#[expect(clippy::panic_in_result_fn, reason = "a difference is a finding")]
fn stream(source: Arc<dyn ReadAt>, size: u64, limits: &Limits, check: &dyn Fn(&ArrayRef)) -> Result<()> {
    let file = StreamFile::open(source, size, limits)?;
    let all: Vec<usize> = (0..file.columns().len()).collect();
    for blocklet in file.blocklets() {
        let blocklet = blocklet?;
        for array in file.decode(&blocklet, &all)? {
            assert_eq!(array.len(), blocklet.rows());
            check(&array);
        }
    }
    Ok(())
}
