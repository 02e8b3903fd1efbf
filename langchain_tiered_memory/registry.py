"""Systems that are found again by a word, in this process and in others: a registered name, or a folder."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Generic, TypeVar
from weakref import WeakKeyDictionary, WeakSet, WeakValueDictionary

from langchain_tiered_memory.core.config import RankingWeights, Settings
from langchain_tiered_memory.core.errors import ConfigError, shown
from langchain_tiered_memory.core.model import new_id
from langchain_tiered_memory.planning import EXACT, Plan, system_clock

logger = logging.getLogger("langchain_tiered_memory.registry")

S = TypeVar("S")


class Registry(Generic[S]):
    """Factories by name, what they made, and which systems live in which folders. Thread-safe.

    What was made or opened here is kept until the process ends; whoever wants it closed closes it.
    """

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._factories: dict[str, Callable[[], S]] = {}
        self._made: dict[str, S] = {}
        self._opened: dict[str, S] = {}
        self._living: WeakKeyDictionary[S, Plan] = WeakKeyDictionary()
        self._nameless: WeakValueDictionary[str, S] = WeakValueDictionary()
        self._warned: WeakSet[S] = WeakSet()

    def register(self, name: str, factory: Callable[[], S]) -> None:
        """Let a factory make the system of this name when somebody first asks for it.

        Raises:
            ConfigError: It is no factory.
        """
        given: object = factory
        if not callable(given):
            raise ConfigError(f"factory={shown(factory)} cannot be used: a callable that returns a system is needed")
        with self._lock:
            self._factories[name] = factory
            self._made.pop(name, None)

    def unregister(self, name: str) -> None:
        """Let nothing be found under a name any more; an unknown one is fine."""
        with self._lock:
            self._factories.pop(name, None)
            self._made.pop(name, None)

    def registered(self, name: str) -> S:
        """Return the system of a name, made once.

        Raises:
            ConfigError: Nothing is registered under it.
        """
        with self._lock:
            if name not in self._factories:
                word = "a URL" if "://" in name else shown(name)  # which may hold a password
                raise ConfigError(
                    f"no memory is registered as {word}: call MemorySystem.register first; "
                    "a folder is named by its absolute path"
                )
            if name not in self._made:
                self._made[name] = self._factories[name]()
            return self._made[name]

    def note(self, system: S, plan: Plan) -> None:
        """Remember, as long as it lives, that a system lives in its plan's folder; the disk is not asked yet."""
        if isinstance(plan.path, Path):
            with self._lock:
                self._living[system] = plan

    def at(self, reference: str | Path, open_folder: Callable[[str], S]) -> S:
        """Return the system that a reference names: the same one for everybody in this process.

        Raises:
            ConfigError: It is neither a registered name nor the absolute path of a folder.
        """
        given: object = reference
        if not isinstance(given, (str, Path)):
            raise ConfigError(f"{shown(type(given))} names no memory: a registered name or a folder is needed")
        with self._lock:
            if isinstance(reference, str) and (reference in self._factories or not Path(reference).is_absolute()):
                return self._nameless.get(reference) or self.registered(reference)
            folder = str(Path(reference).resolve())
            for system, plan in list(self._living.items()):
                if _folder(plan) == folder:
                    return system  # the first one there
            self._opened[folder] = open_folder(folder)
            return self._opened[folder]

    def reference(self, system: S, plan: Plan) -> str:
        """Return the word by which `at` finds a system: in any process its registered name or its folder.

        A system that has neither gets a name that nobody else finds it by, in this process as long as it lives:
        frameworks serialise what they go on with, too.
        """
        folder = _folder(plan)
        complete = folder is not None and not _has_options(plan)
        with self._lock:
            # Factories that nobody has needed yet are asked only where a folder would not do.
            makes = {} if complete else {name: self.registered(name) for name in list(self._factories)}
            names = [name for name, made in {**self._made, **makes}.items() if made is system]
            if names:
                return names[0]
            if not complete:
                self._warn(system, "without its options" if folder else "not at all")
            return folder or self._name_here(system)

    def _warn(self, system: S, how: str) -> None:
        if system not in self._warned:
            self._warned.add(system)
            logger.warning("another process finds this memory %s: call MemorySystem.register(name, factory)", how)

    def _name_here(self, system: S) -> str:
        known = [name for name, living in self._nameless.items() if living is system]
        name = known[0] if known else f"unregistered-{new_id()}"
        self._nameless[name] = system
        return name


def _folder(plan: Plan) -> str | None:
    """Return the folder that holds all of what a plan makes; None when something of it is elsewhere."""
    elsewhere = plan.redis is not None or plan.postgres is not None or plan.vector_db not in {None, EXACT}
    return str(plan.path.resolve()) if isinstance(plan.path, Path) and not elsewhere else None


def _has_options(plan: Plan) -> bool:
    models = (plan.embedder, plan.scorer, plan.extractor)
    usual = (plan.weights, plan.settings, plan.clock) == (RankingWeights.DEFAULT, Settings(), system_clock)
    return not usual or any(model is not None for model in models)


def kinds(plan: Plan) -> str:
    """Return which parts a plan was given, for people; never a URL."""
    parts = {"redis": plan.redis, "vector_db": plan.vector_db, "postgres": plan.postgres}
    return ", ".join(name for name, value in parts.items() if value is not None) or "embedded stores"
