//! Files that are written, and do not appear until somebody says so: in another process, or on another machine.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use orcish_core::{Error, Result};
use prost::Message as _;

use crate::durable::{create_folders, folder_of, sync_folder_of};
use crate::location::{Location, parse};
use crate::proto;
use crate::sink::{FileSink, Sink, behind_links, place};
use crate::source::ReadAt;
use crate::storage::StorageOptions;

pub(super) const UNPUBLISHABLE: &str = "cannot be published";
pub(super) const NOT_GIVEN_UP: &str = "cannot be given up";

/// A file that is whole, and does not appear yet. As [bytes](Self::to_bytes) it can be handed to another process: whoever
/// has them makes it appear by [`complete_upload`], or removes it by [`abort_upload`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unpublished {
    /// Where it is to be: an absolute path, or a URL without credentials.
    pub location: String,
    /// Length in bytes.
    pub bytes: u64,
    /// Number of rows, as far as its writer has said it.
    pub rows: u64,
    /// Number of stripes, as far as its writer has said it.
    pub stripes: u64,
    waiting: Waiting,
}

#[cfg(feature = "object-store")]
pub(super) use proto::Parts;
pub(super) use proto::unpublished::Waiting;

impl Unpublished {
    pub(super) fn new(location: String, bytes: u64, waiting: Waiting) -> Self {
        Unpublished { location, bytes, rows: 0, stripes: 0, waiting }
    }

    #[cfg(all(test, feature = "object-store"))]
    pub(super) fn waiting(&self) -> &Waiting {
        &self.waiting
    }

    /// A token for other processes: some hundred bytes, and some forty more for each part of the file.
    pub fn to_bytes(&self) -> Vec<u8> {
        let Unpublished { location, bytes, rows, stripes, waiting } = self.clone();
        proto::Unpublished { location, bytes, rows, stripes, waiting: Some(waiting) }.encode_to_vec()
    }

    /// The file that [`to_bytes`](Self::to_bytes) gave the token of.
    ///
    /// # Errors
    /// `InvalidArgument` when it is none.
    pub fn from_bytes(token: &[u8]) -> Result<Self> {
        let wrong = || Error::invalid("this is no token of a file that has been written and not published");
        let proto::Unpublished { location, bytes, rows, stripes, waiting } =
            proto::Unpublished::decode(token).map_err(|error| wrong().with_source(error))?;
        let waiting = waiting.filter(|_| !location.is_empty()).ok_or_else(wrong)?;
        Ok(Unpublished { location, bytes, rows, stripes, waiting })
    }
}

/// Where the file is found once its sink has been finished.
#[derive(Debug, Clone, Default)]
pub struct Withheld(Arc<Mutex<Option<Unpublished>>>);

impl Withheld {
    /// The file, the first time that this is called after [`finish`](Sink::finish).
    pub fn take(&self) -> Option<Unpublished> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    pub(super) fn put(&self, file: Unpublished) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(file);
    }
}

/// A sink for a file at `location` that does not appear when it is [finished](Sink::finish); it is
/// [withheld](Withheld::take) then. Before, dropping the sink leaves nothing.
///
/// On the local file system the file waits under a hidden name in the folder `staging`, which has to be on the same file
/// system and is made where it is missing, or else in its own folder. Stores take no notice of `staging`: they hold parts
/// that nobody sees, in an upload of several parts that is not completed, until it is aborted, or for as long as they are
/// told to (for a week with Azure).
///
/// # Errors
/// Those of [`create`](crate::create).
pub fn create_unpublished(
    location: &str,
    staging: Option<&str>,
    options: &StorageOptions,
) -> Result<(Box<dyn Sink>, Withheld)> {
    let withheld = Withheld::default();
    let sink: Box<dyn Sink> = match parse(location) {
        Location::Local(path) => Box::new(LocalUpload::create(path, staging, withheld.clone())?),
        #[cfg(feature = "object-store")]
        Location::Remote(_) => Box::new(crate::remote::ObjectSink::create(location, options, Some(withheld.clone()))?),
        #[cfg(not(feature = "object-store"))]
        Location::Remote(url) => return Err(url.no_feature(options)),
    };
    Ok((sink, withheld))
}

/// Makes a file appear at `location`, for which it was written, in place of what is there. Once more does nothing more.
///
/// Folders that are missing are made. That a file has been published before is known by what its store keeps with it; on
/// the local file system and with Azure, by its name and size.
///
/// # Errors
/// `InvalidArgument` when the file was written for another location; of kind `Io` when it cannot appear, such as where it
/// has been given up, or replaced since it appeared.
pub fn complete_upload(location: &str, file: &Unpublished, options: &StorageOptions) -> Result<()> {
    match (parse(location), &file.waiting) {
        (Location::Local(path), Waiting::Path(waiting)) => {
            let target = own_target(location, path, file)?;
            let fault = |error| Error::io(UNPUBLISHABLE, error).in_file(location);
            publish(Path::new(waiting), &target, file.bytes).map_err(fault)
        }
        #[cfg(feature = "object-store")]
        (Location::Remote(_), Waiting::Parts(parts)) => crate::remote::complete(location, file, parts, options),
        #[cfg(not(feature = "object-store"))]
        (Location::Remote(url), _) => Err(url.no_feature(options)),
        _ => Err(elsewhere(location, file)),
    }
}

/// Removes a file that does not appear yet; one that is gone is no error, and one that has appeared stays. Azure removes
/// parts by itself only, after a week.
///
/// # Errors
/// `InvalidArgument` when the file was written for another location; of kind `Io` when it cannot be removed.
pub fn abort_upload(location: &str, file: &Unpublished, options: &StorageOptions) -> Result<()> {
    match (parse(location), &file.waiting) {
        (Location::Local(path), Waiting::Path(waiting)) => {
            own_target(location, path, file)?;
            match fs::remove_file(waiting) {
                Err(error) if !is_missing(&error) => Err(Error::io(NOT_GIVEN_UP, error).in_file(location)),
                _ => Ok(()),
            }
        }
        #[cfg(feature = "object-store")]
        (Location::Remote(_), Waiting::Parts(parts)) => crate::remote::abort(location, file, parts, options),
        #[cfg(not(feature = "object-store"))]
        (Location::Remote(url), _) => Err(url.no_feature(options)),
        _ => Err(elsewhere(location, file)),
    }
}

/// The error where a file is to appear where it was not written for.
pub(super) fn elsewhere(location: &str, file: &Unpublished) -> Error {
    let name = crate::open::display_name(location);
    Error::invalid(format!("the file was written for {}", file.location)).in_file(&name)
}

/// Whether there is nothing of a name.
pub(super) fn is_missing(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}

/// The path that a file was written for, behind links.
fn own_target(location: &str, path: PathBuf, file: &Unpublished) -> Result<PathBuf> {
    let fault = |error| Error::io(UNPUBLISHABLE, error).in_file(location);
    if text(location, &std::path::absolute(&path).map_err(fault)?)? != file.location {
        return Err(elsewhere(location, file));
    }
    behind_links(path).map_err(fault)
}

fn publish(waiting: &Path, target: &Path, bytes: u64) -> io::Result<()> {
    // Where it does not wait any more, no folders are made.
    let placed = fs::symlink_metadata(waiting).and_then(|_| create_folders(folder_of(target)));
    let Err(error) = placed.and_then(|()| place(waiting, target)) else {
        sync_folder_of(waiting);
        return Ok(());
    };
    let is_there = fs::metadata(target).is_ok_and(|found| found.is_file() && found.len() == bytes);
    if is_missing(&error) && is_there { Ok(()) } else { Err(error) }
}

fn text(location: &str, path: &Path) -> Result<String> {
    let text = path.to_str().map(str::to_owned);
    text.ok_or_else(|| Error::invalid("the path is not UTF-8").in_file(location))
}

/// A file of the local file system that stays under its other name.
struct LocalUpload {
    file: FileSink,
    location: String,
    bytes: u64,
    withheld: Withheld,
}

impl LocalUpload {
    fn create(path: PathBuf, staging: Option<&str>, withheld: Withheld) -> Result<Self> {
        let name = path.to_string_lossy().into_owned();
        let absolute =
            std::path::absolute(&path).map_err(|error| Error::io("cannot be written", error).in_file(&name))?;
        let location = text(&name, &absolute)?;
        let staging = match staging.map(parse) {
            None => None,
            Some(Location::Local(folder)) => Some(folder),
            Some(Location::Remote(url)) => {
                let text = format!("it cannot wait at {}: that is no local folder", url.name());
                return Err(Error::invalid(text).in_file(&name));
            }
        };
        Ok(LocalUpload { file: FileSink::create_in(path, staging.as_deref())?, location, bytes: 0, withheld })
    }
}

impl Sink for LocalUpload {
    fn name(&self) -> &str {
        self.file.name()
    }

    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.bytes += bytes.len() as u64;
        self.file.write(bytes)
    }

    fn reopen(&mut self) -> Result<Option<Arc<dyn ReadAt>>> {
        self.file.reopen()
    }

    fn settle(&mut self) -> Result<()> {
        self.file.settle()
    }

    fn finish(&mut self) -> Result<()> {
        let waiting = self.file.withhold()?;
        let waiting = text(self.file.name(), &waiting).inspect_err(|_| _ = fs::remove_file(&waiting))?;
        self.withheld.put(Unpublished::new(self.location.clone(), self.bytes, Waiting::Path(waiting)));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use orcish_core::ErrorKind::{InvalidArgument, Unsupported};

    use super::*;

    fn folder(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("orcish-upload-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        folder
    }

    fn write(location: &str, staging: Option<&str>, bytes: &[u8]) -> Unpublished {
        let (mut sink, withheld) = create_unpublished(location, staging, &StorageOptions::default()).unwrap();
        sink.write(bytes).unwrap();
        assert_eq!(withheld.take(), None);
        sink.finish().unwrap();
        drop(sink);
        let file = withheld.take().unwrap();
        Unpublished::from_bytes(&file.to_bytes()).unwrap()
    }

    fn complete(location: &str, file: &Unpublished) -> Result<()> {
        complete_upload(location, file, &StorageOptions::default())
    }

    fn is_not_found(error: &Error) -> bool {
        let source = std::error::Error::source(error).and_then(|source| source.downcast_ref::<io::Error>());
        source.is_some_and(|source| source.kind() == io::ErrorKind::NotFound)
    }

    #[test]
    fn a_file_waits_until_it_is_published() {
        let folder = folder("publish");
        let path = |name: &str| folder.join(name).to_str().unwrap().to_owned();
        let (target, staging) = (path("t/dt=1/a.orc"), path("_staging/7"));
        let file = write(&target, Some(&staging), b"rows");
        assert_eq!((file.bytes, file.location.as_str()), (4, target.as_str()));
        assert!(!folder.join("t").exists());
        let waiting: Vec<_> = fs::read_dir(&staging).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert!(waiting.len() == 1 && waiting[0].to_str().unwrap().starts_with('.'));
        for _ in 0..3 {
            complete(&target, &file).unwrap();
            assert_eq!(fs::read(&target).unwrap(), b"rows");
        }
        assert_eq!(fs::read_dir(&staging).unwrap().count(), 0);
        // What has appeared stays, and what was put there since is not taken for it.
        abort_upload(&target, &file, &StorageOptions::default()).unwrap();
        assert_eq!(fs::read(&target).unwrap(), b"rows");
        fs::write(&target, "other").unwrap();
        assert!(is_not_found(&complete(&target, &file).unwrap_err()));
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_file_that_is_given_up_is_gone() {
        let folder = folder("abort");
        let target = folder.join("a.orc").to_str().unwrap().to_owned();
        let file = write(&target, None, b"rows");
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
        for _ in 0..2 {
            abort_upload(&target, &file, &StorageOptions::default()).unwrap();
        }
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 0);
        assert!(is_not_found(&complete(&target, &file).unwrap_err()));
        let (mut sink, withheld) = create_unpublished(&target, None, &StorageOptions::default()).unwrap();
        sink.write(b"rows").unwrap();
        drop(sink);
        assert_eq!((withheld.take(), fs::read_dir(&folder).unwrap().count()), (None, 0));
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn files_are_published_where_they_were_written_for() {
        let folder = folder("elsewhere");
        let path = |name: &str| folder.join(name).to_str().unwrap().to_owned();
        let file = write(&path("a.orc"), None, b"rows");
        // Without stores, all that is known of such a location is that it is in none of them.
        let in_a_store = if cfg!(feature = "object-store") { InvalidArgument } else { Unsupported };
        for (location, kind) in [(path("b.orc"), InvalidArgument), ("s3://bucket/a.orc".to_owned(), in_a_store)] {
            for result in [complete(&location, &file), abort_upload(&location, &file, &StorageOptions::default())] {
                assert_eq!(result.unwrap_err().kind(), kind, "{location}");
            }
        }
        complete(&format!("file://{}", path("a.orc")), &file).unwrap();
        let waits = |staging| create_unpublished(&path("c.orc"), Some(staging), &StorageOptions::default()).map(drop);
        assert_eq!(waits("s3://bucket/t").unwrap_err().kind(), InvalidArgument);
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn what_is_no_token_is_refused() {
        for token in [&b""[..], b"no token", &[0xff; 40], &[10, 1, b'a']] {
            assert_eq!(Unpublished::from_bytes(token).unwrap_err().kind(), InvalidArgument);
        }
    }
}
