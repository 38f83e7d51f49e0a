"""README.md and the pages of docs: their code runs, their links resolve, and their tables have every option."""

import importlib
import re
import runpy
import shlex
from pathlib import Path

import orcish
import orcish.spark
import pytest
from orcish import _native
from orcish.keywords import keyword_names
from orcish.types import Limits, ReadOptions, ScanOptions, WriteOptions
from orcish_cli import main
from support.s3_store import BUCKET
from support.sample_files import write_sample

ROOT = next(folder for folder in Path(__file__).parents if (folder / "pyproject.toml").exists())
DOCS = sorted((ROOT / "docs").glob("*.md"))
PAGES = [ROOT / "README.md", *DOCS]
DECISIONS = sorted((ROOT / "docs/decisions").glob("*.md"))
LINKING = [*PAGES, *DECISIONS, *(ROOT / name for name in ("ARCHITECTURE.md", "CHANGELOG.md", "fuzz/README.md"))]
BLOCK = re.compile(
    r"(?P<reason>^<!-- not run: \S.* -->\n)?^```(?P<language>.*)\n(?P<code>(?:.*\n)*?)^```$", flags=re.MULTILINE
)


def name_of(page):
    return str(page.relative_to(ROOT))


def every_page(pages):
    return pytest.mark.parametrize("page", pages, ids=name_of)


def text_of(page):
    return page.read_text(encoding="utf-8")


def blocks(page, language):
    """The code blocks of a language that run, each behind as many newlines as there are lines above it."""
    text = text_of(page)
    return [
        "\n" * text.count("\n", 0, found.start("code")) + found["code"]
        for found in BLOCK.finditer(text)
        if found["language"] == language and not found["reason"]
    ]


def commands(page):
    """The lines of a page's blocks for a shell."""
    lines = [line for block in blocks(page, "console") for line in block.splitlines() if line]
    assert all(line.startswith("$ ") for line in lines), lines
    return [line.removeprefix("$ ") for line in lines]


def without_blocks(page):
    """The text of a page without its code blocks."""
    return re.sub(r"^```.*\n(?:.*\n)*?^```$", "", text_of(page), flags=re.MULTILINE)


@pytest.fixture
def sample(tmp_path, monkeypatch):
    """The files and tables that the pages speak of, in the current directory."""
    write_sample(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def names(page, request, monkeypatch):
    """What the code of a page finds: a session of Spark, and the sample files in the bucket, where it uses these."""
    code = "".join([*blocks(page, "python"), *blocks(page, "console")])
    # Spark begins before the directory changes: it starts workers in the directory in which it began, which has to stay.
    found = {"spark": request.getfixturevalue("spark")} if re.search(r"\bspark\b", code) else {}
    sample = request.getfixturevalue("sample")
    if "s3://bucket" in code:
        store = request.getfixturevalue("store")
        for key in ("aws_endpoint", "aws_access_key_id", "aws_secret_access_key", "aws_region", "aws_allow_http"):
            monkeypatch.setenv(key.upper(), str(store.options[key]).lower())
        for path in sample.rglob("*.orc"):
            store.client.put_object(Bucket=BUCKET, Key=path.relative_to(sample).as_posix(), Body=path.read_bytes())
    return found


PATHS = re.compile(
    r"""(["'])((?:orders|parquet|table|sorted|added|sales|sales_orc|sales_by_spark|copy|checkpoint|imported|by_job|arrow|inserted|ids|days|written|shop/\w+)/?|\w+\.orc)\1"""
)
"""Literals of paths in the code of a page."""


@every_page([page for page in PAGES if blocks(page, "python") or blocks(page, "console")])
def test_code_runs(page, names, sample, capsys):
    for block in blocks(page, "python"):
        if "spark" in names:
            # The workers of the session are in the directory in which it began.
            block = PATHS.sub(lambda found: f"{found[1]}{sample}/{found[2]}{found[1]}", block)
        exec(compile(block.replace("s3://bucket", f"s3://{BUCKET}"), name_of(page), "exec"), names)
    capsys.readouterr()
    for line in commands(page):
        command, *arguments = shlex.split(line, comments=True)
        if command == "make":
            continue
        assert command == "orcish", f"{line}: run it here, or mark the block as not run"
        assert main(arguments) == 0, line
        assert capsys.readouterr().out, line
    check = CHECKS.get(name_of(page))
    if check is not None:
        check(names)
    # Workers of Spark, which are in another directory, have written to the sample.
    assert not [*ROOT.glob("*/_orcish"), *ROOT.glob("*/*/_orcish")]


TARGET = re.compile(
    r"""(?:write_dataset\(\w+,\s|convert\("\w+/?",\s|\.(?:save|start)\()"([^":]+?)/?"|^\$ orcish convert \S+ (\S+)""",
    flags=re.MULTILINE,
)
"""Tables that the code of a page makes."""


def test_pages_have_tables_of_their_own():
    """The pages can be followed one after the other, in one folder."""
    pages = {}
    for page in PAGES:
        code = "".join([*blocks(page, "python"), *blocks(page, "console")])
        for found in TARGET.finditer(code):
            pages.setdefault(found[1] or found[2], set()).add(name_of(page))
    assert {"by_city", "daily", "converted", "added"} <= set(pages)
    assert {table: by for table, by in pages.items() if len(by) > 1} == {}


def test_pages_run_one_after_the_other(sample, capsys):
    """They do not change what others read."""
    for page in PAGES:
        code = blocks(page, "python")
        if re.search(r"\bspark\b|s3://bucket|https?://", "".join([*code, *commands(page)])):
            continue
        names = {}
        for block in code:
            exec(compile(block, name_of(page), "exec"), names)
        for line in commands(page):
            command, *arguments = shlex.split(line, comments=True)
            assert command != "orcish" or main(arguments) == 0, line
    capsys.readouterr()
    assert (orcish.scan("orders.orc").count(), orcish.scan("orders").count()) == (100, 100)


def check_readme(names):
    assert names["table"].equals(names["rides"])
    assert names["dear"].column_names == ["id", "price"]
    assert names["dear"].num_rows == len([i for i in names["ids"] if 5 + i % 300 / 10 > 34.5 and i % 3 == 0]) > 0
    assert names["file"].statistics("price").max == 34.9
    assert orcish.scan("by_city").count() == 100_010 - 33_336
    assert names["cheap"].schema.names == ["id", "city"]
    assert orcish.scan("converted").count() == 94
    assert orcish.scan("table/").count() == 100


def check_filters(names):
    assert names["big"].num_rows == 3
    expected = next(block for block in blocks(ROOT / "docs/filters.md", "text")).strip()
    plans = [orcish.scan("orders.orc", filters=orcish.col("id") == value).explain() for value in (5, 500)]
    assert "\n".join(map(str, plans)) == expected


def check_tables(names):
    assert names["scan"].to_table().num_rows == 5
    assert names["table"].column_names == ["id", "day"]
    assert names["splits"][0].rows == 100
    assert names["part"].column_names == ["id"]


def check_conversion(names):
    assert sum(file.rows for file in names["written"]) == 100
    assert {file.partition["city"] for file in names["written"]} == {"Bern", "Chur", "Genf"}


CHECKS = {
    "README.md": check_readme,
    "docs/carbondata.md": check_conversion,
    "docs/filters.md": check_filters,
    "docs/tables.md": check_tables,
    "docs/writing-tables.md": check_conversion,
}
"""What the code of a page leaves behind."""


@every_page(PAGES)
def test_languages_of_blocks(page):
    text = text_of(page)
    found = list(BLOCK.finditer(text))
    assert len(re.findall(r"^```", text, flags=re.MULTILINE)) == 2 * len(found)
    assert {block["language"] for block in found} <= {"python", "console", "text", "rust", "rs"}
    assert len(re.findall("^<!-- not run", text, flags=re.MULTILINE)) == sum(
        block["reason"] is not None for block in found
    )


def anchors(page):
    """The anchors that GitHub gives the headings of a page."""
    found = {}
    for heading in re.findall(r"^#+ (.*)$", without_blocks(page), flags=re.MULTILINE):
        plain = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading).lower()
        slug = re.sub(r"[^\w\- ]", "", plain).replace(" ", "-")
        count = found[slug] = found.get(slug, -1) + 1
        if count:
            found[f"{slug}-{count}"] = 0
    return set(found)


@every_page(LINKING)
def test_links_resolve(page):
    for target in re.findall(r"\]\(([^)\s]+)\)", without_blocks(page)):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        linked = (page.parent / path).resolve() if path else page
        assert linked.exists(), target
        assert not anchor or anchor in anchors(linked), target


def test_index_has_every_page():
    linked = re.findall(r"\]\(([\w-]+\.md)[)#]", text_of(ROOT / "docs/README.md"))
    assert sorted(linked) == [page.name for page in DOCS if page.name != "README.md"]


WHOLE = ("encryption", "errors", "types")
"""Modules that the reference documents whole."""


def test_reference_has_every_public_name():
    pages = [text_of(page) for page in (ROOT / "docs/reference").glob("*.rst")]
    named = re.findall(r"^\.\. auto\w+:: orcish\.(\w+)$", "\n".join(pages), flags=re.MULTILINE)
    # Modules are documented whole.
    modules = {name for module in WHOLE for name in importlib.import_module(f"orcish.{module}").__all__}
    assert set(orcish.__all__) - modules - {"__version__"} == set(named) - {*WHOLE, "dask", "ray", "spark"}


def test_site_has_every_page():
    index = text_of(ROOT / "docs/index.rst")
    pages = re.findall(r"^   ([\w/-]+)$", index, flags=re.MULTILINE)
    assert sorted(page for page in pages if "/" not in page) == sorted(
        page.stem for page in DOCS if page.stem != "README"
    )


def test_make_targets():
    makefile = text_of(ROOT / "Makefile")
    targets = {target for page in PAGES for target in re.findall(r"\bmake ([a-z-]+)`", text_of(page))}
    assert sum(line.startswith("orcish ") for page in PAGES for line in commands(page)) >= 10
    shell = {line.split()[1] for page in PAGES for line in commands(page) if line.startswith("make ")}
    assert shell >= {"demo", "test"}
    for target in targets | shell:
        assert re.search(rf"^{target}:.*##", makefile, flags=re.MULTILINE), target


def options_of_spark():
    """Names of the options of the data source, which are keywords of functions in camel case."""
    keywords = {*keyword_names(orcish.spark.read), *keyword_names(orcish.spark.write)}
    keywords -= {"spark", "frame", "path", "mode", "schema", "storage_options"}
    return {re.sub(r"_(\w)", lambda found: found[1].upper(), name) for name in keywords}


def test_the_page_of_options_has_every_option():
    of_python = {name for kind in (ReadOptions, ScanOptions, WriteOptions, Limits) for name in kind.__annotations__}
    named = set(re.findall(r"`([\w.]+)`", text_of(ROOT / "docs/options.md")))
    of_requests = {f"orcish.{name}" for name, *_ in _native.options_of("requests")}
    assert len(of_python) > 40
    assert len(of_spark := options_of_spark()) > 20
    assert {*of_python, *of_requests, *of_spark} - named == set()


def test_generated_parts_are_up_to_date():
    """``python docs/site/generate.py`` brings the pages up to date."""
    pages = runpy.run_path(str(ROOT / "docs/site/generate.py"))["pages"]()
    assert {page.name for page in pages} == {"options.md", "command-line.md"}
    assert [page.name for page, text in pages.items() if text != text_of(page)] == []


def test_files_of_the_architecture_exist():
    tracked = [*(ROOT / "crates").rglob("*"), *(ROOT / "python").rglob("*.py"), *(ROOT / "tests").rglob("*"), *DOCS]
    files = [f"/{file.relative_to(ROOT)}" for file in [*tracked, *(ROOT / "proto").glob("*")]]
    pages = [ROOT / "ARCHITECTURE.md", *DECISIONS]
    named = {name for page in pages for name in re.findall(r"`([\w/]+\.(?:rs|py|proto|md))`", text_of(page))}
    assert len(named) > 30
    assert not [name for name in named if not any(file.endswith(f"/{name}") for file in files)]
