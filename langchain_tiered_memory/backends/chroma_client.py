"""Opening and closing Chroma: its import and its clients."""

from __future__ import annotations

import importlib
import os
import sys
import threading
from collections import OrderedDict
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from langchain_tiered_memory.backends.breaker import Breaker
from langchain_tiered_memory.backends.chroma_folders import data_folder
from langchain_tiered_memory.backends.chroma_lock import leave_to_parent
from langchain_tiered_memory.core.errors import BackendUnavailable, ConfigError, TieredMemoryError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from chromadb.api import ClientAPI
    from chromadb.api.collection_configuration import CreateHNSWConfiguration
    from chromadb.api.models.Collection import Collection
    from chromadb.config import Settings

__all__ = [
    "DEADLINE_SECONDS",
    "Connection",
    "address_of",
    "close_client",
    "connect",
    "open_folder",
    "translated",
]

_PORTS: Final = {"http": 8000, "https": 443}
DEADLINE_SECONDS: Final = 2.0
_ANSWER_SECONDS: Final = 30.0
"""A server that is silent for longer after a write is taken for gone; a batch takes seconds."""

_REASON_LENGTH: Final = 300

_GRAPH: Final[CreateHNSWConfiguration] = {
    "space": "cosine",
    "max_neighbors": 32,
    "ef_construction": 200,
    "ef_search": 200,
}
"""Chosen by measurement; a collection keeps what it was made with.

Recall@10 against an exact scan of 25,000 vectors of 384 dimensions is 0.996 for sentences of real conversations, as
latent semantic vectors, and the questions put to them; for random topics it is 0.999 near a vector (cosine 0.8) and
0.947 far from all (0.5). Chroma's own 16, 100, 100 give 0.973, 0.988 and 0.810. It costs 1.8 ms a question instead of
1.1, and half a millisecond more for each vector written.
"""

_HANDLES: Final = 1024
"""Collections whose handles are kept; another costs one more read."""


@contextmanager
def translated(operation: str, breaker: Breaker | None = None) -> Iterator[None]:
    """Raise whatever the driver raises as BackendUnavailable. Only calls of the driver belong inside.

    Nothing narrower would do: its HTTP client raises ValueError for a server that is down and a bare Exception for a
    proxy's page, and a closed client AttributeError.

    Args:
        operation: What is being done, for people.
        breaker: Is told whether a server answered, and lets nothing begin for a while when it did not.
    """
    if breaker is not None and not breaker.passes():
        raise BackendUnavailable("chroma", operation, "it did not answer a moment ago, and is not asked for a while")
    try:
        yield
    except TieredMemoryError:
        raise
    except Exception as exc:
        if breaker is not None:
            (breaker.failed if _unanswered(exc) else breaker.answered)()
        reason = f"{type(exc).__name__}: {exc}"[:_REASON_LENGTH]
        raise BackendUnavailable("chroma", operation, reason) from exc
    else:
        if breaker is not None:
            breaker.answered()


def _unanswered(error: BaseException | None) -> bool:
    """Say whether an error comes from the way to a server."""
    httpx = sys.modules.get("httpx")
    while error is not None:
        if httpx is not None and isinstance(error, httpx.TransportError):
            return True
        error = error.__cause__ or error.__context__
    return False


def open_folder(path: str | os.PathLike[str]) -> ClientAPI:
    """Open the embedded Chroma in the subfolder `data` of a folder; both are made when missing.

    The process must hold the folder's lock. A child that is forked later can do nothing with the client.

    Raises:
        BackendUnavailable: The folder cannot be written, or what is in it is damaged.
        ConfigError: The environment stops Chroma from being imported.
    """
    folder = data_folder(path)
    settings = _settings(chroma_api_impl="chromadb.api.rust.RustBindingsAPI", allow_reset=False, migrations="apply")
    with translated("open its folder"):
        from chromadb import PersistentClient

        folder.mkdir(parents=True, exist_ok=True)
        client = PersistentClient(folder, settings=settings)
    leave_to_parent(client)
    return client


def connect(address: tuple[str, str, int], deadline: float = DEADLINE_SECONDS) -> ClientAPI:
    """Connect to a Chroma server.

    Args:
        address: What `address_of` returned.
        deadline: Seconds that a connection, and an answer to a question, may take; writes have longer.

    Raises:
        Exception: Of many kinds: no Chroma of version 1 answers there.
    """
    scheme, host, port = address
    settings = _settings(chroma_server_host=None, chroma_server_http_port=None)
    import httpx
    from chromadb import HttpClient

    # The client itself waits without end, so somebody else has to find out whether anybody answers.
    httpx.get(f"{scheme}://{host}:{port}/api/v2/heartbeat", timeout=deadline).raise_for_status()
    client = HttpClient(host, port, ssl=scheme == "https", settings=settings)
    limits = httpx.Timeout(deadline).as_dict()

    def hasten(request: httpx.Request) -> None:
        if request.method == "GET" or request.url.path.endswith("/query"):
            request.extensions["timeout"] = limits

    for session in _sessions(client):
        session.timeout = httpx.Timeout(_ANSWER_SECONDS, connect=deadline)
        session.event_hooks = {"request": [hasten]}
    return client


def close_client(client: ClientAPI) -> None:
    """Close a client of ours, and the connections that it would leave to the garbage collector."""
    with translated("close"):
        close = getattr(client, "close", None)  # came with Chroma 1.5
        if close is not None:
            close()
        for session in _sessions(client):
            session.close()


def _sessions(client: ClientAPI) -> list[Any]:
    """Return the `httpx.Client`s inside an HTTP client, for whose deadlines Chroma has no setting; none inside others.

    There are two, because a client checks its tenant through another client of its own.
    """
    clients = (client, getattr(client, "_admin_client", None))
    sessions = (getattr(getattr(one, "_server", None), "_session", None) for one in clients)
    return [session for session in sessions if session is not None]


def address_of(url: str) -> tuple[str, str, int]:
    """Return scheme, host and port of `http://host:port` or `https://host:port`; without a port 8000 and 443.

    Raises:
        ConfigError: The URL says anything else, such as a password, which belongs into a client of the caller's own.
    """
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        host = port = None
    if not host or parts.scheme not in _PORTS or "@" in parts.netloc or parts.path not in {"", "/"} or parts.query:
        raise ConfigError(
            "the vector database's URL cannot be used: write http://host:port or https://host:port, "
            "and hand over a Chroma client where more is needed (a token, a path, a tenant)"
        )
    return parts.scheme, f"[{host}]" if ":" in host else host, port or _PORTS[parts.scheme]


class Connection:
    """A client in the process that opened it."""

    def __init__(self, client: ClientAPI) -> None:
        """Note whose it is."""
        self.client = client
        self.pid = os.getpid()
        self.handles = _Handles()

    def fetch(self, name: str, *, create: bool) -> Collection:
        """Ask for a collection by name, and keep its handle."""
        if create:
            handle = self.client.get_or_create_collection(
                name, configuration={"hnsw": _GRAPH.copy()}, embedding_function=None
            )
        else:
            handle = self.client.get_collection(name, embedding_function=None)
        self.handles.keep(name, handle)
        return handle


class _Handles:
    """The collections used last; the one that was not used for longest goes first."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._by_name: OrderedDict[str, Collection] = OrderedDict()

    def get(self, name: str) -> Collection | None:
        with self._guard:
            handle = self._by_name.get(name)
            if handle is not None:
                self._by_name.move_to_end(name)
            return handle

    def keep(self, name: str, handle: Collection) -> None:
        with self._guard:
            self._by_name[name] = handle
            self._by_name.move_to_end(name)
            if len(self._by_name) > _HANDLES:
                self._by_name.popitem(last=False)

    def forget(self, name: str) -> None:
        with self._guard:
            self._by_name.pop(name, None)


# --- the import ----------------------------------------------------------------------------------


def _settings(**values: Any) -> Settings:
    """Build Chroma's settings without telemetry and without the `.env` of whatever directory this runs in."""
    try:
        _import_chroma()
        from chromadb.config import Settings

        return Settings(**{"_env_file": None, "anonymized_telemetry": False, **values})
    except (ValueError, OSError) as exc:
        raise ConfigError(
            "Chroma refuses a value of this process's environment; look at the variables that have the names "
            f"of its settings (CHROMA_…, MIGRATIONS, IS_PERSISTENT, …): {type(exc).__name__}"
        ) from exc


def _import_chroma() -> None:
    """Import Chroma, whatever lies in the working directory.

    It reads `.env` there while it is imported, and a value for one of its settings that it cannot use, or a file that
    is no text, stops the import. Its settings are a module of their own that is whole by then, so they can be told to
    leave the file alone, and the import is tried again.
    """
    try:
        importlib.import_module("chromadb")
    except (ValueError, OSError):
        config = sys.modules.get("chromadb.config")
        if config is None:
            raise
        config.Settings.model_config["env_file"] = None
        importlib.import_module("chromadb")
        _bind_submodules("chromadb")


def _bind_submodules(package: str) -> None:
    """Make modules attributes of their packages, as an import that was not interrupted would have done."""
    for name, module in list(sys.modules.items()):
        parent, _, leaf = name.rpartition(".")
        if name.startswith(f"{package}.") and parent in sys.modules:
            setattr(sys.modules[parent], leaf, module)
