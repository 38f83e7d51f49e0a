//! Options, checked, and as they are for each column.

use orcish_core::error::{Error, Result};

use super::compressors::Choice;
use super::options::{DEFAULT_CHUNK_SIZE, DictionaryChoice, Version, WriteOptions};
use super::streams::Layout;
use crate::codec::{Compression, Framing};
use crate::projection::find;
use crate::schema::{Kind, Schema};
use crate::time::WriterZone;
use crate::tuning;

/// Rows that are encoded at a time where there is no row index.
const STRIDE_WITHOUT_INDEX: u32 = 10_000;
/// Most bytes of a chunk: its header has 23 bits for them.
const MAX_CHUNK: usize = (1 << 23) - 1;

/// What is true of one column only.
#[derive(Debug, Clone, Copy)]
pub(super) struct ColumnPlan {
    pub(super) choice: Choice,
    pub(super) dictionary: DictionaryChoice,
    pub(super) has_bloom: bool,
}

/// How a file is written.
#[derive(Debug)]
pub(super) struct WritePlan {
    pub(super) framing: Framing,
    /// Of what is in no column.
    pub(super) choice: Choice,
    pub(super) version: Version,
    pub(super) zone: WriterZone,
    /// Rows of a row group.
    pub(super) stride: u32,
    pub(super) has_index: bool,
    pub(super) bloom_fpp: f64,
    pub(super) stripe_size: u64,
    /// Whether there are timestamps, of which readers must know the zone.
    pub(super) has_timestamps: bool,
    /// Whether values that cannot be stored are refused.
    pub(super) is_strict: bool,
    columns: Vec<ColumnPlan>,
}

impl WritePlan {
    /// Checks `options` for a file of these types.
    ///
    /// # Errors
    /// `InvalidArgument` that says which option cannot be, `UnknownColumn` where one names a column that there is not,
    /// `Unsupported` for LZO.
    pub(super) fn new(options: &WriteOptions, schema: &Schema) -> Result<Self> {
        let choice = Choice::new(options.compression, options.compression_level)?;
        let chunk_size = chunk_size(options, schema)?;
        let stride = options.row_index_stride;
        let least = tuning::MIN_STRIDE.get();
        if stride > 0 && u64::from(stride) < least as u64 {
            let text = format!("row_index_stride={stride}: row groups have {least} rows at least, or 0 for no index");
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
        let columns = columns(options, schema, choice)?;
        if columns.iter().any(|column| column.has_bloom) && stride == 0 {
            return Err(Error::invalid("bloom filters belong to row groups, which row_index_stride=0 leaves out"));
        }
        if columns.iter().any(|column| column.has_bloom) && options.version == Version::V0_11 {
            return Err(Error::invalid("version 0.11 has no bloom filters"));
        }
        Ok(WritePlan {
            framing: Framing { codec: options.compression, chunk_size },
            choice,
            version: options.version,
            zone: WriterZone::parse(&options.timezone).map_err(|error| Error::invalid(error.message()))?,
            stride: if stride == 0 { STRIDE_WITHOUT_INDEX } else { stride },
            has_index: stride > 0,
            bloom_fpp: fpp,
            stripe_size: options.stripe_size,
            has_timestamps: schema
                .types()
                .iter()
                .any(|this| matches!(this.kind, Kind::Timestamp | Kind::TimestampInstant)),
            is_strict: true,
            columns,
        })
    }

    /// A plan of which only the statistics are wanted, of values as they are: nothing is kept, and nothing refused.
    pub(super) fn of_statistics(schema: &Schema) -> Result<Self> {
        let options = WriteOptions { compression: Compression::None, ..WriteOptions::default() };
        let mut plan = WritePlan { is_strict: false, choice: Choice::dropped(), ..Self::new(&options, schema)? };
        plan.columns.iter_mut().for_each(|column| column.choice = plan.choice);
        Ok(plan)
    }

    /// How the sections of the file are stored that belong to no column.
    pub(super) fn layout(&self) -> Layout {
        Layout { framing: self.framing, choice: self.choice, version: self.version }
    }

    pub(super) fn column(&self, id: u32) -> ColumnPlan {
        let found = usize::try_from(id).ok().and_then(|id| self.columns.get(id));
        found.copied().unwrap_or(ColumnPlan {
            choice: self.choice,
            dictionary: DictionaryChoice::Auto,
            has_bloom: false,
        })
    }
}

fn chunk_size(options: &WriteOptions, schema: &Schema) -> Result<usize> {
    let least = tuning::MIN_CHUNK.get();
    match options.chunk_size {
        Some(size) if (least..=MAX_CHUNK).contains(&size) => Ok(size),
        Some(size) => {
            Err(Error::invalid(format!("compression_block_size={size}: it lies between {least} and {MAX_CHUNK}")))
        }
        None => {
            let stripe = usize::try_from(options.stripe_size).unwrap_or(usize::MAX);
            let each = stripe / (4 * schema.types().len()).max(1);
            Ok(each
                .checked_next_power_of_two()
                .unwrap_or(usize::MAX)
                .clamp(tuning::MIN_USUAL_CHUNK.get(), DEFAULT_CHUNK_SIZE))
        }
    }
}

fn columns(options: &WriteOptions, schema: &Schema, choice: Choice) -> Result<Vec<ColumnPlan>> {
    let default = ColumnPlan { choice, dictionary: options.dictionary, has_bloom: false };
    let mut columns = vec![default; schema.types().len()];
    let mut each = |name: &str, set: &mut dyn FnMut(&mut ColumnPlan, Kind) -> Result<bool>| -> Result<()> {
        let id = find(schema, name)?;
        let last = schema.get(id)?.last;
        let mut is_used = false;
        for (column, this) in columns.iter_mut().zip(schema.types()).take(last as usize + 1).skip(id as usize) {
            is_used |= set(column, this.kind)?;
        }
        if is_used { Ok(()) } else { Err(Error::invalid("no column there can have it").in_column(name)) }
    };
    for (name, own) in &options.column_compression {
        if options.compression == Compression::None {
            return Err(Error::invalid("column_compression needs a codec of the file: compression is \"none\""));
        }
        let own = choice.of_column(*own)?;
        each(name, &mut |column, _| {
            column.choice = own;
            Ok(true)
        })?;
    }
    for (name, own) in &options.column_dictionary {
        each(name, &mut |column, kind| {
            column.dictionary = *own;
            Ok(matches!(kind, Kind::String | Kind::Char | Kind::Varchar))
        })
        .map_err(|error| error_of("dictionary", name, error))?;
    }
    for name in &options.bloom_filter_columns {
        each(name, &mut |column, kind| {
            column.has_bloom = has_bloom(kind);
            Ok(column.has_bloom)
        })
        .map_err(|error| error_of("bloom_filter_columns", name, error))?;
    }
    Ok(columns)
}

fn error_of(option: &str, name: &str, error: Error) -> Error {
    match error.kind() {
        orcish_core::ErrorKind::InvalidArgument => Error::invalid(format!(
            "{option}: column {name} is of a type that has none of these, and so is all below it"
        )),
        _ => error,
    }
}

/// Whether values of a kind are hashed: those that Java hashes, and booleans not, whose filters it leaves empty.
fn has_bloom(kind: Kind) -> bool {
    match kind {
        Kind::Byte | Kind::Short | Kind::Int | Kind::Long | Kind::Float | Kind::Double => true,
        Kind::String | Kind::Char | Kind::Varchar | Kind::Binary | Kind::Decimal => true,
        Kind::Date | Kind::Timestamp | Kind::TimestampInstant => true,
        Kind::Boolean | Kind::List | Kind::Map | Kind::Struct | Kind::Union => false,
        Kind::Geometry | Kind::Geography | Kind::Unknown => false,
    }
}
