"""Where the bytes of a file come from: a path, or a stream that is kept while it is looked through."""

from __future__ import annotations

import codecs
import io
import weakref
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from tempfile import SpooledTemporaryFile
from typing import IO, Any, cast

from langchain_tiered_memory.core import inputs
from langchain_tiered_memory.core.errors import InvalidInput
from langchain_tiered_memory.importers.found import Limits

_BLOCK = 1_000_000
_IN_MEMORY = 16_000_000
_ARCHIVE = b"PK\x03\x04"
_WIDE = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


class Source:
    """A file that can be read from its beginning more than once.

    Attributes:
        path: Where it is; None for a stream.
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
        self._stream = None if self.path is not None else _readable(file)
        if self.path is not None:
            about = self.path.stat()
            self.size = about.st_size
            self.changed = datetime.fromtimestamp(about.st_mtime, UTC)

    @property
    def name(self) -> str:
        """Its name without the ending; "import" for a stream."""
        return "import" if self.path is None else self.path.stem

    @property
    def share(self) -> float:
        """How much of it the present reading has taken, from 0 to 1; 0 while its size is not known."""
        return min(self.done / self.size, 1.0) if self.size else 0.0

    def head(self, most: int = 65_536) -> bytes:
        """Return its first bytes. Of a stream no more is read than is there by then."""
        if self.path is not None:
            with self.path.open("rb") as file:
                return file.read(most)
        if not self._held:
            self._held += self._block()
        return bytes(self._held[:most])

    def peeked(self) -> Iterator[str]:
        """Yield its text from the beginning; what is read of a stream stays there to be read again."""
        return _decoded(self._from_path() if self.path is not None else self._peeked())

    def chunks(self) -> Iterator[str]:
        """Yield its text from the beginning, in blocks; no UTF-8 is lost: what is none becomes lone surrogates.

        Raises:
            InvalidInput: It is UTF-16, or a stream beyond the limits.
        """
        return _decoded(self._from_path() if self.path is not None else self._from_stream())

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
        if self.path is not None:
            with self.path.open("rb") as file:
                yield file
            return
        yield io.BufferedReader(cast("io.RawIOBase", _Rejoined(bytes(self._held), self._block)))

    def _from_path(self) -> Iterator[bytes]:
        self.done = 0
        with cast("Path", self.path).open("rb") as file:
            while block := file.read(_BLOCK):
                self.done += len(block)
                yield block

    def _peeked(self) -> Iterator[bytes]:
        yield bytes(self._held)
        while len(self._held) <= self.limits.characters and (block := self._block()):
            self._held += block
            yield block

    def _from_stream(self) -> Iterator[bytes]:
        kept = self._keep()
        kept.seek(0)
        self.done = 0
        while block := kept.read(_BLOCK):
            self.done += len(block)
            yield block

    def _keep(self) -> SpooledTemporaryFile[bytes]:
        if self._kept is None:
            self._kept = SpooledTemporaryFile(_IN_MEMORY)  # noqa: SIM115 - it lives as long as this object
            weakref.finalize(self, self._kept.close)
            self._kept.write(self._held)
            while block := self._block():
                self._kept.write(block)
                if self._kept.tell() > self.limits.bytes:
                    remedy = f"at most {self.limits.bytes} bytes of a stream are possible: give a file"
                    raise InvalidInput("file", self._held[:80].decode(errors="replace"), remedy)
            self.size = self._kept.tell()
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
        InvalidInput: It is UTF-16, or an archive.
    """
    if head.startswith(_WIDE):
        raise InvalidInput("file", "UTF-16", "a text in UTF-8 is needed: save it as that")
    if head.startswith(_ARCHIVE):
        raise InvalidInput("file", "ZIP", "unpack it first: conversations.json or a .txt in it is needed")


def is_database(head: bytes) -> bool:
    """Say whether a file begins as SQLite's do."""
    return head.startswith(b"SQLite format 3\x00")


def uri_of(path: Path) -> str:
    """Return a database as something that SQLite only reads."""
    return f"{path.resolve().as_uri()}?mode=ro"
