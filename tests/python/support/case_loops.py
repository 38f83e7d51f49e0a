"""Tests that try many cases: one test, which reports each case that fails by its name."""

from __future__ import annotations

import contextlib
import functools
import inspect
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from support.random_cases import pairs


class Case(NamedTuple):
    """Values of some arguments of a test."""

    title: str
    values: dict[str, Any]
    marks: list[pytest.Mark]


class Axis(NamedTuple):
    """The arguments that one ``each_case`` varies, and their values."""

    names: list[str]
    cases: list[Case]


def each_case(names: str | Iterable[str], values: Iterable[Any], ids: Any = None) -> Callable[[Any], Any]:
    """As ``pytest.mark.parametrize``, but one test tries all cases, also those after a case that fails.

    Several of these try all combinations, or a part of them, see ``random_cases.pairs``. Each case has a ``tmp_path`` and a
    ``monkeypatch`` of its own, and finds nothing in ``capsys`` and ``caplog``. Other fixtures are set up once. Cases may be
    marked with ``skip``, ``skipif`` and ``xfail``.
    """
    listed = [name.strip() for name in names.split(",")] if isinstance(names, str) else [*names]
    axis = Axis(listed, list(_cases(listed, list(values), ids)))

    def decorate(test: Any) -> Any:
        return _loop(getattr(test, "of_one_case", test), [axis, *getattr(test, "axes", [])])

    return decorate


def _cases(names: list[str], values: list[Any], ids: Any) -> Iterator[Case]:
    titles = [ids(value) for value in values] if callable(ids) else [None] * len(values) if ids is None else [*ids]
    for value, title in zip(values, titles, strict=True):
        is_parameter = isinstance(value, pytest.ParameterSet)
        found = value.values if is_parameter else (value,) if len(names) == 1 else tuple(value)
        marks = [getattr(mark, "mark", mark) for mark in value.marks] if is_parameter else []
        assert {mark.name for mark in marks} <= {"skip", "skipif", "xfail"}, marks
        told = (value.id if is_parameter else None) or title or "-".join(map(_told, found))
        yield Case(str(told), dict(zip(names, found, strict=True)), marks)


def _told(value: Any) -> str:
    return getattr(value, "__name__", None) or str(value)[:80]


def _loop(test: Any, axes: list[Axis]) -> Any:
    varied = {name for axis in axes for name in axis.names}
    signature = inspect.signature(test)
    assert varied <= signature.parameters.keys(), (
        f"{test.__name__} has no argument {varied - signature.parameters.keys()}"
    )

    @functools.wraps(test)
    def loop(*, subtests: pytest.Subtests, **fixtures: Any) -> None:
        tried, skipped = 0, set()
        for number, combination in enumerate(pairs(*(axis.cases for axis in axes))):
            values = {name: value for case in combination for name, value in case.values.items()}
            try:
                with _own(fixtures, number) as own, _as_marked([mark for case in combination for mark in case.marks]):
                    test(**own, **values)
                tried += 1
            except pytest.skip.Exception as reason:
                skipped.add(str(reason))
            except (Exception, pytest.fail.Exception):
                tried += 1
                with subtests.test("-".join(case.title for case in combination)):
                    raise
        if not tried:
            pytest.skip("; ".join(sorted(skipped)) or "there are no cases")

    kept = [given for given in signature.parameters.values() if given.name not in varied]
    kept.append(inspect.Parameter("subtests", inspect.Parameter.KEYWORD_ONLY))
    parameters = [given.replace(kind=inspect.Parameter.KEYWORD_ONLY) for given in kept]
    loop.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    loop.axes, loop.of_one_case = axes, test  # type: ignore[attr-defined]
    return loop


@contextlib.contextmanager
def _own(fixtures: dict[str, Any], number: int) -> Iterator[dict[str, Any]]:
    """Fixtures as a test of its own would have them."""
    own = dict(fixtures)
    with pytest.MonkeyPatch.context() as patch:
        if "monkeypatch" in own:
            own["monkeypatch"] = patch
        if "tmp_path" in own:
            own["tmp_path"] = Path(own["tmp_path"], f"case{number}")
            own["tmp_path"].mkdir()
        for name in own.keys() & {"capsys", "capsysbinary", "capfd", "capfdbinary"}:
            own[name].readouterr()
        if "caplog" in own:
            own["caplog"].clear()
        yield own


@contextlib.contextmanager
def _as_marked(marks: list[pytest.Mark]) -> Iterator[None]:
    """Skips a case, or takes its failure for what is expected, as its marks say."""
    met = [mark for mark in marks if mark.name == "skip" or not mark.args or mark.args[0]]
    reasons = {mark.name: mark.kwargs.get("reason", mark.args[-1] if mark.args else "") for mark in met}
    for name in reasons.keys() & {"skip", "skipif"}:
        pytest.skip(reasons[name])
    if "xfail" not in reasons:
        yield
        return
    raises = next(mark.kwargs.get("raises") for mark in met if mark.name == "xfail")
    try:
        yield
    except raises or (Exception, pytest.fail.Exception):  # noqa: B030
        return
    pytest.fail(f"the case does not fail any more: {reasons['xfail']}")
