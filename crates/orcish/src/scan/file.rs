//! One file of a scan: what is read of it, and how that becomes batches of the table.

use std::sync::Arc;

use arrow_array::cast::AsArray as _;
use arrow_array::{Array as _, ArrayRef, BooleanArray, RecordBatch, RecordBatchOptions};
use arrow_schema::{FieldRef, Fields, SchemaRef};
use arrow_select::filter::filter_record_batch;

use super::adapt::{Adapt, Matcher, Ways, apply_all, has_timestamps};
use super::table::{Origin, Table};
use super::{Split, TableFile, partition};
use crate::arrow::{BatchReader, Explanation, Mapping, OrcFile, domain, evaluate};
use crate::error::{Error, Result};
use crate::expression::Predicate;
use crate::options::ReadOptions;
use crate::patience::Check;
use crate::predicate::{Condition, Domain, Held, Named, Node, bind_names, check_is_value};
use crate::projection::{Projected, Projection};
use crate::schema::Kind;
use crate::statistics::ColumnStatistics;

/// What is read of a file.
pub(super) struct FileScan {
    file: OrcFile,
    projection: Projection,
    /// Decided while the file is read.
    condition: Option<Condition>,
    options: ReadOptions,
    shape: Shape,
}

/// From what is read of a file to batches of the table.
struct Shape {
    output: SchemaRef,
    origins: Vec<Origin>,
    /// Columns of the table, and how they come from what is read.
    fields: Fields,
    ways: Ways,
    partition: Vec<(Option<String>, FieldRef)>,
    /// What can only be decided of the columns as they are in the table, with the way to the column of each leaf.
    late: Option<(Condition, Vec<Vec<usize>>)>,
}

impl FileScan {
    /// Opens a file; none where no row of it is wanted by its partition.
    pub(super) fn open(table: &Table, at: usize) -> Result<Option<Self>> {
        let Some(this) = table.files.get(at) else { return Err(Error::invalid(format!("no file {at}"))) };
        if is_ruled_out(table, this)? {
            return Ok(None);
        }
        let file = table.orc_file(at)?;
        let column_units = units(table, &file)?;
        let plain = ReadOptions { column_units, ..table.options.clone() };
        let mapping = Mapping { tail: file.tail(), options: &plain };
        let matcher = Matcher { mapping, matching: &table.matching, partition: &table.partition };
        let conjuncts = match &table.options.filter {
            None => Vec::new(),
            Some(Predicate::And(parts)) => parts.clone(),
            Some(other) => vec![other.clone()],
        };
        let (mut early, mut late) = (Vec::new(), Vec::new());
        for conjunct in conjuncts {
            let has_floats = conjunct.has_floats();
            let suits = |name: &str| -> Result<bool> {
                let of_table = table.named(name, Some(this))?.domain;
                let found = named(table, this, &matcher, name)?;
                Ok(found.is_some_and(|found| !has_floats || found.domain == of_table))
            };
            let suits = conjunct.columns().into_iter().map(suits).collect::<Result<Vec<_>>>()?;
            let is_early = suits.into_iter().all(|suits| suits);
            if is_early { early.push(conjunct) } else { late.push(conjunct) }
        }
        let of_file = |name: &str| {
            let found = named(table, this, &matcher, name)?;
            found.ok_or_else(|| Error::invalid(format!("column {name:?} is of another type")))
        };
        let condition = (!early.is_empty()).then(|| bind_names(&Predicate::And(early), &of_file)).transpose()?;
        let mut wanted = table.wanted.clone();
        let late = match late.is_empty() {
            true => None,
            false => Some(bind_late(table, this, &Predicate::And(late), &mut wanted)?),
        };
        let (read, ways) = columns(&matcher, &wanted)?;
        let schema = &file.tail().schema;
        let root = match schema.get(0)?.kind {
            Kind::Struct => Projected { id: 0, children: read },
            _ => Projected { id: 0, children: read.into_iter().next().map(|root| root.children).unwrap_or_default() },
        };
        let projection = Projection::of_root(schema, root);
        let options = ReadOptions {
            stripes: this.stripes.clone(),
            // Rows that are left out later do not count.
            limit: table.options.limit.filter(|_| late.is_none()),
            ..plain
        };
        let value = |field: &FieldRef| {
            let value = this.partition.iter().find(|(name, _)| name == field.name());
            (value.and_then(|(_, value)| value.clone()), field.clone())
        };
        Ok(Some(FileScan {
            projection,
            condition,
            options,
            shape: Shape {
                output: table.output.clone(),
                origins: table.origins.clone(),
                fields: wanted.into_iter().map(|(_, field)| field).collect(),
                ways,
                partition: table.partition.iter().map(value).collect(),
                late,
            },
            file,
        }))
    }

    /// Begins to read with some threads, beside so many files in all that are read at a time.
    pub(super) fn read(self, threads: usize, beside: usize) -> Result<FileReader> {
        let options = ReadOptions { threads, ..self.options };
        let most = options.batch_size;
        let reader = self.file.read_projected(self.projection, options, self.condition, beside)?;
        Ok(FileReader { reader, shape: self.shape, name: self.file.name().to_owned(), most, rest: None })
    }

    pub(super) fn explain(self) -> Result<Explanation> {
        self.file.explain_projected(self.projection, self.options, self.condition)
    }

    /// Statistics of the one column that is read, over the stripes of which all rows are wanted, and the indexes of the
    /// others; of none where the column is not stored as it is in the table, or rows are left out late.
    pub(super) fn proven(self) -> Result<(ColumnStatistics, Vec<usize>)> {
        let mut column = self.projection.root.children.first();
        let mut is_kept = matches!(self.shape.ways.first(), Some((Some(0), Adapt::Keep))) && self.shape.late.is_none();
        while let Some(inner) = column.and_then(|column| column.children.first()) {
            // One field of a struct, and nothing else.
            is_kept &= column.is_some_and(|column| column.children.len() == 1);
            column = Some(inner);
        }
        let id = column.map_or(0, |column| column.id);
        let is_value = check_is_value(&self.file.tail().schema, id, "").is_ok();
        if !is_kept || !is_value {
            let stripes = self.file.stripes_read(self.projection, self.options, self.condition)?;
            return Ok((ColumnStatistics::EMPTY, stripes));
        }
        self.file.proven(id, self.projection, self.options, self.condition)
    }

    /// Runs of the stripes that are read, of about `bytes` bytes each.
    pub(super) fn splits(self, file: TableFile, bytes: u64) -> Result<Vec<Split>> {
        let stripes = self.file.stripes_read(self.projection, self.options, self.condition)?;
        let tail = self.file.tail();
        let file = TableFile { tail: Some(tail.to_bytes().into()), ..file };
        let mut splits: Vec<(Vec<usize>, u64, u64)> = Vec::new();
        for stripe in stripes {
            let Some(info) = tail.stripes.get(stripe) else { continue };
            let size = info.index_length.saturating_add(info.data_length).saturating_add(info.footer_length);
            match splits.last_mut() {
                Some((run, rows, sum)) if sum.saturating_add(size) <= bytes => {
                    run.push(stripe);
                    *rows += info.rows;
                    *sum += size;
                }
                _ => splits.push((vec![stripe], info.rows, size)),
            }
        }
        let split =
            |(stripes, rows, bytes)| Split { file: TableFile { stripes: Some(stripes), ..file.clone() }, rows, bytes };
        Ok(splits.into_iter().map(split).collect())
    }
}

/// The units of timestamps of a file: those that they have in the table.
fn units(table: &Table, file: &OrcFile) -> Result<Vec<(u32, crate::options::TimestampUnit)>> {
    let mapping = Mapping { tail: file.tail(), options: &table.options };
    let matcher = Matcher { mapping, matching: &table.matching, partition: &table.partition };
    let is_struct = file.tail().schema.get(0)?.kind == Kind::Struct;
    let mut units = Vec::new();
    for (place, field) in table.fields.iter().enumerate().filter(|(_, field)| has_timestamps(field.data_type())) {
        if !is_struct {
            if matcher.is_root(place, field)? {
                matcher.units(0, field.data_type(), &mut units)?;
            }
        } else if let Ok(Some(id)) = matcher.find(0, place, field) {
            // What cannot be found is an error where it is read.
            matcher.units(id, field.data_type(), &mut units)?;
        }
    }
    Ok(units)
}

/// Whether the filter is true of no row, whatever is in the file, by the values of the partition columns.
pub(super) fn is_ruled_out(table: &Table, file: &TableFile) -> Result<bool> {
    let Some(filter) = &table.options.filter else { return Ok(false) };
    let condition = bind_names(filter, &|name| table.named(name, Some(file)))?;
    Ok(condition.root == Node::Constant(false))
}

/// What a name stands for in a file; none where its values compare otherwise than in the table.
fn named(table: &Table, file: &TableFile, matcher: &Matcher<'_>, name: &str) -> Result<Option<Named>> {
    let in_table = table.named(name, Some(file))?;
    if table.partition.iter().any(|field| field.name() == name) {
        return Ok(Some(in_table));
    }
    let (schema, path) = (&matcher.mapping.tail.schema, table.path(name)?);
    let mut id = 0;
    for (depth, &place) in path.iter().enumerate() {
        let upto = path.get(..=depth).unwrap_or_default();
        let Some(field) = table.field_at(upto) else { return Ok(None) };
        if depth == 0 && schema.get(0)?.kind != Kind::Struct {
            if matcher.is_root(place, &field)? {
                continue;
            }
            return Ok(Some(Named { held: Held::Null, ..in_table }));
        }
        match matcher.find(id, place, &field)? {
            Some(child) => id = child,
            None => return Ok(Some(Named { held: Held::Null, ..in_table })),
        }
    }
    check_is_value(schema, id, name)?;
    let stored = domain(&matcher.mapping, id)?;
    let kind = schema.get(id)?.kind;
    let is_alike = match (stored, in_table.domain) {
        (Domain::Text { .. }, Domain::Text { .. }) => true,
        (Domain::Decimal { scale: stored }, Domain::Decimal { scale }) => stored <= scale,
        (Domain::Integer, Domain::Decimal { .. }) => true,
        // Larger integers are rounded.
        (Domain::Integer, Domain::Float) => matches!(kind, Kind::Byte | Kind::Short),
        (stored, of_table) => stored == of_table,
    };
    let named = Named { domain: stored, type_string: schema.type_string(id)?, held: Held::Column(id) };
    Ok(is_alike.then_some(named))
}

/// Binds what is decided of the columns of the table; those that are not read yet are added to `wanted`.
fn bind_late(
    table: &Table,
    file: &TableFile,
    predicate: &Predicate,
    wanted: &mut Vec<(usize, FieldRef)>,
) -> Result<(Condition, Vec<Vec<usize>>)> {
    let mut names: Vec<&str> = predicate.columns();
    names.sort_unstable();
    names.dedup();
    let is_partition = |name: &str| table.partition.iter().any(|field| field.name() == name);
    let mut ways = Vec::new();
    for &name in &names {
        if is_partition(name) {
            ways.push(Vec::new());
            continue;
        }
        let path = table.path(name)?;
        let Some((&top, below)) = path.split_first() else { continue };
        let Some(whole) = table.fields.get(top) else { continue };
        // A column that is read in part does for its whole only.
        let at = wanted.iter().position(|(place, field)| *place == top && field == whole).unwrap_or_else(|| {
            wanted.push((top, whole.clone()));
            wanted.len() - 1
        });
        ways.push([vec![at], below.to_vec()].concat());
    }
    let condition = bind_names(predicate, &|name| {
        let found = table.named(name, Some(file))?;
        let at = names.iter().position(|other| *other == name).unwrap_or_default();
        Ok(match found.held {
            Held::Column(_) => Named { held: Held::Column(u32::try_from(at).unwrap_or_default()), ..found },
            _ => found,
        })
    })?;
    let way = |leaf: &crate::predicate::Leaf| ways.get(leaf.column as usize).cloned().unwrap_or_default();
    let ways = condition.leaves.iter().map(way).collect();
    Ok((condition, ways))
}

/// The columns of a file that are read, and how those of the table come from them.
fn columns(matcher: &Matcher<'_>, wanted: &[(usize, FieldRef)]) -> Result<(Vec<Projected>, Ways)> {
    if matcher.mapping.tail.schema.get(0)?.kind == Kind::Struct {
        return matcher.fields(0, wanted);
    }
    // The root is the one column.
    let (mut read, mut ways) = (Vec::new(), Vec::new());
    for (place, field) in wanted {
        if !matcher.is_root(*place, field)? {
            ways.push((None, Adapt::Missing));
            continue;
        }
        let (projected, adapt) = matcher.column(0, field.data_type())?;
        ways.push((Some(0), adapt));
        read.push(projected);
    }
    read.truncate(1);
    Ok((read, ways))
}

/// Batches of the table from one file.
pub(super) struct FileReader {
    reader: BatchReader,
    shape: Shape,
    name: String,
    /// Most rows of a batch.
    most: usize,
    /// What is left of a batch that has more.
    rest: Option<RecordBatch>,
}

impl FileReader {
    pub(super) fn while_waiting(&mut self, check: Check) {
        self.reader.while_waiting(check);
    }
}

impl Iterator for FileReader {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut batch = match self.rest.take() {
            Some(rest) => rest,
            None => match self.reader.next()? {
                Ok(batch) => batch,
                Err(error) => return Some(Err(error)),
            },
        };
        // Batches without columns may have any number of rows; the table may have columns that the file has not.
        let rows = batch.num_rows();
        if rows > self.most && !self.shape.origins.is_empty() {
            self.rest = Some(batch.slice(self.most, rows - self.most));
            batch = batch.slice(0, self.most);
        }
        Some(self.shape.apply(&batch).map_err(|error| error.in_file(&self.name)))
    }
}

impl Shape {
    fn apply(&self, batch: &RecordBatch) -> Result<RecordBatch> {
        let rows = batch.num_rows();
        let columns = apply_all(&self.ways, batch.columns(), &self.fields, rows)?;
        let array = |origin: &Origin| match origin {
            Origin::File(at) => columns.get(*at).cloned().ok_or_else(|| Error::invalid("a column is missing")),
            Origin::Partition(at) => {
                let Some((value, field)) = self.partition.get(*at) else { return Err(Error::invalid("no partition")) };
                partition::array(value.as_deref(), field.data_type(), rows)
            }
            Origin::RowNumber => batch.columns().last().cloned().ok_or_else(|| Error::invalid("no row numbers")),
        };
        let arrays = self.origins.iter().map(array).collect::<Result<Vec<_>>>()?;
        let is_null = |(field, array): &(&FieldRef, &ArrayRef)| !field.is_nullable() && array.null_count() > 0;
        if let Some((field, _)) = self.output.fields().iter().zip(&arrays).find(is_null) {
            return Err(Error::invalid("there are nulls, which it has not in the table").in_column(field.name()));
        }
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        let misfit = |error| Error::corrupt("the columns do not fit together").with_source(error);
        let batch = RecordBatch::try_new_with_options(self.output.clone(), arrays, &options).map_err(misfit)?;
        let Some((condition, ways)) = &self.late else { return Ok(batch) };
        let kept = evaluate(condition, rows, &|leaf| value(ways.get(leaf), &columns))?;
        filter_record_batch(&batch, &BooleanArray::new(kept, None)).map_err(misfit)
    }
}

/// The values at the end of a way down.
fn value(way: Option<&Vec<usize>>, columns: &[ArrayRef]) -> Result<ArrayRef> {
    let missing = || Error::invalid("a column of the filter is missing");
    let mut way = way.ok_or_else(missing)?.iter();
    let mut array = way.next().and_then(|&at| columns.get(at)).ok_or_else(missing)?.clone();
    for &at in way {
        let Some(parent) = array.as_struct_opt() else { return Err(missing()) };
        let child = parent.columns().get(at).ok_or_else(missing)?;
        // A field of what is null is null.
        let nulls = arrow_buffer::NullBuffer::union(parent.nulls(), child.nulls());
        let data = child.to_data().into_builder().nulls(nulls).build();
        array = Arc::new(arrow_array::make_array(
            data.map_err(|error| Error::corrupt("a field does not fit").with_source(error))?,
        ));
    }
    Ok(array)
}
