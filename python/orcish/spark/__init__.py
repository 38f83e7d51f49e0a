"""orcish in Spark: tables as data frames, tables in Python functions of the workers, and jobs over whole tables.

>>> import orcish.spark as osp
>>> osp.read(spark, "orders/", columns=["id", "customer.name"], filters=orcish.col("id") > 95).count()
4
>>> osp.map_batches(spark, "orders/", lambda batches: batches, "id bigint", columns=["id"]).count()
100
>>> osp.verify("orders/").isEmpty()
True

``spark.read.format("orcish")`` and ``df.write.format("orcish")`` need no import. The import sets ``PYSPARK_PYTHON`` to
the Python of the program where that is not set: Spark looks for data sources with it, and otherwise with ``python3``.
"""

from __future__ import annotations

import os
import sys

from orcish.spark.changing import compact, delete
from orcish.spark.conversion import convert
from orcish.spark.dataframes import UnfilteredReadWarning, map_batches, map_pandas, read
from orcish.spark.profiling import profile
from orcish.spark.verification import verify
from orcish.spark.writing import write

if sys.executable:
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)

__all__ = [
    "UnfilteredReadWarning",
    "compact",
    "convert",
    "delete",
    "map_batches",
    "map_pandas",
    "profile",
    "read",
    "verify",
    "write",
]
