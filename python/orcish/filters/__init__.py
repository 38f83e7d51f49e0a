"""Predicates: orcish's own, those of pyarrow and polars, and text."""
