"""Reading of ORC files, and scans of tables."""
