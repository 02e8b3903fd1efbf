"""LangMem: its tools and its manager over LangGraph's store in SQLite, its summaries of a thread."""

from __future__ import annotations

import asyncio
import importlib
import inspect
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatResult
from langgraph.store.memory import InMemoryStore

from tests.comparison import apart
from tests.comparison.fakes import SIZE, Scripted, WordEmbeddings, scripted
from tests.comparison.findings import SITUATIONS, Check, Finding, Situation, judged
from tests.comparison.langmem_summaries import summary_over_budget, tool_calls
from tests.comparison.probes import blocked

TITLE = "LangMem"
PACKAGES = ("langmem", "langgraph-checkpoint-sqlite")

# Neither is installed where the types are checked.
langmem: Any = importlib.import_module("langmem")
errors: Any = importlib.import_module("langmem.errors")
sqlite: Any = importlib.import_module("langgraph.store.sqlite")

NAMESPACE = ("memories", "{langgraph_user_id}")
INDEX: Any = {"dims": SIZE, "embed": WordEmbeddings(), "fields": ["$"]}


@contextmanager
def _opened(folder: Path) -> Iterator[Any]:
    """Open a store that keeps; its index would need an SQLite that loads extensions, which not every Python has."""
    with sqlite.SqliteStore.from_conn_string(str(folder / "store.db")) as store:
        store.setup()
        yield store


def _user(user: str) -> dict[str, Any]:
    return {"configurable": {"langgraph_user_id": user}}


def _tools(store: Any) -> tuple[Any, Any]:
    manage = langmem.create_manage_memory_tool(namespace=NAMESPACE, store=store)
    return manage, langmem.create_search_memory_tool(namespace=NAMESPACE, store=store)


def _found(answer: str) -> list[str]:
    return [json.dumps(one["value"]["content"]) for one in json.loads(answer)]


def _calling(name: str, **arguments: Any) -> AIMessage:
    return AIMessage("", tool_calls=[{"name": name, "args": arguments, "id": name}])


def _said(text: str) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": text}]}


# -- process restart ---------------------------------------------------------------------------------------------------


def _before(folder: Path) -> str:
    with _opened(folder) as store:
        return str(_tools(store)[0].invoke({"content": "my locker is blue"}, config=_user("ada")))


def restart(folder: Path) -> Finding:
    told = apart.elsewhere(_before, folder)
    with _opened(folder) as store:
        found = _found(_tools(store)[1].invoke({"query": "locker"}, config=_user("ada")))
    seen = f"{' '.join(told.split()[:2])!r} in one process, {found} in the next"
    return judged(Check("blue" in str(found), "with a store in a database", "memories are lost", seen))


# -- two users on one object -------------------------------------------------------------------------------------------


def two_users(folder: Path) -> Finding:
    users = ("ann", "ann-marie", "ann_marie", "ann%", "an")
    with _opened(folder) as store:
        manage, search = _tools(store)
        for user in users:
            manage.invoke({"content": f"the locker of {user} is blue"}, config=_user(user))
        shown = {user: _found(search.invoke({"query": "locker"}, config=_user(user))) for user in users}
        try:
            nobody = str(search.invoke({"query": "locker"}))
        except errors.ConfigurationError as error:  # not an Exception there
            nobody = f"{type(error).__name__}: {error}"
    each = all(shown[user] == [f'"the locker of {user} is blue"'] for user in users)
    seen = f"of {list(users)} each is shown {[len(one) for one in shown.values()]} memories"
    return judged(
        Check(each, "a namespace each", "namespaces run together", seen),
        Check("blue" not in nobody, "no user is an error", "no user sees all", f"without a user: {nobody}"),
    )


# -- contradiction -----------------------------------------------------------------------------------------------------


class _Patching(Scripted):
    """A model that patches the memory it is shown."""

    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
        result = super()._generate(messages, *args, **kwargs)
        message = result.generations[0].message
        shown = re.search(r"instance id=(\w+)", str(messages[0].content))
        if isinstance(message, AIMessage) and shown:
            message.tool_calls[0]["args"]["json_doc_id"] = shown[1]
        return result


def contradiction(folder: Path) -> Finding:
    patch = [{"op": "replace", "path": "/content", "value": "Ada lives in Bergen"}]
    model = scripted(
        _calling("Memory", content="Ada lives in Oslo"),
        _calling("PatchDoc", json_doc_id="", planned_edits="she moved", patches=patch),
        model=_Patching,
    )
    with _opened(folder) as store:
        manager = langmem.create_memory_store_manager(model, namespace=NAMESPACE, store=store)
        for place in ("Oslo", "Bergen"):
            manager.invoke(_said(f"I live in {place} now"), config=_user("ada"))
        found = _found(_tools(store)[1].invoke({"query": "Where does Ada live?"}, config=_user("ada")))
        kept = [one.dict() for one in store.search(("memories",), limit=100)]
    return judged(
        Check(
            "Bergen" in str(found) and "Oslo" not in str(found),
            "a model's rewrite answers alone",
            "both answer",
            f"a search finds {found}",
        ),
        Check("Oslo" in str(kept), "the former is kept", "the former is gone", f"in the store: {len(kept)} memory"),
    )


# -- crash between tiers -----------------------------------------------------------------------------------------------


def _submitted(folder: Path) -> None:
    with _opened(folder) as store:
        model = scripted(_calling("Memory", content="my locker is blue"))
        manager = langmem.create_memory_store_manager(model, namespace=NAMESPACE, store=store)
        executor = langmem.ReflectionExecutor(manager, store=store)
        executor.submit(_said("my locker is blue"), config=_user("ada"), after_seconds=30)
        apart.die()


def _refuse(*_: object, **__: object) -> None:
    message = "the store is out of reach"
    raise ConnectionError(message)


def crash(folder: Path) -> Finding:
    apart.killed(_submitted, folder)
    with _opened(folder) as store:
        after = [one.value for one in store.search(("memories",))]

    refusing = type("Refusing", (InMemoryStore,), {"put": _refuse})(index=INDEX)
    model = scripted(_calling("Memory", content="my locker is blue"))
    manager = langmem.create_memory_store_manager(model, namespace=NAMESPACE, store=refusing)
    try:
        told = f"{len(manager.invoke(_said('my locker is blue'), config=_user('ada')))} memory stored"
    except ConnectionError as error:
        told = str(error)
    kept = len(refusing.search(("memories",)))
    return judged(
        Check(
            "blue" in str(after),
            "what was submitted is done later",
            "what was submitted is lost",
            f"submitted to a ReflectionExecutor, then killed: {len(after)} memories in the store",
        ),
        Check(
            "stored" not in told or bool(kept),
            "a failed write is told",
            "a failed write is told as done",
            f"with a store that refuses, a manager's invoke tells {told!r}, and {kept} are there",
        ),
    )


# -- deletion ----------------------------------------------------------------------------------------------------------


def deletion(folder: Path) -> Finding:
    with _opened(folder) as store:
        manage, search = _tools(store)
        told = manage.invoke({"content": "my locker code is 4711"}, config=_user("ada"))
        before = _found(search.invoke({"query": "locker"}, config=_user("ada")))
        manage.invoke({"action": "delete", "id": told.split()[-1]}, config=_user("ada"))
        after = _found(search.invoke({"query": "locker"}, config=_user("ada")))
    left = b"4711" in apart.files(folder)
    return judged(
        Check(
            "4711" in str(before) and "4711" not in str(after),
            "gone from every answer",
            "still an answer",
            f"found before: {before}, after: {after}",
        ),
        Check(not left, "and from the store's file", "but in the store's file", f"4711 in a file afterwards: {left}"),
    )


# -- async under a running loop ----------------------------------------------------------------------------------------


def asynchronous(folder: Path) -> Finding:
    store = InMemoryStore(index=INDEX)
    manage, search = _tools(store)
    model = scripted(_calling("Memory", content="my locker is blue"))
    manager = langmem.create_memory_store_manager(model, namespace=("told", *NAMESPACE), store=store)
    query = {"query": "locker"}

    async def tools() -> None:
        await manage.ainvoke({"content": "my locker is blue"}, config=_user("ada"))
        await search.ainvoke(query, config=_user("ada"))

    async def managers() -> None:
        await manager.ainvoke(_said("my locker is blue"), config=_user("ada"))

    blocking, waiting = blocked(tools), blocked(managers)
    found = _found(asyncio.run(search.ainvoke(query, config=_user("ada"))))
    same = found == _found(search.invoke(query, config=_user("ada")))
    return judged(
        Check(not blocking, "tools leave it free", "tools block it", f"blocking calls of the tools: {blocking}"),
        Check(not waiting, "so does a manager", "a manager blocks it", f"blocking calls of a manager: {waiting}"),
        Check(same and bool(found), "found the same", "found otherwise", f"{found} found, the same as without: {same}"),
    )


# -- offline -----------------------------------------------------------------------------------------------------------


def offline(folder: Path) -> Finding:
    manage, search = _tools(InMemoryStore())
    for text in ("my locker is blue", "my bicycle is red"):
        manage.invoke({"content": text}, config=_user("ada"))
    hits = json.loads(search.invoke({"query": "locker"}, config=_user("ada")))
    manager = inspect.signature(langmem.create_memory_store_manager).parameters["model"]
    required = manager.default is inspect.Parameter.empty
    return judged(
        Check(len(hits) == 2, "tools work", "tools do not", f"{len(hits)} hits, refused hosts: {apart.refused}"),
        Check(
            all(one["score"] for one in hits),
            "so does recall",
            "recall needs an embedder",
            f"scores without an index: {[one['score'] for one in hits]}",
        ),
        Check(
            not required, "so does a manager", "a manager needs a model", f"a manager's model is required: {required}"
        ),
    )


# -- explanation of a hit ----------------------------------------------------------------------------------------------


def explanation(folder: Path) -> Finding:
    manage, search = _tools(InMemoryStore(index=INDEX))
    manage.invoke({"content": "my locker is blue"}, config=_user("ada"))
    (hit,) = json.loads(search.invoke({"query": "which locker?"}, config=_user("ada")))
    rest = sorted(set(hit) - {"namespace", "key", "value", "created_at", "updated_at", "score"})
    return judged(
        Check(bool(hit["score"]), "a score", "no score", f"a hit has {sorted(hit)}, the score {hit['score']}"),
        Check(bool(rest), "and its parts", "without its parts", f"beside them: {rest}"),
    )


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
