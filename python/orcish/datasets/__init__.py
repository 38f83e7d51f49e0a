"""Scans as datasets of pyarrow. The modules import ``pyarrow.dataset``, and are imported when a dataset is made."""
