"""Stores that fail when they are told to, or keep a list of their calls: for enumerating every place of a crash.

A run that counts comes first, then one run per call and side of it:

```python
calls: list[Call] = []
work(counting(items, calls), counting(records, calls))
for fault in Plan.every_crash(len(calls)):
    plan = Plan(fault)
    with pytest.raises(Crash):
        work(faulty(items, plan), faulty(records, plan))
    check(items, records)
```
"""

from __future__ import annotations

import functools
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal, TypeVar, cast

Store = TypeVar("Store")


class Crash(BaseException):
    """The process died here: no `except Exception` sees it, and no later call reaches a store."""


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a port's method.

    Attributes:
        store: Class of the store.
        method: Name of the method.
    """

    store: str
    method: str


@dataclass(frozen=True, slots=True)
class Fault:
    """Where to fail.

    Attributes:
        at: At which call, from 1; of all that share the plan, or of those of `method`.
        when: "before" the call reaches the store, or "after" the store has done it.
        error: What is raised; after a `Crash` every further call raises it too.
        method: Count only calls of the method with this name.
        times: How many calls in a row fail, at least 1.
    """

    at: int
    when: Literal["before", "after"] = "before"
    error: BaseException | type[BaseException] = Crash
    method: str | None = None
    times: int = 1


class Plan:
    """Which calls fail. Shared between stores, so that calls are counted over all of them; thread-safe.

    Attributes:
        calls: The calls so far, in order.
        fired: The faults that struck, in order.
    """

    def __init__(self, *faults: Fault) -> None:
        """Fail as the faults say; none at all only counts."""
        self._faults = faults
        self._lock = threading.Lock()
        self._crashed = False
        self.calls: list[Call] = []
        self.fired: list[Fault] = []

    @staticmethod
    def every_crash(calls: int) -> Iterator[Fault]:
        """Iterate over a crash before and one after each of so many calls."""
        for at in range(1, calls + 1):
            yield Fault(at, "before")
            yield Fault(at, "after")

    def run(self, call: Call, work: Callable[[], Any]) -> Any:
        """Do the work of a call, or fail before or after it."""
        with self._lock:
            if self._crashed:
                raise Crash
            self.calls.append(call)
            due = [fault for fault in self._faults if self._strikes(fault, call)]
        for fault in due:
            if fault.when == "before":
                self._strike(fault)
        result = work()
        for fault in due:
            self._strike(fault)
        return result

    def _strikes(self, fault: Fault, call: Call) -> bool:
        if fault.method is None:
            number = len(self.calls)
        elif fault.method == call.method:
            number = sum(one.method == call.method for one in self.calls)
        else:
            return False
        return fault.at <= number < fault.at + fault.times

    def _strike(self, fault: Fault) -> None:
        with self._lock:
            self.fired.append(fault)
            error = fault.error() if isinstance(fault.error, type) else fault.error
            self._crashed = self._crashed or isinstance(error, Crash)
        raise error


class _Wrapped(ABC):
    """Passes every public method of a store through `_call`; everything else is the store's own."""

    def __init__(self, store: object) -> None:
        self._store = store

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._store, name)
        if name.startswith("_") or not callable(value):
            return value
        call = Call(type(self._store).__name__, name)

        @functools.wraps(value)
        def called(*args: Any, **kwargs: Any) -> Any:
            return self._call(call, lambda: value(*args, **kwargs))

        return called

    @abstractmethod
    def _call(self, call: Call, work: Callable[[], Any]) -> Any:
        """Do the work of a call in the wrapper's own way."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._store!r})"


class Faulty(_Wrapped):
    """A store, or any other port, whose calls fail as a plan says."""

    def __init__(self, store: object, plan: Plan) -> None:
        """Wrap the store."""
        super().__init__(store)
        self._plan = plan

    def _call(self, call: Call, work: Callable[[], Any]) -> Any:
        return self._plan.run(call, work)


class Counting(_Wrapped):
    """A store, or any other port, that lists its calls.

    Attributes:
        calls: The calls so far, in order; shared with other stores when it was given.
    """

    def __init__(self, store: object, calls: list[Call] | None = None) -> None:
        """Wrap the store."""
        super().__init__(store)
        self.calls: list[Call] = [] if calls is None else calls

    def _call(self, call: Call, work: Callable[[], Any]) -> Any:
        self.calls.append(call)
        return work()


def faulty(store: Store, plan: Plan) -> Store:
    """Return `Faulty(store, plan)` as what it stands for, for type checkers."""
    return cast("Store", Faulty(store, plan))


def counting(store: Store, calls: list[Call] | None = None) -> Store:
    """Return `Counting(store, calls)` as what it stands for, for type checkers."""
    return cast("Store", Counting(store, calls))
