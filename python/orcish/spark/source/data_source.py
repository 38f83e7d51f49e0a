"""The data sources of Spark: ``orcish``, and ``carbondata`` for tables of Apache CarbonData."""

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

from orcish.errors import UnsupportedError
from orcish.spark.options import TableOptions, WriterOptions
from orcish.spark.session import task_cpus
from orcish.spark.source.partition import TaskPartition
from orcish.spark.table.table import SparkTable

__all__ = ["CarbonDataSource", "OrcishDataSource"]


class OrcishDataSource(DataSource):
    """Reads and writes tables of ORC files: ``spark.read.format("orcish")``.

    Spark finds it by itself where orcish is installed. ``docs/spark-reading.md`` and
    ``docs/spark-writing.md`` list the options.
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
        from orcish.spark.source.writer import OrcishWriter

        return OrcishWriter(WriterOptions.of(self.options), schema, overwrite)

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:  # noqa: N802 - Spark's name
        """Reads the files that come to a folder."""
        from orcish.spark.source.stream_reader import OrcishStreamReader

        return OrcishStreamReader(self.options, schema)

    def streamWriter(self, schema: StructType, overwrite: bool) -> Any:  # noqa: N802
        """Writes each batch of a stream once."""
        from orcish.spark.source.stream_writer import stream_writer

        return stream_writer(WriterOptions.of(self.options), schema, overwrite)


class CarbonDataSource(DataSource):
    """Reads tables of Apache CarbonData: ``spark.read.format("carbondata")``, without its jars.

    Its options are those of ``orcish``, which reads such tables as well.
    """

    def __init__(self, options: MutableMapping[str, str]) -> None:
        super().__init__(options)

    @classmethod
    def name(cls) -> str:
        """The word for ``format``."""
        return "carbondata"

    def schema(self) -> StructType:
        """Columns of the table, or those that option `columns` names."""
        return SparkTable.open(TableOptions.of(self.options), is_carbon=True).schema

    def reader(self, schema: StructType) -> DataSourceReader:
        """Reads columns with these types."""
        return OrcishReader(self.options, schema, is_carbon=True)

    def writer(self, schema: StructType, overwrite: bool) -> DataSourceWriter:  # noqa: ARG002
        """Raises UnsupportedError."""
        raise UnsupportedError('CarbonData is only read: write ORC, with format("orcish")')

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:  # noqa: ARG002, N802
        """Raises UnsupportedError."""
        raise UnsupportedError("tables of CarbonData are no streams: convert writes them as ORC, which may be one")

    def streamWriter(self, schema: StructType, overwrite: bool) -> Any:  # noqa: N802
        """Raises UnsupportedError."""
        return self.writer(schema, overwrite)


class OrcishReader(DataSourceReader):
    """Reads a table, task by task.

    It has no `pushFilters`: what Spark pushes into a Python data source stays for other scans of the same data frame,
    which then lack rows.
    """

    def __init__(self, options: MutableMapping[str, str], schema: StructType, *, is_carbon: bool | None = None) -> None:
        self._options = dict(options)
        self._schema = schema
        self._is_carbon = is_carbon

    def partitions(self) -> Sequence[InputPartition]:
        """Splits of about the size that is asked for. Files and stripes without a wanted row are in none."""
        table = SparkTable.open(TableOptions.of(self._options), self._schema, is_carbon=self._is_carbon)
        return [TaskPartition(part) for part in table.task_inputs()]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """The rows of a task."""
        # Spark makes a task of no partitions as well.
        if isinstance(partition, TaskPartition):
            yield from partition.value.batches(task_cpus())
