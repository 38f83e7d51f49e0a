"""Where Spark looks for the data source ``carbondata``: in a module of this name, as `DefaultSource`."""

from orcish.spark.source.data_source import CarbonDataSource as DefaultSource

__all__ = ["DefaultSource"]
