//! The plan of a scan: the skipped parts of a file with their proofs, and the reads of the other parts.

pub use crate::predicate::{Outcome, Proof};

/// The plan of reading a file.
///
/// Footers, indexes and bloom filters are read to make the plan; their bytes are not counted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Explanation {
    /// Name of the source.
    pub file: String,
    /// Whether the file is skipped, because no row passes the filter by the values of its partition columns.
    pub skipped: bool,
    /// The selected sections (stripes, blocklets) in order.
    pub sections: Vec<SectionPlan>,
}

/// The plan of reading a section: a stripe of ORC, a blocklet of CarbonData.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SectionPlan {
    /// Index of the section in the file.
    pub index: usize,
    /// Number of rows.
    pub rows: u64,
    /// The outcome for the whole section.
    pub outcome: Outcome,
    /// Rows and outcome of each row group (page). Empty where the section is skipped, or has one row group.
    pub row_groups: Vec<(u64, Outcome)>,
    /// Bytes of the filter columns, which are read in any case.
    pub filter_bytes: u64,
    /// Requests for the filter columns. Neighbouring ranges are one request.
    pub filter_requests: usize,
    /// Bytes of the payload columns, at most: they are read where rows pass the filter.
    pub payload_bytes: u64,
    /// Requests for the payload columns, at most.
    pub payload_requests: usize,
}

impl SectionPlan {
    /// The plan of a section with one row group, without any reads.
    pub fn new(index: usize, rows: u64, outcome: Outcome) -> Self {
        SectionPlan {
            index,
            rows,
            outcome,
            row_groups: Vec::new(),
            filter_bytes: 0,
            filter_requests: 0,
            payload_bytes: 0,
            payload_requests: 0,
        }
    }
}
