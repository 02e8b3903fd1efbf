"""How well a memory follows changes of mind: the current value above the outdated one, and nothing true retired.

    python -m langchain_tiered_memory.bench.updates [--split both] [--extractor both] [--k 10]
        [--latest-first] [--json FILE] [--failures 0]

Each half of the data is one user, who says everything: a hundred changes of mind, thirty things that only look like
one, and a thousand facts that have nothing to do with them, over fifteen months, a session a day. One user with all of
it is the hard case: every value competes with everything else that is known. The messages are added with their dates
through `session.add`; then every question is asked before and after `consolidate(everything=True)`.

Printed are, with Wilson intervals of 95 %: the share of questions whose current value is recalled above the outdated
one, or without it; what became of the outdated values among the facts; and how many true statements were retired. The
baselines are no consolidation, and no consolidation with the recipe that prefers the latest (`RankingWeights.RECENT`).
The model is scripted: it answers from the notes of whoever wrote the data, and so shows what a perfect one would give.
`--failures` prints so many of those that the rules get wrong, of the development half alone.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from langchain_tiered_memory.bench.baselines import Remembering
from langchain_tiered_memory.bench.updates_data import SPLITS, read_life
from langchain_tiered_memory.bench.updates_report import failures, figures, lines
from langchain_tiered_memory.bench.updates_run import EXTRACTORS, RULES, measured
from langchain_tiered_memory.core.config import RankingWeights
from langchain_tiered_memory.embedding import default_embedder

_BOTH = "both"


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, and print the tables."""
    parser = argparse.ArgumentParser(prog="python -m langchain_tiered_memory.bench.updates")
    parser.add_argument("--split", choices=(*SPLITS, _BOTH), default=_BOTH, help="which half of the data")
    parser.add_argument("--extractor", choices=(*EXTRACTORS, _BOTH), default=_BOTH, help="rules, a scripted model")
    parser.add_argument("--k", type=int, default=10, help="how many hits are asked for")
    parser.add_argument(
        "--latest-first", action="store_true", help="ask with latest_first, but for the baseline RECENT"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures as JSON")
    parser.add_argument("--failures", type=int, default=0, metavar="N", help="print so many of the development half")
    options = parser.parse_args(arguments)
    splits = SPLITS if options.split == _BOTH else (options.split,)
    extractors = EXTRACTORS if options.extractor == _BOTH else (options.extractor,)
    embedder = Remembering(default_embedder(), lambda _: None)
    weights = replace(RankingWeights.DEFAULT, latest_first=options.latest_first)
    done = [measured(read_life(split), embedder, extractors, options.k, weights) for split in splits]
    result = figures(done, options.k, embedder.model_id)
    command = f"{parser.prog} --split {options.split} --extractor {options.extractor} --k {options.k}"
    command += " --latest-first" * options.latest_first
    print(f"command   {command}")
    print("\n".join(lines(result)))
    if options.json is not None:
        options.json.write_text(json.dumps({"command": command, **result}, indent=1) + "\n", encoding="utf-8")
    if options.failures and RULES in extractors:
        found = [line for one in done for line in failures(one, options.failures)]
        print("\n".join(found))
    return 0


if __name__ == "__main__":
    sys.exit(main())
