"""A language model that errs never: it answers from what is noted of every message. It shows the most to be had."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable

from langchain_tiered_memory.bench.updates_data import Said

_LINE = re.compile(r'^(m\d+): .*?: ("(?:[^"\\]|\\.)*")$', re.MULTILINE)
"""A memory as the prompt shows it: handle, day, who, kind, and the text as a JSON string."""


def perfect_model(said: Iterable[Said]) -> Callable[[str], str]:
    """Return a function from a prompt to the answer that a perfect reader of these messages gives."""
    known = {one.text: one for one in said}

    def answer(prompt: str) -> str:
        shown = [(handle, known.get(json.loads(text))) for handle, text in _LINE.findall(prompt)]
        found = [
            {"content": one.statement, "type": "fact", "slot": one.slot, "sources": [handle]}
            for handle, one in shown
            if one is not None
        ]
        return json.dumps({"facts": found})

    return answer
