"""The one door: from a file to memories, with an account of what was skipped and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime, tzinfo
from itertools import islice
from typing import Any
from zoneinfo import ZoneInfo

from langchain_tiered_memory.core import inputs
from langchain_tiered_memory.core.errors import InvalidInput
from langchain_tiered_memory.core.model import NewMemory
from langchain_tiered_memory.importers import chatgpt, langchain, llamaindex, mem0, whatsapp
from langchain_tiered_memory.importers.detecting import detect
from langchain_tiered_memory.importers.found import Format, Found, Limits, Options, Skipped
from langchain_tiered_memory.importers.making import Maker
from langchain_tiered_memory.importers.scanning import values
from langchain_tiered_memory.importers.source import Source, is_database

AUTO = "auto"
_EXAMPLES = 5
_JSON = {Format.CHATGPT: chatgpt.read, Format.LANGCHAIN: langchain.read, Format.LLAMAINDEX: llamaindex.read}


@dataclass(frozen=True, slots=True)
class ReadingReport:
    """What was found in a file so far.

    Attributes:
        read: Messages and memories looked at.
        sessions: Conversations they belong to.
        skipped: How many were skipped, by reason.
        examples: The first of them.
        notes: How the file was understood, in sentences.
    """

    read: int = 0
    sessions: int = 0
    skipped: dict[str, int] = field(default_factory=dict)
    examples: tuple[Skipped, ...] = ()
    notes: tuple[str, ...] = ()


class Reading:
    """A file as memories: iterate over it, as often as you like. What was found meanwhile is in `report`.

    Attributes:
        format: The format of the file.
        because: Why it is taken for that.
    """

    def __init__(self, source: Source, format: Format, because: str, options: Options) -> None:
        self.format = format
        self.because = because
        self._source = source
        self._options = options
        self._notes: list[str] = []
        self._begin()

    @property
    def share(self) -> float:
        """How much of the file was read, from 0 to 1."""
        return self._source.share

    @property
    def report(self) -> ReadingReport:
        """What was found so far; complete at the end of an iteration."""
        return ReadingReport(
            self._read, len(self._sessions), dict(self._skipped), tuple(self._examples), tuple(self._notes)
        )

    def __iter__(self) -> Iterator[NewMemory]:
        """Yield the memories in the order of the file.

        Raises:
            InvalidInput: It is no file of this format, or goes beyond the limits.
        """
        self._begin()
        self._notes += filter(None, [self._source.note])
        maker = Maker(self.format, self._options)
        for one in self._found(maker):
            self._read += 1
            if self._read > self._options.limits.things:
                remedy = f"at most {self._options.limits.things} messages and memories of one file are possible"
                raise InvalidInput("file", self._source.name, remedy)
            if isinstance(one, Skipped):
                self._skip(one)
            else:
                self._sessions.update(() if one.session_id is None else (one.session_id,))
                yield one
        if maker.undated:
            self._notes.append(self._undated(maker.undated))

    def batches(self, size: int = 100) -> Iterator[list[NewMemory]]:
        """Yield the memories in lists of at most so many."""
        each = iter(self)
        while batch := list(islice(each, inputs.count("size", size))):
            yield batch

    def _begin(self) -> None:
        self._read = 0
        self._sessions: set[str] = set()
        self._skipped: Counter[str] = Counter()
        self._examples: list[Skipped] = []
        self._notes.clear()

    def _skip(self, one: Skipped) -> None:
        self._skipped[one.why] += 1
        if self._skipped[one.why] <= _EXAMPLES:
            self._examples.append(one)

    def _undated(self, number: int) -> str:
        at = self._options.said_at
        when = "now" if at is None else f"on {at.date().isoformat()}"
        return f"{number} bear no date: they count as said {when}"

    def _found(self, maker: Maker) -> Found:
        tell = self._notes.append
        if self.format is Format.WHATSAPP:
            return whatsapp.read(self._source, self._options, maker, tell)
        if self.format is not Format.MEM0:
            return _JSON[self.format](self._elements(), self._options, maker, tell)
        if is_database(self._source.head()):
            if self._source.path is None:
                raise InvalidInput(
                    "file", "SQLite", "a database is read from its place: give the path, of a ZIP unpacked"
                )
            return mem0.read_history(self._source.path, maker, tell)
        if self._options.source_user is None:
            mem0.only_user(self._elements())
        return mem0.read(self._elements(), self._options, maker, tell)

    def _elements(self) -> Iterable[tuple[str, Any]]:
        return values(self._source.chunks(), self._options.limits)


def read(
    file: object,
    format: str = AUTO,
    *,
    me: str | None = None,
    day_first: bool | None = None,
    timezone: tzinfo | str | None = None,
    said_at: datetime | None = None,
    session: str | None = None,
    all_branches: bool = False,
    source_user: str | None = None,
    limits: Limits | None = None,
) -> Reading:
    """Return a file of another program's as memories, for `remember_many` or for `importers.remember`.

    Their ids come from the file, so that the same file again adds nothing, and a longer one the rest.

    Args:
        file: A path, or an open file; of a stream what is read is kept until it is done. Of a ZIP what is meant in it
            is read: conversations.json (ChatGPT, in parts too), WhatsApp's chat, or else the only text.
        format: "chatgpt", "whatsapp", "langchain", "llamaindex" or "mem0"; "auto" looks into the file.
        me: The user's name in a chat of several people; what the others said has the role "other".
        day_first: Whether 1/2 is the first of February; None lets the whole file decide.
        timezone: Where the file's clock stood, as a zone or its name, such as "Europe/Oslo"; None is this machine's.
        said_at: When something was said that bears no date; None is when the file was last changed.
        session: The session of a file that holds one conversation; None names it after the file.
        all_branches: Whether what was edited away in ChatGPT, or answered anew, is taken too.
        source_user: Whose memories to take, of a mem0 file that holds several users'.
        limits: How much of a file is taken.

    Raises:
        InvalidInput: An argument cannot be used, or the file is in no format known here.
        OSError: It cannot be read.
    """
    source = Source(file, limits or Limits())
    options = options_of(
        source,
        me=me,
        day_first=day_first,
        timezone=timezone,
        said_at=said_at,
        session=session,
        all_branches=all_branches,
        source_user=source_user,
    )
    return reading_of(source, format, options)


def options_of(
    source: Source,
    *,
    me: str | None,
    day_first: bool | None,
    timezone: tzinfo | str | None,
    said_at: datetime | None,
    session: str | None,
    all_branches: bool,
    source_user: str | None,
) -> Options:
    """Return what `read` was told, checked."""
    return Options(
        inputs.optional_label("me", me),
        None if day_first is None else inputs.flag("day_first", day_first),
        _zone(timezone),
        inputs.instant("said_at", said_at) or source.changed,
        inputs.optional_label("session", session),
        inputs.flag("all_branches", all_branches),
        inputs.optional_label("source_user", source_user),
        source.limits,
    )


def reading_of(source: Source, format: str, options: Options) -> Reading:
    """Return the reading of a source; see `read`."""
    if format == AUTO:
        found = detect(source)
        if found is None:
            remedy = f"one of {', '.join(Format)} is needed: the file looks like none of them"
            raise InvalidInput("format", format, remedy)
        kind, because = found.format, found.because
    else:
        try:
            kind, because = Format(format), "it was said so"
        except ValueError:
            raise InvalidInput("format", format, f"auto, or one of {', '.join(Format)}, is needed") from None
    if kind in (Format.LANGCHAIN, Format.LLAMAINDEX) and options.session is None:
        options = replace(options, session=source.name)
    return Reading(source, kind, because, options)


def _zone(given: tzinfo | str | None) -> tzinfo | None:
    if given is None or isinstance(given, tzinfo):
        return given
    try:
        return ZoneInfo(given)
    except (ValueError, OSError, KeyError, TypeError, AttributeError):
        raise InvalidInput("timezone", given, "a name such as Europe/Oslo or UTC is needed") from None
