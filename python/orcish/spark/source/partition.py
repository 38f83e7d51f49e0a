"""Input partitions of the data sources."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
from pyspark.sql.datasource import InputPartition

from orcish.spark.session import PARTITION_INFERENCE, local_property, task_cpus
from orcish.spark.table.table import SparkTable
from orcish.spark.table.tasks import TaskInput

__all__ = ["TaskPartition", "task_partitions"]


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
