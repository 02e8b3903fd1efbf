"""The comparison in README.md says what was found: of the others by scripts that ran, of this package by tests."""

from __future__ import annotations

import ast
import contextlib
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage

from langchain_tiered_memory import Message
from tests.comparison import report
from tests.comparison.findings import SITUATIONS, Check, ScriptOutdatedError, judged, not_offered
from tests.comparison.ours import CELLS
from tests.comparison.probes import blocked, torn
from tests.flow.systems import House

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
COLUMNS = report.read()
NAMED = sorted({test for cell in CELLS.values() for test in cell.tests})


def test_the_readme_shows_what_was_found() -> None:
    shown = re.search(r"<!-- beside-others -->\n(.*?)\n<!-- /beside-others -->", README, re.DOTALL)
    assert shown is not None
    assert shown[1] == report.rendered(COLUMNS)


def test_the_readme_installs_what_was_run() -> None:
    for title in ("LangMem", "mem0"):
        for name, number in COLUMNS[title].versions.items():
            assert f"{name}=={number}" in README


def test_every_situation_is_told_of_everyone() -> None:
    assert list(CELLS) == list(SITUATIONS)
    for column in COLUMNS.values():
        assert list(column.findings) == list(SITUATIONS)
        assert all(one.evidence for one in column.findings.values())


@pytest.mark.parametrize("named", NAMED)
def test_our_cells_name_tests_that_exist(named: str) -> None:
    file, *path = named.split("::")
    body: list[ast.stmt] = ast.parse((ROOT / file).read_text(encoding="utf-8")).body
    for name in path:
        (found,) = [
            one
            for one in body
            if isinstance(one, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and one.name == name
        ]
        body = found.body

    assert path[-1].startswith("test_")
    assert body


def test_langchains_classes_do_what_is_told_of_them(tmp_path: Path) -> None:
    """They are installed here; LangMem and mem0 are run by hand."""
    file = tmp_path / "found.json"
    command = [sys.executable, "-m", "tests.comparison", "--only", "langchain_classes", "--json", str(file)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)

    assert done.returncode == 0, done.stderr
    ((title, now),) = report.read(file).items()
    told = COLUMNS[title].findings
    assert {name: (one.outcome, one.words) for name, one in now.findings.items()} == {
        name: (one.outcome, one.words) for name, one in told.items()
    }


# -- how it is found out -----------------------------------------------------------------------------------------------


def _check(*, held: bool) -> Check:
    return Check(held, "yes", "no", "seen")


@pytest.mark.parametrize(
    ("held", "outcome", "words"),
    [
        ([True], "holds", "yes"),
        ([True, True], "holds", "yes; yes"),
        ([True, False], "partly", "yes; no"),
        ([False, True], "fails", "no; yes"),
    ],
)
def test_the_question_decides_and_the_rest_makes_it_partly(held: list[bool], outcome: str, words: str) -> None:
    finding = judged(*(_check(held=one) for one in held))

    assert (finding.outcome, finding.words) == (outcome, words)
    assert finding.evidence == "; ".join(["seen"] * len(held))


class _Offering:
    def search(self, query: str, *, token_budget: int = 0) -> None: ...


def test_what_a_library_has_is_never_told_as_not_offered() -> None:
    finding = not_offered("no user", _Offering, ["user"], "seen")

    assert finding.outcome == "not offered"
    with pytest.raises(ScriptOutdatedError, match="token_budget"):
        not_offered("no budget", _Offering, ["budget"], "seen")


ASKING = AIMessage("", tool_calls=[{"name": "f", "args": {}, "id": one} for one in ("a", "b")])
ANSWERS = [ToolMessage("found", tool_call_id=one) for one in ("a", "b")]


@pytest.mark.parametrize(
    ("messages", "expected"),
    [
        ([HumanMessage("hi"), ASKING, *ANSWERS, AIMessage("done")], []),
        ([ASKING, ANSWERS[0]], ["b"]),
        ([ANSWERS[1], AIMessage("done")], ["b"]),
        ([ANSWERS[0], ASKING, ANSWERS[1]], ["a", "a"]),
    ],
)
def test_a_call_or_a_result_that_is_alone_is_noticed(messages: list[BaseMessage], expected: list[str]) -> None:
    assert torn(messages) == expected


def test_what_blocks_a_loop_is_noticed_even_if_swallowed() -> None:
    async def swallowing() -> None:
        with contextlib.suppress(Exception):
            time.sleep(0)  # noqa: ASYNC251 - this is what is to be noticed

    async def free() -> None:
        pass

    assert blocked(swallowing) == ["time.sleep"]
    assert blocked(free) == []


# -- what no other test shows ------------------------------------------------------------------------------------------


def test_a_forgotten_message_stands_in_its_transcript_until_clear(folder_house: House) -> None:
    memory = folder_house.open()
    chat = memory.session("ada", "s")
    (message,) = chat.add(Message("user", "my locker code is heliotrope-4711"))
    memory.forget("ada", message.id or "")

    assert memory.recall("ada", "locker code", include_superseded=True) == []
    assert chat.transcript() == (message,)
    chat.clear()
    memory.maintain(compact=True)
    memory.close()
    assert b"heliotrope" not in folder_house.everything()


OFFLINE = """
from tests.comparison import apart
apart.settle()
from langchain_tiered_memory import MemorySystem
with MemorySystem.open("memory").sync as memory:
    memory.remember("ada", "Ruth has a golden retriever")
    memory.remember("ada", "The printer is out of paper")
    print(memory.recall("ada", "Which dogs are around?", k=1)[0].content)
    chat = memory.session("ada", "s", max_tokens=200)
    chat.add({"role": "user", "content": "Which dogs are around?"})
    print(0 < chat.context().tokens <= 200, apart.refused)
"""


def test_the_defaults_recall_by_meaning_without_network_and_key(tmp_path: Path) -> None:
    """In a process without a key, a network and a home with caches: the default embedder, store and vocabulary."""
    environment = {"PYTHONPATH": str(ROOT), "HOME": str(tmp_path)}

    done = subprocess.run(
        [sys.executable, "-c", OFFLINE], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )

    assert done.stdout.splitlines() == ["Ruth has a golden retriever", "True []"], done.stderr
