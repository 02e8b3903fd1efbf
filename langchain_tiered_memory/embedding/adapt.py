"""Other people's embedders behind our port, told apart by their methods; no framework is imported."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from types import CellType, CodeType, FunctionType
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from langchain_tiered_memory.core.derive import digest
from langchain_tiered_memory.core.errors import ConfigError, EmbeddingError
from langchain_tiered_memory.core.ports import Embedder
from langchain_tiered_memory.core.text import clean
from langchain_tiered_memory.embedding.hashed import HashedEmbedder
from langchain_tiered_memory.embedding.minilm import MiniLMEmbedder
from langchain_tiered_memory.embedding.multilingual import MultilingualEmbedder

__all__ = ["as_embedder"]

_NAMES: Final = ("model_name", "model", "deployment", "repo_id")
_DIGITS: Final = 12
_EMPTY_CELL: Final = CellType()
_SIZES: Final = ("dimensions", "dimension", "embed_dim", "size")


def as_embedder(obj: object, *, model_id: str | None = None) -> Embedder:
    """Put an embedder of another make behind the `Embedder` port.

    Takes an `Embedder`, a LangChain `Embeddings`, a LlamaIndex `BaseEmbedding`, a Chroma
    `EmbeddingFunction`, or a function from a list of texts to as many vectors. Texts reach it with
    NUL and lone surrogates replaced; its answers are checked and brought to length 1. A vector of
    zeros stays one: it resembles nothing, and its text is found by its words. Whether the result
    may be shared between threads depends on `obj`.

    Args:
        obj: The embedder.
        model_id: Identity of the model and its weights; by default made of the name of the class or
            function and of the model that it names. A lambda, a function made by another one, and a
            partial are known by what they do and hold as well, as this Python compiles it. Give one
            when that is not enough to tell two models apart, or is to outlast a new Python.

    Raises:
        ConfigError: `obj` is none of these, or answers only to `await`, or `model_id` is blank.
    """
    if model_id is not None and not model_id.strip():
        raise ConfigError("model_id is blank: name the model, or leave it out")
    if model_id is None and isinstance(obj, MiniLMEmbedder | MultilingualEmbedder | HashedEmbedder | _Adapted):
        return obj
    documents, query = _calls(obj)
    if inspect.iscoroutinefunction(documents) or inspect.iscoroutinefunction(query):
        raise ConfigError(f"{_class_of(obj)} embeds asynchronously; a blocking embedder is needed")
    return _Adapted(model_id or _identity(obj), documents, query)


_Calls = tuple[Callable[[list[str]], Any], Callable[[str], Any]]


def _calls(obj: object) -> _Calls:
    """Find how texts and how a question are embedded."""
    if isinstance(obj, type):
        raise ConfigError(f"{obj.__qualname__} is a class; give an instance of it")
    of: dict[str, Any] = {
        name: method
        for name in ("embed_documents", "embed_query", "get_text_embedding_batch", "get_query_embedding")
        if callable(method := getattr(obj, name, None))
    }
    if {"embed_documents", "embed_query"} <= of.keys():  # ours, LangChain's
        return of["embed_documents"], of["embed_query"]
    if {"get_text_embedding_batch", "get_query_embedding"} <= of.keys():  # LlamaIndex's
        return of["get_text_embedding_batch"], of["get_query_embedding"]
    if callable(obj):  # Chroma's, which takes and gives lists also for a question; or a function
        return obj, partial(_first, of.get("embed_query", obj))
    raise ConfigError(
        f"{_class_of(obj)} is no embedder: give a LangChain Embeddings, a LlamaIndex BaseEmbedding, a Chroma "
        "EmbeddingFunction, or a function from a list of texts to a list of vectors"
    )


def _first(embed: Callable[[list[str]], Any], text: str) -> Any:
    """Embed one text with a function of many."""
    vectors = embed([text])
    if len(vectors) != 1:
        raise EmbeddingError(f"the embedder gave {len(vectors)} vectors for one text")
    return vectors[0]


class _Adapted:
    """Another embedder, its answers checked."""

    def __init__(self, model_id: str, documents: Callable[[list[str]], Any], query: Callable[[str], Any]) -> None:
        self._model_id = model_id
        self._documents = documents
        self._query = query
        self._dimensions: int | None = None

    @property
    def model_id(self) -> str:
        return self._model_id

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if not texts:
            return np.zeros((0, self._dimensions or 0), np.float32)
        with _failures(self._model_id):
            answer = self._documents([clean(text) for text in texts])
        return self._checked(answer, len(texts))

    def embed_query(self, text: str) -> NDArray[np.float32]:
        with _failures(self._model_id):
            answer = [self._query(clean(text))]
        return np.asarray(self._checked(answer, 1)[0], np.float32)

    def _checked(self, answer: Any, count: int) -> NDArray[np.float32]:
        """Return the vectors at length 1, or say what is wrong with them."""
        try:
            vectors = np.asarray(answer, np.float64)
        except (TypeError, ValueError) as exc:
            raise EmbeddingError(f"{self._model_id} did not return vectors of numbers, all of one length") from exc
        if vectors.ndim != 2 or not vectors.shape[1]:  # noqa: PLR2004 - rows and columns
            raise EmbeddingError(f"{self._model_id} returned shape {vectors.shape} instead of one vector for each text")
        if len(vectors) != count:
            raise EmbeddingError(f"{self._model_id} returned {len(vectors)} vectors for {count} texts")
        if vectors.shape[1] != (self._dimensions or vectors.shape[1]):
            raise EmbeddingError(
                f"{self._model_id} returned vectors of {vectors.shape[1]} dimensions, before of {self._dimensions}"
            )
        if not np.isfinite(vectors).all():
            raise EmbeddingError(f"{self._model_id} returned a vector with NaN or infinity")
        self._dimensions = vectors.shape[1]
        return _unit(vectors)


def _unit(vectors: NDArray[np.float64]) -> NDArray[np.float32]:
    """Bring every row to length 1; zeros stay zeros. Scaled first: squares must neither vanish nor overflow."""
    largest = np.abs(vectors).max(axis=1, keepdims=True)
    scaled = vectors / np.where(largest == 0, 1, largest)
    lengths = np.linalg.norm(scaled, axis=1, keepdims=True)
    return np.asarray(scaled / np.where(lengths == 0, 1, lengths), np.float32)


@contextmanager
def _failures(model_id: str) -> Iterator[None]:
    """Translate whatever an embedder raises; its own words may hold the text, so only its kind is told."""
    try:
        yield
    except EmbeddingError:
        raise
    except Exception as exc:
        raise EmbeddingError(f"{model_id} failed with {type(exc).__name__}") from exc


def _identity(obj: object) -> str:
    """Name a model by its class or function, and by what it says of itself."""
    if isinstance(obj, partial):
        held = [*map(_held, obj.args), *((name, _held(one)) for name, one in sorted(obj.keywords.items()))]
        return f"{_identity(obj.func)}#{digest(held)[:_DIGITS]}" if held else _identity(obj.func)
    if inspect.ismethod(obj):
        return f"{_identity(obj.__self__)}.{obj.__name__}"
    if inspect.isroutine(obj):
        name = f"{obj.__module__}.{obj.__qualname__}"
        return f"{name}#{_made_of(obj)}" if inspect.isfunction(obj) and "<" in obj.__qualname__ else name
    if isinstance(own := getattr(obj, "model_id", None), str) and own:
        return own
    name = _first_of(obj, _NAMES, str)
    size = _first_of(obj, _SIZES, int)
    return "".join((_class_of(obj), f":{name}" if name else "", f"/{size}" if size else ""))


def _made_of(function: FunctionType) -> str:
    """Return a digest of a function that shares its name with others: of its code, and of what it holds."""
    cells = [cell for cell in function.__closure__ or () if cell != _EMPTY_CELL]
    held = [*(cell.cell_contents for cell in cells), *(function.__defaults__ or ())]
    by_name = sorted((function.__kwdefaults__ or {}).items())
    return digest(_code(function.__code__), list(map(_held, held)), [(n, _held(one)) for n, one in by_name])[:_DIGITS]


def _code(code: CodeType) -> list[object]:
    """Return what a function does, without where it stands and what its lines are."""
    constants = [_code(one) if isinstance(one, CodeType) else _held(one) for one in code.co_consts]
    return [code.co_code.hex(), code.co_names, constants]


def _held(value: object) -> object:
    """Return what a function holds as far as it may tell its model: plain values whole, other things by their class."""
    if isinstance(value, (tuple, frozenset)):
        return sorted(repr(_held(one)) for one in value) if isinstance(value, frozenset) else list(map(_held, value))
    if value is None or value is ... or isinstance(value, (bool, int, float, complex, str, bytes)):
        return repr(value)
    if inspect.isroutine(value) and not inspect.ismethod(value):
        return getattr(value, "__qualname__", "")  # no further: it may hold the one that holds it
    return _identity(value)


def _first_of(obj: object, names: Sequence[str], kind: type) -> Any:
    values = (getattr(obj, name, None) for name in names)
    return next((value for value in values if value and isinstance(value, kind)), None)


def _class_of(obj: object) -> str:
    """Name a class by package and name: modules within a package move from version to version."""
    return f"{type(obj).__module__.partition('.')[0]}.{type(obj).__qualname__}"
