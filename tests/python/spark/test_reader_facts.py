"""Facts about Spark's own reader, seen here."""

from __future__ import annotations

import pathlib
from typing import Any

import orcish
import pyspark
import pytest
from orcish_cli.readers.compatibility import compatibility
from orcish_cli.readers.facts import FACTS
from support.reader_files import FILES, feature_file


@pytest.mark.skipif(not pyspark.__version__.startswith("4."), reason="the facts are about Spark 4")
def test_facts_about_spark(spark: Any, tmp_path: pathlib.Path) -> None:
    """One test for all files, as each needs the session for a moment only."""
    wrong = []
    for feature in FILES:
        fact = FACTS[feature].get("spark4")
        if fact is None:
            continue
        path = feature_file(feature, tmp_path)
        (found,) = compatibility(orcish.ORCFile(path), ["spark4"])
        try:
            frame = spark.read.orc(str(path))
            # Values as text: Python has no dates of all years.
            frame.selectExpr(*[f"cast(`{name.replace('`', '``')}` as string)" for name in frame.columns]).collect()
        except Exception as error:
            verdict = "no"
            text = str(error).splitlines()[0] if str(error) else type(error).__name__
        else:
            verdict, text = "read", ""
        if (fact.verdict == "no") != (verdict == "no") or (fact.verdict == "no") != (found.verdict == "no"):
            wrong.append((feature, fact.verdict, verdict, text))
    assert not wrong
