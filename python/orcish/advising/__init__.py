"""Advice on how files are written, measured on a sample of their rows."""
