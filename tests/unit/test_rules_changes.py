"""Both sides of a change are found in one slot, and what may be true together never is."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from langchain_tiered_memory.core.model import Memory, MemoryType
from langchain_tiered_memory.core.ports import ExtractedFact
from langchain_tiered_memory.extraction import RuleExtractor
from langchain_tiered_memory.extraction.grammar.numerals import numeral

SAID = datetime(2023, 5, 8, 12, tzinfo=UTC)


def lines(name: str) -> list[str]:
    text = Path(__file__).with_name(f"rule_{name}.txt").read_text(encoding="utf-8")
    return [line for line in text.splitlines() if line and not line.startswith("#")]


def pairs(name: str) -> list[tuple[str, str]]:
    parted = (line.partition(" || ") for line in lines(name))
    return [(one, other) for one, mark, other in parted if mark]


def slotted(text: str) -> list[ExtractedFact]:
    memory = Memory(text, MemoryType.EPISODE, 0.5, SAID, SAID, id="m", observed_at=SAID, role="user")
    return [fact for fact in RuleExtractor().extract([memory]) if fact.slot is not None]


def retires(newer: ExtractedFact, older: ExtractedFact) -> bool:
    """Say whether the newer fact ends the older one: another value of its slot, or the denial of its value."""
    if newer.slot != older.slot or older.negated:
        return False
    return newer.value == older.value if newer.negated else newer.value != older.value


ALONE = [line for line in lines("guards") if " || " not in line]


@pytest.mark.parametrize(("older", "newer"), pairs("changes"))
def test_a_change_is_told_of_one_slot(older: str, newer: str) -> None:
    assert any(retires(new, old) for new in slotted(newer) for old in slotted(older))


@pytest.mark.parametrize("text", ALONE)
def test_what_does_not_last_or_is_not_stated_has_no_slot(text: str) -> None:
    assert slotted(text) == []


@pytest.mark.parametrize(("one", "other"), pairs("guards"))
def test_what_may_be_true_together_retires_nothing(one: str, other: str) -> None:
    assert not any(retires(new, old) for new in slotted(other) for old in slotted(one))


def test_the_guards_are_many() -> None:
    assert len(ALONE) >= 150
    assert len(pairs("guards")) >= 75


@pytest.mark.parametrize(
    ("words", "digits"),
    [
        ("nine", "9"),
        ("nineteen", "19"),
        ("twenty-four", "24"),
        ("a hundred and five", "105"),
        ("two hundred", "200"),
        ("three thousand", "3000"),
        ("twelve months", None),
        ("", None),
    ],
)
def test_numbers_in_words_are_read(words: str, digits: str | None) -> None:
    assert numeral(words) == digits
