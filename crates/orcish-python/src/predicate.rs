//! Predicates as Python passes them: nested tuples, which `orcish.expression` makes.

use orcish::{Comparison, Literal, Predicate};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

fn malformed(node: &Bound<'_, PyAny>) -> PyErr {
    PyValueError::new_err(format!("not a predicate: {node}"))
}

/// The predicate of a tree; Python bounds how deep it is by bounding recursion when it makes it.
pub(crate) fn predicate(tree: &Bound<'_, PyAny>) -> PyResult<Predicate> {
    let node = tree.cast::<PyTuple>().map_err(|_| malformed(tree))?;
    let word: String = node.get_item(0)?.extract()?;
    let part = |at: usize| node.get_item(at);
    let column = || part(1)?.extract::<String>();
    let parts = || part(1)?.try_iter()?.map(|part| predicate(&part?)).collect::<PyResult<Vec<_>>>();
    Ok(match word.as_str() {
        "and" => Predicate::And(parts()?),
        "or" => Predicate::Or(parts()?),
        "not" => Predicate::Not(Box::new(predicate(&part(1)?)?)),
        "constant" => Predicate::Constant(part(1)?.extract()?),
        "is_null" => Predicate::IsNull { column: column()? },
        "is_nan" => Predicate::IsNan { column: column()? },
        "starts_with" => Predicate::StartsWith { column: column()?, prefix: literal(&part(2)?)? },
        "in" => {
            let values = part(2)?.try_iter()?.map(|value| literal(&value?)).collect::<PyResult<_>>()?;
            Predicate::In { column: column()?, values }
        }
        "compare" => {
            let op = match part(1)?.extract::<String>()?.as_str() {
                "=" => Comparison::Equal,
                "!=" => Comparison::NotEqual,
                "<" => Comparison::Less,
                "<=" => Comparison::LessOrEqual,
                ">" => Comparison::Greater,
                ">=" => Comparison::GreaterOrEqual,
                _ => return Err(malformed(tree)),
            };
            Predicate::Compare { column: part(2)?.extract()?, op, value: literal(&part(3)?)? }
        }
        _ => return Err(malformed(tree)),
    })
}

fn literal(tagged: &Bound<'_, PyAny>) -> PyResult<Literal> {
    let value = tagged.cast::<PyTuple>().map_err(|_| malformed(tagged))?;
    let word: String = value.get_item(0)?.extract()?;
    let part = |at: usize| value.get_item(at);
    Ok(match word.as_str() {
        "null" => Literal::Null,
        "bool" => Literal::Boolean(part(1)?.extract()?),
        // Beyond 128 bits it is beyond all columns too.
        "int" => match part(1)?.extract::<i128>() {
            Ok(value) => Literal::Integer(value),
            Err(_) => Literal::Integer(if part(1)?.lt(0)? { i128::MIN } else { i128::MAX }),
        },
        "float" => Literal::Float(part(1)?.extract()?),
        "decimal" => decimal(&part(1)?.extract::<String>()?).ok_or_else(|| malformed(tagged))?,
        "string" => Literal::String(part(1)?.extract()?),
        "binary" => Literal::Binary(part(1)?.extract()?),
        "date" => Literal::Date(part(1)?.extract()?),
        "timestamp" => Literal::Timestamp { nanoseconds: part(1)?.extract()?, is_instant: part(2)?.extract()? },
        _ => return Err(malformed(tagged)),
    })
}

/// A decimal written without exponent, such as `-12.50`; beyond 38 digits before the point it is as large as numbers
/// get here, which is beyond all columns.
fn decimal(text: &str) -> Option<Literal> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let fraction = fraction.trim_end_matches('0');
    let digits = format!("{whole}{fraction}");
    let is_negative = text.starts_with('-');
    if digits.trim_start_matches(['-', '+']).bytes().any(|byte| !byte.is_ascii_digit()) {
        return None;
    }
    Some(match (digits.parse::<i128>(), u32::try_from(fraction.len())) {
        (Ok(unscaled), Ok(scale)) => Literal::Decimal { unscaled, scale },
        _ if whole.len() > 38 => Literal::Integer(if is_negative { i128::MIN } else { i128::MAX }),
        // More digits than any column has: what is cut off only says that it is no value of one.
        _ => {
            let kept: String = digits.chars().take(37).collect();
            let scale = u32::try_from(kept.trim_start_matches(['-', '+']).len()).ok()?
                - u32::try_from(whole.trim_start_matches(['-', '+']).len()).ok()?;
            let unscaled = kept.parse::<i128>().ok()?;
            Literal::Decimal {
                unscaled: unscaled.checked_mul(10)? + if is_negative { -1 } else { 1 },
                scale: scale + 1,
            }
        }
    })
}
