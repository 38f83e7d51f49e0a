//! Comparison of the entries of an index file with the footer of their data file.

use orcish_core::{Error, Result};

use super::data_file::DataFile;
use super::metadata::BlockletMetadata;
use crate::metadata::format::BlockletInfo3;
use crate::metadata::index_file::IndexedBlocklet;

impl DataFile {
    /// Checks that an index file says the same of this file as the footer: the number of rows, and, where the index file
    /// has them, the blocklets in their order. Blocklets are matched by position, so that an index file that lacks one
    /// would hide its rows.
    ///
    /// # Errors
    /// `Corrupt` where it does not.
    pub(crate) fn check_index(&self, rows: u64, blocklets: Option<&[IndexedBlocklet]>) -> Result<()> {
        self.compare_index(rows, blocklets).map_err(|error| error.in_file(self.name()))
    }

    fn compare_index(&self, rows: u64, indexed: Option<&[IndexedBlocklet]>) -> Result<()> {
        let blocklets = &self.metadata.blocklets;
        if let Some(indexed) = indexed {
            for (at, (entry, blocklet)) in indexed.iter().zip(blocklets).enumerate() {
                check_blocklet(entry, blocklet).map_err(|error| error.in_section("blocklet", at))?;
            }
            let (found, expected) = (indexed.len(), blocklets.len());
            if found != expected {
                let text = format!("the index has {found} blocklets, of {expected} in the file");
                return Err(Error::corrupt(text).in_section("blocklet", found.min(expected)));
            }
        }
        if rows != self.metadata.rows {
            return Err(Error::corrupt(format!("the index has {rows} rows, of {} in the file", self.metadata.rows)));
        }
        Ok(())
    }
}

fn check_blocklet(entry: &IndexedBlocklet, blocklet: &BlockletMetadata) -> Result<()> {
    if let Some(rows) = entry.rows.filter(|&rows| rows != blocklet.rows) {
        return Err(Error::corrupt(format!("the index has a blocklet of {rows} rows, the file of {}", blocklet.rows)));
    }
    match &entry.info {
        Some(info) if !is_of(info, blocklet) => {
            Err(Error::corrupt("the chunks of the blocklet in the index are not those in the file"))
        }
        _ => Ok(()),
    }
}

/// Whether the chunks and pages are those of a blocklet.
fn is_of(info: &BlockletInfo3, blocklet: &BlockletMetadata) -> bool {
    let chunks = info.offsets.iter().zip(&info.lengths);
    let pages = info.page_rows.iter().map(|&rows| usize::try_from(rows).ok());
    info.offsets.len() == blocklet.chunks.len()
        && info.lengths.len() == blocklet.chunks.len()
        && chunks.zip(&blocklet.chunks).all(|((&offset, &length), chunk)| chunk.is_at(offset, length))
        && pages.eq(blocklet.page_rows.iter().map(|&rows| Some(rows)))
}
