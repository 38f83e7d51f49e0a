"""Arrow types and arrays, where pyarrow and polars need help."""
