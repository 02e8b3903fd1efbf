"""What an import is told, what it finds, and how much it takes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, tzinfo
from enum import StrEnum

from langchain_tiered_memory.core.model import NewMemory


class Format(StrEnum):
    """The formats of others that are understood here."""

    CHATGPT = "chatgpt"
    WHATSAPP = "whatsapp"
    LANGCHAIN = "langchain"
    LLAMAINDEX = "llamaindex"
    MEM0 = "mem0"


@dataclass(frozen=True, slots=True)
class Limits:
    """How much of a file is taken. A conversation that is larger is most likely none.

    Attributes:
        characters: Most characters of what has to be held at once: a conversation, a document that is no list, a line.
        depth: Most levels of lists and objects.
        things: Most messages or memories in one file, stored or skipped.
        bytes: Most bytes of a stream, which has to be kept while it is looked through.
        members: Most files in a ZIP.
        unpacked: Most bytes of what is read of a ZIP, unpacked.
        ratio: Most bytes that one packed byte may stand for. Chats come to about ten.
    """

    characters: int = 40_000_000
    depth: int = 100
    things: int = 2_000_000
    bytes: int = 1_000_000_000
    members: int = 50_000
    unpacked: int = 4_000_000_000
    ratio: int = 200


@dataclass(frozen=True, slots=True)
class Options:
    """What a file does not say by itself.

    Attributes:
        me: Which name in it is the user's; what others said is never taken for theirs.
        day_first: Whether 1/2 is the first of February; None lets the whole file decide.
        timezone: Where its clock stood, for times without a zone; None is this machine's.
        said_at: When something was said that bears no date.
        session: The session of a file that holds one conversation; None names it after the file.
        all_branches: Whether what was edited away, or answered anew, is taken too.
        source_user: Whose memories to take, of a file that holds several users'.
    """

    me: str | None = None
    day_first: bool | None = None
    timezone: tzinfo | None = None
    said_at: datetime | None = None
    session: str | None = None
    all_branches: bool = False
    source_user: str | None = None
    limits: Limits = field(default_factory=Limits)


@dataclass(frozen=True, slots=True)
class Skipped:
    """Something in a file that is not remembered.

    Attributes:
        where: Its place in words: "line 3", "item 2, node 5f1c".
        why: The reason; one of few, so that they can be counted.
        detail: More about this one, if there is more to say.
    """

    where: str
    why: str
    detail: str = ""


Found = Iterator[NewMemory | Skipped]
"""What a file holds, in its order."""
Tell = Callable[[str], None]
"""Takes a sentence on how the file was read, for the report."""
