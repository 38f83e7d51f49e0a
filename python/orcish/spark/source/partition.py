"""Input partitions of the data sources."""

from __future__ import annotations

from pyspark.sql.datasource import InputPartition

from orcish.spark.table.tasks import TaskInput

__all__ = ["TaskPartition"]


class TaskPartition(InputPartition):
    """The splits that a task reads."""

    def __init__(self, task_inputs: TaskInput) -> None:
        super().__init__(task_inputs)
