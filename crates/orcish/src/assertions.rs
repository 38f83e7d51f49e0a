//! Which types can be sent to other threads and shared between them, checked by the compiler.

use crate::dataset::{DatasetOptions, DatasetWriter};
use crate::options::ReadOptions;
use crate::read::{BatchReader, OrcFile, OrcReaderBuilder, OrcRecordBatchReader};
use crate::scan::{Scan, ScanReader, Split, TableFile};
use crate::tail::FileTail;
use crate::write::{FileWriter, OrcWriter, WriteOptions};

const fn is_send<T: Send + 'static>() {}
const fn is_send_and_sync<T: Send + Sync + 'static>() {}
const fn is_reader<T: arrow_array::RecordBatchReader + Send + 'static>() {}

const _: () = {
    is_send_and_sync::<orcish_core::Error>();
    is_send_and_sync::<orcish_core::Predicate>();
    is_send_and_sync::<ReadOptions>();
    is_send_and_sync::<WriteOptions>();
    is_send_and_sync::<DatasetOptions>();
    is_send_and_sync::<FileTail>();
    is_send_and_sync::<OrcFile>();
    is_send_and_sync::<OrcReaderBuilder>();
    is_send_and_sync::<Scan>();
    is_send_and_sync::<Split>();
    is_send_and_sync::<TableFile>();
    is_send::<BatchReader>();
    is_send::<ScanReader>();
    is_send::<FileWriter>();
    is_send::<OrcWriter<Vec<u8>>>();
    is_send::<DatasetWriter>();
    is_reader::<OrcRecordBatchReader>();
    is_reader::<orcish_core::ArrowReader<ScanReader>>();
};

#[cfg(feature = "async")]
const _: () = {
    is_send_and_sync::<crate::stream::OrcRecordBatchStreamBuilder>();
    is_send::<crate::stream::OrcRecordBatchStream>();
};
