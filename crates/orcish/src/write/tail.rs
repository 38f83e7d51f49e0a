//! The end of a file: stripe statistics, footer and postscript (ORCv1, File Tail).

use orcish_core::error::{Error, Result};
use orcish_core::statistics::ColumnStatistics;
use prost::Message as _;

use super::compressors::Compressors;
use super::options::Version;
use super::plan::WritePlan;
use super::streams::Layout;
use crate::codec::Compression;
use crate::proto::orc;
use crate::statistics::to_proto;
use crate::writer::Writer;

/// Version of the writer in the count of ORC Java: its newest, of whose faults we have none.
const WRITER_VERSION: u32 = 9;
/// What comes first in a file.
pub(super) const MAGIC: &str = "ORC";

/// What the tail says of the rest of the file.
#[derive(Debug, Default)]
pub(super) struct Tail {
    pub(super) metadata: orc::Metadata,
    /// All but where the stripes end, and the statistics.
    pub(super) footer: orc::Footer,
    /// By column id.
    pub(super) statistics: Vec<ColumnStatistics>,
}

impl Tail {
    /// That of a file of ours without stripes.
    pub(super) fn new(types: Vec<orc::Type>, metadata: Vec<(String, bytes::Bytes)>, plan: &WritePlan) -> Self {
        let item = |(name, value): (String, bytes::Bytes)| orc::UserMetadataItem {
            name: Some(name.into()),
            value: Some(value),
        };
        Tail {
            metadata: orc::Metadata::default(),
            statistics: vec![ColumnStatistics::EMPTY; types.len()],
            footer: orc::Footer {
                types,
                metadata: metadata.into_iter().map(item).collect(),
                number_of_rows: Some(0),
                row_index_stride: Some(if plan.has_index { plan.stride } else { 0 }),
                writer: Some(Writer::ORCISH),
                calendar: Some(orc::CalendarKind::ProlepticGregorian.into()),
                software_version: Some(bytes::Bytes::from_static(
                    concat!("orcish ", env!("CARGO_PKG_VERSION")).as_bytes(),
                )),
                ..orc::Footer::default()
            },
        }
    }

    /// Rows of the stripes.
    pub(super) fn rows(&self) -> u64 {
        self.footer.number_of_rows()
    }

    /// Adds a stripe behind the others: where it is, and the statistics of its columns.
    pub(super) fn add_stripe(&mut self, information: orc::StripeInformation, columns: &[ColumnStatistics]) {
        self.footer.number_of_rows = Some(self.rows() + information.number_of_rows());
        self.footer.stripes.push(information);
        let col_stats = columns.iter().map(to_proto).collect();
        self.metadata.stripe_stats.push(orc::StripeStatistics { col_stats });
        for (all, own) in self.statistics.iter_mut().zip(columns) {
            all.merge(own);
        }
    }

    /// The bytes behind the last stripe, which ends at `end`.
    pub(super) fn make_bytes(&mut self, end: u64, plan: &WritePlan, compressors: &mut Compressors) -> Result<Vec<u8>> {
        self.footer.statistics = self.statistics.iter().map(to_proto).collect();
        let postscript = orc::PostScript {
            version: match plan.version {
                Version::V0_11 => vec![0, 11],
                Version::V0_12 => vec![0, 12],
            },
            writer_version: Some(WRITER_VERSION),
            ..orc::PostScript::default()
        };
        tail_bytes(&self.metadata, &mut self.footer, postscript, end, plan.layout(), compressors)
    }
}

/// The bytes behind the last stripe, which ends at `end`. Of the postscript, version and that of the writer are taken.
pub(super) fn tail_bytes(
    metadata: &impl prost::Message,
    footer: &mut orc::Footer,
    postscript: orc::PostScript,
    end: u64,
    layout: Layout,
    compressors: &mut Compressors,
) -> Result<Vec<u8>> {
    let mut section = |message: Vec<u8>| {
        let stored = layout.section(&message, compressors)?;
        Ok::<_, Error>(stored.parts().collect::<Vec<_>>().concat())
    };
    footer.header_length = Some(MAGIC.len() as u64);
    footer.content_length = Some(end);
    let metadata = section(metadata.encode_to_vec())?;
    let footer = section(footer.encode_to_vec())?;
    let codec = layout.framing.codec;
    let postscript = orc::PostScript {
        footer_length: Some(footer.len() as u64),
        compression: Some(codec.to_proto().into()),
        compression_block_size: (codec != Compression::None).then_some(layout.framing.chunk_size as u64),
        metadata_length: Some(metadata.len() as u64),
        magic: Some(bytes::Bytes::from_static(MAGIC.as_bytes())),
        ..postscript
    };
    let postscript = postscript.encode_to_vec();
    let length = u8::try_from(postscript.len()).map_err(|_| Error::invalid("a postscript of more than 255 bytes"))?;
    Ok([metadata, footer, postscript, vec![length]].concat())
}
