"""Vector stores of LlamaIndex's as the index of a memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pytest
from llama_index.core.bridge.pydantic import Field
from llama_index.core.schema import BaseNode, TextNode
from llama_index.core.vector_stores import SimpleVectorStore, VectorStoreQuery, VectorStoreQueryResult
from llama_index.core.vector_stores.types import BasePydanticVectorStore
from llama_index.vector_stores.qdrant import QdrantVectorStore
from qdrant_client import QdrantClient

from langchain_tiered_memory import BackendUnavailable, InvalidInput, VectorIndex
from langchain_tiered_memory.testing.contracts import VectorIndexContract
from langchain_tiered_memory.testing.samples import DIM, vector_of
from llamaindex_adapter import LlamaIndexVectorIndex
from llamaindex_adapter.index import _hashed, _plain_ref, _ref
from tests.flow.systems import FailingEmbedder, House

# The local one has no use for them.
pytestmark = pytest.mark.filterwarnings("ignore:Payload indexes have no effect in the local Qdrant")

ADA, BOB = "ada", "bob"
COLLECTION = "memories"


class TestSimple(VectorIndexContract):
    @pytest.fixture
    def index(self) -> LlamaIndexVectorIndex:
        return LlamaIndexVectorIndex(SimpleVectorStore())

    def raw_ids(self, index: VectorIndex, user_id: str) -> set[str]:
        assert isinstance(index, LlamaIndexVectorIndex)
        store: Any = index._store
        return {_plain_ref(one) for one in store.data.embedding_dict if one.startswith(_hashed(user_id))}

    def reopened(self, index: VectorIndex) -> VectorIndex:
        assert isinstance(index, LlamaIndexVectorIndex)
        store: Any = index._store
        return LlamaIndexVectorIndex(SimpleVectorStore.from_dict(store.to_dict()))


@pytest.fixture
def client() -> Iterator[QdrantClient]:
    made = QdrantClient(":memory:")
    yield made
    made.close()


@pytest.fixture
def qdrant(client: QdrantClient) -> LlamaIndexVectorIndex:
    return LlamaIndexVectorIndex(QdrantVectorStore(COLLECTION, client=client))


class TestQdrant(VectorIndexContract):
    @pytest.fixture
    def index(self, qdrant: LlamaIndexVectorIndex) -> LlamaIndexVectorIndex:
        return qdrant

    def raw_ids(self, index: VectorIndex, user_id: str) -> set[str]:
        assert isinstance(index, LlamaIndexVectorIndex)
        client = index._store.client
        if not client.collection_exists(COLLECTION):
            return set()
        points = client.scroll(COLLECTION, limit=10_000)[0]
        rows = [index._store.parse_to_query_result([point]).nodes[0] for point in points]  # type: ignore[attr-defined]
        return {_ref(row) for row in rows if row.metadata["memory_user"] == _hashed(user_id)}

    def reopened(self, index: VectorIndex) -> VectorIndex:
        assert isinstance(index, LlamaIndexVectorIndex)
        return LlamaIndexVectorIndex(QdrantVectorStore(COLLECTION, client=index._store.client))


class TestDimensions:
    """A store has vectors of one length; another embedding model may make longer ones."""

    def test_the_first_of_another_length_takes_the_place_of_the_old_ones(self, qdrant: LlamaIndexVectorIndex) -> None:
        qdrant.upsert(ADA, [("a#0", vector_of(1))])
        qdrant.upsert(BOB, [("b#0", vector_of(2))])

        qdrant.upsert(ADA, [("a#0", vector_of(1, DIM * 2))])
        qdrant.upsert(BOB, [("b#0", vector_of(2, DIM * 2))])

        assert qdrant.query(ADA, vector_of(1, DIM * 2), 5) == ("a#0",)
        assert qdrant.query(BOB, vector_of(2, DIM * 2), 5) == ("b#0",)

    def test_in_another_process_too(self, client: QdrantClient, qdrant: LlamaIndexVectorIndex) -> None:
        qdrant.upsert(ADA, [("a#0", vector_of(1))])
        again = LlamaIndexVectorIndex(QdrantVectorStore(COLLECTION, client=client))

        again.upsert(BOB, [("b#0", vector_of(2, DIM * 2))])

        assert again.query(BOB, vector_of(2, DIM * 2), 5) == ("b#0",)

    def test_what_others_keep_in_the_store_is_never_removed(self, client: QdrantClient) -> None:
        store = QdrantVectorStore(COLLECTION, client=client)
        store.add([TextNode(text="a document", embedding=vector_of(1).tolist())])
        index = LlamaIndexVectorIndex(store)
        index.upsert(ADA, [("a#0", vector_of(2))])

        with pytest.raises(BackendUnavailable, match="QdrantVectorStore could not upsert"):
            index.upsert(ADA, [("a#0", vector_of(2, DIM * 2))])

        assert client.count(COLLECTION).count == 1


class Plain(BasePydanticVectorStore):
    """A store that can do no more than a store has to."""

    stores_text: bool = True
    held: dict[str, BaseNode] = Field(default_factory=dict)
    broken: str = ""

    @property
    def client(self) -> Any:
        return None

    def add(self, nodes: Sequence[BaseNode], **_: Any) -> list[str]:
        self._check()
        self.held |= {node.node_id: node for node in nodes}
        return [node.node_id for node in nodes]

    def delete(self, ref_doc_id: str, **_: Any) -> None:
        self._check()
        self.held = {name: node for name, node in self.held.items() if node.ref_doc_id != ref_doc_id}

    def query(self, query: VectorStoreQuery, **_: Any) -> VectorStoreQueryResult:
        self._check()
        vector = np.array(query.query_embedding)
        best = sorted(self.held.values(), key=lambda node: -float(vector @ np.array(node.get_embedding())))
        return VectorStoreQueryResult(nodes=best[: query.similarity_top_k])

    def _check(self) -> None:
        if self.broken:
            raise RuntimeError(self.broken)


class TestOtherStores:
    def test_only_a_store_of_llamaindex_will_do(self) -> None:
        with pytest.raises(InvalidInput, match="BasePydanticVectorStore"):
            LlamaIndexVectorIndex("http://qdrant")  # type: ignore[arg-type] # that is the point

    def test_one_that_can_only_add_query_and_delete_serves(self) -> None:
        index = LlamaIndexVectorIndex(Plain())

        index.upsert(ADA, [("a#0", vector_of(1)), ("b#0", vector_of(2))])
        index.upsert(ADA, [("b#0", vector_of(3))])
        index.delete(ADA, ["a#0"])

        assert index.query(ADA, vector_of(3), 5) == ("b#0",)
        with pytest.raises(BackendUnavailable, match="Plain could not list"):
            index.ids(ADA)

    @pytest.mark.parametrize("operation", ["upsert", "delete", "drop", "query", "list"])
    def test_whatever_it_raises_says_that_it_is_unavailable(self, operation: str) -> None:
        index = LlamaIndexVectorIndex(Plain(broken="connection refused"), name="theirs")
        calls: dict[str, Callable[[], object]] = {
            "upsert": lambda: index.upsert(ADA, [("a#0", vector_of(1))]),
            "delete": lambda: index.delete(ADA, ["a#0"]),
            "drop": lambda: index.drop(ADA),
            "query": lambda: index.query(ADA, vector_of(1), 5),
            "list": lambda: index.ids(ADA),
        }

        with pytest.raises(BackendUnavailable, match=f"theirs could not {operation}"):
            calls[operation]()

    @pytest.mark.parametrize(
        "missing",
        ["Collection memories not found", "Not found: Collection `memories` doesn't exist!", "no such index"],
    )
    def test_one_that_was_never_written_to_is_empty(self, missing: str) -> None:
        index = LlamaIndexVectorIndex(Plain(broken=missing))

        assert index.query(ADA, vector_of(1), 5) == ()
        index.delete(ADA, ["a#0"])

    @pytest.mark.parametrize("outage", ["[Errno -2] Name or service not known", "host not found", "timed out"])
    def test_an_outage_is_not_taken_for_emptiness(self, outage: str) -> None:
        with pytest.raises(BackendUnavailable):
            LlamaIndexVectorIndex(Plain(broken=outage)).query(ADA, vector_of(1), 5)


class TestInAMemory:
    @pytest.fixture(params=["simple", "qdrant"])
    def index(self, request: pytest.FixtureRequest, client: QdrantClient) -> LlamaIndexVectorIndex:
        made = SimpleVectorStore() if request.param == "simple" else QdrantVectorStore(COLLECTION, client=client)
        return LlamaIndexVectorIndex(made)

    def test_what_is_remembered_is_indexed_found_and_forgotten(
        self, index: LlamaIndexVectorIndex, folder_house: House
    ) -> None:
        """A `vector_db` that was given is always asked."""
        memory = folder_house.system(vector_db=index).sync
        memory.remember(ADA, "I am allergic to peanuts", "preference", id="peanuts")
        memory.remember(BOB, "I love peanuts", "preference", id="love")
        memory.maintain()

        assert index.ids(ADA) == {"peanuts#0"}
        assert [hit.id for hit in memory.recall(ADA, "peanuts")] == ["peanuts"]
        memory.forget(ADA, "peanuts")
        memory.maintain()
        assert index.ids(ADA) == frozenset()
        memory.forget_user(BOB)
        assert index.ids(BOB) == frozenset()

    def test_another_embedding_model_fills_it_anew(self, index: LlamaIndexVectorIndex, folder_house: House) -> None:
        memory = folder_house.system(vector_db=index).sync
        for user in (ADA, BOB):
            memory.remember(user, "I am allergic to peanuts", "preference", id="peanuts")
        memory.maintain()
        memory.close()

        again = folder_house.system(vector_db=index, embedder=FailingEmbedder("longer", 512)).sync
        report = again.reindex()

        assert (report.indexed, report.failed) == (2, ())
        assert index.ids(ADA) == index.ids(BOB) == {"peanuts#0"}
        assert [hit.id for hit in again.recall(BOB, "peanuts")] == ["peanuts"]
