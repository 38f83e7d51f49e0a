"""Reports of how files are laid out: a page of HTML that needs nothing else."""

from __future__ import annotations

from orcish.layout.description import describe
from orcish.layout.page import page
from orcish.layout.report import write_report

__all__ = ["describe", "page", "write_report"]
