"""Spark's types, time zones and casts to text, and their Arrow counterparts."""
