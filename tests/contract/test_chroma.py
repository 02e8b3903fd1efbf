"""The index on Chroma: embedded, on a client that was given, and on a real server."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import chromadb
import numpy as np
import pytest

from langchain_tiered_memory.backends import chroma, chroma_client, chroma_rows
from langchain_tiered_memory.backends.chroma import ChromaVectorIndex
from langchain_tiered_memory.backends.chroma_rows import collection_name
from langchain_tiered_memory.core.errors import BackendUnavailable, ConfigError, EmbeddingError
from langchain_tiered_memory.core.text import unescape
from langchain_tiered_memory.testing.contracts import VectorIndexContract

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from chromadb.api import ClientAPI
    from chromadb.api.models.Collection import Collection

    from langchain_tiered_memory.core.ports import Vector, VectorIndex

ADA = "ada"


def unit(*numbers: float) -> Vector:
    vector = np.array(numbers, dtype=np.float32)
    return vector / np.linalg.norm(vector)


EAST, NORTH, UP = unit(1, 0, 0), unit(0, 1, 0), unit(0, 0, 1)


def empty(client: ClientAPI) -> ClientAPI:
    """Remove what earlier tests left on a server, or in the memory that all clients of this process share."""
    for collection in client.list_collections():
        client.delete_collection(collection.name)
    return client


@pytest.fixture(params=["embedded", "given", "server"])
def index(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[ChromaVectorIndex]:
    if request.param == "embedded":
        made = ChromaVectorIndex.embedded(tmp_path)
    elif request.param == "given":
        made = ChromaVectorIndex(empty(chromadb.EphemeralClient()), owned=False)
    else:
        made = ChromaVectorIndex.from_url(request.getfixturevalue("chroma_url"))
        empty(made._connection.client)
    yield made
    made.close()


@pytest.fixture
def embedded(tmp_path: Path) -> Iterator[ChromaVectorIndex]:
    made = ChromaVectorIndex.embedded(tmp_path)
    yield made
    made.close()


def raw(index: ChromaVectorIndex, user_id: str = ADA) -> Collection:
    """Reach the user's collection past the index."""
    return index._connection.client.get_collection(collection_name(user_id), embedding_function=None)


class TestContract(VectorIndexContract):
    @pytest.fixture
    def index(self, index: ChromaVectorIndex) -> ChromaVectorIndex:
        return index

    def raw_ids(self, index: VectorIndex, user_id: str) -> set[str]:
        assert isinstance(index, ChromaVectorIndex)
        try:
            return {unescape(id_) for id_ in raw(index, user_id).get(include=[])["ids"]}
        except chromadb.errors.NotFoundError:
            return set()

    def reopened(self, index: VectorIndex) -> VectorIndex:
        assert isinstance(index, ChromaVectorIndex)
        return ChromaVectorIndex(index._connection.client)


class TestRows:
    def test_holds_references_and_vectors_and_nothing_else(self, index: ChromaVectorIndex) -> None:
        index.upsert(ADA, [("a#0", EAST)])
        row: Any = raw(index).get(include=["documents", "metadatas", "uris"])
        assert (row["ids"], row["documents"], row["metadatas"]) == (["a#0"], [None], [None])

    def test_compares_by_angle_and_not_by_distance(self, index: ChromaVectorIndex) -> None:
        far_along, near_aside = np.float32(9) * EAST, unit(1, 1, 0)
        index.upsert(ADA, [("along", far_along), ("aside", near_aside)])
        assert index.query(ADA, EAST, 1) == ("along",)

    @pytest.mark.parametrize("worthless", [(0, 0, 0), (float("nan"), 1, 0), (float("inf"), 0, 0), (1e-30, 0, 0)])
    def test_leaves_out_a_vector_without_direction_and_the_row_it_would_replace(
        self, index: ChromaVectorIndex, worthless: tuple[float, ...]
    ) -> None:
        index.upsert(ADA, [("a", EAST), ("b", NORTH)])
        index.upsert(ADA, [("a", np.array(worthless, dtype=np.float32)), ("c", UP)])
        assert index.ids(ADA) == {"b", "c"}
        assert set(index.query(ADA, EAST, 10)) == {"b", "c"}

    def test_keeps_the_last_of_two_rows_with_one_reference(self, index: ChromaVectorIndex) -> None:
        index.upsert(ADA, [("a", EAST), ("b", NORTH), ("a", UP)])
        assert index.query(ADA, UP, 1) == ("a",)
        assert index.ids(ADA) == {"a", "b"}

    def test_takes_the_empty_reference(self, index: ChromaVectorIndex) -> None:
        index.upsert(ADA, [("", EAST)])
        assert index.query(ADA, EAST, 1) == ("",)
        index.delete(ADA, [""])
        assert index.ids(ADA) == frozenset()

    def test_asks_for_more_than_chroma_can_count(self, index: ChromaVectorIndex) -> None:
        index.upsert(ADA, [("a", EAST)])
        assert index.query(ADA, EAST, 2**70) == ("a",)
        assert index.query(ADA, EAST, 0) == ()


class TestDimension:
    def test_another_one_is_refused_with_both_named(self, index: ChromaVectorIndex) -> None:
        index.upsert(ADA, [("a", EAST)])
        both = "dimension 2 .* dimension 3"
        with pytest.raises(EmbeddingError, match=both):
            index.upsert(ADA, [("b", unit(1, 1))])
        with pytest.raises(EmbeddingError, match=both):
            index.query(ADA, unit(1, 1), 1)
        assert index.ids(ADA) == {"a"}

    def test_stays_when_the_rows_go_and_is_free_after_a_drop(self, index: ChromaVectorIndex) -> None:
        index.upsert(ADA, [("a", EAST)])
        index.delete(ADA, ["a"])
        with pytest.raises(EmbeddingError):
            index.upsert(ADA, [("b", unit(1, 1))])
        index.drop(ADA)
        index.upsert(ADA, [("b", unit(1, 1))])
        assert index.query(ADA, unit(1, 1), 1) == ("b",)

    def test_two_in_one_call_are_refused_and_nothing_is_written(self, embedded: ChromaVectorIndex) -> None:
        with pytest.raises(EmbeddingError, match="2 and 3"):
            embedded.upsert(ADA, [("a", EAST), ("b", unit(1, 1))])
        assert embedded.ids(ADA) == frozenset()

    def test_each_user_has_a_dimension(self, embedded: ChromaVectorIndex) -> None:
        embedded.upsert(ADA, [("a", EAST)])
        embedded.upsert("bob", [("b", unit(1, 1))])
        assert embedded.query("bob", unit(1, 1), 5) == ("b",)

    def test_a_question_that_is_not_finite_is_refused(self, embedded: ChromaVectorIndex) -> None:
        embedded.upsert(ADA, [("a", EAST)])
        with pytest.raises(EmbeddingError, match="finite"):
            embedded.query(ADA, np.array([np.nan, 0, 0], dtype=np.float32), 1)


class TestSize:
    def test_takes_more_rows_than_one_batch_of_chroma(self, index: ChromaVectorIndex) -> None:
        count = index._connection.client.get_max_batch_size() + 10
        vectors = np.random.default_rng(0).standard_normal((count, 4)).astype(np.float32)
        index.upsert(ADA, [(f"{i}", vector) for i, vector in enumerate(vectors)])
        everything = {str(i) for i in range(count)}
        assert index.ids(ADA) == everything
        assert set(index.query(ADA, vectors[0], count + 1)) == everything
        index.delete(ADA, [str(i) for i in range(1, count)])
        assert index.ids(ADA) == {"0"}

    def test_a_batch_is_bounded_in_bytes(self, embedded: ChromaVectorIndex, monkeypatch: pytest.MonkeyPatch) -> None:
        sizes = []

        def write(collection: Collection, ids: list[str], vectors: Any) -> None:
            sizes.append(vectors.nbytes)
            collection.upsert(ids=ids, embeddings=vectors)

        monkeypatch.setattr(chroma, "write", write)
        monkeypatch.setattr(chroma, "_BATCH_BYTES", 1000)
        embedded.upsert(ADA, [(str(i), unit(i + 1, *[1] * 99)) for i in range(7)])
        assert sizes == [800, 800, 800, 400]
        assert len(embedded.ids(ADA)) == 7

    def test_reads_references_in_pages(self, index: ChromaVectorIndex, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(chroma_rows, "PAGE", 3)
        for count in (3, 7):
            index.upsert(ADA, [(str(i), unit(i + 1, 1)) for i in range(count)])
            assert index.ids(ADA) == {str(i) for i in range(count)}

    def test_keeps_a_bounded_number_of_handles(
        self, embedded: ChromaVectorIndex, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(chroma_client, "_HANDLES", 2)
        for user in "abcde":
            embedded.upsert(user, [(user, EAST)])
        assert list(embedded._connection.handles._by_name) == [collection_name(user) for user in "de"]
        assert [embedded.query(user, EAST, 1) for user in "abcde"] == [(user,) for user in "abcde"]

    def test_finds_what_an_exact_scan_finds(self, embedded: ChromaVectorIndex) -> None:
        """Recall@10 is at least 0.98 on vectors in topics, asked near one of them."""
        random = np.random.default_rng(1)
        topics = random.standard_normal((200, 96))
        noise = random.standard_normal((3000, 96))
        vectors = (0.6 * topics[random.integers(0, 200, 3000)] + 0.8 * noise).astype(np.float32)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        embedded.upsert(ADA, [(str(i), vector) for i, vector in enumerate(vectors)])
        found = 0
        for question in vectors[:100] + random.standard_normal((100, 96)).astype(np.float32) * 0.07:
            exact = {str(i) for i in np.argsort(-(vectors @ question))[:10]}
            found += len(exact & set(embedded.query(ADA, question, 10)))
        assert found / 1000 >= 0.98


class TestOthers:
    """What another process does to the same server; here past the index, whose handle is the old one then."""

    def test_a_collection_made_anew_is_found_again(self, index: ChromaVectorIndex) -> None:
        index.upsert(ADA, [("old", EAST)])
        client, name = index._connection.client, collection_name(ADA)
        client.delete_collection(name)
        client.create_collection(name, embedding_function=None).upsert(ids=["new"], embeddings=EAST[np.newaxis])
        assert index.query(ADA, EAST, 5) == ("new",)
        assert index.ids(ADA) == {"new"}

    def test_a_collection_that_is_gone_reads_as_empty_and_is_written_anew(self, index: ChromaVectorIndex) -> None:
        index.upsert(ADA, [("old", EAST)])
        index._connection.client.delete_collection(collection_name(ADA))
        assert index.query(ADA, EAST, 5) == ()
        assert index.ids(ADA) == frozenset()
        index.delete(ADA, ["old"])
        index.drop(ADA)
        index.upsert(ADA, [("new", EAST)])
        index._connection.client.delete_collection(collection_name(ADA))
        index.upsert(ADA, [("newer", EAST)])
        assert index.ids(ADA) == {"newer"}

    def test_two_indexes_on_one_server_see_each_other(self, chroma_url: str) -> None:
        one, other = ChromaVectorIndex.from_url(chroma_url), ChromaVectorIndex.from_url(chroma_url)
        one.drop(ADA)
        one.upsert(ADA, [("a", EAST)])
        assert other.query(ADA, EAST, 5) == ("a",)
        one.drop(ADA)
        one.upsert(ADA, [("b", EAST)])
        assert other.query(ADA, EAST, 5) == ("b",)
        one.close()
        other.close()


class TestFaults:
    def test_whatever_the_driver_raises_says_that_chroma_is_unavailable(
        self, embedded: ChromaVectorIndex, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        page = Exception("<html>502 Bad Gateway</html>")

        def fail(*_: object, **__: object) -> None:
            raise page

        embedded.upsert(ADA, [("a", EAST)])
        monkeypatch.setattr(chroma, "nearest", fail)
        with pytest.raises(BackendUnavailable, match=r"chroma could not query: Exception: <html>502") as caught:
            embedded.query(ADA, EAST, 1)
        assert caught.value.__cause__ is page

    def test_after_close_every_call_says_so_and_close_again_does_nothing(self, index: ChromaVectorIndex) -> None:
        index.close()
        index.close()
        for call in (
            lambda: index.upsert(ADA, [("a", EAST)]),
            lambda: index.delete(ADA, ["a"]),
            lambda: index.drop(ADA),
            lambda: index.query(ADA, EAST, 1),
            lambda: index.ids(ADA),
        ):
            with pytest.raises(BackendUnavailable, match="closed"):
                call()

    def test_a_client_that_was_given_is_left_open(self) -> None:
        client = chromadb.EphemeralClient()
        index = ChromaVectorIndex(client, name="theirs", owned=False)
        assert index.name == "theirs"
        index.close()
        assert client.heartbeat() > 0

    def test_a_client_that_the_caller_closed_is_unavailable(self, tmp_path: Path) -> None:
        client = chroma_client.open_folder(tmp_path)
        index = ChromaVectorIndex(client)
        chroma_client.close_client(client)
        with pytest.raises(BackendUnavailable):
            index.upsert(ADA, [("a", EAST)])

    def test_an_asynchronous_client_is_refused_in_a_sentence(self) -> None:
        class Client:
            async def get_or_create_collection(self) -> None: ...

        for wrong in (Client(), object()):
            with pytest.raises(ConfigError, match="blocking Chroma client"):
                ChromaVectorIndex(wrong)  # type: ignore[arg-type]
