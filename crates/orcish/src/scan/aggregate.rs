//! Minimum, maximum and sum of a column of a table.

use std::sync::Arc;

use arrow_array::ArrayRef;
use orcish_core::aggregate::{Accumulator, Aggregate};
use orcish_core::error::{Error, Result};

use super::table_file::TableFile;
use super::table_scan::Scan;

impl Scan {
    /// The aggregate of the only column of the scan, as an array of one value; see [`Accumulator::finish`] for its type. If the
    /// column is a struct, it has one field, whose values are aggregated.
    ///
    /// Stripes whose rows all pass the filter are not read if their statistics are exact.
    ///
    /// # Errors
    /// `InvalidArgument` if the scan does not have exactly one column, or its values have no order or sum. As reading.
    pub fn aggregate(&self, aggregate: Aggregate) -> Result<ArrayRef> {
        let mut accumulator = Accumulator::of_only_column(aggregate, &self.schema())?;
        let table = self.table();
        let unknown = if table.is_one_stored_column() && table.options.limit.is_none() {
            self.add_statistics(&mut accumulator)?
        } else {
            table.files.to_vec()
        };
        if !unknown.is_empty() {
            for batch in Scan::of_table(Arc::new(table.with_files(unknown))).read_cancellable() {
                accumulator.update_batch(&batch?)?;
            }
        }
        accumulator.finish()
    }

    /// Adds exact statistics, and returns the files and stripes that have to be read.
    fn add_statistics(&self, accumulator: &mut Accumulator) -> Result<Vec<TableFile>> {
        let (mut unknown, all) = (Vec::new(), self.versioned_statistics()?);
        if all.len() != self.files().len() {
            return Err(Error::internal("statistics are not those of all files"));
        }
        for (file, (statistics, stripes, version)) in self.files().iter().zip(all) {
            // The stripes are those of one version.
            let file = TableFile { version, ..file.clone() };
            if !accumulator.update_statistics(&statistics)? {
                unknown.push(file);
            } else if !stripes.is_empty() {
                unknown.push(TableFile { stripes: Some(stripes), ..file });
            }
        }
        Ok(unknown)
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use arrow_schema::SchemaRef;
    use orcish_core::ErrorKind;
    use orcish_io::StorageOptions;

    use super::*;
    use crate::options::{Columns, ReadOptions};
    use crate::scan::Matching;

    fn scan(location: &str, schema: Option<SchemaRef>, columns: Columns, limit: Option<u64>) -> Result<Scan> {
        let file = TableFile { location: location.to_owned(), ..TableFile::default() };
        let options = ReadOptions { columns, limit, ..ReadOptions::default() };
        Scan::try_new(vec![file.clone(), file], schema, options, Matching::Name, StorageOptions::default())
    }

    #[test]
    fn statistics_and_values_agree() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data");
        let (mut compared, mut refused) = (0, 0);
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let location = path.to_str().unwrap();
            let Ok(all) = scan(location, None, Columns::All, None) else { continue };
            for field in all.schema().fields() {
                let columns = || Columns::Names(vec![field.name().as_str().into()]);
                for function in [Aggregate::Min, Aggregate::Max, Aggregate::Sum] {
                    let by_statistics = scan(location, None, columns(), None).unwrap().aggregate(function);
                    // A limit makes the scan read all rows.
                    let by_values = scan(location, None, columns(), Some(u64::MAX)).unwrap().aggregate(function);
                    match (by_statistics, by_values) {
                        (Ok(found), Ok(expected)) => {
                            assert_eq!(&found, &expected, "{location} {} {function:?}", field.name());
                            compared += 1;
                        }
                        (Err(error), Err(_)) => {
                            assert!(
                                matches!(error.kind(), ErrorKind::InvalidArgument | ErrorKind::Unsupported),
                                "{error}"
                            );
                            refused += 1;
                        }
                        (found, expected) => panic!("{location} {}: {found:?} {expected:?}", field.name()),
                    }
                }
            }
        }
        assert!(compared > 20 && refused > 5, "{compared} {refused}");
    }

    #[test]
    fn several_columns_are_refused() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/spark.zlib.orc");
        let scan = scan(path.to_str().unwrap(), None, Columns::All, None).unwrap();
        assert_eq!(scan.aggregate(Aggregate::Min).unwrap_err().kind(), ErrorKind::InvalidArgument);
    }
}
