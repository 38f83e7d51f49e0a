//! The writer and the column of statistics, and which statistics of this writer can be trusted.

use crate::schema::Kind;
use crate::writer::{Writer, release};

/// Maximum precision of decimals that ORC Java keeps in 64 bits.
const MAX_DECIMAL64_PRECISION: u32 = 18;

/// The writer and the column of statistics. Statistics are not trusted if the trust depends on a missing fact.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WriterContext {
    pub(super) writer: Writer,
    version: u32,
    /// Release of the writing software; `None` also where the software is older than this field of the footer.
    release: Option<[u32; 3]>,
    pub(super) proleptic: Option<bool>,
    pub(super) kind: Option<Kind>,
    precision: Option<u32>,
    nesting: Option<Nesting>,
    has_row_index: bool,
    /// Whether orcish records null rows of a struct as nulls of its fields.
    records_parent_nulls: bool,
}

/// Nesting of a column in the type tree.
#[derive(Debug, Clone, Copy)]
struct Nesting {
    is_root: bool,
    /// Whether the parent is a nullable struct: any struct but the root.
    is_struct_field: bool,
    /// Whether the column is below a list or a map: the number of its values per row varies.
    is_repeated: bool,
}

impl WriterContext {
    /// A context of `Footer.writer` and `PostScript.writer_version`, which is 0 if absent.
    pub(crate) fn new(writer: Writer, version: u32) -> Self {
        WriterContext {
            writer,
            version,
            release: None,
            proleptic: None,
            kind: None,
            precision: None,
            nesting: None,
            has_row_index: false,
            records_parent_nulls: false,
        }
    }

    /// Adds `Footer.software_version`.
    pub(crate) fn with_software_version(self, version: Option<&str>) -> Self {
        WriterContext {
            release: version.map(release),
            records_parent_nulls: self.writer.records_parent_nulls(version),
            ..self
        }
    }

    /// Adds the calendar of dates and timestamps: proleptic Gregorian, or Julian before 1582-10-15.
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

    /// Adds the types of the ancestors of the column, from its parent to the root.
    pub(crate) fn with_parents(self, parents: impl IntoIterator<Item = Kind>) -> Self {
        let mut nesting = Nesting { is_root: true, is_struct_field: false, is_repeated: false };
        let mut parents = parents.into_iter().peekable();
        while let Some(kind) = parents.next() {
            nesting.is_struct_field |= nesting.is_root && kind == Kind::Struct && parents.peek().is_some();
            nesting.is_repeated |= matches!(kind, Kind::List | Kind::Map);
            nesting.is_root = false;
        }
        WriterContext { nesting: Some(nesting), ..self }
    }

    fn is_java_before(self, version: u32) -> bool {
        self.writer == Writer::Java && self.version < version
    }

    fn is_cpp_before(self, release: [u32; 3]) -> bool {
        self.writer == Writer::Cpp && self.release.is_none_or(|this| this < release)
    }

    /// Whether all nulls are counted. The faults are ORC-415, and nulls of batches without `hasNulls` before ORC-1130.
    pub(super) fn nulls_are_counted(self) -> bool {
        !self.is_cpp_before([1, 8, 0])
    }

    /// Whether a recorded null is a null of the column. ORC C++ and orcish record the null rows of a struct as nulls of its
    /// fields.
    pub(super) fn nulls_exclude_parent_nulls(self) -> bool {
        let are_included = self.writer == Writer::Cpp || self.records_parent_nulls;
        !are_included || self.nesting.is_some_and(|nesting| !nesting.is_struct_field)
    }

    /// Whether U+FFFD in a bound may have replaced bytes that are not UTF-8. orcish writes text only, and bounds as they are.
    pub(super) fn bounds_may_be_replaced(self) -> bool {
        self.writer != Writer::Orcish
    }

    /// Whether sums of integers wrap around at 64 bits: ORC-1008, and writers of which it is unknown.
    pub(super) fn sums_may_wrap(self) -> bool {
        match self.writer {
            Writer::Java | Writer::Cpp => self.release.is_none_or(has_orc_1008),
            Writer::Orcish => false,
            Writer::Presto | Writer::Trino | Writer::Go | Writer::Cudf | Writer::Unknown(_) => true,
        }
    }

    /// Whether sums of integers are trusted. Releases of ORC Java with the fix of ORC-1008 add the value of a repeating
    /// vector even if the vector has no rows. Empty lists make such vectors.
    pub(super) fn integer_sums_are_trusted(self) -> bool {
        let has_fault = self.writer == Writer::Java && self.release.is_some_and(|release| !has_orc_1008(release));
        !has_fault || self.nesting.is_some_and(|nesting| !nesting.is_repeated)
    }

    /// Whether sums of floating point numbers are trusted. ORC Java adds the value of a repeating vector once, for any
    /// number of rows. ORC C++ adds the values of a `float` column before they are rounded.
    pub(super) fn double_sums_are_trusted(self) -> bool {
        match self.writer {
            Writer::Java => false,
            Writer::Cpp => self.kind.is_some_and(|kind| kind != Kind::Float),
            _ => true,
        }
    }

    /// Whether sums of decimals are trusted. ORC Java adds the value of a repeating vector once, and rounds sums of more
    /// than 38 digits. When it merges row groups, it ignores that the sum of a row group has more than 18 digits
    /// (`Decimal64StatisticsImpl`).
    pub(super) fn decimal_sums_are_trusted(self) -> bool {
        self.writer != Writer::Java
    }

    /// Whether the values and nulls of all rows were counted.
    pub(super) fn counts_are_trusted(self) -> bool {
        let is_root = self.nesting.is_some_and(|nesting| nesting.is_root);
        match self.kind {
            // Old releases of cuDF record neither a writer nor a version: they look like ORC Java version 0.
            Some(Kind::List | Kind::Map | Kind::Union | Kind::Struct) if !is_root && self.is_java_before(1) => false,
            Some(Kind::List | Kind::Map | Kind::Union) => match self.writer {
                Writer::Cpp => self.has_row_index,
                writer => writer != Writer::Cudf,
            },
            Some(Kind::Struct) => self.writer != Writer::Cudf,
            _ => true,
        }
    }

    /// Whether the sum, or its absence, proves that no value is NaN.
    pub(super) fn excludes_nan(self, sum: Option<f64>) -> bool {
        match self.writer {
            Writer::Java | Writer::Cpp | Writer::Orcish => sum.is_some_and(|sum| !sum.is_nan()),
            // These writers record no sum. If a value is NaN, they record no statistics.
            Writer::Presto | Writer::Trino => true,
            Writer::Go | Writer::Cudf | Writer::Unknown(_) => false,
        }
    }

    /// Whether bounds of timestamps are trusted. cuDF counts nanoseconds in 64 bits, which wrap around.
    pub(super) fn timestamps_are_trusted(self) -> bool {
        self.writer != Writer::Cudf
    }

    /// Whether bounds of types other than integers and floating point numbers are trusted. The fault is HIVE-8732. ORC C++
    /// ignores the same bounds.
    pub(super) fn bounds_are_trusted(self) -> bool {
        !self.is_java_before(1)
    }

    /// Whether recorded bounds that are not marked as truncated are values of the column. A repeating vector of ORC Java
    /// makes its value a bound even if the vector has no rows. Empty lists make such vectors.
    pub(crate) fn bounds_are_exact(self) -> bool {
        match self.writer {
            Writer::Java => self.nesting.is_some_and(|nesting| !nesting.is_repeated),
            Writer::Cpp | Writer::Presto | Writer::Trino | Writer::Orcish => true,
            Writer::Go | Writer::Cudf | Writer::Unknown(_) => false,
        }
    }

    /// Whether bounds of decimals are trusted. The faults are HIVE-8732 and ORC-517.
    pub(super) fn decimals_are_trusted(self) -> bool {
        let orc_517 = self.writer == Writer::Java && self.version == 6;
        self.bounds_are_trusted() && !(orc_517 && self.precision.is_none_or(|digits| digits <= MAX_DECIMAL64_PRECISION))
    }

    /// Whether numbers of elements of lists and maps are trusted.
    pub(super) fn collections_are_trusted(self) -> bool {
        self.writer != Writer::Java && self.writer != Writer::Cpp
    }

    /// Whether the fields `*_utc` of timestamps are trusted. The faults are ORC-135 and ORC-1151. The latter does not affect
    /// instants.
    pub(super) fn utc_bounds_are_trusted(self) -> bool {
        let orc_1151 = self.is_cpp_before([1, 7, 5]) && self.kind != Some(Kind::TimestampInstant);
        !self.is_java_before(6) && !orc_1151
    }
}

/// Whether sums of integers of this release of ORC Java or C++ wrap around.
fn has_orc_1008(release: [u32; 3]) -> bool {
    release < [1, 6, 12] || ([1, 7, 0]..[1, 7, 1]).contains(&release)
}
