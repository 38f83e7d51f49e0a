"""The data source ``orcish``. Spark finds it by the name of this module, as ``DefaultSource``."""

from orcish.spark.data_source import OrcishDataSource as DefaultSource

__all__ = ["DefaultSource"]
