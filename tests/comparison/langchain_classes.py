"""LangChain's own memory classes, each situation with the class that fits it best."""

from __future__ import annotations

import asyncio
import contextlib
import inspect
from pathlib import Path
from typing import Any

from langchain_classic.memory import (
    ConversationBufferMemory,
    ConversationBufferWindowMemory,
    ConversationEntityMemory,
    ConversationSummaryBufferMemory,
    ConversationTokenBufferMemory,
    ConversationVectorStoreTokenBufferMemory,
    VectorStoreRetrieverMemory,
)
from langchain_classic.memory.entity import InMemoryEntityStore
from langchain_core.documents import Document
from langchain_core.language_models import FakeListChatModel
from langchain_core.messages import BaseMessage
from langchain_core.vectorstores import InMemoryVectorStore

from tests.comparison import apart
from tests.comparison.fakes import FileHistory, WordEmbeddings, errand, scripted
from tests.comparison.findings import SITUATIONS, Check, Finding, Situation, judged, not_offered
from tests.comparison.probes import blocked, torn

TITLE = "LangChain's memory classes"
PACKAGES = ("langchain-classic", "langchain-core")

SUMMARY = "Ada told of her locker"
LIMIT = 40


def _summing(folder: Path) -> ConversationSummaryBufferMemory:
    history = FileHistory(folder / "summed.json")
    return ConversationSummaryBufferMemory(llm=scripted(SUMMARY), max_token_limit=LIMIT, chat_memory=history)


def _by_meaning(**options: Any) -> VectorStoreRetrieverMemory:
    return VectorStoreRetrieverMemory(retriever=InMemoryVectorStore(WordEmbeddings()).as_retriever(), **options)


def _tell(memory: Any, number: int) -> None:
    memory.save_context({"input": f"my locker number {number} is blue"}, {"output": f"noted the locker {number}"})


# -- process restart ---------------------------------------------------------------------------------------------------


def _before(folder: Path) -> str:
    _tell(ConversationBufferMemory(chat_memory=FileHistory(folder / "told.json")), 0)
    summing = _summing(folder)
    for number in range(9):
        _tell(summing, number)
    return summing.moving_summary_buffer


def restart(folder: Path) -> Finding:
    summary = apart.elsewhere(_before, folder)
    told = ConversationBufferMemory(chat_memory=FileHistory(folder / "told.json")).load_memory_variables({})["history"]
    shown = _summing(folder).load_memory_variables({})["history"]
    return judged(
        Check("number 0" in told, "a buffer comes back from a file", "a buffer is lost", f"a buffer shows {told!r}"),
        Check(
            bool(summary) and summary in shown,
            "so does a summary",
            "a summary does not",
            f"the summary was {summary!r}, afterwards it is {'shown' if summary in shown else 'not shown'}",
        ),
    )


# -- two users on one object -------------------------------------------------------------------------------------------


def two_users(folder: Path) -> Finding:
    memory = ConversationBufferMemory()
    memory.save_context({"input": "my locker is blue"}, {"output": "noted, Ada"})
    shown = memory.load_memory_variables({"input": "Ben here: which colour is the locker?"})["history"]
    seen = f"what Ada said is shown to whoever asks next: {'blue' in shown}"
    return not_offered("no call takes a user", ConversationBufferMemory, ("user", "session", "tenant"), seen)


# -- tool calls at the cut ---------------------------------------------------------------------------------------------


def tool_calls(folder: Path) -> Finding:
    tried = 0
    broken: list[str] = []
    for name, budget, memory in _windows():
        memory.chat_memory.add_messages([message for number in range(3) for message in errand(number)])
        memory.save_context({"input": "thanks"}, {"output": "you are welcome"})
        shown: list[BaseMessage] = memory.load_memory_variables({})["history"]
        tried += 1
        if torn(shown):
            broken.append(f"{name} at {budget}: {torn(shown)}")
    seen = f"{len(broken)} of {tried} budgets tear them apart, such as {broken[:1]}"
    return judged(Check(not broken, "kept together", f"torn apart at {len(broken)} of {tried} budgets", seen))


def _windows() -> list[tuple[str, int, Any]]:
    made: list[tuple[str, int, Any]] = []
    for budget in range(10, 80, 4):
        limit: dict[str, Any] = {"llm": scripted("short"), "max_token_limit": budget, "return_messages": True}
        made.append(("ConversationTokenBufferMemory", budget, ConversationTokenBufferMemory(**limit)))
        made.append(("ConversationSummaryBufferMemory", budget, ConversationSummaryBufferMemory(**limit)))
    made += [
        ("ConversationBufferWindowMemory", k, ConversationBufferWindowMemory(k=k, return_messages=True))
        for k in range(1, 8)
    ]
    return made


# -- a summary over budget ---------------------------------------------------------------------------------------------


def summary_over_budget(folder: Path) -> Finding:
    model = scripted("a summary that goes on and on " * 30)
    memory = ConversationSummaryBufferMemory(llm=model, max_token_limit=LIMIT)
    for number in range(9):
        _tell(memory, number)
    tokens = model.get_num_tokens(memory.load_memory_variables({})["history"])
    seen = f"{tokens} tokens are shown at max_token_limit={LIMIT}"
    return judged(Check(tokens <= LIMIT, "kept to", f"{tokens} tokens shown of {LIMIT}", seen))


# -- contradiction -----------------------------------------------------------------------------------------------------


def contradiction(folder: Path) -> Finding:
    model = FakeListChatModel(responses=["Ada", "Ada lives in Oslo.", "Ada", "Ada lives in Bergen.", "Ada"])
    store = InMemoryEntityStore()
    memory = ConversationEntityMemory(llm=model, entity_store=store)
    for place in ("Oslo", "Bergen"):
        said = {"input": f"Ada lives in {place} now"}
        memory.load_memory_variables(said)
        memory.save_context(said, {"output": "noted"})
    known = memory.load_memory_variables({"input": "Where does Ada live?"})["entities"]
    alone = "Bergen" in str(known) and "Oslo" not in str(known)
    return judged(
        Check(alone, "a model's rewrite answers alone", "both answer", f"the entities shown are {known}"),
        Check(
            "Oslo" in str(store.store),
            "the former is kept",
            "the former is gone",
            f"the entities kept are {store.store}",
        ),
    )


# -- crash between tiers -----------------------------------------------------------------------------------------------


class _RefusingOnce(InMemoryVectorStore):
    """A store that is out of reach for one write."""

    refusals = 0

    def add_documents(self, documents: list[Document], ids: list[str] | None = None, **kwargs: Any) -> list[str]:
        if not self.refusals:
            self.refusals += 1
            raise ConnectionError("the store is out of reach")
        return super().add_documents(documents, ids, **kwargs)


def crash(folder: Path) -> Finding:
    store = _RefusingOnce(WordEmbeddings())
    memory = ConversationVectorStoreTokenBufferMemory(
        llm=scripted("ok"), retriever=store.as_retriever(), max_token_limit=LIMIT, return_messages=True
    )
    told = 0
    while not store.refusals:
        with contextlib.suppress(ConnectionError):
            _tell(memory, told)
        told += 1
    _tell(memory, told)
    kept = [str(message.content) for message in memory.chat_memory.messages]
    kept += [one["text"] for one in store.store.values()]
    copies = {number: sum(f"locker number {number} " in text for text in kept) for number in range(told + 1)}
    lost = [number for number, count in copies.items() if count != 1]
    seen = f"one write to the store failed; of each of {told + 1} turns there are {list(copies.values())} copies"
    return judged(Check(not lost, "each turn once", "the turn that was moving is lost", seen))


# -- deletion ----------------------------------------------------------------------------------------------------------


def deletion(folder: Path) -> Finding:
    buffer = ConversationBufferMemory(chat_memory=FileHistory(folder / "told.json"))
    by_meaning = _by_meaning()
    for memory in (buffer, by_meaning):
        _tell(memory, 4711)
        memory.clear()
    left = b"4711" in apart.files(folder) or "4711" in buffer.load_memory_variables({})["history"]
    found = by_meaning.load_memory_variables({"input": "my locker number"})["history"]
    wiping = [
        name for name, _ in inspect.getmembers(ConversationBufferMemory) if name in {"delete", "remove", "forget"}
    ]
    return judged(
        Check(
            not left, "`clear()` empties a buffer", "`clear()` leaves text", f"after clear(), 4711 is in a file: {left}"
        ),
        Check(
            "4711" not in found,
            "so it does a vector store",
            "but no vector store",
            f"VectorStoreRetrieverMemory recalls {found!r} after clear()",
        ),
        Check(
            bool(wiping),
            "one message alone can go",
            "one message alone cannot go",
            f"methods that delete one: {wiping}",
        ),
    )


# -- async under a running loop ----------------------------------------------------------------------------------------


def asynchronous(folder: Path) -> Finding:
    said = ({"input": "my locker is blue"}, {"output": "noted"})

    async def calls() -> None:
        for memory in (ConversationBufferMemory(chat_memory=FileHistory(folder / "told.json")), _by_meaning()):
            await memory.asave_context(*said)
            await memory.aload_memory_variables({"input": "locker"})

    blocking = blocked(calls)
    tokens = {}
    for name in ("save_context", "asave_context"):
        memory = ConversationTokenBufferMemory(llm=scripted("ok"), max_token_limit=LIMIT)
        for _ in range(20):
            done = getattr(memory, name)(*said)
            if inspect.iscoroutine(done):
                asyncio.run(done)
        tokens[name] = memory.llm.get_num_tokens_from_messages(memory.chat_memory.messages)
    return judged(
        Check(not blocking, "nothing blocks", f"blocked by {blocking[:1]}", f"blocking calls on the loop: {blocking}"),
        Check(
            max(tokens.values()) <= LIMIT,
            "and does the same",
            "but `asave_context` keeps to no limit",
            f"tokens kept at max_token_limit={LIMIT}: {tokens}",
        ),
    )


# -- offline -----------------------------------------------------------------------------------------------------------


def offline(folder: Path) -> Finding:
    memory = ConversationBufferMemory()
    _tell(memory, 1)
    shown = memory.load_memory_variables({})["history"]
    needed = VectorStoreRetrieverMemory.model_fields["retriever"].is_required()
    embedder = inspect.signature(InMemoryVectorStore).parameters["embedding"].default is inspect.Parameter.empty
    try:
        counted = str(FakeListChatModel(responses=["ok"]).get_num_tokens("hello"))
    except (ImportError, OSError) as error:
        counted = f"{type(error).__name__}: {error}"
    return judged(
        Check("locker number 1" in shown, "a buffer works", "a buffer does not", f"refused hosts: {apart.refused}"),
        Check(
            not needed and not embedder,
            "so does recall",
            "recall needs an embedder",
            f"a retriever is required: {needed}, for its store an embedding: {embedder}",
        ),
        Check(
            counted.isdigit(),
            "tokens are counted",
            "token limits need a tokenizer",
            f"counting tokens gives {counted.splitlines()[0]!r}",
        ),
    )


# -- explanation of a hit ----------------------------------------------------------------------------------------------


def explanation(folder: Path) -> Finding:
    memory = _by_meaning(return_docs=True)
    _tell(memory, 1)
    hits: Any = memory.load_memory_variables({"input": "which locker?"})["history"]
    seen = f"a hit is a {type(hits[0]).__name__} with {hits[0].metadata or 'no metadata'}"
    return not_offered("a hit is a text", VectorStoreRetrieverMemory, ("explain", "score", "reason"), seen)


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
