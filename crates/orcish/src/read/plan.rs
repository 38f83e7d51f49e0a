//! What is read of a file, and how its stripes are opened.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_schema::SchemaRef;
use orcish_core::error::{Error, Result};
use orcish_core::limits::Limits;
use orcish_core::parallel::asked_or_cores;
use orcish_core::predicate::{Condition, Node, Truth, Verdict};
use orcish_io::{ReadAt, Session};

use super::column::{Budget, Context, build, build_root};
use super::file::OrcFile;
use super::filtered::{Filter, FilteredStripe};
use super::prune::judge_stripes;
use super::reader::{Group, GroupReader, OpenStripe};
use super::rows::{Columns, RowReader};
use super::schema::{Mapping, altered, may_become_null};
use crate::memory::Memory;
use crate::options::ReadOptions;
use crate::projection::{Projected, Projection, ROOT_COLUMN};
use crate::proto::orc;
use crate::schema::Kind;
use crate::stripe::{StreamKind, Stripe};
use crate::tail::FileTail;
use crate::time::WriterZone;
use crate::tuning;

/// Bytes that the reader of a column holds beside its values, roughly.
const READER_BYTES: u64 = 8 << 10;

/// Most columns that an error names.
const MOST_NAMED: usize = 10;

/// What is to be read, and from where.
pub(super) struct Plan {
    pub(super) source: Arc<dyn ReadAt>,
    tail: Arc<FileTail>,
    projection: Projection,
    /// The zone of the reader, where one was named.
    pub(super) reader: Option<WriterZone>,
    pub(super) options: ReadOptions,
    /// Indexes of the stripes.
    pub(super) stripes: Vec<usize>,
    /// Which rows are wanted; all without it.
    pub(super) filter: Option<Filter>,
    /// What statistics say of the stripes, by their indexes.
    pub(super) verdicts: BTreeMap<usize, Verdict>,
    /// Columns of the batches: the children of a struct root, or the root itself.
    pub(super) columns: Vec<Projected>,
    /// Schema of what is decoded.
    pub(super) schema: SchemaRef,
    /// Schema of the batches that are made of it.
    pub(super) restored: SchemaRef,
    is_struct: bool,
    pub(super) threads: usize,
    /// Stripes that threads open ahead which do nothing else but wait for their bytes.
    pub(super) fetched_ahead: usize,
    /// Stored bytes that they may have, roughly.
    pub(super) bytes_ahead: u64,
    pub(super) batch_size: usize,
    /// Most rows that are given: where nothing is stored for any row, a file of a few bytes may state any number.
    most_rows: u64,
    /// What is decompressed, dictionaries and indexes are charged to this.
    pub(super) memory: Arc<Memory>,
    /// Buffers of the source are kept for the read.
    _session: Session,
}

impl Plan {
    /// What is read of a file under `options`, by one of so many `sharers` of the requests that may be under way.
    pub(super) fn new(
        file: &OrcFile,
        projection: Projection,
        schema: SchemaRef,
        options: ReadOptions,
        condition: Option<Condition>,
        sharers: usize,
    ) -> Result<Self> {
        let (source, tail, sharers) = (file.source().clone(), file.shared_tail(), sharers.max(1));
        let reader = options.timezone.as_deref().map(WriterZone::of_reader).transpose()?;
        if options.batch_size == 0 {
            return Err(Error::invalid("batch_size is 0 rows; the least is 1"));
        }
        let mut condition = condition;
        for leaf in condition.iter_mut().flat_map(|condition| &mut condition.leaves) {
            let this = tail.schema.get(leaf.column)?;
            leaf.may_become_null |= may_become_null(this, &options);
            leaf.altered = altered(&Mapping { tail: &tail, options: &options }, leaf.column)?;
        }
        let asked = condition.as_ref().map(|condition| Projection::of_filter(&tail.schema, &condition.columns()));
        let asked = asked.transpose()?;
        let reads = |id: u32| projection.wants(id) || asked.as_ref().is_some_and(|asked| asked.wants(id));
        let masked: Vec<_> = tail.encrypted_columns.iter().filter(|&&id| reads(id)).collect();
        if !masked.is_empty() && !options.allow_masked {
            let names: Vec<_> = masked.iter().take(MOST_NAMED).map(|&&id| tail.schema.path(id)).collect();
            let more = masked.len() - names.len();
            return Err(Error::unsupported(format!(
                "columns {}{} are encrypted; without keys only their masks can be read, which has to be asked for",
                names.join(", "),
                if more > 0 { format!(" and {more} more") } else { String::new() }
            )));
        }
        let readers = (projection.count() + asked.as_ref().map_or(0, Projection::count)) as u64;
        if readers.saturating_mul(READER_BYTES) > options.limits.memory {
            let most = options.limits.memory;
            return Err(Error::over(
                "memory",
                format!("{readers} columns at once need more than the {most} bytes allowed"),
            ));
        }
        let count = tail.stripes.len();
        let mut stripes = options.stripes.clone().unwrap_or_else(|| (0..count).collect());
        if let Some(stripe) = stripes.iter().find(|&&stripe| stripe >= count) {
            return Err(Error::invalid(format!("no stripe {stripe}: stripes has to be below {count}")));
        }
        let mut verdicts = BTreeMap::new();
        if let Some(condition) = &condition {
            let found = judge_stripes(condition, file, &stripes, reader.as_ref(), &options.limits)?;
            verdicts = stripes.iter().copied().zip(found).collect::<BTreeMap<_, Verdict>>();
            stripes.retain(|stripe| verdicts.get(stripe).is_none_or(|verdict| verdict.truth != Truth::Never));
        }
        let is_struct = tail.schema.get(0)?.kind == Kind::Struct;
        let columns = columns_of(&projection.root, is_struct);
        // A condition that is the same for all rows needs no column.
        let filter = condition.zip(asked).filter(|(condition, _)| condition.root != Node::Constant(true));
        let filter = filter.map(|(condition, asked)| new_filter(condition, asked, is_struct, &columns, &tail));
        let filter = filter.transpose()?;
        let left = options.limit.unwrap_or(u64::MAX);
        if filter.is_none() {
            // No more stripes than the rows are in.
            let mut rows = 0u64;
            stripes.retain(|&stripe| {
                let is_wanted = rows < left;
                rows = rows.saturating_add(tail.stripes.get(stripe).map_or(0, |stripe| stripe.rows));
                is_wanted
            });
        }
        if left == 0 {
            stripes.clear();
        }
        let stored = stripes.iter().filter_map(|&at| tail.stripes.get(at)).map(|stripe| stripe.data_length);
        let bytes = stored.fold(0, u64::saturating_add);
        let threads = if bytes < tuning::BYTES_WORTH_A_THREAD.wide() { 1 } else { asked_or_cores(options.threads) };
        // With a limit nobody knows how many stripes a filter will need.
        let is_known = filter.is_none() || options.limit.is_none();
        let requests = if is_known { source.requests().div_ceil(sharers) } else { 1 };
        let fetched_ahead = if requests > 1 && stripes.len() > 1 { requests.min(stripes.len()) } else { 0 };
        // Rows of no column need no bound: nothing is there for any of them.
        let is_bare = columns.is_empty() && filter.is_none() && options.row_number.is_none();
        let batch_size = if is_bare { usize::MAX } else { options.batch_size };
        let asked = filter.as_ref().map_or(&[][..], |filter| &filter.asked);
        let has_bytes = match columns.is_empty() {
            true => tail.schema.types().iter().any(|this| this.kind != Kind::Struct),
            false => columns.iter().chain(asked).any(|column| !is_weightless(&tail, column)),
        };
        let most_rows = if is_bare || has_bytes { u64::MAX } else { options.limits.memory };
        // Under a filter nobody knows how many rows have to be looked at for those that are left.
        let most = if filter.is_some() { usize::MAX } else { usize::try_from(left).unwrap_or(usize::MAX) };
        let batch_size = batch_size.min(most).max(1);
        let memory = Memory::new(options.limits.memory);
        Ok(Plan {
            memory,
            _session: source.session(),
            most_rows,
            source,
            tail,
            projection,
            reader,
            options,
            stripes,
            filter,
            verdicts,
            columns,
            restored: schema.clone(),
            schema,
            is_struct,
            threads,
            fetched_ahead,
            bytes_ahead: tuning::BYTES_AHEAD.wide() / sharers as u64,
            batch_size,
        })
    }

    pub(super) fn limits(&self) -> &Limits {
        &self.options.limits
    }

    pub(super) fn rows_of(&self, stripe: usize) -> u64 {
        self.tail.stripes.get(stripe).map_or(0, |stripe| stripe.rows)
    }

    /// Stored bytes of a stripe that are read, if all columns have as many.
    pub(super) fn share_of(&self, stripe: usize) -> u64 {
        let (read, all) = (self.projection.count() as u64, self.tail.schema.types().len() as u64);
        self.bytes_of(stripe) / all.max(1) * read
    }

    /// Stored bytes of a stripe, all columns.
    pub(super) fn bytes_of(&self, stripe: usize) -> u64 {
        self.tail.stripes.get(stripe).map_or(0, |stripe| stripe.data_length.min(self.tail.file_length))
    }

    pub(super) fn tail(&self) -> &FileTail {
        &self.tail
    }

    pub(super) fn source(&self) -> &dyn ReadAt {
        &*self.source
    }

    pub(super) fn budget(&self) -> Budget<'static> {
        Budget::new(self.limits(), self.projection.count())
    }

    /// Looks whether so many rows may be gone through.
    pub(super) fn check_rows(&self, rows: u64) -> Result<()> {
        let most = self.most_rows;
        match rows > most {
            true => {
                let message = format!("rows for which nothing is stored are more than the {most} bytes allowed");
                Err(Error::over("memory", message))
            }
            false => Ok(()),
        }
    }

    pub(super) fn first_row_of(&self, stripe: usize) -> u64 {
        self.tail.stripes.get(stripe).map_or(0, |stripe| stripe.first_row)
    }

    pub(super) fn is_filtered(&self) -> bool {
        self.filter.is_some()
    }

    /// What statistics say of a stripe.
    pub(super) fn verdict_of(&self, stripe: usize) -> Verdict {
        self.verdicts.get(&stripe).cloned().unwrap_or(Verdict::MAYBE)
    }

    /// Reads a stripe and makes the readers of its columns.
    pub(super) fn open(&self, index: usize) -> Result<OpenStripe> {
        let open = || {
            if self.needs_rows_only(index) {
                let rows = Group { columns: Vec::new(), reader: GroupReader::Rows };
                return Ok(OpenStripe { rows: self.rows_of(index), groups: vec![rows] });
            }
            if let Some(filter) = &self.filter {
                let stripe = FilteredStripe::open(self, filter, index)?;
                let reader = GroupReader::Filtered(Box::new(stripe));
                let columns = (0..self.schema.fields().len()).collect();
                return Ok(OpenStripe { rows: self.rows_of(index), groups: vec![Group { columns, reader }] });
            }
            let wanted = |id| self.projection.wants(id);
            let (limits, all) = (self.limits(), self.projection.all);
            let stripe = Stripe::open(&*self.source, &self.tail, index, limits, &self.memory, all, &wanted)?;
            let groups = self.groups(&stripe)?;
            Ok(OpenStripe { rows: stripe.rows, groups })
        };
        open().map_err(|error: Error| error.in_section("stripe", index))
    }

    /// Whether nothing of a stripe has to be read, as all of its rows are wanted and no column.
    pub(super) fn needs_rows_only(&self, index: usize) -> bool {
        let is_filtered = self.is_filtered() && self.verdict_of(index).truth != Truth::Always;
        // Numbers of filtered rows come with the columns.
        let is_numbered = self.is_filtered() && self.options.row_number.is_some();
        self.columns.is_empty() && !is_filtered && !is_numbered
    }

    /// Reads the footer of a stripe, of all columns that are read or asked.
    pub(super) fn begin(&self, index: usize) -> Result<Stripe> {
        self.begin_with(index, &self.footer(index)?)
    }

    /// Reads the footer of a stripe.
    pub(super) fn footer(&self, index: usize) -> Result<orc::StripeFooter> {
        Stripe::footer(self.source(), &self.tail, index, self.limits())
    }

    /// As [`begin`](Self::begin), of a stripe whose `footer` has been read.
    pub(super) fn begin_with(&self, index: usize, footer: &orc::StripeFooter) -> Result<Stripe> {
        let is_asked = |id: u32| self.filter.as_ref().is_some_and(|filter| filter.projection.wants(id));
        let wanted = |id: u32| id == 0 || self.projection.wants(id) || is_asked(id);
        Stripe::begin(&self.source, &self.tail, (index, footer), self.limits(), &self.memory, &wanted)
    }

    fn context<'a>(&'a self, stripe: &'a Stripe) -> Context<'a> {
        Context { tail: &self.tail, stripe, options: &self.options, reader: self.reader.as_ref() }
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

    /// Ids of `columns` and of those below, and of the root if it has a stream of its own.
    pub(super) fn ids_of(&self, stripe: &Stripe, columns: &[Projected]) -> Vec<u32> {
        let mut ids = Vec::new();
        if self.is_struct && stripe.streams(0).any(|(kind, _)| kind == StreamKind::Present) {
            ids.push(0);
        }
        columns.iter().for_each(|column| collect_ids(column, &mut ids));
        ids
    }

    fn groups(&self, stripe: &Stripe) -> Result<Vec<Group>> {
        let context = self.context(stripe);
        if self.is_struct {
            return self.root_groups(&context);
        }
        let columns = self.columns.iter().zip(self.schema.fields());
        let columns = columns.map(|(column, field)| build(&context, column, field.data_type()));
        let group = |column| Group { columns: vec![0], reader: GroupReader::Columns(Columns::Root(column)) };
        Ok(columns.collect::<Result<Vec<_>>>()?.into_iter().map(group).collect())
    }

    /// Deals the columns out, the largest first, each to the group that has least.
    fn root_groups(&self, context: &Context<'_>) -> Result<Vec<Group>> {
        let most = self.threads * tuning::GROUPS_PER_THREAD.get();
        let count = if self.threads == 1 { 1 } else { most.min(self.columns.len()).max(1) };
        let bytes = |column: &Projected| {
            let last = self.tail.schema.get(column.id).map_or(column.id, |this| this.last);
            context.stripe.stored_bytes(column.id..=last)
        };
        let mut sizes: Vec<_> = self.columns.iter().map(bytes).enumerate().collect();
        if count > 1 {
            sizes.sort_by_key(|&(_, size)| std::cmp::Reverse(size));
        }
        let mut dealt: Vec<(u64, Vec<usize>)> = vec![(0, Vec::new()); count];
        for (index, size) in sizes {
            if let Some((sum, indexes)) = dealt.iter_mut().min_by_key(|(sum, indexes)| (*sum, indexes.len())) {
                *sum += size;
                indexes.push(index);
            }
        }
        let group = |(_, columns): (u64, Vec<usize>)| {
            let typed = |&index: &usize| Some((self.columns.get(index)?, self.schema.fields().get(index)?.data_type()));
            let projected: Vec<_> = columns.iter().filter_map(typed).collect();
            Ok(Group {
                reader: GroupReader::Columns(Columns::OfRoot(Box::new(build_root(context, &projected)?))),
                columns,
            })
        };
        dealt.into_iter().map(group).collect()
    }
}

/// Finds the columns of a condition among those that are read for it, and those among the batches' columns.
fn new_filter(
    condition: Condition,
    projection: Projection,
    is_struct: bool,
    columns: &[Projected],
    tail: &FileTail,
) -> Result<Filter> {
    let asked = columns_of(&projection.root, is_struct);
    let path = |column: u32| {
        let (mut way, mut level) = (Vec::new(), &asked[..]);
        loop {
            let last = |child: &Projected| tail.schema.get(child.id).map_or(child.id, |this| this.last);
            let holds = |child: &Projected| child.id <= column && column <= last(child);
            let Some(at) = level.iter().position(holds) else { return way };
            way.push(at);
            let Some(child) = level.get(at).filter(|child| child.id != column) else { return way };
            level = &child.children;
        }
    };
    let paths = condition.leaves.iter().map(|leaf| path(leaf.column)).collect();
    let shared = columns.iter().map(|column| asked.iter().position(|asked| asked == column)).collect();
    Ok(Filter { condition, projection, asked, paths, shared })
}

/// The columns of the batches that a projection gives.
fn columns_of(root: &Projected, is_struct: bool) -> Vec<Projected> {
    if is_struct { root.children.clone() } else { vec![root.clone()] }
}

/// Whether a column holds nothing but structs without fields.
fn is_weightless(tail: &FileTail, column: &Projected) -> bool {
    let is_struct = tail.schema.get(column.id).is_ok_and(|this| this.kind == Kind::Struct);
    is_struct && column.children.iter().all(|child| is_weightless(tail, child))
}

/// Ids of a column and of those below it.
fn collect_ids(column: &Projected, ids: &mut Vec<u32>) {
    ids.push(column.id);
    column.children.iter().for_each(|child| collect_ids(child, ids));
}
