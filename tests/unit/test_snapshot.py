"""A snapshot patched forward is the snapshot read anew, whatever happened in between."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from langchain_tiered_memory.backends.inmemory import InMemoryItemStore, InMemoryRecordStore
from langchain_tiered_memory.core.model import MemoryType, Tier
from langchain_tiered_memory.core.ports import Change, Changes, Entry, PassageVector, Touched
from langchain_tiered_memory.core.snapshot import Snapshot
from langchain_tiered_memory.core.text import analyze
from langchain_tiered_memory.testing.samples import DIM, NOW, entry_of, vector_of

USER, MODEL = "ada", "model-a"
WORDS = ("tea", "gate", "yesterday", "bees", "river")
ASKED: tuple[list[str], ...] = (["tea"], ["gate", "yesterday"], ["nowhere"], ["tea", "tea", "bees"], [])
HOUR = timedelta(hours=1)


def entry(number: int, seed: int, tier: Tier = Tier.SHORT_TERM, **fields: Any) -> Entry:
    """Return an entry whose terms, session, speaker, times and vectors follow from two numbers."""
    terms = {WORDS[(number + seed) % 5]: 1 + seed % 3, WORDS[(number * 2 + seed) % 5]: 1}
    vectors = tuple(PassageVector(n, MODEL, f"{seed}-{n}", vector_of(seed * 7 + n)) for n in range(seed % 3))
    derived = {
        "terms": terms,
        "vectors": vectors,
        "passages": 2,
        "order": number,
        "duplicate_key": f"key {number % 4}" if number % 2 else None,
    }
    told = {
        "tier": tier,
        "memory_type": MemoryType.EPISODE if number % 3 else MemoryType.FACT,
        "session_id": None if number % 4 == 0 else f"s{number % 2}",
        "observed_at": NOW + HOUR * ((number * 5) % 7),
        "importance": seed % 10 / 10,
        "name": "Ada" if number % 2 else None,
        "role": "assistant" if seed % 2 else "user",
        **fields,
    }
    return entry_of(f"m{number}", f"text {number} {seed}", derived=derived, **told)


def image(snapshot: Snapshot) -> dict[str, dict[str, object]]:
    """Return everything that a snapshot says of each living memory."""
    query = vector_of(3)
    nearest, meaning = snapshot.cosines(query)
    columns: dict[str, NDArray[Any]] = {
        "cosine": nearest,
        "meaning": meaning,
        "beside": snapshot.best_beside(meaning),
        "session": snapshot.session_best(np.where(snapshot.alive, meaning, np.float32(0))),
        "tells when": snapshot.tells_when,
        "leaning": snapshot.postings.leaning(),
    }
    for number, terms in enumerate(ASKED):
        columns[f"keywords {number}"] = np.where(snapshot.alive, snapshot.keywords(terms), 0)
        columns[f"session {number}"] = snapshot.session_keywords(terms)
    columns |= {name: snapshot.numbers(name) for name in ("importance", "last_accessed", "access_count")}
    columns |= {
        "named": snapshot.speakers.named(["ada"]),
        "said": snapshot.said_by("assistant"),
        "alone": snapshot.alone,
    }
    pending = {head.memory.id: missing for head, missing in snapshot.pending()}
    told: dict[str, dict[str, object]] = {}
    for row in map(int, np.flatnonzero(snapshot.alive)):
        head = snapshot.entry(row)
        near = [snapshot.entry(one).memory.id for one in snapshot.neighbours(row, 2)]
        same = snapshot.duplicate(head.duplicate_key)
        told[head.memory.id] = {name: round(float(column[row]), 4) for name, column in columns.items()} | {
            "head": replace(head, left_out=()),
            "near": near,
            "pending": pending.get(head.memory.id),
            "duplicate": None if same is None else same.duplicate_key,
            "row": snapshot.row_of(head.memory.id) == row,
        }
    return told


class Two:
    """Two stores, and a snapshot that is patched forward from them."""

    def __init__(self) -> None:
        self.items, self.records = InMemoryItemStore(), InMemoryRecordStore()
        self.patched = Snapshot(USER, MODEL)

    def follow(self, snapshot: Snapshot) -> Snapshot:
        """Patch a snapshot up to the stores."""
        for tier, store in ((Tier.SHORT_TERM, self.items), (Tier.LONG_TERM, self.records)) * 2:
            snapshot.apply(tier, store.changes(USER, snapshot.versions[tier]))
        return snapshot

    def put(self, number: int, seed: int) -> None:
        if not self.items.get(USER, [f"m{number}"]):
            self.items.put(USER, [replace(entry(number, seed), duplicate_key=f"key {number}")])

    def record(self, number: int, seed: int) -> None:
        made = replace(entry(number, seed, Tier.LONG_TERM), duplicate_key=f"key {number}")
        self.records.apply(USER, Change(entries=(made,), at=NOW, by="remember", strict=False))

    def value(self, number: int, seed: int) -> None:
        made = entry(100 + number, seed, Tier.LONG_TERM, slot="employer", observed_at=NOW + HOUR * seed)
        self.records.apply(
            USER, Change(entries=(replace(made, duplicate_key=None),), at=NOW, by="remember", strict=False)
        )

    def touch(self, number: int, seed: int) -> None:
        for tier, store in ((Tier.SHORT_TERM, self.items), (Tier.LONG_TERM, self.records)):
            at = NOW + HOUR * seed
            touched: Touched = store.touch(USER, [f"m{number}"], at)
            if touched.ids:
                self.patched.touch(tier, touched, at)

    def update(self, number: int, seed: int) -> None:
        for store, tier in ((self.items, Tier.SHORT_TERM), (self.records, Tier.LONG_TERM)):
            if store.get(USER, [f"m{number}"]):
                store.update(USER, replace(entry(number, seed, tier), duplicate_key=f"key {number}"), NOW)

    def embed(self, number: int, seed: int) -> None:
        vector = PassageVector(seed % 2, MODEL, f"e{seed}", vector_of(seed))
        self.items.embed(USER, {f"m{number}": [vector]})
        self.records.embed(USER, {f"m{number}": [vector]})

    def remove(self, number: int, seed: int) -> None:
        if self.records.get(USER, [f"m{number}"]) or seed % 2:
            self.items.remove(USER, {f"m{number}": None})

    def forget(self, number: int, seed: int) -> None:
        ids = [f"m{number}", f"m{number + 100}"]
        self.records.forget(USER, ids, NOW)
        self.items.remove(USER, dict.fromkeys(ids))

    def erase(self, number: int, seed: int) -> None:
        if seed == 0:
            self.records.erase(USER, NOW)
            self.items.forget(USER)


STEPS = ("put", "put", "record", "record", "value", "touch", "touch", "update", "embed", "remove", "forget", "erase")
steps = st.tuples(st.sampled_from(STEPS), st.integers(0, 7), st.integers(0, 9), st.booleans())


@settings(max_examples=150)
@given(st.lists(steps, max_size=40))
def test_a_patched_snapshot_is_the_one_read_anew(told: list[tuple[str, int, int, bool]]) -> None:
    """A snapshot that is behind reads the rows with a higher counter and patches itself."""
    two = Two()
    for name, number, seed, look in told:
        step: Callable[[int, int], None] = getattr(two, name)
        step(number, seed)
        if look:
            two.follow(two.patched)
    patched = image(two.follow(two.patched))
    assert patched == image(two.follow(Snapshot(USER, MODEL)))
    assert all(one["row"] for one in patched.values())


def placed(*entries: Entry, tier: Tier = Tier.SHORT_TERM, model: str = MODEL) -> Snapshot:
    snapshot = Snapshot(USER, model)
    snapshot.apply(tier, Changes(1, entries, whole=True))
    return snapshot


def test_every_signal_lies_between_0_and_1() -> None:
    """Every signal is a float in [0, 1]."""
    snapshot = placed(*(entry(n, n) for n in range(20)))
    for terms in ASKED:
        for column in (snapshot.keywords(terms), snapshot.session_keywords(terms)):
            assert ((column >= 0) & (column <= 1)).all()
    for column in (*snapshot.cosines(vector_of(1)), snapshot.session_best(snapshot.cosines(vector_of(1))[1])):
        assert ((column >= 0) & (column <= 1 + 1e-6)).all()
    assert ((snapshot.postings.leaning() > 0) & (snapshot.postings.leaning() <= 1)).all()


def test_the_cosine_is_that_of_the_nearest_passage() -> None:
    """Cosine of the query and the nearest passage; clipped to [0, 1]."""
    query = vector_of(1)
    away, near, nearer = -query, vector_of(2), query
    vectors = [PassageVector(n, MODEL, str(n), vector) for n, vector in enumerate((away, nearer, near))]
    one, other = entry_of("one"), entry_of("other")
    snapshot = placed(replace(one, vectors=tuple(vectors)), replace(other, vectors=(vectors[0],)))
    nearest, meaning = snapshot.cosines(query)
    assert nearest.tolist() == pytest.approx([1, 0], abs=1e-6)
    assert meaning.tolist() == pytest.approx([0.9, 0], abs=1e-6)  # it is a later passage
    for nothing in (None, np.zeros(DIM, np.float32), np.ones(DIM + 1, np.float32)):  # the last of another model
        assert [column.tolist() for column in snapshot.cosines(nothing)] == [[0, 0], [0, 0]]


def test_a_first_passage_is_the_meaning_of_its_row() -> None:
    """A text begins with what it is about: its first passage counts fully."""
    query = vector_of(1)
    first = [PassageVector(0, MODEL, "0", query), PassageVector(1, MODEL, "1", vector_of(2))]
    snapshot = placed(replace(entry_of("one"), vectors=tuple(first)))
    nearest, meaning = snapshot.cosines(query)
    assert meaning.tolist() == nearest.tolist() == pytest.approx([1], abs=1e-6)


def test_vectors_of_another_model_count_as_none() -> None:
    """Vectors are keyed by … model id."""
    snapshot = placed(entry(1, 2), model="another")
    assert snapshot.cosines(vector_of(14))[0].tolist() == [0]
    assert [missing for _, missing in snapshot.pending()] == [(0, 1)]


def test_vectors_beside_count_where_they_are_nearer() -> None:
    """Vectors of rows that this snapshot does not hold (they are in the vector index)."""
    snapshot = placed(entry_of("one"), entry_of("two"))
    query = vector_of(1)
    for passage, meant in ((0, 1), (1, 0.9)):
        beside = {1: [PassageVector(passage, MODEL, "x", query)]}
        nearest, meaning = snapshot.cosines(query, beside)
        assert nearest.tolist() == pytest.approx([0, 1], abs=1e-6)
        assert meaning.tolist() == pytest.approx([0, meant], abs=1e-6)


def test_a_record_stands_for_its_item() -> None:
    """Of an item that is in both tiers, the record does."""
    for first, second in ((Tier.SHORT_TERM, Tier.LONG_TERM), (Tier.LONG_TERM, Tier.SHORT_TERM)):
        snapshot = Snapshot(USER, MODEL)
        for tier in (first, second):
            snapshot.apply(tier, Changes(1, (entry(1, 1, tier),), whole=True))
        assert [one.memory.tier for one in snapshot.entries()] == [Tier.LONG_TERM]
        row = snapshot.row_of("m1")
        assert row is not None
        assert snapshot.entry(row).memory.tier is Tier.LONG_TERM
        assert snapshot.in_both(["m1", "m2"]) == {"m1"}
        assert snapshot.ids(Tier.SHORT_TERM) == {"m1"}


def test_an_item_comes_out_of_the_shade_of_its_record() -> None:
    """When the record goes and the item does not, the item is read again."""
    two = Two()
    two.record(1, 1)
    two.put(1, 2)
    assert [one.memory.tier for one in two.follow(two.patched).entries()] == [Tier.LONG_TERM]
    two.records.erase(USER, NOW)
    assert [one.memory.tier for one in two.follow(two.patched).entries()] == [Tier.SHORT_TERM]


def test_a_touch_that_missed_something_waits_for_the_next_reading() -> None:
    """Take over a touch of our own, if nothing else happened before it."""
    snapshot = placed(entry(1, 1))
    snapshot.touch(Tier.SHORT_TERM, Touched(3, frozenset({"m1"})), NOW)
    assert snapshot.numbers("access_count").tolist() == [0]
    assert snapshot.versions[Tier.SHORT_TERM] == 1
    snapshot.touch(Tier.SHORT_TERM, Touched(2, frozenset({"m1"})), NOW + HOUR)
    assert snapshot.numbers("access_count").tolist() == [1]
    assert snapshot.versions[Tier.SHORT_TERM] == 2


def test_a_term_nearby_counts_less_than_one_of_its_own() -> None:
    """Relevance joins meaning and keywords, on the turn and around it in its session."""
    fields: dict[str, Any] = {"session_id": "s", "memory_type": MemoryType.EPISODE}
    terms = ({"rain": 1}, {"tea": 1}, {"snow": 1}, {"hail": 1}, {"fog": 1}, {"mist": 1})
    entries = [
        entry_of(f"m{n}", derived={"terms": one, "order": n}, observed_at=NOW + HOUR * n, **fields)
        for n, one in enumerate(terms)
    ]
    found = placed(*entries).keywords(["tea"]).tolist()
    assert found[1] > found[0] == found[2] > found[3] > found[4]


def test_a_word_that_may_stand_for_a_term_counts_half() -> None:
    """What is asked with "go" is told with "went", and of kids one tells as children."""
    snapshot = placed(
        *(
            entry_of(f"m{n}", derived={"terms": one})
            for n, one in enumerate(
                ({"go": 2, "x": 2}, {"went": 4}, {"rain": 4}, {"children": 1, "x": 3}, {"dog": 4}, {"cat": 4})
            )
        )
    )
    go, went, rain, *_ = snapshot.keywords(["go"]).tolist()
    assert go == went > rain == 0  # four times the other word is twice the word
    assert snapshot.keywords(["kid"]).tolist()[3] > 0
    assert snapshot.keywords(["pet"]).tolist()[4:] == snapshot.keywords(["pet"]).tolist()[5:] * 2
    assert snapshot.keywords(["dog"]).tolist()[5] == 0  # a kind stands for no other


def test_rows_with_both_words_are_counted_once_and_the_dead_never() -> None:
    """The statistics are those of the living rows that hold the term or another word for it."""
    terms = ({"go": 1, "went": 1}, {"go": 1}, {"went": 1}, {"tea": 1}, {"tea": 1})
    entries = [entry_of(f"m{n}", derived={"terms": one}) for n, one in enumerate(terms)]
    patched, anew = placed(*entries), placed(entries[0], *entries[2:])
    patched.forget(["m1"])
    found = np.delete(patched.keywords(["go"]), 1)
    assert found.tolist() == pytest.approx(anew.keywords(["go"]).tolist(), rel=1e-6)


def test_a_question_is_read_without_the_speakers_whom_it_names() -> None:
    """Whoever is named is looked for by name; a question that says nothing else stays as it is."""
    snapshot = placed(*(entry_of(f"m{n}", name=name) for n, name in enumerate(("Ada Lovelace", "Eve", "Will", None))))

    def read(text: str) -> str:
        return snapshot.speakers.left_out(text, analyze(text))

    assert read("What did Ada's sister give Eve?") == "What did sister give ?"
    assert read("what does ada lovelace like") == "what does like"
    assert read("What about Eve?") == "What about Eve?"
    assert read("Will it rain in Bergen?") == "Will it rain in Bergen?"
    assert read("Who is Evelyn?") == "Who is Evelyn?"


def talk(*terms: dict[str, int], session: str = "s") -> list[Entry]:
    """Return turns of one session with these terms."""
    fields: dict[str, Any] = {"session_id": session, "memory_type": MemoryType.EPISODE}
    return [
        entry_of(f"{session}{n}", derived={"terms": one, "order": n}, observed_at=NOW + HOUR * n, **fields)
        for n, one in enumerate(terms)
    ]


def test_a_long_text_leans_less_on_the_turns_around_it() -> None:
    """A long text stands for itself: what is said beside it counts less, of keywords and of meaning."""
    long = {f"w{n}": 1 for n in range(60)}
    snapshot = placed(*talk({"rain": 1}, {"tea": 1}, long))
    short_row, said, long_row = snapshot.keywords(["tea"]).tolist()
    assert said > short_row > long_row > 0
    assert snapshot.best_beside(np.array([0, 0.6, 0], np.float32)).tolist() == pytest.approx([0.6, 0, 0.3])


def test_the_best_of_a_session_is_its_own() -> None:
    """The largest value in the session of every row; 0 where it has none, and of the dead nothing."""
    alone = entry_of("fact", memory_type=MemoryType.FACT, session_id="s")
    snapshot = placed(*talk({"tea": 1}, {"rain": 1}), *talk({"fog": 1}, session="t"), alone)
    values = np.array([0.2, 0.7, 0.4, 0.9], np.float32)
    assert snapshot.session_best(values).tolist() == pytest.approx([0.7, 0.7, 0.4, 0])
    assert placed(alone).session_best(values[:1]).tolist() == [0]


def test_a_wasteful_snapshot_says_so() -> None:
    """Whether so many rows are dead that reading everything anew is cheaper than carrying them."""
    snapshot = placed(entry(1, 1))
    for seed in range(1010):
        snapshot.apply(Tier.SHORT_TERM, Changes(seed + 2, (entry(1, 1 + seed % 2),)))
    assert snapshot.wasteful
    assert int(snapshot.alive.sum()) == 1
    assert snapshot.nbytes > 0
