"""Pages of layouts in a browser."""

from __future__ import annotations

import pathlib
from collections.abc import Iterator
from typing import Any

import orcish
import pyarrow as pa
import pytest
from orcish_cli import main
from support.browser import Browser, browser
from support.small_tables import in_stripes

HOSTILE = "</script><img src=x onerror=alert(1)>"


@pytest.fixture(scope="module")
def page() -> Iterator[Browser]:
    with browser() as found:
        yield found


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """Pages of a file of three stripes, and of a table of three files."""
    folder = tmp_path_factory.mktemp("reports")
    count = 6000
    data = pa.table(
        {
            "id": range(count),
            "text": [f"n{number * 7919 % 104729}" for number in range(count)],
            "nest": [{"a": number * 31 % 977, "b": [number]} for number in range(count)],
            HOSTILE: [number % 3 for number in range(count)],
        }
    )
    in_stripes(folder / "a.orc", data, 2000, bloom_filter_columns=["id"])
    advised = ["--advise", "--lookup", "id", "--runs", "1"]
    assert main(["layout", str(folder / "a.orc"), "-o", str(folder / "file.html"), *advised]) == 0
    orcish.write_dataset(data, folder / "t", partition_by=[HOSTILE])
    assert main(["layout", str(folder / "t"), "-o", str(folder / "table.html"), "--distinct"]) == 0
    return folder


@pytest.fixture(autouse=True)
def _no_problems(page: Browser, reports: pathlib.Path) -> Iterator[None]:
    """No test leaves errors in the console, and pages request nothing but themselves."""
    page.resize(1280, 800)
    yield
    assert page.problems() == []
    assert {url.partition("#")[0] for url in page.urls()} <= {
        (reports / name).as_uri() for name in ("file.html", "table.html")
    }


def tiles(page: Browser) -> list[str]:
    found: list[str] = page.evaluate("[...document.querySelectorAll('#map > button')].map((each) => each.ariaLabel)")
    return found


def crumbs(page: Browser) -> list[str]:
    found: list[str] = page.evaluate("[...document.querySelectorAll('#crumbs > *')].map((each) => each.textContent)")
    return found


def column(page: Browser, table: str, at: int) -> list[str]:
    found: list[str] = page.evaluate(
        f"[...document.querySelectorAll('#{table} tbody tr')].map((row) => row.children[{at}].textContent)"
    )
    return found


def test_zoom_by_mouse(page: Browser, reports: pathlib.Path) -> None:
    page.open(reports / "file.html")
    name = str(reports / "a.orc")
    assert [text.partition(":")[0] for text in tiles(page)][:3] == ["stripe 0", "stripe 1", "stripe 2"]
    assert crumbs(page) == [name]
    page.click("#map > button:nth-child(2)")
    assert crumbs(page) == [name, "stripe 1"]
    assert column(page, "inside", 0) == ["index", "data", "footer"]
    page.click("#map > button.data")
    assert page.evaluate("location.hash") == "#/stripe/1/data"
    assert set(column(page, "inside", 0)) == {"id", "text", "nest", HOSTILE}
    page.click("#crumbs a:nth-child(2)")
    assert crumbs(page) == [name, "stripe 1"]
    page.click("#crumbs a")
    assert crumbs(page) == [name]


def test_zoom_by_keyboard(page: Browser, reports: pathlib.Path) -> None:
    page.open(reports / "file.html")
    page.evaluate("document.querySelector('#map > button').focus()")
    page.press("ArrowRight")
    assert page.evaluate("document.activeElement.dataset.hash") == "#/stripe/1"
    page.press("ArrowLeft")
    page.press("Enter")
    assert crumbs(page)[1:] == ["stripe 0"]
    assert page.evaluate("document.activeElement.classList.contains('tile')")
    page.press("Escape")
    assert crumbs(page)[1:] == []
    assert page.evaluate("document.querySelectorAll('#map > button[tabindex=\"0\"]').length") == 1


@pytest.mark.parametrize(
    ("fragment", "shown", "parts"),
    [
        ("#/stripe/2/index", ["stripe 2", "index"], {"id", "text", "nest", HOSTILE, "(root) ROW_INDEX"}),
        ("#/stripe/0/index/column/1", ["stripe 0", "index", "id"], {"ROW_INDEX", "BLOOM_FILTER_UTF8"}),
        ("#/stripe/0/data/column/3", ["stripe 0", "data", "nest"], {"a", "b"}),
        ("#/stripe/0/data/column/3/column/4/stream/DATA", ["stripe 0", "data", "nest", "a", "DATA"], set()),
        ("#/stripe/99/nonsense", [], {"stripe 0", "stripe 1", "stripe 2", "tail"}),
        ("#<img src=x>%", [], {"stripe 0", "stripe 1", "stripe 2", "tail"}),
    ],
)
def test_states_have_addresses(
    page: Browser, reports: pathlib.Path, fragment: str, shown: list[str], parts: set[str]
) -> None:
    page.open(reports / "file.html", fragment)
    assert crumbs(page)[1:] == shown
    assert set(column(page, "inside", 0)) == parts


def test_areas_are_bytes(page: Browser, reports: pathlib.Path) -> None:
    """The areas of tiles are in the ratio of the bytes in the table below, but for rounding."""
    for fragment in ("", "#/stripe/1", "#/stripe/1/data", "#/stripe/1/data/column/3"):
        page.open(reports / "file.html", fragment)
        areas: list[float] = page.evaluate(
            "[...document.querySelectorAll('#map > button')].map((each) => each.offsetWidth * each.offsetHeight)"
        )
        sizes = sorted((int(text.replace(",", "")) for text in column(page, "inside", 1)), reverse=True)
        for area, size in zip(sorted(areas, reverse=True), sizes, strict=False):
            share = size / sum(sizes)
            if share > 0.05:
                assert area / sum(areas) == pytest.approx(share, rel=0.1)


def test_table_of_columns(page: Browser, reports: pathlib.Path) -> None:
    page.open(reports / "table.html")
    file = orcish.scan(reports / "t")
    assert set(column(page, "columns", 0)) == {"(root)", *file.schema.names, "nest.a", "nest.b", "nest.b.element"} - {
        HOSTILE
    }
    heads: list[str] = page.evaluate("[...document.querySelectorAll('#columns th')].map((each) => each.textContent)")
    assert "distinct" in heads
    page.click(f"#columns th:nth-child({heads.index('bytes') + 1}) button")
    sizes = [int(text.replace(",", "")) for text in column(page, "columns", heads.index("bytes"))]
    assert sizes == sorted(sizes, reverse=True)
    page.click(f"#columns th:nth-child({heads.index('bytes') + 1}) button")
    assert [int(text.replace(",", "")) for text in column(page, "columns", heads.index("bytes"))] == sizes[::-1]
    assert page.evaluate("document.querySelectorAll('#ranges figure').length") == 4
    assert page.evaluate("document.title").endswith(" - layout")


def test_bloom_filters_and_advice(page: Browser, reports: pathlib.Path) -> None:
    page.open(reports / "file.html")
    assert column(page, "blooms", 0) == ["id"]
    assert column(page, "blooms", 2) == ["3 of 3 row groups"]
    advice = orcish.advise(reports / "a.orc", lookup=["id"], runs=1)
    tried = [f"{trial.kind}: {trial.label}" for trial in advice.trials if trial.kind != "all advice together"]
    assert column(page, "trials", 1)[: len(tried)] == tried
    for name in ("blooms-section", "advice-section"):
        assert page.evaluate(f"document.getElementById('{name}').offsetHeight > 0")
    page.open(reports / "table.html")
    for name in ("blooms-section", "advice-section"):
        assert page.evaluate(f"document.getElementById('{name}').offsetHeight") == 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1280])
def test_screens(page: Browser, reports: pathlib.Path, width: int, scheme: str) -> None:
    """Nothing is wider than the screen, but tables that scroll; texts have contrast."""
    page.resize(width, 800)
    page.scheme(scheme)
    for name in ("file.html", "table.html"):
        page.open(reports / name)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        back: str = page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert (luminance(back) > 0.5) == (scheme == "light")
        for selector in ("body", ".hint", "#about", "a", "#map .name", "#map .name i", "td"):
            colours: list[str] | None = page.evaluate(
                f"(() => {{ const each = document.querySelector('{selector}'); if (!each) return null;"
                "let behind = each; while (getComputedStyle(behind).backgroundColor === 'rgba(0, 0, 0, 0)') behind = behind.parentNode;"
                "return [getComputedStyle(each).color, getComputedStyle(behind).backgroundColor]; })()"
            )
            if colours is not None:
                low, high = sorted(map(luminance, colours))
                assert (high + 0.05) / (low + 0.05) >= 4.5, (selector, colours)


def luminance(colour: str) -> float:
    """Relative luminance of a colour, as WCAG defines it."""
    parts: list[Any] = [int(part) / 255 for part in colour.removeprefix("rgb(").removesuffix(")").split(",")]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))
