"""Configuration of the documentation site, which `make docs` builds."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import orcish
from sphinx.pycode import ModuleAnalyzer

project = "orcish"
release = version = orcish.__version__
author = "the orcish developers"

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.intersphinx",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
]
root_doc = "index"
# The list of pages for readers of the repository, for which the site has its navigation.
exclude_patterns = ["README.md"]

myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 4

autodoc_member_order = "bysource"
autodoc_typehints = "none"
autodoc_default_options = {"members": True}
napoleon_numpy_docstring = False
# Names of other libraries are no links: the site is built without a network.
intersphinx_mapping: dict[str, Any] = {}
nitpicky = True
nitpick_ignore_regex = [("py:.*", r"(?!orcish).*")]
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

html_theme = "furo"
html_title = f"orcish {release}"
html_static_path: list[str] = []
html_show_sphinx = False
html_show_copyright = False

ROOT = Path(__file__).parents[2]
REPOSITORY_PAGES = {"README.md": "overview", "ARCHITECTURE.md": "architecture", "CHANGELOG.md": "changelog"}
"""Pages of the site that are files in the root of the repository."""
LINK = re.compile(r"\[(?P<text>[^\]]*)\]\((?P<file>[\w./-]+\.md)(?P<anchor>#[\w-]+)?\)")


def read_page(_: object, page: str, source: list[str]) -> None:
    """Gives a page its text, with the links of the site in place of those of the repository."""
    folder = (ROOT / "docs" / page).parent
    file = next((file for file, name in REPOSITORY_PAGES.items() if page == f"site/{name}"), None)
    if file is not None:
        folder = ROOT
        source[0] = (ROOT / file).read_text(encoding="utf-8")

    def link(found: re.Match[str]) -> str:
        target = (folder / found["file"]).resolve().relative_to(ROOT).as_posix()
        if target in REPOSITORY_PAGES:
            page = f"site/{REPOSITORY_PAGES[target]}.md"
        elif target == "docs/README.md":
            page = "index.rst"
        elif target.startswith("docs/"):
            page = target.removeprefix("docs/")
        else:
            # Other files of the repository are no pages of the site.
            return f"{found['text']} (`{target}`)"
        return f"[{found['text']}](/{page}{found['anchor'] or ''})"

    source[0] = LINK.sub(link, source[0])


def join_comments() -> None:
    """Has autodoc find the comments of type aliases that ``orcish.types`` takes from the module of arguments."""
    types, arguments = map(ModuleAnalyzer.for_module, ("orcish.types", "orcish.types.arguments"))
    types.analyze()
    arguments.analyze()
    types.attr_docs.update(arguments.attr_docs)


def setup(app: Any) -> None:
    """Connects this file with Sphinx."""
    join_comments()
    app.connect("source-read", read_page)
