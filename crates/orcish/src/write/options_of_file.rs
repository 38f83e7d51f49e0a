//! Options with which a file is written that takes the place of another one.

use super::options::{Version, WriteOptions};
use crate::codec::Compression;
use crate::read::OrcFile;
use crate::tuning;

/// Beginning of the keys of user metadata that the writer itself sets.
const OWN_METADATA: &str = "orcish.";

impl WriteOptions {
    /// The options of a file that takes the place of another one: its codec, user metadata, stride of the row index and version.
    ///
    /// Bloom filters need a row index and version 0.12. A file that `has_bloom_filters` has both, whatever the other one has.
    ///
    /// ```
    /// use orcish::{Compression, OrcFile, WriteOptions};
    ///
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data/spark.zlib.orc");
    /// let options = WriteOptions::of_file(&OrcFile::open(path)?, false);
    /// assert_eq!((options.compression, options.row_index_stride), (Compression::Zlib, 10_000));
    /// # Ok::<(), orcish::Error>(())
    /// ```
    pub fn of_file(file: &OrcFile, has_bloom_filters: bool) -> Self {
        let tail = file.tail();
        let mut options = WriteOptions {
            // LZO cannot be written.
            compression: if tail.compression == Compression::Lzo { Compression::Zstd } else { tail.compression },
            ..WriteOptions::default()
        };
        for (key, value) in tail.metadata.iter().filter(|(key, _)| !key.starts_with(OWN_METADATA)) {
            match options.metadata.iter_mut().find(|(other, _)| other == key) {
                // The last value of a key counts.
                Some((_, before)) => before.clone_from(value),
                None => options.metadata.push((key.clone(), value.clone())),
            }
        }
        if tail.row_index_stride > 0 {
            let min = u32::try_from(tuning::MIN_STRIDE.get()).unwrap_or(u32::MAX);
            options.row_index_stride = tail.row_index_stride.max(min).min(i32::MAX.cast_unsigned());
        } else if !has_bloom_filters {
            options.row_index_stride = 0;
        }
        if tail.version == [0, 11] && !has_bloom_filters {
            options.version = Version::V0_11;
        }
        options
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_schema::Schema;
    use bytes::Bytes;
    use orcish_core::limits::Limits;
    use orcish_io::MemorySource;

    use super::*;
    use crate::write::OrcWriter;

    fn file(options: &WriteOptions) -> OrcFile {
        let bytes = OrcWriter::try_new(Vec::new(), Arc::new(Schema::empty()), options).unwrap().into_inner().unwrap();
        OrcFile::try_new(Arc::new(MemorySource::new(bytes)), &Limits::default()).unwrap()
    }

    #[test]
    fn options_of_a_file_are_kept() {
        for compression in [Compression::None, Compression::Zstd] {
            for (stride, version) in [(0, Version::V0_11), (2_000, Version::V0_12)] {
                let written = WriteOptions::default()
                    .with_compression(compression)
                    .with_row_index_stride(stride)
                    .with_version(version)
                    .with_metadata("a", Bytes::from("b"));
                assert_eq!(WriteOptions::of_file(&file(&written), false), written);
                let filtered = WriteOptions::of_file(&file(&written), true);
                assert_eq!(filtered.version, Version::V0_12);
                assert!(filtered.row_index_stride > 0);
            }
        }
    }

    #[test]
    fn what_cannot_be_written_is_written_otherwise() {
        let mut other = file(&WriteOptions::default()).tail().clone();
        other.compression = Compression::Lzo;
        other.row_index_stride = 1;
        other.version = vec![];
        other.metadata = [("orcish.x", "1"), ("k", "2"), ("k", "3")].map(|(k, v)| (k.to_owned(), v.into())).to_vec();
        let other = OrcFile::of_parts(Arc::new(MemorySource::new(Vec::new())), other);
        let options = WriteOptions::of_file(&other, false);
        assert_eq!((options.compression, options.version), (Compression::Zstd, Version::V0_12));
        assert_eq!(options.row_index_stride as usize, tuning::MIN_STRIDE.get());
        assert_eq!(options.metadata, [("k".to_owned(), Bytes::from("3"))]);
    }
}
