"""What `ltm maintain` forgets on demand: its options as a policy, and a table of what goes and why."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import timedelta
from typing import TYPE_CHECKING

from rich.console import RenderableType
from rich.text import Text

from langchain_tiered_memory.cli.rows import Rows
from langchain_tiered_memory.cli.screen import said
from langchain_tiered_memory.core.config import ForgettingRule, ForgettingSettings
from langchain_tiered_memory.core.errors import InvalidInput, NotFound
from langchain_tiered_memory.core.reports import MaintenanceReport

if TYPE_CHECKING:
    from langchain_tiered_memory.core.engine import Engine

_SHOWN = 50


def policy(
    older_than: float | None,
    unused_for: float | None,
    importance_below: float | None,
    at_most: int | None,
    *,
    outdated: bool,
) -> ForgettingSettings:
    """Return what the options say; nothing is forgotten without one."""
    given = older_than, unused_for, importance_below, outdated or None
    rule = (
        ForgettingRule(
            older_than=_days("--older-than", older_than),
            unused_for=_days("--unused-for", unused_for),
            importance_below=importance_below,
            outdated=outdated,
        )
        if given != (None,) * len(given)
        else None
    )
    return ForgettingSettings(rules=() if rule is None else (rule,), most_per_user=at_most)


def _days(option: str, days: float | None) -> timedelta | None:
    try:
        return None if days is None else timedelta(days=days)
    except (OverflowError, ValueError) as error:
        raise InvalidInput(option, days, "a number of days is needed") from error


def contents(memory: Engine, report: MaintenanceReport) -> dict[tuple[str, str], str]:
    """Return what the first of the chosen say, for somebody who has to decide."""
    said: dict[tuple[str, str], str] = {}
    for one in report.chosen[:_SHOWN]:
        with suppress(NotFound):
            said[one.user_id, one.id] = memory.get(one.user_id, one.id).content
    return said


def chosen(report: MaintenanceReport, told: Mapping[tuple[str, str], str]) -> Iterator[RenderableType]:
    """Return a table of what was forgotten, or would be, and why; the first of many."""
    if not report.chosen:
        return
    rows = Rows("user", "id", "why", *(["content"] if told else []))
    for one in report.chosen[:_SHOWN]:
        reason = one.reason if one.rule == one.reason else f"{one.rule}: {one.reason}"
        content = [said(told.get((one.user_id, one.id), "-"))] if told else []
        rows.add_row(said(one.user_id), said(one.id, limit=1_000), said(reason), *content)
    yield Text()
    yield rows
    if len(report.chosen) > _SHOWN:
        yield Text(f"and {len(report.chosen) - _SHOWN} more; --json names them all", "note")
