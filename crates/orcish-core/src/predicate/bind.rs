//! From a predicate to a condition on the columns of a file: names become ids, values become sets of what the
//! columns hold, and negations end at the leaves.

use std::sync::Arc;

use super::altered::Altered;
use super::condition::{Condition, Leaf, Node, Set, Test};
use super::domain::Domain;
use super::place::{Place, among_decimals, among_integers, among_numbers, compare, digits_of};
use super::ranges::{Number, Ranges};
use crate::error::{Error, Result};
use crate::expression::{Comparison, Literal, Predicate};
use crate::statistics::successor;
use crate::types::NANOSECONDS_OF_DAY;

const NANOS_PER_DAY: i128 = NANOSECONDS_OF_DAY as i128;

/// Binds `predicate` to columns. `named` says what each name stands for.
///
/// # Errors
/// Those of `named`; `InvalidArgument` where a column cannot be compared with a value, and for too many levels.
pub fn bind_names(predicate: &Predicate, named: &dyn Fn(&str) -> Result<FilterColumn>) -> Result<Condition> {
    let mut binder = Binder { named, leaves: Vec::new() };
    let root = binder.node(predicate, true, 1)?;
    Ok(Condition { leaves: binder.leaves, root })
}

/// What a name stands for.
#[derive(Debug, Clone)]
pub struct FilterColumn {
    /// How values are compared.
    pub domain: Domain,
    /// The type as people write it.
    pub type_string: String,
    /// Where the values are.
    pub source: ValueSource,
}

/// Where the values of a name are.
#[derive(Debug, Clone)]
pub enum ValueSource {
    /// In a column, by its id.
    Column(u32),
    /// The value is the same in every row: an integer, or days.
    Integer(i64),
    /// The value is the same in every row: a text.
    Text(Vec<u8>),
    /// Null in every row.
    Null,
}

struct Binder<'a> {
    named: &'a dyn Fn(&str) -> Result<FilterColumn>,
    leaves: Vec<Leaf>,
}

/// A column that is asked.
struct Column<'a> {
    name: &'a str,
    domain: Domain,
    type_string: String,
    source: ValueSource,
}

impl Binder<'_> {
    /// The node for which `predicate`, which is `depth` levels deep in the whole, is true, or if not `positive` false.
    fn node(&mut self, predicate: &Predicate, positive: bool, depth: usize) -> Result<Node> {
        match predicate {
            Predicate::Not(_) | Predicate::And(_) | Predicate::Or(_) if depth > Predicate::MAX_DEPTH => {
                Err(Error::invalid(format!("a filter of more than {} levels", Predicate::MAX_DEPTH)))
            }
            Predicate::Constant(None) => Ok(Node::Constant(false)),
            Predicate::Constant(Some(value)) => Ok(Node::Constant(*value == positive)),
            Predicate::Not(inner) => self.node(inner, !positive, depth + 1),
            Predicate::And(parts) | Predicate::Or(parts) => {
                let is_all = matches!(predicate, Predicate::And(_)) == positive;
                let nodes =
                    parts.iter().map(|part| self.node(part, positive, depth + 1)).collect::<Result<Vec<_>>>()?;
                Ok(joined(nodes, is_all))
            }
            Predicate::IsNull { column } => {
                let column = self.column(column)?;
                let test = if positive { Test::IsNull } else { Test::NotNull };
                Ok(self.leaf(&column, test, format!("{} is {}null", column.name, if positive { "" } else { "not " })))
            }
            Predicate::IsNan { column } => {
                let column = self.column(column)?;
                if column.domain != Domain::Float {
                    return Err(column.misfit("be NaN"));
                }
                let ranges = if positive { Ranges::none() } else { Ranges::all() };
                let set = Set::Numbers { ranges, nan: positive };
                self.set(&column, Arc::new(set), predicate, positive)
            }
            Predicate::StartsWith { column, prefix } => {
                let column = self.column(column)?;
                let set = match (column.domain, prefix) {
                    (_, Literal::Null) => return Ok(Node::Constant(false)),
                    (Domain::Text { .. } | Domain::Binary, Literal::String(_) | Literal::Binary(_)) => {
                        let prefix = column.bytes(prefix)?;
                        let end = successor(&prefix);
                        column.of_bytes(Ranges::between(prefix, end))
                    }
                    _ => return Err(column.misfit(&format!("begin with {} {prefix}", prefix.kind()))),
                };
                self.set(&column, Arc::new(set.signed(positive)), predicate, positive)
            }
            Predicate::Compare { column, op, value } => {
                let column = self.column(column)?;
                let Some(set) = column.compare(*op, value)? else { return Ok(Node::Constant(false)) };
                self.set(&column, Arc::new(set.signed(positive)), predicate, positive)
            }
            Predicate::In { column, values } => {
                let column = self.column(column)?;
                // The values may be many, and the files too.
                let is_known = |known: &Among| known.domain == column.domain && known.positive == positive;
                let among = values.get_or_bind(is_known, || column.among(values, positive))?;
                match &among.set {
                    // What is in none of the values is unknown where null is among them.
                    _ if among.has_null && !positive => Ok(Node::Constant(false)),
                    Some(set) => self.set(&column, set.clone(), predicate, positive),
                    None if positive => Ok(Node::Constant(false)),
                    // Not in nothing: so are nulls.
                    None => Ok(Node::Constant(true)),
                }
            }
        }
    }

    fn set(&mut self, column: &Column<'_>, set: Arc<Set>, predicate: &Predicate, positive: bool) -> Result<Node> {
        Ok(match set.is_empty() {
            true => Node::Constant(false),
            false => self.leaf(column, Test::In(set), text(predicate, positive)),
        })
    }

    fn leaf(&mut self, column: &Column<'_>, test: Test, text: String) -> Node {
        let id = match (&column.source, &test) {
            (ValueSource::Column(id), _) => *id,
            (ValueSource::Null, test) => return Node::Constant(*test == Test::IsNull),
            (_, Test::IsNull) => return Node::Constant(false),
            (_, Test::NotNull) => return Node::Constant(true),
            (source, Test::In(set)) => {
                return Node::Constant(match (source, &**set) {
                    (ValueSource::Integer(value), Set::Integers(ranges)) => ranges.holds(|bound| bound <= value),
                    (ValueSource::Text(value), Set::Bytes { ranges, .. }) => ranges.holds(|bound| bound <= value),
                    // No other sets are made of their types.
                    _ => false,
                });
            }
        };
        let may_become_null = matches!(column.domain, Domain::Timestamp { may_become_null: true, .. });
        let is_instant = matches!(column.domain, Domain::Timestamp { is_instant: true, .. });
        self.leaves.push(Leaf { column: id, test, may_become_null, is_instant, altered: Altered::default(), text });
        Node::Leaf(self.leaves.len() - 1)
    }

    fn column<'n>(&self, name: &'n str) -> Result<Column<'n>> {
        let FilterColumn { domain, type_string, source } = (self.named)(name)?;
        Ok(Column { name, domain, type_string, source })
    }
}

/// What a column may have of some values, or what it may have if it has none of them.
struct Among {
    domain: Domain,
    positive: bool,
    /// None of no values.
    set: Option<Arc<Set>>,
    has_null: bool,
}

/// The nodes put together, without those that make no difference.
fn joined(nodes: Vec<Node>, is_all: bool) -> Node {
    let mut kept = Vec::with_capacity(nodes.len());
    for node in nodes {
        match node {
            Node::Constant(value) if value == is_all => {}
            Node::Constant(value) => return Node::Constant(value),
            node => kept.push(node),
        }
    }
    match (kept.len(), is_all) {
        (0, _) => Node::Constant(is_all),
        (1, _) => kept.pop().unwrap_or(Node::Constant(is_all)),
        (_, true) => Node::All(kept),
        (_, false) => Node::Any(kept),
    }
}

fn text(predicate: &Predicate, positive: bool) -> String {
    match predicate {
        Predicate::Compare { column, op, value } if !positive => format!("{column} {} {value}", op.negated()),
        predicate if !positive => format!("not {predicate}"),
        predicate => predicate.to_string(),
    }
}

impl Column<'_> {
    fn misfit(&self, what: &str) -> Error {
        Error::invalid(format!("column {} of type {} cannot {what}", self.name, self.type_string))
    }

    fn of_bytes(&self, ranges: Ranges<Vec<u8>>) -> Set {
        Set::Bytes { ranges, trimmed: self.domain == Domain::Text { trimmed: true } }
    }

    fn bytes(&self, value: &Literal) -> Result<Vec<u8>> {
        match (self.domain, value) {
            (Domain::Text { .. }, Literal::String(text)) => Ok(text.as_bytes().to_vec()),
            (Domain::Binary, Literal::String(text)) => Ok(text.as_bytes().to_vec()),
            (Domain::Binary | Domain::Text { .. }, Literal::Binary(bytes)) => Ok(bytes.clone()),
            _ => Err(self.misfit(&format!("be compared with {} {value}", value.kind()))),
        }
    }

    /// The values for which the comparison is true; none where it is unknown for all.
    fn compare(&self, op: Comparison, value: &Literal) -> Result<Option<Set>> {
        let misfit = || Err(self.misfit(&format!("be compared with {} {value}", value.kind())));
        Ok(Some(match (self.domain, value) {
            (Domain::Opaque, _) => return Err(self.misfit("be compared, only be null or not")),
            (_, Literal::Null) => return Ok(None),
            (Domain::Boolean, Literal::Boolean(value)) => {
                Set::Integers(compare(op, Place::At(i64::from(*value), true)))
            }
            (Domain::Integer, _) => match self.place_of_number(value)? {
                Some(place) => Set::Integers(compare(op, place)),
                None if op == Comparison::NotEqual => Set::Integers(Ranges::all()),
                None => Set::Integers(Ranges::none()),
            },
            (Domain::Float, _) => {
                let place = match value {
                    Literal::Integer(value) => Some(among_numbers(*value)),
                    Literal::Float(value) => Number::new(*value).map(|number| Place::At(number, true)),
                    Literal::Decimal { .. } => {
                        let nearest = value.to_string().parse().ok();
                        nearest.and_then(Number::new).map(|number| Place::At(number, true))
                    }
                    Literal::LongDecimal { nearest, .. } => Number::new(*nearest).map(|number| Place::At(number, true)),
                    _ => return misfit(),
                };
                let ranges = match place {
                    Some(place) => compare(op, place),
                    None if op == Comparison::NotEqual => Ranges::all(),
                    None => Ranges::none(),
                };
                Set::Numbers { ranges, nan: op == Comparison::NotEqual }
            }
            (Domain::Decimal { scale }, _) => {
                let (digits, is_negative) = match value {
                    Literal::LongDecimal { floor, scale: from, .. } => {
                        let place = among_decimals(Some((*floor, *from)), *floor < 0, scale).between();
                        return Ok(Some(Set::Decimals { ranges: compare(op, place), scale }));
                    }
                    Literal::Integer(value) => (Some((*value, 0)), *value < 0),
                    Literal::Decimal { unscaled, scale } => (Some((*unscaled, *scale)), *unscaled < 0),
                    Literal::Float(value) if value.is_nan() => {
                        let all = op == Comparison::NotEqual;
                        let ranges = if all { Ranges::all() } else { Ranges::none() };
                        return Ok(Some(Set::Decimals { ranges, scale }));
                    }
                    Literal::Float(value) => (digits_of(*value), *value < 0.0),
                    _ => return misfit(),
                };
                Set::Decimals { ranges: compare(op, among_decimals(digits, is_negative, scale)), scale }
            }
            (Domain::Text { .. } | Domain::Binary, _) => {
                self.of_bytes(compare(op, Place::At(self.bytes(value)?, true)))
            }
            (Domain::Date, Literal::Date(days)) => Set::Integers(compare(op, Place::At(*days, true))),
            (Domain::Date, Literal::Timestamp { nanoseconds, is_instant: false }) => {
                Set::Integers(compare(op, among_integers(*nanoseconds, NANOS_PER_DAY)))
            }
            (Domain::Timestamp { nanoseconds, is_instant, .. }, _) => {
                let nanos = match value {
                    Literal::Timestamp { nanoseconds, is_instant: of_value } if *of_value == is_instant => *nanoseconds,
                    Literal::Date(days) if !is_instant => i128::from(*days) * NANOS_PER_DAY,
                    _ => return misfit(),
                };
                Set::Ticks { ranges: compare(op, among_integers(nanos, nanoseconds.into())), nanoseconds }
            }
            _ => return misfit(),
        }))
    }

    /// The values of the column that are among some, or if not `positive` among no others.
    fn among(&self, values: &[Literal], positive: bool) -> Result<Among> {
        let (mut sets, mut has_null) = (Vec::with_capacity(values.len()), false);
        for value in values {
            match self.compare(Comparison::Equal, value)? {
                Some(set) => sets.push(set),
                None => has_null = true,
            }
        }
        let set = Set::union(sets).map(|set| Arc::new(set.signed(positive)));
        Ok(Among { domain: self.domain, positive, set, has_null })
    }

    /// Where a number is among integers; none for NaN.
    fn place_of_number(&self, value: &Literal) -> Result<Option<Place<i64>>> {
        Ok(match value {
            Literal::Integer(value) => Some(among_integers(*value, 1)),
            Literal::Decimal { unscaled, scale } => Some(match 10i128.checked_pow(*scale) {
                Some(power) => among_integers(*unscaled, power),
                None => Place::At(if *unscaled < 0 { -1 } else { 0 }, *unscaled == 0),
            }),
            Literal::LongDecimal { floor, scale, .. } => Some(match 10i128.checked_pow(*scale) {
                Some(power) => among_integers(*floor, power).between(),
                None => Place::At(if *floor < 0 { -1 } else { 0 }, false),
            }),
            Literal::Float(value) if value.is_nan() => None,
            #[expect(clippy::cast_possible_truncation, reason = "the cast saturates, far outside of 64 bits")]
            Literal::Float(value) => Some(match among_integers(value.floor() as i128, 1) {
                Place::At(floor, _) => Place::At(floor, value.fract() == 0.0),
                outside => outside,
            }),
            _ => return Err(self.misfit(&format!("be compared with {} {value}", value.kind()))),
        })
    }
}
