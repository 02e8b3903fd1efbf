"""A conversation on its way to LlamaIndex and back."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace

from llama_index.core.base.llms.types import ChatMessage, MessageRole, TextBlock

from langchain_tiered_memory import Context, Message, Session
from langchain_tiered_memory.core.prompt import is_block
from llamaindex_adapter.failing import Write
from llamaindex_adapter.messages import from_llamaindex, to_llamaindex, visible
from llamaindex_adapter.recalls import Recall

__all__ = ["acarry_out", "as_seen", "carry_out", "shown", "words"]


def shown(context: Context, known: Recall | None) -> list[ChatMessage]:
    """Return a context as LlamaIndex's messages: the notes, which alone have no id, before their message or last.

    Where nothing was recalled for, there may be standing preferences; they come before what the user said last.
    """
    notes = [message for message in context.messages if message.id is None]
    window = [message for message in context.messages if message.id is not None]
    if known is None:
        places = [at for at, message in enumerate(window) if message.role == "user"]
    else:
        places = [at for at, message in enumerate(window) if message.id == known.message_id]
    place = places[-1] if places else len(window)
    quoted = [ChatMessage(role=MessageRole.USER, content=note.text) for note in notes]
    return [*as_seen(window[:place]), *quoted, *as_seen(window[place:])]


def as_seen(messages: Iterable[Message]) -> list[ChatMessage]:
    """Return messages as models see them."""
    seen = to_llamaindex(messages)
    for block in (block for message in seen for block in message.blocks if isinstance(block, TextBlock)):
        text = visible(block.text)
        if text is not block.text:  # assigning costs more than looking
            block.text = text
    return seen


def words(input: str | ChatMessage | None) -> str | None:
    """Return what somebody says in words; None when there are none."""
    return (from_llamaindex(input)[0].text if isinstance(input, ChatMessage) else input) or None


def carry_out(session: Session, write: Write) -> tuple[Message, ...]:
    """Do to a session what a write says, and return what was added."""
    if not write.anew:
        return session.sync.add(*write.messages)
    there = session.sync.transcript() or write.cleared
    stays, wanted = _difference(there, write.messages)
    if not stays:
        write.cleared = there
        session.sync.clear()
    return session.sync.add(*wanted)


async def acarry_out(session: Session, write: Write) -> tuple[Message, ...]:
    """Do what `carry_out` does."""
    if not write.anew:
        return await session.add(*write.messages)
    there = await session.transcript() or write.cleared
    stays, wanted = _difference(there, write.messages)
    if not stays:
        write.cleared = there
        await session.clear()
    return await session.add(*wanted)


def _difference(there: Sequence[Message], wanted: Sequence[Message]) -> tuple[bool, list[Message]]:
    """Return whether what is there may stay, and what to add then; messages that are there already are themselves."""
    new = [replace(message, id=None) for message in wanted if not is_block(message.text)]
    old = from_llamaindex(*to_llamaindex(there))
    if old == tuple(new[: len(old)]):
        return True, new[len(old) :]
    known: defaultdict[tuple[str, str], list[tuple[Message, Message]]] = defaultdict(list)
    for one, stored in zip(old, there, strict=True):
        known[one.role, one.text].append((one, stored))
    kept = []
    for message in new:
        alike = known[message.role, message.text]
        at = next((at for at, (one, _) in enumerate(alike) if one == message), None)
        kept.append(message if at is None else alike.pop(at)[1])
    return False, kept
