"""Forgetting: one memory and what rested on it, or a whole user, from every place and for good."""

from __future__ import annotations

from pathlib import Path

import pytest

from langchain_tiered_memory import Conflict, ForgetReceipt, MemorySystem, NewMemory, NotFound
from langchain_tiered_memory.core.engine import Engine
from langchain_tiered_memory.testing import FakeExtractor
from tests.conftest import FakeClock
from tests.flow.systems import House

CANARY = "canaryxq7"


@pytest.mark.parametrize("tier", ["short_term", "long_term"])
def test_a_forgotten_memory_is_gone_from_every_call(sync: Engine, tier: str) -> None:
    """`forget(user_id, *ids)`: `ForgetReceipt` with counts per place and `pending`."""
    gone = sync.remember("ada", "the garden gate is green", tier=tier)
    kept = sync.remember("ada", "the kitchen door is blue", tier=tier)
    receipt = sync.forget("ada", gone.id)
    assert (receipt.short_term, receipt.long_term) == ((1, 0) if tier == "short_term" else (0, 1))
    assert (receipt.derived, receipt.pending) == (0, ())
    assert [hit.id for hit in sync.recall("ada", "garden gate", k=9)] == [kept.id]
    assert [one.id for one in sync.list("ada")] == [kept.id]
    for call in (sync.get, sync.update):
        with pytest.raises(NotFound):
            call("ada", gone.id)
    with pytest.raises(NotFound):
        sync.forget("ada", gone.id)


def test_several_are_forgotten_at_once_or_none(sync: Engine) -> None:
    """An unknown id is NotFound, and nothing was forgotten."""
    ids = [sync.remember("ada", f"note {n}", importance=n / 4).id for n in range(5)]
    with pytest.raises(NotFound, match="nowhere"):
        sync.forget("ada", *ids, "nowhere")
    assert len(sync.list("ada")) == 5
    receipt = sync.forget("ada", *ids, ids[0])
    assert (receipt.short_term, receipt.long_term) == (4, 1)
    assert sync.list("ada") == ()
    assert sync.forget("ada") == ForgetReceipt()


def test_another_users_memory_is_unknown(sync: Engine) -> None:
    """`NotFound` for unknown and for another user's, same words."""
    stored = sync.remember("ada", "the garden gate is green")
    with pytest.raises(NotFound) as foreign:
        sync.forget("bob", stored.id)
    sync.forget("ada", stored.id)
    with pytest.raises(NotFound) as unknown:
        sync.forget("ada", stored.id)
    assert str(foreign.value) == str(unknown.value)


def test_what_rested_on_it_alone_goes_too(house: House) -> None:
    """`forget(id)` also deletes what rested on it alone; the rest loses that source."""
    script = {"one": ["only of one", "of both"], "two": ["of both"]}
    memory = house.open(extractor=FakeExtractor(script))
    one = memory.remember("ada", "one", importance=0.9)
    two = memory.remember("ada", "two", importance=0.9)
    memory.consolidate("ada")
    receipt = memory.forget("ada", one.id)
    assert (receipt.long_term, receipt.derived) == (2, 1)
    left = {memory_.content: memory_ for memory_ in memory.list("ada")}
    assert left.keys() == {"two", "of both"}
    assert one.id not in left["of both"].source_ids
    assert left["of both"].source_ids == (two.id,)
    assert memory.forget("ada", two.id).derived == 1
    assert memory.list("ada") == ()


def test_neither_consolidation_nor_an_import_revives_it(house: House, tmp_path: Path) -> None:
    """Leaves a content-free tombstone, so that neither consolidation nor a re-import revives it."""
    memory = house.open(extractor=FakeExtractor({"I moved to Oslo": ["lives in Oslo"]}))
    chat = memory.session("ada", "s")
    (said,) = chat.add({"role": "user", "content": "I moved to Oslo", "id": "m1"})
    memory.export_user("ada", tmp_path / "before.jsonl")
    memory.consolidate("ada", everything=True)
    memory.export_user("ada", tmp_path / "after.jsonl")
    assert said.id == "m1"
    memory.forget("ada", "m1")

    memory.consolidate("ada", everything=True)
    memory.maintain("ada")
    reports = [memory.import_user("ada", tmp_path / f"{name}.jsonl") for name in ("before", "after")]
    memory.consolidate("ada", everything=True)
    memory.maintain("ada")
    assert [report.memories for report in reports] == [0, 0]
    assert sum(report.skipped for report in reports) >= 2
    assert memory.list("ada", include_superseded=True) == ()
    assert memory.recall("ada", "Oslo") == []


def test_its_id_stays_taken_by_the_tombstone(sync: Engine) -> None:
    """Conflict: the id … was forgotten; nothing was written."""
    for tier in ("short_term", "long_term"):
        sync.remember("ada", "a note", id=tier, tier=tier)
        sync.forget("ada", tier)
        with pytest.raises(Conflict, match="forgotten"):
            sync.remember("ada", "a note", id=tier)
        with pytest.raises(Conflict, match="forgotten"):
            sync.remember_many("ada", [NewMemory("a new one"), NewMemory("a note", id=tier)])
    assert sync.list("ada") == ()
    assert sync.remember("bob", "a note", id="long_term").content == "a note"


def test_saying_it_again_is_remembered_again(sync: Engine, clock: FakeClock) -> None:
    """What is forgotten is the memory; what is said anew is a new one."""
    first = sync.remember("ada", "I like tea", "preference")
    sync.forget("ada", first.id)
    clock.advance(seconds=1)
    assert sync.remember("ada", "I like tea", "preference").id != first.id


def test_history_keeps_only_that_and_when(sync: Engine) -> None:
    """`history`: of a forgotten one only when and that it was."""
    stored = sync.remember("ada", "the garden gate is green", importance=0.9)
    sync.forget("ada", stored.id)
    events = sync.history("ada", stored.id)
    assert [event.kind for event in events] == ["created", "forgotten"]
    assert [event.memory for event in events] == [None, None]


# -- a whole user ------------------------------------------------------------------------------------------------------


def fill(memory: Engine, user: str, text: str) -> None:
    """Leave the text in every place there is."""
    memory.remember(user, f"{text} short", importance=0.1, metadata={text: text}, session_id=text, name=text)
    memory.remember(user, f"{text} long", "fact", importance=0.9, origin=text, agent_id=text, role=text, id="known")
    memory.remember(user, f"{text} before", "fact", slot=text)
    memory.remember(user, f"{text} after", "fact", slot=text)
    chat = memory.session(user, f"session {text}", agent_id=text)
    chat.add({"role": "user", "content": text, "name": text}, {"role": "tool", "content": text, "tool_call_id": text})
    memory.recall(user, text)
    memory.update(user, "known", content=f"{text} mended")
    memory.consolidate(user, everything=True)
    memory.remember(user, f"{text} new", importance=0.1)
    forgotten = memory.remember(user, f"{text} forgotten", importance=0.9)
    memory.forget(user, forgotten.id)
    memory.maintain(user)


def test_a_whole_user_is_forgotten_and_nobody_else(sync: Engine) -> None:
    """`forget_user(user_id)` … counts per place; forget(user A), user B byte-identical."""
    fill(sync, "ada", "rose")
    fill(sync, "ada2", "rose")
    before = sync.list("ada2", include_superseded=True, limit=99), sync.session("ada2", "session rose").transcript()
    status = sync.status("ada")
    receipt = sync.forget_user("ada")
    assert (receipt.short_term, receipt.long_term) == (status.short_term, status.long_term)
    assert (receipt.messages, receipt.pending) == (2, ())
    assert receipt.vectors > 0
    assert sync.list("ada", include_superseded=True) == ()
    assert sync.recall("ada", "rose") == []
    assert sync.session("ada", "session rose").transcript() == ()
    assert sync.status("ada").users == 0
    assert sync.status().users == 1
    after = sync.list("ada2", include_superseded=True, limit=99), sync.session("ada2", "session rose").transcript()
    assert after == before


def test_an_unknown_user_gives_zeros(sync: Engine) -> None:
    """An unknown user all zeros."""
    assert sync.forget_user("nobody") == ForgetReceipt()
    assert sync.maintain().erased == 0


def test_a_forgotten_user_may_begin_anew(sync: Engine) -> None:
    """After an erasure not even a tombstone is left: the same ids may be used again."""
    fill(sync, "ada", "rose")
    sync.forget_user("ada")
    assert sync.remember("ada", "a new rose", id="known").content == "a new rose"
    sync.session("ada", "session rose").add({"role": "user", "content": "hello again"})
    assert {one.content for one in sync.list("ada")} == {"a new rose", "hello again"}


def test_nothing_of_a_forgotten_user_is_left_in_any_file(folder_house: House) -> None:
    """Canary string grep over all files of the folder afterwards."""
    memory = folder_house.open()
    fill(memory, f"user {CANARY}", CANARY)
    fill(memory, "bob", "rose")
    memory.maintain()
    assert CANARY.encode() in folder_house.everything()
    memory.forget_user(f"user {CANARY}")
    memory.maintain(compact=True)
    memory.close()
    assert CANARY.encode() not in folder_house.everything()
    assert b"rose" in folder_house.everything()


def test_nothing_of_a_forgotten_memory_is_left_in_any_file(folder_house: House) -> None:
    """Leaves a content-free tombstone."""
    memory = folder_house.open()
    for tier in ("short_term", "long_term"):
        stored = memory.remember("ada", f"{CANARY} {tier}", tier=tier, metadata={"a": CANARY}, name=CANARY)
        memory.recall("ada", CANARY)
        memory.update("ada", stored.id, content=f"{CANARY} mended")
        memory.maintain("ada")
        memory.forget("ada", stored.id)
    memory.maintain("ada", compact=True)
    memory.close()
    assert CANARY.encode() not in folder_house.everything()


def test_a_forgotten_user_stays_forgotten_in_a_reopened_store(folder_house: House) -> None:
    """Forget, consolidate, reopen, recall → nothing."""
    memory = folder_house.open()
    fill(memory, "ada", "rose")
    memory.forget_user("ada")
    memory.close()
    again = folder_house.open()
    again.consolidate("ada")
    assert again.recall("ada", "rose", include_superseded=True) == []
    assert again.status().users == 0


async def test_the_asynchronous_face_forgets_too(memory: MemorySystem) -> None:
    """`forget(user_id, *ids)` · `forget_user(user_id)`."""
    stored = await memory.remember("ada", "the garden gate is green")
    assert (await memory.forget("ada", stored.id)).pending == ()
    assert await memory.forget_user("ada") == ForgetReceipt()
