"""When a system is open: at the first call, after a close, and anew in a child after a fork."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable

from langchain_tiered_memory.core.errors import ModelMismatch
from langchain_tiered_memory.core.indexing import MODEL_KEY
from langchain_tiered_memory.core.parts import Parts
from langchain_tiered_memory.core.rooms import Rooms


class Opening:
    """Holds the rooms of a system while it is open. Thread-safe."""

    def __init__(self, open_parts: Callable[[], Parts]) -> None:
        self._open_parts = open_parts
        self._opened: Rooms | None = None
        self._process = 0
        self._model_checked = False
        self._lock = threading.Lock()
        self._inherited: list[Rooms] = []
        """The parent's, in a child: never closed and never collected, for its connections are not the child's."""

    def rooms(self) -> Rooms:
        """Return the rooms, opening them if need be."""
        opened = self._opened
        if opened is not None and self._process == os.getpid():
            return opened
        with self._lock:
            if self._opened is None or self._process != os.getpid():
                self._inherited += [] if self._opened is None else [self._opened]
                self._model_checked = False
                self._opened, self._process = Rooms(self._open_parts()), os.getpid()
                if self._matches(self._opened):
                    self._opened.background.opened()
            return self._opened

    def ready(self, *, writing: bool = False) -> Rooms:
        """Return the rooms after making sure that the store's vectors are of the model in use.

        The first write makes the model in use the store's own.

        Raises:
            ModelMismatch: They are of another model.
        """
        rooms = self.rooms()
        if not self._model_checked:
            given, stored = rooms.parts.embedder.model_id, rooms.parts.records.read_meta(MODEL_KEY)
            if stored is not None and stored != given:
                raise ModelMismatch(stored, given)
            if stored is None and writing:
                self.adopt_model()
            self._model_checked = stored is not None or writing
        return rooms

    def writable(self, user_id: str) -> Rooms:
        """Return the rooms, ready to be written to, with no interrupted erasure of the user left to take that along.

        Raises:
            ModelMismatch: The store's vectors are of another model.
            BackendUnavailable: An erasure cannot be finished now.
        """
        rooms = self.ready(writing=True)
        rooms.forgetting.settle(user_id)
        return rooms

    @staticmethod
    def _matches(rooms: Rooms) -> bool:
        """Say whether the store's vectors, if there are any, are of the model in use."""
        return rooms.parts.records.read_meta(MODEL_KEY) in {None, rooms.parts.embedder.model_id}

    def adopt_model(self) -> None:
        """Make the embedding model in use the store's own."""
        parts = self.rooms().parts
        parts.records.write_meta(MODEL_KEY, parts.embedder.model_id)
        self._model_checked = True

    def close(self) -> None:
        """Finish the background work and close what was opened for this system. Twice is fine."""
        with self._lock:
            rooms, self._opened = self._opened, None
            inherited = self._process != os.getpid()
            if rooms is not None and inherited:
                self._inherited.append(rooms)
        if rooms is None or inherited:
            return
        try:
            rooms.background.close()
        finally:
            rooms.parts.close()
