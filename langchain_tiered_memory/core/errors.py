"""Every error this package raises on purpose.

```
TieredMemoryError
├─ InvalidInput(ValueError)        an argument: field, value, remedy; nothing was written
├─ ConfigError(ValueError)         how the system was set up; nothing was opened
│  └─ NotInstalled(ImportError)    a package that an extra brings; the message has the line for pip
├─ NotFound(LookupError)           no such id for this user (another user's id reads the same)
├─ Conflict                        somebody else was first; nothing was written
├─ BackendUnavailable(ConnectionError)   a store did not answer or refused; may work later
├─ SchemaMismatch                  the store was written by another version of this package
├─ ModelMismatch                   the store was embedded by another model
├─ EmbeddingError                  the embedder failed or its answer is unusable
└─ ExtractionError                 the extractor failed or its answer is unusable
```

Each also derives from the builtin that a caller would catch. Messages say what happened, to what, and what to do;
they never hold a memory's text or a password.
"""

from __future__ import annotations

SHOWN = 80
_TELLING = frozenset({"content", "query", "metadata", "extra", "message", "memory"})
"""Fields that hold what somebody said; their values stay out of messages, which end up in logs."""


def shown(value: object) -> str:
    """Return `repr(value)` cut to `SHOWN` characters, safe to print; its kind alone where it cannot be written."""
    try:
        text = repr(value)
    except Exception:  # noqa: BLE001 - a value of anybody's, in the middle of saying what is wrong with it
        text = f"<{type(value).__name__}>"
    text = text.encode("utf-8", "backslashreplace").decode("utf-8")
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 1]}…"


def extra(name: str) -> str:
    """Return what to give to pip for an extra of this package."""
    return f"langchain-tiered-memory[{name}]"


class TieredMemoryError(Exception):
    """Root of the tree: catching it catches everything this package raises on purpose."""


class InvalidInput(TieredMemoryError, ValueError):
    """An argument cannot be used; nothing was written.

    Attributes:
        field: The argument's name, dotted for nested ones (`items[3].importance`).
        value: What was given; not in the message where it may be somebody's words.
        remedy: What to give instead.
    """

    def __init__(self, field: str, value: object, remedy: str) -> None:
        """Name the field, keep the value and say what to do."""
        told = "" if field.rpartition(".")[2] in _TELLING else f"={shown(value)}"
        super().__init__(f"{field}{told} cannot be used: {remedy}")
        self.field = field
        self.value = value
        self.remedy = remedy

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle by the three parts, so that the error crosses process borders."""
        return type(self), (self.field, self.value, self.remedy)


class ConfigError(TieredMemoryError, ValueError):
    """The system is set up in a way that cannot work; the message says how to mend it."""


class NotInstalled(ConfigError, ImportError):
    """Something was asked for that needs a package which is not there: most likely an extra of this one.

    Attributes:
        what: What was asked for.
        package: What it needs.
        install: What to give to pip.
    """

    def __init__(self, what: str, package: str, install: str) -> None:
        """Name what was asked for, what it needs and the way to get it."""
        super().__init__(f"{what} needs {package}, which is not installed: pip install '{install}'")
        self.what = what
        self.package = package
        self.install = install

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle by the three parts."""
        return type(self), (self.what, self.package, self.install)


class NotFound(TieredMemoryError, LookupError):
    """No such memory for this user.

    The words are the same for an id that never was, one that was forgotten, and one of another user.
    """

    def __init__(self, memory_id: str) -> None:
        """Name the id that was asked for."""
        super().__init__(f"this user has no memory {shown(memory_id)}; list() shows those that exist")
        self.memory_id = memory_id

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle by the id."""
        return type(self), (self.memory_id,)


class Conflict(TieredMemoryError):
    """The write rests on something that changed meanwhile; nothing of it was written."""


class BackendUnavailable(TieredMemoryError, ConnectionError):
    """A store did not answer, or refused to; the same call may succeed later.

    Attributes:
        backend: Which store ("sqlite", "postgresql", "redis", "chroma", …).
        operation: What was being done.
    """

    def __init__(self, backend: str, operation: str, reason: str) -> None:
        """Name the store, the operation and the driver's own reason."""
        super().__init__(f"{backend} could not {operation}: {reason}")
        self.backend = backend
        self.operation = operation
        self.reason = reason

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle by the three parts."""
        return type(self), (self.backend, self.operation, self.reason)


class SchemaMismatch(TieredMemoryError):
    """The store was written by a version of this package that this one does not understand."""

    def __init__(self, backend: str, found: int, supported: int) -> None:
        """Name both schema versions and the way out."""
        way = "upgrade langchain-tiered-memory" if found > supported else "export it with the version that wrote it"
        super().__init__(f"{backend} holds schema {found}, this version reads {supported}: {way}")
        self.backend = backend
        self.found = found
        self.supported = supported

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle by the three parts."""
        return type(self), (self.backend, self.found, self.supported)


class ModelMismatch(TieredMemoryError):
    """The store's vectors come from another embedding model than the one in use."""

    def __init__(self, stored: str, given: str) -> None:
        """Name both models and the way out."""
        super().__init__(
            f"the vectors in this store were made by {stored!r}, the embedder in use is {given!r}: "
            "open it with the former, or call reindex() to embed everything anew with the latter"
        )
        self.stored = stored
        self.given = given

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle by the two names."""
        return type(self), (self.stored, self.given)


class EmbeddingError(TieredMemoryError):
    """The embedder failed, or what it returned cannot be used as vectors."""


class ExtractionError(TieredMemoryError):
    """The fact extractor failed, or what it returned cannot be used as facts."""
