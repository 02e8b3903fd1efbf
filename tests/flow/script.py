"""A day and a half of two users, told step by step: what a crash may strike anywhere."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import timedelta
from io import StringIO
from typing import Any

from langchain_tiered_memory.core.engine import Engine
from langchain_tiered_memory.core.errors import NotFound
from langchain_tiered_memory.core.model import MemoryType, NewMemory
from langchain_tiered_memory.core.ports import ExtractedFact
from langchain_tiered_memory.testing import FakeExtractor
from tests.flow.world import START

ADA, BOB = "ada", "bob%"
USERS = (ADA, BOB)

MOVED = "I moved to Porto last week."
BAKES = "I bake bread on Sundays."
WORKS = "I started at Globex today."


def extractor(*, plain: bool = False) -> FakeExtractor:
    """Return the facts that consolidation finds in the script's talk; `plain` are those of content and slot alone."""
    found: dict[str, list[ExtractedFact]] = {
        MOVED: [_home("Ada lives in Porto", value="porto", spans={"m2": (0, 15)})],
        BAKES: [
            ExtractedFact(content="Ada bakes bread", source_ids=()),
            ExtractedFact(content="likes baking", memory_type=LIKES, source_ids=()),
            _home("Ada lived in Rome", value="rome", observed_at=LONG_AGO, valid_to=LONG_AGO + timedelta(days=900)),
        ],
        WORKS: [
            ExtractedFact(content="Globex", slot="employer", value="globex", source_ids=()),
            ExtractedFact(content="Ada left Initech", slot="employer", value="initech", negated=True, source_ids=()),
        ],
        "bob told a joke": [ExtractedFact(content="bob is funny", source_ids=())],
    }
    if plain:
        found = {
            text: [replace(one, value=None, spans={}) for one in facts if not one.negated and one.valid_to is None]
            for text, facts in found.items()
        }
    return FakeExtractor(found)


LIKES = MemoryType.PREFERENCE
LONG_AGO = START - timedelta(days=2_000)


def _home(content: str, **fields: Any) -> ExtractedFact:
    return ExtractedFact(content=content, slot="home", source_ids=(), **fields)


@dataclass(frozen=True)
class Step:
    """One call of a client, repeated with the same ids until it is acknowledged.

    Attributes:
        name: What it is.
        users: Whose memories it may change.
        hours: When, from the start.
        act: The call.
    """

    name: str
    users: tuple[str, ...]
    hours: float
    act: Callable[[Engine], Any]


def message(message_id: str, content: Any, role: str = "user", **fields: Any) -> dict[str, Any]:
    """Return a message as OpenAI writes it."""
    return {"role": role, "content": content, "id": message_id, **fields}


CALL = {"id": "c1", "type": "function", "function": {"name": "weather", "arguments": "{}"}}
TALK = (
    message("m1", "You are kind.", "system"),
    message("m2", MOVED),
    message("m3", "How nice, Ada!", "assistant"),
    message("m4", None, "assistant", tool_calls=[CALL]),
    message("m5", "sunny", "tool", tool_call_id="c1"),
)


EXPORT = """
{"kind": "memory", "id": "i1", "content": "Ada has a cat", "memory_type": "fact", "importance": 0.4, \
"created_at": "2025-01-02T03:04:05+00:00", "last_accessed": "2025-01-02T03:04:05+00:00", "access_count": 2, "order": 7}
{"kind": "memory", "id": "e3", "content": "the river was high", "memory_type": "episode", "importance": 0.2, \
"created_at": "2025-01-02T03:04:05+00:00", "last_accessed": "2025-01-02T03:04:05+00:00"}
{"kind": "message", "session_id": "old", "id": "m0", "role": "user", "content": "a message of long ago", \
"created_at": "2025-01-02T03:04:05+00:00"}
"""


def _forget(user_id: str, memory_id: str) -> Callable[[Engine], Any]:
    def act(engine: Engine) -> None:
        with suppress(NotFound):  # a client that repeats it is told that nothing is left
            engine.forget(user_id, memory_id)

    return act


def _batch(engine: Engine) -> None:
    engine.remember_many(
        ADA,
        [
            NewMemory("the river was high", id="e3", importance=0.2, session_id="chat"),
            NewMemory("the bridge is closed for good", "fact", id="f3", importance=0.9),
        ],
    )


def _slot(content: str, memory_id: str, hours: float, **about: Any) -> Callable[[Engine], Any]:
    more: Any = {"slot": "employer", "observed_at": START + timedelta(hours=hours), "importance": 0.7}
    return lambda e: e.remember(ADA, content, "fact", id=memory_id, metadata=about, **more)


def script() -> tuple[Step, ...]:
    """Return the steps in order; clocks go on by a minute and more between them."""
    ada, bob = (ADA,), (BOB,)
    tagged: Any = {"importance": 0.9, "metadata": {"tag": "often"}}
    told = (
        ("talk", ada, lambda e: e.session(ADA, "chat").add(*TALK)),
        ("bob talks", bob, lambda e: e.session(BOB, "chat").add(message("m2", "bob told a joke"))),
        ("episode", ada, lambda e: e.remember(ADA, BAKES, id="e1", session_id="chat", importance=0.3)),
        ("episode without an id", ada, lambda e: e.remember(ADA, "it rained", importance=0.6)),
        ("fact", ada, lambda e: e.remember(ADA, "Ada plays the cello", "fact", id="f1", **tagged)),
        ("bob's fact", bob, lambda e: e.remember(BOB, "Ada plays the cello", "fact", id="f1", importance=0.9)),
        ("preference", ada, lambda e: e.remember(ADA, "tea, not coffee", "preference", id="p1", importance=0.5)),
        ("slot", ada, _slot("Acme", "s1", -100)),
        ("bob's slot", bob, lambda e: e.remember(BOB, "Acme", "fact", slot="employer", id="s1")),
        ("newer value", ada, _slot("Initech", "s2", -10)),
        ("older value", ada, _slot("Hooli", "s0", -200)),
        ("said again", ada, _slot("still at Acme", "s3", -50, value="acme")),
        ("filled in", ada, _slot("Aviato", "s4", -70)),
        ("batch over both tiers", ada, _batch),
        ("update a record", ada, lambda e: e.update(ADA, "f1", content="Ada plays the viola", importance=0.85)),
        ("update an item", ada, lambda e: e.update(ADA, "p1", metadata={"kind": "drink"})),
        *((f"read both tiers, {n}", ada, lambda e: e.recall(ADA, "viola or tea?", 2, filter=_BOTH)) for n in "123"),
        ("consolidate", ada, lambda e: e.consolidate(ADA)),
        ("the same again", ada, lambda e: e.remember(ADA, "Tea,  not coffee", "preference", id="p2", importance=0.5)),
        ("work", ada, lambda e: e.session(ADA, "office").add(message("m6", WORKS))),
        ("consolidate everything", ada, lambda e: e.consolidate(ADA, everything=True)),
        ("bob consolidates", bob, lambda e: e.consolidate(BOB, everything=True)),
        ("import", ada, lambda e: e.import_user(ADA, StringIO(EXPORT))),
        ("index", USERS, lambda e: e.maintain()),
        ("update what is indexed", ada, lambda e: e.update(ADA, "f3", content="the bridge is open again")),
        ("clear", ada, lambda e: e.session(ADA, "office").clear()),
        ("reindex", USERS, lambda e: e.reindex()),
        ("more talk", ada, lambda e: e.session(ADA, "chat").add(message("m7", "Good night", "assistant"))),
        ("small talk", ada, lambda e: e.remember(ADA, "nothing to see here", id="e4", importance=0.1)),
        ("worth keeping", ada, lambda e: e.remember(ADA, "the key is under the mat", id="e5", importance=0.7)),
    )
    steps = [Step(name, users, n / 60, act) for n, (name, users, act) in enumerate(told)]
    later = (
        ("bob maintained", USERS, lambda e: e.maintain(BOB)),  # Ada's items have come to their end by now
        ("everybody maintained", USERS, lambda e: e.maintain()),
        ("forget a source", ada, _forget(ADA, "e1")),
        ("forget an item", ada, _forget(ADA, "e6")),
        ("forget bob", bob, lambda e: e.forget_user(BOB)),
        ("maintain", USERS, lambda e: e.maintain()),
        ("consolidate at last", ada, lambda e: e.consolidate(ADA)),
        ("maintain at last", USERS, lambda e: e.maintain()),
    )
    fresh = Step("fresh item", ada, 20, lambda e: e.remember(ADA, "a fly in the soup", id="e6", importance=0.2))
    return (*steps, fresh, *(Step(name, users, 26.1 + n / 60, act) for n, (name, users, act) in enumerate(later)))


_BOTH = {"$or": [{"metadata.tag": "often"}, {"metadata.kind": "drink"}]}
