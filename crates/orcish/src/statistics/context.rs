//! What is known of who wrote statistics, and of what column they are.

use crate::schema::Kind;
use crate::writer::{Writer, release};

/// Precision up to which ORC Java keeps decimals in 64 bits.
const DECIMAL64_DIGITS: u32 = 18;

/// What decides whether statistics can be believed. What it is not told, it takes for the worst.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WriterContext {
    pub(super) writer: Writer,
    version: u32,
    /// Release of the writing software; `None` also where it is older than the field.
    release: Option<[u32; 3]>,
    pub(super) proleptic: Option<bool>,
    pub(super) kind: Option<Kind>,
    precision: Option<u32>,
    has_row_index: bool,
}

impl WriterContext {
    /// `Footer.writer` and `PostScript.writer_version` (0 where absent).
    pub(crate) fn new(writer: Writer, version: u32) -> Self {
        WriterContext {
            writer,
            version,
            release: None,
            proleptic: None,
            kind: None,
            precision: None,
            has_row_index: false,
        }
    }

    /// Adds `Footer.software_version`.
    pub(crate) fn with_software_version(self, version: Option<&str>) -> Self {
        WriterContext { release: version.map(release), ..self }
    }

    /// Adds whether dates and timestamps are proleptic Gregorian, as against Julian before 1582-10-15.
    pub(crate) fn with_proleptic_calendar(self, proleptic: bool) -> Self {
        WriterContext { proleptic: Some(proleptic), ..self }
    }

    /// Adds whether the file has a row index.
    pub(crate) fn with_row_index(self, has_row_index: bool) -> Self {
        WriterContext { has_row_index, ..self }
    }

    /// Adds the type of the column, and the precision of a decimal.
    pub(crate) fn with_column(self, kind: Kind, precision: Option<u32>) -> Self {
        WriterContext { kind: Some(kind), precision, ..self }
    }

    fn is_java_before(self, version: u32) -> bool {
        self.writer == Writer::Java && self.version < version
    }

    fn is_cpp_before(self, release: [u32; 3]) -> bool {
        self.writer == Writer::Cpp && self.release.is_none_or(|this| this < release)
    }

    /// ORC-415, and what was before ORC-1130.
    pub(super) fn nulls_are_counted(self) -> bool {
        !self.is_cpp_before([1, 8, 0])
    }

    /// ORC-1008.
    pub(super) fn sums_may_wrap(self) -> bool {
        let orc_1008 = |release| release < [1, 6, 12] || ([1, 7, 0]..[1, 7, 1]).contains(&release);
        matches!(self.writer, Writer::Java | Writer::Cpp) && self.release.is_none_or(orc_1008)
    }

    /// Whether values and nulls were counted at all, and not those of a part of the rows.
    pub(super) fn is_counted(self) -> bool {
        match self.kind {
            Some(Kind::List | Kind::Map | Kind::Union) => match self.writer {
                Writer::Cpp => self.has_row_index,
                writer => writer != Writer::Cudf,
            },
            Some(Kind::Struct) => self.writer != Writer::Cudf,
            _ => true,
        }
    }

    /// Whether a sum, or that there is none, shows that no value is NaN.
    pub(super) fn excludes_nan(self, sum: Option<f64>) -> bool {
        match self.writer {
            Writer::Java | Writer::Cpp | Writer::Orcish => sum.is_some_and(|sum| !sum.is_nan()),
            // They record no sum, and nothing at all if a value is NaN.
            Writer::Presto | Writer::Trino => true,
            Writer::Go | Writer::Cudf | Writer::Unknown(_) => false,
        }
    }

    /// cuDF counts nanoseconds in 64 bits, and goes round where there are more.
    pub(super) fn timestamps_are_believed(self) -> bool {
        self.writer != Writer::Cudf
    }

    /// HIVE-8732. Nothing else but integers and floating point numbers of those files is believed by ORC C++ either.
    pub(super) fn bounds_are_believed(self) -> bool {
        !self.is_java_before(1)
    }

    pub(super) fn decimals_are_believed(self) -> bool {
        let orc_517 = self.writer == Writer::Java && self.version == 6;
        self.bounds_are_believed() && !(orc_517 && self.precision.is_none_or(|digits| digits <= DECIMAL64_DIGITS))
    }

    pub(super) fn collections_are_believed(self) -> bool {
        self.writer != Writer::Java && self.writer != Writer::Cpp
    }

    /// Whether `*_utc` are what they should be: ORC-135, and ORC-1151, which instants do not suffer from.
    pub(super) fn utc_is_believed(self) -> bool {
        let orc_1151 = self.is_cpp_before([1, 7, 5]) && self.kind != Some(Kind::TimestampInstant);
        !self.is_java_before(6) && !orc_1151
    }
}
