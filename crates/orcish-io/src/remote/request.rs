//! Requests for byte ranges of objects.

use std::io;
use std::ops::Range;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use bytes::{Bytes, BytesMut};
use futures_util::TryStreamExt as _;
use object_store::path::Path;
use object_store::{Attribute, GetOptions, GetResult, ObjectMeta, ObjectStore};
use orcish_core::{Error, Result};

use super::address::Address;
use super::error::{is_range_unsupported, to_error};
use crate::messages::CANNOT_READ;
use crate::version::{FileVersion, VersionMark};

/// Maximum length of the name of a content encoding in messages, in characters.
const MAX_ENCODING_LENGTH: usize = 40;

/// A request for the bytes or the metadata of an object.
pub(super) struct Request {
    pub(super) store: Arc<dyn ObjectStore>,
    pub(super) key: Path,
    pub(super) options: GetOptions,
    pub(super) address: Arc<Address>,
    /// The version that responses have to be of, if it is known.
    pub(super) version: Option<FileVersion>,
}

/// The last bytes of an object.
pub(super) struct Suffix {
    pub(super) meta: ObjectMeta,
    pub(super) encoding: Option<String>,
    pub(super) bytes: Bytes,
}

impl Request {
    async fn send(&self) -> object_store::Result<GetResult> {
        self.store.get_opts(&self.key, self.options.clone()).await
    }

    /// Sends the request, and checks the version of the response. Servers may ignore conditions of requests.
    async fn send_checked(&self) -> Result<GetResult> {
        let result = match self.send().await {
            Err(error) if self.version.is_some() && is_range_unsupported(&error) => {
                Err(self.replaced().await.unwrap_or_else(|| self.to_error(&error)))
            }
            result => result.map_err(|error| self.to_error(&error)),
        }?;
        self.check(&result.meta)?;
        Ok(result)
    }

    fn check(&self, meta: &ObjectMeta) -> Result<()> {
        let Some(version) = &self.version else { return Ok(()) };
        version.check(&version_of(meta)).map_err(|error| error.in_file(&self.address.name))
    }

    /// The error for a file that was replaced by one without the range, which may be shorter. The metadata are requested.
    async fn replaced(&self) -> Option<Error> {
        let options = GetOptions { head: true, ..GetOptions::default() };
        let now = self.store.get_opts(&self.key, options).await.ok()?;
        self.check(&now.meta).err()
    }

    fn to_error(&self, error: &object_store::Error) -> Error {
        if let object_store::Error::NotSupported { .. } = error {
            let text =
                "the server gives whole files only, no ranges of bytes: read the file as bytes, or through fsspec";
            return Error::io(CANNOT_READ, io::Error::other(text)).in_file(&self.address.name);
        }
        to_error(CANNOT_READ, error, &self.address)
    }

    /// Requests the metadata, and the content encoding.
    pub(super) async fn head(mut self) -> Result<(ObjectMeta, Option<String>)> {
        self.options.head = true;
        let result = self.send_checked().await?;
        let encoding = content_encoding(&result);
        Ok((result.meta, encoding))
    }

    /// Requests a range, and fills `buffer` with it.
    pub(super) async fn read(self, buffer: BytesMut) -> Result<(ObjectMeta, BytesMut)> {
        let result = self.send_checked().await?;
        let meta = result.meta.clone();
        let buffer = fill(buffer, result, &self.address, |error| self.to_error(error)).await?;
        Ok((meta, buffer))
    }

    /// Requests the last `length` bytes. `None` if the server does not support such requests.
    pub(super) async fn read_suffix(self, length: u64) -> Result<Option<Suffix>> {
        let result = match self.send().await {
            Err(error) if is_range_unsupported(&error) => return Ok(None),
            result => result.map_err(|error| self.to_error(&error))?,
        };
        self.check(&result.meta)?;
        let (meta, encoding) = (result.meta.clone(), content_encoding(&result));
        // The size in the response is not trusted beyond the requested length.
        let buffer = BytesMut::zeroed(usize::try_from(meta.size.min(length)).unwrap_or(usize::MAX));
        let bytes = fill(buffer, result, &self.address, |error| self.to_error(error)).await?;
        Ok(Some(Suffix { meta, encoding, bytes: bytes.freeze() }))
    }
}

/// The version of an object.
pub(super) fn version_of(meta: &ObjectMeta) -> FileVersion {
    let mut version = FileVersion::of_size(meta.size);
    // Servers without the header have the time 0.
    let time = SystemTime::from(meta.last_modified);
    if time != UNIX_EPOCH {
        version = version.with_time(time);
    }
    match &meta.e_tag {
        Some(tag) => version.with_mark(VersionMark::EntityTag, tag),
        None => version,
    }
}

/// Fills `buffer` with the body of a response. Bytes beyond the buffer are not read.
///
/// # Errors
/// `Io` if the body has another length than the buffer.
pub(super) async fn fill(
    mut buffer: BytesMut,
    response: GetResult,
    address: &Address,
    to_error: impl Fn(&object_store::Error) -> Error,
) -> Result<BytesMut> {
    let wrong_length = || {
        let error = io::Error::other("the server gave another number of bytes than it was asked for");
        Error::io(CANNOT_READ, error).in_file(&address.name)
    };
    let mut chunks = response.into_stream();
    let mut filled = 0;
    while let Some(chunk) = chunks.try_next().await.map_err(|error| to_error(&error))? {
        let target = buffer.get_mut(filled..filled + chunk.len()).ok_or_else(wrong_length)?;
        target.copy_from_slice(&chunk);
        filled += chunk.len();
    }
    if filled < buffer.len() { Err(wrong_length()) } else { Ok(buffer) }
}

/// Splits `range` into ranges of at most `max_length` bytes.
pub(super) fn split_range(range: &Range<u64>, max_length: u64) -> impl Iterator<Item = Range<u64>> + use<> {
    let end = range.end;
    let part_at = move |start: u64| start..start.saturating_add(max_length).min(end);
    let parts = std::iter::successors(Some(part_at(range.start)), move |last| Some(part_at(last.end)));
    parts.take_while(|part| !part.is_empty())
}

/// The content encoding of a response, other than `identity`.
fn content_encoding(response: &GetResult) -> Option<String> {
    let name = response.attributes.get(&Attribute::ContentEncoding)?.trim();
    (!name.is_empty() && name != "identity").then(|| name.chars().take(MAX_ENCODING_LENGTH).collect())
}
