//! Files of object stores and HTTP servers.

mod client;
mod fault;
mod files;
mod mark;
mod object;
mod paged;
mod part_sizes;
mod parts;
mod process;
mod publish;
mod sink;
mod store;
#[cfg(test)]
mod tests;
mod tree;

use std::fmt;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use bytes::{Bytes, BytesMut};
use fault::{another, fault, is_refusal};
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use object_store::path::Path;
use object_store::{Attribute, GetOptions, GetRange, GetResult, ObjectMeta, ObjectStore};

use crate::ranges::part_of;
use crate::source::{ReadAt, within};
use crate::storage::StorageOptions;
pub(super) use files::{StorePlace, delete};
use orcish_core::cancel::Check;
use orcish_core::{Error, Result};
use process::{PerProcess, wait};
pub(super) use publish::{abort, complete};
pub(super) use sink::ObjectSink;
use store::Address;
pub(super) use tree::StoreTree;

const UNREADABLE: &str = "cannot be read";

/// Most characters of the name of an encoding.
const MOST_OF_A_NAME: usize = 40;

/// A file of S3, Google Cloud Storage, Azure, or an HTTP server.
///
/// Requests are made by a thread of their own, which all files of the process share; calls wait for it. After a
/// fork the child makes its own thread and connections.
pub struct ObjectSource {
    address: Arc<Address>,
    key: Path,
    store: PerProcess<Result<Arc<dyn ObjectStore>>>,
    check: Option<Check>,
    /// What the first answer said.
    known: OnceLock<Known>,
    /// Where the end of the file begins that was read first, and its bytes.
    end: OnceLock<(u64, Bytes)>,
    /// How the server says that the bytes are encoded, beside what the file is.
    encoding: OnceLock<String>,
    /// The whole file, where what is before the end is less than another request costs.
    whole: OnceLock<Bytes>,
}

/// What is known of a file.
#[derive(Debug, Clone)]
struct Known {
    size: u64,
    /// With it in a request, the bytes of another file in its place are not taken for those of this one.
    version: Option<String>,
}

impl Known {
    fn new(meta: &ObjectMeta) -> Self {
        // Those that begin with `W/` do not stand for the same bytes.
        let version = meta.e_tag.clone().filter(|tag| !tag.starts_with("W/"));
        Known { size: meta.size, version }
    }

    /// Whether an answer may be of the same file. Servers need not look at the version in a request.
    fn is(&self, meta: &ObjectMeta) -> bool {
        let found = Known::new(meta);
        let is_other = |(a, b): (&String, &String)| a != b;
        self.size == found.size && !self.version.as_ref().zip(found.version.as_ref()).is_some_and(is_other)
    }
}

impl fmt::Debug for ObjectSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ObjectSource").field(&self.address.name).finish()
    }
}

impl ObjectSource {
    /// The file at `url`; see [`open`](crate::open) for the schemes. Nothing is asked of its server yet.
    ///
    /// Options of a store are taken from `AWS_…`, `GOOGLE_…` and `AZURE_…` variables of the environment, then from
    /// `options`. URLs of S3, Google Cloud Storage and Azure have the key of the file as it is, those of HTTP are
    /// percent-encoded and may have credentials and a query.
    ///
    /// # Errors
    /// `InvalidArgument` when the URL or an option is wrong.
    pub fn open(url: &str, options: &StorageOptions) -> Result<Self> {
        let address = Address::new(url, options)?;
        let store = address.connect()?;
        Self::new(address, store, options)
    }

    fn new(address: Address, store: Arc<dyn ObjectStore>, options: &StorageOptions) -> Result<Self> {
        let key = address.key()?;
        if key.as_ref().is_empty() {
            return Err(Error::invalid("the URL names no file").in_file(&address.name));
        }
        Ok(ObjectSource {
            address: Arc::new(address),
            key,
            store: PerProcess::new(Ok(store)),
            check: options.check().cloned(),
            known: OnceLock::new(),
            end: OnceLock::new(),
            encoding: OnceLock::new(),
            whole: OnceLock::new(),
        })
    }

    /// The request for all bytes, or for some.
    fn request(&self, range: Option<GetRange>) -> Result<Request> {
        let store = self.store.get(&|| self.address.connect()).clone()?;
        let if_match = self.known.get().and_then(|known| known.version.clone());
        let options = GetOptions { range, if_match, ..GetOptions::default() };
        Ok(Request { store, key: self.key.clone(), options, address: self.address.clone() })
    }

    /// Asks for the size.
    fn head(&self) -> Result<&Known> {
        if let Some(known) = self.known.get() {
            return Ok(known);
        }
        let mut request = self.request(None)?;
        request.options.head = true;
        let head = async move {
            let answer = request.send().await.map_err(|error| request.fault(&error))?;
            Ok((encoding(&answer), answer.meta))
        };
        let (encoding, meta) = wait(head, self.check())?;
        self.keep_encoding(encoding);
        Ok(self.known.get_or_init(|| Known::new(&meta)))
    }

    fn keep_encoding(&self, encoding: Option<String>) {
        if let Some(encoding) = encoding {
            self.encoding.get_or_init(|| encoding);
        }
    }

    fn check(&self) -> Option<&Check> {
        self.check.as_ref()
    }

    /// The bytes of a range, if they have been read before and kept.
    fn kept(&self, range: &Range<u64>) -> Option<Bytes> {
        if range.is_empty() {
            return Some(Bytes::new());
        }
        match (self.whole.get(), self.end.get()) {
            (Some(whole), _) => part_of(whole, 0, range),
            (None, Some((at, bytes))) => part_of(bytes, *at, range),
            (None, None) => None,
        }
    }

    /// Reads a small file as a whole, and keeps it. Gives whether it is one.
    fn keep_whole(&self) -> Result<bool> {
        let Some((at, end)) = self.end.get().filter(|(at, _)| *at <= self.gap()) else { return Ok(false) };
        if self.whole.get().is_none() {
            let start = self.fetch(std::slice::from_ref(&(0..*at)))?.pop().unwrap_or_default();
            self.whole.get_or_init(|| [&*start, &**end].concat().into());
        }
        Ok(true)
    }

    /// The bytes of ranges, side by side and in parts.
    fn fetch(&self, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        let mut parts = Vec::new();
        for (at, range) in ranges.iter().enumerate() {
            let size = self.known.get().map_or(u64::MAX, |known| known.size);
            let mut rest = BytesMut::zeroed(within(range, size)?);
            for part in split(range, self.address.options.part_size) {
                // No longer than what is left, as the lengths of the parts are that of the range.
                let length = usize::try_from(part.end - part.start).unwrap_or(usize::MAX).min(rest.len());
                parts.push((at, self.request(Some(GetRange::Bounded(part)))?, rest.split_to(length)));
            }
        }
        let count = ranges.len();
        let known = self.known.get().cloned();
        let is_known = known.is_some();
        let address = self.address.clone();
        let concurrency = self.address.options.concurrency;
        let read = async move {
            let parts = parts.into_iter().map(|(at, request, room)| async move {
                let (meta, bytes) = request.read(room).await?;
                Ok::<_, Error>((at, meta, bytes))
            });
            let mut parts = stream::iter(parts).buffered(concurrency);
            let mut whole = vec![BytesMut::new(); count];
            let mut first = None;
            while let Some((at, meta, part)) = parts.try_next().await? {
                if known.as_ref().is_some_and(|known| !known.is(&meta)) {
                    return Err(another(&address));
                }
                if let Some(whole) = whole.get_mut(at) {
                    // Neighbours in memory: nothing is copied.
                    whole.unsplit(part);
                }
                first.get_or_insert(meta);
            }
            Ok((whole, first))
        };
        let (whole, first) = wait(read, self.check())?;
        if let Some(meta) = first.filter(|_| !is_known) {
            self.known.get_or_init(|| Known::new(&meta));
        }
        Ok(whole.into_iter().map(BytesMut::freeze).collect())
    }
}

/// Ranges of at most `most` bytes that make up `range`.
fn split(range: &Range<u64>, most: u64) -> impl Iterator<Item = Range<u64>> + use<> {
    let end = range.end;
    let next = move |start: u64| start..start.saturating_add(most).min(end);
    std::iter::successors(Some(next(range.start)), move |last| Some(next(last.end))).take_while(|part| !part.is_empty())
}

/// How a server says that the bytes of an answer are encoded.
fn encoding(answer: &GetResult) -> Option<String> {
    let name = answer.attributes.get(&Attribute::ContentEncoding)?.trim();
    (!name.is_empty() && name != "identity").then(|| name.chars().take(MOST_OF_A_NAME).collect())
}

/// What is known of a file from the answer that has its end.
struct End {
    meta: ObjectMeta,
    encoding: Option<String>,
    bytes: Bytes,
}

/// A request on its way.
struct Request {
    store: Arc<dyn ObjectStore>,
    key: Path,
    options: GetOptions,
    address: Arc<Address>,
}

impl Request {
    async fn send(&self) -> object_store::Result<GetResult> {
        self.store.get_opts(&self.key, self.options.clone()).await
    }

    fn fault(&self, error: &object_store::Error) -> Error {
        if let object_store::Error::NotSupported { .. } = error {
            let error = std::io::Error::other(
                "the server gives whole files only, no ranges of bytes: read the file as bytes, or through fsspec",
            );
            return Error::io(UNREADABLE, error).in_file(&self.address.name);
        }
        fault(UNREADABLE, error, &self.address)
    }

    /// Sends the request and fills `room` with the answer.
    async fn read(self, room: BytesMut) -> Result<(ObjectMeta, BytesMut)> {
        let result = self.send().await.map_err(|error| self.fault(&error))?;
        let meta = result.meta.clone();
        let room = fill(room, result, &self.address, |error| self.fault(error)).await?;
        Ok((meta, room))
    }

    /// Sends the request, which is for the last `length` bytes, if it is not refused, and gives all of the answer.
    async fn read_end(self, length: u64) -> Result<Option<End>> {
        let result = match self.send().await {
            Err(error) if is_refusal(&error) => return Ok(None),
            result => result.map_err(|error| self.fault(&error))?,
        };
        let (meta, encoding) = (result.meta.clone(), encoding(&result));
        // No more than was asked for, whatever the answer says of itself.
        let room = BytesMut::zeroed(usize::try_from(meta.size.min(length)).unwrap_or(usize::MAX));
        let bytes = fill(room, result, &self.address, |error| self.fault(error)).await?;
        Ok(Some(End { meta, encoding, bytes: bytes.freeze() }))
    }
}

/// Fills `room` with the bytes of an answer. One of another length is an error, as it is an answer to another question;
/// what a server sends beyond `room` is not read.
async fn fill(
    mut room: BytesMut,
    answer: GetResult,
    address: &Address,
    fault: impl Fn(&object_store::Error) -> Error,
) -> Result<BytesMut> {
    let other = || {
        let error = std::io::Error::other("the server gave another number of bytes than it was asked for");
        Error::io(UNREADABLE, error).in_file(&address.name)
    };
    let mut chunks = answer.into_stream();
    let mut filled = 0;
    while let Some(chunk) = chunks.try_next().await.map_err(|error| fault(&error))? {
        let place = room.get_mut(filled..filled + chunk.len()).ok_or_else(other)?;
        place.copy_from_slice(&chunk);
        filled += chunk.len();
    }
    if filled < room.len() { Err(other()) } else { Ok(room) }
}

impl ReadAt for ObjectSource {
    fn name(&self) -> &str {
        &self.address.name
    }

    fn size(&self) -> Result<u64> {
        Ok(self.head()?.size)
    }

    fn read_ranges(&self, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        let mut known: Vec<_> = ranges.iter().map(|range| self.kept(range)).collect();
        if known.contains(&None) && self.keep_whole()? {
            known = ranges.iter().map(|range| self.kept(range)).collect();
        }
        let missing = ranges.iter().zip(&known).filter(|(_, known)| known.is_none()).map(|(range, _)| range.clone());
        let missing: Vec<_> = missing.collect();
        let mut fetched = if missing.is_empty() { Vec::new() } else { self.fetch(&missing)? }.into_iter();
        Ok(known.into_iter().filter_map(|bytes| bytes.or_else(|| fetched.next())).collect())
    }

    fn read_suffix(&self, length: u64) -> Result<(u64, Bytes)> {
        let request = self.request(Some(GetRange::Suffix(length)))?;
        let (size, bytes) = match wait(request.read_end(length), self.check())? {
            Some(End { meta, encoding, bytes }) => {
                self.keep_encoding(encoding);
                (self.known.get_or_init(|| Known::new(&meta)).size, bytes)
            }
            // Azure, empty files, and servers that know no such requests.
            None => {
                let size = self.size()?;
                let range = size.saturating_sub(length)..size;
                (size, self.read_ranges(std::slice::from_ref(&range))?.pop().unwrap_or_default())
            }
        };
        if let Some(start) = size.checked_sub(bytes.len() as u64) {
            self.end.get_or_init(|| (start, bytes.clone()));
        }
        Ok((size, bytes))
    }

    fn remark(&self) -> Option<String> {
        // Some files bear an encoding that they do not have, so that it is no error of itself.
        let encoding = self.encoding.get()?;
        Some(format!("the server gives it in the content encoding {encoding}, which is not undone"))
    }

    fn first_read(&self) -> u64 {
        self.address.options.first_read
    }

    fn gap(&self) -> u64 {
        self.address.options.coalesce_gap
    }

    fn requests(&self) -> usize {
        self.address.options.concurrency
    }
}
