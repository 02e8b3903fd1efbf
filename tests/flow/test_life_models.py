"""Embedding: what fails is found by its words and embedded later; another model is refused, and a way leads to it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from langchain_tiered_memory import MaintenanceSettings, Message, ModelMismatch, NewMemory, SearchSettings, Settings
from langchain_tiered_memory.embedding import HashedEmbedder
from tests.flow.systems import FailingEmbedder, House, with_settings

TIERS = ["short_term", "long_term"]


@pytest.mark.parametrize("tier", TIERS)
def test_an_embedder_that_fails_loses_nothing(house: House, tier: str) -> None:
    """An embedder that fails loses nothing: stored pending, found by keyword, embedded later."""
    embedder = FailingEmbedder()
    memory = house.open(embedder=embedder)
    embedder.fails = True
    stored = memory.remember("ada", "the garden gate is green", tier=tier)
    memory.remember("ada", "something else", tier=tier)
    assert stored.tier == tier
    assert memory.status("ada").pending == 2
    result = memory.recall("ada", "garden gate", 1)
    assert ([hit.id for hit in result], result.failed) == ([stored.id], ("embedder",))
    report = memory.maintain("ada")
    assert report.embedded == 0
    assert "told to fail" in report.failed[0]

    embedder.fails = False
    result = memory.recall("ada", "garden gate", 1, touch=False)
    assert (result[0].id, result.failed) == (stored.id, ())
    assert result[0].explanation["meaning"].value > 0
    assert memory.status("ada").pending == 0


def test_what_waits_is_embedded_by_maintenance_too(house: House) -> None:
    """The row is stored `pending`: … embedded by the indexer or by the next recall."""
    embedder = FailingEmbedder()
    memory = house.open(embedder=embedder)
    embedder.fails = True
    memory.remember_many("ada", [NewMemory(f"note {n}", importance=n % 2) for n in range(10)])
    embedder.fails = False
    assert memory.maintain("ada").embedded == 10
    assert memory.maintain("ada").embedded == 0


def test_any_error_of_somebody_elses_embedder_is_a_failure(house: House) -> None:
    """Any LangChain `Embeddings`, LlamaIndex `BaseEmbedding`, Chroma embedding function or callable plugs in."""
    broken = True

    def embed(texts: list[str]) -> list[list[float]]:
        if broken:
            raise TimeoutError("the service is down")
        return [[1.0, float(len(text) % 7)] for text in texts]

    memory = house.open(embedder=embed)
    memory.remember("ada", "the garden gate is green")
    assert memory.recall("ada", "gate").failed == ("embedder",)
    broken = False
    assert memory.recall("ada", "gate").failed == ()
    assert memory.status("ada").pending == 0


def test_a_text_is_embedded_once(house: House) -> None:
    """Count embedding calls per remembered message: one for a memory, none more for reading, promoting, importing
    the same."""
    embedder = FailingEmbedder()
    memory = house.open(embedder=embedder)
    memory.remember("ada", "we painted the garden gate green", importance=0.1)
    memory.session("ada", "s").add(Message("user", "hello there"), Message("system", "be kind"))
    memory.maintain("ada")
    assert embedder.asked == 2
    memory.consolidate("ada", everything=True)
    memory.maintain("ada")
    memory.reindex("ada")
    memory.list("ada")
    memory.session("ada", "s").window()
    assert embedder.asked == 2
    memory.recall("ada", "gate")
    assert embedder.asked == 3


def test_a_long_text_is_found_by_any_of_its_passages(house: House) -> None:
    """The later passages of a long text are stored pending and embedded by the next recall; at most 256 passages."""
    memory = house.open(embedder=dragons, settings=with_settings(search=SearchSettings(embed_pending=1000)))
    filler = "Nothing of note happened on that day, and the weather was as it always is. "
    text = filler * 60 + "The wyvern sleeps under the bakery. " + filler * 60
    stored = memory.remember("ada", text, importance=0.9)
    memory.remember_many("ada", [NewMemory(filler + str(n)) for n in range(20)])
    assert memory.status("ada").pending > 5
    hit = memory.recall("ada", "any dragons?", 1)[0]
    assert (hit.id, hit.content) == (stored.id, text)
    assert hit.explanation["meaning"].value == pytest.approx(0.9)  # that of a passage which does not come first
    assert memory.status("ada").pending == 0


def dragons(texts: list[str]) -> list[list[float]]:
    """Embed by topic: dragons, and everything else."""
    return [[1.0, 0.0] if "wyvern" in text or "dragon" in text else [0.0, 1.0] for text in texts]


def test_one_recall_embeds_a_bounded_number(house: House) -> None:
    """`embed_pending`: most pending passages that one recall embeds before it searches; the rest waits."""
    memory = house.open(settings=with_settings(search=SearchSettings(embed_pending=4)))
    memory.session("ada", "s").add(*[Message("user", f"message number {n}") for n in range(10)])
    memory.recall("ada", "message")
    assert memory.status("ada").pending == 6


# -- another model -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "size"), [("other", 256), ("other", 64)])
def test_another_model_is_refused_naming_both_and_the_way_out(folder_house: House, name: str, size: int) -> None:
    """The model's identity is stored; another one on an existing store gives `ModelMismatch` naming both and the way
    out; also of the same dimension."""
    memory = folder_house.open(embedder=FailingEmbedder("first"))
    stored = memory.remember("ada", "the garden gate is green", importance=0.9)
    memory.close()

    other = folder_house.open(embedder=FailingEmbedder(name, size))
    calls = (
        lambda: other.recall("ada", "gate"),
        lambda: other.remember("ada", "a note"),
        lambda: other.remember_many("ada", [NewMemory("a note")]),
        lambda: other.session("ada", "s").add(Message("user", "hi")),
        lambda: other.session("ada", "s").context("gate"),
        lambda: other.consolidate("ada"),
        lambda: other.update("ada", stored.id, content="x"),
        lambda: other.long_term.search("ada", "gate"),
    )
    for call in calls:
        with pytest.raises(ModelMismatch, match=rf"'first'.*'{name}'.*reindex") as error:
            call()
        assert (error.value.stored, error.value.given) == ("first", name)
    assert other.get("ada", stored.id) == stored  # what needs no model works
    assert other.session("ada", "s").transcript() == ()
    other.close()
    assert folder_house.open(embedder=FailingEmbedder("first")).list("ada") == (stored,)


def test_opening_with_another_model_changes_nothing_by_itself(folder_house: House) -> None:
    """Maintenance in the background does not embed anew what the owner was only told about."""
    busy = Settings(maintenance=MaintenanceSettings(automatic=True))
    memory = folder_house.open(embedder=FailingEmbedder("first"))
    memory.remember_many("ada", [NewMemory(f"note {n}", importance=n % 2) for n in range(10)])
    memory.maintain()
    memory.close()
    other = FailingEmbedder("other")
    memory = folder_house.open(embedder=other, settings=busy)
    with pytest.raises(ModelMismatch):
        memory.recall("ada", "note")
    memory.close()
    assert other.asked == 0


def test_reindex_leads_to_the_other_model(folder_house: House) -> None:
    """`reindex()` to embed everything anew with the latter; afterwards the former is the other one."""
    memory = folder_house.open(embedder=FailingEmbedder("first"))
    memory.remember_many("ada", [NewMemory(f"the gate number {n}", importance=n % 2) for n in range(10)])
    memory.remember("bob", "the gate of Bob")
    memory.maintain()
    memory.close()

    memory = folder_house.open(embedder=FailingEmbedder("other", 64))
    report = memory.reindex()
    assert (report.embedded, report.failed) == (11, ())
    assert report.indexed == 5
    assert memory.status().model == "other"
    assert memory.recall("ada", "gate number 3", 1)[0].explanation["meaning"].value > 0.5
    assert memory.reindex().embedded == 0
    memory.close()
    memory = folder_house.open(embedder=FailingEmbedder("first"))
    with pytest.raises(ModelMismatch):
        memory.recall("ada", "gate")


def test_an_interrupted_reindex_goes_on(folder_house: House) -> None:
    """`reindex` is resumable."""
    settings = Settings(maintenance=MaintenanceSettings(automatic=False, batch=4))
    memory = folder_house.open(embedder=FailingEmbedder("first"))
    memory.remember_many("ada", [NewMemory(f"note {n}", importance=0.9) for n in range(10)])
    memory.close()

    class Tiring(FailingEmbedder):
        def _answer(self, count: int) -> None:
            self.fails = self.asked >= 8
            super()._answer(count)

    memory = folder_house.open(embedder=Tiring("other"), settings=settings)
    report = memory.reindex()
    assert len(report.failed) == 1
    assert memory.status().model == "first"
    with pytest.raises(ModelMismatch):
        memory.recall("ada", "note")
    memory.close()

    memory = folder_house.open(embedder=FailingEmbedder("other"), settings=settings)
    assert memory.reindex().embedded == 2
    assert memory.status().model == "other"
    assert len(memory.recall("ada", "note", 99)) == 10


def test_a_store_without_vectors_takes_any_model(folder_house: House) -> None:
    """The first write makes the model in use the store's own; a look at an empty store does not."""
    memory = folder_house.open(embedder=FailingEmbedder("first"))
    assert memory.recall("ada", "gate") == []
    assert memory.status().model is None
    memory.close()
    memory = folder_house.open(embedder=FailingEmbedder("other"))
    memory.remember("ada", "a note")
    assert memory.status().model == "other"


# -- the index ---------------------------------------------------------------------------------------------------------


def test_a_lost_index_is_rebuilt_without_embedding_again(folder_house: House) -> None:
    """Delete the vector folder; `reindex()` rebuilds it from SQL, without embedding again."""
    settings = with_settings(search=SearchSettings(exact_up_to=0))
    embedder = FailingEmbedder()
    memory = folder_house.open(embedder=embedder, settings=settings)
    memory.remember_many("ada", [NewMemory(f"the gate number {n}", importance=0.9) for n in range(30)])
    memory.maintain()
    before = [hit.id for hit in memory.recall("ada", "gate number 7", 9, touch=False)]
    assert memory.status("ada").search == "chroma"
    memory.close()
    assert isinstance(folder_house.path, Path)
    shutil.rmtree(folder_house.path / "chroma")

    asked = embedder.asked
    memory = folder_house.open(embedder=embedder, settings=settings)
    assert memory.recall("ada", "gate number 7", 1)[0].content == "the gate number 7"  # by its words
    assert memory.reindex().indexed == 30
    assert [hit.id for hit in memory.recall("ada", "gate number 7", 9, touch=False)] == before
    assert embedder.asked - asked == 2  # the two questions


@pytest.mark.parametrize("query", ["gate number 41", "green door", "what is in the kitchen?"])
def test_the_index_and_the_exact_scan_find_the_same(folder_house: House, query: str) -> None:
    """Exact below the crossover and Chroma above it, both tested for the same results on the same data."""
    items = [NewMemory(f"the {c} {thing} number {n}", importance=0.9) for n in range(40) for c, thing in THINGS]
    exact = folder_house.open()
    exact.remember_many("ada", items)
    exact.maintain()
    assert exact.status("ada").search == "exact"
    expected = [(hit.id, hit.score) for hit in exact.recall("ada", query, 10, touch=False)]
    exact.close()
    through = folder_house.open(settings=with_settings(search=SearchSettings(exact_up_to=0)))
    assert through.status("ada").search == "chroma"
    assert [(hit.id, hit.score) for hit in through.recall("ada", query, 10, touch=False)] == expected


THINGS = (("green", "gate"), ("blue", "door"), ("old", "kitchen table"))


def test_two_models_are_told_apart_by_their_size(folder_house: House) -> None:
    """Open a 256-d store with a 64-d embedder → one clear error, naming both."""
    memory = folder_house.open(embedder=HashedEmbedder(256))
    memory.remember("ada", "a note")
    memory.close()
    with pytest.raises(ModelMismatch, match=r"256.*64"):
        folder_house.open(embedder=HashedEmbedder(64)).recall("ada", "note")
