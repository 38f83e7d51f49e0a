//! The partition columns of rows that are written to a table, which are those of the table.

use orcish_core::error::{Error, Result};
use orcish_core::names::shortened;
use orcish_io::{display_name, hive_partitions_below};
use orcish_table::{FileKind, Job, TableSchema, file_kind};

/// What messages call the option with the partition columns of rows.
#[derive(Debug, Clone)]
pub struct PartitionOption {
    /// The name of the option.
    pub name: String,
    /// How the option is set, with `{}` in the place of a list of names in JSON.
    pub setting: String,
}

impl Default for PartitionOption {
    fn default() -> Self {
        PartitionOption { name: "partition_by".to_owned(), setting: "partition_by={}".to_owned() }
    }
}

impl PartitionOption {
    fn set_to(&self, names: &[String]) -> String {
        self.setting.replace("{}", shortened(&listed(names)).as_ref())
    }
}

/// Names as a list in JSON.
fn listed(names: &[String]) -> String {
    let quoted = names.iter().map(|name| serde_json::Value::from(name.as_str()).to_string());
    format!("[{}]", quoted.collect::<Vec<_>>().join(", "))
}

/// The partition columns of a table, by the schema in its log or by its files; `None` if it has neither.
pub(super) fn columns_of_table(job: &Job, schema: Option<&TableSchema>, files: &[String]) -> Option<Vec<String>> {
    if let Some(schema) = schema {
        return Some(schema.partition.clone());
    }
    let first = job.location(first_in_partition(files)?);
    Some(hive_partitions_below(job.root(), &first).into_iter().map(|(column, _)| column).collect())
}

/// The first file in the folder of the table or of a partition, or the first file.
pub(super) fn first_in_partition(files: &[String]) -> Option<&str> {
    files.iter().find(|name| file_kind(name) == FileKind::Data).or(files.first()).map(String::as_str)
}

/// The columns of rows, and how they are divided among folders.
#[derive(Debug, Clone)]
pub(super) struct Partitioning<'a> {
    pub(super) job: &'a Job,
    /// The partition columns of the rows, without those of the folder that is written to.
    pub(super) partition_by: &'a [String],
    pub(super) option: &'a PartitionOption,
}

impl Partitioning<'_> {
    /// All partition columns.
    pub(super) fn columns(&self) -> Vec<String> {
        let mut columns = self.job.partition_columns();
        columns.extend_from_slice(self.partition_by);
        columns
    }

    /// Checks the columns of the rows, partition columns included.
    ///
    /// # Errors
    /// `InvalidArgument` if a column is one of the folder that is written to, whose value would replace those of the rows, or if its
    /// name differs from that of a partition column only by case.
    pub(super) fn check_names<'a>(&self, names: impl Iterator<Item = &'a str> + Clone) -> Result<()> {
        let (base, root) = (display_name(self.job.base()), display_name(self.job.root()));
        for name in self.job.partition_columns() {
            if names.clone().any(|own| own.to_lowercase() == name.to_lowercase()) {
                return Err(Error::invalid(format!(
                    "{base}: column '{name}' of the rows is a partition column of the path: leave it out, or write to {root} \
                     with {}",
                    self.option.name
                )));
            }
        }
        for name in names {
            let same = self.partition_by.iter().rfind(|column| column.to_lowercase() == name.to_lowercase());
            if let Some(other) = same.filter(|other| *other != name) {
                return Err(Error::invalid(format!(
                    "column '{name}' and partition column '{other}' differ only by case: rename one of them"
                )));
            }
        }
        Ok(())
    }

    /// Checks that rows are divided as the table is, which could not be read otherwise. `own` are the partition columns of the table;
    /// `file` is the file that has them, by its path in the table, and `None` for those in its log.
    ///
    /// # Errors
    /// `InvalidArgument` with what to do.
    pub(super) fn check(&self, own: &[String], file: Option<&str>) -> Result<()> {
        let columns = self.columns();
        if columns == own {
            return Ok(());
        }
        let root = display_name(self.job.root());
        let lower = |names: &[String]| names.iter().map(|name| name.to_lowercase()).collect::<Vec<_>>();
        if lower(&columns) == lower(own)
            && let Some((name, other)) = own.iter().zip(&columns).find(|(name, other)| name != other)
        {
            return Err(Error::invalid(format!(
                "{root}: partition column {other} of the rows and {name} of the table differ only by case: rename the column \
                 of the rows"
            )));
        }
        let joined = |names: &[String]| match names {
            [] => "none".to_owned(),
            names => shortened(&names.join(", ")).to_string(),
        };
        let found = if file.is_some() { "has files" } else { "is a table" };
        let example = file.map_or(String::new(), |file| format!("; such a file is {file}"));
        Err(Error::invalid(format!(
            "{root} {found} whose partition columns are: {}; {} is: {}{example}{}",
            joined(own),
            self.option.name,
            joined(&columns),
            self.advice(own)
        )))
    }

    /// How rows are divided as the table is; empty where the folder that is written to is no partition of it.
    fn advice(&self, own: &[String]) -> String {
        let above = self.job.partition_columns();
        match own.strip_prefix(above.as_slice()) {
            None => String::new(),
            Some([]) => format!(": leave {} out", self.option.name),
            Some(missing) => format!(": partition the rows likewise, with {}", self.option.set_to(missing)),
        }
    }

    /// The error for rows that replace partitions, and have no partition columns. `missing` are those of the table.
    pub(super) fn no_partitions(&self, missing: &[String]) -> Error {
        let option = &self.option.name;
        Error::invalid(match missing {
            [] => format!(
                "existing_data='overwrite_partitions' needs {option}, and 'overwrite' replaces the whole folder"
            ),
            missing => format!("existing_data='overwrite_partitions' needs {}", self.option.set_to(missing)),
        })
    }

    /// The error for a folder of a partition that no table is above.
    pub(super) fn no_table(&self) -> Error {
        let (base, root) = (display_name(self.job.base()), display_name(self.job.root()));
        Error::invalid(format!(
            "{base}: a folder with '=' in its name is a partition of the table above it, and there is no table in {root}: write \
             the rows there, with {}, or choose a name without '='",
            self.option.set_to(&self.columns())
        ))
    }
}
