"""Every flow test finds the systems of `systems.py`."""

from __future__ import annotations

from tests.flow.systems import folder_house, house, memory, server_house, sync

__all__ = ["folder_house", "house", "memory", "server_house", "sync"]
