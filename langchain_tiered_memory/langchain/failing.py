"""What an adapter does when its memory fails: an answer is worth more than what could not be recalled for it."""

from __future__ import annotations

import logging
from typing import Literal

from langchain_tiered_memory.core.errors import ConfigError, ModelMismatch, SchemaMismatch, TieredMemoryError

__all__ = ["SET_UP_WRONG", "OnError", "forgive"]

logger = logging.getLogger("langchain_tiered_memory.langchain")

SET_UP_WRONG = (ConfigError, ModelMismatch, SchemaMismatch)
"""These will not pass by themselves, so nobody may go on without noticing."""

OnError = Literal["warn", "raise"]


def forgive(error: TieredMemoryError, doing: str, on_error: OnError) -> None:
    """Log what could not be done, or raise when that was asked for or the memory is set up in a way that cannot work.

    Args:
        error: What happened; its message holds no text of a memory.
        doing: What the memory could not do, as it follows "could not".
        on_error: "warn" or "raise".
    """
    if on_error == "raise" or isinstance(error, SET_UP_WRONG):
        raise error
    logger.warning("this goes on, but the memory could not %s: %s", doing, error)
