//! Violations of the specification that do not change values, which readers ignore, and columns that are not those that were
//! written.

use orcish_core::error::Result;

use super::Checker;
use crate::proto::{orc, to_string_lossy};
use crate::read::ARROW_SCHEMA_KEY;
use crate::tail::{describe_invalid_utf8, overlapping_stripes};
use crate::time::WriterZone;
use crate::warnings::collect_warnings;

impl Checker<'_> {
    /// Checks the tail.
    ///
    /// # Errors
    /// `Internal` where the tail cannot be decoded again.
    pub(super) fn check_tail(&mut self) -> Result<()> {
        for (column, message) in self.file.tail().deviations()? {
            self.add_deviation(None, None, column, message);
        }
        let has_arrow_schema = self.file.tail().metadata.iter().any(|(key, _)| key == ARROW_SCHEMA_KEY);
        if self.is_orcish && has_arrow_schema && self.file.stored().is_none() {
            // Names and types of columns have no checksum.
            self.add_finding(None, None, 0, "the columns are not those of the Arrow schema in the metadata".to_owned());
        }
        for (stripe, before) in overlapping_stripes(&self.file.tail().stripes) {
            self.add_deviation(Some(stripe), None, 0, format!("it has bytes of stripe {before}, too"));
        }
        Ok(())
    }

    /// Checks a stripe footer.
    pub(super) fn check_stripe_footer(&mut self, stripe: usize, footer: &orc::StripeFooter) {
        let (columns, listed) = (self.types.types().len(), self.listed_types);
        if footer.columns.len() != listed {
            let stated = footer.columns.len();
            self.add_deviation(
                Some(stripe),
                None,
                0,
                format!("the stripe footer has {stated} encodings for {listed} columns"),
            );
        }
        let mut seen = std::collections::BTreeSet::new();
        for stream in &footer.streams {
            // An absent kind is the default of the enum, as in readers.
            let (column, kind) = (stream.column(), stream.kind.unwrap_or(0));
            if column as usize >= listed {
                let message = format!("a stream of column {column}, where {listed} columns are");
                self.add_deviation(Some(stripe), None, 0, message);
            } else if !seen.insert((column, kind)) && (column as usize) < columns {
                let name = orc::stream::Kind::try_from(kind).map(|kind| kind.as_str_name().to_owned());
                let name = name.unwrap_or_else(|_| format!("of kind {kind}"));
                self.add_deviation(Some(stripe), None, column, format!("stream {name} is there twice"));
            }
        }
        for (column, encoding) in (0u32..).zip(&footer.columns).take(columns) {
            if let Some(kind) = encoding.kind.filter(|&kind| orc::column_encoding::Kind::try_from(kind).is_err()) {
                self.add_deviation(Some(stripe), None, column, format!("its encoding is {kind}, which is none"));
            }
        }
        let zone = footer.writer_timezone();
        let unknown = WriterZone::parse(&to_string_lossy(zone)).err().map(|error| error.message().to_owned());
        if let Some(message) = describe_invalid_utf8("the time zone of the writer", zone).or(unknown) {
            self.add_deviation(Some(stripe), None, 0, message);
        }
    }

    /// Calls `work`, which decodes a `section` or, without a name, the data of a row group. Adds a finding for each
    /// warning of the decoders.
    pub(super) fn collect_warnings<T>(
        &mut self,
        (stripe, group): (Option<usize>, Option<usize>),
        section: Option<&str>,
        work: impl FnOnce() -> Result<T>,
    ) -> Result<T> {
        let (result, warnings) = collect_warnings(work);
        let value = result?;
        for (column, warning) in warnings {
            let message = section.map_or_else(|| warning.to_owned(), |section| format!("{section}: {warning}"));
            self.add_deviation(stripe, group, column, message);
        }
        Ok(value)
    }
}
