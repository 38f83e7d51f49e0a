//! Recovery of torn and damaged files: what of their stripes can be read is written as a new file.

mod count;
mod tails;
mod walk;

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use orcish_core::cancel::{CancelCheck, Cancellation};
use orcish_core::error::{Error, ErrorKind, Result};
use orcish_core::limits::Limits;
use orcish_io::{ReadAt, Sink};

use super::file::Written;
use super::merge::write_stripes;
use super::tail::MAGIC;
use crate::options::{NullMapKeys, ReadOptions};
use crate::read::OrcFile;
use crate::tail::{FileTail, StripeInfo, overlapping_stripes};
use tails::last_tail;
use walk::{End, Walker};

/// What of a file can be read, and what is lost.
#[derive(Clone)]
#[non_exhaustive]
pub struct Recovery {
    /// The stripes that can be read, in the order of their rows.
    pub stripes: Vec<StripeInfo>,
    /// What is lost.
    pub lost: Vec<Lost>,
    /// The offset at which the tail ends that lists the first stripes. `None` if the file has no valid tail.
    pub tail_end: Option<u64>,
    /// Number of the first of `stripes` that no tail of the file lists.
    pub without_tail: usize,
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

/// A part of a file that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Lost {
    /// Bytes of the file.
    pub range: Range<u64>,
    /// Number of rows. `None` if it is not known.
    pub rows: Option<u64>,
    /// Why.
    pub reason: String,
}

impl Recovery {
    /// Finds what of a file can be read. All stripes are read.
    ///
    /// The stripes are those of the last valid tail in the file, which is within the file where its writer was interrupted
    /// after a flush, and those behind it up to the first one that is not complete. If there is no valid tail, the file
    /// has the types and settings of the tail `like`, which is that of another file of the writer.
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
        let last = last_tail(&source, size, limits, &mut cancellation)?;
        let (tail_end, mut tail) = match (last, like) {
            (Some((end, tail)), _) => (Some(end), tail),
            (None, Some(like)) => {
                let head = 0..size.min(MAGIC.len() as u64);
                let head = source.read_ranges(std::slice::from_ref(&head))?.pop().unwrap_or_default();
                if &*head != MAGIC.as_bytes() {
                    return Err(Error::corrupt("not an ORC file: it does not begin with ORC"));
                }
                let mut tail = like.clone();
                tail.stripes = Vec::new();
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
        let listed = tail.stripes.len();
        let mut rest = None;
        let mut walker = Walker::new(&source, size, &tail, limits);
        let mut walked = Vec::new();
        let mut at = tail_end.unwrap_or(MAGIC.len() as u64);
        while at < size {
            match walker.stripe(at, &mut cancellation)? {
                Ok(stripe) => {
                    at = stripe.footer().end;
                    walked.push(stripe);
                }
                Err(end) => {
                    let reason = match end {
                        End::NoFooter => "no complete stripe is there",
                        End::NoRowCount => {
                            "the stripe has no row index, which has its number of rows, and no column without nulls"
                        }
                    };
                    rest = Some(Lost { range: at..size, rows: None, reason: reason.to_owned() });
                    break;
                }
            }
        }
        tail.stripes.extend(walked);
        // The stripes may be anywhere in the file.
        (tail.file_length, tail.tail_length) = (size, 0);
        let file = OrcFile::with_tail(source.clone(), tail.clone());
        let (mut stripes, mut lost, mut without_tail, mut first_row) = (Vec::new(), Vec::new(), 0, 0);
        // A small file with overlapping stripes could make a new file of any size.
        let overlapping: BTreeMap<usize, usize> = overlapping_stripes(&tail.stripes).into_iter().collect();
        for (index, stripe) in tail.stripes.iter().enumerate() {
            let read = match overlapping.get(&index) {
                Some(before) => Err(Error::unsupported(format!("stripe {index} has bytes of stripe {before}"))),
                None => read_stripe(&file, index, limits, check),
            };
            let reason = match read {
                Ok(rows) if rows == stripe.rows => {
                    without_tail += usize::from(index < listed);
                    stripes.push(StripeInfo { first_row, ..stripe.clone() });
                    first_row += rows;
                    continue;
                }
                Ok(rows) => format!("stripe {index} has {rows} rows, and not the {} that it states", stripe.rows),
                Err(error) if matches!(error.kind(), ErrorKind::Io | ErrorKind::Interrupted) => return Err(error),
                Err(error) => error.to_string(),
            };
            lost.push(Lost { range: stripe.offset..stripe.footer().end, rows: Some(stripe.rows), reason });
        }
        lost.extend(rest);
        Ok(Recovery { stripes, lost, tail_end, without_tail, file_length: size, source, tail })
    }

    /// Number of rows that can be read.
    pub fn rows(&self) -> u64 {
        self.stripes.iter().map(|stripe| stripe.rows).sum()
    }

    /// Whether nothing is lost, and the tail at the end of the file lists all stripes.
    pub fn is_whole(&self) -> bool {
        self.lost.is_empty() && self.tail_end == Some(self.file_length)
    }

    /// Writes the stripes that can be read as a new file. They are copied with their encodings and indexes. The file has no
    /// statistics of stripes and of the file.
    ///
    /// # Errors
    /// Errors of the source, the sink and the cancellation check. No file appears after an error.
    pub fn write(&self, sink: Box<dyn Sink>, limits: &Limits, check: Option<&CancelCheck>) -> Result<Written> {
        write_stripes(&self.source, &self.tail, &self.stripes, sink, limits, check)
    }
}

/// Reads all values of a stripe. Returns the number of rows.
fn read_stripe(file: &OrcFile, index: usize, limits: &Limits, check: Option<&CancelCheck>) -> Result<u64> {
    let options = ReadOptions {
        stripes: Some(vec![index]),
        arrow_schema: false,
        null_map_keys: NullMapKeys::Dictionary,
        limits: limits.clone(),
        ..ReadOptions::default()
    };
    let mut reader = file.read(options)?;
    if let Some(check) = check {
        reader.set_cancel_check(check.clone());
    }
    reader.try_fold(0, |rows, batch| Ok(rows + batch?.num_rows() as u64))
}
