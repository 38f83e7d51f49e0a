"""Reports of how files are laid out: a page of HTML that needs nothing else."""

from __future__ import annotations

from orcish_cli.layout_page.description import describe
from orcish_cli.layout_page.page import page, write_report

__all__ = ["describe", "page", "write_report"]
