"""Writing of files and partitioned datasets."""
