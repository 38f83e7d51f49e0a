"""Folders of files as tables: commits, listings, partitions, conversion and compaction. Nothing here needs Spark."""
