//! The software that wrote a file (ORCv1, Footer: `writer`). Readers need it for the known faults of writers.

/// The software that wrote a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Writer {
    /// Apache ORC for Java, and Hive, which wrote no code.
    Java,
    /// Apache ORC for C++.
    Cpp,
    /// Presto.
    Presto,
    /// The Go library of Scritchley.
    Go,
    /// Trino.
    Trino,
    /// cuDF.
    Cudf,
    /// This library.
    Orcish,
    /// Another code.
    Unknown(u32),
}

impl Writer {
    /// The code of orcish, which the specification does not list: the text `orcs`. Other readers take an unknown
    /// code for a writer without their faults.
    pub(crate) const ORCISH: u32 = u32::from_be_bytes(*b"orcs");

    /// The software version in files of orcish. The writer version of the postscript cannot tell files of orcish apart:
    /// pyarrow and pyorc raise errors for versions that ORC Java does not have.
    pub(crate) const ORCISH_SOFTWARE: &str = concat!("orcish ", env!("CARGO_PKG_VERSION"));

    /// Whether this software records in the statistics of fields of structs that a struct is null: orcish from version 0.1.1.
    pub(crate) fn records_parent_nulls(self, software_version: Option<&str>) -> bool {
        let version = software_version.and_then(|version| version.strip_prefix("orcish "));
        self == Writer::Orcish && version.is_some_and(|version| release(version) >= [0, 1, 1])
    }

    /// The writer with a code of the footer. A footer without a code is from Java.
    pub(crate) fn from_code(code: Option<u32>) -> Self {
        match code {
            None | Some(0) => Writer::Java,
            Some(1) => Writer::Cpp,
            Some(2) => Writer::Presto,
            Some(3) => Writer::Go,
            Some(4) => Writer::Trino,
            Some(5) => Writer::Cudf,
            Some(Self::ORCISH) => Writer::Orcish,
            Some(code) => Writer::Unknown(code),
        }
    }

    /// The code of the writer in the footer.
    pub fn code(self) -> u32 {
        match self {
            Writer::Java => 0,
            Writer::Cpp => 1,
            Writer::Presto => 2,
            Writer::Go => 3,
            Writer::Trino => 4,
            Writer::Cudf => 5,
            Writer::Orcish => Self::ORCISH,
            Writer::Unknown(code) => code,
        }
    }
}

impl std::fmt::Display for Writer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Writer::Java => f.write_str("ORC Java"),
            Writer::Cpp => f.write_str("ORC C++"),
            Writer::Presto => f.write_str("Presto"),
            Writer::Go => f.write_str("Scritchley Go"),
            Writer::Trino => f.write_str("Trino"),
            Writer::Cudf => f.write_str("cuDF"),
            Writer::Orcish => f.write_str("orcish"),
            Writer::Unknown(code) => write!(f, "unknown ({code})"),
        }
    }
}

/// Major, minor and patch number of a version: `1.7.2-SNAPSHOT` is 1, 7, 2. Missing and invalid numbers are 0.
pub(crate) fn release(text: &str) -> [u32; 3] {
    let mut parts = text.split(|c: char| !c.is_ascii_digit()).map(|part| part.parse().unwrap_or(0));
    std::array::from_fn(|_| parts.next().unwrap_or(0))
}
