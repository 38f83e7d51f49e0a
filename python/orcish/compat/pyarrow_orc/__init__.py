"""A drop-in replacement for :mod:`pyarrow.orc`, on top of orcish.

>>> from orcish.compat import pyarrow_orc as orc  # in place of: from pyarrow import orc
>>> table = orc.read_table("orders.orc", columns=["id", "customer.name"])
>>> table.shape
(100, 2)

Functions, classes, arguments, results and exceptions are those of :mod:`pyarrow.orc`. ``docs/from-pyarrow.md`` lists
the differences.
"""

from orcish.compat.pyarrow_orc.reader import ORCFile
from orcish.compat.pyarrow_orc.tables import read_table, write_table
from orcish.compat.pyarrow_orc.writer import IgnoredOptionWarning, ORCWriter

__all__ = ["IgnoredOptionWarning", "ORCFile", "ORCWriter", "read_table", "write_table"]
