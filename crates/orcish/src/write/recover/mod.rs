//! Recovery of torn and damaged files: what of their stripes can be read is written as a new file.

mod count;
mod examine;
mod lost;
mod places;
mod tails;
mod walk;

use std::collections::BTreeMap;
use std::sync::Arc;

use orcish_core::cancel::{CancelCheck, Cancellation};
use orcish_core::error::{Error, ErrorKind, Result};
use orcish_core::limits::Limits;
use orcish_core::statistics::ColumnStatistics;
use orcish_io::{ReadAt, Sink};

use super::file::Written;
use super::merge::write_stripes;
use super::tail::MAGIC;
use crate::read::OrcFile;
use crate::tail::{FileTail, StripeInfo, overlapping_stripes};
use examine::{Examined, Examiner};
pub use lost::Lost;
use places::found_stripes;
use tails::{LastTail, Prefix, Tails};
use walk::Walker;

/// What of a file can be read, and what is lost.
#[derive(Clone)]
#[non_exhaustive]
pub struct Recovery {
    /// The stripes that can be read, in the order of their rows.
    pub stripes: Vec<StripeInfo>,
    /// What is lost.
    pub lost: Vec<Lost>,
    /// What contradicts rows that can be read: their values or their number may be damaged.
    pub doubts: Vec<String>,
    /// The offset at which the tail ends that lists stripes. `None` if the file has no valid tail.
    pub tail_end: Option<u64>,
    /// How many of `stripes` no tail of the file lists.
    pub unlisted: usize,
    /// Length of the file in bytes.
    pub file_length: u64,
    source: Arc<dyn ReadAt>,
    /// The tail whose types and settings the file has.
    tail: FileTail,
}

impl std::fmt::Debug for Recovery {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (stripes, lost) = (&self.stripes, &self.lost);
        f.debug_struct("Recovery").field("stripes", stripes).field("lost", lost).finish_non_exhaustive()
    }
}

impl Recovery {
    /// Finds what of a file can be read. All stripes are read, and compared with their indexes and statistics.
    ///
    /// The stripes are those of the last valid tail in the file, which is within the file where its writer was interrupted
    /// after a flush, complete ones between these that the tail does not list, and those behind it up to the first one that
    /// is not complete. If there is no valid tail, or its types are damaged, the file has the types and settings of the
    /// tail `like`, which is that of another file of the writer.
    ///
    /// A stripe that states more than `limits` allow is lost, because damaged lengths state any size. Its reason names the
    /// limit.
    ///
    /// # Errors
    /// `Corrupt` if there is no valid tail, and `like` is `None`; `Unsupported` for encrypted columns; `LimitExceeded`;
    /// errors of the source and of the cancellation check.
    pub fn find(
        source: Arc<dyn ReadAt>,
        like: Option<&FileTail>,
        limits: &Limits,
        check: Option<&CancelCheck>,
    ) -> Result<Self> {
        let name = source.name().to_owned();
        Self::find_in(source, like, limits, check).map_err(|error| error.in_file(&name))
    }

    fn find_in(
        source: Arc<dyn ReadAt>,
        like: Option<&FileTail>,
        limits: &Limits,
        check: Option<&CancelCheck>,
    ) -> Result<Self> {
        let mut cancellation = Cancellation::new(check.cloned());
        let size = source.size()?;
        let mut tails = Tails::new(&source, size, limits);
        let mut last = tails.last(&mut cancellation)?;
        if let (Some(last_tail), Some(_)) = (&last, like) {
            // A tail that lists too few stripes does not follow the last one.
            let is_of_file = last_tail.is_sure || lists_a_stripe(&source, last_tail, limits, &mut cancellation)?;
            if !is_of_file || fault(&last_tail.tail).is_some() {
                last = None;
            }
        }
        let (tail_end, mut tail) = match (last, like) {
            (Some(last), _) => (Some(last.end), last.tail),
            (None, Some(like)) => {
                let head = 0..size.min(MAGIC.len() as u64);
                let head = source.read_range(head)?;
                if &*head != MAGIC.as_bytes() {
                    return Err(Error::corrupt("not an ORC file: it does not begin with ORC"));
                }
                let mut tail = like.clone();
                (tail.stripes, tail.rows) = (Vec::new(), 0);
                (None, tail)
            }
            (None, None) => {
                let text = "it has no valid tail, so its types are not known: another file of its writer tells them";
                return Err(Error::corrupt(text));
            }
        };
        if !tail.encrypted_columns.is_empty() {
            return Err(Error::unsupported("a file with encrypted columns is not recovered"));
        }
        let (located_stripes, lost) = found_stripes(&source, &mut tails, tail_end, &tail, limits, &mut cancellation)?;
        let recorded = recorded_statistics(&source, tail_end, &tail, limits)?;
        let stated_rows = tail.footer_without_lists().ok().and_then(|footer| footer.number_of_rows);
        tail.stripes = located_stripes.iter().map(|located| located.stripe.clone()).collect();
        // The stripes may be anywhere in the file.
        (tail.file_length, tail.tail_length) = (size, 0);
        let (stripes, doubts) = (Vec::new(), Vec::new());
        let mut recovery = Recovery { stripes, lost, doubts, tail_end, unlisted: 0, file_length: size, source, tail };
        let listed: Vec<Option<usize>> = located_stripes.iter().map(|located| located.listed).collect();
        let rows = recovery.examine(&listed, &recorded, limits, check)?;
        if let (Some(_), Some(stated)) = (tail_end, stated_rows)
            && stated != rows
        {
            recovery.doubts.push(format!("the footer states {stated} rows, and the stripes up to it have {rows}"));
        }
        if let Some(fault) = fault(&recovery.tail) {
            recovery.doubts.push(format!("a type is damaged: {fault}"));
        }
        Ok(recovery)
    }

    /// Reads the stripes of the tail. `listed` has their numbers in the tail of the file, for which `recorded` has
    /// statistics. Returns the number of rows of stripes that are before the end of that tail, lost ones included.
    fn examine(
        &mut self,
        listed: &[Option<usize>],
        recorded: &[Vec<ColumnStatistics>],
        limits: &Limits,
        check: Option<&CancelCheck>,
    ) -> Result<u64> {
        let file = OrcFile::of_parts(self.source.clone(), self.tail.clone());
        let examiner = Examiner { source: &self.source, file: &file, limits, check };
        let walker = Walker::new(&self.source, self.file_length, file.tail(), limits);
        let mut cancellation = Cancellation::new(check.cloned());
        // A small file with overlapping stripes could make a new file of any size.
        let overlapping: BTreeMap<usize, usize> = overlapping_stripes(&file.tail().stripes).into_iter().collect();
        let (mut first_row, mut before_tail) = (0, 0u64);
        for (index, (stripe, listed)) in file.tail().stripes.iter().zip(listed).enumerate() {
            let examined = match overlapping.get(&index) {
                Some(before) => Examined::Lost(format!("stripe {index} has bytes of stripe {before}")),
                None => {
                    let counted = match listed {
                        Some(_) => walker.rows_of(stripe, &mut cancellation)?,
                        None => None,
                    };
                    let recorded = listed.and_then(|listed| recorded.get(listed)).map(Vec::as_slice);
                    examiner.stripe(index, counted, recorded, self.stripes.len())?
                }
            };
            let rows = match examined {
                Examined::Readable { rows, doubts } => {
                    self.unlisted += usize::from(listed.is_none());
                    self.stripes.push(StripeInfo { first_row, rows, ..stripe.clone() });
                    self.doubts.extend(doubts);
                    first_row += rows;
                    rows
                }
                Examined::Lost(reason) => {
                    let range = stripe.offset..stripe.footer().end;
                    self.lost.push(Lost { range, rows: Some(stripe.rows), reason });
                    stripe.rows
                }
            };
            if self.tail_end.is_some_and(|end| stripe.offset < end) {
                before_tail = before_tail.saturating_add(rows);
            }
        }
        self.lost.sort_by_key(|lost| lost.range.start);
        Ok(before_tail)
    }

    /// Number of rows that can be read.
    pub fn rows(&self) -> u64 {
        self.stripes.iter().map(|stripe| stripe.rows).sum()
    }

    /// Whether nothing is lost or in doubt, and the tail at the end of the file lists all stripes.
    pub fn is_whole(&self) -> bool {
        let is_complete = self.lost.is_empty() && self.doubts.is_empty() && self.unlisted == 0;
        is_complete && self.tail_end == Some(self.file_length)
    }

    /// Writes the stripes that can be read as a new file. They are copied with their encodings and indexes. The file has no
    /// statistics of stripes and of the file.
    ///
    /// # Errors
    /// `Corrupt` where parts are lost, and no stripe can be read; errors of the source, the sink and the cancellation
    /// check. No file appears after an error.
    pub fn write(&self, sink: Box<dyn Sink>, limits: &Limits, check: Option<&CancelCheck>) -> Result<Written> {
        if let (true, Some(lost)) = (self.stripes.is_empty(), self.lost.first()) {
            let text = format!("no stripe can be read: {}", lost.reason);
            return Err(Error::corrupt(text).in_file(self.source.name()));
        }
        write_stripes(&self.source, &self.tail, &self.stripes, sink, limits, check)
    }
}

/// Whether a stripe is where a tail lists it.
fn lists_a_stripe(
    source: &Arc<dyn ReadAt>,
    last_tail: &LastTail,
    limits: &Limits,
    cancellation: &mut Cancellation,
) -> Result<bool> {
    let walker = Walker::new(source, last_tail.end, &last_tail.tail, limits);
    for stripe in &last_tail.tail.stripes {
        cancellation.poll()?;
        if walker.rows_of(stripe, cancellation)?.is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The error of the first type of a tail that is none of ORC.
fn fault(tail: &FileTail) -> Option<Error> {
    tail.schema.fault(0)
}

/// The statistics of stripes that the tail of a file records; none where they are damaged, or are not those of all stripes.
///
/// # Errors
/// Errors of the cancellation check.
fn recorded_statistics(
    source: &Arc<dyn ReadAt>,
    tail_end: Option<u64>,
    tail: &FileTail,
    limits: &Limits,
) -> Result<Vec<Vec<ColumnStatistics>>> {
    let Some(length) = tail_end else { return Ok(Vec::new()) };
    let prefix = Arc::new(Prefix { source: source.clone(), length });
    match OrcFile::of_parts(prefix, tail.clone()).stripe_statistics(limits) {
        // Bytes that cannot be read may be those of the statistics only.
        Err(error) if !error.kind().is_of_file() && error.kind() != ErrorKind::Io => Err(error),
        Ok(recorded) if recorded.len() == tail.stripes.len() => Ok(recorded),
        Ok(_) | Err(_) => Ok(Vec::new()),
    }
}
