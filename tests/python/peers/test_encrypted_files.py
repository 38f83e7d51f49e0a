"""Encrypted files of orcish, as ORC Java reads them with keys and without."""

from __future__ import annotations

import pathlib
from typing import Any

import orcish
import pyarrow as pa
from support.encrypted_files import KEYS, random_file
from support.orc_java import Java
from support.random_cases import random_cases


def plain_file(table: pa.Table, path: pathlib.Path) -> pathlib.Path:
    orcish.write_table(table, path)
    return path


def test_java_reads_values_with_keys_and_masks_without(spark: Any, tmp_path: pathlib.Path) -> None:
    for case, rng in random_cases("encrypted files for Java", 40):
        path = tmp_path / f"{case}.orc"
        table = random_file(rng, path)
        of_values = Java(spark, plain_file(table, tmp_path / f"{case}-plain.orc")).texts()
        assert Java(spark, path, KEYS).texts() == of_values
        assert len(Java(spark, path, {}).texts()) == table.num_rows
        found = orcish.ORCFile(path).encryption
        if found is not None and any(variant.column.endswith(".key") for variant in found.variants):
            # Maps of Arrow have no null keys, so that no plain file has such masks.
            continue
        masked = orcish.read_table(path, masked="allow")
        of_masks = Java(spark, plain_file(masked, tmp_path / f"{case}-masked.orc")).texts()
        assert Java(spark, path, {}).texts() == of_masks
