"""Fail if an extra does not give what it promises, or if one that is missing is not said with the line that helps.

Call it as `extras.py EXTRA...` in an environment with the package and these extras: what they promise has to work, and
what the others promise has to work as well or to fail with the line for pip. Without an extra nothing may be there.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable

from langchain_tiered_memory import MemorySystem, langchain


def agents() -> None:
    """The adapters for LangChain's agents and for LangGraph."""
    for name in ("TieredMemoryMiddleware", "TieredMemoryStore"):
        getattr(langchain, name)
    importlib.import_module("langgraph")


def postgres() -> None:
    """PostgreSQL as the store; nobody listens on this port, so only the driver can be missing."""
    from langchain_tiered_memory.backends.sql.connect import connect

    connect("postgresql+psycopg://nobody@127.0.0.1:1/nothing")
    importlib.import_module("psycopg")


def notebooks() -> None:
    """Pictures, and the program that shows notebooks."""
    importlib.import_module("langchain_tiered_memory.plots")
    for name in ("jupyterlab", "ipykernel"):
        importlib.import_module(name)


def multilingual() -> None:
    """An embedder that brings its weights along and puts a question near its answer in another language."""
    from langchain_tiered_memory.embedding import MultilingualEmbedder

    embedder = MultilingualEmbedder()
    near, far = embedder.embed_documents(["Die Katze heißt Mia.", "Morgen regnet es."])
    asked = embedder.embed_query("What is the cat called?")
    assert asked @ near > asked @ far


def distributed() -> None:
    """Celery, to call a round of work as a task."""
    module = importlib.import_module("langchain_tiered_memory.distributed")
    celery = importlib.import_module("celery")
    with MemorySystem.open(":memory:").sync as memory:
        module.add_work(celery.Celery("memory"), memory).apply().get()


PROMISES: dict[str, Callable[[], None]] = {
    one.__name__: one for one in (agents, postgres, notebooks, multilingual, distributed)
}


def keeps(extra: str, *, installed: bool) -> bool:
    """Print whether an extra works, and return whether that is right."""
    try:
        PROMISES[extra]()
    except Exception as error:  # noqa: BLE001
        said = f"langchain-tiered-memory[{extra}]" in str(error) and "pip install" in str(error)
        right = not installed and said
        print(f"  {extra}: {'missing, as it should be' if right else 'WRONG'}: {type(error).__name__}: {error}")
        return right
    print(f"  {extra}: {'works' if installed else 'works WITHOUT having been asked for'}")
    return installed


def main(asked: list[str]) -> int:
    """Check all extras; 0 if they are right."""
    installed = set(PROMISES) if asked == ["all"] else set(asked)
    right = [keeps(extra, installed=extra in installed) for extra in PROMISES]
    return 0 if all(right) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
