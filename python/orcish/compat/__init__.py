"""Modules that take the place of modules of other packages."""
