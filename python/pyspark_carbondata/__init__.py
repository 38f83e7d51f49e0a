"""The data source ``carbondata``. Spark finds it by the name of this module, as ``DefaultSource``."""

from orcish.spark.data_source import CarbonDataSource as DefaultSource

__all__ = ["DefaultSource"]
