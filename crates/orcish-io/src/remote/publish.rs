//! Files whose parts are there, completed or given up by whoever has their token.

use object_store::multipart::PartId;
use orcish_core::{Error, Result};

use super::mark::Mark;
use super::object::Object;
use super::process::wait;
use super::store::{Address, Uploads};
use crate::StorageOptions;
use crate::upload::{NOT_GIVEN_UP, Parts, UNPUBLISHABLE, Unpublished, elsewhere};

impl Object {
    /// Where the file is put together of parts.
    pub(super) fn uploads(&self) -> Result<Uploads> {
        let none = || Error::unsupported("the server takes no files in parts").in_file(&self.address.name);
        self.store.uploads.clone().ok_or_else(none)
    }

    /// The same file, if it is the one that was written.
    fn of(url: &str, file: &Unpublished, options: &StorageOptions) -> Result<Self> {
        let (this, written) = (Address::new(url, options)?, Address::new(&file.location, options)?);
        let is_same = this.bucket() == written.bucket() && this.writable_key()? == written.writable_key()?;
        if is_same { Object::new(this) } else { Err(elsewhere(url, file)) }
    }

    /// Makes the file appear, whose parts are there.
    async fn complete(&self, uploads: &Uploads, parts: &Parts, bytes: u64) -> Result<()> {
        let ids = parts.part.iter().map(|id| PartId { content_id: id.clone() }).collect();
        let Err(error) = uploads.store.complete_multipart(&self.key, &parts.id, ids).await else { return Ok(()) };
        // It may have been done before, or the answer been lost.
        let mark = Mark::of(&parts.mark);
        let is_done = self.head().await.is_ok_and(|found| {
            found.is_some_and(|found| found.meta.size == bytes && (mark.is_empty() || mark.is_in(&found.attributes)))
        });
        if is_done { Ok(()) } else { Err(self.fault(UNPUBLISHABLE, &error)) }
    }

    async fn abort(&self, uploads: &Uploads, parts: &Parts) -> Result<()> {
        match uploads.store.abort_multipart(&self.key, &parts.id).await {
            Ok(()) | Err(object_store::Error::NotFound { .. }) => Ok(()),
            Err(error) => Err(self.fault(NOT_GIVEN_UP, &error)),
        }
    }
}

/// As [`complete_upload`](crate::complete_upload).
pub(crate) fn complete(url: &str, file: &Unpublished, parts: &Parts, options: &StorageOptions) -> Result<()> {
    let object = Object::of(url, file, options)?;
    let (uploads, parts, bytes) = (object.uploads()?, parts.clone(), file.bytes);
    wait(async move { object.complete(&uploads, &parts, bytes).await }, options.check())
}

/// As [`abort_upload`](crate::abort_upload).
pub(crate) fn abort(url: &str, file: &Unpublished, parts: &Parts, options: &StorageOptions) -> Result<()> {
    let object = Object::of(url, file, options)?;
    let (uploads, parts) = (object.uploads()?, parts.clone());
    wait(async move { object.abort(&uploads, &parts).await }, options.check())
}

#[cfg(test)]
mod tests {
    use object_store::memory::InMemory;

    use super::super::sink::ObjectSink;
    use super::*;
    use crate::Sink as _;
    use crate::upload::{Waiting, Withheld};

    fn write(store: &InMemory, bytes: &[u8]) -> (Unpublished, Parts) {
        let withheld = Withheld::default();
        let object = Object::in_memory(store, "t/a.orc");
        let mut sink = ObjectSink::new(object, &StorageOptions::default(), Some(withheld.clone())).unwrap();
        bytes.chunks(3 << 20).for_each(|chunk| sink.write(chunk).unwrap());
        sink.finish().unwrap();
        drop(sink);
        let file = withheld.take().unwrap();
        let Waiting::Parts(parts) = file.waiting().clone() else { panic!() };
        (file, parts)
    }

    fn head(store: &InMemory) -> Option<u64> {
        let object = Object::in_memory(store, "t/a.orc");
        wait(async move { Ok(object.head().await.unwrap().map(|found| found.meta.size)) }, None).unwrap()
    }

    fn completed(store: &InMemory, file: &Unpublished, parts: &Parts) -> Result<()> {
        let (object, parts, bytes) = (Object::in_memory(store, "t/a.orc"), parts.clone(), file.bytes);
        wait(async move { object.complete(&object.uploads()?, &parts, bytes).await }, None)
    }

    #[test]
    fn a_file_appears_when_it_is_completed() {
        for size in [3, 20 << 20] {
            let store = InMemory::new();
            let (file, parts) = write(&store, &vec![7; size]);
            assert_eq!((file.bytes, parts.part.len()), (size as u64, size.div_ceil(8 << 20)));
            assert_eq!(file.location, "s3://bucket/t/a.orc");
            assert_eq!(head(&store), None);
            for _ in 0..3 {
                completed(&store, &file, &parts).unwrap();
                assert_eq!(head(&store), Some(size as u64));
            }
            // Another file of the same size is not taken for it.
            let (other, others) = write(&store, &vec![8; size]);
            completed(&store, &other, &others).unwrap();
            assert!(completed(&store, &file, &parts).is_err());
        }
    }

    #[test]
    fn a_file_that_is_given_up_cannot_appear() {
        let store = InMemory::new();
        let (file, parts) = write(&store, b"rows");
        let (object, given_up) = (Object::in_memory(&store, "t/a.orc"), parts.clone());
        wait(async move { object.abort(&object.uploads()?, &given_up).await }, None).unwrap();
        assert!(completed(&store, &file, &parts).is_err());
        assert_eq!(head(&store), None);
    }

    #[test]
    fn tokens_are_of_one_file() {
        let (file, _) = write(&InMemory::new(), b"rows");
        let of = |url: &str| Object::of(url, &file, &StorageOptions::default()).map(drop);
        of("s3a://bucket/t/a.orc").unwrap();
        for url in ["s3://bucket/t/b.orc", "s3://other/t/a.orc", "gs://bucket/t/a.orc"] {
            assert_eq!(of(url).unwrap_err().kind(), orcish_core::ErrorKind::InvalidArgument);
        }
    }
}
