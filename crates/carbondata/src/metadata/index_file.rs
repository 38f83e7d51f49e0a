//! Index files (`.carbonindex`, `.carbonindexmerge`): the data files and blocklets of a segment.

use std::collections::HashMap;
use std::sync::Arc;

use orcish_core::{Error, Limits, OrInternal as _, Result};

use super::file_names::check_name;
use super::format::{BlockIndex, BlockletInfo3, IndexHeader, MergedIndex, MinMax};
use super::schema::{Column, columns};
use super::thrift::ThriftReader;

/// Suffix of the names of index files.
pub(crate) const INDEX_SUFFIX: &str = ".carbonindex";
/// Suffix of the names of merged index files.
pub(crate) const MERGED_INDEX_SUFFIX: &str = ".carbonindexmerge";

/// A blocklet of an index file.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct IndexedBlocklet {
    /// Index of the blocklet in its file, which delete deltas refer to.
    pub(crate) id: usize,
    /// `None` in a split, which leaves it to the data file.
    pub(crate) rows: Option<u64>,
    pub(crate) info: Option<BlockletInfo3>,
    pub(crate) min_max: Option<MinMax>,
    pub(crate) footer_offset: u64,
}

/// A data file of an index file.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct IndexedFile {
    /// Name without folders.
    pub(crate) name: String,
    pub(crate) version: i32,
    pub(crate) columns: Option<Arc<Vec<Column>>>,
    pub(crate) rows: u64,
    pub(crate) size: Option<u64>,
    /// `None` where the index has one entry for the file.
    pub(crate) blocklets: Option<Vec<IndexedBlocklet>>,
    /// Min/max index of the file, where the index has no blocklets.
    pub(crate) min_max: Option<MinMax>,
}

/// Reads an index file.
///
/// # Errors
/// `Corrupt` where it is not an index file.
pub(crate) fn read_index(bytes: &[u8], limits: &Limits) -> Result<Vec<IndexedFile>> {
    let mut reader = ThriftReader::new(bytes, limits);
    let header: IndexHeader = reader.read_struct()?;
    let columns = Arc::new(columns(&header.columns, limits)?);
    let mut files: Vec<IndexedFile> = Vec::new();
    // Writers put the entries of a file side by side, but the format does not require it.
    let mut positions: HashMap<String, usize> = HashMap::new();
    while !reader.is_empty() {
        let entry: BlockIndex = reader.read_struct()?;
        let name = name(&entry.file)?;
        let at = positions.get(name).copied().unwrap_or(files.len());
        if at == files.len() {
            positions.insert(name.to_owned(), at);
            let (version, columns) = (header.version, Some(Arc::clone(&columns)));
            let blocklets = Some(Vec::new());
            files.push(IndexedFile { name: name.to_owned(), version, columns, blocklets, ..IndexedFile::default() });
        }
        files.get_mut(at).or_internal("a file of an index is missing")?.add(entry)?;
    }
    files.iter().try_for_each(|file| file.check_gaps().map_err(|error| error.in_file(&file.name)))?;
    Ok(files)
}

impl IndexedFile {
    /// Approximate memory of the entry. Columns are not counted, as files share them.
    pub(crate) fn memory_size(&self) -> usize {
        let bounds = |all: &[Vec<u8>]| all.iter().map(|bound| bound.len() + size_of::<Vec<u8>>()).sum::<usize>();
        let of = |min_max: &Option<MinMax>| {
            min_max
                .as_ref()
                .map_or(0, |it| bounds(&it.min) + bounds(&it.max) + it.presence.as_ref().map_or(0, Vec::len))
        };
        let info = |info: &Option<BlockletInfo3>| {
            info.as_ref().map_or(0, |info| 8 * info.offsets.len() + 4 * (info.lengths.len() + info.page_rows.len()))
        };
        let blocklet = |it: &IndexedBlocklet| size_of::<IndexedBlocklet>() + of(&it.min_max) + info(&it.info);
        let blocklets = self.blocklets.iter().flatten().map(blocklet).sum::<usize>();
        size_of::<Self>() + self.name.len() + of(&self.min_max) + blocklets
    }

    /// Checks that each blocklet starts where the blocklet before it ends, and that the last one ends at the footer.
    /// Where a blocklet is missing, filters would not find its rows. Data files are not opened for it.
    fn check_gaps(&self) -> Result<()> {
        let Some(blocklets) = &self.blocklets else { return Ok(()) };
        for (at, blocklet) in blocklets.iter().enumerate() {
            let Some(info) = blocklet.info.as_ref().filter(|info| !info.offsets.is_empty()) else { continue };
            let next = match blocklets.get(at + 1) {
                Some(next) => next.info.as_ref().and_then(|info| info.offsets.iter().min().copied()),
                None => i64::try_from(blocklet.footer_offset).ok(),
            };
            let end = info.dimension_end.max(info.measure_end);
            if let Some(next) = next.filter(|&next| next != end) {
                let text = format!("the index has a blocklet up to byte {end}, and continues at {next}");
                return Err(Error::corrupt(text).in_section("blocklet", at));
            }
        }
        Ok(())
    }

    fn add(&mut self, entry: BlockIndex) -> Result<()> {
        let number = |number: i64| u64::try_from(number).map_err(|_| Error::corrupt(format!("an index with {number}")));
        let rows = match &entry.blocklet {
            Some(info) => number(info.rows.into())?,
            None => number(entry.rows)?,
        };
        self.rows = self.rows.saturating_add(rows);
        self.size = entry.file_size.and_then(|size| u64::try_from(size).ok()).filter(|&size| size > 0).or(self.size);
        let footer_offset = number(entry.footer_offset)?;
        match (&mut self.blocklets, entry.blocklet) {
            (Some(blocklets), Some(info)) => {
                let (id, min_max) = (blocklets.len(), entry.index.min_max);
                blocklets.push(IndexedBlocklet { id, rows: Some(rows), info: Some(info), min_max, footer_offset });
            }
            (blocklets, _) => {
                // An entry without blocklet describes the whole file. The bounds of several such entries are not
                // combined.
                let is_only = blocklets.as_ref().is_some_and(Vec::is_empty);
                *blocklets = None;
                self.min_max = entry.index.min_max.filter(|_| is_only);
            }
        }
        Ok(())
    }
}

/// Reads a merged index file: names and contents of index files.
///
/// # Errors
/// `Corrupt` where it is not a merged index file.
pub(crate) fn read_merged_index(bytes: &[u8], limits: &Limits) -> Result<Vec<(String, Vec<u8>)>> {
    let mut reader = ThriftReader::new(bytes, limits);
    let (names, parts): (MergedIndex, MergedIndex) = (reader.read_struct()?, reader.read_struct()?);
    let (names, parts) = (names.parts, parts.parts);
    if names.len() != parts.len() {
        return Err(Error::corrupt(format!("{} names of index files, and {} of these", names.len(), parts.len())));
    }
    let names = names.into_iter().map(|name| String::from_utf8_lossy(&name).into_owned());
    Ok(names.zip(parts).collect())
}

/// Reads the index file of a streaming segment: names of data files, with their committed sizes.
///
/// # Errors
/// `Corrupt` where it is not such a file.
pub(crate) fn read_stream_index(bytes: &[u8], limits: &Limits) -> Result<Vec<(String, u64)>> {
    let mut reader = ThriftReader::new(bytes, limits);
    let mut files = Vec::new();
    while !reader.is_empty() {
        let entry: BlockIndex = reader.read_struct()?;
        let size = entry.file_size.unwrap_or(0);
        let size = u64::try_from(size).map_err(|_| Error::corrupt(format!("a file of {size} bytes")))?;
        files.push((name(&entry.file)?.to_owned(), size));
    }
    Ok(files)
}

/// The name of a data file. Old index files have paths.
fn name(file: &str) -> Result<&str> {
    let name = file.rsplit(['/', '\\']).next().unwrap_or(file);
    check_name(name)?;
    Ok(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An entry with rows, file name and footer offset, without bounds, and optionally with a blocklet.
    pub(crate) fn entry(rows: u8, name: &str, has_blocklet: bool) -> Vec<u8> {
        let mut bytes = vec![0x16, rows * 2, 0x18, u8::try_from(name.len()).unwrap()];
        bytes.extend(name.bytes());
        bytes.extend([0x16, 14, 0x1c, 0]);
        if has_blocklet {
            bytes.extend([0x1c, 0x15, rows * 2, 0]);
        }
        bytes.push(0);
        bytes
    }

    /// A header of version 3 without columns.
    const HEADER: [u8; 5] = [0x15, 6, 0x19, 0x0c, 0];

    #[test]
    fn blocklets_are_counted_within_their_files() {
        let bytes = [&HEADER[..], &entry(3, "a", true), &entry(4, "b", true), &entry(5, "x/a", true)].concat();
        let found = read_index(&bytes, &Limits::default()).unwrap();
        let names: Vec<_> = found.iter().map(|file| (file.name.as_str(), file.rows, file.version)).collect();
        assert_eq!(names, [("a", 8, 3), ("b", 4, 3)]);
        let blocklets = found[0].blocklets.as_ref().unwrap();
        let ids: Vec<_> = blocklets.iter().map(|blocklet| (blocklet.id, blocklet.rows)).collect();
        assert_eq!(ids, [(0, Some(3)), (1, Some(5))]);
        for end in HEADER.len() + 1..bytes.len() {
            _ = read_index(&bytes[..end], &Limits::default());
        }
        assert!(read_index(&[&HEADER[..], &entry(3, "..", true)].concat(), &Limits::default()).is_err());
    }

    #[test]
    fn missing_blocklets_are_errors() {
        // An entry of a blocklet of one row and one chunk, in a file whose footer is at byte 7.
        let placed = |start: u8, end: u8| {
            let mut bytes = vec![0x16, 2, 0x18, 1, b'a', 0x16, 14, 0x1c, 0, 0x1c, 0x15, 2];
            bytes.extend([0x19, 0x16, start * 2, 0x19, 0x15, 2, 0x16, end * 2, 0x16, end * 2, 0, 0]);
            bytes
        };
        let entries = [placed(1, 3), placed(3, 4), placed(4, 7)];
        let read = |order: &[usize]| {
            let parts: Vec<u8> = order.iter().flat_map(|&at| entries[at].clone()).collect();
            read_index(&[&HEADER[..], &parts].concat(), &Limits::default())
        };
        assert_eq!(read(&[0, 1, 2]).unwrap()[0].rows, 3);
        for order in [&[0, 2][..], &[0, 1], &[2, 1, 0], &[0, 1, 1, 2], &[0, 0, 1, 2], &[0, 1, 2, 2]] {
            assert_eq!(read(order).unwrap_err().kind(), orcish_core::ErrorKind::Corrupt, "{order:?}");
        }
    }

    #[test]
    fn old_index_files_have_no_blocklets() {
        let bytes = [&HEADER[..], &entry(3, "a", false)].concat();
        let found = read_index(&bytes, &Limits::default()).unwrap();
        assert_eq!((found[0].rows, &found[0].blocklets), (3, &None));
        let streams = read_stream_index(&entry(3, "a", false), &Limits::default()).unwrap();
        assert_eq!(streams, [("a".to_owned(), 0)]);
    }

    #[test]
    fn merged_index_files() {
        let bytes = [0x19, 0x18, 1, b'a', 0, 0x19, 0x18, 2, b'x', b'y', 0];
        assert_eq!(read_merged_index(&bytes, &Limits::default()).unwrap(), [("a".to_owned(), b"xy".to_vec())]);
        assert!(read_merged_index(&[0x19, 0x18, 1, b'a', 0, 0x19, 0x08, 0], &Limits::default()).is_err());
    }
}
