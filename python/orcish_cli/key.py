"""``orcish key``: keys, encrypted columns and masks that ORC files name."""

from __future__ import annotations

import argparse
import dataclasses

from orcish.reading.encryption import Encryption, encryption
from orcish.terminal import Table, fields, indented, json_line, printable

from orcish_cli.arguments import add_files, add_json, add_storage
from orcish_cli.open_files import OpenFiles
from orcish_cli.output import print_lines
from orcish_cli.words import shown_name

__all__ = ["add_arguments"]


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
    files = OpenFiles(options.files, dict(options.storage_options), "key")
    separator: list[str] = []
    for name, found in files.each(lambda name, file: (name, encryption(file))):
        if options.json:
            described = None if found is None else dataclasses.asdict(found)
            print_lines([json_line({"file": shown_name(name), "encryption": described})])
            continue
        print_lines(separator)
        print_lines(_to_text(shown_name(name), found))
        separator = [""]
    return files.code


def _to_text(name: str, found: Encryption | None) -> list[str]:
    lines = fields([("File", printable(name))])
    if found is None:
        return [*lines, "No column is encrypted"]
    lines += fields([("Key provider", found.provider)])
    keys = [[printable(key.name), str(key.version), key.algorithm] for key in found.keys]
    lines += ["", "Keys", *indented(Table(["name", "version", "algorithm"], [False, True, False]).lines(keys))]
    columns = [
        [printable(variant.column) or "(root)", printable(variant.key or "not named"), printable(variant.mask or "")]
        for variant in found.variants
    ]
    lines += ["", "Encrypted columns", *indented(Table(["column", "key", "mask"], [False] * 3).lines(columns))]
    masks = [
        [printable(mask.name), printable(", ".join(mask.parameters)), printable(", ".join(mask.columns))]
        for mask in found.masks
    ]
    if masks:
        header = ["name", "parameters", "columns"]
        lines += ["", "Masks", *indented(Table(header, [False] * 3).lines(masks))]
    return lines
