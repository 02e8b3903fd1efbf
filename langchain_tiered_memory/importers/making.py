"""What all formats share: from what a file says to a memory, or to the reason why there is none."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from langchain_tiered_memory.core import inputs
from langchain_tiered_memory.core.derive import digest
from langchain_tiered_memory.core.errors import InvalidInput
from langchain_tiered_memory.core.model import Message, NewMemory, Tier
from langchain_tiered_memory.importers.found import Format, Options, Skipped

MOST_BYTES = 16_000_000
"""Most bytes of one memory's text."""
ODD = "it is not what this format has there"
EMPTY = "it has no text"
INSTRUCTION = "it is an instruction of the system"
TOOL = "it is what a tool said"
UNSTORABLE = "it cannot be stored"
_KNOWN = {"human": "user", "ai": "assistant", "chatbot": "assistant", "model": "assistant", "developer": "system"}
_UNSAID = {"system": INSTRUCTION, "tool": TOOL, "function": TOOL}
_MILLISECONDS, _NANOSECONDS = 1e11, 1e17
"""From these on a number counts not seconds but something smaller."""


def role_of(value: object) -> str | None:
    """Return a role in our words, in lower case; None when it is none."""
    if not isinstance(value, str) or not value:
        return None
    name = value.lower().removeprefix("messagerole.").removesuffix("messagechunk").removesuffix("message")
    return _KNOWN.get(name, name or None)


def text_of(value: object) -> str:
    """Return the text of a message's content: a string, or parts of it in any framework's writing."""
    if isinstance(value, str):
        return value
    if not isinstance(value, list):
        return ""
    return "\n".join(text for text in map(_part, value) if text)


def _part(part: object) -> str:
    if isinstance(part, str):
        return part
    if not isinstance(part, Mapping):
        return ""
    kind = part.get("type", part.get("block_type", part.get("content_type", "text")))
    text = part.get("text")
    return text if kind in (*Message.TEXT_PARTS, "audio_transcription") and isinstance(text, str) else ""


def mapping(value: object) -> Mapping[str, Any]:
    """Return a mapping as it is, and anything else as an empty one."""
    return value if isinstance(value, Mapping) else {}


class Maker:
    """Makes the memories of one reading of a file.

    Attributes:
        undated: How many bore no date.
    """

    def __init__(self, origin: Format, options: Options) -> None:
        self._origin = origin
        self._options = options
        self._times: Counter[str] = Counter()
        self.undated = 0

    def instant(self, value: object) -> datetime | None:
        """Read seconds, milliseconds or nanoseconds since 1970, or ISO 8601; None when it is no instant."""
        try:
            if isinstance(value, str):
                read = datetime.fromisoformat(value)
                return self.utc(read)
            if isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value) and value > 0:
                scale = 1e9 if value >= _NANOSECONDS else 1e3 if value >= _MILLISECONDS else 1
                return datetime.fromtimestamp(value / scale, UTC)
        except (ValueError, OverflowError, OSError):
            return None
        return None

    def utc(self, read: datetime) -> datetime | None:
        """Return an instant in UTC; one without a zone is of the file's. None when there is none in UTC."""
        try:
            zoned = read if read.tzinfo is not None else read.replace(tzinfo=self._options.timezone)
            return zoned.astimezone(UTC)
        except (ValueError, OverflowError, OSError):
            return None

    def message(
        self,
        where: str,
        role: str | None,
        text: str,
        *,
        session: str,
        at: datetime | None,
        stamp: object = None,
        key: object = None,
        name: object = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> NewMemory | Skipped:
        """Return what somebody said in a conversation.

        Args:
            where: Its place in the file.
            role: Who said it; what a system or a tool said is not remembered.
            text: What was said.
            session: The conversation.
            at: When.
            stamp: The date as the file writes it, where what it means is up to the options.
            key: What identifies it in its conversation. Without it author, date and text do, and which of those that
                are equal in all of them it is: so a longer export, or one that begins later, has the same ids.
            name: The speaker's name.
            metadata: Anything to attach.
        """
        if role in _UNSAID:
            return Skipped(where, _UNSAID[role])
        if not text.strip():
            return Skipped(where, EMPTY)
        session = session if len(session) <= inputs.MAX_ID_CHARS else digest("session", session)
        if key is None:
            same = digest(session, None if stamp else role, name, text, stamp or at)
            key = [same, self._times[same]]
            self._times[same] += 1
        return self.memory(
            where,
            text,
            key=[session, key],
            session_id=session or None,
            role=role,
            name=name or None,
            at=at,
            metadata=metadata,
        )

    def memory(
        self, where: str, text: object, *, key: object, at: datetime | None, **fields: Any
    ) -> NewMemory | Skipped:
        """Return a memory of long-term memory, checked.

        Args:
            where: Its place in the file.
            text: Its text.
            key: What identifies it in its source.
            at: When it was said.
            fields: Fields of `NewMemory`.
        """
        if at is None:
            self.undated += 1
            at = self._options.said_at
        try:
            inputs.content(text, MOST_BYTES)
            fields["metadata"] = inputs.metadata(fields.get("metadata")) or None
            for label in ("session_id", "agent_id", "role", "name"):
                inputs.optional_label(label, fields.get(label))
        except InvalidInput as error:
            return Skipped(where, UNSTORABLE, f"{error.field}: {error.remedy}")
        return NewMemory(
            str(text),
            tier=Tier.LONG_TERM,
            observed_at=at,
            origin=str(self._origin),
            id=digest("import", str(self._origin), key),
            **fields,
        )


def listed(value: object) -> Sequence[object]:
    """Return a list as it is, and anything else as one thing in a list."""
    return value if isinstance(value, list) else [value]
