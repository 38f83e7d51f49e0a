//! Files that need a feature which is off are errors with its name. `make features` runs these tests without features.

use orcish::io::MemorySink;
use orcish::time::WriterZone;
use orcish::{Compression, ErrorKind, FileWriter, ReadOptions, Result, WriteOptions};

use crate::{data, golden};

/// Codecs, the features that they need, and whether these are on.
const CODECS: [(Compression, &str, bool); 5] = [
    (Compression::Brotli, "brotli", cfg!(feature = "brotli")),
    (Compression::Lz4, "lz4", cfg!(feature = "lz4")),
    (Compression::Snappy, "snap", cfg!(feature = "snap")),
    (Compression::Zlib, "zlib", cfg!(feature = "zlib")),
    (Compression::Zstd, "zstd", cfg!(feature = "zstd")),
];

/// Checks a result that needs a feature.
fn assert_needs<T>(result: Result<T>, feature: &str, is_on: bool) {
    match result {
        Ok(_) => assert!(is_on, "{feature} is not needed"),
        Err(error) => {
            let text = format!("this build of orcish is without the feature `{feature}`");
            assert!(!is_on && error.to_string().ends_with(&text), "{error}");
            assert_eq!(error.kind(), ErrorKind::Unsupported);
        }
    }
}

#[test]
fn features_of_codecs() {
    let columns = ReadOptions::default().with_columns(["int", "string"]);
    for (codec, feature, is_on) in CODECS {
        let bytes = data::file(&format!("spark.{}.orc", codec.name()));
        assert_needs(golden::read(bytes, columns.clone()), feature, is_on);
        let schema = arrow_schema::Schema::new(vec![arrow_schema::Field::new("a", arrow_schema::DataType::Utf8, true)]);
        let options = WriteOptions::default().with_compression(codec);
        assert_needs(FileWriter::try_new(Box::new(MemorySink::new()), schema.into(), &options), feature, is_on);
    }
    for codec in ["none", "lzo"] {
        let rows = golden::read(data::file(&format!("spark.{codec}.orc")), columns.clone()).unwrap();
        assert_eq!(rows.len(), 20, "{codec}");
    }
}

#[test]
fn features_of_time_zones() {
    for zone in ["Europe/Berlin", "US/Pacific", "PST"] {
        assert_needs(WriterZone::parse(zone), "chrono-tz", cfg!(feature = "chrono-tz"));
        assert_needs(WriterZone::parse_reader_zone(zone), "chrono-tz", cfg!(feature = "chrono-tz"));
    }
    for zone in ["", "UTC", "Etc/UTC", "GMT+8", "SystemV/PST8PDT"] {
        WriterZone::parse(zone).unwrap();
    }
}
