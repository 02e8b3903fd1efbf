r"""Many users at once: how much is served, how fast, and whether anything that was acknowledged is missing afterwards.

    python -m langchain_tiered_memory.bench.load --minutes 5 --users 64 --processes 2 \
        --redis redis://… --vector-db http://… --postgres postgresql://…

Each user remembers something, asks for something said before, and begins again, with no pause for thought (`--pause`):
what is measured is the machine when it is full. Users are spread over processes, as over web workers; one process more
serves what is due meanwhile, as `ltm worker` does. Without URLs all is embedded in a temporary folder, by one process.

A ledger keeps what was acknowledged. At the end a new process looks for each memory under its id: lost is what is not
there or says something else, doubled what is there twice, and strange what another user said.
"""

from __future__ import annotations

import argparse
import asyncio
import multiprocessing
import random
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from multiprocessing.connection import Connection
from typing import Any

from langchain_tiered_memory import MaintenanceSettings, MemorySystem, Settings, TieredMemoryError, work_once
from langchain_tiered_memory.embedding import HashedEmbedder

WORDS = 5_000
TURN = 20
EVERY = timedelta(seconds=20)
"""Soon enough that users are consolidated several times in a run."""
_ALL = 10_000_000
_SHARES = (0.50, 0.95, 0.99)


@dataclass
class Served:
    """What one process served.

    Attributes:
        took: Call to how long each took, in seconds.
        ledger: User to id and content of what was acknowledged.
        found: Questions whose answer was among the five hits.
        asked: Questions.
        errors: Kind of an error to how often it was raised.
    """

    took: dict[str, list[float]] = field(default_factory=lambda: {"remember": [], "recall": []})
    ledger: dict[str, list[tuple[str, str]]] = field(default_factory=dict)
    found: int = 0
    asked: int = 0
    errors: Counter[str] = field(default_factory=Counter)

    def add(self, other: Served) -> None:
        """Add what another process served."""
        for call, took in other.took.items():
            self.took[call] += took
        self.ledger |= other.ledger
        self.found, self.asked = self.found + other.found, self.asked + other.asked
        self.errors.update(other.errors)


def system_of(options: argparse.Namespace, *, automatic: bool) -> MemorySystem:
    """Return the memory that the options name."""
    maintenance = MaintenanceSettings(automatic=automatic, every=EVERY, workers=options.threads)
    embedder = None if options.model else HashedEmbedder()
    return MemorySystem(
        options.redis,
        options.vector_db,
        options.postgres,
        path=options.path,
        embedder=embedder,
        settings=Settings(maintenance=maintenance),
    )


async def live(memory: MemorySystem, user: str, options: argparse.Namespace, until: float, served: Served) -> None:
    """Be one user until it is time to go."""
    rng = random.Random(user)
    said = served.ledger.setdefault(user, [])
    number = 0
    while time.monotonic() < until:
        number += 1
        text = f"{user} said number {number}: " + " ".join(f"w{rng.randrange(WORDS)}" for _ in range(TURN))
        try:
            start = time.perf_counter()
            made = await memory.remember(user, text, importance=rng.choice([0.3, 0.6, 0.9]), session_id="load")
            served.took["remember"].append(time.perf_counter() - start)
            said.append((made.id, text))
            wanted, about = rng.choice(said)
            start = time.perf_counter()
            hits = await memory.recall(user, about.partition(": ")[2][:60], k=5)
            served.took["recall"].append(time.perf_counter() - start)
            served.asked += 1
            served.found += any(hit.id == wanted for hit in hits)
        except TieredMemoryError as error:
            served.errors[type(error).__name__] += 1
            await asyncio.sleep(0.05)
        if options.pause:
            await asyncio.sleep(options.pause)


def serve(pipe: Connection, options: argparse.Namespace, users: Sequence[str]) -> None:
    """Serve users in a process of its own, and send what was served."""

    async def run() -> Served:
        served = Served()
        async with system_of(options, automatic=not options.worker) as memory:
            await memory.recall("nobody", "warm up")
            pipe.send("ready")
            pipe.recv()
            until = time.monotonic() + options.minutes * 60
            await asyncio.gather(*(live(memory, user, options, until, served) for user in users))
        return served

    pipe.send(asyncio.run(run()))


def work(pipe: Connection, options: argparse.Namespace) -> None:
    """Serve what is due in a process of its own, and send how many users that were."""
    users, failed, stopping = 0, 0, threading.Event()
    with system_of(options, automatic=False).sync as memory:
        pipe.send("ready")
        pipe.recv()
        while not pipe.poll(1):
            try:
                report = work_once(memory, most=100, stopping=stopping)
                users, failed = users + report.users, failed + report.failed
            except TieredMemoryError:
                failed += 1
    pipe.send((users, failed))


def missing(options: argparse.Namespace, ledger: dict[str, list[tuple[str, str]]]) -> dict[str, int]:
    """Compare what is there with the ledger."""
    counts = Counter[str]()
    with system_of(options, automatic=False).sync as memory:
        for user, said in ledger.items():
            there = memory.list(user, include_superseded=True, limit=_ALL)
            by_id = {one.id: one.content for one in there}
            episodes = Counter(one.content for one in there if not one.source_ids)
            counts["lost"] += sum(by_id.get(memory_id) != text for memory_id, text in said)
            counts["doubled"] += sum(times - 1 for times in episodes.values())
            counts["strange"] += sum(not one.content.startswith(f"{user} said") for one in there if not one.source_ids)
    return {name: counts[name] for name in ("lost", "doubled", "strange")}


def run(options: argparse.Namespace) -> tuple[Served, tuple[int, int], float]:
    """Run processes over the users; return what they served, what was worked, and the seconds it took."""
    context = multiprocessing.get_context("spawn")
    users = [f"user{number}" for number in range(options.users)]
    shares = [users[first :: options.processes] for first in range(options.processes)]
    started: list[tuple[Any, Connection]] = []
    jobs: list[tuple[Any, ...]] = [(serve, options, share) for share in shares if share]
    jobs += [(work, options)] if options.worker else []
    for job, *args in jobs:
        ours, theirs = context.Pipe()
        process = context.Process(target=job, args=(theirs, *args), daemon=True)
        process.start()
        started.append((process, ours))
    for _, pipe in started:
        pipe.recv()
    begun = time.perf_counter()
    for _, pipe in started:
        pipe.send("go")
    serving = started[: len(started) - options.worker]
    served = Served()
    for _, pipe in serving:
        served.add(pipe.recv())
    seconds = time.perf_counter() - begun
    worked = (0, 0)
    for process, pipe in started[len(serving) :]:
        pipe.send("stop")
        worked = pipe.recv()
        process.join()
    for process, _ in serving:
        process.join()
    return served, worked, seconds


def told(served: Served, worked: tuple[int, int], seconds: float, left: dict[str, int]) -> list[str]:
    """Return the lines of the report."""
    lines = [f"{'':12s} {'calls/s':>8s} {'p50 ms':>8s} {'p95 ms':>8s} {'p99 ms':>8s}"]
    for call, took in served.took.items():
        ordered = sorted(took) or [0.0]
        at = [ordered[min(int(len(ordered) * share), len(ordered) - 1)] * 1e3 for share in _SHARES]
        lines.append(f"{call:12s} {len(took) / seconds:8.1f} " + " ".join(f"{one:8.1f}" for one in at))
    acknowledged = sum(map(len, served.ledger.values()))
    share = served.found / max(served.asked, 1)
    lines.append(f"errors: {dict(served.errors) or 'none'}; asked for and found: {share:.1%}")
    lines.append(f"users served by the worker meanwhile: {worked[0]}, failed: {worked[1]}")
    lines.append(f"acknowledged: {acknowledged}; " + "; ".join(f"{name}: {count}" for name, count in left.items()))
    return lines


def main(arguments: Sequence[str] | None = None) -> dict[str, int]:
    """Run, print the report, and return what is missing."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=5)
    parser.add_argument("--users", type=int, default=64)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--threads", type=int, default=4, help="of each process, for calls")
    parser.add_argument("--pause", type=float, default=0, help="seconds a user thinks between two turns")
    parser.add_argument("--model", action="store_true", help="embed with the default model instead of a free one")
    parser.add_argument("--redis")
    parser.add_argument("--vector-db")
    parser.add_argument("--postgres")
    parser.add_argument("--no-worker", dest="worker", action="store_false")
    options = parser.parse_args(arguments)
    servers = [options.redis, options.vector_db, options.postgres]
    with tempfile.TemporaryDirectory() as folder:
        options.path = None if all(servers) else folder
        if not any(servers):
            options.processes, options.worker = 1, False
        served, worked, seconds = run(options)
        left = missing(options, served.ledger)
    print(f"{options.users} users, {options.processes} processes, {seconds:.0f} s")
    print("\n".join(told(served, worked, seconds, left)))
    return left


if __name__ == "__main__":
    main()
