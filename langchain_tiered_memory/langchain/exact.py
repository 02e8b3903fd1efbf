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

_TAG = "$python"


def held(value: object) -> Any:
    """Return a value as JSON can hold it.

    Exact for what JSON knows, floats that are no number, bytes, tuples, mappings with any such keys, and documents.
    Anything else is held as the JSON nearest to it, and comes back as that.
    """
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
    return _held_many(value)


def _held_many(value: object) -> Any:
    if isinstance(value, tuple):
        return _tagged("tuple", [held(one) for one in value])
    if isinstance(value, list):
        return [held(one) for one in value]
    if isinstance(value, Mapping):
        if _TAG not in value and all(isinstance(key, str) for key in value):
            return {str.__str__(key): held(one) for key, one in value.items()}
        return _tagged("mapping", [[held(key), held(one)] for key, one in value.items()])
    if isinstance(value, Document):
        fields = {"id": value.id, "metadata": value.metadata, "page_content": value.page_content}
        return _tagged("document", held(fields))
    return json.loads(json.dumps(to_jsonable_python(value, fallback=repr, inf_nan_mode="null")))


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
    "mapping": lambda pairs: {freed(key): freed(one) for key, one in pairs},
    "tuple": lambda items: tuple(freed(items)),
}
