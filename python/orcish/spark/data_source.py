"""The data sources ``orcish``, and ``carbondata`` for tables of Apache CarbonData."""

from __future__ import annotations

import dataclasses
from collections.abc import MutableMapping
from typing import Any

from pyspark.sql.datasource import DataSource, DataSourceReader, DataSourceStreamReader, DataSourceWriter
from pyspark.sql.types import StructType

from orcish.arrow.nested import repeated_name
from orcish.errors import CommitError, UnsupportedError
from orcish.spark.options import TableOptions, WriterOptions
from orcish.spark.reader import OrcishReader
from orcish.spark.table import SparkTable

__all__ = ["CarbonDataSource", "OrcishDataSource"]


class OrcishDataSource(DataSource):
    """Reads and writes tables of ORC files: ``spark.read.format("orcish")``.

    Spark finds it by its module name where orcish is installed. The options are in ``docs/spark-reading.md`` and
    ``docs/spark-writing.md``.
    """

    def __init__(self, options: MutableMapping[str, str]) -> None:
        super().__init__(options)
        self._is_inferred = False

    @classmethod
    def name(cls) -> str:
        """The name for ``format``."""
        return "orcish"

    def schema(self) -> StructType:
        """The schema of the table, or of the columns that the option ``columns`` selects.

        If the last commit of the table is not finished, this is the schema before the commit. Streams read that state.
        """
        options = TableOptions.of(self.options)
        # Spark asks for the schema where none is given.
        self._is_inferred = True
        try:
            return _checked(SparkTable.open(options).schema)
        except CommitError:
            try:
                return SparkTable.open(dataclasses.replace(options, pending="before")).schema
            except FileNotFoundError:
                pass
            raise

    def reader(self, schema: StructType) -> DataSourceReader:
        """A reader for this schema."""
        return OrcishReader(self.options, schema, is_inferred=self._is_inferred)

    def writer(self, schema: StructType, overwrite: bool) -> DataSourceWriter:
        """A writer for this schema."""
        from orcish.spark.writers import OrcishWriter

        return OrcishWriter(WriterOptions.of(self.options), schema, overwrite)

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:  # noqa: N802 - Spark's name
        """A reader of the files that are added to a folder."""
        from orcish.spark.stream_reader import OrcishStreamReader

        return OrcishStreamReader(self.options, schema, is_inferred=self._is_inferred)

    def streamWriter(self, schema: StructType, overwrite: bool) -> Any:  # noqa: N802
        """A writer that writes each batch of a stream once."""
        from orcish.spark.writers import stream_writer

        return stream_writer(WriterOptions.of(self.options), schema, overwrite)


class CarbonDataSource(DataSource):
    """Reads tables of Apache CarbonData: ``spark.read.format("carbondata")``, without CarbonData's jars.

    The options are those of ``orcish``, which reads CarbonData tables too.
    """

    def __init__(self, options: MutableMapping[str, str]) -> None:
        super().__init__(options)

    @classmethod
    def name(cls) -> str:
        """The name for ``format``."""
        return "carbondata"

    def schema(self) -> StructType:
        """The schema of the table, or of the columns that the option ``columns`` selects."""
        return SparkTable.open(TableOptions.of(self.options), is_carbon=True).schema

    def reader(self, schema: StructType) -> DataSourceReader:
        """A reader for this schema."""
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


def _checked(schema: StructType) -> StructType:
    """The schema, whose columns have names of their own.

    Raises:
        UnsupportedError: Two columns have the same name.
    """
    if (name := repeated_name(schema.names)) is not None:
        raise UnsupportedError(
            f"column {name!r} is there twice, which Spark does not read: orcish rewrite --rename gives one another name"
        )
    return schema
