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
    place: Option<Place>,
    has_row_index: bool,
}

/// Where a column is in the tree of types.
#[derive(Debug, Clone, Copy)]
struct Place {
    is_root: bool,
    /// Whether it is a field of a struct that may be null: of any but the root.
    is_in_struct: bool,
    /// Whether it is below a list or a map, whose values are any number for a row.
    is_repeated: bool,
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
            place: None,
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

    /// Adds the types that the column is below, from its parent to the root.
    pub(crate) fn with_parents(self, parents: impl IntoIterator<Item = Kind>) -> Self {
        let mut place = Place { is_root: true, is_in_struct: false, is_repeated: false };
        let mut parents = parents.into_iter().peekable();
        while let Some(kind) = parents.next() {
            place.is_in_struct |= place.is_root && kind == Kind::Struct && parents.peek().is_some();
            place.is_repeated |= matches!(kind, Kind::List | Kind::Map);
            place.is_root = false;
        }
        WriterContext { place: Some(place), ..self }
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

    /// Whether a null that is recorded is one of the column: ORC C++ takes rows in which the struct above is null for
    /// nulls of its fields.
    pub(super) fn null_is_own(self) -> bool {
        self.writer != Writer::Cpp || self.place.is_some_and(|place| !place.is_in_struct)
    }

    /// Whether sums of integers go round where they leave 64 bits: ORC-1008, and writers that nobody has looked at.
    pub(super) fn sums_may_wrap(self) -> bool {
        match self.writer {
            Writer::Java | Writer::Cpp => self.release.is_none_or(has_orc_1008),
            Writer::Orcish => false,
            Writer::Presto | Writer::Trino | Writer::Go | Writer::Cudf | Writer::Unknown(_) => true,
        }
    }

    /// Whether sums of integers are right. Releases of ORC Java that have the mend of ORC-1008 add the value of a
    /// repeating vector for vectors of no rows. Empty lists make such vectors.
    pub(super) fn integer_sums_are_believed(self) -> bool {
        let has_fault = self.writer == Writer::Java && self.release.is_some_and(|release| !has_orc_1008(release));
        !has_fault || self.place.is_some_and(|place| !place.is_repeated)
    }

    /// Whether sums of floating point numbers are right. ORC Java adds the value of a repeating vector once, whatever the
    /// number of its rows. ORC C++ adds the values of a `float` column before they are rounded.
    pub(super) fn double_sums_are_believed(self) -> bool {
        match self.writer {
            Writer::Java => false,
            Writer::Cpp => self.kind.is_some_and(|kind| kind != Kind::Float),
            _ => true,
        }
    }

    /// Whether sums of decimals are right. ORC Java adds the value of a repeating vector once, rounds sums of more than 38
    /// digits, and forgets that a sum of a row group has left 18 digits when it puts row groups together
    /// (`Decimal64StatisticsImpl`).
    pub(super) fn decimal_sums_are_believed(self) -> bool {
        self.writer != Writer::Java
    }

    /// Whether values and nulls were counted at all, and not those of a part of the rows.
    pub(super) fn is_counted(self) -> bool {
        let is_root = self.place.is_some_and(|place| place.is_root);
        match self.kind {
            // cuDF once gave no number of a writer, nor of a version.
            Some(Kind::List | Kind::Map | Kind::Union | Kind::Struct) if !is_root && self.is_java_before(1) => false,
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

    /// Whether bounds that are recorded, and not as cut, are values of the column. A vector of ORC Java that repeats one
    /// value makes that a bound for no rows, too; empty lists make such vectors. Of other writers nobody knows.
    pub(crate) fn bounds_are_values(self) -> bool {
        match self.writer {
            Writer::Java => self.place.is_some_and(|place| !place.is_repeated),
            Writer::Cpp | Writer::Presto | Writer::Trino | Writer::Orcish => true,
            Writer::Go | Writer::Cudf | Writer::Unknown(_) => false,
        }
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

/// Whether sums of this release of ORC wrap around.
fn has_orc_1008(release: [u32; 3]) -> bool {
    release < [1, 6, 12] || ([1, 7, 0]..[1, 7, 1]).contains(&release)
}
