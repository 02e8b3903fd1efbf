"""The asynchronous face: the same calls, one object for loops, threads and processes, and a loop that never waits."""

from __future__ import annotations

import asyncio
import contextvars
import inspect
import multiprocessing
import os
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from blockbuster import BlockBuster, blockbuster_ctx
from numpy.typing import NDArray

from langchain_tiered_memory import MaintenanceSettings, MemorySystem, MemoryType, Message, NewMemory, Session
from langchain_tiered_memory.core.api import SyncMemory
from langchain_tiered_memory.core.chat import SyncSession
from langchain_tiered_memory.core.engine import Engine
from langchain_tiered_memory.core.tiers import SyncTier
from langchain_tiered_memory.embedding import HashedEmbedder
from langchain_tiered_memory.faces import TierMemory
from tests.flow.systems import QUIET, House, with_settings

ONLY_BLOCKING = {"open", "close"}


def calls_of(kind: type) -> dict[str, Any]:
    every = {name: one for base in reversed(kind.__mro__[:-1]) for name, one in vars(base).items()}
    return {name: one for name, one in every.items() if callable(one) and not name.startswith("_")}


# -- the same calls ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("asynchronous", "blocking"), [(MemorySystem, Engine), (Session, SyncSession), (TierMemory, SyncTier)], ids=str
)
def test_both_faces_have_the_same_names_signatures_and_docstrings(asynchronous: type, blocking: type) -> None:
    """A test compares names, signatures and docstrings; `memory.sync` has the same names, blocking."""
    theirs = calls_of(blocking)
    names = theirs.keys() - (ONLY_BLOCKING if blocking is Engine else set())
    mine = {name: one for name, one in calls_of(asynchronous).items() if name in names}
    assert mine.keys() == names
    for name in names:
        ours, other = inspect.signature(mine[name]), inspect.signature(theirs[name])
        assert ours.parameters == other.parameters, name
        assert mine[name].__doc__ == theirs[name].__doc__, name
        assert mine[name].__doc__
        if name == "session":
            assert not inspect.iscoroutinefunction(mine[name])
        else:
            assert inspect.iscoroutinefunction(mine[name]), name
            assert ours.return_annotation == other.return_annotation, name


def test_the_engine_fills_its_specification() -> None:
    """The Protocol's docstring is the specification."""
    for name, one in calls_of(SyncMemory).items():
        assert inspect.signature(getattr(Engine, name)) == inspect.signature(one), name
        assert getattr(Engine, name).__doc__ == one.__doc__
    public = {name for name in dir(MemorySystem) if not name.startswith("_")}
    assert public >= calls_of(SyncMemory).keys() - {"close"} | {"aclose", "open", "register", "registered"}


async def test_every_call_works_through_await(memory: MemorySystem, tmp_path: Path) -> None:
    """`MemorySystem` methods are `async`."""
    stored = await memory.remember("ada", "I am allergic to peanuts", "preference")
    assert stored.tier == "long_term"
    await memory.remember_many("ada", [NewMemory("ok", importance=0.1), NewMemory("where the keys hang")])
    for hit in await memory.recall("ada", "what snack can I buy her?", k=5):
        assert hit.content
        assert hit.score
        assert hit.explanation
    assert (await memory.explain("ada", "allergic", stored.id)).recalled
    assert (await memory.consolidate("ada", everything=True)).promoted == 2
    assert (await memory.maintain("ada")).failed == ()
    assert (await memory.reindex("ada")).failed == ()
    assert (await memory.status("ada")).long_term >= 3
    chat = memory.session("ada", "chat-7")
    await chat.add({"role": "user", "content": "Hi, it's me again"})
    prompt = await chat.context("what snack?")
    assert prompt.messages
    assert prompt.text
    assert prompt.tokens
    assert prompt.memories
    await memory.export_user("ada", tmp_path / "ada.jsonl")
    assert len(memory.sync.recall("ada", "peanuts")) > 1
    await memory.forget_user("ada")
    assert (await memory.import_user("ada", tmp_path / "ada.jsonl")).memories >= 3
    again = await memory.get("ada", stored.id)
    assert await memory.long_term.store("ada", again) == again


# -- loops, threads, processes -----------------------------------------------------------------------------------------


def test_two_loops_in_a_row_on_one_object(house: House) -> None:
    """Two `asyncio.run` in a row: no client is bound to a loop."""
    memory = house.system()
    stored = asyncio.run(memory.remember("ada", "the gate is green"))
    assert asyncio.run(memory.get("ada", stored.id)) == stored
    asyncio.run(memory.aclose())
    assert isinstance(asyncio.run(memory.list("ada")), tuple)
    asyncio.run(memory.aclose())


async def test_many_calls_at_once(memory: MemorySystem) -> None:
    """`gather(remember(t), remember(t))` ×100 → 1 row; and a hundred different ones are a hundred."""
    await asyncio.gather(*[memory.remember("ada", "I love tea", "preference") for _ in range(100)])
    assert len(await memory.list("ada")) == 1
    await asyncio.gather(*[memory.remember("bob", f"note {n}") for n in range(100)])
    hits = await asyncio.gather(*[memory.recall("bob", f"note {n}", 1, touch=False) for n in range(100)])
    assert [hit[0].content for hit in hits] == [f"note {n}" for n in range(100)]


async def test_the_blocking_face_works_inside_a_loop(memory: MemorySystem) -> None:
    """Sync facade from a running loop: nothing nests loops."""
    memory.sync.remember("ada", "the gate is green")
    assert (await memory.recall("ada", "gate"))[0].access_count == 1
    assert memory.sync.recall("ada", "gate")[0].access_count == 2


def test_threads_with_loops_of_their_own(house: House) -> None:
    """One object serves threads, notebooks, …, worker threads."""
    memory = house.system()

    async def live(number: int) -> int:
        await asyncio.gather(*[memory.remember("ada", f"note {number} {n}") for n in range(5)])
        return len(await memory.recall("ada", f"note {number}", 99))

    with ThreadPoolExecutor(6) as pool:
        counts = list(pool.map(lambda number: asyncio.run(live(number)), range(6)))
    assert min(counts) >= 5
    assert len(memory.sync.list("ada")) == 30


async def test_context_variables_reach_the_models(house: House) -> None:
    """Calls are submitted with the caller's context variables."""
    tenant: contextvars.ContextVar[str] = contextvars.ContextVar("tenant", default="nobody")
    seen: list[tuple[str, str]] = []

    class Watching(HashedEmbedder):
        def embed_documents(self, texts: Any) -> NDArray[np.float32]:
            seen.append(("embedder", tenant.get()))
            return super().embed_documents(texts)

    class Scorer:
        def score(self, content: str, *, memory_type: MemoryType, role: str | None) -> float:
            seen.append(("scorer", tenant.get()))
            return 0.9

    class Extractor:
        def extract(self, memories: Any) -> tuple[()]:
            seen.append(("extractor", tenant.get()))
            return ()

    memory = house.system(embedder=Watching(), scorer=Scorer(), extractor=Extractor())
    tenant.set("acme")
    await memory.remember("ada", "a note")
    await memory.consolidate("ada")
    assert dict(seen) == {"scorer": "acme", "embedder": "acme", "extractor": "acme"}


class Gate:
    """A scorer that waits, so that a call can be caught under way."""

    def __init__(self) -> None:
        self.entered = threading.Event()
        self.open = threading.Event()

    def score(self, content: str, *, memory_type: MemoryType, role: str | None) -> float:
        """Wait until the gate opens."""
        self.entered.set()
        assert self.open.wait(20)
        return 0.9


async def test_a_cancelled_await_leaves_a_whole_write(house: House) -> None:
    """A cancelled `await` leaves whole writes: calls are … shielded; `aclose` waits for them."""
    gate = Gate()
    memory = house.system(scorer=gate)
    chat = memory.session("ada", "s")
    tasks = [
        asyncio.create_task(memory.remember("ada", "the gate is green", "fact", slot="gate")),
        asyncio.create_task(chat.add({"role": "user", "content": "hello there"})),
    ]
    await asyncio.to_thread(gate.entered.wait, 20)
    await asyncio.sleep(0.05)
    for task in tasks:
        task.cancel()
    for task in tasks:
        with pytest.raises(asyncio.CancelledError):
            await task
    closing = asyncio.create_task(memory.aclose()) if house.lasting else None
    await asyncio.sleep(0.05)
    assert closing is None or not closing.done()
    gate.open.set()
    if closing is None:
        await memory._pools.settle()
    else:
        await closing
    found = {one.content for one in await memory.list("ada")}
    assert found == {"the gate is green", "hello there"}
    assert len(await chat.transcript()) == 1


async def test_a_time_limit_on_a_call_is_the_callers_own(house: House) -> None:
    """`asyncio.timeout` gives the caller up, not the write."""
    gate = Gate()
    memory = house.system(scorer=gate)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.05):
            await memory.remember("ada", "the gate is green")
    gate.open.set()
    await memory._pools.settle()
    assert len(await memory.list("ada")) == 1


async def test_long_work_does_not_occupy_the_pool_of_recall(house: House) -> None:
    """A second pool for consolidate, reindex and maintain, which must never occupy recall's."""

    class Slow:
        def __init__(self) -> None:
            self.open = threading.Event()

        def extract(self, memories: Any) -> tuple[()]:
            assert self.open.wait(20)
            return ()

    slow = Slow()
    memory = house.system(extractor=slow)
    await memory.remember("ada", "the gate is green", importance=0.9)
    running = [asyncio.create_task(memory.consolidate("ada")) for _ in range(8)]
    await asyncio.sleep(0.05)
    async with asyncio.timeout(10):
        assert await memory.recall("ada", "gate")
    slow.open.set()
    await asyncio.gather(*running)


async def test_the_pool_is_bounded(house: House) -> None:
    """One hop into the system's own bounded pool."""
    before = threading.active_count()
    settings = with_settings(maintenance=MaintenanceSettings(automatic=False, workers=2))
    memory = house.system(settings=settings)
    await asyncio.gather(*[memory.recall("ada", "gate") for _ in range(50)])
    names = [thread.name for thread in threading.enumerate() if thread.name.startswith("tiered-memory-call")]
    assert len(names) <= 2 or before > 0
    assert sum("tiered-memory-call" in name for name in names) >= 1


# -- a loop that never waits -------------------------------------------------------------------------------------------


@pytest.fixture
def blocking_is_an_error() -> Iterator[BlockBuster]:
    with blockbuster_ctx() as watching:
        yield watching


async def test_no_call_blocks_the_loop(house: House, tmp_path: Path, blocking_is_an_error: BlockBuster) -> None:
    """The caller's loop is never blocked (blockbuster watches)."""
    memory = house.system()
    async with memory:
        stored = await memory.remember("ada", "the gate is green", importance=0.9)
        await memory.remember_many("ada", [NewMemory("a note", importance=0.1)])
        await memory.recall("ada", "gate", session_id="s")
        await memory.explain("ada", "gate", stored.id)
        await memory.update("ada", stored.id, content="the gate is blue")
        await memory.get("ada", stored.id)
        await memory.list("ada")
        await memory.history("ada", stored.id)
        chat = memory.session("ada", "s")
        await chat.add(Message("user", "hello"))
        await chat.window()
        await chat.transcript()
        await chat.tokens()
        await chat.context("gate")
        await memory.consolidate("ada", everything=True)
        await memory.maintain()
        await memory.reindex()
        await memory.status()
        await memory.long_term.search("ada", "gate")
        await memory.export_user("ada", tmp_path / "x")
        await memory.import_user("ada", tmp_path / "x")
        await chat.clear()
        await memory.forget("ada", stored.id)
        await memory.forget_user("ada")
    await memory.aclose()


async def test_the_loop_turns_while_a_call_is_under_way(house: House) -> None:
    """Loop lag < 20 ms while recalling; here with room for a machine that is busy."""

    class Slow(HashedEmbedder):
        def embed_query(self, text: str) -> NDArray[np.float32]:
            time.sleep(0.3)  # as a call over the network does: without the GIL
            return super().embed_query(text)

    memory = house.system(embedder=Slow())
    await memory.remember("ada", "the gate is green")
    recalling = asyncio.create_task(memory.recall("ada", "gate"))
    turns, longest, last = 0, 0.0, time.perf_counter()
    while not recalling.done():
        await asyncio.sleep(0.001)
        now = time.perf_counter()
        turns, longest, last = turns + 1, max(longest, now - last), now
    assert turns > 10
    assert longest < 0.2


# -- after a fork ------------------------------------------------------------------------------------------------------


def in_a_child(work: Any) -> Any:
    """Run in a forked child and return its answer."""
    context = multiprocessing.get_context("fork")
    receiving, sending = context.Pipe(duplex=False)

    def child() -> None:
        try:
            sending.send(work())
        except BaseException as error:  # noqa: BLE001 - the parent raises it
            sending.send(error)

    process = context.Process(target=child)
    process.start()
    assert receiving.poll(60), "the child does not answer"
    answer = receiving.recv()
    process.join(20)
    assert process.exitcode == 0
    if isinstance(answer, BaseException):
        raise answer
    return answer


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_forked_child_uses_the_same_memory(folder_house: House) -> None:
    """After a fork, pools and clients are opened anew."""
    memory = folder_house.system()
    memory.sync.remember("ada", "told by the parent", importance=0.9)
    asyncio.run(memory.remember("ada", "told by the parent, awaited", importance=0.1))
    memory.sync.maintain()

    def child() -> list[str]:
        memory.sync.remember("ada", "told by the child", importance=0.9)
        found = asyncio.run(memory.recall("ada", "told by", 9))
        memory.sync.close()
        return sorted(hit.content for hit in found)

    expected = ["told by the child", "told by the parent", "told by the parent, awaited"]
    assert in_a_child(child) == expected
    assert sorted(hit.content for hit in memory.sync.recall("ada", "told by", 9)) == expected
    assert asyncio.run(memory.status()).long_term == 2
    assert memory.sync.maintain().failed == ()


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_forked_child_leaves_a_temporary_folder_to_its_parent() -> None:
    """`MemorySystem.open()` in a child is the parent's memory, and stays there when the child closes or ends."""
    memory = MemorySystem.open(embedder=HashedEmbedder(), settings=QUIET).sync
    memory.remember("ada", "told by the parent", importance=0.9)

    def child() -> int:
        found = len(memory.recall("ada", "parent"))
        memory.remember("ada", "told by the child", importance=0.9)
        memory.close()
        return found

    assert in_a_child(child) == 1
    assert {one.content for one in memory.list("ada")} == {"told by the parent", "told by the child"}
    memory.close()


def test_a_system_crosses_no_process_by_pickle_but_by_name() -> None:
    """Adapters keep the name, never a password."""
    name = f"a memory of process {os.getpid()}"
    MemorySystem.register(name, lambda: MemorySystem.open(":memory:"))
    assert in_a_child(lambda: MemorySystem.registered(name).sync.list("ada")) == ()
