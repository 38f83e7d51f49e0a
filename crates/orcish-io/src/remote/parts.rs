//! Parts of a file on their way to a store.

use std::sync::Arc;

use bytes::Bytes;
use object_store::multipart::PartId;
use object_store::path::Path;
use object_store::{Error, MultipartId, PutMultipartOptions, PutPayload, Result};
use tokio::task::JoinSet;

use super::mark::Mark;
use super::part_sizes::PartSizes;
use super::store::Uploads;

/// A file that the store puts together of parts.
#[derive(Debug, Clone)]
pub(super) struct Upload {
    pub(super) id: MultipartId,
    /// Empty where none was asked for, or the store cannot keep it.
    pub(super) mark: Mark,
}

/// Its parts.
#[derive(Debug, Default)]
pub(super) struct Parts {
    on_their_way: JoinSet<Result<(usize, PartId)>>,
    sent: Vec<(usize, PartId)>,
    /// Those that have been sent, or are on their way.
    pub(super) count: usize,
}

impl Upload {
    /// Begins a file; one that is to be known again has a mark.
    pub(super) async fn begin(uploads: &Uploads, key: &Path, marked: bool) -> Result<Self> {
        if marked {
            let mark = Mark::new();
            let options = PutMultipartOptions { attributes: mark.attributes(), ..PutMultipartOptions::default() };
            match uploads.store.create_multipart_opts(key, options).await {
                Err(Error::NotSupported { .. }) => {}
                id => return Ok(Upload { id: id?, mark }),
            }
        }
        Ok(Upload { id: uploads.store.create_multipart(key).await?, mark: Mark::default() })
    }

    /// Sends bytes, cut into parts, of which those of the first size may be on their way as many as `concurrency` says.
    pub(super) async fn send(
        &self,
        uploads: &Uploads,
        key: &Path,
        parts: &mut Parts,
        mut bytes: Bytes,
        sizes: PartSizes,
        concurrency: usize,
    ) -> Result<()> {
        while !bytes.is_empty() {
            if parts.count >= sizes.most {
                let source = format!("the file has more than {} parts: begin with longer ones", sizes.most).into();
                return Err(Error::Generic { store: "upload", source });
            }
            parts.wait_for_less_than(sizes.on_their_way(parts.count, concurrency)).await?;
            let part = bytes.split_to(sizes.of(parts.count).min(bytes.len()));
            let (uploads, key, id, index) = (uploads.clone(), key.clone(), self.id.clone(), parts.count);
            parts.count += 1;
            parts.on_their_way.spawn(async move {
                // It is never closed.
                let _permit = Arc::clone(&uploads.permits).acquire_owned().await.ok();
                let part = uploads.store.put_part(&key, &id, index, PutPayload::from_bytes(part)).await?;
                Ok((index, part))
            });
        }
        Ok(())
    }
}

impl Parts {
    async fn wait_for_less_than(&mut self, most: usize) -> Result<()> {
        while self.on_their_way.len() >= most.max(1) {
            match self.on_their_way.join_next().await {
                Some(sent) => self.sent.push(sent.map_err(|source| Error::JoinError { source })??),
                None => break,
            }
        }
        Ok(())
    }

    /// All parts in order, once they are there.
    pub(super) async fn all(&mut self) -> Result<Vec<PartId>> {
        self.wait_for_less_than(1).await?;
        self.sent.sort_unstable_by_key(|(index, _)| *index);
        Ok(std::mem::take(&mut self.sent).into_iter().map(|(_, part)| part).collect())
    }

    /// Ends those that are on their way.
    pub(super) async fn stop(&mut self) {
        self.on_their_way.shutdown().await;
    }
}
