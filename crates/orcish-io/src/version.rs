//! Versions of files: what tells a file apart from another one that has its name later.

use std::collections::BTreeMap;
use std::io;
use std::time::{SystemTime, UNIX_EPOCH};

use orcish_core::{Error, Result};
use prost::Message as _;

use crate::messages::{CANNOT_READ, REPLACED};
use crate::proto;

/// A kind of statement of a file system or store about the version of a file, the most exact one first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum VersionMark {
    /// The strong entity tag of HTTP and of stores. Weak ones (`W/…`) are ignored: different bytes may have the same.
    EntityTag = 1,
    /// The generation of an object.
    Generation = 2,
    /// The id of a version of an object.
    VersionId = 3,
    /// A checksum.
    Checksum = 4,
    /// The modification time in nanoseconds since 1970.
    Modified = 5,
    /// The modification time, in the words of a file system.
    ModifiedText = 6,
    /// The creation time, in the words of a file system.
    Created = 7,
}

impl VersionMark {
    const ALL: [Self; 7] = [
        Self::EntityTag,
        Self::Generation,
        Self::VersionId,
        Self::Checksum,
        Self::Modified,
        Self::ModifiedText,
        Self::Created,
    ];
}

/// The number of a file on its device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Inode {
    /// A number of the device and of the machine.
    device: u32,
    number: u64,
}

/// The version of a file: what its file system states about it. The value tells the file apart from another one that has
/// its name later, and goes with what was read of the file, such as a tail, into other processes.
///
/// ```
/// use orcish_io::{FileVersion, VersionMark};
///
/// let opened = FileVersion::of_size(5).with_mark(VersionMark::EntityTag, "\"a\"");
/// let later = FileVersion::from_bytes(&opened.to_bytes())?.with_mark(VersionMark::Created, "today");
/// assert!(opened.check(&later).is_ok());
/// let error = opened.check(&FileVersion::of_size(6)).unwrap_err();
/// assert!(error.to_string().contains("the file was replaced"));
/// # Ok::<(), orcish_core::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FileVersion {
    size: Option<u64>,
    marks: BTreeMap<VersionMark, String>,
    inode: Option<Inode>,
}

impl FileVersion {
    /// A version of which only the size in bytes is known.
    pub fn of_size(size: u64) -> Self {
        FileVersion { size: Some(size), ..FileVersion::default() }
    }

    /// The version of a local file.
    pub(crate) fn of_metadata(metadata: &std::fs::Metadata) -> Self {
        let version = FileVersion { inode: inode(metadata), ..Self::of_size(metadata.len()) };
        match metadata.modified() {
            Ok(time) => version.with_time(time),
            Err(_) => version,
        }
    }

    /// Adds a statement. A weak entity tag is ignored.
    #[must_use]
    pub fn with_mark(mut self, mark: VersionMark, value: impl Into<String>) -> Self {
        let value = value.into();
        if mark != VersionMark::EntityTag || !value.starts_with("W/") {
            self.marks.insert(mark, value);
        }
        self
    }

    /// Adds the modification time.
    #[must_use]
    pub fn with_time(self, time: SystemTime) -> Self {
        let text = match time.duration_since(UNIX_EPOCH) {
            Ok(after) => after.as_nanos().to_string(),
            Err(before) => format!("-{}", before.duration().as_nanos()),
        };
        self.with_mark(VersionMark::Modified, text)
    }

    /// The version without its times.
    #[cfg(feature = "object-store")]
    pub(crate) fn without_times(mut self) -> Self {
        self.marks.retain(|mark, _| *mark < VersionMark::Modified);
        self
    }

    /// The size in bytes, if it is known.
    pub fn size(&self) -> Option<u64> {
        self.size
    }

    /// The value of a statement.
    pub fn mark(&self, mark: VersionMark) -> Option<&str> {
        self.marks.get(&mark).map(String::as_str)
    }

    /// Checks that a file is still this version, given its version now. The sizes decide, and the most exact statement
    /// that both have; and, for local files of one machine, the number of the file on its device.
    ///
    /// # Errors
    /// `Io` if it is another version.
    pub fn check(&self, now: &FileVersion) -> Result<()> {
        let is_other_size = self.size.zip(now.size).is_some_and(|(opened, now)| opened != now);
        let decisive = self.marks.iter().find_map(|(mark, value)| Some((value, now.marks.get(mark)?)));
        let inodes = self.inode.zip(now.inode).filter(|(opened, now)| opened.device == now.device);
        let is_other = is_other_size
            || decisive.is_some_and(|(opened, now)| opened.trim_matches('"') != now.trim_matches('"'))
            || inodes.is_some_and(|(opened, now)| opened.number != now.number);
        if is_other { Err(replaced()) } else { Ok(()) }
    }

    /// Serializes the version, in some ten bytes for each statement.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mark = |(kind, value): (&VersionMark, &String)| proto::Mark { kind: *kind as u32, value: value.clone() };
        proto::FileVersion {
            size: self.size,
            marks: self.marks.iter().map(mark).collect(),
            device: self.inode.map(|inode| inode.device),
            inode: self.inode.map(|inode| inode.number),
        }
        .encode_to_vec()
    }

    /// Deserializes the result of [`to_bytes`](Self::to_bytes). Statements of unknown kinds are ignored.
    ///
    /// # Errors
    /// `InvalidArgument` if the bytes are not a version.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let version = proto::FileVersion::decode(bytes)
            .map_err(|error| Error::invalid("this is no version of a file").with_source(error))?;
        let known = |mark: proto::Mark| {
            let kind = VersionMark::ALL.into_iter().find(|kind| *kind as u32 == mark.kind)?;
            Some((kind, mark.value))
        };
        let inode = version.device.zip(version.inode).map(|(device, number)| Inode { device, number });
        Ok(FileVersion { size: version.size, marks: version.marks.into_iter().filter_map(known).collect(), inode })
    }
}

/// The error for a file that another one has replaced.
pub(crate) fn replaced() -> Error {
    Error::io(CANNOT_READ, io::Error::other(REPLACED))
}

/// The number of a local file. `None` where a file may have another number later, as in some file systems without a
/// device: of a network, or in user space.
#[cfg(unix)]
fn inode(metadata: &std::fs::Metadata) -> Option<Inode> {
    use std::hash::{DefaultHasher, Hash as _, Hasher as _};
    use std::os::unix::fs::MetadataExt as _;
    use std::sync::OnceLock;

    /// The machine since its last start.
    static MACHINE: OnceLock<String> = OnceLock::new();
    let major = (metadata.dev() >> 8) & 0xfff | (metadata.dev() >> 32) & 0xffff_f000;
    if cfg!(target_os = "linux") && major == 0 {
        return None;
    }
    // Without a name, the device alone tells machines apart.
    let boot_id = || std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_else(|_| String::new());
    let mut hasher = DefaultHasher::new();
    (MACHINE.get_or_init(boot_id), metadata.dev()).hash(&mut hasher);
    let device = u32::try_from(hasher.finish() >> 32).ok()?;
    Some(Inode { device, number: metadata.ino() })
}

#[cfg(not(unix))]
fn inode(_: &std::fs::Metadata) -> Option<Inode> {
    None
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use orcish_core::ErrorKind;
    use proptest::prelude::*;

    use super::*;

    fn version(marks: &[(VersionMark, &str)]) -> FileVersion {
        marks.iter().fold(FileVersion::of_size(5), |version, (mark, value)| version.with_mark(*mark, *value))
    }

    #[test]
    fn the_most_exact_statement_of_both_decides() {
        use VersionMark::{Created, EntityTag, Modified};
        let same = |opened: &FileVersion, now: &FileVersion| opened.check(now).is_ok() && now.check(opened).is_ok();
        assert!(same(&FileVersion::default(), &version(&[(EntityTag, "a")])));
        assert!(same(
            &version(&[(EntityTag, "a"), (Modified, "1")]),
            &version(&[(EntityTag, "\"a\""), (Modified, "2")])
        ));
        assert!(same(&version(&[(Modified, "1")]), &version(&[(EntityTag, "a"), (Modified, "1")])));
        assert!(same(&version(&[(EntityTag, "W/1")]), &version(&[(EntityTag, "W/2")])));
        assert!(!same(&version(&[(EntityTag, "W/1"), (Created, "1")]), &version(&[(EntityTag, "1"), (Created, "2")])));
        assert!(!same(&version(&[(EntityTag, "a"), (Created, "1")]), &version(&[(EntityTag, "b"), (Created, "1")])));
        assert!(!same(&FileVersion::of_size(5), &FileVersion::of_size(6)));
        let before = FileVersion::default().with_time(UNIX_EPOCH - Duration::from_nanos(1));
        assert!(!same(&before, &FileVersion::default().with_time(UNIX_EPOCH + Duration::from_nanos(1))));
        let error = FileVersion::of_size(5).check(&FileVersion::of_size(6)).unwrap_err();
        assert_eq!((error.kind(), error.to_string().contains(REPLACED)), (ErrorKind::Io, true));
    }

    #[test]
    fn numbers_of_files_count_on_one_device() {
        let of = |device, number| FileVersion { inode: Some(Inode { device, number }), ..version(&[]) };
        assert!(of(1, 1).check(&of(1, 1)).is_ok());
        assert!(of(1, 1).check(&of(2, 7)).is_ok());
        assert!(of(1, 1).check(&of(1, 7)).is_err());
        assert!(of(1, 1).check(&version(&[])).is_ok());
    }

    proptest! {
        #[test]
        fn serialized_versions_are_the_same(
            size: Option<u64>,
            marks in proptest::collection::btree_map(0..7_usize, "[a-z\"]{0,9}", 0..4),
            inode: Option<(u32, u64)>,
        ) {
            let inode = inode.map(|(device, number)| Inode { device, number });
            let version = marks.into_iter().fold(FileVersion { size, inode, ..FileVersion::default() }, |version, (kind, value)| {
                version.with_mark(VersionMark::ALL[kind], value)
            });
            prop_assert_eq!(FileVersion::from_bytes(&version.to_bytes()).unwrap(), version);
        }
    }

    #[test]
    fn other_bytes_are_no_version() {
        assert_eq!(FileVersion::from_bytes(&[0xff; 9]).unwrap_err().kind(), ErrorKind::InvalidArgument);
    }
}
