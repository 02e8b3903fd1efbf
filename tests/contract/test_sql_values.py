"""Values become columns and come back exactly, whatever they hold."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some

from langchain_tiered_memory.backends.sql import codec
from langchain_tiered_memory.core.model import Tier
from langchain_tiered_memory.core.text import escape
from langchain_tiered_memory.testing.samples import full_entry, vector_of

texts = some.text(some.characters(exclude_categories=()) | some.sampled_from("\0\x1a\ud83d\ude00 \n1{"), max_size=12)
values = some.recursive(
    some.none() | some.booleans() | some.integers() | some.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: some.lists(inner, max_size=3) | some.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)
zones = some.timezones() | some.just(UTC) | some.just(timezone(timedelta(hours=-3, minutes=-30)))
instants = some.datetimes(datetime(1, 1, 3), datetime(9999, 12, 29), timezones=zones)  # noqa: DTZ001 - they get zones


@given(some.dictionaries(texts, some.integers(1, 300), max_size=6))
def test_terms_come_back(terms: dict[str, int]) -> None:
    stored = codec.to_terms(terms)

    assert codec.from_terms(stored) == terms
    assert escape(codec.plain(stored)) == stored


@pytest.mark.parametrize("terms", [{}, {"": 1}, {"": 1, "a b": 1}, {" ": 1, "a b": 1}, {"a\n2 b": 1}, {"{": 2}])
def test_terms_that_look_like_their_own_separators_come_back(terms: dict[str, int]) -> None:
    assert codec.from_terms(codec.to_terms(terms)) == terms


@given(values)
def test_json_comes_back_and_is_a_text_that_every_database_takes(value: object) -> None:
    stored = codec.to_json(value)

    assert codec.from_json(stored) == value
    assert "\0" not in stored
    assert stored.encode("utf-8").decode("utf-8") == stored


@given(instants)
def test_instants_come_back_to_the_microsecond(instant: datetime) -> None:
    back = codec.from_instant(codec.to_instant(instant))

    assert back - instant == timedelta(0)
    assert back.tzinfo is UTC


@given(texts, texts)
def test_different_users_have_different_keys(one: str, other: str) -> None:
    assert (codec.digest(one) == codec.digest(other)) == (one == other)


def test_an_entry_comes_back_whole() -> None:
    entry = full_entry("a", "ada")

    columns = codec.to_entry("key", entry, 7)
    names = (*codec.MEMORY_COLUMNS, *codec.DERIVED_COLUMNS)
    back = codec.from_entry([columns[name] for name in names], "ada", Tier.SHORT_TERM)

    assert back.memory == entry.memory
    assert (back.terms, back.passages, back.version) == (entry.terms, entry.passages, 7)
    assert (back.duplicate_key, back.order) == (entry.duplicate_key, entry.order)


@pytest.mark.parametrize("dims", [(8, 8, 8), (8, 16, 8), (0, 0), (1,), ()])
def test_vectors_come_back_to_the_bit_and_are_the_callers_own(dims: tuple[int, ...]) -> None:
    made = [vector_of(n, dim) if dim else np.zeros(0, np.float32) for n, dim in enumerate(dims)]

    back = codec.from_vectors(dims, [vector.tobytes() for vector in made])

    assert [_bytes_of(one) for one in back] == [vector.tobytes() for vector in made]
    assert all(one is not None and one.flags.writeable and one.dtype == np.float32 for one in back)


@pytest.mark.parametrize("blob", [b"", b"\0" * 31, b"\0" * 33, b"\0" * 64])
def test_a_vector_of_the_wrong_length_is_none_and_spares_the_others(blob: bytes) -> None:
    whole = vector_of(1, 8).tobytes()

    assert [_bytes_of(one) for one in codec.from_vectors([8, 8], [blob, whole])] == [None, whole]


def _bytes_of(vector: Any) -> bytes | None:
    return None if vector is None else bytes(vector.tobytes())
