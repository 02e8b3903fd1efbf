"""What holds for the house as a whole: cheap to import, small rooms, nothing of one machine, nothing unfinished."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from langchain_tiered_memory import __version__
from tests import import_cost

ROOT = Path(__file__).parents[2]
PACKAGES = ("langchain_tiered_memory", "llamaindex_adapter")
SOURCES = sorted(path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))
LONGEST = 330
ALLOWED = {
    "langchain_tiered_memory",
    "llamaindex_adapter",
    "tests",
    "notebooks",
    "docs",
    "pyproject.toml",
    "CHANGELOG.md",
    "README.md",
    "LICENSE",
    "CONTRIBUTING.md",
    "SECURITY.md",
    "mkdocs.yml",
    "NOTICE",
    "PKG-INFO",
    "uv.lock",
}
UNFINISHED = re.compile(r"\b(TODO|FIXME|XXX)\b|raise NotImplementedError|pragma: no cover")
MACHINE = re.compile(r"(?<![\w.])/(work|root|tmp|home)\b")


def test_importing_the_package_is_cheap_and_loads_no_driver(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))

    seconds, heavy = import_cost.measure()

    assert heavy == []
    assert seconds < import_cost.SECONDS


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_a_file_is_one_room(path: Path) -> None:
    """A file is short enough to be read at once, and names neither a machine nor unfinished work."""
    text = path.read_text(encoding="utf-8")

    assert text.count("\n") <= LONGEST
    assert MACHINE.search(text) is None
    assert UNFINISHED.search(text) is None


@pytest.mark.parametrize("said", ['"output_text"', '"input_image"', "in fields(Message)"])
def test_what_parts_and_fields_a_message_has_is_said_once(said: str) -> None:
    assert sum(path.read_text(encoding="utf-8").count(said) for path in SOURCES) == 1


def test_both_packages_are_typed() -> None:
    assert [(ROOT / package / "py.typed").is_file() for package in PACKAGES] == [True, True]


def test_the_changelog_has_a_section_for_this_version() -> None:
    sections = re.findall(r"^## \[(.+?)\]", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)

    assert sections[0] == "Unreleased"
    assert __version__ in sections


def test_the_top_level_holds_the_agreed_entries_only() -> None:
    """A checkout is judged by what it tracks, an unpacked source distribution by what it holds."""
    names = [path.name for path in ROOT.iterdir()]
    if ".git" in names:
        listing = ["git", "-c", "safe.directory=*", "ls-files"]
        tracked = subprocess.run(listing, cwd=ROOT, check=True, capture_output=True, text=True).stdout
        names = [name.split("/")[0] for name in tracked.splitlines()]

    assert {name for name in names if not name.startswith(".")} <= ALLOWED
