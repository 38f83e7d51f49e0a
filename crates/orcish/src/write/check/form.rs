//! What of a file is not as the format says, though it changes no value and readers pass over it.

use prost::Message as _;

use super::Checker;
use crate::arrow::StripeInspector;
use crate::error::Result;
use crate::noted::Noted;
use crate::proto::{lossy, orc};
use crate::tail::{not_text, undecodable};
use crate::time::WriterZone;

impl Checker<'_> {
    /// Looks at the tail.
    pub(super) fn form_of_tail(&mut self) {
        for (column, message) in self.file.tail().oddities() {
            self.find(None, None, column, message);
        }
    }

    /// Looks at the footer of a stripe.
    pub(super) fn form_of_stripe(&mut self, stripe: usize, inspected: &StripeInspector) -> Result<()> {
        let footer =
            orc::StripeFooter::decode(inspected.footer()?).map_err(|error| undecodable("stripe footer", error))?;
        let (columns, listed) = (self.types.types().len(), self.file.tail().listed_types());
        if footer.columns.len() != listed {
            let stated = footer.columns.len();
            self.find(Some(stripe), None, 0, format!("the stripe footer has {stated} encodings for {listed} columns"));
        }
        let mut seen = std::collections::BTreeSet::new();
        for stream in &footer.streams {
            let column = stream.column();
            if column as usize >= listed {
                let message = format!("a stream of column {column}, where {listed} columns are");
                self.find(Some(stripe), None, 0, message);
            } else if !seen.insert((column, stream.kind)) && (column as usize) < columns {
                let message = format!("stream {} is there twice", stream.kind().as_str_name());
                self.find(Some(stripe), None, column, message);
            }
        }
        for (column, encoding) in (0u32..).zip(&footer.columns).take(columns) {
            if let Some(kind) = encoding.kind.filter(|&kind| orc::column_encoding::Kind::try_from(kind).is_err()) {
                self.find(Some(stripe), None, column, format!("its encoding is {kind}, which is none"));
            }
        }
        let zone = footer.writer_timezone();
        let unknown = WriterZone::parse(&lossy(zone)).err().map(|error| error.message().to_owned());
        if let Some(message) = not_text("the time zone of the writer", zone).or(unknown) {
            self.find(Some(stripe), None, 0, message);
        }
        Ok(())
    }

    /// Adds what decoders have passed over in a row group.
    pub(super) fn form_of_group(&mut self, (stripe, group): (usize, usize), noted: Noted) {
        for (column, what) in noted {
            self.find(Some(stripe), Some(group), column, what.to_owned());
        }
    }
}
