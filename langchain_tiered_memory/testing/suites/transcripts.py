"""The contract of `TranscriptStore`."""

# ruff: noqa: D102 - the name of a case is its sentence

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from langchain_tiered_memory.core.model import Message
from langchain_tiered_memory.core.ports import StoredMessage, TranscriptStore
from langchain_tiered_memory.core.tallies import TalkTally, talk_tallies
from langchain_tiered_memory.testing.samples import DAY, HOSTILE, MICROSECOND, NOW, message_of, odd_json, once
from langchain_tiered_memory.testing.suites.base import ADA, BOB
from langchain_tiered_memory.testing.suites.threads import THREADS, at_once

CHAT, OTHER = "chat:1", "chat:10"


class TranscriptStoreContract(ABC):
    """Every sentence of `TranscriptStore` as a case. Subclass it, and give the fixture `store` and `raw_ids`."""

    @pytest.fixture
    def store(self) -> Any:
        """Return an empty store; a test class for a backend overrides this."""
        pytest.fail("a contract's subclass has to give a fixture `store`")

    @abstractmethod
    def raw_ids(self, store: TranscriptStore, user_id: str) -> set[str]:
        """Return the message ids that physically lie in the backend for the user, read without the store's own API."""

    def reopened(self, store: TranscriptStore) -> TranscriptStore:
        """Return another object on the same data; a store that lives in its object returns itself."""
        return store

    def tail(self, store: TranscriptStore, session_id: str = CHAT, user_id: str = ADA) -> tuple[StoredMessage, ...]:
        """Return a whole session, newest first."""
        return store.tail(user_id, session_id, before=None, limit=100_000)

    def ids(self, messages: tuple[StoredMessage, ...]) -> list[str | None]:
        """Return the messages' ids."""
        return [one.message.id for one in messages]

    # -- append and read -------------------------------------------------------------------------------------------

    def test_an_unknown_session_is_empty(self, store: TranscriptStore) -> None:
        assert self.tail(store) == store.system(ADA, CHAT) == store.unplaced(ADA, None, 10) == ()
        assert (dict(store.sessions(ADA)), store.users()) == ({}, ())
        assert self.raw_ids(store, ADA) == set()

    def test_messages_come_back_newest_first(self, store: TranscriptStore) -> None:
        assert store.append(ADA, CHAT, [message_of("b"), message_of("a")]) == (True, True)
        assert store.append(ADA, CHAT, [message_of("c", created_at=NOW - DAY)]) == (True,)

        found = self.tail(self.reopened(store))

        assert self.ids(found) == ["c", "a", "b"]
        positions = [one.position for one in found]
        assert positions == sorted(set(positions), reverse=True)
        assert self.raw_ids(store, ADA) == {"a", "b", "c"}

    def test_every_field_of_a_message_comes_back(self, store: TranscriptStore) -> None:
        calls = [{"id": "c\0", "type": "function", "function": {"name": "f", "arguments": '{"x": "\\u0000"}'}}]
        message = Message(
            "assistant",
            [{"type": "text", "text": "a\0\ud800"}, {"type": "image_url", "image_url": {"url": "data:,"}}],
            id="m",
            name="Ada",
            tool_calls=calls,
            tool_call_id="call",
            created_at=NOW + MICROSECOND,
            extra=odd_json(),
        )
        given = StoredMessage(message, position=77, tokens=12, counter="counter\0", agent_id="agent", session_id="x")
        store.append(ADA, CHAT, [given])

        (found,) = self.tail(self.reopened(store))

        assert replace(found, message=message, position=77) == replace(given, session_id=CHAT)
        again = found.message
        assert list(again.content or ()) == list(message.content or ())
        assert (list(again.tool_calls), dict(again.extra)) == (calls, odd_json())
        assert replace(again, content=None, tool_calls=(), extra={}) == replace(
            message, content=None, tool_calls=(), extra={}
        )

    @pytest.mark.parametrize("content", [None, "", "a\0b\ud800", [], "<|endoftext|>", "x" * 10_000_000])
    def test_contents_come_back_as_they_are(self, store: TranscriptStore, content: Any) -> None:
        store.append(ADA, CHAT, [message_of("a", content)])

        (found,) = self.tail(store)
        assert found.message.content == content

    @pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
    def test_hostile_text_is_ordinary_data(self, store: TranscriptStore, text: str) -> None:
        given = replace(message_of(text, text, role=text, name=text), agent_id=text)
        store.append(text, text, [given])

        again = self.reopened(store)
        (found,) = self.tail(again, text, text)
        assert found.message.text == text
        assert (found.message.id, found.message.role, found.message.name, found.agent_id) == (text, text, text, text)
        assert dict(again.sessions(text)) == {text: 1}
        assert again.users() == (text,)
        assert self.raw_ids(store, text) == {text}

    def test_the_same_id_in_a_session_is_the_same_message(self, store: TranscriptStore) -> None:
        store.append(ADA, CHAT, [message_of("a", "first")])
        before = self.tail(store)

        assert store.append(ADA, CHAT, [message_of("a", "changed"), message_of("b"), message_of("b")]) == (
            False,
            True,
            False,
        )

        assert self.ids(self.tail(store)) == ["b", "a"]
        assert self.tail(store)[1:] == before

    def test_equal_messages_with_ids_of_their_own_are_all_kept(self, store: TranscriptStore) -> None:
        assert store.append(ADA, CHAT, [message_of(f"{n}", "ok") for n in range(3)]) == (True, True, True)

    def test_an_id_may_be_in_two_sessions_and_with_two_users(self, store: TranscriptStore) -> None:
        for user in (ADA, BOB):
            for session in (CHAT, OTHER):
                assert store.append(user, session, [message_of("a", f"{user} {session}")]) == (True,)

        assert self.tail(store, OTHER, BOB)[0].message.content == f"{BOB} {OTHER}"
        assert {one.session_id for one in self.tail(store, OTHER)} == {OTHER}
        assert dict(store.sessions(ADA)) == {CHAT: 1, OTHER: 1}

    def test_a_session_is_read_page_by_page(self, store: TranscriptStore) -> None:
        store.append(ADA, CHAT, [message_of(f"{n}") for n in range(1_500)])
        store.append(ADA, OTHER, [message_of("other")])

        read: list[str | None] = []
        before = None
        while page := store.tail(ADA, CHAT, before=before, limit=400):
            assert len(page) <= 400
            assert before is None or page[0].position < before
            read += self.ids(page)
            before = page[-1].position

        assert read == [f"{n}" for n in reversed(range(1_500))]
        assert store.tail(ADA, CHAT, before=None, limit=0) == ()
        assert dict(store.sessions(ADA)) == {CHAT: 1_500, OTHER: 1}

    def test_system_messages_are_found_oldest_first(self, store: TranscriptStore) -> None:
        roles = ["user", "system", "assistant", "developer", "tool", "system"]
        store.append(ADA, CHAT, [message_of(f"{n}", role=role) for n, role in enumerate(roles)])
        store.append(ADA, OTHER, [message_of("other", role="system")])

        assert self.ids(store.system(ADA, CHAT)) == ["1", "3", "5"]

    def test_arguments_and_results_are_the_caller_s_own(self, store: TranscriptStore) -> None:
        extra: dict[str, Any] = {"list": [1]}
        messages = [message_of("a", extra=extra)]
        store.append(ADA, CHAT, once(*messages))

        extra["list"].append(2)
        self.tail(store)[0].message.extra["list"].append(3)
        messages.clear()

        assert dict(self.tail(store)[0].message.extra) == {"list": [1]}

    def test_messages_appended_at_once_are_all_there_in_order(self, store: TranscriptStore) -> None:
        at_once(lambda n: [store.append(ADA, CHAT, [message_of(f"{n}-{i}"), message_of("same")]) for i in range(5)])

        found = self.tail(store)
        assert len(found) == THREADS * 5 + 1
        assert len({one.position for one in found}) == len(found)
        for n in range(THREADS):
            mine = [i for i in self.ids(found) if str(i).startswith(f"{n}-")]
            assert mine == [f"{n}-{i}" for i in reversed(range(5))]

    def test_appending_nothing_makes_no_session(self, store: TranscriptStore) -> None:
        assert store.append(ADA, CHAT, []) == ()
        assert (dict(store.sessions(ADA)), store.users()) == ({}, ())

    # -- placing ---------------------------------------------------------------------------------------------------

    def test_new_messages_are_unplaced_until_they_are_marked(self, store: TranscriptStore) -> None:
        store.append(ADA, CHAT, [message_of("a"), message_of("b", role="system")])
        store.append(ADA, OTHER, [message_of("c", created_at=NOW + DAY)])
        store.append(BOB, CHAT, [message_of("d")])
        assert self.ids(store.unplaced(ADA, CHAT, 10)) == ["a", "b"]
        assert self.ids(store.unplaced(ADA, None, 10)) == ["a", "b", "c"]
        assert self.ids(store.unplaced(ADA, None, 1)) == ["a"]
        assert {one.session_id for one in store.unplaced(ADA, None, 10)} == {CHAT, OTHER}

        first = store.unplaced(ADA, CHAT, 1)[0]
        store.mark_placed(ADA, CHAT, once(first.position))

        again = self.reopened(store)
        assert self.ids(again.unplaced(ADA, None, 10)) == ["b", "c"]
        assert self.ids(self.tail(again)) == ["b", "a"]
        assert self.ids(store.unplaced(BOB, None, 10)) == ["d"]

    def test_messages_that_come_with_their_episodes_need_no_placing(self, store: TranscriptStore) -> None:
        store.append(ADA, CHAT, [message_of("a")])

        added = store.append(ADA, CHAT, [message_of("a"), message_of("b")], placed=True)

        again = self.reopened(store)
        assert added == (False, True)
        assert self.ids(again.unplaced(ADA, None, 10)) == ["a"]
        assert self.ids(self.tail(again)) == ["b", "a"]

    def test_a_message_told_again_stays_placed(self, store: TranscriptStore) -> None:
        store.append(ADA, CHAT, [message_of("a")])
        store.mark_placed(ADA, CHAT, [one.position for one in self.tail(store)])

        store.append(ADA, CHAT, [message_of("a")])

        assert store.unplaced(ADA, None, 10) == ()

    def test_marking_reaches_no_other_session_and_no_other_user(self, store: TranscriptStore) -> None:
        store.append(ADA, CHAT, [message_of("a")])
        position = self.tail(store)[0].position

        store.mark_placed(ADA, OTHER, [position])
        store.mark_placed(BOB, CHAT, [position])
        store.mark_placed(ADA, CHAT, [])

        assert self.ids(store.unplaced(ADA, CHAT, 10)) == ["a"]

    # -- the end ---------------------------------------------------------------------------------------------------

    def test_clearing_a_session_leaves_the_others(self, store: TranscriptStore) -> None:
        store.append(ADA, CHAT, [message_of("a"), message_of("b")])
        store.append(ADA, OTHER, [message_of("c")])
        store.append(BOB, CHAT, [message_of("d")])

        assert store.clear(ADA, CHAT) == 2

        assert self.tail(store) == store.unplaced(ADA, CHAT, 10) == ()
        assert dict(store.sessions(ADA)) == {OTHER: 1}
        assert (self.raw_ids(store, ADA), self.raw_ids(store, BOB)) == ({"c"}, {"d"})
        assert store.clear(ADA, CHAT) == 0

    def test_a_cleared_session_may_start_anew(self, store: TranscriptStore) -> None:
        store.append(ADA, CHAT, [message_of("a", "old")])
        store.clear(ADA, CHAT)

        assert store.append(ADA, CHAT, [message_of("a", "new")]) == (True,)
        assert [one.message.content for one in self.tail(store)] == ["new"]

    @pytest.mark.parametrize("user", HOSTILE.values(), ids=HOSTILE)
    def test_forgetting_one_user_leaves_all_others(self, store: TranscriptStore, user: str) -> None:
        for one in HOSTILE.values():
            store.append(one, CHAT, [message_of("a"), message_of("b")])
        store.append(user, OTHER, [message_of("c")])

        assert store.forget(user) == 3

        assert self.raw_ids(store, user) == set()
        assert sorted(store.users()) == sorted(one for one in HOSTILE.values() if one != user)
        assert store.forget(user) == 0

    def test_sessions_end_after_their_last_message(self, store: TranscriptStore) -> None:
        store.append(ADA, CHAT, [message_of("a", created_at=NOW - 2 * DAY), message_of("b", created_at=NOW - DAY)])
        store.append(ADA, OTHER, [message_of("c", created_at=NOW - 2 * DAY), message_of("d", created_at=NOW)])
        store.append(BOB, CHAT, [message_of("e", created_at=NOW - 3 * DAY)])

        assert store.expire(NOW - 3 * DAY) == 0
        assert store.expire(NOW) == 3

        assert dict(store.sessions(ADA)) == {OTHER: 2}
        assert (self.raw_ids(store, ADA), store.users()) == ({"c", "d"}, (ADA,))
        assert store.expire(NOW + timedelta(microseconds=1)) == 2

    def test_close_may_be_called_twice_and_the_store_has_a_name(self, store: TranscriptStore) -> None:
        store.append(ADA, CHAT, [message_of("a")])

        store.close()
        store.close()

        assert store.name
        assert "://" not in store.name

    def test_messages_are_counted_of_each_user_and_those_of_some_sessions_apart(self, store: TranscriptStore) -> None:
        store.append(ADA, "chat", [message_of("a"), message_of("b")], placed=True)
        store.append(ADA, "\0aside%", [message_of("c")], placed=True)
        store.append(ADA, "a\0aside", [message_of("d")], placed=True)
        store.append(BOB, "chat", [message_of("e")])
        store.append("cleared", "chat", [message_of("f")])
        store.clear("cleared", "chat")

        found = {one.user_id: one for one in talk_tallies(self.reopened(store), "\0aside")}

        assert found == {
            ADA: TalkTally(user_id=ADA, messages=3, apart=1),
            BOB: TalkTally(user_id=BOB, messages=1, unplaced=True),
        }
