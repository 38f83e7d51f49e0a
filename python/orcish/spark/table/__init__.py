"""A table as Spark jobs read and write it."""
