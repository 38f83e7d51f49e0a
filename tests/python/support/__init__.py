"""Modules that the tests share: makers of files and tables, oracles, servers, and scripts that run in processes."""
