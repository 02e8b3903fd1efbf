"""What is stored can be read, changed, paged through and counted."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from langchain_tiered_memory import Memory, MemorySystem, NewMemory, NotFound, Status, Tier
from langchain_tiered_memory.core.engine import Engine
from tests.conftest import FakeClock
from tests.flow.systems import House

TIERS = ["short_term", "long_term"]


# -- what is returned --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("tier", TIERS)
def test_a_memory_comes_back_as_it_was_given(folder_house: House, clock: FakeClock, tier: str) -> None:
    """`Memory`: `content, memory_type, importance, created_at, last_accessed, access_count` …, from a reopened store
    too."""
    memory = folder_house.open()
    given = {
        "importance": 0.3333333333333333,
        "session_id": "s",
        "agent_id": "a",
        "role": "user",
        "name": "Ada",
        "origin": "a letter",
        "metadata": {"a": [1, 2.5, None, {"b": "c"}], "": True},
        "pinned": True,
        "id": "note",
    }
    observed = datetime(2020, 2, 29, 1, 2, 3, 456789, tzinfo=timezone(timedelta(hours=5, minutes=30)))
    stored = memory.remember("ada", " Verbatim\ttext \n", "preference", tier=tier, observed_at=observed, **given)  # type: ignore[arg-type] # spelled as keywords
    for field, value in given.items():
        assert getattr(stored, field) == value, field
    assert stored.content == " Verbatim\ttext \n"
    assert (stored.user_id, stored.tier, stored.memory_type) == ("ada", tier, "preference")
    assert (stored.created_at, stored.access_count) == (clock.now, 0)
    assert stored.observed_at == stored.last_accessed == observed
    assert (stored.valid_to, stored.superseded_by, stored.slot, stored.source_ids) == (None, None, None, ())
    assert memory.get("ada", "note") == stored
    memory.close()
    assert folder_house.open().get("ada", "note") == stored


def test_every_instant_is_aware_and_utc(sync: Engine, clock: FakeClock, monkeypatch: pytest.MonkeyPatch) -> None:
    """Naive datetimes are read as local time, Python's own rule, and everything is stored and returned as aware UTC."""
    east = timezone(timedelta(hours=9))
    naive = datetime(2024, 6, 1, 12)  # noqa: DTZ001 - the point
    for said, expected in (
        (naive, naive.astimezone(UTC)),
        (naive.replace(tzinfo=east), datetime(2024, 6, 1, 3, tzinfo=UTC)),
    ):
        stored = sync.remember("ada", f"said at {said}", observed_at=said)
        for instant in (stored.created_at, stored.last_accessed, stored.observed_at):
            assert instant.tzinfo is UTC
        assert stored.observed_at == expected
        assert sync.get("ada", stored.id).observed_at.tzinfo is UTC


def test_observed_at_is_now_by_default(sync: Engine, clock: FakeClock) -> None:
    """`observed_at` is when it was said or became true (default now); `last_accessed` starts as `observed_at`."""
    stored = sync.remember("ada", "a note")
    assert stored.created_at == stored.observed_at == stored.last_accessed == clock.now


def test_what_is_returned_is_the_callers_own(sync: Engine) -> None:
    """Changing what was given or returned changes nothing that is stored."""
    metadata = {"a": [1]}
    stored = sync.remember("ada", "a note", metadata=metadata)
    metadata["a"].append(2)
    stored.metadata["a"].append(3)
    sync.get("ada", stored.id).metadata["a"].append(4)
    assert sync.get("ada", stored.id).metadata == {"a": [1]}


# -- get ---------------------------------------------------------------------------------------------------------------


def test_unknown_and_foreign_ids_are_told_in_the_same_words(sync: Engine) -> None:
    """`NotFound` for unknown and for another user's, same words."""
    stored = sync.remember("ada", "a note", id="note")
    told = set()
    for user, wanted in (("bob", "note"), ("nobody", "note")):
        for call in (sync.get, sync.update, sync.history, sync.forget):
            with pytest.raises(NotFound) as error:
                call(user, wanted)
            told.add(str(error.value))
            assert error.value.memory_id == "note"
        with pytest.raises(NotFound) as error:
            sync.explain(user, "note", wanted)
        told.add(str(error.value))
    assert len(told) == 1
    assert sync.get("ada", "note") == stored


# -- update ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("tier", TIERS)
def test_update_changes_what_is_given_and_nothing_else(sync: Engine, clock: FakeClock, tier: str) -> None:
    """`update(user_id, id, *, content=…, importance=…, pinned=…, metadata=…)`."""
    sync.remember("ada", "the gate is green", "fact", tier=tier, id="n", metadata={"a": 1}, importance=0.2)
    sync.recall("ada", "gate")
    clock.advance(hours=1)
    before = sync.get("ada", "n")
    for change in ({"content": "the gate is blue"}, {"importance": 0.9}, {"pinned": True}, {"metadata": {"b": 2}}):
        after = sync.update("ada", "n", **change)
        for field in Memory.__dataclass_fields__:
            assert getattr(after, field) == change.get(field, getattr(before, field)), field
        assert sync.get("ada", "n") == after
        before = after
    assert after.tier == tier


def test_an_updated_text_is_what_is_found(sync: Engine) -> None:
    """Replace content …, terms and vectors: the old text finds it no more."""
    for tier in TIERS:
        sync.remember("ada", "zebra", tier=tier, id=tier)
        sync.update("ada", tier, content="okapi")
    sync.remember("ada", "something else")
    hits = sync.recall("ada", "okapi", 2, touch=False)
    assert {hit.id for hit in hits} == set(TIERS)
    assert all(hit.explanation["keywords"].value > 0 for hit in hits)
    assert all(hit.explanation["keywords"].value == 0 for hit in sync.recall("ada", "zebra", touch=False))


def test_metadata_may_be_emptied(sync: Engine) -> None:
    """`metadata=None` empties it; what is not given stays as it is."""
    sync.remember("ada", "a note", id="n", metadata={"a": 1})
    assert sync.update("ada", "n", importance=0.1).metadata == {"a": 1}
    assert sync.update("ada", "n", metadata=None).metadata == {}
    assert sync.update("ada", "n") == sync.get("ada", "n")


# -- list --------------------------------------------------------------------------------------------------------------


def test_list_is_newest_first_over_both_tiers(sync: Engine) -> None:
    """`list(…)`: `tuple[Memory, ...]`, newest first."""
    items = [NewMemory(f"note {n}", importance=(n % 3) / 2.1) for n in range(10)]
    sync.remember_many("ada", items)
    assert [one.content for one in sync.list("ada")] == [f"note {n}" for n in reversed(range(10))]


def test_pages_follow_each_other(sync: Engine) -> None:
    """`limit=100, after=None`: the id of the last memory of the page before."""
    sync.remember_many("ada", [NewMemory(f"note {n}", importance=(n % 3) / 2.1) for n in range(25)])
    pages, after = [], None
    while page := sync.list("ada", limit=7, after=after):
        pages.append(page)
        after = page[-1].id
    assert [len(page) for page in pages] == [7, 7, 7, 4]
    assert [one for page in pages for one in page] == list(sync.list("ada"))
    with pytest.raises(NotFound, match="nowhere"):
        sync.list("ada", after="nowhere")


def test_a_page_holds_a_hundred_by_default(sync: Engine) -> None:
    """`limit=100`."""
    sync.remember_many("ada", [NewMemory(f"note {n}") for n in range(120)])
    assert len(sync.list("ada")) == 100


def test_list_leaves_a_tier_a_type_or_what_matches(sync: Engine) -> None:
    """`list(user_id, *, tier=None, memory_types=None, filter=None, include_superseded=False, …)`."""
    for n, kind in enumerate(("fact", "episode", "preference")):
        for tier in TIERS:
            sync.remember("ada", f"{kind} in {tier}", kind, tier=tier, metadata={"n": n})
    assert {one.tier for one in sync.list("ada", tier="short_term")} == {Tier.SHORT_TERM}
    assert len(sync.list("ada", tier="long_term")) == 3
    assert {one.memory_type for one in sync.list("ada", memory_types=["fact"])} == {"fact"}
    assert {one.metadata["n"] for one in sync.list("ada", filter={"metadata.n": {"$gt": 0}})} == {1, 2}
    assert len(sync.list("ada", tier="short_term", filter={"metadata.n": 1})) == 1
    assert sync.list("bob") == ()


# -- history -----------------------------------------------------------------------------------------------------------


def test_history_tells_what_happened_oldest_first(sync: Engine, clock: FakeClock) -> None:
    """`history(user_id, id)`: `tuple[HistoryEvent(at, kind, memory, by), ...]`."""
    start = clock.now
    created = sync.remember("ada", "I love tea", "preference", importance=0.9)
    clock.advance(hours=1)
    reinforced = sync.remember("ada", "i love tea.", "preference", importance=0.9)
    clock.advance(hours=1)
    updated = sync.update("ada", created.id, importance=0.85)
    events = sync.history("ada", created.id)
    assert [event.kind for event in events] == ["created", "reinforced", "updated"]
    assert [event.at for event in events] == [start + timedelta(hours=n) for n in range(3)]
    assert [event.memory for event in events] == [created, reinforced, updated]
    assert events[0].by == "remember"


def test_a_short_term_item_has_only_its_creation_to_tell(sync: Engine) -> None:
    """A short-term item has only its creation to tell."""
    stored = sync.remember("ada", "ok", importance=0.1)
    assert [(event.kind, event.memory) for event in sync.history("ada", stored.id)] == [("created", stored)]


# -- status ------------------------------------------------------------------------------------------------------------


def test_status_counts_what_is_there(sync: Engine) -> None:
    """`status(user_id=None)`: what is stored, and how it is served."""
    empty = sync.status()
    assert (empty.users, empty.short_term, empty.long_term, empty.messages, empty.model) == (0, 0, 0, 0, None)
    for user in ("ada", "bob"):
        sync.remember(user, "short", importance=0.1)
        sync.remember(user, "one", "fact", slot="s")
        sync.remember(user, "two", "fact", slot="s")
        sync.session(user, "chat").add({"role": "user", "content": "hello"}, {"role": "tool", "content": "x"})
    one, all_ = sync.status("ada"), sync.status()
    assert (one.users, one.short_term, one.long_term, one.superseded, one.messages) == (1, 2, 2, 1, 2)
    assert (all_.users, all_.short_term, all_.long_term, all_.superseded, all_.messages) == (2, 4, 4, 2, 4)
    assert (one.pending, all_.pending, one.erasures, one.oldest_due_s) == (1, 2, 0, None)
    assert one.search == "exact"
    assert one.model is not None
    assert one.model.startswith("hashed")
    assert set(one.backends) == {"short_term", "long_term", "transcripts", "vector_index"}
    assert sync.status("nobody").users == 0


def test_status_says_what_waits_and_what_serves(folder_house: House) -> None:
    """`status()` says which path serves, and pending, oldest age."""
    memory = folder_house.open()
    memory.remember("ada", "a note", importance=0.9)
    assert memory.status().unindexed == 1
    memory.maintain()
    assert memory.status().unindexed == 0
    assert memory.status().backends == {
        "short_term": "sqlite",
        "long_term": "sqlite",
        "transcripts": "sqlite",
        "vector_index": "chroma",
    }


async def test_the_asynchronous_face_reads_the_same(memory: MemorySystem) -> None:
    """`memory.sync`: everything, blocking; both are the same memory."""
    stored = await memory.remember("ada", "a note")
    assert await memory.get("ada", stored.id) == memory.sync.get("ada", stored.id) == stored
    assert await memory.list("ada") == memory.sync.list("ada") == (stored,)
    assert await memory.history("ada", stored.id) == memory.sync.history("ada", stored.id)
    assert (await memory.update("ada", stored.id, pinned=True)).pinned
    assert isinstance(await memory.status(), Status)
    assert (await memory.explain("ada", "note", stored.id)).recalled
