//! What of a file is not as the format says, though it changes no value and readers pass over it.

use orcish_core::error::Result;

use super::Checker;
use crate::noted::listen;
use crate::proto::{lossy, orc};
use crate::tail::{not_text, shared_bytes};
use crate::time::WriterZone;

impl Checker<'_> {
    /// Looks at the tail.
    pub(super) fn form_of_tail(&mut self) {
        for (column, message) in self.file.tail().oddities() {
            self.find(None, None, column, message);
        }
        for (stripe, before) in shared_bytes(&self.file.tail().stripes) {
            self.find(Some(stripe), None, 0, format!("it has bytes of stripe {before}, too"));
        }
    }

    /// Looks at the footer of a stripe.
    pub(super) fn form_of_stripe(&mut self, stripe: usize, footer: &orc::StripeFooter) {
        let (columns, listed) = (self.types.types().len(), self.listed_types);
        if footer.columns.len() != listed {
            let stated = footer.columns.len();
            self.find(Some(stripe), None, 0, format!("the stripe footer has {stated} encodings for {listed} columns"));
        }
        let mut seen = std::collections::BTreeSet::new();
        for stream in &footer.streams {
            // An absent kind is the first one, as for readers.
            let (column, kind) = (stream.column(), stream.kind.unwrap_or(0));
            if column as usize >= listed {
                let message = format!("a stream of column {column}, where {listed} columns are");
                self.find(Some(stripe), None, 0, message);
            } else if !seen.insert((column, kind)) && (column as usize) < columns {
                let name = orc::stream::Kind::try_from(kind).map(|kind| kind.as_str_name().to_owned());
                let name = name.unwrap_or_else(|_| format!("of kind {kind}"));
                self.find(Some(stripe), None, column, format!("stream {name} is there twice"));
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
    }

    /// Does `work`, which decodes a `section` or, without a name, the data of a row group. What decoders pass over in it
    /// is found.
    pub(super) fn heard<T>(
        &mut self,
        (stripe, group): (Option<usize>, Option<usize>),
        section: Option<&str>,
        work: impl FnOnce() -> Result<T>,
    ) -> Result<T> {
        let (done, noted) = listen(work);
        let done = done?;
        for (column, what) in noted {
            let message = section.map_or_else(|| what.to_owned(), |section| format!("{section}: {what}"));
            self.find(stripe, group, column, message);
        }
        Ok(done)
    }
}
