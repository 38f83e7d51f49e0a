"""A writer of Apache CarbonData tables for tests: real files in every encoding, without Java."""

from support.carbon.files import FileOptions, write_folder
from support.carbon.normal import as_read
from support.carbon.tables import CarbonTableWriter

__all__ = ["CarbonTableWriter", "FileOptions", "as_read", "write_folder"]
