//! Reads at offsets of files, which do not depend on the position of the file.

/// Reads `buffer.len()` bytes of a file, from byte `offset` on.
///
/// # Errors
/// Those of the system, and `UnexpectedEof` where the file ends before.
#[cfg(unix)]
#[expect(clippy::disallowed_types, reason = "the caller has opened the file")]
pub(super) fn read_exact_at(file: &std::fs::File, buffer: &mut [u8], offset: u64) -> std::io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, buffer, offset)
}

/// See the version for Unix.
#[cfg(windows)]
#[expect(clippy::disallowed_types, reason = "the caller has opened the file")]
pub(super) fn read_exact_at(file: &std::fs::File, buffer: &mut [u8], offset: u64) -> std::io::Result<()> {
    let mut filled = 0;
    while let Some(rest) = buffer.get_mut(filled..).filter(|rest| !rest.is_empty()) {
        match std::os::windows::fs::FileExt::seek_read(file, rest, offset + filled as u64)? {
            0 => return Err(std::io::ErrorKind::UnexpectedEof.into()),
            n => filled += n,
        }
    }
    Ok(())
}

/// Appends `length` bytes of a file, from byte `offset` on. The memory that they are read to is not zeroed before. A buffer with
/// capacity for more is filled with more, which is truncated.
///
/// # Errors
/// Those of [`read_exact_at`].
#[cfg(unix)]
#[expect(clippy::disallowed_types, reason = "the caller has opened the file")]
pub(super) fn append_exact_at(
    file: &std::fs::File,
    buffer: &mut Vec<u8>,
    offset: u64,
    length: usize,
) -> std::io::Result<()> {
    let (start, end) = (buffer.len(), buffer.len() + length);
    buffer.reserve_exact(length);
    while buffer.len() < end {
        let next = offset + (buffer.len() - start) as u64;
        match rustix::io::pread(file, rustix::buffer::spare_capacity(buffer), next) {
            Ok(0) => return Err(std::io::ErrorKind::UnexpectedEof.into()),
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    buffer.truncate(end);
    Ok(())
}

/// See the version for Unix.
#[cfg(not(unix))]
#[expect(clippy::disallowed_types, reason = "the caller has opened the file")]
pub(super) fn append_exact_at(
    file: &std::fs::File,
    buffer: &mut Vec<u8>,
    offset: u64,
    length: usize,
) -> std::io::Result<()> {
    let start = buffer.len();
    buffer.resize(start + length, 0);
    read_exact_at(file, buffer.split_at_mut(start).1, offset)
}
