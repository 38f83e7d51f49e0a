//! Tables that are no more than data files: those are all that there is of their schema.

use orcish::{Error, Limits, ReadAt, Result};

use super::format::FileHeader;
use super::schema::{Column, columns};
use super::thrift::Reader;

/// The ending of the name of a data file.
pub(crate) const DATA: &str = ".carbondata";
/// Bytes of a file that are read for its header at first.
const FIRST_READ: u64 = 64 << 10;

/// The columns of a data file of version 3, by its header.
///
/// # Errors
/// `Corrupt` where it has none, `LimitExceeded` where it is larger than allowed.
pub(crate) fn columns_of(source: &dyn ReadAt, limits: &Limits) -> Result<Vec<Column>> {
    let size = source.size()?;
    let mut length = FIRST_READ;
    loop {
        let end = length.min(limits.tail).min(size);
        let bytes = source.read_ranges(std::slice::from_ref(&(0..end)))?.pop().unwrap_or_default();
        match Reader::new(&bytes).structure::<FileHeader>() {
            Ok(header) if header.version == 3 && header.columns.len() <= limits.columns => {
                return columns(&header.columns);
            }
            Ok(header) if header.version == 3 => {
                let (found, most) = (header.columns.len(), limits.columns);
                return Err(Error::limit(format!("{found} columns, of {most} that are allowed")));
            }
            Ok(header) => return Err(Error::corrupt(format!("a header of version {}", header.version))),
            // It may be that the header goes on.
            Err(_) if end < size && end < limits.tail => length = length.saturating_mul(4),
            Err(_) if end < size => {
                return Err(Error::limit(format!("the header has more than {} bytes", limits.tail)));
            }
            Err(error) => return Err(error),
        }
    }
}

/// The name at the end of a location.
pub(crate) fn name_of(location: &str) -> &str {
    location.rsplit(['/', '\\']).next().unwrap_or(location)
}

/// The folder that a location is in.
pub(crate) fn folder_of(location: &str) -> &str {
    let name = name_of(location);
    location.get(..location.len() - name.len()).map_or("", |folder| folder.trim_end_matches(['/', '\\']))
}

/// The name of a data file without its ending, and without that of its compressor, which indexes may lack.
pub(crate) fn base(name: &str) -> &str {
    let name = name.strip_suffix(DATA).unwrap_or(name);
    match name.rsplit_once('.') {
        // A number of a segment may have a point too.
        Some((base, compressor)) if !compressor.contains('-') => base,
        _ => name,
    }
}

/// The name up to the time at its end, and that.
pub(crate) fn block_and_time(name: &str) -> Option<(&str, &str)> {
    base(name).rsplit_once('-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_names() {
        let name = "part-0-0_batchno0-0-0.1-17.snappy.carbondata";
        assert_eq!(base(name), "part-0-0_batchno0-0-0.1-17");
        assert_eq!(base("part-0-0_batchno0-0-0.1-17.carbondata"), base(name));
        assert_eq!(block_and_time(name), Some(("part-0-0_batchno0-0-0.1", "17")));
        assert_eq!((name_of("/a/b/c"), folder_of("/a/b/c"), folder_of("c")), ("c", "/a/b", ""));
    }

    #[test]
    fn headers_that_are_none() {
        let source = |bytes: &'static [u8]| orcish::MemorySource::new(bytes);
        let empty = columns_of(&source(&[0x15, 6, 0x19, 0x0c, 0]), &Limits::default());
        assert_eq!(empty.unwrap(), []);
        for bytes in [&b""[..], b"CARBONDATAVERSION#ColumnarFormatV2", &[0x15, 4, 0], &[0x15]] {
            assert!(columns_of(&source(bytes), &Limits::default()).is_err());
        }
    }
}
