//! What of the stages a reader evaluates itself, and what is left.

use std::collections::HashSet;
use std::fmt;

use arrow_schema::{DataType, Schema, SchemaRef};

use super::Stage;
use super::late::LateFilter;
use crate::error::Result;
use crate::expression::Predicate;
use crate::names::ArrowNames;

/// The stages of a scan, divided into the part that the reader evaluates and the part that is applied to its batches.
#[derive(Debug, Clone, Default)]
pub struct StagePlan {
    /// The filter of the reader.
    pub filter: Option<Predicate>,
    /// The limit of the reader.
    pub limit: Option<u64>,
    /// What is applied after the read, in order.
    pub(super) late: Vec<LateStage>,
    /// Names of the top-level columns that the later filters need, without repetitions; `None` where they are not known.
    pub(super) columns: Option<Vec<String>>,
}

/// The filters of a stage that are applied after the read, and its limit.
#[derive(Debug, Clone)]
pub(super) struct LateStage {
    pub(super) filters: Vec<LateFilter>,
    pub(super) limit: Option<u64>,
}

impl StagePlan {
    /// Divides stages. What follows a limit, or a row filter, is applied after the read. `readable` returns the columns that
    /// filters can name; `has_read_unions` says that unions are read as structs, by which no reader filters.
    ///
    /// # Errors
    /// Errors of `readable`; as binding a filter to the columns.
    pub fn try_new(
        stages: &[Stage],
        has_read_unions: bool,
        readable: impl FnOnce() -> Result<SchemaRef>,
    ) -> Result<Self> {
        let mut plan = StagePlan { columns: Some(Vec::new()), ..StagePlan::default() };
        let Some((first, later)) = stages.split_first() else { return Ok(plan) };
        let is_simple = later.is_empty() && first.row_filters.is_empty();
        if is_simple && !(has_read_unions && first.predicate.is_some()) {
            plan.filter.clone_from(&first.predicate);
            plan.limit = first.limit;
            return Ok(plan);
        }
        let readable = readable()?;
        let (pushed, left) = match &first.predicate {
            Some(predicate) if has_read_unions => split(predicate, &readable)?,
            predicate => (predicate.clone(), None),
        };
        plan.filter = pushed;
        let filters: Vec<LateFilter> = left.map(LateFilter::Predicate).into_iter().chain(row_filters(first)).collect();
        if filters.is_empty() {
            plan.limit = first.limit;
        } else {
            plan.late.push(LateStage { filters, limit: first.limit });
        }
        for stage in later {
            let own = stage.predicate.clone().map(LateFilter::Predicate);
            let filters = own.into_iter().chain(row_filters(stage)).collect();
            plan.late.push(LateStage { filters, limit: stage.limit });
        }
        plan.columns = plan.needed(&readable)?;
        Ok(plan)
    }

    /// Binds the later filters to the columns, and returns the names of those that they need.
    fn needed(&self, readable: &Schema) -> Result<Option<Vec<String>>> {
        let mut names = Some(Vec::new());
        let mut resolver = ArrowNames::new(readable.fields());
        for filter in self.filters() {
            let columns = filter.columns(readable)?;
            for name in columns.iter().flatten() {
                if readable.fields().find(name).is_none() {
                    // The error has the nearest names.
                    resolver.path(&name.into(), &arrow_schema::Fields::empty())?;
                }
            }
            names = names.zip(columns).map(|(mut names, columns)| {
                names.extend(columns);
                names
            });
        }
        let mut seen = HashSet::new();
        Ok(names.map(|names| names.into_iter().filter(|name| seen.insert(name.clone())).collect()))
    }

    fn filters(&self) -> impl Iterator<Item = &LateFilter> {
        self.late.iter().flat_map(|stage| &stage.filters)
    }

    /// Whether rows are filtered, or their number is limited, after the read.
    pub fn is_late(&self) -> bool {
        !self.late.is_empty()
    }

    /// Whether each row is kept or not whatever the other rows are, but for limits.
    pub fn is_elementwise(&self) -> bool {
        self.filters().all(LateFilter::is_elementwise)
    }

    /// Whether a part of the rows, such as a split, can be read by itself: no stage has a limit, and all filters are
    /// elementwise.
    pub fn is_divisible(&self) -> bool {
        self.limit.is_none() && self.late.iter().all(|stage| stage.limit.is_none()) && self.is_elementwise()
    }

    /// The number of rows after which a read ends, where it is known before.
    pub fn known_limit(&self) -> Option<u64> {
        if self.late.iter().any(|stage| stage.limit == Some(0)) { Some(0) } else { self.limit }
    }
}

fn row_filters(stage: &Stage) -> impl Iterator<Item = LateFilter> {
    stage.row_filters.iter().cloned().map(LateFilter::Row)
}

/// The filters and limits that are applied after the read, for people. The last limit is that of the read.
impl fmt::Display for StagePlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let last = self.late.len().saturating_sub(1);
        for (at, stage) in self.late.iter().enumerate() {
            if at > 0 {
                f.write_str(", then ")?;
            }
            for (place, filter) in stage.filters.iter().enumerate() {
                if place > 0 {
                    f.write_str("; ")?;
                }
                filter.fmt(f)?;
            }
            if let Some(limit) = stage.limit.filter(|_| at < last) {
                write!(f, ", then limit {limit}")?;
            }
        }
        Ok(())
    }
}

/// Divides a conjunction into what a reader evaluates, and what is about unions that are read as structs.
fn split(predicate: &Predicate, readable: &Schema) -> Result<(Option<Predicate>, Option<Predicate>)> {
    let mut names = ArrowNames::new(readable.fields());
    let mut is_apart = |part: &Predicate| -> Result<bool> {
        for name in part.columns() {
            let path = names.path(name, &arrow_schema::Fields::empty())?;
            if leads_into_union(readable, &path) {
                return Ok(true);
            }
        }
        Ok(false)
    };
    let parts = match predicate {
        Predicate::And(parts) => parts.clone(),
        part => vec![part.clone()],
    };
    let (mut pushed, mut left) = (Vec::new(), Vec::new());
    for part in parts {
        if is_apart(&part)? { left.push(part) } else { pushed.push(part) }
    }
    let whole = |mut parts: Vec<Predicate>| match parts.len() {
        0 => None,
        1 => parts.pop(),
        _ => Some(Predicate::And(parts)),
    };
    Ok((whole(pushed), whole(left)))
}

/// Whether a column on the path has the form of a union that is read as a struct: a tag, and `field0`, `field1`, ….
fn leads_into_union(schema: &Schema, path: &[usize]) -> bool {
    let mut fields = schema.fields();
    for &at in path {
        let Some(DataType::Struct(below)) = fields.get(at).map(|field| field.data_type()) else { return false };
        let is_union = below.first().is_some_and(|tag| tag.name() == "tag" && tag.data_type().is_integer())
            && below.iter().skip(1).enumerate().all(|(at, field)| *field.name() == format!("field{at}"));
        if is_union {
            return true;
        }
        fields = below;
    }
    false
}
