"""The benchmark of changes of mind: its data are what they say, and its figures what a count by hand gives."""

from __future__ import annotations

import json
from collections import Counter
from datetime import UTC, datetime, timedelta
from itertools import chain
from pathlib import Path

import pytest

from langchain_tiered_memory.bench import updates, updates_judge
from langchain_tiered_memory.bench.updates_data import KINDS, SPLITS, Control, Life, Pair, Said, read_life, unrelated
from langchain_tiered_memory.bench.updates_judge import order, says, share
from langchain_tiered_memory.bench.updates_report import failures, figures, lines
from langchain_tiered_memory.bench.updates_run import BEFORE, EXTRACTORS, MODEL, RECENT, RULES, dated, measured
from langchain_tiered_memory.core.model import Memory
from langchain_tiered_memory.core.text import analyze
from langchain_tiered_memory.embedding import HashedEmbedder

START = datetime(2025, 1, 6, 9, tzinfo=UTC)
LIVES = {split: read_life(split) for split in SPLITS}
EVERY_LIFE = pytest.mark.parametrize("life", LIVES.values(), ids=LIVES)
PAIRS = [pair for life in LIVES.values() for pair in life.pairs]
EVERY_PAIR = pytest.mark.parametrize("pair", PAIRS, ids=[pair.id for pair in PAIRS])


@EVERY_LIFE
def test_a_life_has_a_hundred_changes_of_mind_thirty_controls_and_a_thousand_other_facts(life: Life) -> None:
    assert (len(life.pairs), len(life.controls), len(life.unrelated)) == (100, 30, 1_000)
    assert 40 <= sum(pair.cue for pair in life.pairs) <= 60
    assert 40 <= sum(pair.wording == "same" for pair in life.pairs) <= 60
    assert {pair.kind for pair in life.pairs} == set(KINDS)


def test_both_halves_have_the_same_kinds_and_no_text_in_common() -> None:
    one, other = LIVES.values()

    assert Counter(pair.kind for pair in one.pairs) == Counter(pair.kind for pair in other.pairs)
    assert {said.text for said in one.said()} & {said.text for said in other.said()} == {
        said.text for said in unrelated()
    }


@EVERY_LIFE
def test_nothing_is_said_twice_and_no_attribute_of_anybody_occurs_twice(life: Life) -> None:
    said = list(life.said())
    slots = [(pair.new.speaker, pair.new.slot) for pair in life.pairs]
    slots += [(one.speaker, one.slot) for control in life.controls for one in control.both if one.slot]
    slots += [(one.speaker, one.slot) for one in life.unrelated if one.slot]

    assert len({one.text for one in said}) == len({one.id for one in said}) == len(said)
    assert len(set(slots)) == len(slots)


@EVERY_PAIR
def test_a_pair_goes_forward_in_time_and_its_values_are_in_their_own_statement_alone(pair: Pair) -> None:
    old, new = pair.old, pair.new
    assert old.at is not None
    assert new.at is not None

    assert new.at - old.at >= timedelta(days=7)
    for said in (old, new):
        assert says(said.text, said.values[:1])
        assert says(said.statement, said.values)
    assert not says(old.text, new.values)
    assert not says(old.statement, new.values)
    assert old.slot == new.slot is not None
    if pair.kind not in {"negation", "correction"}:  # these may name what they take back
        assert not says(new.text, old.values)
    if pair.kind != "negation":
        assert not says(new.statement, old.values)
        assert not says(pair.question, (*old.values, *new.values))


@EVERY_LIFE
def test_what_looks_alike_and_stays_true_never_shares_a_single_valued_attribute(life: Life) -> None:
    for control in life.controls:
        first, second = control.both
        assert says(first.text, first.values)
        assert says(second.text, second.values)
        assert not says(first.text, second.values)
        assert not says(second.text, first.values)
        assert first.slot is None or first.slot != second.slot


def test_the_thousand_facts_are_always_the_same_and_of_at_least_forty_attributes() -> None:
    facts = unrelated()

    assert facts == unrelated()
    assert len({fact.statement for fact in facts}) == 1_000
    assert len({fact.id.split("-")[-1] for fact in facts}) >= 40
    assert all(fact.text[0].isupper() and "{" not in fact.text + fact.statement for fact in facts)


def test_the_data_are_small_and_in_the_package() -> None:
    folder = Path(updates.__file__).parent / "data"

    assert sum(file.stat().st_size for file in folder.glob("updates_*")) < 200_000


@EVERY_LIFE
def test_every_statement_of_the_perfect_model_is_borne_out_by_its_message(life: Life) -> None:
    nobody = {*analyze("user"), *analyze("the")}

    for one in life.said():
        words = {*analyze(one.statement)} - nobody - {*analyze(one.speaker or "")}
        assert not words.isdisjoint(analyze(one.text)), one.statement


@EVERY_LIFE
def test_messages_are_said_in_order_and_each_once(life: Life) -> None:
    talk = dated(life)

    assert [at for at, _ in talk] == sorted(at for at, _ in talk)
    assert Counter(said.id for _, said in talk) == Counter(said.id for said in life.said())
    assert all(said.at in {None, at} for at, said in talk)


def said(
    name: str, text: str, value: str, day: int | None = None, slot: str | None = None, *, statement: str | None = None
) -> Said:
    at = None if day is None else START + timedelta(days=day)
    return Said(id=name, text=text, at=at, values=(value,), statement=statement or text.removesuffix("."), slot=slot)


HOME = Pair(
    "p1",
    "attribute",
    cue=False,
    wording="same",
    question="Where do I live?",
    old=said("p1-old", "I live in Leeds.", "Leeds", 1, "home"),
    new=said("p1-new", "I live in Bristol.", "Bristol", 90, "home"),
)
SHED = Pair(
    "p2",
    "plan",
    cue=True,
    wording="different",
    question="What stands behind the greenhouse?",
    old=said("p2-old", "Behind the greenhouse stands, as of today, what grandfather called the ark.", "ark", 2, "shed"),
    new=said(
        "p2-new",
        "Greenhouse news: the old thing collapsed, and it is roses there now.",
        "roses",
        60,
        "shed",
        statement="What stands behind the greenhouse is roses",
    ),
)
LIKES = Control(
    "c1", "likes", (said("c1-first", "I love figs.", "figs", 5), said("c1-second", "I love fog.", "fog", 9))
)
OTHERS = (said("u1", "The drill is kept in the cellar.", "cellar"), said("u2", "I own a canoe.", "canoe"))
SMALL = Life("development", (HOME, SHED), (LIKES,), OTHERS)


def test_a_handful_of_pairs_gives_the_figures_that_a_count_by_hand_gives() -> None:
    found = measured(SMALL, HashedEmbedder())

    assert set(found.orders) == {BEFORE, RECENT, RULES, MODEL}
    assert found.kept[RULES].ends == {"p1": "right", "p2": "no fact"}
    assert found.kept[MODEL].ends == {"p1": "right", "p2": "right"}
    for kept in found.kept.values():
        assert kept.controls == kept.unrelated == kept.mixed == kept.current_retired == ()
    assert found.kept[MODEL].drawn == (2, 2)

    groups = figures([found], 10, "hashed")["splits"]["development"]["groups"]
    assert groups["all"]["outdated"][RULES]["right"] == {
        "count": 1,
        "of": 2,
        "share": 0.5,
        "low": pytest.approx(0.0945, abs=1e-4),
        "high": pytest.approx(0.9055, abs=1e-4),
    }
    assert groups["plan"]["outdated"][RULES]["no fact"]["count"] == groups["plan"]["pairs"] == 1


def test_a_perfect_model_puts_what_is_current_above_what_is_outdated() -> None:
    found = measured(SMALL, HashedEmbedder(), (MODEL,))

    assert found.orders[MODEL] == {"p1": "above", "p2": "above"}


def test_a_model_that_takes_two_true_statements_for_one_attribute_is_found_out() -> None:
    figs, fog = (
        said(one.id, one.text, one.values[0], day, "snack") for one, day in zip(LIKES.both, (5, 9), strict=True)
    )
    drill, canoe = (said(one.id, one.text, one.values[0], None, "things") for one in OTHERS)
    muddled = Life("development", (HOME, SHED), (Control("c1", "likes", (figs, fog)),), (drill, canoe))

    kept = measured(muddled, HashedEmbedder(), (MODEL,)).kept[MODEL]

    assert kept.controls == ("c1",)
    assert kept.unrelated == ("u1",)  # of two facts of any day, the one said first
    false = figures([measured(muddled, HashedEmbedder(), (MODEL,))], 10, "hashed")["splits"]["development"]["false"]
    assert (false[MODEL]["unrelated"]["share"], false[MODEL]["controls"]["share"]) == (0.5, 1.0)


def memory(name: str, content: str, *sources: str, **options: object) -> Memory:
    plain: dict[str, object] = {
        "memory_type": "fact" if sources else "episode",
        "importance": 0.5,
        "created_at": START,
        "last_accessed": START,
        "access_count": 0,
    }
    return Memory(content=content, id=name, source_ids=sources, **{**plain, **options})  # type: ignore[arg-type]


OLD = memory("p1-old", "I live in Leeds.")
NEW = memory("p1-new", "I live in Bristol.")
OLD_FACT = memory("f1", "The user lives in leeds", "p1-old")
NEW_FACT = memory("f2", "The user lives in Bristol", "p1-new")
BESIDE = memory("f3", "The user likes rain", "p1-new")
FROM_BOTH = memory("f4", "The user moved from Leeds to Bristol", "p1-old", "p1-new")


@pytest.mark.parametrize(
    ("hits", "expected"),
    [
        ([NEW, OLD], "above"),
        ([OLD, NEW], "below"),
        ([OLD_FACT, NEW_FACT], "below"),
        ([BESIDE, OLD], "below"),
        ([FROM_BOTH, OLD], "above"),
        ([NEW_FACT], "above"),
        ([OLD], "below"),
        ([BESIDE], "lost"),
        ([memory("x", "I live in Bristol, said somebody else")], "lost"),
        ([], "lost"),
    ],
)
def test_the_first_hit_that_states_a_value_decides(hits: list[Memory], expected: str) -> None:
    assert order(hits, HOME) == expected


@pytest.mark.parametrize(
    ("records", "expected"),
    [
        ([OLD, NEW], "no fact"),
        ([OLD, NEW, OLD_FACT, NEW_FACT], "kept"),
        ([memory("f1", "Lives in Leeds", "p1-old", superseded_by="f2"), NEW_FACT], "right"),
        ([memory("f1", "Lives in Leeds", "p1-old", superseded_by="f0"), memory("f0", "Lives in Rome", "m")], "wrong"),
        (
            [
                memory("f1", "Lives in Leeds", "p1-old", superseded_by="f0"),
                memory("f0", "Lives in Rome", "m", superseded_by="f2"),
                NEW_FACT,
            ],
            "right",
        ),
        ([memory("f1", "Lives in Leeds", "p1-old", valid_to=HOME.new.at)], "right"),
        ([memory("f1", "Lives in Leeds", "p1-old", valid_to=START)], "wrong"),
        ([memory("p1-old", "I live in Leeds.", superseded_by="p1-new"), NEW], "right"),
    ],
)
def test_an_outdated_value_is_retired_rightly_only_by_the_current_one(records: list[Memory], expected: str) -> None:
    assert updates_judge.end({one.id: one for one in records}, HOME) == expected


def test_different_facts_that_became_one_memory_are_found() -> None:
    drill, canoe = OTHERS
    one, other = memory("f1", drill.text, "u1"), memory("f2", canoe.text, "u2")

    assert updates_judge.mixed([one, other], OTHERS) == set()
    assert updates_judge.mixed([memory("f1", drill.text, "u1", "u2"), other], OTHERS) == {"u1", "u2"}
    assert updates_judge.mixed([memory("u1", drill.text, "u2")], OTHERS) == {"u1", "u2"}


def test_a_value_is_said_only_by_whole_words() -> None:
    assert says("we are NINE of us", ["nine"])
    assert not says("ninety of us", ["nine"])
    assert says("rent: 1,455.", ["1,455"])
    assert not says("11,455", ["1,455"])


def test_a_share_lies_in_its_interval_after_wilson() -> None:
    eight, none = share(8, 10), share(0, 1_000)

    assert [eight.share, eight.low, eight.high] == pytest.approx([0.8, 0.4902, 0.9433], abs=1e-4)
    assert [none.share, none.low, none.high] == pytest.approx([0.0, 0.0, 0.0038], abs=1e-4)
    assert (share(0, 0).low, share(0, 0).high) == (0.0, 1.0)


def test_the_command_prints_its_tables_and_writes_the_same_as_json(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "figures.json"
    halves = {split: Life(split, SMALL.pairs, SMALL.controls, SMALL.unrelated) for split in SPLITS}
    monkeypatch.setattr(updates, "read_life", halves.__getitem__)
    monkeypatch.setattr(updates, "default_embedder", HashedEmbedder)

    assert updates.main(["--json", str(file), "--failures", "5"]) == 0

    shown, told = capsys.readouterr().out, json.loads(file.read_text(encoding="utf-8"))
    assert list(told) == ["command", "k", "embedder", "splits"]
    assert list(told["splits"]) == [*SPLITS, "both"]
    both = told["splits"]["both"]
    assert (both["pairs"], both["controls"], both["unrelated"]) == (4, 2, 4)
    assert set(both["groups"]["all"]["order"]) == {BEFORE, RECENT, *EXTRACTORS}
    assert set(both["false"][RULES]) == {"unrelated", "mixed", "controls", "current", "drawn"}
    assert set(both["single"]["p1"]) == {"order", "end"}
    assert "scripted model that errs never" in shown
    assert told["command"] in shown


def test_of_the_failures_of_the_development_half_as_many_are_told_as_are_asked_for() -> None:
    found = measured(SMALL, HashedEmbedder(), (RULES,))

    told = "\n".join(failures(found, 1))

    assert "failures  1 of the development half" in told
    assert SHED.new.text in told
    assert HOME.new.text not in told


def test_the_texts_of_the_half_that_is_held_apart_are_never_printed() -> None:
    apart = Life("held_apart", SMALL.pairs, SMALL.controls, SMALL.unrelated)
    found = measured(apart, HashedEmbedder(), (RULES,))

    printed = "\n".join(chain(lines(figures([found], 10, "hashed")), failures(found, 5)))

    assert not any(one.text in printed for one in apart.said())
