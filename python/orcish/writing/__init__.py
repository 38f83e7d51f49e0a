"""Writing of files and datasets."""
