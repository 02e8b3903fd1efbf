"""LangMem's summaries of a thread: where they cut it, and how much is shown afterwards."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.messages.utils import count_tokens_approximately

from tests.comparison.fakes import errand, scripted
from tests.comparison.findings import Check, Finding, judged
from tests.comparison.probes import torn

short_term: Any = importlib.import_module("langmem.short_term")  # not installed where the types are checked


def tool_calls(folder: Path) -> Finding:
    messages = [message for number in range(6) for message in errand(number)]
    tried = 0
    broken: list[str] = []
    for budget in range(30, 200, 5):
        summary = None
        for end, message in enumerate(messages, 1):
            following = messages[end : end + 1]
            if isinstance(message, AIMessage) or (following and following[0].type == "tool"):
                continue  # a model is not asked here
            result = _summarized(messages[:end], summary, scripted("short"), budget)
            summary = result.running_summary
            tried += 1
            if torn(result.messages):
                broken.append(f"{torn(result.messages)} of {end} messages at max_tokens={budget}")
    seen = f"{len(broken)} of {tried} prompts have one without the other, such as {broken[:1]}"
    return judged(Check(not broken, "kept together", f"torn apart in {len(broken)} of {tried} prompts", seen))


def _summarized(messages: list[BaseMessage], summary: Any, model: Any, budget: int) -> Any:
    return short_term.summarize_messages(
        messages, running_summary=summary, model=model, max_tokens=budget, max_summary_tokens=budget // 2
    )


def summary_over_budget(folder: Path) -> Finding:
    budget = 80
    messages: list[BaseMessage] = [HumanMessage(f"my locker number {one} is blue", id=str(one)) for one in range(12)]
    model = scripted("a summary that goes on and on " * 30)
    bound = _summarized(messages, None, model.bind(max_tokens=budget // 4), budget).messages
    free = _summarized(messages, None, model, budget).messages
    obedient, wordy = count_tokens_approximately(bound), count_tokens_approximately(free)
    return judged(
        Check(
            obedient <= budget,
            "kept to by a model that is limited itself",
            "not kept to",
            f"{obedient} tokens at max_tokens={budget} with a model bound to a limit",
        ),
        Check(
            wordy <= budget, "and if not", f"else {wordy} tokens of {budget}", f"{wordy} tokens with one that is not"
        ),
    )
