//! Whole files, read with filters on several columns. The filters depend on the length of the input and on the types of
//! its columns, so that the seeds are ordinary files.

#![no_main]

mod reading;

use libfuzzer_sys::{fuzz_mutator, fuzz_target};
use orcish::options::{OutOfRange, StringType};
use orcish::schema::{Kind, Schema};
use orcish::{ColumnName, Columns, Comparison, Literal, Predicate, ReadOptions};
use reading::read;

/// Maximum number of conditions.
const MAX_LEAVES: usize = 6;

/// A condition on a column, which `seed` selects. `None` for columns below lists, maps and unions.
fn leaf(schema: &Schema, id: u32, seed: usize) -> Option<Predicate> {
    let orc_type = schema.get(id).ok()?;
    let mut ancestor = orc_type.parent;
    while let Some(parent) = ancestor {
        let parent = schema.get(parent).ok()?;
        ancestor = parent.parent;
        if parent.kind != Kind::Struct {
            return None;
        }
    }
    let column = ColumnName::from(schema.path(id));
    let small = [0, 1, 7, -12, 400][seed % 5];
    let value: Literal = match orc_type.kind {
        Kind::Union => return None,
        Kind::Boolean => true.into(),
        Kind::Byte | Kind::Short | Kind::Int | Kind::Long => small.into(),
        Kind::Float | Kind::Double => f64::from(small).into(),
        Kind::Decimal => Literal::Decimal { unscaled: i128::from(small) * 1001, scale: 2 },
        Kind::String | Kind::Char | Kind::Varchar => ["green", "a", "00003", ""][seed % 4].into(),
        Kind::Binary => Literal::Binary(vec![7; seed % 4]),
        Kind::Date => Literal::Date(i64::from(small) * 30),
        Kind::Timestamp | Kind::TimestampInstant => Literal::Timestamp {
            nanoseconds: i128::from(small) * 10_000_000 * 1_000_000_000,
            is_instant: orc_type.kind == Kind::TimestampInstant,
        },
        _ => return Some(Predicate::IsNull { column }),
    };
    let op = [Comparison::Equal, Comparison::Less, Comparison::GreaterOrEqual][seed / 5 % 3];
    Some(match seed % 7 {
        0 => Predicate::IsNull { column },
        1 => Predicate::In { column, values: vec![value, Literal::Null].into() },
        _ => Predicate::Compare { column, op, value },
    })
}

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    reading::mutate(data, size, max_size, seed)
});

fuzz_target!(|data: &[u8]| reading::within_memory(reading::MAX_MEMORY, || run(data)));

fn run(data: &[u8]) {
    let Some(file) = reading::open(data) else { return };
    let schema = &file.tail().schema;
    let leaves =
        (1..).zip(schema.types().iter().skip(1)).filter_map(|(id, _)| leaf(schema, id, data.len() + id as usize));
    let leaves: Vec<_> = leaves.take(MAX_LEAVES).collect();
    let base = reading::options();
    for leaf in &leaves {
        read(&file, base.clone().with_filter(leaf.clone()).with_batch_size(7));
    }
    let row_number = "the number of the row";
    let filter = !Predicate::And(leaves.clone());
    let other_types = base.clone().with_strings(StringType::Dictionary).with_timestamp_out_of_range(OutOfRange::Null);
    read(&file, other_types.with_filter(filter).with_row_number(row_number));
    let filter = Predicate::Or(leaves);
    read(
        &file,
        base.with_filter(filter).with_row_number(row_number).with_columns(Columns::Ids(Vec::new())).with_limit(10),
    );
}
