"""Where Spark looks for the data source ``orcish``: in a module of this name, as `DefaultSource`."""

from orcish.spark.source.data_source import OrcishDataSource as DefaultSource

__all__ = ["DefaultSource"]
