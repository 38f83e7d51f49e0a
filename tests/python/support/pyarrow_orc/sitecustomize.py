"""Puts the replacement of ``pyarrow.orc`` in its place, in each interpreter whose path has this folder."""

import sys

import pyarrow
from orcish.compat import pyarrow_orc

sys.modules["pyarrow.orc"] = pyarrow_orc
pyarrow.orc = pyarrow_orc
