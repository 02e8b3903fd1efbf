"""The demo: what its conversation is made of, and what is remembered of it."""

from __future__ import annotations

import json
from datetime import timedelta
from itertools import pairwise
from pathlib import Path

import pytest
from typer.testing import CliRunner

from langchain_tiered_memory import ConfigError, Tier
from langchain_tiered_memory.cli.app import app
from langchain_tiered_memory.cli.demo import demo_messages, demo_talks, run_demo
from langchain_tiered_memory.cli.demo_story import Answer, Fate, Recalled, Step, Story
from langchain_tiered_memory.cli.showing import two_days_later
from langchain_tiered_memory.core.reports import ConsolidationReport
from langchain_tiered_memory.system import MemorySystem

KEPT = (
    "Before I forget it: the spare key is under the blue flowerpot by the shed.",
    "I have a dentist appointment on Thursday at 8.",
    "I planted tomatoes in the yard, from seeds that Torunn gave me.",
    "I can't stand the smell of the new paint in the hallway.",
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("demo") / "kept"


@pytest.fixture(scope="module")
def story(folder: Path) -> Story:
    """The demo on SQLite and Chroma in a folder, with the default embedder."""
    return run_demo(folder)


def answer(recalled: Recalled, question: str, *, earlier: bool = False) -> Answer:
    return next(one for one in recalled.answers if one.question == question and (one.as_of is not None) is earlier)


def test_the_conversation_takes_five_weeks() -> None:
    talks, messages = demo_talks(), demo_messages()

    assert len({message.id for message in messages}) == len(messages) == sum(len(talk.messages) for talk in talks)
    assert 60 <= len(messages) <= 100
    times = [message.created_at for message in messages if message.created_at is not None]
    assert times == sorted(times)
    assert timedelta(weeks=5) <= times[-1].date() - times[0].date() < timedelta(weeks=6)
    assert all(later.began - talk.began > timedelta(days=2) for talk, later in pairwise(talks))


def test_every_message_is_placed_by_its_importance(story: Story) -> None:
    """What is above 0.8 goes to long-term memory, small talk to short-term memory, and there is plenty of both."""
    placed = story.remembered.placed

    assert [one.content for one in placed] == [message.text for message in demo_messages()]
    assert all((one.tier is Tier.LONG_TERM) is (one.importance > 0.8) for one in placed)
    assert sum(day.long_term for day in story.remembered.days) >= 10
    assert sum(one.importance < 0.2 for one in placed) >= 30


def test_every_day_but_the_last_is_over_and_accounted_for(story: Story) -> None:
    *over, last = story.remembered.days

    assert all(day.messages == day.long_term + day.short_term for day in story.remembered.days)
    assert all(day.short_term == day.promoted + day.let_go for day in over)
    assert (last.promoted, last.let_go) == (0, 0)


def test_the_questions_are_answered(story: Story) -> None:
    best = answer(story.recalled, "Is peanut butter safe for me?").hits[0]
    assert "I am allergic to peanuts." in best.content
    race = answer(story.recalled, "Which race am I training for?").hits
    assert any("half marathon" in hit.content for hit in race)
    work = " ".join(hit.content for hit in answer(story.recalled, "Where do I work?").hits)
    assert "Halden Maps" in work
    assert "Lumen Ferries" in work
    reads = [one.hits[0].access_count for one in story.recalled.answers if one.question == "Where is the spare key?"]
    assert reads == [1, 2, 3]
    for one in story.recalled.answers:
        for hit in one.hits:
            assert sum(part.contribution for part in hit.explanation.values()) == pytest.approx(hit.score, abs=1e-5)


def test_consolidation_promotes_what_was_read_and_finds_what_superseded_what(story: Story) -> None:
    found = story.consolidated

    assert [one.content for one in found.promoted] == [KEPT[0]]
    assert found.report == ConsolidationReport(
        promoted=1, superseded=2, facts=len(found.facts), kept=story.remembered.days[-1].short_term - 1
    )
    by_id = {one.id: one for one in found.facts}
    replaced = {one.content: by_id[one.superseded_by].content for one in found.facts if one.superseded_by}
    assert replaced == {
        "I work at Halden Maps.": "I work at Lumen Ferries now",
        "I live in Bergen, up a hill with far too many stairs.": "I live in Stavanger now, on the ground floor.",
    }
    assert {"I am allergic to peanuts.", "My name is Nora."} <= {one.content for one in found.facts if one.current}


@pytest.mark.parametrize(
    ("question", "now", "then"),
    [("Where do I work?", "Lumen Ferries", "Halden Maps"), ("Where do I live?", "Stavanger", "Bergen")],
)
def test_after_the_change_the_present_value_answers_and_as_of_the_earlier_one(
    story: Story, question: str, now: str, then: str
) -> None:
    assert now in answer(story.recalled_again, question).hits[0].content
    assert then in answer(story.recalled_again, question, earlier=True).hits[0].content


def test_two_days_later_exactly_these_are_left_of_the_last_day(story: Story, folder: Path) -> None:
    """The report says so, and so does the store when it is opened again."""
    kept = {one.memory.content: one.fate for one in story.left.outcomes if one.fate is not Fate.LET_GO}
    assert kept == {KEPT[0]: Fate.READ, KEPT[1]: Fate.AT_ONCE, KEPT[2]: Fate.PROMOTED, KEPT[3]: Fate.PROMOTED}

    last = demo_talks()[-1].session_id
    with MemorySystem.open(folder).sync as memory:
        held = memory.list("nora", filter={"session_id": last, "origin": "session"})
        assert memory.status("nora").short_term == 0
    assert {one.content for one in held} == set(KEPT)
    assert {one.tier for one in held} == {Tier.LONG_TERM}


def test_the_table_of_what_is_left_gives_a_reason_for_each(story: Story) -> None:
    _, _, *rows = two_days_later(story.left).splitlines()

    assert len(rows) == len(demo_talks()[-1].messages)
    assert rows[0] == "| 0.27 | 0 | Nora: Hello again! Back from work. | let go at its expiry |"
    kept = [row for row in rows if "| kept: " in row]
    assert [row.split(" | ")[1:] for row in kept] == [
        ["3", f"Nora: {KEPT[0]}", "kept: read 3 times, promoted by consolidate |"],
        ["0", f"Nora: {KEPT[1]}", "kept: above 0.8, long-term at once |"],
        ["0", f"Nora: {KEPT[2]}", "kept: at least 0.5, promoted at its expiry |"],
        ["0", f"Nora: {KEPT[3]}", "kept: at least 0.5, promoted at its expiry |"],
    ]


def test_the_demo_is_the_same_in_memory_and_tells_of_each_step_as_it_is_done(story: Story) -> None:
    steps: list[Step] = []
    ticks: list[tuple[int, int]] = []

    again = run_demo(":memory:", tell=steps.append, tick=lambda done, total: ticks.append((done, total)))

    assert steps == [again.remembered, again.recalled, again.consolidated, again.recalled_again, again.left]
    assert ticks[-1] == (len(demo_messages()), len(demo_messages()))
    assert again.remembered.days == story.remembered.days
    assert two_days_later(again.left) == two_days_later(story.left)
    for mine, other in ((again.recalled, story.recalled), (again.recalled_again, story.recalled_again)):
        assert [[hit.content for hit in one.hits] for one in mine.answers] == [
            [hit.content for hit in one.hits] for one in other.answers
        ]


def test_a_folder_with_something_in_it_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_text("mine", encoding="utf-8")

    with pytest.raises(ConfigError, match="holds something already"):
        run_demo(tmp_path)

    assert [path.name for path in tmp_path.iterdir()] == ["letter.txt"]


def test_the_command_names_every_step_and_what_to_try_next(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    kept = str(tmp_path / "my demo")
    shown = CliRunner().invoke(app, ["demo", "--keep", kept])

    assert (shown.exit_code, shown.stderr) == (0, "")
    places = [
        shown.stdout.index(name)
        for name in ("1. Remember", "2. Recall", "3. Consolidate", "4. Recall again", "5. Two days later", "Now try")
    ]
    assert places == sorted(places)
    for words in (
        "94 messages: ",
        "asked 3 times that evening",
        "superseded by: I work at Lumen Ferries now",
        "as of ",
    ):
        assert words in shown.stdout
    assert f"--path '{kept}' --user nora" in shown.stdout

    found = CliRunner().invoke(app, ["recall", "Who is my boss?", "--path", kept, "--user", "nora", "--json"])
    assert "Torunn" in json.loads(found.stdout)["hits"][0]["content"]
    again = CliRunner().invoke(app, ["demo", "--keep", kept])
    assert (again.exit_code, again.stdout.count("1. Remember")) == (1, 0)
    assert "holds something already" in again.stderr


def test_the_command_gives_the_steps_as_data() -> None:
    shown = CliRunner().invoke(app, ["demo", "--json"])

    assert shown.exit_code == 0
    steps = json.loads(shown.stdout)
    assert list(steps) == ["remembered", "recalled", "consolidated", "recalled_again", "left"]
    fates = [one["fate"] for one in steps["left"]["outcomes"]]
    assert fates.count("let_go") == len(fates) - len(KEPT)
