"""The data source ``orcish`` of Spark."""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping, Sequence
from typing import Any

import pyarrow as pa
from pyspark.sql.datasource import (
    DataSource,
    DataSourceReader,
    DataSourceStreamReader,
    DataSourceWriter,
    InputPartition,
)
from pyspark.sql.types import StructType

from orcish.spark.options import TableOptions, WriterOptions
from orcish.spark.session import task_cpus
from orcish.spark.tables import SparkTable
from orcish.spark.work import Work

__all__ = ["OrcishDataSource"]


class OrcishDataSource(DataSource):
    """Reads and writes tables of ORC files: ``spark.read.format("orcish")``.

    Spark finds it by itself where orcish is installed. README, "Spark", has the options.
    """

    def __init__(self, options: MutableMapping[str, str]) -> None:
        super().__init__(options)

    @classmethod
    def name(cls) -> str:
        """The word for ``format``."""
        return "orcish"

    def schema(self) -> StructType:
        """Columns of the table, or those that option `columns` names."""
        return SparkTable.open(TableOptions.of(self.options)).schema

    def reader(self, schema: StructType) -> DataSourceReader:
        """Reads columns with these types."""
        return OrcishReader(self.options, schema)

    def writer(self, schema: StructType, overwrite: bool) -> DataSourceWriter:
        """Writes rows of these types."""
        from orcish.spark.writer import OrcishWriter

        return OrcishWriter(WriterOptions.of(self.options), schema, overwrite)

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:  # noqa: N802 - Spark's name
        """Reads the files that come to a folder."""
        from orcish.spark.streams import OrcishStreamReader

        return OrcishStreamReader(self.options, schema)

    def streamWriter(self, schema: StructType, overwrite: bool) -> Any:  # noqa: N802
        """Writes each batch of a stream once."""
        from orcish.spark.streams import stream_writer

        return stream_writer(WriterOptions.of(self.options), schema, overwrite)


class WorkPartition(InputPartition):
    """What a task reads."""

    def __init__(self, work: Work) -> None:
        super().__init__(work)


class OrcishReader(DataSourceReader):
    """Reads a table, task by task.

    It has no `pushFilters`: what Spark pushes into a Python data source stays for other scans of the same data frame,
    which then lack rows.
    """

    def __init__(self, options: MutableMapping[str, str], schema: StructType) -> None:
        self._options = dict(options)
        self._schema = schema

    def partitions(self) -> Sequence[InputPartition]:
        """Splits of about the size that is asked for. Files and stripes without a wanted row are in none."""
        work = SparkTable.open(TableOptions.of(self._options), self._schema).work()
        return [WorkPartition(part) for part in work]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """The rows of a task."""
        # Spark makes a task of no partitions as well.
        if isinstance(partition, WorkPartition):
            yield from partition.value.batches(task_cpus())
