//! Files of a store that get another key.

use std::time::Instant;

use futures_util::future::try_join;
use object_store::{CopyMode, CopyOptions, GetOptions, GetRange, ObjectMeta, ObjectStore as _, ObjectStoreExt as _};

use super::object::{Object, cannot, pause};
use super::process::wait;
use super::store::Address;
use crate::error::{Error, Result};
use crate::io::StorageOptions;
use crate::io::folder::{UNMOVABLE, gone};

/// How often it is begun anew where others change the same files.
const ATTEMPTS: u32 = 5;

/// As [`move_file`](crate::move_file): a copy that the store makes, and a deletion.
pub(in crate::io) fn move_file(from: &str, to: &str, overwrite: bool, options: &StorageOptions) -> Result<bool> {
    let (from, to) = (Address::new(from, options)?, Address::new(to, options)?);
    if from.bucket() != to.bucket() {
        let text = format!("{UNMOVABLE} to {}: files are moved within a bucket", to.name);
        return Err(Error::invalid(text).in_file(&from.name));
    }
    let (from, to) = (Object::new(from)?, Object::new(to)?);
    wait(async move { from.move_to(&to, overwrite).await }, options.check())
}

impl Object {
    async fn status(&self) -> Result<Option<ObjectMeta>> {
        let found = self.head().await.map_err(|error| self.fault(UNMOVABLE, &error))?;
        Ok(found.map(|found| found.meta))
    }

    /// Gives the file the key of another; says whether it was there still.
    async fn move_to(&self, to: &Self, overwrite: bool) -> Result<bool> {
        let mut attempt = 0;
        loop {
            let (source, target) = try_join(self.status(), to.status()).await?;
            let Some(source) = source else {
                return if target.is_some() { Ok(false) } else { Err(gone().in_file(&self.address.name)) };
            };
            if self.key == to.key {
                return Ok(false);
            }
            if let Some(target) = target.filter(|_| !overwrite) {
                // A move that was cut short between its two steps has left both.
                if !self.is_same(&source, to, &target).await? {
                    return Err(to.exists(UNMOVABLE));
                }
                self.remove().await?;
                return Ok(true);
            }
            let size = source.size;
            match self.copy(to, size, overwrite).await {
                Ok(()) => {
                    self.remove().await?;
                    return Ok(true);
                }
                // One of the files has come or gone meanwhile.
                Err(Copy::Changed(_)) if attempt < ATTEMPTS => pause(&mut attempt).await,
                Err(Copy::Changed(error) | Copy::Failed(error)) => return Err(error),
            }
        }
    }

    /// Has the store copy the file.
    async fn copy(&self, to: &Self, size: u64, overwrite: bool) -> Result<(), Copy> {
        if !overwrite && size == 0 {
            // Of nothing there are no parts, in which S3 copies where nothing is to be replaced.
            return to.create(bytes::Bytes::new(), UNMOVABLE).await.map_err(Copy::Failed);
        }
        let mode = if overwrite { CopyMode::Overwrite } else { CopyMode::Create };
        let copied = self.store.objects.copy_opts(&self.key, &to.key, CopyOptions::new().with_mode(mode)).await;
        copied.map_err(|error| match error {
            error if cannot(&error) => Copy::Failed(to.no_conditions(UNMOVABLE)),
            object_store::Error::AlreadyExists { .. } | object_store::Error::Precondition { .. } if !overwrite => {
                Copy::Changed(to.exists(UNMOVABLE))
            }
            error @ object_store::Error::NotFound { .. } => Copy::Changed(self.fault(UNMOVABLE, &error)),
            error => Copy::Failed(self.fault(UNMOVABLE, &error)),
        })?;
        if self.address.url.is_azure() { to.wait_for(size).await.map_err(Copy::Failed) } else { Ok(()) }
    }

    /// Waits until a copy is whole, which Azure may only have begun.
    async fn wait_for(&self, size: u64) -> Result<()> {
        let (start, mut attempt) = (Instant::now(), 0);
        while self.status().await?.is_some_and(|found| found.size != size) {
            if start.elapsed() > self.address.options.retry_timeout {
                let error = std::io::Error::new(std::io::ErrorKind::TimedOut, "the store has not copied it yet");
                return Err(Error::io(UNMOVABLE, error).in_file(&self.address.name));
            }
            pause(&mut attempt).await;
        }
        Ok(())
    }

    /// Whether two files have the same bytes.
    async fn is_same(&self, own: &ObjectMeta, other: &Self, found: &ObjectMeta) -> Result<bool> {
        if own.size != found.size {
            return Ok(false);
        }
        let tags = own.e_tag.as_ref().zip(found.e_tag.as_ref());
        if tags.is_some_and(|(own, found)| own == found) {
            return Ok(true);
        }
        // Copies may have other tags.
        let mut start = 0;
        while start < own.size {
            let end = start.saturating_add(self.address.options.part_size).min(own.size);
            if self.part(start..end).await? != other.part(start..end).await? {
                return Ok(false);
            }
            start = end;
        }
        Ok(true)
    }

    async fn part(&self, range: std::ops::Range<u64>) -> Result<bytes::Bytes> {
        let options = GetOptions { range: Some(GetRange::Bounded(range)), ..GetOptions::default() };
        let fault = |error| self.fault(UNMOVABLE, &error);
        let found = self.store.objects.get_opts(&self.key, options).await.map_err(fault)?;
        found.bytes().await.map_err(fault)
    }

    /// Deletes the file, if it is there.
    async fn remove(&self) -> Result<()> {
        match self.store.objects.delete(&self.key).await {
            Ok(()) | Err(object_store::Error::NotFound { .. }) => Ok(()),
            Err(error) => Err(self.fault(UNMOVABLE, &error)),
        }
    }
}

/// Why a file has not been copied.
enum Copy {
    /// It may go another way now.
    Changed(Error),
    Failed(Error),
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use object_store::memory::InMemory;

    use super::*;

    fn put(store: &InMemory, key: &str, bytes: &'static [u8]) {
        let object = Object::in_memory(store, key);
        wait(async move { object.replace(Bytes::from_static(bytes), "no").await }, None).unwrap();
    }

    /// What is there, by one letter a file.
    fn there(store: &InMemory, keys: [&str; 2]) -> [Option<Bytes>; 2] {
        keys.map(|key| {
            let object = Object::in_memory(store, key);
            let read = async move {
                let Some(size) = object.status().await?.map(|found| found.size) else { return Ok(None) };
                if size == 0 { Ok(Some(Bytes::new())) } else { object.part(0..size).await.map(Some) }
            };
            wait(read, None).unwrap()
        })
    }

    fn moved(store: &InMemory, from: &str, to: &str, overwrite: bool) -> Result<bool> {
        let (from, to) = (Object::in_memory(store, from), Object::in_memory(store, to));
        wait(async move { from.move_to(&to, overwrite).await }, None)
    }

    fn kind(error: &Error) -> Option<std::io::ErrorKind> {
        let source = std::error::Error::source(error)?.downcast_ref::<std::io::Error>()?;
        Some(source.kind())
    }

    #[test]
    fn a_move_is_done_once() {
        for bytes in [&b"one"[..], b""] {
            for overwrite in [true, false] {
                let store = InMemory::new();
                put(&store, "a", bytes);
                assert!(moved(&store, "a", "t/b", overwrite).unwrap());
                assert_eq!(there(&store, ["a", "t/b"]), [None, Some(Bytes::from_static(bytes))]);
                assert!(!moved(&store, "a", "t/b", overwrite).unwrap());
                assert!(!moved(&store, "t/b", "t/b", overwrite).unwrap());
                assert_eq!(there(&store, ["a", "t/b"]), [None, Some(Bytes::from_static(bytes))]);
                let error = moved(&store, "a", "c", overwrite).unwrap_err();
                assert_eq!(kind(&error), Some(std::io::ErrorKind::NotFound));
            }
        }
    }

    #[test]
    fn what_is_there_is_replaced_only_when_it_is_said() {
        let store = InMemory::new();
        put(&store, "a", b"one");
        for other in [&b"two"[..], b"other"] {
            put(&store, "b", other);
            assert_eq!(kind(&moved(&store, "a", "b", false).unwrap_err()), Some(std::io::ErrorKind::AlreadyExists));
            assert_eq!(there(&store, ["a", "b"]), [Some(Bytes::from_static(b"one")), Some(Bytes::from_static(other))]);
        }
        assert!(moved(&store, "a", "b", true).unwrap());
        // The same bytes are what a move that was cut short has left.
        put(&store, "a", b"one");
        assert!(moved(&store, "a", "b", false).unwrap());
        assert_eq!(there(&store, ["a", "b"]), [None, Some(Bytes::from_static(b"one"))]);
    }
}
