"""Paths, URLs and file systems."""
