//! Opening of stripes, and of readers of their columns.

use orcish_core::error::Result;

use super::column::{Context, build, build_root};
use super::plan::Plan;
use super::rows::{Columns, RowReader};
use super::schema::Mapping;
use crate::projection::{Projected, ROOT_COLUMN};
use crate::proto::orc;
use crate::stripe::Stripe;

impl Plan {
    /// Reads the footer of a stripe, for all payload and filter columns.
    pub(super) fn begin(&self, index: usize) -> Result<Stripe> {
        self.begin_with(index, &self.footer(index)?)
    }

    /// Reads the footer of a stripe.
    pub(super) fn footer(&self, index: usize) -> Result<orc::StripeFooter> {
        Stripe::read_footer(self.source(), &self.tail, index, self.limits())
    }

    /// As [`begin`](Self::begin), for a stripe whose `footer` has been read.
    pub(super) fn begin_with(&self, index: usize, footer: &orc::StripeFooter) -> Result<Stripe> {
        let is_filtered = |id: u32| self.filter.as_ref().is_some_and(|filter| filter.projection.contains(id));
        let is_read = |id: u32| id == 0 || self.projection.contains(id) || is_filtered(id);
        Stripe::with_footer(&self.source, &self.tail, (index, footer), self.limits(), &self.memory, &is_read)
    }

    pub(super) fn context<'a>(&'a self, stripe: &'a Stripe) -> Context<'a> {
        Context {
            tail: &self.tail,
            stripe,
            options: &self.options,
            reader_zone: self.reader_zone.as_ref(),
            bounds: self.filter.as_ref().map(|filter| &filter.bounds),
        }
    }

    /// The reader of `columns`, which are children of the root or the root itself.
    pub(super) fn rows_of_columns(&self, stripe: &Stripe, columns: &[Projected]) -> Result<RowReader> {
        let mapping = Mapping { tail: &self.tail, options: &self.options };
        let (context, ids) = (self.context(stripe), self.ids_of(stripe, columns));
        let reader = match columns {
            [root] if !self.is_struct => {
                let field = mapping.field(ROOT_COLUMN, root)?;
                Columns::Root(build(&context, root, field.data_type())?)
            }
            columns => {
                let types = columns.iter().map(|column| mapping.data_type(column)).collect::<Result<Vec<_>>>()?;
                let typed: Vec<_> = columns.iter().zip(&types).collect();
                Columns::OfRoot(Box::new(build_root(&context, &typed)?))
            }
        };
        Ok(RowReader::new(reader, columns.len(), ids))
    }

    /// Ids of `columns` and of their descendants, and of the root if it has a stream of its own.
    pub(super) fn ids_of(&self, stripe: &Stripe, columns: &[Projected]) -> Vec<u32> {
        let mut ids = Vec::new();
        if self.is_struct && stripe.has_present(0) {
            ids.push(0);
        }
        columns.iter().for_each(|column| collect_ids(column, &mut ids));
        ids
    }
}

/// Ids of a column and of its descendants.
fn collect_ids(column: &Projected, ids: &mut Vec<u32>) {
    ids.push(column.id);
    column.children.iter().for_each(|child| collect_ids(child, ids));
}
