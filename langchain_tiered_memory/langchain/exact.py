"""What JSON cannot hold as it is, held so that it comes back the same.

Messages carry what their makers like in `additional_kwargs`, `response_metadata` and `artifact`. What JSON holds stays
as it is; anything else becomes a mapping with the one key `$python`, its kind and its value.
"""

from __future__ import annotations

import json
import math
from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping
from typing import Any

from langchain_core.documents import Document
from pydantic_core import to_jsonable_python

from langchain_tiered_memory.core.errors import InvalidInput

_TAG = "$python"
_LEVELS = 40
"""Most levels that are held as they are; what lies deeper is held as text, because the core takes no more than 64."""
_LEVELS_OF_A_MAPPING = 3


def held(value: object) -> Any:
    """Return a value as JSON can hold it.

    Exact for what JSON knows, floats that are no number, bytes, tuples, mappings with any such keys, and documents.
    Anything else is held as the JSON nearest to it, and comes back as that.

    Raises:
        InvalidInput: It holds itself, or has hundreds of levels.
    """
    try:
        return _held(value, _LEVELS)
    except RecursionError:
        raise InvalidInput("value", type(value), "it holds itself, or has hundreds of levels") from None


def nearly_held(value: object) -> Any:
    """Return a value as `held` does, and what it refuses as a text that says what it was."""
    try:
        return held(value)
    except InvalidInput:
        return _near(value)


def _held(value: object, levels: int) -> Any:
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else _tagged("float", repr(float(value)))
    if isinstance(value, bytes):
        return _tagged("bytes", b64encode(value).decode("ascii"))
    deep = levels < _LEVELS_OF_A_MAPPING
    found = _held_many(value, _LEVELS if deep else levels)
    return _tagged("json", json.dumps(found, ensure_ascii=False)) if deep else found


def _held_many(value: object, levels: int) -> Any:
    if isinstance(value, tuple):
        return _tagged("tuple", [_held(one, levels - 2) for one in value])
    if isinstance(value, list):
        return [_held(one, levels - 1) for one in value]
    if isinstance(value, Mapping):
        if _TAG not in value and all(isinstance(key, str) for key in value):
            return {str.__str__(key): _held(one, levels - 1) for key, one in value.items()}
        inner = levels - _LEVELS_OF_A_MAPPING
        return _tagged("mapping", [[_held(key, inner), _held(one, inner)] for key, one in value.items()])
    if isinstance(value, Document):
        fields = {"id": value.id, "metadata": value.metadata, "page_content": value.page_content}
        return _tagged("document", _held(fields, levels - 1))
    return _held(_near(value), levels)


def _near(value: object) -> Any:
    """Return the JSON nearest to a value of any class; its name when all that it says of itself fails."""
    try:
        return to_jsonable_python(value, fallback=repr, inf_nan_mode="null", bytes_mode="base64")
    except Exception:  # noqa: BLE001 - somebody's own `__repr__` may raise anything
        return object.__repr__(value)


def freed(value: Any) -> Any:
    """Return the value that `held` was given."""
    if isinstance(value, list):
        return [freed(one) for one in value]
    if not isinstance(value, Mapping):
        return value
    if set(value) == {_TAG, "value"}:
        return _FREE[value[_TAG]](value["value"])
    return {key: freed(one) for key, one in value.items()}


def _tagged(kind: str, value: object) -> dict[str, object]:
    return {_TAG: kind, "value": value}


_FREE: Mapping[str, Callable[[Any], object]] = {
    "bytes": b64decode,
    "document": lambda fields: Document(**freed(fields)),
    "float": float,
    "json": lambda text: freed(json.loads(text)),
    "mapping": lambda pairs: {freed(key): freed(one) for key, one in pairs},
    "tuple": lambda items: tuple(freed(items)),
}
