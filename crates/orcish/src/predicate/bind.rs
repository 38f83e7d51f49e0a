//! From a predicate to a condition on the columns of a file: names become ids, values become sets of what the
//! columns hold, and negations end at the leaves.

use std::sync::Arc;

use super::ranges::Ordered;
use super::{Altered, Condition, Leaf, Node, Number, Ranges, Set, Test};
use crate::error::{Error, Result};
use crate::expression::{Comparison, Literal, Predicate};
use crate::projection::find;
use crate::schema::{Kind, Schema};
use crate::statistics::{Decimal, successor};
use crate::time::{NANOS_PER_SECOND, SECONDS_PER_DAY};

const NANOS_PER_DAY: i128 = SECONDS_PER_DAY as i128 * NANOS_PER_SECOND;
/// Most digits of a decimal.
const MOST_DIGITS: u32 = 38;

/// What a column is read as, so far as it can be compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Domain {
    Boolean,
    Integer,
    Float,
    Decimal {
        scale: u32,
    },
    Text {
        trimmed: bool,
    },
    Binary,
    Date,
    Timestamp {
        nanoseconds: i64,
        is_instant: bool,
        may_become_null: bool,
    },
    /// It can be null or not, and nothing else can be asked.
    Opaque,
}

/// Types `predicate` against `schema`, where `domain` says what each column is read as.
///
/// # Errors
/// `UnknownColumn` for names that the schema does not have; `InvalidArgument` where a column cannot be compared with
/// a value, or is not one value a row.
pub(crate) fn bind(
    predicate: &Predicate,
    schema: &Schema,
    domain: &dyn Fn(u32) -> Result<Domain>,
) -> Result<Condition> {
    bind_names(predicate, &|name| {
        let id = find(schema, name)?;
        check_is_value(schema, id, name)?;
        Ok(Named { domain: domain(id)?, type_string: schema.type_string(id)?, held: Held::Column(id) })
    })
}

/// As [`bind`], where `named` says what each name stands for.
pub(crate) fn bind_names(predicate: &Predicate, named: &dyn Fn(&str) -> Result<Named>) -> Result<Condition> {
    let mut binder = Binder { named, leaves: Vec::new() };
    let root = binder.node(predicate, true, 1)?;
    Ok(Condition { leaves: binder.leaves, root })
}

/// What a name stands for.
#[derive(Debug, Clone)]
pub(crate) struct Named {
    pub(crate) domain: Domain,
    /// The type as people write it.
    pub(crate) type_string: String,
    pub(crate) held: Held,
}

/// Where the values of a name are.
#[derive(Debug, Clone)]
pub(crate) enum Held {
    /// In a column, by its id.
    Column(u32),
    /// The value is the same in every row: an integer, or days.
    Integer(i64),
    /// The value is the same in every row: a text.
    Text(Vec<u8>),
    /// Null in every row.
    Null,
}

/// Checks that a column has one value a row.
pub(crate) fn check_is_value(schema: &Schema, id: u32, name: &str) -> Result<()> {
    let mut above = schema.get(id)?.parent;
    while let Some(parent) = above {
        let this = schema.get(parent)?;
        if this.kind != Kind::Struct {
            let kind = this.kind.name();
            let text = format!("{name:?} is within a column of type {kind}: a filter needs one value a row");
            return Err(Error::invalid(text));
        }
        above = this.parent;
    }
    Ok(())
}

struct Binder<'a> {
    named: &'a dyn Fn(&str) -> Result<Named>,
    leaves: Vec<Leaf>,
}

/// A column that is asked.
struct Column<'a> {
    name: &'a str,
    domain: Domain,
    type_string: String,
    held: Held,
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
                let among = values.bound(is_known, || column.among(values, positive))?;
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
        let id = match (&column.held, &test) {
            (Held::Column(id), _) => *id,
            (Held::Null, test) => return Node::Constant(*test == Test::IsNull),
            (_, Test::IsNull) => return Node::Constant(false),
            (_, Test::NotNull) => return Node::Constant(true),
            (held, Test::In(set)) => {
                return Node::Constant(match (held, &**set) {
                    (Held::Integer(value), Set::Integers(ranges)) => ranges.holds(|bound| bound <= value),
                    (Held::Text(value), Set::Bytes { ranges, .. }) => ranges.holds(|bound| bound <= value),
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
        let Named { domain, type_string, held } = (self.named)(name)?;
        Ok(Column { name, domain, type_string, held })
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

/// Where a number is among the values of a column.
enum Place<T> {
    /// Below all that the type has room for.
    Below,
    /// The greatest value that is not above it, and whether it is that.
    At(T, bool),
    Above,
}

impl<T> Place<T> {
    /// The place of what is above this, and below all values that are.
    fn between(self) -> Self {
        match self {
            Place::At(value, _) => Place::At(value, false),
            outside => outside,
        }
    }
}

fn compare<T: Ordered>(op: Comparison, place: Place<T>) -> Ranges<T> {
    use Comparison as C;
    match (place, op) {
        (Place::Below, C::NotEqual | C::Greater | C::GreaterOrEqual) => Ranges::all(),
        (Place::Above, C::NotEqual | C::Less | C::LessOrEqual) => Ranges::all(),
        (Place::Below | Place::Above, _) => Ranges::none(),
        (Place::At(value, true), C::Equal) => Ranges::of(value),
        (Place::At(value, true), C::NotEqual) => Ranges::of(value).complement(),
        (Place::At(_, false), C::Equal) => Ranges::none(),
        (Place::At(_, false), C::NotEqual) => Ranges::all(),
        (Place::At(value, true), C::Less) => Ranges::before(value),
        (Place::At(value, _), C::Less | C::LessOrEqual) => Ranges::up_to(&value),
        (Place::At(value, true), C::GreaterOrEqual) => Ranges::from(value),
        (Place::At(value, _), C::Greater | C::GreaterOrEqual) => Ranges::after(&value),
    }
}

/// Where `value / divisor` is among 64-bit integers.
fn among_integers(value: i128, divisor: i128) -> Place<i64> {
    let floor = value.div_euclid(divisor);
    match i64::try_from(floor) {
        Ok(floor) => Place::At(floor, value.rem_euclid(divisor) == 0),
        Err(_) if floor < 0 => Place::Below,
        Err(_) => Place::Above,
    }
}

/// Where an integer is among floating point numbers.
#[expect(
    clippy::cast_possible_truncation,
    reason = "a whole number of up to 128 bits, or the power of two behind them"
)]
fn among_numbers(value: i128) -> Place<Number> {
    let nearest = value as f64;
    let is_above = nearest >= 2f64.powi(127) || nearest as i128 > value;
    let floor = if is_above { nearest.next_down() } else { nearest };
    Number::new(floor).map_or(Place::Above, |floor| Place::At(floor, !is_above && nearest as i128 == value))
}

/// Where a number is among decimals of a scale; `None` for its digits where there are more than fit, and then
/// `is_negative` decides.
fn among_decimals(digits: Option<(i128, u32)>, is_negative: bool, scale: u32) -> Place<i128> {
    let outside = || if is_negative { Place::Below } else { Place::Above };
    let Some((unscaled, from)) = digits else { return outside() };
    match scale.checked_sub(from) {
        Some(more) => {
            let value = 10i128.checked_pow(more).and_then(|power| unscaled.checked_mul(power));
            value.map_or_else(outside, |value| Place::At(value, true))
        }
        None => match 10i128.checked_pow(from - scale) {
            Some(power) => Place::At(unscaled.div_euclid(power), unscaled.rem_euclid(power) == 0),
            None => Place::At(if unscaled < 0 { -1 } else { 0 }, unscaled == 0),
        },
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
        let set = union(sets).map(|set| Arc::new(set.signed(positive)));
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

/// All digits of a whole number. Of others those of the shortest decimal number that is written as this one, and how many
/// of them are behind the point: behind the 38th there is a digit for whatever follows. None where they are too many before
/// the point.
fn digits_of(value: f64) -> Option<(i128, u32)> {
    if value.fract() == 0.0 {
        #[expect(clippy::cast_possible_truncation, reason = "a whole number of less than 128 bits")]
        return (value.abs() < 2f64.powi(127)).then_some((value as i128, 0));
    }
    let text = format!("{value:e}");
    if let Some(number) = Decimal::parse(text.as_bytes()) {
        return Some((number.unscaled(), number.scale()));
    }
    if value.abs() >= 1.0 {
        return None;
    }
    let (mantissa, exponent) = text.split_once('e')?;
    let digits: i128 = mantissa.replace('.', "").parse().ok()?;
    let behind = mantissa.split_once('.').map_or(0, |(_, fraction)| fraction.len());
    let scale = i64::try_from(behind).ok()? - exponent.parse::<i64>().ok()?;
    let power = u32::try_from(scale - i64::from(MOST_DIGITS)).ok().and_then(|more| 10i128.checked_pow(more));
    let floor = power.map_or(if digits < 0 { -1 } else { 0 }, |power| digits.div_euclid(power));
    Some((floor * 10 + 5, MOST_DIGITS + 1))
}

/// What is in any of the sets, which are of one kind; none of none.
fn union(sets: Vec<Set>) -> Option<Set> {
    let first = sets.first()?.clone();
    macro_rules! ranges {
        ($variant:pat => $ranges:ident) => {
            Ranges::union(sets.into_iter().filter_map(|set| match set {
                $variant => Some($ranges),
                _ => None,
            }))
        };
    }
    Some(match first {
        Set::Integers(_) => Set::Integers(ranges!(Set::Integers(ranges) => ranges)),
        Set::Ticks { nanoseconds, .. } => {
            Set::Ticks { ranges: ranges!(Set::Ticks { ranges, .. } => ranges), nanoseconds }
        }
        Set::Numbers { .. } => Set::Numbers { ranges: ranges!(Set::Numbers { ranges, .. } => ranges), nan: false },
        Set::Decimals { scale, .. } => Set::Decimals { ranges: ranges!(Set::Decimals { ranges, .. } => ranges), scale },
        Set::Bytes { trimmed, .. } => Set::Bytes { ranges: ranges!(Set::Bytes { ranges, .. } => ranges), trimmed },
    })
}

impl Set {
    /// The set, or if not `positive` all other values.
    fn signed(self, positive: bool) -> Self {
        if positive { self } else { self.complement() }
    }

    fn complement(&self) -> Self {
        match self {
            Set::Integers(ranges) => Set::Integers(ranges.complement()),
            Set::Ticks { ranges, nanoseconds } => Set::Ticks { ranges: ranges.complement(), nanoseconds: *nanoseconds },
            Set::Numbers { ranges, nan } => Set::Numbers { ranges: ranges.complement(), nan: !nan },
            Set::Decimals { ranges, scale } => Set::Decimals { ranges: ranges.complement(), scale: *scale },
            Set::Bytes { ranges, trimmed } => Set::Bytes { ranges: ranges.complement(), trimmed: *trimmed },
        }
    }

    fn is_empty(&self) -> bool {
        match self {
            Set::Integers(ranges) | Set::Ticks { ranges, .. } => ranges.is_empty(),
            Set::Numbers { ranges, nan } => ranges.is_empty() && !nan,
            Set::Decimals { ranges, .. } => ranges.is_empty(),
            Set::Bytes { ranges, .. } => ranges.is_empty(),
        }
    }
}
