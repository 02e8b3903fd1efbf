"""Exports that come as a ZIP: the file in it that is meant, read where it is. Nothing is unpacked to disk.

Names in an archive only choose what is read, so it does not matter where they would lead. What an archive says of
itself is not believed: sizes are limited before anything is read, and again while it is.
"""

from __future__ import annotations

import codecs
import io
import re
import struct
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import PurePosixPath
from typing import IO
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile, ZipInfo

from langchain_tiered_memory.core.errors import InvalidInput, shown
from langchain_tiered_memory.importers.found import Limits

BEGINNINGS = (b"PK\x03\x04", b"PK\x05\x06")
"""How a ZIP begins, and one in which there is nothing."""
_MOST_AT_ONCE = 8_000_000
"""Most bytes that are read at once: the list of files is, before it can be known how many there are."""
_SMALL = 1_000_000
"""Bytes below which a file may be packed as tightly as it likes."""
_LOCKED = 0x1 | 0x40 | 0x2000
_PACKED = {ZIP_STORED, ZIP_DEFLATED}
"""What unpacks as much as it is asked for, and no more."""
_TEXTS = {".json", ".jsonl", ".ndjson", ".txt"}
_PART = re.compile(r"conversations-(\d{1,9})\.json", re.IGNORECASE)
_CHAT = re.compile(r"_chat(?:\s?\(\d+\))?\.txt", re.IGNORECASE)
_COPY = re.compile(r"\s\(\d+\)$")
_NAMED = 3
_BROKEN = (BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError, struct.error, IndexError)
"""What damaged archives make the reader of archives raise."""

Opened = Callable[[], AbstractContextManager[IO[bytes]]]


class Archive:
    """What is meant in a ZIP, as one file.

    Attributes:
        name: Its name without the ending.
        size: Its bytes, unpacked.
        note: Which it is, in a sentence.
    """

    def __init__(self, opened: Opened, called: str, limits: Limits) -> None:
        """Choose what is read.

        Args:
            opened: Opens the archive.
            called: The archive's name without the ending.
            limits: How much is taken of it.

        Raises:
            InvalidInput: It is damaged, encrypted or beyond the limits, or nothing in it is known to be meant.
        """
        self._opened = opened
        self._called = called
        with self._files() as files:
            listed = files.infolist()
            if len(listed) > limits.members:
                raise self._refused(f"at most {limits.members} files in a ZIP are possible: unpack it")
            meant, self._chosen = _meant(listed, called)
            if not self._chosen:
                raise self._refused(_unclear(meant))
            for one in self._chosen:
                self._check(one, limits)
        self.name = PurePosixPath(_path(self._chosen[0])).stem
        self.size = sum(one.file_size for one in self._chosen)
        if self.size > limits.unpacked:
            raise self._refused(f"at most {limits.unpacked} bytes, unpacked, are possible")
        first = shown(_path(self._chosen[0]))
        more = f" and {len(self._chosen) - 1} more" if len(self._chosen) > 1 else ""
        of = f"{len(listed)} file{'' if len(listed) == 1 else 's'}"
        self.note = f"read from the ZIP: {first}{more}, of {of} in it"

    def blocks(self, size: int) -> Iterator[bytes]:
        """Yield what is in it, at most so many bytes at once; where it comes in parts, one below the other.

        Raises:
            InvalidInput: It is damaged.
        """
        for number, one in enumerate(self._chosen):
            done = 0
            if number:
                yield b"\n"
            with self._files() as files, files.open(one) as file:
                while block := file.read(size):
                    yield block.removeprefix(codecs.BOM_UTF8) if number and not done else block
                    done += len(block)
            if done != one.file_size:
                raise self._refused(f"{shown(_path(one))} in it ends too early: fetch it anew")

    @contextmanager
    def _files(self) -> Iterator[ZipFile]:
        """Open it, and say in our words what is wrong with it."""
        try:
            with self._opened() as raw, ZipFile(_Sparing(raw, self._refused)) as files:
                yield files
        except InvalidInput:
            raise  # which is a ValueError too
        except _BROKEN as error:
            told = f" ({error})" if str(error) else ""
            raise self._refused(f"it is damaged{told}: fetch it anew, or unpack it") from error

    def _check(self, one: ZipInfo, limits: Limits) -> None:
        name = shown(_path(one))
        if one.flag_bits & _LOCKED:
            raise self._refused(f"{name} in it is encrypted: unpack it with its password, and give that file")
        if one.compress_type not in _PACKED:
            raise self._refused(f"{name} in it is packed in a way that is not read here: unpack it")
        if one.file_size > _SMALL and one.file_size > limits.ratio * one.compress_size:
            raise self._refused(f"{name} in it would unpack to more than {limits.ratio} times its size")

    def _refused(self, remedy: str) -> InvalidInput:
        return InvalidInput("file", self._called, remedy)


class _Sparing(io.BufferedIOBase):
    """A file of which not everything is read at once, whatever it says of itself."""

    def __init__(self, raw: IO[bytes], refused: Callable[[str], InvalidInput]) -> None:
        super().__init__()
        self._raw = raw
        self._refused = refused

    def read(self, size: int | None = -1, /) -> bytes:
        """Read so many bytes; all the rest only near its end."""
        if size is not None and size > _MOST_AT_ONCE:
            raise self._refused("its list of files is too long: unpack it")
        return self._raw.read(_MOST_AT_ONCE if size is None or size < 0 else size)

    def seek(self, offset: int, whence: int = 0, /) -> int:
        """Go to a place."""
        return self._raw.seek(offset, whence)

    def tell(self) -> int:
        """Return the place."""
        return self._raw.tell()

    def seekable(self) -> bool:
        """Say that it has places."""
        return True


def _meant(listed: Sequence[ZipInfo], called: str) -> tuple[list[ZipInfo], list[ZipInfo]]:
    """Return what may be meant, and what is: ChatGPT's conversations, WhatsApp's chat, or the only text.

    The second is empty when it is not clear.
    """
    texts = [one for one in listed if _is_text(one)]
    conversations = [one for one in texts if _path(one).rpartition("/")[2].lower() == "conversations.json"]
    parts = sorted((one for one in texts if _number(one) is not None), key=lambda one: _number(one) or 0)
    chats = [one for one in texts if _CHAT.fullmatch(_path(one).rpartition("/")[2])]
    alike = [one for one in texts if PurePosixPath(_path(one)).stem == _COPY.sub("", called)]
    apart = len({_number(one) for one in parts}) == len(parts)
    for some in (conversations, parts if apart else [], chats, alike, texts):
        if some:
            return some, some if some is parts or len(some) == 1 else []
    return [], []


def _unclear(meant: Sequence[ZipInfo]) -> str:
    texts = [shown(_path(one)) for one in meant]
    if not texts:
        return "there is no text in it, such as conversations.json or _chat.txt; a ZIP in it is not looked into"
    more = ", …" if len(texts) > _NAMED else ""
    return f"{', '.join(texts[:_NAMED])}{more} in it may be meant: unpack it, and give the one that is"


def _is_text(one: ZipInfo) -> bool:
    path = PurePosixPath(_path(one))
    hidden = any((part.startswith(".") and part != "..") or part == "__MACOSX" for part in path.parts)
    return not one.is_dir() and not hidden and path.suffix.lower() in _TEXTS


def _path(one: ZipInfo) -> str:
    return one.filename.replace("\\", "/")


def _number(one: ZipInfo) -> int | None:
    found = _PART.fullmatch(_path(one).rpartition("/")[2])
    return None if found is None else int(found[1])
