"""Pages that show how files are laid out: HTML that needs nothing else."""

from __future__ import annotations

from orcish_cli.layout_page.description import describe
from orcish_cli.layout_page.page import checked_page, page, write_page

__all__ = ["checked_page", "describe", "page", "write_page"]
