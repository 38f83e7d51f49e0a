//! What the tail of a file has of its encrypted columns: their keys, masks and statistics.

use orcish_core::error::{OrInternal as _, Result};
use orcish_core::statistics::ColumnStatistics;
use prost::Message as _;

use super::plan::EncryptionPlan;
use crate::encryption::{FILE_STATISTICS, Iv, STRIPE_STATISTICS};
use crate::proto::orc;
use crate::statistics::to_proto;

/// Statistics of the values of the encrypted columns.
#[derive(Debug, Default)]
pub(in crate::write) struct VariantStatistics {
    /// By stripe, variant and column of the variant.
    stripes: Vec<Vec<Vec<ColumnStatistics>>>,
}

impl VariantStatistics {
    /// Adds those of a stripe, by variant.
    pub(in crate::write) fn add_stripe(&mut self, variants: Vec<Vec<ColumnStatistics>>) {
        self.stripes.push(variants);
    }

    /// The message of the footer, and the encrypted statistics of the stripes, which are before those in clear. `compress` makes
    /// the stored form of a message.
    pub(in crate::write) fn encrypted(
        &self,
        plan: &EncryptionPlan,
        compress: &mut dyn FnMut(Vec<u8>) -> Result<Vec<u8>>,
    ) -> Result<(orc::Encryption, Vec<u8>)> {
        let id = self.stripes.len() as u64 + 1;
        let mut encrypted = Vec::new();
        let mut variants = Vec::new();
        for (number, variant) in plan.variants.iter().enumerate() {
            let mut of_file = vec![ColumnStatistics::EMPTY; variant.columns];
            let mut streams = Vec::new();
            for (column, of_file) in of_file.iter_mut().enumerate() {
                let mut col_stats = Vec::with_capacity(self.stripes.len());
                for stripe in &self.stripes {
                    let of_stripe = stripe.get(number).and_then(|columns| columns.get(column));
                    let of_stripe = of_stripe.or_internal("a stripe has no statistics of an encrypted column")?;
                    of_file.merge(of_stripe);
                    col_stats.push(to_proto(of_stripe));
                }
                let id_of_column = variant.root + u32::try_from(column).or_internal("a column id has 32 bits")?;
                let mut bytes = match self.stripes.is_empty() {
                    true => Vec::new(),
                    false => compress(orc::ColumnarStripeStatistics { col_stats }.encode_to_vec())?,
                };
                variant.cipher.apply(Iv::of_stream(id_of_column, STRIPE_STATISTICS, id)?, 0, &mut bytes)?;
                streams.push(orc::Stream {
                    kind: Some(orc::stream::Kind::StripeStatistics.into()),
                    column: Some(id_of_column),
                    length: Some(bytes.len() as u64),
                });
                encrypted.append(&mut bytes);
            }
            let column = of_file.iter().map(to_proto).collect();
            let mut file_statistics = compress(orc::FileStatistics { column }.encode_to_vec())?;
            variant.cipher.apply(Iv::of_stream(variant.root, FILE_STATISTICS, id)?, 0, &mut file_statistics)?;
            variants.push(orc::EncryptionVariant {
                root: Some(variant.root),
                key: Some(u32::try_from(variant.key).or_internal("a file has more keys than columns")?),
                encrypted_key: Some(variant.wrapped.clone().into()),
                stripe_statistics: streams,
                file_statistics: Some(file_statistics.into()),
            });
        }
        let key = plan.keys.iter().map(|key| orc::EncryptionKey {
            key_name: Some(key.name.clone().into()),
            key_version: Some(key.version),
            algorithm: Some(key.algorithm.to_proto().into()),
        });
        let encryption = orc::Encryption {
            mask: plan.data_masks(),
            key: key.collect(),
            variants,
            key_provider: Some(orc::KeyProviderKind::Hadoop.into()),
        };
        Ok((encryption, encrypted))
    }
}
