//! Files put together stripe by stripe: bytes are copied, nothing is decoded.

use std::ops::Range;
use std::sync::Arc;

use prost::Message as _;

use super::compressors::{Choice, Compressors};
use super::file::Written;
use super::options::Version;
use super::streams::Layout;
use super::tail::{MAGIC, tail_bytes};
use crate::arrow::ARROW_SCHEMA_KEY;
use crate::codec::{Compression, decompress_all};
use crate::error::{Error, Result};
use crate::io::{ReadAt, Sink};
use crate::options::Limits;
use crate::patience::{Check, Patience};
use crate::proto::orc;
use crate::schema::{Kind, Type};
use crate::statistics::merge_proto;
use crate::tail::{FileTail, read_tail, undecodable};

/// Bytes that are copied at a time.
const AT_A_TIME: u64 = 8 << 20;

/// A file that is to be merged: its tail, as it is stored too.
struct Part {
    source: Arc<dyn ReadAt>,
    tail: FileTail,
    postscript: orc::PostScript,
    footer: orc::Footer,
}

impl Part {
    fn open(source: &Arc<dyn ReadAt>, limits: &Limits) -> Result<Self> {
        let tail = read_tail(&**source, limits)?;
        let named = |error: Error| error.in_file(source.name());
        let raw = orc::FileTail::decode(&*tail.to_bytes()).map_err(|error| named(undecodable("file tail", error)))?;
        if !tail.encrypted_columns.is_empty() {
            return Err(named(Error::unsupported("a file with encrypted columns is not merged")));
        }
        let postscript = raw.postscript.unwrap_or_default();
        Ok(Part { source: source.clone(), tail, postscript, footer: raw.footer.unwrap_or_default() })
    }

    fn name(&self) -> &str {
        self.source.name()
    }

    /// Statistics of the stripes; none where there are not as many.
    fn stripe_statistics(&self, limits: &Limits) -> Result<Option<Vec<orc::StripeStatistics>>> {
        let range = self.tail.stripe_statistics.clone();
        let stored = match self.tail.stored_stripe_statistics() {
            Some(stored) => stored,
            None => self.source.read_ranges(std::slice::from_ref(&range))?.pop().unwrap_or_default(),
        };
        let section = decompress_all(stored, self.tail.framing(), limits.tail)?;
        let metadata = orc::Metadata::decode(section).map_err(|error| undecodable("stripe statistics", error))?;
        Ok(Some(metadata.stripe_stats).filter(|stripes| stripes.len() == self.tail.stripes.len()))
    }
}

/// Writes the stripes of `sources`, in their order, as one file. The result has the rows, the encodings, the indexes and
/// the user metadata of the sources, and says that it is of their writer; the statistics of the file are merged.
///
/// All sources have to be alike: the types with their attributes, the compression, the version of the format, the stride
/// of the row index, the writer and its version, the calendar. User metadata may differ in their keys, but not in the
/// value of one; an Arrow schema that is not that of all is left out.
///
/// # Errors
/// `InvalidArgument` that names the file and what of it is not as in the first; `Unsupported` for encrypted files; those
/// of the sources and the sink. Nothing appears under the name then.
pub fn merge(
    sources: &[Arc<dyn ReadAt>],
    mut sink: Box<dyn Sink>,
    limits: &Limits,
    check: Option<&Check>,
) -> Result<Written> {
    let parts = sources.iter().map(|source| Part::open(source, limits)).collect::<Result<Vec<_>>>()?;
    let Some((first, others)) = parts.split_first() else {
        return Err(Error::invalid("there are no files to merge"));
    };
    let mut footer = orc::Footer {
        types: first.footer.types.clone(),
        metadata: first.footer.metadata.clone(),
        statistics: first.footer.statistics.clone(),
        row_index_stride: first.footer.row_index_stride,
        writer: first.footer.writer,
        calendar: first.footer.calendar,
        software_version: first.footer.software_version.clone(),
        ..orc::Footer::default()
    };
    for other in others {
        check_alike(first, other).map_err(|error| error.in_file(other.name()))?;
        add_metadata(&mut footer.metadata, other, first.name()).map_err(|error| error.in_file(other.name()))?;
        add_statistics(&mut footer.statistics, &other.footer.statistics);
    }
    keep_arrow_schema(&mut footer.metadata, &parts);

    let mut patience = Patience::new(check.cloned());
    let target = sink.name().to_owned();
    let of_target = |error: Error| error.in_file(&target);
    sink.write(MAGIC.as_bytes()).map_err(of_target)?;
    let mut offset = MAGIC.len() as u64;
    let mut metadata = Some(Vec::new());
    let mut rows = 0;
    for part in &parts {
        let named = |error: Error| error.in_file(part.name());
        for (own, stripe) in part.footer.stripes.iter().zip(&part.tail.stripes) {
            let range = stripe.offset..stripe.footer().end;
            let length = range.end - range.start;
            copy(&*part.source, range, &mut *sink, &mut patience).map_err(named)?;
            footer.stripes.push(orc::StripeInformation { offset: Some(offset), ..own.clone() });
            offset += length;
        }
        rows += part.tail.rows;
        let own = part.stripe_statistics(limits).map_err(named)?;
        metadata = metadata.zip(own).map(|(all, own)| [all, own].concat());
    }
    footer.number_of_rows = Some(rows);
    let metadata = orc::Metadata { stripe_stats: metadata.unwrap_or_default() };
    let postscript = orc::PostScript {
        version: first.postscript.version.clone(),
        writer_version: first.postscript.writer_version,
        ..orc::PostScript::default()
    };
    let mut framing = first.tail.framing();
    framing.chunk_size = parts.iter().map(|part| part.tail.chunk_size).max().unwrap_or(framing.chunk_size);
    // What cannot be compressed is stored as it is.
    let codec = if framing.codec == Compression::Lzo { Compression::None } else { framing.codec };
    let layout = Layout { framing, choice: Choice::new(codec, None)?, version: Version::V0_12 };
    let stripes = footer.stripes.len();
    let bytes = tail_bytes(&metadata, &mut footer, postscript, offset, layout, &mut Compressors::default())?;
    sink.write(&bytes).map_err(of_target)?;
    sink.finish().map_err(of_target)?;
    Ok(Written { rows, bytes: offset + bytes.len() as u64, stripes })
}

/// Copies bytes, some at a time.
fn copy(source: &dyn ReadAt, range: Range<u64>, sink: &mut dyn Sink, patience: &mut Patience) -> Result<()> {
    let mut at = range.start;
    while at < range.end {
        patience.look()?;
        let part = at..range.end.min(at + AT_A_TIME);
        let bytes = source.read_ranges(std::slice::from_ref(&part))?.pop().unwrap_or_default();
        if bytes.len() as u64 != part.end - part.start {
            return Err(Error::new(crate::ErrorKind::Io, "the source gave fewer bytes than were asked for"));
        }
        sink.write(&bytes).map_err(|error| error.in_file(sink.name()))?;
        at = part.end;
    }
    Ok(())
}

fn check_alike(first: &Part, other: &Part) -> Result<()> {
    let (a, b) = (&first.tail, &other.tail);
    let differs = |what: &str, own: String, of_first: String| {
        Err(Error::invalid(format!(
            "{what} is {own}, where that of {} is {of_first}: they cannot be merged",
            first.name()
        )))
    };
    let text = |tail: &FileTail| tail.schema.type_string(0);
    if text(a)? != text(b)? {
        return differs("the type", text(b)?, text(a)?);
    }
    for (id, (own, of_first)) in (0u32..).zip(b.schema.types().iter().zip(a.schema.types())) {
        if meaning(own) != meaning(of_first) {
            let what = format!("the list of attributes of column {}", b.schema.path(id));
            return differs(&what, format!("{:?}", own.attributes), format!("{:?}", of_first.attributes));
        }
    }
    if a.compression != b.compression {
        return differs("the compression", b.compression.name().to_owned(), a.compression.name().to_owned());
    }
    if a.version != b.version {
        let version = |tail: &FileTail| tail.version.iter().map(u32::to_string).collect::<Vec<_>>().join(".");
        return differs("the version of the format", version(b), version(a));
    }
    if a.row_index_stride != b.row_index_stride {
        let stride = |tail: &FileTail| format!("{} rows", tail.row_index_stride);
        return differs("the stride of the row index", stride(b), stride(a));
    }
    if a.calendar != b.calendar {
        return differs("the calendar", format!("{:?}", b.calendar), format!("{:?}", a.calendar));
    }
    let writer = |tail: &FileTail| {
        format!("{} {} ({})", tail.writer, tail.software_version.as_deref().unwrap_or("of old"), tail.writer_version)
    };
    let is_other =
        (a.writer, a.writer_version, &a.software_version) != (b.writer, b.writer_version, &b.software_version);
    if is_other { differs("the writer", writer(b), writer(a)) } else { Ok(()) }
}

/// A type without what it need not say: C++ writes lengths and digits of all.
fn meaning(this: &Type) -> Type {
    let has_length = matches!(this.kind, Kind::Char | Kind::Varchar);
    let has_digits = this.kind == Kind::Decimal;
    Type {
        max_length: this.max_length.filter(|_| has_length),
        precision: this.precision.filter(|_| has_digits),
        scale: this.scale.filter(|_| has_digits),
        ..this.clone()
    }
}

fn add_metadata(all: &mut Vec<orc::UserMetadataItem>, other: &Part, first: &str) -> Result<()> {
    for item in &other.footer.metadata {
        match all.iter().find(|own| own.name == item.name) {
            Some(own) if own.value == item.value || own.name() == ARROW_SCHEMA_KEY => {}
            Some(_) => {
                let text = format!("the value of {:?} in the user metadata is not that of {first}", item.name());
                return Err(Error::invalid(format!("{text}: they cannot be merged")));
            }
            None => all.push(item.clone()),
        }
    }
    Ok(())
}

/// Leaves out the Arrow schema, unless all files have the same.
fn keep_arrow_schema(all: &mut Vec<orc::UserMetadataItem>, parts: &[Part]) {
    let own = |part: &Part| {
        let found = part.footer.metadata.iter().find(|item| item.name() == ARROW_SCHEMA_KEY);
        found.and_then(|item| item.value.clone())
    };
    let mut schemas = parts.iter().map(own);
    let first = schemas.next().flatten();
    if schemas.any(|schema| schema != first) {
        all.retain(|item| item.name() != ARROW_SCHEMA_KEY);
    }
}

/// Merges statistics by column; where one file has none, nothing is known.
fn add_statistics(all: &mut Vec<orc::ColumnStatistics>, more: &[orc::ColumnStatistics]) {
    if all.len() != more.len() {
        all.clear();
    }
    all.iter_mut().zip(more).for_each(|(all, more)| merge_proto(all, more));
}
