"""A table as a Spark job reads and writes it."""
