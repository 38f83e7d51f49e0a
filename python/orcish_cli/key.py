"""``orcish key``: keys, encrypted columns and masks that ORC files name."""

from __future__ import annotations

import argparse
import dataclasses
from typing import Any

from orcish.terminal import printable

from orcish_cli.arguments import add_files, add_json, add_storage
from orcish_cli.messages import shown_name
from orcish_cli.sources import OpenFiles
from orcish_cli.terminal import Column, fields, grid, print_lines, print_objects

__all__ = ["add_arguments"]

_KEYS = (
    Column("name", "name"),
    Column("version", lambda key: str(key["version"]), True),
    Column("algorithm", "algorithm"),
)
_COLUMNS = (
    Column("column", lambda each: each["column"] or "(root)"),
    Column("key", lambda each: each["key"] or "not named"),
    Column("mask", "mask"),
)
_MASKS = (
    Column("name", "name"),
    Column("parameters", lambda mask: ", ".join(mask["parameters"])),
    Column("columns", lambda mask: ", ".join(mask["columns"])),
)


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Adds the arguments of the command."""
    command.description = (
        "Print what ORC files say of their encryption: names, versions and algorithms of the keys, the encrypted "
        "columns, and the masks that readers without a key see. No key is needed, and no data is read."
    )
    add_files(command)
    add_json(command, "file")
    add_storage(command)
    command.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> int:
    files = OpenFiles(options, "key")
    separator: list[str] = []
    for name, found in files.each(lambda name, file: (shown_name(name), file.encryption)):
        described = None if found is None else dataclasses.asdict(found)
        if options.json:
            print_objects([{"file": name, "encryption": described}])
            continue
        print_lines([*separator, *_text(name, described)])
        separator = [""]
    return files.code


def _text(name: str, described: dict[str, Any] | None) -> list[str]:
    if described is None:
        return [*fields([("File", printable(name))]), "No column is encrypted"]
    lines = fields([("File", printable(name)), ("Key provider", described["provider"])])
    lines += ["", "Keys", *grid(_KEYS, described["keys"])]
    lines += ["", "Encrypted columns", *grid(_COLUMNS, described["variants"])]
    return lines + (["", "Masks", *grid(_MASKS, described["masks"])] if described["masks"] else [])
