"""Comparisons of files and tables: schemas, metadata, and rows by position or by key."""
