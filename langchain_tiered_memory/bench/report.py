"""The report of a measurement: the figures, and all that has to be known to judge them and to have them again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from langchain_tiered_memory import __version__
from langchain_tiered_memory.bench import figures
from langchain_tiered_memory.bench.baselines import K1, B
from langchain_tiered_memory.bench.corpora import Corpus
from langchain_tiered_memory.bench.figures import Group
from langchain_tiered_memory.bench.recall import BM25, DENSE, Row, spoken
from langchain_tiered_memory.core.config import RankingWeights

TITLES = {"locomo": "LoCoMo", "longmemeval": "LongMemEval", "beam": "BEAM"}
TUNED_ON: Mapping[str, frozenset[str]] = {
    "locomo": frozenset({"conv-26", "conv-30", "conv-41", "conv-42", "conv-43"}),
    "beam": frozenset(f"{where}{number}" for where in ("100K/", "beam-") for number in range(1, 9)),
}
"""Benchmark to the conversations that the numbers of relevance, and of the default recipe, were chosen on."""
TUNED = (
    "How relevance is joined, and the default recipe, was chosen on the first five conversations of LoCoMo-10 and on "
    "the first eight chats of BEAM-100K; nothing was chosen on the others, or on LongMemEval."
)
BASELINES = {
    BM25: f"BM25 over the same analyser's terms of day, speaker and text (k1={K1}, b={B}, the best tried on LoCoMo)",
    DENSE: "the cosine of question and turn (day, speaker and text, as far as it is read), by the same embedder",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What was measured, how, on what, and what came out.

    Attributes:
        benchmark: "locomo", "longmemeval" or "beam".
        source: The name of the file or folder.
        version: Of this package.
        embedder: Identity of the embedder, of the memory and of the dense baseline.
        recipe: Name of the memory's ranking recipe.
        weights: Its weights.
        k: How many hits were asked for.
        roles: What was remembered; empty for all.
        conversations: Those that were asked about.
        turns: Those that were remembered.
        questions: Those that were asked.
        left_out: Why others were not, and how many.
        baselines: Baseline to what it is.
        intervals: How they were made.
        tuned: What was tuned on what.
        tuned_on: Conversations of this file among those.
        groups: The figures.
    """

    benchmark: str
    source: str
    version: str
    embedder: str
    recipe: str
    weights: Mapping[str, float]
    k: int
    roles: tuple[str, ...]
    conversations: int
    turns: int
    questions: int
    left_out: Mapping[str, int]
    baselines: Mapping[str, str]
    intervals: Mapping[str, object]
    tuned: str
    tuned_on: tuple[str, ...]
    groups: tuple[Group, ...]

    @property
    def title(self) -> str:
        """The benchmark as its authors write it."""
        return TITLES[self.benchmark]

    @property
    def whole(self) -> Group:
        """The figures of all questions."""
        return next(group for group in self.groups if group.kind == "all")


def reported(
    corpus: Corpus,
    rows: Sequence[Row],
    *,
    embedder: str,
    recipe: str,
    weights: RankingWeights,
    k: int,
    roles: Sequence[str],
) -> Report:
    """Return the report of a measurement's rows."""
    known = TUNED_ON.get(corpus.name, frozenset())
    tuned = frozenset(place for place, talk in enumerate(corpus.talks) if talk.id in known)
    return Report(
        benchmark=corpus.name,
        source=corpus.source,
        version=__version__,
        embedder=embedder,
        recipe=recipe,
        weights=weights.weights(),
        k=k,
        roles=tuple(roles),
        conversations=len(corpus.talks),
        turns=sum(len(spoken(talk, roles)) for talk in corpus.talks),
        questions=sum(len(talk.questions) for talk in corpus.talks),
        left_out=corpus.left_out,
        baselines=BASELINES,
        intervals={
            "level": figures.LEVEL,
            "by": "bootstrap over conversations",
            "draws": figures.DRAWS,
            "seed": figures.SEED,
        },
        tuned=TUNED,
        tuned_on=tuple(corpus.talks[place].id for place in sorted(tuned)),
        groups=figures.grouped(rows, len(corpus.talks), tuned),
    )
