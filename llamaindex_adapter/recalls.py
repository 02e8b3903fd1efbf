"""Which memories were recalled for which message of a conversation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from langchain_tiered_memory import Context, Message, ScoredMemory

__all__ = ["Recall", "Recalls"]


@dataclass(frozen=True, slots=True)
class Recall:
    """What was recalled for one message.

    Attributes:
        query: The words that were recalled for.
        message_id: The message that says them; None as long as it is not stored.
        memories: What was found and shown.
        answered: Whether somebody has answered the message.
    """

    query: str
    message_id: str | None
    memories: tuple[ScoredMemory, ...]
    answered: bool = False

    def stands(self, context: Context) -> bool:
        """Say whether its message is still the latest: others may have spoken in the same conversation."""
        latest = _latest(context)
        return self.message_id is None or (latest is not None and latest.id == self.message_id)


class Recalls:
    """Lets one message cause one recall, and count one access, however often a framework asks.

    What was recalled for a message that was not stored yet holds on when that message is stored. With the same words
    after an answer, a new message is asked for. Any thread may call.
    """

    def __init__(self) -> None:
        self._last: Recall | None = None
        self._spoken: Message | None = None

    def again(self, query: str | None) -> Recall | None:
        """Return what was recalled already for these words; None as a query means the latest message's."""
        last = self._last
        if last is None:
            return None
        asked_again = last.message_id is not None if query is None else query == last.query and not last.answered
        return last if asked_again else None

    def note(self, context: Context, query: str | None) -> Recall | None:
        """Take down what a context has recalled, and return it; None when there were no words to recall for."""
        latest, spoken = _latest(context), self._spoken
        if latest is not None and spoken is not None and spoken.id == latest.id:
            latest = spoken  # the window may have cut its words
        answered = latest is not None and _answered(context, latest)
        if latest is None or (query is not None and (answered or latest.text != query)):
            self._last = None if query is None else Recall(query, None, context.memories)
        else:
            self._last = Recall(latest.text, latest.id, context.memories, answered)
        return self._last

    def heard(self, messages: Sequence[Message]) -> None:
        """Take notice of messages that were added."""
        for message in messages:
            if message.role == "user":
                self._spoken = message
            self._last = None if self._last is None else _after(self._last, message)

    def clear(self) -> None:
        """Begin anew."""
        self._last = self._spoken = None


def _after(last: Recall, message: Message) -> Recall | None:
    """Return what holds of a recall after a message was added."""
    if message.role == "user":
        expected = last.message_id is None and last.query == message.text
        return replace(last, message_id=message.id) if expected else None
    return replace(last, answered=True) if _answers(message) else last


def _answers(message: Message) -> bool:
    return message.role == "assistant" and not message.tool_calls


def _latest(context: Context) -> Message | None:
    """Return the user's latest message; what has no id are the notes."""
    said = [message for message in context.messages if message.role == "user" and message.id is not None]
    return said[-1] if said else None


def _answered(context: Context, latest: Message) -> bool:
    ids = [message.id for message in context.messages]
    return any(map(_answers, context.messages[ids.index(latest.id) :]))
