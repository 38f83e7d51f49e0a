//! The end of a file: stripe statistics, footer and postscript (ORCv1, File Tail).

use prost::Message as _;

use super::compressors::Compressors;
use super::options::Version;
use super::plan::WritePlan;
use super::streams::{Layout, RawStream};
use crate::codec::Compression;
use crate::error::Result;
use crate::proto::orc;
use crate::statistics::ColumnStatistics;
use crate::writer::Writer;

/// Version of the writer in the count of ORC Java: its newest, of whose faults we have none.
pub(super) const WRITER_VERSION: u32 = 9;
/// What comes first in a file.
pub(super) const MAGIC: &str = "ORC";

/// What the tail says of the rest of the file.
#[derive(Debug, Default)]
pub(super) struct Tail {
    pub(super) types: Vec<orc::Type>,
    pub(super) stripes: Vec<orc::StripeInformation>,
    /// By stripe.
    pub(super) stripe_statistics: Vec<orc::StripeStatistics>,
    /// By column id.
    pub(super) statistics: Vec<ColumnStatistics>,
    pub(super) metadata: Vec<(String, bytes::Bytes)>,
    pub(super) rows: u64,
    /// Bytes of header and stripes.
    pub(super) content_length: u64,
    pub(super) row_index_stride: u32,
}

/// How a file says that it is written.
#[derive(Debug, Clone)]
pub(super) struct Signature {
    pub(super) compression: Compression,
    pub(super) chunk_size: usize,
    pub(super) version: Vec<u32>,
    pub(super) writer_version: u32,
    pub(super) writer: u32,
    pub(super) software_version: Option<String>,
    pub(super) calendar: orc::CalendarKind,
}

impl Signature {
    /// That of a file which is written by us.
    pub(super) fn own(plan: &WritePlan) -> Self {
        Signature {
            compression: plan.framing.codec,
            chunk_size: plan.framing.chunk_size,
            version: match plan.version {
                Version::V0_11 => vec![0, 11],
                Version::V0_12 => vec![0, 12],
            },
            writer_version: WRITER_VERSION,
            writer: Writer::ORCISH,
            software_version: Some(concat!("orcish ", env!("CARGO_PKG_VERSION")).to_owned()),
            calendar: orc::CalendarKind::ProlepticGregorian,
        }
    }
}

impl Tail {
    /// Adds a stripe behind the others: where it is, and the statistics of its columns.
    pub(super) fn add_stripe(&mut self, information: orc::StripeInformation, rows: u64, columns: &[ColumnStatistics]) {
        self.stripes.push(information);
        self.rows += rows;
        let col_stats = columns.iter().map(ColumnStatistics::to_proto).collect();
        self.stripe_statistics.push(orc::StripeStatistics { col_stats });
        for (all, own) in self.statistics.iter_mut().zip(columns) {
            all.merge(own);
        }
    }

    /// The bytes behind the last stripe.
    pub(super) fn to_bytes(
        &self,
        signature: &Signature,
        layout: Layout,
        compressors: &mut Compressors,
    ) -> Result<Vec<u8>> {
        let mut section = |message: Vec<u8>| {
            let mut out = RawStream::new(layout);
            out.raw().extend_from_slice(&message);
            out.take(compressors)
        };
        let metadata = orc::Metadata { stripe_stats: self.stripe_statistics.clone() };
        let metadata = section(metadata.encode_to_vec())?;
        let item = |(name, value): &(String, bytes::Bytes)| orc::UserMetadataItem {
            name: Some(name.clone()),
            value: Some(value.clone()),
        };
        let footer = orc::Footer {
            header_length: Some(MAGIC.len() as u64),
            content_length: Some(self.content_length),
            stripes: self.stripes.clone(),
            types: self.types.clone(),
            metadata: self.metadata.iter().map(item).collect(),
            number_of_rows: Some(self.rows),
            statistics: self.statistics.iter().map(ColumnStatistics::to_proto).collect(),
            row_index_stride: Some(self.row_index_stride),
            writer: Some(signature.writer),
            calendar: Some(signature.calendar.into()),
            software_version: signature.software_version.clone(),
            ..orc::Footer::default()
        };
        let footer = section(footer.encode_to_vec())?;
        let postscript = orc::PostScript {
            footer_length: Some(footer.len() as u64),
            compression: Some(signature.compression.to_proto().into()),
            compression_block_size: (signature.compression != Compression::None).then_some(signature.chunk_size as u64),
            version: signature.version.clone(),
            metadata_length: Some(metadata.len() as u64),
            writer_version: Some(signature.writer_version),
            stripe_statistics_length: None,
            magic: Some(MAGIC.to_owned()),
        };
        let mut bytes = [metadata, footer].concat();
        let before = bytes.len();
        postscript.encode(&mut bytes).map_err(|error| crate::Error::invalid("no room").with_source(error))?;
        bytes.push((bytes.len() - before).to_le_bytes()[0]);
        Ok(bytes)
    }
}
