"""The reader of the data sources, and its input partitions."""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping, Sequence

import pyarrow as pa
from pyspark.sql.datasource import DataSourceReader, InputPartition
from pyspark.sql.types import StructType

from orcish.spark.options import TableOptions
from orcish.spark.session import PARTITION_INFERENCE, local_property, task_cpus
from orcish.spark.table import SparkTable
from orcish.spark.tasks import TaskInput

__all__ = ["OrcishReader", "TaskPartition", "task_partitions"]


class OrcishReader(DataSourceReader):
    """Reads a table task by task.

    There is no ``pushFilters``: Spark keeps filters that are pushed into a Python data source for other scans of the
    same data frame, which then lack rows.
    """

    def __init__(
        self,
        options: MutableMapping[str, str],
        schema: StructType,
        *,
        is_carbon: bool | None = None,
        is_inferred: bool = False,
    ) -> None:
        self._is_inferred = is_inferred
        self._options = dict(options)
        self._schema = schema
        self._is_carbon = is_carbon

    def partitions(self) -> Sequence[InputPartition]:
        """Input partitions of about the requested size. Files and stripes that filters exclude are skipped."""
        table = SparkTable.open(
            TableOptions.of(self._options),
            self._schema,
            is_carbon=self._is_carbon,
            is_schema_inferred=self._is_inferred,
        )
        return task_partitions(table, is_inferred=self._is_inferred)

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """The rows of an input partition."""
        # Without input partitions, Spark runs a task with another kind of partition.
        if isinstance(partition, TaskPartition):
            yield from partition.batches()


class TaskPartition(InputPartition):
    """The splits that a task reads."""

    def __init__(self, task_inputs: TaskInput, inferred: list[str]) -> None:
        super().__init__(task_inputs)
        self.inferred = inferred
        """Partition columns with inferred types. The process that infers them cannot see the setting of the session."""

    def batches(self) -> Iterator[pa.RecordBatch]:
        """The rows.

        Raises:
            ValueError: The session says that types are not inferred.
        """
        if self.inferred and (local_property(PARTITION_INFERENCE) or "true").lower() == "false":
            raise ValueError(
                f"{PARTITION_INFERENCE} is false, and partition column {self.inferred[0]} has an inferred type, as a "
                'Python data source cannot see this setting: add .option("partitionColumnTypeInference", "false"), '
                "or use orcish.spark.read"
            )
        yield from self.value.batches(task_cpus())


def task_partitions(table: SparkTable, *, is_inferred: bool) -> list[TaskPartition]:
    """The input partitions of a table.

    Args:
        table: The table.
        is_inferred: Whether the schema is that of the data source, and was not given.
    """
    inferred = table.inferred_partition_columns() if is_inferred else []
    return [TaskPartition(part, inferred) for part in table.task_inputs()]
