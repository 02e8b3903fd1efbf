"""What is serialised is whose conversation it is and where; what is brought back reconnects there."""

from __future__ import annotations

import copy
import json
import pickle
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from llama_index.core.memory import Memory

from langchain_tiered_memory import ConfigError, MemorySystem
from langchain_tiered_memory.embedding import HashedEmbedder
from llamaindex_adapter import TieredMemory
from tests.adapters.llamaindex.conftest import ADA, said
from tests.flow.systems import QUIET, House

NAME = "a memory of the tests"
SECRET = "postgresql+psycopg://ada:hunter2@db/memory"

Journey = Callable[[Any], Any]
JOURNEYS: dict[str, Journey] = {
    "dict": lambda one: TieredMemory.from_dict(one.to_dict()),
    "json": lambda one: TieredMemory.from_json(one.to_json()),
    "JSON of the dict": lambda one: TieredMemory.from_dict(json.loads(json.dumps(one.to_dict()))),
    "model": lambda one: TieredMemory.model_validate_json(one.model_dump_json()),
    "pickle": lambda one: pickle.loads(pickle.dumps(one)),  # noqa: S301 - pickled by this test
    "deep copy": copy.deepcopy,
    "copy": copy.copy,
    "model copy": lambda one: one.model_copy(deep=True),
}


@pytest.fixture(params=JOURNEYS)
def journey(request: pytest.FixtureRequest) -> Journey:
    return JOURNEYS[request.param]


@pytest.fixture
def name() -> Iterator[str]:
    yield NAME
    MemorySystem._registry.unregister(NAME)


def test_every_way_brings_back_the_same_conversation(chat: TieredMemory, journey: Journey) -> None:
    chat.put(said("hello"))
    chat.filter, chat.k, chat.max_tokens, chat.agent_id = {"memory_type": "fact"}, 7, 900, "shopper"

    found = journey(chat)

    assert found.to_dict() == chat.to_dict()
    assert found is not chat
    assert found.memory is chat.memory
    assert found.get_all() == [said("hello")]
    found.put(said("hi", "assistant"))
    assert chat.get_all() == [said("hello"), said("hi", "assistant")]


def test_what_is_brought_back_shows_the_same(chat: TieredMemory, journey: Journey) -> None:
    chat.put(said("Which snack can I buy, with peanuts or without?"))
    chat.get()

    assert journey(chat).get() == chat.get()


def test_it_says_a_folder_and_nothing_else(tmp_path: Path) -> None:
    memory = MemorySystem.open(tmp_path / "memory")

    said_of_it = TieredMemory(memory, ADA, "chat").to_dict()

    assert said_of_it == {
        "memory": str((tmp_path / "memory").resolve()),
        "user_id": ADA,
        "session_id": "chat",
        "agent_id": None,
        "k": 5,
        "filter": None,
        "min_score": 0.0,
        "max_tokens": None,
        "on_error": "warn",
        "class_name": "TieredMemory",
    }


def test_it_says_a_name_and_never_a_password(name: str) -> None:
    MemorySystem.register(name, lambda: MemorySystem(path="./memory", postgres=SECRET, redis="redis://:hunter2@x"))
    chat = TieredMemory(name, ADA, "chat")

    for text in (chat.to_json(), repr(chat), str(chat), chat.model_dump_json(), repr(pickle.dumps(chat))):
        assert "hunter2" not in text
        assert "://" not in text
    assert chat.to_dict()["memory"] == name


def test_without_a_name_no_password_is_said_either() -> None:
    chat = TieredMemory(MemorySystem(path="./memory", postgres=SECRET), ADA, "chat")

    assert "hunter2" not in chat.to_json()
    assert TieredMemory.from_json(chat.to_json()).memory is chat.memory


@pytest.mark.parametrize("unknown", ["nobody", SECRET, "./memory"])
def test_an_unknown_name_is_a_config_error(unknown: str) -> None:
    with pytest.raises(ConfigError, match="no memory is registered") as caught:
        TieredMemory.from_dict({"memory": unknown, "user_id": ADA, "session_id": "chat"})

    assert "hunter2" not in str(caught.value)


def test_a_name_is_asked_for_at_once(name: str, chat: TieredMemory) -> None:
    MemorySystem.register(name, lambda: chat.memory)
    pickled = pickle.dumps(chat)
    MemorySystem._registry.unregister(name)

    with pytest.raises(ConfigError, match=name):
        pickle.loads(pickled)  # noqa: S301 - pickled by this test


def test_another_process_goes_on_with_the_conversation(tmp_path: Path) -> None:
    memory = MemorySystem.open(tmp_path / "memory")
    chat = TieredMemory(memory, ADA, "chat")
    chat.put(said("My cat is called Mia."))
    memory.sync.close()
    script = (
        "import sys\n"
        "from llamaindex_adapter import TieredMemory\n"
        "chat = TieredMemory.from_json(sys.argv[1])\n"
        "print(*[message.content for message in chat.get_all()])\n"
        "chat.memory.sync.close()\n"
    )

    run = [sys.executable, "-c", script, chat.to_json()]
    told = subprocess.run(run, check=True, capture_output=True, text=True).stdout

    assert told == "My cat is called Mia.\n"


def test_a_registered_memory_comes_back_after_a_restart(name: str, folder_house: House) -> None:
    MemorySystem.register(name, folder_house.system)
    chat = TieredMemory(name, ADA, "chat")
    chat.put(said("hello"))
    stored = chat.to_json()
    folder_house.close()
    MemorySystem.register(name, folder_house.system)

    found = TieredMemory.from_json(stored)

    assert found.memory is not chat.memory
    assert found.get_all() == [said("hello")]


class TestWhatOthersLose:
    """What the framework's own memories do on the same journeys: why these tests are here."""

    async def test_a_second_object_for_the_session_sees_nothing(self) -> None:
        first, second = (Memory.from_defaults(session_id="chat") for _ in range(2))
        await first.aput(said("hello"))

        assert await second.aget() == []

    def test_a_second_object_of_ours_sees_everything(self, chat: TieredMemory, memory: MemorySystem) -> None:
        chat.put(said("hello"))

        assert TieredMemory(memory, ADA, "chat").get_all() == [said("hello")]

    def test_from_dict_of_to_dict_fails(self) -> None:
        with pytest.raises(ValueError, match="memory_blocks_template"):
            Memory.from_dict(Memory.from_defaults(session_id="chat").to_dict())


def test_every_object_may_be_dropped_and_made_anew(tmp_path: Path) -> None:
    """As a web server does: an object for every request."""
    with MemorySystem.open(tmp_path, embedder=HashedEmbedder(), settings=QUIET).sync:
        for number in range(3):
            TieredMemory(tmp_path, ADA, "chat").put(said(f"message {number}"))

        assert len(TieredMemory(tmp_path, ADA, "chat").get_all()) == 3
