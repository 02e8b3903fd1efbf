"""The figures of the changes of mind, as JSON and as tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from langchain_tiered_memory.bench import updates_judge as judge
from langchain_tiered_memory.bench.updates_data import DEVELOPMENT, KINDS, Pair
from langchain_tiered_memory.bench.updates_run import BASELINES, MODEL, RULES, Kept, Measured

ALL = "all"
BOTH = "both"
FALSE = ("unrelated", "mixed", "controls", "current")
"""True statements that were retired: unrelated facts; those that became one with another; controls of which one was;
current values."""
_WIDTH = 24

_GROUPS: Mapping[str, Callable[[Pair], bool]] = {
    ALL: lambda _: True,
    **{kind: lambda pair, kind=kind: pair.kind == kind for kind in KINDS},  # type: ignore[misc] # bound
    "with a cue": lambda pair: pair.cue,
    "without a cue": lambda pair: not pair.cue,
    "the same words": lambda pair: pair.wording == "same",
    "other words": lambda pair: pair.wording != "same",
    "to an assistant": lambda pair: pair.old.speaker is None,
    "between friends": lambda pair: pair.old.speaker is not None,
}


def figures(done: Sequence[Measured], k: int, embedder: str) -> dict[str, Any]:
    """Return all figures as JSON takes them; of two lives also those of both together.

    Args:
        done: The lives that were measured, with the same extractors.
        k: How many hits were asked for.
        embedder: The identity of the embedder.
    """
    splits = {one.life.name: _figures([one]) for one in done}
    if len(done) > 1:
        splits[BOTH] = _figures(done)
    return {"k": k, "embedder": embedder, "splits": splits}


def _figures(done: Sequence[Measured]) -> dict[str, Any]:
    first = done[0]
    return {
        "pairs": sum(len(one.life.pairs) for one in done),
        "controls": sum(len(one.life.controls) for one in done),
        "unrelated": sum(len(one.life.unrelated) for one in done),
        "groups": {name: _group(done, test) for name, test in _GROUPS.items() if _any(done, test)},
        "false": {name: _false(done, [one.kept[name] for one in done]) for name in first.kept},
        "single": {
            pair.id: {
                "order": {way: found[pair.id] for way, found in one.orders.items()},
                "end": {name: kept.ends[pair.id] for name, kept in one.kept.items()},
            }
            for one in done
            for pair in one.life.pairs
        },
    }


def _any(done: Sequence[Measured], test: Callable[[Pair], bool]) -> bool:
    return any(test(pair) for one in done for pair in one.life.pairs)


def _group(done: Sequence[Measured], test: Callable[[Pair], bool]) -> dict[str, Any]:
    chosen = [(one, pair.id) for one in done for pair in one.life.pairs if test(pair)]

    def shares(found: Sequence[str], names: Sequence[str]) -> dict[str, Any]:
        return {name: asdict(judge.share(found.count(name), len(found))) for name in names}

    return {
        "pairs": len(chosen),
        "order": {way: shares([one.orders[way][name] for one, name in chosen], judge.ORDERS) for way in done[0].orders},
        "outdated": {by: shares([one.kept[by].ends[name] for one, name in chosen], judge.ENDS) for by in done[0].kept},
    }


def _false(done: Sequence[Measured], kept: Sequence[Kept]) -> dict[str, Any]:
    pairs, controls, facts = (
        sum(len(getattr(one.life, name)) for one in done) for name in ("pairs", "controls", "unrelated")
    )
    lost = {
        "unrelated": (sum(len(one.unrelated) for one in kept), facts),
        "mixed": (sum(len(one.mixed) for one in kept), facts),
        "controls": (sum(len(one.controls) for one in kept), controls),
        "current": (sum(len(one.current_retired) for one in kept), pairs),
    }
    return {
        **{name: asdict(judge.share(*found)) for name, found in lost.items()},
        "drawn": {
            "unrelated": sum(one.drawn[0] for one in kept),
            "controls": sum(one.drawn[1] for one in kept),
        },
    }


def lines(result: Mapping[str, Any]) -> Iterator[str]:
    """Iterate over the lines of all tables."""
    yield f"embedder  {result['embedder']}; {result['k']} hits are asked for"
    yield "baseline  no consolidation; and with weights that prefer the latest (RECENT)"
    yield "rules     after consolidation with the default extractor"
    yield "model     after consolidation with a scripted model that errs never: the most that any model could give"
    for name, split in result["splits"].items():
        yield ""
        yield (
            f"data      {name.replace('_', ' ')}: {split['pairs']} changes of mind, {split['controls']} controls, "
            f"{split['unrelated']} unrelated facts"
        )
        yield from _orders(split["groups"])
        yield from _outdated(split["groups"])
        yield from _retired(split["false"])


def _orders(groups: Mapping[str, Any]) -> Iterator[str]:
    ways = list(groups[ALL]["order"])
    yield "the current value above the outdated one, or without it; +n: neither was recalled"
    yield f"{'':<{_WIDTH}}{'pairs':>6}" + "".join(f"{way:>{_WIDTH}}" for way in ways)
    for name, group in groups.items():
        cells = (_share(group["order"][way][judge.ABOVE], group["order"][way][judge.LOST]["count"]) for way in ways)
        yield f"{name:<{_WIDTH}}{group['pairs']:>6}" + "".join(f"{cell:>{_WIDTH}}" for cell in cells)


def _outdated(groups: Mapping[str, Any]) -> Iterator[str]:
    yield "what became of the outdated value: retired by the current one / by another / still holds / never a fact"
    for name, group in groups.items():
        cells = (
            f"{by} {_share(ends[judge.RIGHT])} " + "/".join(str(ends[one]["count"]) for one in judge.ENDS)
            for by, ends in group["outdated"].items()
        )
        yield f"{name:<{_WIDTH}}{group['pairs']:>6}" + "".join(f"{cell:>{_WIDTH + 18}}" for cell in cells)


def _retired(false: Mapping[str, Any]) -> Iterator[str]:
    yield "true statements that were retired, or made one with another"
    named = ("unrelated facts retired", "unrelated facts mixed", "controls retired", "current values retired")
    for key, name in zip(FALSE, named, strict=True):
        cells = "".join(f"{by} {_share(one[key])} {one[key]['count']}".rjust(_WIDTH + 18) for by, one in false.items())
        yield f"{name:<{_WIDTH}}{next(iter(false.values()))[key]['of']:>6}{cells}"
    drawn = "; ".join(
        f"{by}: {one['drawn']['unrelated']} unrelated facts, {one['drawn']['controls']} statements of controls"
        for by, one in false.items()
    )
    yield f"drawn upon: {drawn}"


def _share(of: Mapping[str, Any], lost: int = 0) -> str:
    more = f" +{lost}" if lost else ""
    return f"{of['share']:.1%} [{of['low']:.0%}, {of['high']:.0%}]{more}"


def failures(one: Measured, most: int) -> Iterator[str]:
    """Iterate over lines that tell of some pairs of the development half that the rules did not get right."""
    if one.life.name != DEVELOPMENT:
        return
    ends, orders = one.kept[RULES].ends, one.orders[RULES]
    wrong = [pair for pair in one.life.pairs if orders[pair.id] != judge.ABOVE or ends[pair.id] != judge.RIGHT]
    chosen = wrong[:: max(1, len(wrong) // most)][:most]  # of all kinds, which follow each other in the data
    yield ""
    yield f"failures  {len(wrong)} of the {one.life.name} half, with the rules; {len(chosen)} of them"
    for pair in chosen:
        ways = ", ".join(
            f"{way}: {one.orders[way][pair.id]}" for way in (*BASELINES, RULES, MODEL) if way in one.orders
        )
        yield f"{pair.id} {pair.kind}: outdated value {ends[pair.id]}; {ways}"
        for label, said in (("old", pair.old), ("new", pair.new)):
            yield f"     {label} {said.at:%Y-%m-%d} {said.text}"
        yield f"     ?   {pair.question}"
    for name in (*one.kept[RULES].controls, *one.kept[RULES].unrelated, *one.kept[RULES].mixed)[:most]:
        yield f"retired falsely, or made one with another: {name}"
