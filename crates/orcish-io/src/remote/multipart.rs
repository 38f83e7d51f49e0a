//! Multipart uploads.

use std::sync::Arc;

use bytes::Bytes;
use object_store::multipart::PartId;
use object_store::path::Path;
use object_store::{Error, MultipartId, PutMultipartOptions, PutPayload, Result};
use tokio::task::JoinSet;

use super::part_sizes::PartSizes;
use super::store::MultipartClient;
use super::write_id::WriteId;

/// A multipart upload that has been created in a store.
#[derive(Debug, Clone)]
pub(super) struct MultipartUpload {
    pub(super) id: MultipartId,
    /// Empty if the upload has no write ID, or the store does not support metadata of multipart uploads.
    pub(super) write_id: WriteId,
}

/// The parts of a multipart upload.
#[derive(Debug, Default)]
pub(super) struct PartUploads {
    active: JoinSet<Result<(usize, PartId)>>,
    completed: Vec<(usize, PartId)>,
    /// The number of active and completed parts.
    pub(super) count: usize,
}

impl MultipartUpload {
    /// Creates a multipart upload, on request with a write ID.
    pub(super) async fn create(client: &MultipartClient, key: &Path, with_write_id: bool) -> Result<Self> {
        if with_write_id {
            let write_id = WriteId::random();
            let attributes = write_id.to_attributes();
            let options = PutMultipartOptions { attributes, ..PutMultipartOptions::default() };
            match client.store.create_multipart_opts(key, options).await {
                Err(Error::NotSupported { .. }) => {}
                id => return Ok(MultipartUpload { id: id?, write_id }),
            }
        }
        Ok(MultipartUpload { id: client.store.create_multipart(key).await?, write_id: WriteId::default() })
    }

    /// Splits bytes into parts and starts their uploads. At most `concurrency` parts of the first size are uploaded
    /// concurrently; the call waits while there are more.
    pub(super) async fn send(
        &self,
        client: &MultipartClient,
        key: &Path,
        parts: &mut PartUploads,
        mut bytes: Bytes,
        sizes: PartSizes,
        concurrency: usize,
    ) -> Result<()> {
        while !bytes.is_empty() {
            if parts.count >= sizes.max_parts {
                let source = format!("the file has more than {} parts: begin with longer ones", sizes.max_parts).into();
                return Err(Error::Generic { store: "upload", source });
            }
            parts.wait_until_fewer_than(sizes.concurrency(parts.count, concurrency)).await?;
            let part = bytes.split_to(sizes.size_of(parts.count).min(bytes.len()));
            let (client, key, id, index) = (client.clone(), key.clone(), self.id.clone(), parts.count);
            parts.count += 1;
            parts.active.spawn(async move {
                // The semaphore is never closed.
                let _permit = Arc::clone(&client.permits).acquire_owned().await.ok();
                let part = client.store.put_part(&key, &id, index, PutPayload::from_bytes(part)).await?;
                Ok((index, part))
            });
        }
        Ok(())
    }
}

impl PartUploads {
    async fn wait_until_fewer_than(&mut self, limit: usize) -> Result<()> {
        while self.active.len() >= limit.max(1) {
            match self.active.join_next().await {
                Some(part) => self.completed.push(part.map_err(|source| Error::JoinError { source })??),
                None => break,
            }
        }
        Ok(())
    }

    /// Waits for all parts, and takes their IDs in order.
    pub(super) async fn join_all(&mut self) -> Result<Vec<PartId>> {
        self.wait_until_fewer_than(1).await?;
        self.completed.sort_unstable_by_key(|(index, _)| *index);
        Ok(std::mem::take(&mut self.completed).into_iter().map(|(_, part)| part).collect())
    }

    /// Cancels the active parts.
    pub(super) async fn cancel(&mut self) {
        self.active.shutdown().await;
    }
}
