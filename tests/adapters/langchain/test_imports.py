"""The adapters are loaded one by one, and say what to install when their framework is missing."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import langchain_tiered_memory
from langchain_tiered_memory import langchain as adapters

ROOT = Path(__file__).parents[3]
NAMES = (
    "TieredChatMessageHistory",
    "TieredMemory",
    "TieredMemoryMiddleware",
    "TieredMemoryRetriever",
    "TieredMemoryStore",
    "create_memory_tools",
)
_MISSING = """
import sys
for name in {missing}:
    sys.modules[name] = None
from langchain_tiered_memory.langchain import {name}
"""
_STAR = """
import sys
for name in {missing}:
    sys.modules[name] = None
from {package} import {what}
print(*[name for name in {names} if name not in {where}])
"""
_LOADED = """
import sys
from langchain_tiered_memory.langchain import {name}
print(*[name for name in {asked} if name in sys.modules])
"""


def _run(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("name", NAMES)
def test_the_root_has_the_adapters_too(name: str) -> None:
    assert name in langchain_tiered_memory.__all__
    assert name in dir(adapters)
    assert getattr(langchain_tiered_memory, name) is getattr(adapters, name)


def test_what_is_no_adapter_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="Nothing"):
        _ = adapters.Nothing


def test_the_room_of_adapters_loads_no_framework() -> None:
    done = _run(_LOADED.format(name="__all__ as names", asked=["langchain_core", "langchain", "langgraph"]))

    assert (done.stdout.strip(), done.stderr) == ("", "")


@pytest.mark.parametrize(
    ("name", "heavy"),
    [
        ("TieredChatMessageHistory", ["langchain", "langgraph", "langchain_classic"]),
        ("TieredMemory", ["langchain", "langgraph"]),
        ("TieredMemoryRetriever", ["langchain", "langgraph", "langchain_classic"]),
        ("TieredMemoryStore", ["langchain", "langchain_classic"]),
        ("create_memory_tools", ["langchain", "langgraph", "langchain_classic"]),
    ],
)
def test_an_adapter_loads_no_other_framework(name: str, heavy: list[str]) -> None:
    done = _run(_LOADED.format(name=name, asked=heavy))

    assert (done.stdout.strip(), done.stderr) == ("", "")


@pytest.mark.parametrize(
    ("name", "missing", "line"),
    [
        ("TieredMemory", ["langchain_classic"], "pip install 'langchain-classic'"),
        ("TieredMemoryMiddleware", ["langchain"], "pip install 'langchain-tiered-memory[agents]'"),
        ("TieredMemoryMiddleware", ["langgraph"], "pip install 'langchain-tiered-memory[agents]'"),
        ("TieredMemoryStore", ["langgraph"], "pip install 'langchain-tiered-memory[agents]'"),
    ],
)
def test_a_missing_extra_is_said_at_the_import_with_the_line_that_helps(
    name: str, missing: list[str], line: str
) -> None:
    done = _run(_MISSING.format(missing=missing, name=name))

    assert done.returncode == 1
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith(f"langchain_tiered_memory.core.errors.NotInstalled: {name} needs ")
    assert line in last


@pytest.mark.parametrize("package", ["langchain_tiered_memory", "langchain_tiered_memory.langchain"])
@pytest.mark.parametrize(
    ("missing", "left_out"),
    [
        (["langgraph"], ["TieredMemoryMiddleware", "TieredMemoryStore"]),
        (["langchain"], ["TieredMemoryMiddleware"]),
        (["langchain", "langgraph"], ["TieredMemoryMiddleware", "TieredMemoryStore"]),
        ([], []),
    ],
)
def test_a_star_is_all_that_is_installed(package: str, missing: list[str], left_out: list[str]) -> None:
    done = _run(_STAR.format(missing=missing, package=package, names=NAMES, what="__all__", where="__all__"))

    assert (done.stdout.split(), done.stderr) == (left_out, "")


def test_a_star_works_without_the_extras() -> None:
    missing = ["langchain", "langgraph"]
    done = _run(
        _STAR.format(missing=missing, package="langchain_tiered_memory", names=NAMES, what="*", where="globals()")
    )

    assert (done.stdout.split(), done.stderr) == (["TieredMemoryMiddleware", "TieredMemoryStore"], "")


def test_a_stand_in_for_a_framework_breaks_no_import() -> None:
    done = _run("import sys, types; sys.modules['langgraph'] = types.ModuleType('x'); import langchain_tiered_memory")

    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("name", ["TieredChatMessageHistory", "TieredMemoryRetriever", "create_memory_tools"])
def test_what_needs_no_extra_works_without_one(name: str) -> None:
    done = _run(_MISSING.format(missing=["langchain", "langgraph", "langchain_classic"], name=name))

    assert (done.returncode, done.stderr) == (0, "")
