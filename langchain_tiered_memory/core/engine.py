"""The brain: synchronous, thread-safe, small. Checks arguments at the door and hands over to the rooms.

What each call does is said in `core/api.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TextIO

from langchain_tiered_memory.core import asking, inputs
from langchain_tiered_memory.core.admission import Origin
from langchain_tiered_memory.core.api import UNCHANGED, SyncMemory, documented_by
from langchain_tiered_memory.core.chat import Address, Chats, SyncSession
from langchain_tiered_memory.core.config import LEAST_WINDOW_TOKENS, RankingWeights, Settings
from langchain_tiered_memory.core.errors import NotFound
from langchain_tiered_memory.core.model import HistoryEvent, Memory, NewMemory, RecallResult, Tier
from langchain_tiered_memory.core.observing import CALLS, observed
from langchain_tiered_memory.core.opening import Opening
from langchain_tiered_memory.core.parts import Parts
from langchain_tiered_memory.core.reports import (
    ConsolidationReport,
    Explanation,
    ForgetReceipt,
    MaintenanceReport,
    ReindexReport,
    Status,
    TransferReport,
)
from langchain_tiered_memory.core.tiers import SyncTier
from langchain_tiered_memory.core.values import SyncValues
from langchain_tiered_memory.core.worker import SyncWorker


@documented_by(SyncMemory)
@observed(**CALLS)
class Engine:
    """A memory system, blocking. Opens at the first call; may be used from any thread, and in a child after a fork."""

    def __init__(self, open_parts: Callable[[], Parts], settings: Settings) -> None:
        """Keep what opens the parts; nothing is opened yet."""
        self.settings = settings
        self._opening = Opening(open_parts)
        self._chats = Chats(self._opening)
        self.short_term = SyncTier(self._opening, Tier.SHORT_TERM)
        self.long_term = SyncTier(self._opening, Tier.LONG_TERM)
        self.values = SyncValues(self._opening)
        self.worker = SyncWorker(self._opening)

    # -- remembering -----------------------------------------------------------------------------------------------

    def remember(
        self,
        user_id: str,
        content: str,
        memory_type: str = "episode",
        *,
        importance: float | None = None,
        tier: str | None = None,
        slot: str | None = None,
        session_id: str | None = None,
        agent_id: str | None = None,
        role: str | None = None,
        name: str | None = None,
        observed_at: datetime | None = None,
        origin: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        pinned: bool = False,
        id: str | None = None,
    ) -> Memory:
        item = NewMemory(
            content,
            memory_type,
            importance=importance,
            tier=tier,
            slot=slot,
            session_id=session_id,
            agent_id=agent_id,
            role=role,
            name=name,
            observed_at=observed_at,
            origin=origin,
            metadata=metadata,
            pinned=pinned,
            id=id,
        )
        return self._remember(user_id, [item], Origin(single=True))[0]

    def remember_many(self, user_id: str, items: Iterable[NewMemory]) -> tuple[Memory, ...]:
        return self._remember(user_id, items, Origin())

    def _remember(self, user_id: str, items: Iterable[NewMemory], origin: Origin) -> tuple[Memory, ...]:
        user = inputs.user(user_id)
        rooms = self._opening.writable(user)
        given = inputs.items(items)
        entries = rooms.admission.admit(user, given, origin)
        if rooms.maintenance.settle(user, entries):
            entries = rooms.admission.admit(user, given, origin)
        stored = rooms.writing.write(user, entries, origin.by) if entries else ()
        rooms.background.wake(user)
        return stored

    def update(
        self,
        user_id: str,
        id: str,
        *,
        content: str = UNCHANGED,
        importance: float = UNCHANGED,
        pinned: bool = UNCHANGED,
        metadata: Mapping[str, Any] | None = UNCHANGED,
    ) -> Memory:
        rooms = self._opening.writable(inputs.user(user_id))
        given: dict[str, Any] = {}
        if content is not UNCHANGED:
            given["content"] = inputs.content(content, self.settings.placement.max_content_bytes)
        if importance is not UNCHANGED:
            given["importance"] = inputs.share("importance", importance)
        if pinned is not UNCHANGED:
            given["pinned"] = inputs.flag("pinned", pinned)
        if metadata is not UNCHANGED:
            given["metadata"] = inputs.metadata(metadata)
        updated = rooms.updating.update(user_id, inputs.label("id", id), given)
        rooms.background.wake(user_id)
        return updated

    # -- recalling -------------------------------------------------------------------------------------------------

    def recall(
        self,
        user_id: str,
        query: str,
        k: int = 5,
        *,
        session_id: str | None = None,
        agent_id: str | None = None,
        memory_types: Iterable[str] | None = None,
        filter: Mapping[str, Any] | None = None,
        as_of: datetime | None = None,
        known_at: datetime | None = None,
        include_superseded: bool = False,
        neighbors: int = 0,
        min_score: float | str = 0.0,
        max_tokens: int | None = None,
        weights: RankingWeights | None = None,
        touch: bool = True,
    ) -> RecallResult:
        rooms = self._opening.ready()
        question = asking.question(
            inputs.user(user_id),
            query,
            k,
            session_id=session_id,
            agent_id=agent_id,
            memory_types=memory_types,
            filter=filter,
            as_of=as_of,
            known_at=known_at,
            include_superseded=include_superseded,
            neighbors=neighbors,
            min_score=min_score,
            max_tokens=max_tokens,
            weights=weights or rooms.parts.weights,
            touch=touch,
        )
        return rooms.recall.recall(question)

    def explain(
        self,
        user_id: str,
        query: str,
        memory_id: str,
        *,
        k: int = 5,
        session_id: str | None = None,
        agent_id: str | None = None,
        memory_types: Iterable[str] | None = None,
        filter: Mapping[str, Any] | None = None,
        as_of: datetime | None = None,
        known_at: datetime | None = None,
        include_superseded: bool = False,
        min_score: float | str = 0.0,
        weights: RankingWeights | None = None,
    ) -> Explanation:
        rooms = self._opening.ready()
        question = asking.question(
            inputs.user(user_id),
            query,
            k,
            session_id=session_id,
            agent_id=agent_id,
            memory_types=memory_types,
            filter=filter,
            as_of=as_of,
            known_at=known_at,
            include_superseded=include_superseded,
            min_score=min_score,
            weights=weights or rooms.parts.weights,
        )
        explanation = rooms.recall.explain(question, inputs.label("memory_id", memory_id))
        if explanation is None:
            raise NotFound(memory_id)
        return explanation

    def get(self, user_id: str, id: str) -> Memory:
        rooms = self._opening.rooms()
        return rooms.reading.get(inputs.user(user_id), inputs.label("id", id))

    def list(
        self,
        user_id: str,
        *,
        tier: str | None = None,
        memory_types: Iterable[str] | None = None,
        filter: Mapping[str, Any] | None = None,
        include_superseded: bool = False,
        limit: int = 100,
        after: str | None = None,
    ) -> tuple[Memory, ...]:
        rooms = self._opening.rooms()
        listing = asking.listing(
            inputs.user(user_id),
            tier=tier,
            memory_types=memory_types,
            filter=filter,
            include_superseded=include_superseded,
            limit=limit,
            after=after,
        )
        return rooms.reading.page(listing)

    def history(self, user_id: str, id: str) -> tuple[HistoryEvent, ...]:
        rooms = self._opening.rooms()
        return rooms.reading.history(inputs.user(user_id), inputs.label("id", id))

    # -- looking after ---------------------------------------------------------------------------------------------

    def consolidate(self, user_id: str, *, everything: bool = False) -> ConsolidationReport:
        user = inputs.user(user_id)
        rooms = self._opening.writable(user)
        report = rooms.consolidation.run(user, everything=inputs.flag("everything", everything))
        rooms.background.wake(user)
        return report

    def maintain(
        self, user_id: str | None = None, *, compact: bool = False, dry_run: bool = False
    ) -> MaintenanceReport:
        user = None if user_id is None else inputs.user(user_id)
        inputs.flag("compact", compact)
        rooms = self._opening.ready()
        report = rooms.maintenance.run(user, dry_run=inputs.flag("dry_run", dry_run))
        if compact and not dry_run:
            rooms.parts.compact()
        return report

    def reindex(self, user_id: str | None = None) -> ReindexReport:
        user = None if user_id is None else inputs.user(user_id)
        rooms = self._opening.rooms()
        if user is not None:
            return rooms.indexing.reindex([user])
        report = rooms.indexing.reindex_all(rooms.maintenance.users)
        if not report.failed:
            self._opening.adopt_model()
        return report

    def status(self, user_id: str | None = None) -> Status:
        rooms = self._opening.rooms()
        return rooms.reading.status(None if user_id is None else inputs.user(user_id))

    def forget(self, user_id: str, *ids: str) -> ForgetReceipt:
        rooms = self._opening.rooms()
        user = inputs.user(user_id)
        wanted = tuple(dict.fromkeys(inputs.label("id", one) for one in ids))
        return rooms.forgetting.forget(user, wanted) if wanted else ForgetReceipt()

    def forget_user(self, user_id: str) -> ForgetReceipt:
        return self._opening.rooms().forgetting.forget_user(inputs.user(user_id))

    def export_user(self, user_id: str, file: str | Path | TextIO) -> TransferReport:
        rooms = self._opening.rooms()
        return rooms.transfer.write(inputs.user(user_id), file)

    def import_user(self, user_id: str, file: str | Path | TextIO) -> TransferReport:
        user = inputs.user(user_id)
        rooms = self._opening.writable(user)
        report = rooms.transfer.read(user, file)
        rooms.background.wake(user)
        return report

    # -- sessions --------------------------------------------------------------------------------------------------

    def session(
        self, user_id: str, session_id: str, *, agent_id: str | None = None, max_tokens: int | None = None
    ) -> SyncSession:
        budget = self.settings.working.max_tokens if max_tokens is None else max_tokens
        address = Address(
            inputs.user(user_id),
            inputs.label("session_id", session_id),
            inputs.optional_label("agent_id", agent_id),
            inputs.count("max_tokens", budget, LEAST_WINDOW_TOKENS),
        )
        return SyncSession(self._chats, address)

    # -- opening and closing ---------------------------------------------------------------------------------------

    def open(self) -> None:
        self._opening.rooms()

    def close(self) -> None:
        self._opening.close()

    def __enter__(self) -> Self:
        """Open, and close at the end of the block."""
        self.open()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close."""
        self.close()
