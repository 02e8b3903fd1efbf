"""Changes of mind as people tell them, statements that look alike and stay true, and facts that touch neither.

`data/updates_development.jsonl` and `data/updates_held_apart.jsonl` hold one person's life each: a pair is what was
true and what is true now of one attribute, each inside a message; a control is two statements that are both true.
Within a life no attribute occurs twice, so that all that is retired besides the outdated statements is retired
falsely. `data/updates_world.json` holds tables of people, projects, places and things that occur in neither life.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from importlib.resources import files
from typing import Any

SPLITS = DEVELOPMENT, HELD_APART = ("development", "held_apart")
"""The half that rules may be developed on, and the other."""
KINDS = ("attribute", "number", "plan", "negation", "taste", "correction")

_SEED = 6
_HERE = files("langchain_tiered_memory.bench")


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """One message of the user, or of one of two friends.

    Attributes:
        id: Its id in the session, and of the memory that it becomes.
        at: When it was said; None: any day.
        text: The message.
        speaker: The name of a friend; None for the user, who talks to an assistant.
        values: The words that prove which value is stated, first as in the text; elsewhere maybe in other forms.
        statement: What a perfect reader draws from it.
        slot: The single-valued attribute it states; None when there may be several.
    """

    id: str
    text: str
    at: datetime | None = None
    speaker: str | None = None
    values: tuple[str, ...] = ()
    statement: str
    slot: str | None = None


@dataclass(frozen=True, slots=True)
class Pair:
    """What was true, and what is true now.

    Attributes:
        id: Its name.
        kind: One of `KINDS`.
        cue: Whether the newer message has a word that tells of a change ("now", "moved", "no longer").
        wording: "same" when both say the attribute in the same words, else "different".
        question: What the current value answers.
        old: The outdated statement.
        new: The current one.
    """

    id: str
    kind: str
    cue: bool
    wording: str
    question: str
    old: Said
    new: Said


@dataclass(frozen=True, slots=True)
class Control:
    """Two statements that look alike, and are both true."""

    id: str
    topic: str
    both: tuple[Said, Said]


@dataclass(frozen=True, slots=True)
class Life:
    """What one person says in a year and a half.

    Attributes:
        name: One of `SPLITS`.
        pairs: The changes of mind.
        controls: What only looks like one.
        unrelated: What has nothing to do with either.
    """

    name: str
    pairs: tuple[Pair, ...]
    controls: tuple[Control, ...]
    unrelated: tuple[Said, ...]

    def said(self) -> Iterator[Said]:
        """Iterate over all messages, in no order of time."""
        for pair in self.pairs:
            yield from (pair.old, pair.new)
        for control in self.controls:
            yield from control.both
        yield from self.unrelated


def read_life(split: str) -> Life:
    """Return one of the two lives.

    Args:
        split: One of `SPLITS`.
    """
    lines = (_HERE / "data" / f"updates_{split}.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    pairs = tuple(_pair(row) for row in rows if row["kind"] != "control")
    controls = tuple(_control(row) for row in rows if row["kind"] == "control")
    return Life(split, pairs, controls, unrelated())


def unrelated() -> tuple[Said, ...]:
    """Return the thousand facts of the tables: every attribute of every entity, in an order that is always the same."""
    world = json.loads((_HERE / "data" / "updates_world.json").read_text(encoding="utf-8"))
    of_others = [one for place, group in enumerate(world["groups"]) for one in _of_entities(place, group)]
    facts = [*of_others, *(one for attribute in world["own"] for one in _of_the_user(attribute))]
    random.Random(_SEED).shuffle(facts)
    return tuple(facts)


def _pair(row: Mapping[str, Any]) -> Pair:
    old, new = (_said(row, row[side], f"{row['id']}-{side}", row["topic"]) for side in ("old", "new"))
    return Pair(row["id"], row["kind"], row["cue"], row["wording"], row["question"], old, new)


def _control(row: Mapping[str, Any]) -> Control:
    first, second = (_said(row, row[side], f"{row['id']}-{side}", row[side]["slot"]) for side in ("first", "second"))
    return Control(row["id"], row["topic"], (first, second))


def _said(row: Mapping[str, Any], side: Mapping[str, Any], name: str, slot: str | None) -> Said:
    return Said(
        id=name,
        text=side["text"],
        at=datetime.fromisoformat(side["at"]),
        speaker=row["speaker"],
        values=tuple(side["values"]),
        statement=side["statement"],
        slot=slot,
    )


def _of_entities(group: int, tables: Mapping[str, Any]) -> Iterator[Said]:
    """Deal the values out so that neighbours in the table of entities have different ones."""
    for number, entity in enumerate(tables["entities"].split("|")):
        for column, attribute in enumerate(tables["attributes"]):
            values, sentences = attribute["values"].split("|"), attribute["sentences"]
            words = {"who": entity, "what": values[(number + column) % len(values)]}
            sentence = sentences[(number * 2 + column) % len(sentences)]
            slot = "_".join((*entity.lower().split(), attribute["name"]))
            yield _fact(f"u{group}-{number}-{attribute['name']}", sentence, attribute["statement"], words, slot)


def _of_the_user(attribute: Mapping[str, Any]) -> Iterator[Said]:
    sentences = attribute["sentences"]
    for number, what in enumerate(attribute["values"].split("|")):
        sentence = sentences[number % len(sentences)]
        yield _fact(f"u-{number}-{attribute['name']}", sentence, attribute["statement"], {"what": what})


def _fact(name: str, sentence: str, statement: str, words: Mapping[str, str], slot: str | None = None) -> Said:
    text = sentence.format_map(words)
    return Said(
        id=name,
        text=text[0].upper() + text[1:],
        values=(words["what"],),
        statement=statement.format_map(words),
        slot=slot,
    )
