"""Export and import of one user as JSON Lines: one object per memory or message, merged by id."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from datetime import datetime
from pathlib import Path
from typing import Any, TextIO

from langchain_tiered_memory.core import inputs
from langchain_tiered_memory.core.admission import Admission
from langchain_tiered_memory.core.bodies import bodies_of
from langchain_tiered_memory.core.errors import InvalidInput, TieredMemoryError
from langchain_tiered_memory.core.messages import to_message
from langchain_tiered_memory.core.model import MEMORY_FIELDS, MESSAGE_FIELDS, Memory, Message, Tier, to_utc
from langchain_tiered_memory.core.parts import Parts
from langchain_tiered_memory.core.ports import Change, Entry, StoredMessage
from langchain_tiered_memory.core.progress import Progress
from langchain_tiered_memory.core.question import is_lost
from langchain_tiered_memory.core.reports import TransferReport
from langchain_tiered_memory.core.snapshots import Snapshots
from langchain_tiered_memory.core.summary import is_talk

BY = "import"
_BATCH = 500
_TIMES = ("created_at", "last_accessed", "observed_at", "valid_to")
_KINDS = ("memory", "message")
_EMPTY: tuple[object, ...] = ((), [], {}, "")
_Ordered = tuple[Memory, int | None]
"""A memory and its place in the order of writing, if it is told."""
_APART = re.compile("[\ud800-\udbff][\udc00-\udfff]")


class Transfer:
    """Carries a user's memories and transcripts out of a system and into another."""

    def __init__(self, parts: Parts, snapshots: Snapshots, admission: Admission) -> None:
        self._parts = parts
        self._snapshots = snapshots
        self._admission = admission

    def write(self, user_id: str, file: str | Path | TextIO) -> TransferReport:
        """Write `lines` to a text file, or to a path that appears only when it is complete.

        What a path leads to is kept: a link stays one, and into a pipe or a device the lines go as they come.

        Raises:
            InvalidInput: It is neither, or no text can be written to it.
        """
        path = inputs.path("file", file)
        if path is None:
            return _written(file, self.lines(user_id))
        target = path.resolve()
        if target.exists() and not target.is_file():
            with target.open("w", encoding="utf-8", errors="surrogatepass") as out:
                return _written(out, self.lines(user_id))
        part = target.with_name(target.name + ".part")
        try:
            with part.open("w", encoding="utf-8", errors="surrogatepass") as out:
                report = _written(out, self.lines(user_id))
            part.replace(target)
        finally:
            part.unlink(missing_ok=True)
        return report

    def read(self, user_id: str, file: str | Path | TextIO) -> TransferReport:
        """Merge a text file, or the file at a path; see `load`.

        Raises:
            InvalidInput: It is neither, or no text in UTF-8, or a line is not one of an export.
        """
        path = inputs.path("file", file)
        if path is None:
            return self.load(user_id, _texts(file))
        with path.open(encoding="utf-8", errors="surrogatepass") as lines:
            return self.load(user_id, _texts(lines))

    def lines(self, user_id: str) -> Iterator[str]:
        """Yield one JSON text per memory in the order of writing, then per message, sessions one after the other."""
        snapshot = self._snapshots.strict(user_id)
        now, keeps = self._parts.clock(), self._parts.settings.short_term.promote_importance
        with snapshot.lock:
            kept = (entry for entry in snapshot.entries() if not is_lost(entry, now, keeps))
            heads = sorted(kept, key=lambda entry: entry.order)
        order_of = {entry.memory.id: entry.order for entry in heads}
        progress = Progress("exporting", lambda: len(heads) + sum(self._talks(user_id).values()))
        for start in range(0, len(heads), _BATCH):
            batch = [entry.memory for entry in heads[start : start + _BATCH]]
            for memory in bodies_of(self._parts, user_id, batch):
                yield _line({"kind": "memory", "order": order_of[memory.id], **_plain(asdict(memory))})
            progress.advance(len(batch))
        for session_id in sorted(self._talks(user_id)):
            told = self._messages(user_id, session_id)
            for one in told:
                fields_of = {name: getattr(one.message, name) for name in MESSAGE_FIELDS}
                where = {"session_id": session_id, "agent_id": one.agent_id}
                yield _line({"kind": "message", **where, **_plain(fields_of)})
            progress.advance(len(told))

    def load(self, user_id: str, lines: Iterable[str]) -> TransferReport:
        """Merge lines written by `lines` into a user; what was forgotten stays so. All go to long-term memory.

        Raises:
            InvalidInput: A line is not one of an export; nothing was imported.
        """
        report = TransferReport()
        memories: list[_Ordered] = []
        messages: list[StoredMessage] = []
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            row = _row(line, number)
            if row["kind"] == "message":
                messages.append(self._message(row, f"line {number}"))
            else:
                memory, order = memory_in(row, f"line {number}", self._limit)
                memories.append((replace(memory, user_id=user_id), order))
        progress = Progress("importing", lambda: len(memories) + len(messages))
        for start in range(0, len(memories), _BATCH):
            batch = memories[start : start + _BATCH]
            report = self._apply(user_id, batch, report)
            progress.advance(len(batch))
        return self._append(user_id, messages, report, progress)

    def _apply(self, user_id: str, memories: Sequence[_Ordered], report: TransferReport) -> TransferReport:
        entries = [self._entry(memory, order) for memory, order in memories]
        items = {item.id: item for item in self._parts.items.get(user_id, [entry.memory.id for entry in entries])}
        merged = [
            self._merged(entry, items[entry.memory.id]) if entry.memory.id in items else entry for entry in entries
        ]
        change = Change(entries=tuple(merged), at=self._parts.clock(), by=BY, strict=False)
        outcomes = [placed.outcome for placed in self._parts.records.apply(user_id, change)]
        self._parts.items.remove(user_id, dict.fromkeys(items))
        new = [
            outcome == "created" and entry.memory.id not in items
            for outcome, entry in zip(outcomes, entries, strict=True)
        ]
        skipped = outcomes.count("forgotten")
        return replace(
            report,
            memories=report.memories + sum(new),
            skipped=report.skipped + skipped,
            merged=report.merged + len(new) - sum(new) - skipped,
        )

    def _merged(self, entry: Entry, item: Memory) -> Entry:
        """Return the item that has the entry's id as the record to be: what is there stays, counts take the higher."""
        memory = replace(
            item,
            tier=Tier.LONG_TERM,
            access_count=max(item.access_count, entry.memory.access_count),
            last_accessed=max(item.last_accessed, entry.memory.last_accessed),
        )
        return self._entry(memory, entry.order)

    def _entry(self, memory: Memory, order: int | None) -> Entry:
        entry = self._admission.entry(memory, self._parts.clock(), repeatable=False)
        return entry if order is None else replace(entry, order=order)

    def _append(
        self, user_id: str, messages: list[StoredMessage], report: TransferReport, progress: Progress
    ) -> TransferReport:
        by_session: dict[str, list[StoredMessage]] = {}
        for one in messages:
            by_session.setdefault(one.session_id, []).append(one)
        added = merged = 0
        for session_id, group in by_session.items():
            new = self._parts.transcripts.append(user_id, session_id, group, placed=True)
            added += sum(new)
            merged += len(new) - sum(new)
            progress.advance(len(group))
        return replace(report, messages=added, merged=report.merged + merged)

    @property
    def _limit(self) -> int:
        return self._parts.settings.placement.max_content_bytes

    def _message(self, row: Mapping[str, Any], where: str) -> StoredMessage:
        message, session_id, agent_id = message_in(row, where, self._limit)
        counter = self._parts.counter
        return StoredMessage(message, 0, counter.message(message), counter.name, agent_id, session_id)

    def _talks(self, user_id: str) -> dict[str, int]:
        """Return how many messages each session has in which something was said."""
        return {one: count for one, count in self._parts.transcripts.sessions(user_id).items() if is_talk(one)}

    def _messages(self, user_id: str, session_id: str) -> list[StoredMessage]:
        found: list[StoredMessage] = []
        before: int | None = None
        while page := self._parts.transcripts.tail(user_id, session_id, before=before, limit=_BATCH):
            found += page
            before = page[-1].position
        return found[::-1]


def memory_in(row: Mapping[str, Any], where: str, max_bytes: int) -> _Ordered:
    """Return the memory in a row of an export, of nobody yet, and its place in the order of writing if that is told.

    Args:
        row: The row.
        where: Its place in the file, for errors.
        max_bytes: The most bytes of its content.

    Raises:
        InvalidInput: It is none.
    """
    try:
        known: dict[str, Any] = {name: row[name] for name in MEMORY_FIELDS if row.get(name) is not None}
        known |= {name: _instant(known[name]) for name in _TIMES if name in known}
        memory = inputs.memory(Memory(**{**known, "user_id": "", "tier": Tier.LONG_TERM}), max_bytes)
        inputs.label("id", memory.id)
        return memory, None if row.get("order") is None else inputs.count("order", row["order"], 0)
    except (TypeError, ValueError, OverflowError) as error:
        raise InvalidInput(where, "memory", f"a memory of an export is needed ({error})") from error


def message_in(row: Mapping[str, Any], where: str, max_bytes: int) -> tuple[Message, str, str | None]:
    """Return the message in a row of an export, its session and its agent; see `memory_in`."""
    try:
        known = {name: row[name] for name in MESSAGE_FIELDS if name in row}
        message = to_message({**known, "created_at": _instant(row["created_at"])})
        inputs.label("id", message.id)
        inputs.size("message.content", message.text, max_bytes)
        session_id = inputs.label("session_id", row["session_id"])
        return message, session_id, inputs.optional_label("agent_id", row.get("agent_id"))
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise InvalidInput(where, "message", f"a message of an export is needed ({error})") from error


def _written(out: object, lines: Iterable[str]) -> TransferReport:
    write = getattr(out, "write", None)
    if not callable(write):
        raise InvalidInput("file", out, "a path or an open text file is needed")
    memories = messages = 0
    for line in lines:
        try:
            write(line + "\n")
        except (TypeError, ValueError) as error:
            remedy = "a path is needed, or a file open for writing text in UTF-8 (errors='surrogatepass')"
            raise InvalidInput("file", out, f"{remedy}: {type(error).__name__}") from error
        is_memory = line.startswith('{"kind": "memory"')
        memories, messages = memories + is_memory, messages + (not is_memory)
    return TransferReport(memories=memories, messages=messages)


def _texts(lines: object) -> Iterator[str]:
    """Yield the lines of a text, and say in our words what it is when it is none."""
    if isinstance(lines, (bytes, bytearray, Mapping)) or not isinstance(lines, Iterable):
        raise InvalidInput("file", lines, "a path or an open text file is needed")
    try:
        for line in lines:
            if not isinstance(line, str):
                kind = type(line).__name__
                raise InvalidInput("file", lines, f"lines of text are needed, not of {kind}: open it as text")
            yield line
    except TieredMemoryError:
        raise
    except UnicodeDecodeError as error:
        raise InvalidInput("file", lines, f"a text in UTF-8 is needed ({error.reason})") from None
    except ValueError as error:
        raise InvalidInput("file", lines, f"a text file open for reading is needed ({error})") from error


def _row(line: str, number: int) -> Mapping[str, Any]:
    try:
        row = json.loads(line.removeprefix("\ufeff"))  # some editors begin a file with it
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"line {number}", "text", f"one JSON object per line is needed ({error})") from None
    if not isinstance(row, dict) or row.get("kind") not in _KINDS:
        raise InvalidInput(f"line {number}", "JSON", f"an object whose kind is one of {', '.join(_KINDS)} is needed")
    return row


def _line(row: Mapping[str, Any]) -> str:
    """Return a row as JSON in ASCII, but for one with surrogates apart, which escapes would join to a character."""
    text = json.dumps(row, ensure_ascii=False)
    return text if text.isascii() or _APART.search(text) else json.dumps(row)


def _instant(value: object) -> datetime:
    if not isinstance(value, str):
        raise TypeError("an instant is text of ISO 8601")
    return to_utc(datetime.fromisoformat(value))


def _plain(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values as JSON can hold them, without those that say nothing; 0 says something, and so does ""."""
    told = {name: value for name, value in values.items() if value is not None and value is not False}
    full = {name: value for name, value in told.items() if name == "content" or value not in _EMPTY}
    return {name: value.isoformat() if isinstance(value, datetime) else value for name, value in full.items()}
