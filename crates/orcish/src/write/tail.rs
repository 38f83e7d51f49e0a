//! The end of a file: stripe statistics, footer and postscript (ORCv1, File Tail).

use orcish_core::error::{Error, Result};
use orcish_core::statistics::ColumnStatistics;
use prost::Message as _;

use super::compressors::Compressors;
use super::encryption::VariantStatistics;
use super::options::Version;
use super::plan::WritePlan;
use super::stream_options::StreamOptions;
use crate::codec::Framing;
use crate::proto::orc;
use crate::statistics::to_proto;
use crate::writer::Writer;

/// Writer version of the postscript (ORCv1, Postscript): the newest of ORC Java. Readers assume the known faults of
/// older versions, none of which applies to orcish.
const WRITER_VERSION: u32 = 9;
/// The first bytes of a file, and the last field of the postscript.
pub(super) const MAGIC: &str = "ORC";

/// The metadata and the footer of a file, as far as stripes have been added.
#[derive(Debug, Default)]
pub(super) struct Tail {
    pub(super) metadata: orc::Metadata,
    /// The footer without the header and content lengths, and without statistics.
    pub(super) footer: orc::Footer,
    /// Statistics of the file by column id.
    pub(super) statistics: Vec<ColumnStatistics>,
    /// Statistics of the values of encrypted columns.
    variants: VariantStatistics,
}

impl Tail {
    /// The tail of a file of orcish without stripes.
    pub(super) fn new(types: Vec<orc::Type>, metadata: Vec<(String, bytes::Bytes)>, plan: &WritePlan) -> Self {
        let item = |(name, value): (String, bytes::Bytes)| orc::UserMetadataItem {
            name: Some(name.into()),
            value: Some(value),
        };
        Tail {
            metadata: orc::Metadata::default(),
            variants: VariantStatistics::default(),
            statistics: vec![ColumnStatistics::EMPTY; types.len()],
            footer: orc::Footer {
                types,
                metadata: metadata.into_iter().map(item).collect(),
                number_of_rows: Some(0),
                row_index_stride: Some(if plan.has_index { plan.row_index_stride } else { 0 }),
                writer: Some(Writer::ORCISH),
                calendar: Some(orc::CalendarKind::ProlepticGregorian.into()),
                software_version: Some(bytes::Bytes::from_static(Writer::ORCISH_SOFTWARE.as_bytes())),
                ..orc::Footer::default()
            },
        }
    }

    /// Rows of all stripes.
    pub(super) fn num_rows(&self) -> u64 {
        self.footer.number_of_rows()
    }

    /// Adds a stripe, with the statistics of its columns by column id, and of the values of its encrypted columns by variant.
    /// Only the first stripe states its keys and its number for them, which those of the others follow from.
    pub(super) fn add_stripe(
        &mut self,
        mut information: orc::StripeInformation,
        columns: &[ColumnStatistics],
        variants: Vec<Vec<ColumnStatistics>>,
    ) {
        if !self.footer.stripes.is_empty() {
            information.encrypt_stripe_id = None;
            information.encrypted_local_keys = Vec::new();
        }
        self.variants.add_stripe(variants);
        self.footer.number_of_rows = Some(self.num_rows() + information.number_of_rows());
        self.footer.stripes.push(information);
        let col_stats = columns.iter().map(to_proto).collect();
        self.metadata.stripe_stats.push(orc::StripeStatistics { col_stats });
        for (file, stripe) in self.statistics.iter_mut().zip(columns) {
            file.merge(stripe);
        }
    }

    /// Sets the statistics of the file. Returns the bytes of the tail. `content_length` is the offset at which the last
    /// stripe ends.
    pub(super) fn finish(
        &mut self,
        content_length: u64,
        plan: &WritePlan,
        compressors: &mut Compressors,
    ) -> Result<Vec<u8>> {
        self.footer.statistics = self.statistics.iter().map(to_proto).collect();
        let mut encrypted_statistics = Vec::new();
        if let Some(encryption) = &plan.encryption {
            let mut compress =
                |message: Vec<u8>| Ok(plan.stream_options().compress_message(&message, compressors)?.concat());
            let (encryption, encrypted) = self.variants.encrypted(encryption, &mut compress)?;
            self.footer.encryption = Some(encryption);
            encrypted_statistics = encrypted;
        }
        let postscript = orc::PostScript {
            version: match plan.version {
                Version::V0_11 => vec![0, 11],
                Version::V0_12 => vec![0, 12],
            },
            writer_version: Some(WRITER_VERSION),
            stripe_statistics_length: plan.encryption.as_ref().map(|_| encrypted_statistics.len() as u64),
            ..orc::PostScript::default()
        };
        let (metadata, options) = (&self.metadata, plan.stream_options());
        let clear = tail_bytes(metadata, &mut self.footer, postscript, content_length, options, compressors)?;
        Ok([encrypted_statistics, clear].concat())
    }
}

/// The bytes of a tail (ORCv1, File Tail): stripe statistics, footer, postscript and the length of the postscript.
///
/// `content_length` is the offset at which the last stripe ends. `postscript` has the format version and the writer
/// version; its other fields are set here, as are the lengths in the footer.
///
/// # Errors
/// `InvalidArgument` when the postscript is longer than 255 bytes; the errors of the compressor.
pub(super) fn tail_bytes(
    metadata: &impl prost::Message,
    footer: &mut orc::Footer,
    postscript: orc::PostScript,
    content_length: u64,
    options: StreamOptions,
    compressors: &mut Compressors,
) -> Result<Vec<u8>> {
    let mut compress = |message: Vec<u8>| Ok::<_, Error>(options.compress_message(&message, compressors)?.concat());
    footer.header_length = Some(MAGIC.len() as u64);
    footer.content_length = Some(content_length);
    let metadata = compress(metadata.encode_to_vec())?;
    let footer = compress(footer.encode_to_vec())?;
    let Framing { codec, chunk_size } = options.framing;
    let postscript = orc::PostScript {
        footer_length: Some(footer.len() as u64),
        compression: Some(codec.to_proto().into()),
        compression_block_size: (chunk_size > 0).then_some(chunk_size as u64),
        metadata_length: Some(metadata.len() as u64),
        magic: Some(bytes::Bytes::from_static(MAGIC.as_bytes())),
        ..postscript
    };
    let postscript = postscript.encode_to_vec();
    let length = u8::try_from(postscript.len()).map_err(|_| Error::invalid("a postscript of more than 255 bytes"))?;
    Ok([metadata, footer, postscript, vec![length]].concat())
}
