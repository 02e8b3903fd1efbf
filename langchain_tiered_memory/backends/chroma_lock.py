"""Whose folder it is: embedded Chroma belongs to one process."""

from __future__ import annotations

import ctypes
import logging
import os
import weakref
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from filelock import BaseFileLock

__all__ = ["FolderLock", "leave_to_parent", "lock_folder"]

_log = logging.getLogger("langchain_tiered_memory.chroma")

_LOCK_FILE: Final = "indexer.lock"


class FolderLock:
    """The right to index a folder: one holder on the machine, until it is released or the process ends, however."""

    def __init__(self, lock: BaseFileLock) -> None:
        self._lock = lock
        self._pid = os.getpid()
        leave_to_parent(self)

    def release(self) -> None:
        """Leave the folder to others. Again does nothing, nor does it in a forked child, whose parent has the lock."""
        if os.getpid() == self._pid:
            self._lock.release()


def lock_folder(path: str | os.PathLike[str]) -> FolderLock | None:
    """Claim the right to index a folder, at once or not at all; the folder is made when missing.

    Embedded Chroma belongs to one process: a second one would go on answering from an index that it read once, and
    name memories that are deleted. So who does not get the lock must not open Chroma there.

    Returns:
        The lock, or None: another process, or another system of this one, has it, or the folder takes no lock
        (read-only, or on a file system without locks), which is logged.
    """
    from filelock import FileLock, Timeout

    try:
        Path(path).mkdir(parents=True, exist_ok=True)
        lock = FileLock(Path(path) / _LOCK_FILE, timeout=0, thread_local=False)
        lock.acquire()
    except Timeout:
        return None
    except (OSError, NotImplementedError) as exc:
        _log.warning("%s cannot be locked, so it is searched without an index: %s", path, exc)
        return None
    return FolderLock(lock)


def leave_to_parent(held: object) -> None:
    """Keep forked children from ever freeing an object that works only in this process.

    Freed in a child, at the latest when that exits, Chroma's embedded client waits for threads that only the parent
    has, and a lock would be opened for the parent too. A reference that nobody gives back prevents both.
    """
    reference = weakref.ref(held)

    def keep() -> None:
        if (kept := reference()) is not None:
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(kept))

    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=keep)
