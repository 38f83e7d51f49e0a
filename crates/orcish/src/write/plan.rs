//! The plan of a file: validated options, resolved for each column.

use std::sync::Arc;

use orcish_core::error::{Error, OrInternal as _, Result};
use orcish_core::names::ColumnName;

use super::compressors::StreamCompression;
use super::encryption::EncryptionPlan;
use super::options::{DEFAULT_CHUNK_SIZE, DictionaryChoice, Version, WriteOptions};
use super::stream_options::StreamOptions;
use crate::codec::{Compression, Framing};
use crate::schema::{Kind, Schema};
use crate::time::WriterZone;
use crate::tuning;

/// Rows of a row group in a file without a row index.
const STRIDE_WITHOUT_INDEX: u32 = 10_000;
/// Largest chunk size: the chunk header has 23 bits for the length.
const MAX_CHUNK_SIZE: usize = (1 << 23) - 1;

/// Options of a column.
#[derive(Debug, Clone, Copy)]
pub(super) struct ColumnPlan {
    pub(super) compression: StreamCompression,
    pub(super) dictionary: DictionaryChoice,
    pub(super) has_bloom_filter: bool,
}

/// Options of a file.
#[derive(Debug)]
pub(super) struct WritePlan {
    pub(super) framing: Framing,
    /// Compression of the metadata, the footers, and columns without an option.
    pub(super) compression: StreamCompression,
    pub(super) version: Version,
    pub(super) zone: WriterZone,
    /// Rows of a row group.
    pub(super) row_index_stride: u32,
    pub(super) has_index: bool,
    /// Whether statistics of fields of structs record nulls of these structs.
    pub(super) records_parent_nulls: bool,
    pub(super) bloom_filter_fpp: f64,
    pub(super) stripe_size: u64,
    /// Whether a column has timestamps, for which stripe footers have the time zone of the writer.
    pub(super) has_timestamps: bool,
    /// Whether a value that cannot be stored is an error.
    pub(super) is_strict: bool,
    columns: Vec<ColumnPlan>,
    /// The encrypted columns, with the keys of the file.
    pub(super) encryption: Option<Arc<EncryptionPlan>>,
}

impl WritePlan {
    /// Validates `options` for a file of these types.
    ///
    /// # Errors
    /// `InvalidArgument` for an invalid option, `UnknownColumn` for a column name that does not exist, `Unsupported`
    /// for LZO.
    pub(super) fn try_new(options: &WriteOptions, schema: &Schema) -> Result<Self> {
        let compression = StreamCompression::try_new(options.compression, options.compression_level)?;
        let chunk_size = chunk_size(options, schema)?;
        let stride = options.row_index_stride;
        let min = tuning::MIN_STRIDE.get();
        if stride > 0 && u64::from(stride) < min as u64 {
            let text = format!("row_index_stride={stride}: row groups have {min} rows at least, or 0 for no index");
            return Err(Error::invalid(text));
        }
        if stride > i32::MAX.cast_unsigned() {
            return Err(Error::invalid(format!("row_index_stride={stride}: readers know 2,147,483,647 rows at most")));
        }
        if options.stripe_size == 0 {
            return Err(Error::invalid("stripe_size=0: a stripe has a size"));
        }
        let fpp = options.bloom_filter_fpp;
        if !(fpp > 0.0 && fpp < 1.0) {
            return Err(Error::invalid(format!("bloom_filter_fpp={fpp}: it lies between 0 and 1")));
        }
        let columns = columns(options, schema, compression)?;
        if columns.iter().any(|column| column.has_bloom_filter) && stride == 0 {
            return Err(Error::invalid("bloom filters belong to row groups, which row_index_stride=0 leaves out"));
        }
        if columns.iter().any(|column| column.has_bloom_filter) && options.version == Version::V0_11 {
            return Err(Error::invalid("version 0.11 has no bloom filters"));
        }
        let encryption = match &options.encryption {
            Some(encryption) => EncryptionPlan::try_new(encryption, schema)?,
            None => None,
        };
        Ok(WritePlan {
            encryption: encryption.map(Arc::new),
            framing: Framing { codec: options.compression, chunk_size },
            compression,
            version: options.version,
            zone: WriterZone::parse(&options.timezone).map_err(|error| Error::invalid(error.message()))?,
            row_index_stride: if stride == 0 { STRIDE_WITHOUT_INDEX } else { stride },
            has_index: stride > 0,
            records_parent_nulls: true,
            bloom_filter_fpp: fpp,
            stripe_size: options.stripe_size,
            has_timestamps: schema
                .types()
                .iter()
                .any(|column| matches!(column.kind, Kind::Timestamp | Kind::TimestampInstant)),
            is_strict: true,
            columns,
        })
    }

    /// A plan for column writers that compute statistics only: streams are discarded, and no value is an error.
    pub(super) fn for_statistics(schema: &Schema, records_parent_nulls: bool) -> Result<Self> {
        let options = WriteOptions { compression: Compression::None, ..WriteOptions::default() };
        let compression = StreamCompression::discard();
        let mut plan =
            WritePlan { is_strict: false, records_parent_nulls, compression, ..Self::try_new(&options, schema)? };
        plan.columns.iter_mut().for_each(|column| column.compression = compression);
        Ok(plan)
    }

    /// Options for the metadata and the footers.
    pub(super) fn stream_options(&self) -> StreamOptions {
        StreamOptions { framing: self.framing, compression: self.compression, version: self.version }
    }

    /// The options of column `id`.
    ///
    /// # Errors
    /// `Internal` where the plan is that of another schema.
    pub(super) fn column(&self, id: u32) -> Result<ColumnPlan> {
        self.columns.get(id as usize).copied().or_internal("a plan has no column with the id")
    }
}

fn chunk_size(options: &WriteOptions, schema: &Schema) -> Result<usize> {
    let min = tuning::MIN_CHUNK_SIZE.get();
    match options.compression_block_size {
        Some(size) if (min..=MAX_CHUNK_SIZE).contains(&size) => Ok(size),
        Some(size) => {
            Err(Error::invalid(format!("compression_block_size={size}: it lies between {min} and {MAX_CHUNK_SIZE}")))
        }
        None => {
            let stripe = usize::try_from(options.stripe_size).unwrap_or(usize::MAX);
            let share = stripe / (4 * schema.types().len()).max(1);
            Ok(share
                .checked_next_power_of_two()
                .unwrap_or(usize::MAX)
                .clamp(tuning::MIN_DEFAULT_CHUNK_SIZE.get(), DEFAULT_CHUNK_SIZE))
        }
    }
}

fn columns(options: &WriteOptions, schema: &Schema, compression: StreamCompression) -> Result<Vec<ColumnPlan>> {
    let default = ColumnPlan { compression, dictionary: options.dictionary, has_bloom_filter: false };
    let mut columns = vec![default; schema.types().len()];
    // Applies `set` to a column and all columns below. Returns whether the option fits the type of one of them, as `set` does.
    let mut set_option =
        |name: &ColumnName, set: &mut dyn FnMut(&mut ColumnPlan, Kind) -> Result<bool>| -> Result<bool> {
            let id = schema.column_id(name)?;
            let last = schema.get(id)?.last;
            let mut fits = false;
            for (column, orc_type) in columns.iter_mut().zip(schema.types()).take(last as usize + 1).skip(id as usize) {
                fits |= set(column, orc_type.kind)?;
            }
            Ok(fits)
        };
    for (name, column_compression) in &options.column_compression {
        if options.compression == Compression::None {
            return Err(Error::invalid("column_compression needs a codec of the file: compression is \"none\""));
        }
        let compression = compression.for_column(*column_compression)?;
        set_option(name, &mut |column, _| {
            column.compression = compression;
            Ok(true)
        })?;
    }
    for (name, dictionary) in &options.column_dictionary {
        set_option(name, &mut |column, kind| {
            column.dictionary = *dictionary;
            Ok(matches!(kind, Kind::String | Kind::Char | Kind::Varchar))
        })
        .and_then(|fits| check_fits("dictionary", name, fits))?;
    }
    for name in &options.bloom_filter_columns {
        set_option(name, &mut |column, kind| {
            column.has_bloom_filter = supports_bloom_filter(kind);
            Ok(column.has_bloom_filter)
        })
        .and_then(|fits| check_fits("bloom_filter_columns", name, fits))?;
    }
    Ok(columns)
}

fn check_fits(option: &str, name: &ColumnName, fits: bool) -> Result<()> {
    if fits {
        return Ok(());
    }
    Err(Error::invalid(format!("{option}: column {name} is of a type that has none of these, and so is all below it")))
}

/// Whether columns of a type can have bloom filters, as in ORC Java. The filters of boolean columns are empty in ORC
/// Java, and not written here.
fn supports_bloom_filter(kind: Kind) -> bool {
    match kind {
        Kind::Byte | Kind::Short | Kind::Int | Kind::Long | Kind::Float | Kind::Double => true,
        Kind::String | Kind::Char | Kind::Varchar | Kind::Binary | Kind::Decimal => true,
        Kind::Date | Kind::Timestamp | Kind::TimestampInstant => true,
        Kind::Boolean | Kind::List | Kind::Map | Kind::Struct | Kind::Union => false,
        Kind::Geometry | Kind::Geography | Kind::Unknown => false,
    }
}
