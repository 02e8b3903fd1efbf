"""One name for each attribute: a model's names of slots, and its values, are those of the rules."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from langchain_tiered_memory import Memory, MemoryType
from langchain_tiered_memory.extraction import RuleExtractor
from langchain_tiered_memory.extraction.naming import canonical, named

SAID = datetime(2026, 3, 9, 12, tzinfo=UTC)

TOLD: dict[str, list[tuple[str, str | None]]] = {
    "I work at Acme.": [("employer", "Acme"), ("works_at", "Acme"), ("company", "the Acme."), ("my_workplace", "ACME")],
    "I live in Oslo.": [("home", "Oslo"), ("city", "Oslo"), ("place-of-residence", "Oslo"), ("user_home", "oslo")],
    "I'm a nurse.": [
        ("job title", "nurse"),
        ("job_title", "a nurse"),
        ("Occupation", "nurse"),
        ("profession", "Nurse"),
    ],
    "My name is Ada.": [("name", "Ada"), ("full name", "Ada")],
    "I'm 42 years old.": [("age", "42"), ("age", "42 years")],
    "My birthday is May 3.": [("birthday", "3 May"), ("date_of_birth", "May 3")],
    "I'm married.": [("relationship status", "married"), ("marital_status", "Married")],
    "My phone number is 06 5512 8830.": [("phone number", "06 5512 8830"), ("phone", "06-5512-8830")],
    "My phone is a Pixel 8.": [("phone", "Pixel 8")],
    "My email is ada@example.org.": [("email", "ada@example.org"), ("e-mail", "ada@example.org")],
    "I'm vegetarian.": [("diet", "vegetarian")],
    "I'm from Lima.": [("hometown", "Lima"), ("origin", "Lima")],
    "I study physics.": [("field of study", "physics"), ("major", "physics")],
    "My sister lives in Oslo.": [("sister home", "Oslo"), ("sister's home", "Oslo"), ("sister_city", "Oslo")],
    "My wife works at Acme.": [("wife_employer", "Acme"), ("partner employer", "Acme"), ("husband's company", "Acme")],
    "My sister is called Anna.": [("sister", "Anna"), ("sister_name", "Anna"), ("sibling:anna", "sister")],
    "My boss is called Ruben.": [("boss", "Ruben"), ("manager", "Ruben"), ("supervisor_name", "Ruben")],
    "I have a dog named Rex.": [("pet:Rex", "dog"), ("pets:rex", "a dog")],
    "I love sushi.": [("taste:sushi", "likes"), ("taste:Sushi", None), ("likes:sushi", "yes"), ("like", "sushi")],
    "I hate sushi.": [("taste:sushi", "dislikes"), ("dislikes:sushi", None), ("dislikes", "sushi")],
    "I speak French.": [("language:French", None), ("languages:french", "speaks"), ("language", "French")],
    "I'm allergic to peanuts.": [("allergy:peanuts", None), ("allergies", "peanuts"), ("allergy:peanuts", "severe")],
    "I use Notion.": [("uses:Notion", None), ("tool:notion", "yes")],
    "My favourite color is blue.": [("favourite:color", "blue"), ("favorite_colour", "Blue")],
    "My thesis is due on 2026-05-10.": [("deadline:thesis", "2026-05-10"), ("thesis_deadline", "2026-05-10")],
    "My rent is $1,200.": [("rent", "$1,200"), ("rent", "1200 dollars")],
}


@pytest.mark.parametrize("text", TOLD)
def test_a_model_names_and_values_as_the_rules_do(text: str) -> None:
    source = Memory(text, MemoryType.EPISODE, 0.5, SAID, SAID, observed_at=SAID, role="user", id="m")
    (fact,) = RuleExtractor().extract([source])
    assert {(found.slot, found.value) for found in (named(*one) for one in TOLD[text])} == {(fact.slot, fact.value)}


@pytest.mark.parametrize("text", TOLD)
def test_the_name_of_the_rules_names_itself(text: str) -> None:
    source = Memory(text, MemoryType.EPISODE, 0.5, SAID, SAID, observed_at=SAID, role="user", id="m")
    (fact,) = RuleExtractor().extract([source])
    assert fact.slot is not None
    assert canonical(fact.slot) == fact.slot


@pytest.mark.parametrize(
    "names",
    [
        ("release_date_heron", "Heron release date", "heron-release-date", "the_release_date_of_heron"),
        ("line_2", "line 2", "my line 2"),
        ("dentist", "current dentist", "Dentist"),
    ],
)
def test_other_names_are_the_same_in_any_spelling_and_order(names: tuple[str, ...]) -> None:
    assert len({named(one, None).slot for one in names}) == 1
    assert named(names[0], None).slot


def test_unlike_names_stay_apart() -> None:
    names = "line_1 line_2 shoe_size_lotte shoe_size_emil node_dashboard node_scanner budget:sofa budget:trip".split()
    assert len({named(one, None).slot for one in (*names, "sister_home", "home", "taste:tea", "favourite:tea")}) == 12


@pytest.mark.parametrize(
    "slot", ["", " ", ":", "pet:", ":rex", "_", "größe", "a" * 65, f"pet:{'x' * 65}", "pet", "pets", "taste", "home;"]
)
def test_what_names_nothing_is_none(slot: str) -> None:
    """A family without its member would let one pet end another."""
    assert named(slot, None).slot is None


def test_a_known_name_wins() -> None:
    """What an application called its slot itself stays its name."""
    known = {canonical(slot): slot for slot in ("job_title", "Employer")}
    assert named("occupation", "Nurse", known).slot == "job_title"
    assert named("company", "Acme", known).slot == "Employer"
    assert named("home", "Oslo", known).slot == "home"


def test_the_speaker_is_no_part_of_the_name() -> None:
    assert named("ada_employer", "Acme", speaker="Ada").slot == "employer"
    assert named("maya_employer", "Acme", speaker="Ada").slot != "employer"


@pytest.mark.parametrize("value", [None, "", " ", "\n"])
def test_no_value_is_none(value: str | None) -> None:
    assert named("employer", value).value is None
    assert named("birthday", value).value is None
