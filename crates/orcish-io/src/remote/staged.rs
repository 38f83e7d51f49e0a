//! Staged files of object stores: multipart uploads that are completed or aborted by any process.

use object_store::multipart::PartId;
use orcish_core::Result;

use super::address::Address;
use super::error::to_upload_error;
use super::object::Object;
use super::runtime::block_on;
use super::store::MultipartClient;
use super::write_id::WriteId;
use crate::messages::{CANNOT_ABORT, CANNOT_PUBLISH};
use crate::staged::{StagedFile, UploadedParts};
use crate::storage::StorageOptions;

impl Object {
    /// The object of a staged file.
    ///
    /// # Errors
    /// `InvalidArgument` if the file was staged for another URL.
    fn of_staged(url: &str, file: &StagedFile, options: &StorageOptions) -> Result<Self> {
        let (address, staged) = (Address::try_new(url, options)?, Address::try_new(&file.location, options)?);
        if address.bucket() != staged.bucket() {
            return Err(file.wrong_location(url));
        }
        let key = address.writable_key()?;
        if key == staged.writable_key()? { Object::try_new(address, key) } else { Err(file.wrong_location(url)) }
    }

    /// Completes a multipart upload of `size` bytes.
    async fn complete_multipart(&self, client: &MultipartClient, parts: &UploadedParts, size: u64) -> Result<()> {
        let ids = parts.part_ids.iter().map(|id| PartId { content_id: id.clone() }).collect();
        let completed = client.store.complete_multipart(&self.key, &parts.upload_id, ids).await;
        let Err(error) = completed else { return Ok(()) };
        // The upload may have been completed before, by another process or by a request whose response was lost.
        let id = WriteId::from_text(&parts.write_id);
        let is_completed = self.head().await.is_ok_and(|head| {
            head.is_some_and(|head| head.meta.size == size && (id.is_empty() || id.matches(&head.attributes)))
        });
        if is_completed { Ok(()) } else { Err(to_upload_error(CANNOT_PUBLISH, &error, &self.address)) }
    }

    async fn abort_multipart(&self, client: &MultipartClient, parts: &UploadedParts) -> Result<()> {
        match client.store.abort_multipart(&self.key, &parts.upload_id).await {
            Ok(()) | Err(object_store::Error::NotFound { .. }) => Ok(()),
            Err(error) => Err(self.to_error(CANNOT_ABORT, &error)),
        }
    }
}

/// Publishes a staged file. See [`complete_upload`](crate::complete_upload).
pub(crate) fn complete(url: &str, file: &StagedFile, parts: &UploadedParts, options: &StorageOptions) -> Result<()> {
    let object = Object::of_staged(url, file, options)?;
    let (client, parts, size) = (object.multipart()?, parts.clone(), file.bytes);
    block_on(async move { object.complete_multipart(&client, &parts, size).await }, options.cancel_check())
}

/// Removes a staged file. See [`abort_upload`](crate::abort_upload).
pub(crate) fn abort(url: &str, file: &StagedFile, parts: &UploadedParts, options: &StorageOptions) -> Result<()> {
    let object = Object::of_staged(url, file, options)?;
    let (client, parts) = (object.multipart()?, parts.clone());
    block_on(async move { object.abort_multipart(&client, &parts).await }, options.cancel_check())
}

#[cfg(test)]
mod tests {
    use object_store::memory::InMemory;

    use super::super::sink::ObjectSink;
    use super::*;
    use crate::sink::Sink as _;
    use crate::staged::{Data, Publication, Staging};

    fn write(store: &InMemory, bytes: &[u8]) -> (StagedFile, UploadedParts) {
        let staging = Staging::default();
        let object = Object::in_memory(store, "t/a.orc");
        let mut sink =
            ObjectSink::try_new(object, Publication::Staged(staging.clone()), &StorageOptions::default()).unwrap();
        bytes.chunks(3 << 20).for_each(|chunk| sink.write(chunk).unwrap());
        sink.finish().unwrap();
        drop(sink);
        let file = staging.take().unwrap();
        let Data::Parts(parts) = file.data().clone() else { panic!() };
        (file, parts)
    }

    fn head(store: &InMemory) -> Option<u64> {
        let object = Object::in_memory(store, "t/a.orc");
        block_on(async move { Ok(object.head().await.unwrap().map(|found| found.meta.size)) }, None).unwrap()
    }

    fn completed(store: &InMemory, file: &StagedFile, parts: &UploadedParts) -> Result<()> {
        let (object, parts, bytes) = (Object::in_memory(store, "t/a.orc"), parts.clone(), file.bytes);
        block_on(async move { object.complete_multipart(&object.multipart()?, &parts, bytes).await }, None)
    }

    #[test]
    fn a_file_is_published_when_it_is_completed() {
        for size in [3, 20 << 20] {
            let store = InMemory::new();
            let (file, parts) = write(&store, &vec![7; size]);
            assert_eq!((file.bytes, parts.part_ids.len()), (size as u64, size.div_ceil(8 << 20)));
            assert_eq!(file.location, "s3://bucket/t/a.orc");
            assert_eq!(head(&store), None);
            for _ in 0..3 {
                completed(&store, &file, &parts).unwrap();
                assert_eq!(head(&store), Some(size as u64));
            }
            // Another file of the same size has another write ID.
            let (other, others) = write(&store, &vec![8; size]);
            completed(&store, &other, &others).unwrap();
            assert!(completed(&store, &file, &parts).is_err());
        }
    }

    #[test]
    fn an_aborted_file_cannot_be_published() {
        let store = InMemory::new();
        let (file, parts) = write(&store, b"rows");
        let (object, aborted) = (Object::in_memory(&store, "t/a.orc"), parts.clone());
        block_on(async move { object.abort_multipart(&object.multipart()?, &aborted).await }, None).unwrap();
        assert!(completed(&store, &file, &parts).is_err());
        assert_eq!(head(&store), None);
    }

    #[test]
    fn a_staged_file_belongs_to_one_location() {
        let (file, _) = write(&InMemory::new(), b"rows");
        let of = |url: &str| Object::of_staged(url, &file, &StorageOptions::default()).map(drop);
        of("s3a://bucket/t/a.orc").unwrap();
        for url in ["s3://bucket/t/b.orc", "s3://other/t/a.orc", "gs://bucket/t/a.orc"] {
            assert_eq!(of(url).unwrap_err().kind(), orcish_core::ErrorKind::InvalidArgument);
        }
    }
}
