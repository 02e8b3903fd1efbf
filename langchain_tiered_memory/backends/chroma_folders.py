"""Which folder Chroma keeps the vectors of which collection in, so that it can go with the collection.

Embedded Chroma leaves the folder of a deleted collection where it is, with the vectors and references in it. The names
of these folders are its own, and only its SQLite file, which nothing of ours may open, says whose they are. But a
folder appears when its collection is first written to: who looks before and after knows its name.
"""

from __future__ import annotations

import logging
import os
import re
import shutil
import threading
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["Folders", "data_folder"]

_log = logging.getLogger("langchain_tiered_memory.chroma")

_DATA = "data"
_FILE = "folders.txt"
_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def data_folder(path: str | os.PathLike[str]) -> Path:
    """Return Chroma's own folder in ours; absolute, because the process may change its directory later."""
    return Path(path).absolute() / _DATA


class Folders:
    """The folders of one embedded Chroma. Only the process that has its lock may use this. Thread-safe."""

    def __init__(self, data: Path) -> None:
        """Read what is known.

        Args:
            data: Chroma's own folder; what is known of it stands in a file beside it.
        """
        self._data = data
        self._file = data.parent / _FILE
        self._lock = threading.Lock()
        self._folder_of = dict(self._read())
        self._unseen: set[str] = set()

    @contextmanager
    def watching(self, collection: str) -> Iterator[None]:
        """Learn which folder appears while a collection is written to, if its folder is not known."""
        if collection in self._folder_of or collection in self._unseen:
            yield
            return
        with self._lock:  # of two that appear at once nobody could say whose is whose
            before = self._there()
            try:
                yield
            finally:
                new = self._there() - before
                if len(new) == 1:
                    self._folder_of[collection] = new.pop()
                    with self._file.open("a", encoding="ascii") as known:
                        known.write(f"{collection} {self._folder_of[collection]}\n")
                else:
                    self._unseen.add(collection)  # older than this file: looking again would show nothing

    def remove(self, collection: str) -> None:
        """Remove the folder of a collection that was deleted; one that cannot be removed now stays for `sweep`."""
        with self._lock:
            folder = self._folder_of.get(collection)
            self._unseen.discard(collection)
            if folder is not None and self._removed(folder):
                del self._folder_of[collection]

    def sweep(self, living: Collection[str]) -> None:
        """Remove every folder that belongs to none of the living collections.

        While the folder of a living one is not known, only those that are known not to belong to any.
        """
        with self._lock:
            for collection, folder in list(self._folder_of.items()):
                if collection not in living and self._removed(folder):
                    del self._folder_of[collection]
            if set(living) <= self._folder_of.keys():
                for folder in self._there() - set(self._folder_of.values()):
                    self._removed(folder)
            lines = (f"{collection} {folder}\n" for collection, folder in self._folder_of.items())
            part = self._file.with_suffix(".part")
            part.write_text("".join(lines), encoding="ascii")
            part.replace(self._file)

    def _removed(self, folder: str) -> bool:
        """Remove a folder, and say whether it is gone."""
        try:
            shutil.rmtree(self._data / folder)
        except FileNotFoundError:
            return True
        except OSError as error:
            _log.warning("a folder of deleted vectors could not be removed and stays due: %s", error)
            return False
        return True

    def _there(self) -> set[str]:
        return {path.name for path in self._data.iterdir() if _UUID.fullmatch(path.name)}

    def _read(self) -> Iterator[tuple[str, str]]:
        """Yield what is known; of a collection that had several folders the last counts."""
        if not self._file.is_file():
            return
        there = self._there()
        for line in self._file.read_text(encoding="ascii", errors="replace").splitlines():
            collection, _, folder = line.partition(" ")
            if folder in there:
                yield collection, folder
