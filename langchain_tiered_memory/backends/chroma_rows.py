"""What goes into Chroma and comes out of it: names, references and vectors, and the calls on one collection."""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING, Final

import numpy as np

from langchain_tiered_memory.core.errors import EmbeddingError
from langchain_tiered_memory.core.text import escape, unescape

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from chromadb.api import ClientAPI
    from chromadb.api.models.Collection import Collection
    from numpy.typing import NDArray

    from langchain_tiered_memory.core.ports import Vector

PAGE: Final = 20_000
"""References read at once."""

LARGEST_K: Final = 2**31 - 1
"""More cannot be asked of Chroma, and need not be."""

_EMPTY: Final = "\x1a"
"""The one reference that Chroma refuses and `escape` leaves alone is the empty one; `escape` never gives this."""


def pages(client: ClientAPI) -> Iterator[Sequence[Collection]]:
    """Yield every collection; what others make or delete meanwhile may or may not be among them."""
    seen = 0
    while page := client.list_collections(limit=PAGE, offset=seen):
        yield page
        seen += len(page)


def write(collection: Collection, ids: list[str], vectors: NDArray[np.float32]) -> None:
    """Add or replace rows."""
    collection.upsert(ids=ids, embeddings=vectors)


def remove(collection: Collection, ids: list[str]) -> None:
    """Remove rows."""
    collection.delete(ids=ids)


def nearest(collection: Collection, vector: Vector, k: int) -> list[str]:
    """Return references, nearest first."""
    question = np.asarray([vector], dtype=np.float32)
    return collection.query(query_embeddings=question, n_results=k, include=[])["ids"][0]


def read_ids(collection: Collection) -> list[str]:
    """Return every reference."""
    ids: list[str] = []
    while True:
        page = collection.get(include=[], limit=PAGE, offset=len(ids))["ids"]
        ids += page
        if len(page) < PAGE:
            return ids


def usable(rows: Sequence[tuple[str, Vector]]) -> tuple[list[str], NDArray[np.float32], list[str]]:
    """Split rows into Chroma's ids, one vector each, and the references whose vector has no direction."""
    latest = dict(rows)
    if not latest:
        return [], np.empty((0, 0), np.float32), []
    dimensions = {len(vector) for vector in latest.values()}
    if len(dimensions) > 1:
        raise EmbeddingError(f"vectors of dimensions {min(dimensions)} and {max(dimensions)} do not fit in one index")
    vectors = np.array(list(latest.values()), dtype=np.float32)
    with np.errstate(over="ignore", invalid="ignore"):
        lengths = np.linalg.norm(vectors, axis=1)
    usable = np.isfinite(lengths) & (lengths > 0)
    kept = [to_id(ref) for ref, fit in zip(latest, usable, strict=True) if fit]
    left_out = [ref for ref, fit in zip(latest, usable, strict=True) if not fit]
    return kept, vectors[usable], left_out


def collection_name(user_id: str) -> str:
    """Name a user's collection: "surrogatepass", because any string is a user id, and different ones stay so."""
    return f"ltm-{blake2b(user_id.encode('utf-8', 'surrogatepass'), digest_size=16).hexdigest()}"


def to_id(ref: str) -> str:
    """Return a reference as Chroma takes it."""
    return escape(ref) or _EMPTY


def to_ref(id_: str) -> str:
    """Return what `to_id` was given."""
    return "" if id_ == _EMPTY else unescape(id_)
