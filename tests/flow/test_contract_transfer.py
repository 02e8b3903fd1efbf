"""Export and import: everything a user has, in a file of lines, and back again without loss or doubles."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest

from langchain_tiered_memory import InvalidInput, Memory, MemorySystem, NewMemory, Tier
from langchain_tiered_memory.core.engine import Engine
from langchain_tiered_memory.testing.samples import HOSTILE, odd_json
from tests.conftest import FakeClock
from tests.flow.systems import House


def fill(memory: Engine) -> None:
    """Remember something of every kind, with values that are false."""
    memory.remember("ada", "a short note", importance=0.0, metadata=odd_json())
    memory.remember(
        "ada", "a long note", "preference", importance=0.9, id="long", agent_id="x", name="Ada", pinned=True
    )
    for employer in ("Acme", "Globex"):
        memory.remember("ada", employer, "fact", slot="employer")
    chat = memory.session("ada", "s", agent_id="x")
    chat.add(
        {"role": "system", "content": ""},
        {"role": "user", "content": "my lucky number is seven", "id": "m1", "extra": {"a": 0, "b": False, "c": None}},
        {"role": "assistant", "content": None, "tool_calls": [{"id": "c", "function": {"name": "f"}}]},
        {"role": "tool", "content": [{"type": "text", "text": "0"}], "tool_call_id": "c"},
    )
    memory.recall("ada", "lucky number")


def everything(memory: Engine, user: str = "ada") -> dict[str, dict[str, Any]]:
    """Return what a user has by id, but for the tier."""
    found = memory.list(user, include_superseded=True, limit=10_000)
    return {
        one.id: {name: getattr(one, name) for name in Memory.__dataclass_fields__ if name != "tier"} for one in found
    }


def test_an_export_is_json_lines_and_comes_back_the_same(house: House, tmp_path: Path) -> None:
    """`export_user(user_id, file)` · `import_user(user_id, file)`: JSON Lines; export → new store → recall
    identical."""
    memory = house.open()
    fill(memory)
    report = memory.export_user("ada", tmp_path / "ada.jsonl")
    assert (report.memories, report.messages) == (5, 4)
    lines = (tmp_path / "ada.jsonl").read_text("utf-8").splitlines()
    assert len(lines) == 9
    assert all(json.loads(line)["kind"] in {"memory", "message"} for line in lines)

    other = MemorySystem.open(":memory:", embedder=house.open()._opening.rooms().parts.embedder, clock=house.clock).sync
    with other:
        report = other.import_user("ada", tmp_path / "ada.jsonl")
        assert (report.memories, report.messages, report.merged, report.skipped) == (5, 4, 0, 0)
        assert everything(other) == everything(memory)
        assert other.session("ada", "s").transcript() == memory.session("ada", "s").transcript()
        assert [one.content for one in other.list("ada", include_superseded=True)] == [
            one.content for one in memory.list("ada", include_superseded=True)
        ]
        for query in ("lucky number", "note", "Globex"):
            mine, theirs = (m.recall("ada", query, 9, touch=False) for m in (memory, other))
            assert [(hit.id, hit.score) for hit in theirs] == [(hit.id, hit.score) for hit in mine]


def test_an_import_goes_to_long_term(sync: Engine) -> None:
    """A `slot`, an import, … goes where it says (slots and imports: long-term)."""
    sync.remember("ada", "a short note", importance=0.0)
    file = io.StringIO()
    sync.export_user("ada", file)
    file.seek(0)
    sync.import_user("bob", file)
    assert [one.tier for one in sync.list("bob")] == [Tier.LONG_TERM]
    assert sync.list("ada")[0].tier is Tier.SHORT_TERM
    assert [event.by for event in sync.history("bob", sync.list("bob")[0].id)] == ["import"]


def test_importing_again_doubles_nothing(sync: Engine, tmp_path: Path) -> None:
    """Merge by id; re-running an import: the same counts."""
    fill(sync)
    sync.export_user("ada", tmp_path / "ada.jsonl")
    before, told = everything(sync), sync.session("ada", "s").transcript()
    report = sync.import_user("ada", tmp_path / "ada.jsonl")
    assert (report.memories, report.messages) == (0, 0)
    assert everything(sync) == before
    assert sync.session("ada", "s").transcript() == told
    assert len(sync.recall("ada", "note", 99)) == 4


def test_an_import_merges_with_what_came_meanwhile(sync: Engine, tmp_path: Path) -> None:
    """Merge by id: what came meanwhile stays, counts and times take the higher."""
    fill(sync)
    sync.export_user("ada", tmp_path / "ada.jsonl")
    sync.remember("ada", "came meanwhile")
    for query in ("long note", "short note", "lucky number"):
        sync.recall("ada", query, 2)
    sync.update("ada", "m1", content="my lucky number is eight")
    before = {one.id: (one.content, one.access_count) for one in sync.list("ada")}
    sync.import_user("ada", tmp_path / "ada.jsonl")
    assert {one.id: (one.content, one.access_count) for one in sync.list("ada")} == before
    assert "came meanwhile" in {one.content for one in sync.list("ada")}


def test_imported_messages_are_not_remembered_anew(sync: Engine, clock: FakeClock, tmp_path: Path) -> None:
    """Messages come with their episodes: one that was let go before the export stays let go."""
    sync.session("ada", "s").add({"role": "user", "content": "ok"})
    clock.advance(days=2)
    assert sync.maintain("ada").expired == 1
    sync.export_user("ada", tmp_path / "ada.jsonl")
    sync.import_user("bob", tmp_path / "ada.jsonl")
    assert sync.maintain("bob").placed == 0
    assert len(sync.session("bob", "s").transcript()) == 1
    assert sync.list("bob") == ()


def test_hostile_text_travels(sync: Engine, tmp_path: Path) -> None:
    """Kept to the last byte, also in a file."""
    for name, text in HOSTILE.items():
        labels: dict[str, Any] = {"id": f"{name}: {text[:400]}", "session_id": text[:500]}
        sync.remember("ada", f"{name}: {text}", metadata={"text": text}, **labels)
        sync.session("ada", f"s{text[-500:]}").add({"role": "user", "content": text, "extra": {text: text}})
    sync.export_user("ada", tmp_path / "ada.jsonl")
    sync.import_user("bob", tmp_path / "ada.jsonl")
    mine = {one: {**fields, "user_id": "bob"} for one, fields in everything(sync).items()}
    assert everything(sync, "bob") == mine
    for text in HOSTILE.values():
        told = [sync.session(user, f"s{text[-500:]}").transcript() for user in ("ada", "bob")]
        assert told[0] == told[1]
        assert told[0][-1].text == text


def test_a_path_appears_only_when_it_is_complete(sync: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A path appears only when it is complete."""
    fill(sync)
    target = tmp_path / "ada.jsonl"
    target.write_text("the one before")
    monkeypatch.setattr(json, "dumps", lambda *_, **__: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        sync.export_user("ada", target)
    monkeypatch.undo()
    assert target.read_text() == "the one before"
    assert [path.name for path in tmp_path.iterdir() if path.is_file()] == ["ada.jsonl"]


def test_an_export_of_nobody_is_empty(sync: Engine) -> None:
    """An unknown user has nothing to write."""
    file = io.StringIO()
    report = sync.export_user("nobody", file)
    assert (report.memories, report.messages, file.getvalue()) == (0, 0, "")
    assert sync.import_user("ada", io.StringIO("\n \n")).memories == 0


GOOD = {"kind": "memory", "id": "a", "content": "a note", "memory_type": "fact", "importance": 0.5}
TIMES = {"created_at": "2025-01-01T00:00:00+00:00", "last_accessed": "2025-01-01T00:00:00+00:00"}


@pytest.mark.parametrize(
    "line",
    [
        "no json",
        "[]",
        "5",
        '"text"',
        "{",
        json.dumps({**GOOD}),
        json.dumps({**GOOD, **TIMES, "kind": "banana"}),
        json.dumps({**GOOD, **TIMES, "importance": 7}),
        json.dumps({**GOOD, **TIMES, "importance": "high"}),
        '{"kind": "memory", "id": "a", "content": "x", "memory_type": "fact", "importance": NaN, '
        + json.dumps(TIMES)[1:],
        json.dumps({**GOOD, **TIMES, "memory_type": "banana"}),
        json.dumps({**GOOD, **TIMES, "content": ""}),
        json.dumps({**GOOD, **TIMES, "content": 5}),
        json.dumps({**GOOD, **TIMES, "id": ""}),
        json.dumps({**GOOD, **TIMES, "id": 5}),
        json.dumps({**GOOD, **TIMES, "created_at": "yesterday"}),
        json.dumps({**GOOD, **TIMES, "created_at": 5}),
        json.dumps({**GOOD, **TIMES, "access_count": -1}),
        json.dumps({**GOOD, **TIMES, "access_count": "many"}),
        json.dumps({**GOOD, **TIMES, "source_ids": "abc"}),
        json.dumps({**GOOD, **TIMES, "source_ids": [1]}),
        json.dumps({**GOOD, **TIMES, "metadata": []}),
        json.dumps({**GOOD, **TIMES, "metadata": "x"}),
        json.dumps({**GOOD, **TIMES, "slot": 5}),
        json.dumps({**GOOD, **TIMES, "pinned": "yes"}),
        json.dumps({**GOOD, **TIMES, "order": "first"}),
        json.dumps({"kind": "message", "session_id": "s"}),
        json.dumps({"kind": "message", "role": "user", "content": "x"}),
        json.dumps({"kind": "message", "session_id": "", "role": "user", "content": "x"}),
        json.dumps({"kind": "message", "session_id": 5, "role": "user", "content": "x"}),
        json.dumps({"kind": "message", "session_id": "s", "role": "user", "content": 5}),
        json.dumps({"kind": "message", "session_id": "s", "role": "user", "content": "x", "created_at": "soon"}),
        json.dumps({"kind": "message", "session_id": "s", "role": "user", "content": "x", "agent_id": 5}),
    ],
)
def test_a_line_that_is_not_one_of_an_export_is_refused_by_its_number(sync: Engine, line: str) -> None:
    """`InvalidInput`: a line is not one of an export; nothing of it was written."""
    lines = f"{json.dumps({**GOOD, **TIMES})}\n\n{line}\n"
    with pytest.raises(InvalidInput, match="line 3"):
        sync.import_user("ada", io.StringIO(lines))
    assert [one.id for one in sync.list("ada")] in ([], ["a"])
    assert sync.session("ada", "s").transcript() == ()


def test_a_file_that_is_not_text_is_refused(sync: Engine, tmp_path: Path) -> None:
    """`InvalidInput`: a file of other bytes is no export."""
    (tmp_path / "x").write_bytes(b'{"kind": "\xff\xfe"}\n')
    with pytest.raises(InvalidInput, match="UTF-8"):
        sync.import_user("ada", tmp_path / "x")


def test_many_memories_travel(sync: Engine, tmp_path: Path) -> None:
    """More than one batch of them."""
    sync.remember_many("ada", [NewMemory(f"note {n}", importance=n % 2) for n in range(1201)])
    assert sync.export_user("ada", tmp_path / "x").memories == 1201
    assert sync.import_user("bob", tmp_path / "x").memories == 1201
    assert [one.content for one in sync.list("bob", limit=9999)] == [f"note {n}" for n in reversed(range(1201))]


async def test_the_asynchronous_face_carries_too(memory: MemorySystem, tmp_path: Path) -> None:
    """`export_user(user_id, file)` · `import_user(user_id, file)`, paths given as text too."""
    await memory.remember("ada", "a note")
    assert (await memory.export_user("ada", str(tmp_path / "x"))).memories == 1
    assert (await memory.import_user("bob", str(tmp_path / "x"))).memories == 1
