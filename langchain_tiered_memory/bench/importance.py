"""How well importance by rules tells the turns that are asked for later from the others, on real conversations.

    python -m langchain_tiered_memory.bench.importance FILE [--tuned N]

`FILE` is a LoCoMo file, or a neutral one: `{"conversations": [{"turns": [{"id", "role", "content"}], "questions":
[{"gold": [turn ids]}]}]}`. A turn is gold if it is evidence for any question; of LoCoMo's categories the fifth is
left out, since its evidence supports a wrong premise. The baseline is the length of the turn. AUC is the probability
that a gold turn scores above another one (0.5 is chance). The first `--tuned` conversations are reported apart from
the rest: the weights were tuned on the first three of LoCoMo. Those of requests and tasks were also set by the share
of messages above 0.8 in the neutral file, no weight by its AUC.
"""

from __future__ import annotations

import argparse
import json
import re
import statistics
import sys
import time
from bisect import bisect_left, bisect_right
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from langchain_tiered_memory.core.importance import score_importance

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

TUNED = 3
TIMED = 1000
REPEATS = 5
STRAIGHT_TO_LONG_TERM = 0.8
KEPT = 0.5
SMALL_TALK = 0.3
LOCOMO_CATEGORIES = (1, 2, 3, 4)


class Turn(NamedTuple):
    """A turn of a conversation, and whether a question rests on it."""

    content: str
    role: str
    gold: bool


def read(path: Path) -> list[list[Turn]]:
    """Return the conversations of a file, their turns in order."""
    data = json.loads(path.read_text(encoding="utf-8"))
    return [_locomo(sample) for sample in data] if isinstance(data, list) else [*map(_neutral, data["conversations"])]


def _neutral(talk: dict[str, Any]) -> list[Turn]:
    gold = {turn for question in talk["questions"] for turn in question["gold"]}
    return [Turn(turn["content"], turn["role"], turn["id"] in gold) for turn in talk["turns"]]


def _locomo(sample: dict[str, Any]) -> list[Turn]:
    """Read one LoCoMo sample; its evidence is found by pattern, because some of it is malformed ("D8:6; D9:17")."""
    evidence = (
        str(item) for qa in sample["qa"] if qa["category"] in LOCOMO_CATEGORIES for item in qa.get("evidence", ())
    )
    gold = {
        f"D{int(session)}:{int(turn)}" for item in evidence for session, turn in re.findall(r"D:?(\d+):(\d+)", item)
    }
    sessions = [key for key in sample["conversation"] if re.fullmatch(r"session_\d+", key)]
    turns = [turn for key in sorted(sessions, key=lambda key: int(key[8:])) for turn in sample["conversation"][key]]
    return [Turn(turn["text"] + _caption(turn), "user", turn["dia_id"] in gold) for turn in turns]


def _caption(turn: dict[str, Any]) -> str:
    return f" [shared photo: {turn['blip_caption']}]" if turn.get("blip_caption") else ""


def auc(gold: Iterable[float], others: Iterable[float]) -> float:
    """Return the probability that one of `gold` is above one of `others`, ties counting half; NaN without either."""
    gold, others = list(gold), sorted(others)
    if not gold or not others:
        return float("nan")
    wins = sum(bisect_left(others, value) + bisect_right(others, value) for value in gold) / 2
    return wins / (len(gold) * len(others))


def row(label: str, turns: Sequence[Turn]) -> str:
    """Return one line of the table."""
    scores = [score_importance(turn.content, role=turn.role) for turn in turns]
    gold = [score for score, turn in zip(scores, turns, strict=True) if turn.gold]

    def separation(measure: Callable[[Turn], float]) -> float:
        return auc((measure(t) for t in turns if t.gold), (measure(t) for t in turns if not t.gold))

    def share(test: Callable[[float], bool], values: Sequence[float] = scores) -> str:
        return f"{statistics.fmean(map(test, values)) if values else float('nan'):>12.1%}"

    def placed(score: float) -> bool:
        return score > STRAIGHT_TO_LONG_TERM

    def small(score: float) -> bool:
        return score < SMALL_TALK

    def kept(score: float) -> bool:
        return score >= KEPT

    return (
        f"{label:<20}{len(turns):>6}{len(gold):>6}"
        f"{separation(lambda turn: score_importance(turn.content, role=turn.role)):>8.3f}"
        f"{separation(lambda turn: len(turn.content)):>8.3f}"
        f"{share(placed)}{share(kept)}{share(small)}"
        f"{share(placed, gold)}{share(kept, gold)}"
    )


def microseconds(contents: Sequence[str]) -> list[float]:
    """Return, sorted, the time of scoring each text: the best of `REPEATS`, so that other programs count less."""
    score_importance("")
    best = [float("inf")] * len(contents)
    for _ in range(REPEATS):
        for place, content in enumerate(contents):
            start = time.perf_counter()
            score_importance(content)
            best[place] = min(best[place], (time.perf_counter() - start) * 1e6)
    return sorted(best)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table for the file named on the command line."""
    parser = argparse.ArgumentParser(prog="python -m langchain_tiered_memory.bench.importance")
    parser.add_argument("file", type=Path)
    parser.add_argument("--tuned", type=int, default=TUNED, help="how many conversations to report apart")
    options = parser.parse_args(arguments)
    talks = read(options.file)
    spoken = [[turn for turn in talk if turn.role == "user"] for talk in talks]
    answers = [turn for talk in talks for turn in talk if turn.role == "assistant"]
    print(f"command   {parser.prog} {options.file.name} --tuned {options.tuned}")
    print(f"data      {options.file.name}: {len(talks)} conversations; gold are the turns that a question rests on")
    print("baseline  the length of the turn")
    print(
        f"{'turns of':<20}{'turns':>6}{'gold':>6}{'AUC':>8}{'length':>8}"
        f"{'> 0.8':>12}{'>= 0.5':>12}{'< 0.3':>12}{'gold > 0.8':>12}{'gold >= 0.5':>12}"
    )
    print(row(f"users, the first {options.tuned}", [turn for talk in spoken[: options.tuned] for turn in talk]))
    print(row("users, the others", [turn for talk in spoken[options.tuned :] for turn in talk]))
    print(row("users, all", [turn for talk in spoken for turn in talk]))
    if answers:
        print(row("assistants, all", answers))
    times = microseconds([turn.content for talk in spoken for turn in talk][:TIMED])
    print(f"time      p50 {times[len(times) // 2]:.0f} µs, p95 {times[len(times) * 95 // 100]:.0f} µs of {len(times)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
