"""mem0, through the providers it has for LangChain's models, over Qdrant in a folder."""

from __future__ import annotations

import importlib
import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from langchain_core.language_models import FakeListChatModel

from tests.comparison import apart
from tests.comparison.fakes import SIZE, WordEmbeddings
from tests.comparison.findings import SITUATIONS, Check, Finding, Situation, judged, not_offered
from tests.comparison.probes import blocked

TITLE = "mem0"
PACKAGES = ("mem0ai", "qdrant-client")

mem0: Any = importlib.import_module("mem0")  # not installed where the types are checked


def _config(folder: Path, *extracted: str) -> dict[str, Any]:
    """Return a configuration whose model extracts one text after the other, each from one call."""
    answers = [
        json.dumps({"memory": [{"id": "0", "text": one, "attributed_to": "user"}]}) for one in extracted or ("-",)
    ]
    return {
        "llm": {"provider": "langchain", "config": {"model": FakeListChatModel(responses=answers)}},
        "embedder": {"provider": "langchain", "config": {"model": WordEmbeddings()}},
        "vector_store": {
            "provider": "qdrant",
            "config": {"path": str(folder / "qdrant"), "embedding_model_dims": SIZE, "on_disk": True},
        },
        "history_db_path": str(folder / "history.db"),
    }


@contextmanager
def _opened(folder: Path, *extracted: str) -> Iterator[Any]:
    memory = mem0.Memory.from_config(_config(folder, *extracted))
    with closing(memory.vector_store.client), closing(memory):
        yield memory


def _found(memory: Any, query: str, user: str = "ada") -> list[str]:
    return [one["memory"] for one in memory.search(query, filters={"user_id": user})["results"]]


# -- process restart ---------------------------------------------------------------------------------------------------


def _before(folder: Path) -> int:
    with _opened(folder, "The locker is blue") as memory:
        return len(memory.add("my locker is blue", user_id="ada")["results"])


def restart(folder: Path) -> Finding:
    told = apart.elsewhere(_before, folder)
    with _opened(folder) as memory:
        found = _found(memory, "locker")
    seen = f"{told} memory added in one process, {found} found in the next"
    return judged(Check("blue" in str(found), "what its model extracted", "memories are lost", seen))


# -- two users on one object -------------------------------------------------------------------------------------------


def two_users(folder: Path) -> Finding:
    users = ("ann", "ann-marie", "ann_marie", "ann%", "an")
    with _opened(folder, *(f"the locker of {user} is blue" for user in users)) as memory:
        for user in users:
            memory.add("my locker is blue", user_id=user)
        shown = {user: _found(memory, "locker", user) for user in users}
        try:
            nobody = str(memory.search("locker", filters={}))
        except ValueError as error:
            nobody = f"{type(error).__name__}: {error}"
    each = all(shown[user] == [f"the locker of {user} is blue"] for user in users)
    seen = f"of {list(users)} each is shown {[len(one) for one in shown.values()]} memories"
    return judged(
        Check(each, "a user per call", "users run together", seen),
        Check("blue" not in nobody, "no user is an error", "no user sees all", f"without a user: {nobody}"),
    )


# -- tool calls at the cut, a summary over budget ----------------------------------------------------------------------


def tool_calls(folder: Path) -> Finding:
    with _opened(folder) as memory:
        calls = [name for name in dir(memory) if not name.startswith("_") and callable(getattr(memory, name))]
    return not_offered("no window of messages", mem0.Memory, ("window", "token", "trim", "budget"), f"calls: {calls}")


def summary_over_budget(folder: Path) -> Finding:
    with _opened(folder) as memory:
        keys = sorted(set(type(memory.config).model_fields))
    return not_offered("no summary, no budget", mem0.Memory, ("summar", "token", "budget"), f"settings: {keys}")


# -- contradiction -----------------------------------------------------------------------------------------------------


def contradiction(folder: Path) -> Finding:
    with _opened(folder, "Ada lives in Oslo now", "Ada lives in Bergen now") as memory:
        events = [
            memory.add(f"I live in {one} now", user_id="ada")["results"][0]["event"] for one in ("Oslo", "Bergen")
        ]
        found = _found(memory, "Where does Ada live now?")
    alone = "Bergen" in str(found) and "Oslo" not in str(found)
    seen = f"the events are {events}, a search finds {found}"
    return judged(Check(alone, "the newer answers alone", "both answer", seen))


# -- crash between tiers -----------------------------------------------------------------------------------------------

_STEPS = ("insert of the vector", "history", "messages")


def _dying(folder: Path) -> None:
    step = (folder / "step").read_text()
    with _opened(folder, "The locker is blue") as memory:
        if step == _STEPS[0]:
            memory.vector_store.insert = apart.die
        elif step == _STEPS[1]:
            memory.db.batch_add_history = apart.die
        else:
            memory.db.save_messages = apart.die
        memory.add("my locker is blue", user_id="ada")


def crash(folder: Path) -> Finding:
    kept: dict[str, tuple[int, int]] = {}
    for step in _STEPS:
        place = folder / step
        place.mkdir()
        (place / "step").write_text(step)
        apart.killed(_dying, place)
        with _opened(place, "The locker is blue") as memory:
            memory.add("my locker is blue", user_id="ada")  # as whoever was not answered tries again
            rows = memory.get_all(filters={"user_id": "ada"})["results"]
            kept[step] = (len(rows), sum(len(memory.history(one["id"])) for one in rows))
    memories, histories = zip(*kept.values(), strict=True)
    seen = f"killed at each step of an addition, which is then repeated: memories and entries of history {kept}"
    return judged(
        Check(set(memories) == {1}, "a memory is there once", "memories are lost or doubled", seen),
        Check(set(histories) == {1}, "so is its history", "its history can be lost", f"entries: {list(histories)}"),
    )


# -- deletion ----------------------------------------------------------------------------------------------------------


def deletion(folder: Path) -> Finding:
    with _opened(folder, "The locker code is 4711") as memory:
        (added,) = memory.add("my locker code is 4711", user_id="ada")["results"]
        before = _found(memory, "locker code")
        memory.delete(added["id"])
        memory.delete_all(user_id="ada")
        after = _found(memory, "locker code")
        told = [one["old_memory"] for one in memory.history(added["id"]) if one["old_memory"]]
    with closing(sqlite3.connect(folder / "history.db")) as database:
        messages = database.execute("SELECT content FROM messages").fetchall()
    files = [one for one in folder.rglob("*") if one.is_file() and b"4711" in one.read_bytes()]
    kept = sorted(str(one.relative_to(folder)) for one in files)
    return judged(
        Check(
            "4711" in str(before) and "4711" not in str(after),
            "gone from every search",
            "still found",
            f"found before: {before}, after: {after}",
        ),
        Check(
            not kept,
            "and from the files",
            "its history and messages keep the text",
            f"after delete and delete_all it is in {kept}: history tells {told}, messages {messages}",
        ),
    )


# -- async under a running loop ----------------------------------------------------------------------------------------


def asynchronous(folder: Path) -> Finding:
    memory = mem0.AsyncMemory.from_config(_config(folder, "The locker is blue"))
    found: list[str] = []

    async def calls() -> None:
        await memory.add("my locker is blue", user_id="ada")
        answer = await memory.search("locker", filters={"user_id": "ada"})
        found[:] = [one["memory"] for one in answer["results"]]

    with closing(memory.vector_store.client), closing(memory):
        blocking = blocked(calls)
    with _opened(folder) as again:
        same = found == _found(again, "locker")
    return judged(
        Check(not blocking, "nothing blocks", f"blocked by {blocking[:1]}", f"blocking calls on the loop: {blocking}"),
        Check(same and bool(found), "found the same", "found otherwise", f"found the same as without: {same}"),
    )


# -- offline -----------------------------------------------------------------------------------------------------------


def offline(folder: Path) -> Finding:
    with _opened(folder, "The locker is blue") as memory:
        memory.add("my locker is blue", user_id="ada")
        found = _found(memory, "locker")
    try:
        default = type(mem0.Memory()).__name__
    except Exception as error:  # noqa: BLE001 - of whatever provider is the default
        default = f"{type(error).__name__}: {str(error).splitlines()[0]}"
    return judged(
        Check(bool(found), "with models of one's own", "not at all", f"found {found}, refused hosts: {apart.refused}"),
        Check(default == "Memory", "and without", "none by default", f"Memory() gives {default}"),
    )


# -- explanation of a hit ----------------------------------------------------------------------------------------------


def explanation(folder: Path) -> Finding:
    with _opened(folder, "The locker is blue") as memory:
        memory.add("my locker is blue", user_id="ada")
        (hit,) = memory.search("which locker?", filters={"user_id": "ada"}, explain=True)["results"]
    told = hit["score_details"]
    parts = told["semantic_score"] + told["bm25_score"] + told["entity_boost"]
    adds = abs(parts / told["max_possible_score"] - hit["score"]) < 1e-6
    return judged(Check(adds, "parts that add up", "parts that do not add up", f"a score of {hit['score']}: {told}"))


_IN_ORDER: tuple[Situation, ...] = (
    restart,
    two_users,
    tool_calls,
    summary_over_budget,
    contradiction,
    crash,
    deletion,
    asynchronous,
    offline,
    explanation,
)
RUN = dict(zip(SITUATIONS, _IN_ORDER, strict=True))
