//! What of the stripes of a file can be read, and what speaks against their rows.

use std::sync::Arc;

use orcish_core::cancel::CancelCheck;
use orcish_core::error::{OrInternal as _, Result};
use orcish_core::limits::Limits;
use orcish_core::statistics::ColumnStatistics;
use orcish_io::ReadAt;

use crate::options::{NullMapKeys, ReadOptions};
use crate::read::OrcFile;

/// Findings about a stripe that are told.
const MAX_FINDINGS: usize = 3;

/// The message of an internal error.
const NO_STRIPE: &str = "a stripe that is examined is missing";

/// What a stripe has.
pub(super) enum Examined {
    /// The rows can be read.
    Readable {
        /// Number of rows.
        rows: u64,
        /// What contradicts them.
        doubts: Vec<String>,
    },
    /// They cannot be read, for this reason.
    Lost(String),
}

/// Examines stripes one by one.
pub(super) struct Examiner<'a> {
    pub(super) source: &'a Arc<dyn ReadAt>,
    /// The tail with all stripes.
    pub(super) file: &'a OrcFile,
    pub(super) limits: &'a Limits,
    pub(super) check: Option<&'a CancelCheck>,
}

impl Examiner<'_> {
    /// Reads all rows of a stripe, and compares them with its index.
    ///
    /// `counted` is the number of rows that the stripe itself tells, which may be another one than its tail states. The
    /// larger number counts if so many rows can be read. `number` is that of the stripe in the new file, for messages.
    ///
    /// # Errors
    /// Errors of the source and of the cancellation check.
    pub(super) fn stripe(
        &self,
        index: usize,
        counted: Option<u64>,
        recorded: Option<&[ColumnStatistics]>,
        number: usize,
    ) -> Result<Examined> {
        let stripe = self.file.tail().stripes.get(index).or_internal(NO_STRIPE)?;
        let Some(counted) = counted.filter(|&counted| counted != stripe.rows) else {
            return self.read(self.file, index, recorded, number);
        };
        let contradiction =
            format!("stripe {number}: its tail states {} rows, and its row index or values {counted}", stripe.rows);
        let as_counted = self.with_rows(index, counted)?;
        let (first, second) = if counted > stripe.rows { (&as_counted, self.file) } else { (self.file, &as_counted) };
        let examined = match self.read(first, index, recorded, number)? {
            Examined::Lost(_) => self.read(second, index, recorded, number)?,
            readable @ Examined::Readable { .. } => readable,
        };
        Ok(match examined {
            Examined::Readable { rows, mut doubts } => {
                doubts.insert(0, contradiction);
                Examined::Readable { rows, doubts }
            }
            lost @ Examined::Lost(_) => lost,
        })
    }

    /// The file with another number of rows of a stripe.
    fn with_rows(&self, index: usize, rows: u64) -> Result<OrcFile> {
        let mut tail = self.file.tail().clone();
        tail.stripes.get_mut(index).or_internal(NO_STRIPE)?.rows = rows;
        Ok(OrcFile::of_parts(self.source.clone(), tail))
    }

    fn read(
        &self,
        file: &OrcFile,
        index: usize,
        recorded: Option<&[ColumnStatistics]>,
        number: usize,
    ) -> Result<Examined> {
        let rows = file.tail().stripes.get(index).or_internal(NO_STRIPE)?.rows;
        let error = match file.check_stripe(index, recorded, self.limits, self.check) {
            Ok(findings) => {
                let mut findings = findings.into_iter().filter(|finding| finding.contradicts_rows);
                let mut doubts = Vec::new();
                for mut finding in findings.by_ref().take(MAX_FINDINGS) {
                    finding.stripe = Some(number);
                    doubts.push(finding.to_string());
                }
                let more = findings.count();
                if more > 0 {
                    doubts.push(format!("stripe {number}: {more} findings more"));
                }
                return Ok(Examined::Readable { rows, doubts });
            }
            Err(error) if !error.kind().is_of_file() => return Err(error),
            Err(error) => error,
        };
        // The index is not needed to read all rows.
        if rows > self.limits.memory {
            return Ok(Examined::Lost(error.to_string()));
        }
        match self.count(file, index) {
            Ok(count) if count == rows => {
                let text = format!("stripe {number}: its rows cannot be compared with its indexes: {error}");
                Ok(Examined::Readable { rows, doubts: vec![text] })
            }
            Ok(count) => Ok(Examined::Lost(format!("stripe {index} has {count} rows, and not the {rows} stated"))),
            Err(error) if !error.kind().is_of_file() => Err(error),
            Err(error) => Ok(Examined::Lost(error.to_string())),
        }
    }

    /// Reads all values of a stripe. Returns the number of rows.
    fn count(&self, file: &OrcFile, index: usize) -> Result<u64> {
        let options = ReadOptions {
            stripes: Some(vec![index]),
            arrow_schema: false,
            null_map_keys: NullMapKeys::Dictionary,
            limits: self.limits.clone(),
            ..ReadOptions::default()
        };
        let mut reader = file.read(options)?;
        if let Some(check) = self.check {
            reader.set_cancel_check(check.clone());
        }
        reader.try_fold(0, |rows, batch| Ok(rows + batch?.num_rows() as u64))
    }
}
