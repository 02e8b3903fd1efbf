"""A language model that errs never: it answers from what is noted of every message. It shows the most to be had."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

from langchain_tiered_memory.bench.updates_data import Life, Said

_LINE = re.compile(r'^(m\d+): .*?: ("(?:[^"\\]|\\.)*")$', re.MULTILINE)
"""A memory as the prompt shows it: handle, day, who, kind, and the text as a JSON string."""
_NEGATION = "negation"


def perfect_model(life: Life) -> Callable[[str], str]:
    """Return a function from a prompt to the answer that a perfect reader of these messages gives.

    A negation denies the value that its pair has outdated, where that is told or shown as known.
    """
    known = {one.text: one for one in life.said()}
    denied = {pair.new.id: pair.old for pair in life.pairs if pair.kind == _NEGATION}

    def answer(prompt: str) -> str:
        shown = [(handle, known.get(json.loads(text))) for handle, text in _LINE.findall(prompt)]
        found = [_fact(handle, one, denied.get(one.id), prompt) for handle, one in shown if one is not None]
        return json.dumps({"facts": found})

    return answer


def _fact(handle: str, said: Said, denied: Said | None, prompt: str) -> dict[str, Any]:
    shown = denied is None or any(one in prompt for one in denied.values)
    stated = (said if denied is None else denied).values[:1] if shown else ()
    return {
        "content": said.statement,
        "type": "fact",
        "slot": said.slot,
        "value": stated[0] if said.slot and stated else None,
        "negated": denied is not None,
        "since": None,
        "until": None,
        "sources": [handle],
    }
