"""Folders of files as tables: commits, partitions, conversion and compaction. Nothing here needs Spark."""
