"""``diff`` reads rows by the options of reading, and ``check`` and ``advise`` say which ones they do not have."""

from __future__ import annotations

import datetime
from pathlib import Path

import orcish
import pyarrow as pa
import pyarrow.orc
import pytest
from support.carbon import CarbonTableWriter

MASKED = Path(__file__).parents[2] / "data" / "masked.zstd.orc"


def test_masks(run):
    code, _, err = run("diff", MASKED, MASKED)
    assert code == 2
    assert "are encrypted" in err
    assert err.endswith("with the option --masked\n")
    assert run("diff", MASKED, MASKED, "--masked") == (0, [], "")
    with pytest.raises(orcish.UnsupportedError):
        orcish.diff(MASKED, MASKED)
    assert not orcish.diff(MASKED, MASKED, masked="allow")


@pytest.mark.parametrize("command", ["check", "advise"])
def test_commands_without_masks_advise_no_option(command, run):
    code, _, err = run(command, MASKED)
    assert code
    assert "are encrypted" in err
    assert "masked=" not in err
    assert "--masked" not in err


def test_text_that_is_not_utf8(tmp_path, run):
    path = tmp_path / "a.orc"
    data = pa.array([b"a", b"M\xfcller"]).view(pa.string())
    pa.orc.write_table(pa.table({"a": data}), path)
    assert run("diff", path, path)[0] == 2
    for value in ("replace", "null", "binary"):
        assert run("diff", path, path, "--invalid-utf8", value)[0] == 0


def test_timestamps(tmp_path, run):
    table = pa.table({"a": [datetime.datetime(2026, 7, 1, 12)]})
    for zone in ("Europe/Berlin", "UTC"):
        orcish.write_table(table, tmp_path / f"{zone[:3]}.orc", timezone=zone, arrow_schema=False)
    sources = tmp_path / "Eur.orc", tmp_path / "UTC.orc"
    assert run("diff", *sources)[0] == 0
    assert run("diff", *sources, "--timestamps", "wall")[0] == 0
    assert orcish.diff(*sources, timestamps="instant")
    assert run("diff", *sources, "--timestamps", "instant")[0] == 1


def test_external_locations(tmp_path, run):
    path = tmp_path / "a.orc"
    orcish.write_table(pa.table({"id": pa.array([1], pa.int32())}), path)
    written = CarbonTableWriter(tmp_path / "c", pa.schema([("id", pa.int32())]))
    written.load(pa.table({"id": pa.array([1], pa.int32())}))
    assert run("diff", written.path, path, "--external-location", tmp_path, "--values-only")[0] == 0
    code, _, err = run("diff", path, path, "--external-location", tmp_path)
    assert code == 2
    assert "--external-location" in err
