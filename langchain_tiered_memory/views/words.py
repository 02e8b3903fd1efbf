"""The words that both views use: days, counts, tiers, a report in a sentence, and stored text made harmless."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime

from langchain_tiered_memory.core.model import Tier
from langchain_tiered_memory.core.reports import ConsolidationReport

TIERS: Mapping[Tier | None, str] = {Tier.LONG_TERM: "long-term", Tier.SHORT_TERM: "short-term", None: "-"}
_HOURS = "%H:%M"
_LONGEST = 300
_MADE_BLANK = re.compile(r"[\s\u2028\u2029]+")
_OBEYED = re.compile(r"[\x00-\x1f\x7f-\x9f\u200e\u200f\u061c\u202a-\u202e\u2066-\u2069\ufeff]")
"""Control characters, escapes, and marks that turn the direction of what follows."""
_SURROGATE = re.compile(r"[\ud800-\udfff]")


def plain(text: str, limit: int = _LONGEST) -> str:
    """Return text as one line of at most `limit` characters that changes nothing around it but what it shows."""
    cut = text[: 4 * limit]  # a text of 10 MB is not searched to its end for the sake of its first line
    line = _OBEYED.sub("", _MADE_BLANK.sub(" ", cut)).strip()
    shown = whole(line)
    return f"{shown[: limit - 1]}…" if len(shown) > limit or len(text) > len(cut) else shown


def whole(text: str) -> str:
    """Return text without lone surrogates, which no encoding takes."""
    return _SURROGATE.sub("\ufffd", text)


def day(instant: datetime) -> str:
    """Return the local day in words, "6 Apr 2026"."""
    local = _local(instant)
    return f"{local.day} {local:%b} {local.year}"


def moment(instant: datetime) -> str:
    """Return local day and time, "6 Apr 2026 18:30"."""
    return f"{day(instant)} {_local(instant):{_HOURS}}"


def _local(instant: datetime) -> datetime:
    """Return the instant in local time; at the ends of the calendar there is none."""
    try:
        return instant.astimezone()
    except (OverflowError, OSError, ValueError):
        return instant


def counted(number: int, one: str, many: str | None = None) -> str:
    """Return a number and its noun, "1 item" or "2 items"."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def consolidated(report: ConsolidationReport) -> str:
    """Return what a consolidation did, in a sentence or two."""
    done = [
        f"{counted(report.promoted, 'short-term item')} moved to long-term memory" if report.promoted else "",
        f"{counted(report.facts, 'fact was', 'facts were')} added" if report.facts else "",
        f"{counted(report.merged, 'statement')} confirmed what was known" if report.merged else "",
        f"{counted(report.superseded, 'older value was', 'older values were')} superseded" if report.superseded else "",
        f"{counted(report.expired, 'item')} past their time {'was' if report.expired == 1 else 'were'} let go"
        if report.expired
        else "",
    ]
    told = "; ".join(part for part in done if part) or "There was nothing to do"
    rest = f" {counted(report.kept, 'short-term item stays', 'short-term items stay')} where they are."
    failed = f" {counted(report.failed, 'source')} could not be read for facts and will be tried again."
    return f"{told}.{rest if report.kept else ''}{failed if report.failed else ''}"
