//! Sources of objects and files of HTTP servers.

#[cfg(test)]
mod tests;

use std::fmt;
use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use bytes::{Bytes, BytesMut};
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use object_store::path::Path;
use object_store::{GetOptions, GetRange, ObjectMeta, ObjectStore};
use once_cell::race::OnceBox;
use orcish_core::cancel::CancelCheck;
use orcish_core::process::PerProcess;
use orcish_core::{Error, OrInternal as _, Result};

use super::address::Address;
use super::request::{Request, Suffix, split_range, version_of};
use super::runtime::block_on;
use super::store::Store;
use crate::ranges::slice_range;
use crate::source::{ReadAt, checked_length};
use crate::storage::StorageOptions;
use crate::version::{FileVersion, VersionMark};

/// The least age of a modification time that responses are compared by. Some servers give the time of the response.
const MIN_AGE: Duration = Duration::from_secs(60);

/// A file of S3, Google Cloud Storage, Azure, or an HTTP server.
///
/// Requests run on a thread that all files of a process share; calls block until they complete. A forked process
/// creates its own thread and connections.
pub struct ObjectSource {
    address: Arc<Address>,
    key: Path,
    store: PerProcess<Result<Arc<dyn ObjectStore>>>,
    cancel_check: Option<CancelCheck>,
    /// The version according to the first response.
    version: OnceBox<FileVersion>,
    /// The version that all further responses have to be of: an expected one, or that of the first response.
    checked: OnceBox<FileVersion>,
    /// The offset and the bytes of the first read from the end of the file.
    tail: OnceBox<(u64, Bytes)>,
    /// The content encoding of the responses.
    encoding: OnceBox<String>,
    /// The whole file, if the remainder before the tail is smaller than the gap of coalesced requests.
    whole_file: OnceBox<Bytes>,
}

impl fmt::Debug for ObjectSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ObjectSource").field(&self.address.name).finish()
    }
}

impl ObjectSource {
    /// Creates a source of the file at `url`, without a request. See [`open`](crate::open) for the schemes.
    ///
    /// Options of a store are read from the environment variables `AWS_…`, `GOOGLE_…` and `AZURE_…`, and overridden by
    /// `options`. URLs of S3, Google Cloud Storage and Azure contain the key without percent-encoding. URLs of HTTP
    /// servers are percent-encoded, and may contain credentials and a query.
    ///
    /// # Errors
    /// `InvalidArgument` if the URL or an option is invalid.
    pub fn open(url: &str, options: &StorageOptions) -> Result<Self> {
        let address = Address::try_new(url, options)?;
        let store = Store::connect(&address)?.objects;
        Self::try_new(address, store, options)
    }

    /// Creates a source of the object at `path` of a store, without a request. A child of a fork cannot use it. Of
    /// `options`, only those of requests can be given, whose keys begin with `orcish.`
    ///
    /// ```
    /// use std::sync::Arc;
    ///
    /// use orcish_io::object_store::memory::InMemory;
    /// use orcish_io::object_store::path::Path;
    /// use orcish_io::{ObjectSource, ReadAt as _, StorageOptions};
    ///
    /// let store = Arc::new(InMemory::new());
    /// let source = ObjectSource::of_store(store, Path::from("a.orc"), &StorageOptions::default())?;
    /// assert_eq!(source.name(), "a.orc");
    /// # Ok::<(), orcish_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// `InvalidArgument` if the path is empty, or an option is another one or invalid.
    pub fn of_store(store: Arc<dyn ObjectStore>, path: Path, options: &StorageOptions) -> Result<Self> {
        let address = Address::of_store(&path, options)?;
        Ok(Self::of_object(address, path, store, options))
    }

    fn try_new(address: Address, store: Arc<dyn ObjectStore>, options: &StorageOptions) -> Result<Self> {
        let key = address.key()?;
        Ok(Self::of_object(address, key, store, options))
    }

    fn of_object(address: Address, key: Path, store: Arc<dyn ObjectStore>, options: &StorageOptions) -> Self {
        ObjectSource {
            key,
            address: Arc::new(address),
            store: PerProcess::with_value(Ok(store)),
            cancel_check: options.cancel_check().cloned(),
            version: OnceBox::new(),
            checked: OnceBox::new(),
            tail: OnceBox::new(),
            encoding: OnceBox::new(),
            whole_file: OnceBox::new(),
        }
    }

    /// A request for a range, or for the whole file.
    fn request(&self, range: Option<GetRange>) -> Result<Request> {
        let connect = || Ok(Store::connect(&self.address)?.objects);
        let store = self.store.get_or_init(connect).clone()?;
        let version = self.checked.get().cloned();
        let if_match = version.as_ref().and_then(|version| version.mark(VersionMark::EntityTag)).map(str::to_owned);
        let options = GetOptions { range, if_match, ..GetOptions::default() };
        Ok(Request { store, key: self.key.clone(), options, address: self.address.clone(), version })
    }

    /// The size according to a request for metadata, which tells the version, too.
    fn head(&self) -> Result<u64> {
        let (meta, encoding) = block_on(self.request(None)?.head(), self.cancel_check.as_ref())?;
        self.set_encoding(encoding);
        self.set_version(&meta);
        Ok(meta.size)
    }

    /// Keeps the version of the first response.
    fn set_version(&self, meta: &ObjectMeta) {
        let version = self.version.get_or_init(|| Box::new(version_of(meta)));
        self.checked.get_or_init(|| {
            let modified = SystemTime::from(meta.last_modified);
            // The clock of the server may be ahead.
            let is_time_of_file = SystemTime::now().duration_since(modified).is_ok_and(|age| age >= MIN_AGE);
            Box::new(if is_time_of_file { version.clone() } else { version.clone().without_times() })
        });
    }

    /// The size, if an expected version or a response has told it.
    fn known_size(&self) -> Option<u64> {
        [&self.version, &self.checked].into_iter().find_map(|version| version.get()?.size())
    }

    fn set_encoding(&self, encoding: Option<String>) {
        if let Some(encoding) = encoding {
            self.encoding.get_or_init(|| Box::new(encoding));
        }
    }

    /// The bytes of a range, if they are cached.
    fn cached(&self, range: &Range<u64>) -> Option<Bytes> {
        if range.is_empty() {
            return Some(Bytes::new());
        }
        match (self.whole_file.get(), self.tail.get()) {
            (Some(whole), _) => slice_range(whole, 0, range),
            (None, Some((offset, bytes))) => slice_range(bytes, *offset, range),
            (None, None) => None,
        }
    }

    /// Reads and caches the whole file if it is small. Returns whether it is.
    fn cache_small_file(&self) -> Result<bool> {
        let is_small = |(offset, _): &&(u64, Bytes)| *offset <= self.coalesce_gap();
        let Some((offset, tail)) = self.tail.get().filter(is_small) else { return Ok(false) };
        if self.whole_file.get().is_none() {
            let head = self.fetch(std::slice::from_ref(&(0..*offset)))?.pop();
            let head = head.or_internal("a request of a range gives no bytes")?;
            self.whole_file.get_or_init(|| Box::new([&*head, &**tail].concat().into()));
        }
        Ok(true)
    }

    /// Requests ranges concurrently. Ranges longer than the part size are split.
    fn fetch(&self, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        let mut parts = Vec::new();
        for (index, range) in ranges.iter().enumerate() {
            let size = self.known_size().unwrap_or(u64::MAX);
            let mut buffer = BytesMut::zeroed(checked_length(range, size)?);
            for part in split_range(range, self.address.options.part_size) {
                // The lengths of the parts add up to the length of the buffer.
                let length = usize::try_from(part.end - part.start).unwrap_or(usize::MAX).min(buffer.len());
                parts.push((index, self.request(Some(GetRange::Bounded(part)))?, buffer.split_to(length)));
            }
        }
        let count = ranges.len();
        let address = self.address.clone();
        let concurrency = self.address.options.concurrency;
        let read = async move {
            let parts = parts.into_iter().map(|(index, request, buffer)| async move {
                let (meta, bytes) = request.read(buffer).await?;
                Ok::<_, Error>((index, meta, bytes))
            });
            let mut parts = stream::iter(parts).buffered(concurrency);
            let mut buffers = vec![BytesMut::new(); count];
            let mut first_meta = None;
            while let Some((index, meta, part)) = parts.try_next().await? {
                // Parts of the first read have nothing else to be compared with.
                let first = first_meta.get_or_insert_with(|| meta.clone());
                let is_same = version_of(first).without_times().check(&version_of(&meta));
                is_same.map_err(|error| error.in_file(&address.name))?;
                if let Some(buffer) = buffers.get_mut(index) {
                    // The parts are adjacent in memory, so that nothing is copied.
                    buffer.unsplit(part);
                }
            }
            Ok((buffers, first_meta))
        };
        let (buffers, first_meta) = block_on(read, self.cancel_check.as_ref())?;
        if let Some(meta) = first_meta {
            self.set_version(&meta);
        }
        Ok(buffers.into_iter().map(BytesMut::freeze).collect())
    }
}

impl ReadAt for ObjectSource {
    fn name(&self) -> &str {
        &self.address.name
    }

    fn size(&self) -> Result<u64> {
        match self.known_size() {
            Some(size) => Ok(size),
            None => self.head(),
        }
    }

    fn read_ranges(&self, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        let mut cached: Vec<_> = ranges.iter().map(|range| self.cached(range)).collect();
        if cached.contains(&None) && self.cache_small_file()? {
            cached = ranges.iter().map(|range| self.cached(range)).collect();
        }
        let missing = ranges.iter().zip(&cached).filter(|(_, cached)| cached.is_none());
        let missing: Vec<_> = missing.map(|(range, _)| range.clone()).collect();
        let mut fetched = if missing.is_empty() { Vec::new() } else { self.fetch(&missing)? }.into_iter();
        Ok(cached.into_iter().filter_map(|bytes| bytes.or_else(|| fetched.next())).collect())
    }

    fn read_suffix(&self, length: u64) -> Result<(u64, Bytes)> {
        let request = self.request(Some(GetRange::Suffix(length)))?;
        let (size, bytes) = match block_on(request.read_suffix(length), self.cancel_check.as_ref())? {
            Some(Suffix { meta, encoding, bytes }) => {
                self.set_encoding(encoding);
                self.set_version(&meta);
                (meta.size, bytes)
            }
            // Azure and some servers do not support suffix requests, and others reject them for empty files.
            None => {
                let size = self.size()?;
                (size, self.read_range(size.saturating_sub(length)..size)?)
            }
        };
        if let Some(offset) = size.checked_sub(bytes.len() as u64) {
            self.tail.get_or_init(|| Box::new((offset, bytes.clone())));
        }
        Ok((size, bytes))
    }

    fn version(&self) -> Result<Option<FileVersion>> {
        Ok(self.version.get().or_else(|| self.checked.get()).cloned())
    }

    fn expect_version(&self, version: &FileVersion) -> Result<()> {
        let checked = self.checked.get_or_init(|| Box::new(version.clone()));
        version.check(self.version.get().unwrap_or(checked)).map_err(|error| error.in_file(&self.address.name))
    }

    fn check_version(&self) -> Result<()> {
        let is_unchecked = self.version.get().is_none() && self.checked.get().is_some();
        if is_unchecked { self.head().map(drop) } else { Ok(()) }
    }

    fn corruption_hint(&self) -> Option<String> {
        // A content encoding alone is no error, because some files are labeled wrongly.
        let encoding = self.encoding.get()?;
        Some(format!("the server gives it in the content encoding {encoding}, which is not undone"))
    }

    fn first_read(&self) -> u64 {
        self.address.options.first_read
    }

    fn coalesce_gap(&self) -> u64 {
        self.address.options.coalesce_gap
    }

    fn concurrency(&self) -> usize {
        self.address.options.concurrency
    }
}
