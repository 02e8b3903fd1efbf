"""Where the bytes of a file come from: a path, or a stream that is kept while it is looked through; or a ZIP there."""

from __future__ import annotations

import codecs
import io
import weakref
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, nullcontext
from datetime import UTC, datetime
from pathlib import Path
from tempfile import SpooledTemporaryFile
from typing import IO, Any, cast

from langchain_tiered_memory.core import inputs
from langchain_tiered_memory.core.errors import InvalidInput
from langchain_tiered_memory.importers.archive import BEGINNINGS, Archive, Opened
from langchain_tiered_memory.importers.found import Limits

_BLOCK = 1_000_000
_IN_MEMORY = 16_000_000
_LEAST_BLOCK = 16_384
_STEPS = 100
"""So many blocks, or more, to a file: how much of it was read is told after each."""
_PACKED = (*BEGINNINGS, b"\x1f\x8b", b"7z\xbc\xaf", b"Rar!", b"\xfd7zXZ", b"BZh")
"""How archives begin that are not looked into; a ZIP among them is one within another."""
_WIDE = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


class Source:
    """A file that can be read from its beginning more than once. A ZIP is what is meant in it.

    Attributes:
        path: Where it is; None for a stream, and for what is in a ZIP.
        changed: When it was last changed; None when that is not known.
        size: Its bytes; 0 while that is not known.
        done: Bytes that the present reading has taken.
    """

    def __init__(self, file: object, limits: Limits) -> None:
        self.path = inputs.path("file", file)
        self.limits = limits
        self.changed: datetime | None = None
        self.size = self.done = 0
        self._held = bytearray()
        self._kept: SpooledTemporaryFile[bytes] | None = None
        self._archive: Archive | None = None
        self._looked = False
        self._stream = None if self.path is not None else _readable(file)
        if self.path is not None:
            about = self.path.stat()
            self.size = about.st_size
            self.changed = datetime.fromtimestamp(about.st_mtime, UTC)
            path = self.path
            if path.is_file():  # of a pipe nothing comes twice
                self._open_archive(lambda: path.open("rb"), path.stem)

    @property
    def name(self) -> str:
        """Its name without the ending, in a ZIP too; "import" for a stream."""
        if self._comes():
            return "import"
        return cast("Path", self.path).stem if self._archive is None else self._archive.name

    @property
    def named(self) -> bool:
        """Whether it has a name of its own."""
        return not self._comes()

    @property
    def note(self) -> str:
        """Which file of a ZIP it is, in a sentence; empty for anything else."""
        return "" if self._comes() or self._archive is None else self._archive.note

    @property
    def share(self) -> float:
        """How much of it the present reading has taken, from 0 to 1; 0 while its size is not known."""
        return min(self.done / self.size, 1.0) if self.size else 0.0

    def head(self, most: int = 65_536) -> bytes:
        """Return its first bytes. Of a stream no more is read than is there by then."""
        if self._comes():
            return bytes(self._held[:most])
        if self._archive is not None:
            return next(self._archive.blocks(most), b"")
        with cast("Path", self.path).open("rb") as file:
            return file.read(most)

    def peeked(self) -> Iterator[str]:
        """Yield its text from the beginning; what is read of a stream stays there to be read again."""
        return _decoded(self._peeked() if self._comes() else self._blocks())

    def chunks(self) -> Iterator[str]:
        """Yield its text from the beginning, in blocks; no UTF-8 is lost: what is none becomes lone surrogates.

        Raises:
            InvalidInput: It is UTF-16, or a stream beyond the limits.
        """
        return _decoded(self._blocks())

    def lines(self) -> Iterator[str]:
        """Yield its lines without their ends.

        Raises:
            InvalidInput: As `chunks`, or a line is beyond the limits.
        """
        rest = ""
        for chunk in self.chunks():
            *whole, rest = (rest + chunk).split("\n")
            yield from (line.removesuffix("\r") for line in whole)
            if len(rest) > self.limits.characters:
                remedy = f"a line of at most {self.limits.characters} characters is needed"
                raise InvalidInput("file", rest[:80], remedy)
        if rest:
            yield rest.removesuffix("\r")

    @contextmanager
    def as_it_comes(self) -> Iterator[Iterable[bytes]]:
        """Yield its lines as bytes, each as soon as it is there; a stream can be read like this only once."""
        if self._comes():
            yield io.BufferedReader(cast("io.RawIOBase", _Rejoined(bytes(self._held), self._block)))
        elif self._archive is not None:
            blocks = self._archive.blocks(_BLOCK)
            yield io.BufferedReader(cast("io.RawIOBase", _Rejoined(b"", lambda: next(blocks, b""))))
        else:
            with cast("Path", self.path).open("rb") as file:
                yield file

    def _comes(self) -> bool:
        """Say whether it is a stream that is read as it comes. What it begins with decides that, and is read once."""
        if self._stream is not None and not self._looked:
            self._looked = True
            while len(self._held) < len(BEGINNINGS[0]) and (block := self._block()):
                self._held += block
            if self._held.startswith(BEGINNINGS):
                kept = self._keep()
                self._open_archive(lambda: nullcontext(kept), "import")
        return self._stream is not None and self._archive is None

    def _open_archive(self, opened: Opened, called: str) -> None:
        """Take what is meant in it for the file, if it is a ZIP."""
        with opened() as file:
            file.seek(0)
            if not file.read(len(BEGINNINGS[0])).startswith(BEGINNINGS):
                return
        self._archive, self.path = Archive(opened, called, self.limits), None
        self.size = self._archive.size

    def _blocks(self) -> Iterator[bytes]:
        """Yield its bytes, and count them."""
        self.done = 0
        for block in self._from_stream() if self._comes() else self._from_file():
            self.done += len(block)
            yield block

    def _from_file(self) -> Iterator[bytes]:
        if self._archive is not None:
            yield from self._archive.blocks(self._step)
            return
        with cast("Path", self.path).open("rb") as file:
            while block := file.read(self._step):
                yield block

    @property
    def _step(self) -> int:
        """How many bytes are read at once: of a small file few, so that it can be told how far it is."""
        return max(_LEAST_BLOCK, min(_BLOCK, self.size // _STEPS))

    def _peeked(self) -> Iterator[bytes]:
        yield bytes(self._held)
        while len(self._held) <= self.limits.characters and (block := self._block()):
            self._held += block
            yield block

    def _from_stream(self) -> Iterator[bytes]:
        kept = self._keep()
        kept.seek(0)
        while block := kept.read(self._step):
            yield block

    def _keep(self) -> SpooledTemporaryFile[bytes]:
        if self._kept is None:
            kept = SpooledTemporaryFile(_IN_MEMORY)  # noqa: SIM115 - it lives as long as this object
            weakref.finalize(self, kept.close)
            block = bytes(self._held)
            while block:
                kept.write(block)
                if kept.tell() > self.limits.bytes:
                    remedy = f"at most {self.limits.bytes} bytes of a stream are possible: give a file"
                    raise InvalidInput("file", self._held[:80].decode(errors="replace"), remedy)
                block = self._block()
            self._kept, self.size = kept, kept.tell()
        return self._kept

    def _block(self) -> bytes:
        read = getattr(self._stream, "read1", None) or self._stream.read  # type: ignore[union-attr] # it is one
        block = read(_BLOCK)
        return block.encode("utf-8", "surrogatepass") if isinstance(block, str) else block


class _Rejoined(io.RawIOBase):
    """The bytes that were looked at already, and those that follow them."""

    def __init__(self, held: bytes, more: Any) -> None:
        super().__init__()
        self._held = held
        self._more = more

    def readable(self) -> bool:
        """Say that it can be read."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill a buffer with what is there."""
        block = self._held or self._more()
        taken = min(len(block), len(buffer))
        buffer[:taken] = block[:taken]
        self._held = block[taken:]
        return taken


def _readable(file: object) -> IO[Any]:
    if not callable(getattr(file, "read", None)):
        raise InvalidInput("file", file, "a path or an open file is needed")
    return cast("IO[Any]", file)


def _decoded(blocks: Iterable[bytes]) -> Iterator[str]:
    decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")
    first = True
    for block in blocks:
        if first:
            refuse_no_text(block)
        text = decoder.decode(block)
        yield text.removeprefix("\ufeff") if first else text  # some editors begin a file with it
        first = first and not text
    yield decoder.decode(b"", final=True)


def refuse_no_text(head: bytes) -> None:
    """Refuse what people have in their hands before the file that is in it.

    Raises:
        InvalidInput: It is UTF-16, or an archive that is none of those that `Source` looks into.
    """
    if head.startswith(_WIDE):
        raise InvalidInput("file", "UTF-16", "a text in UTF-8 is needed: save it as that")
    if head.startswith(_PACKED):
        raise InvalidInput("file", "an archive", "unpack it first, or give a ZIP: one in another is not looked into")


def is_database(head: bytes) -> bool:
    """Say whether a file begins as SQLite's do."""
    return head.startswith(b"SQLite format 3\x00")


def uri_of(path: Path) -> str:
    """Return a database as something that SQLite only reads."""
    return f"{path.resolve().as_uri()}?mode=ro"
